"""The folder of a run: RWK on one set of graphs, with a record of how its accuracy came about.

A folder holds `run.json` (what was done and what came out), `records.jsonl` (one line per fold), `gram.npz` (the matrix
of the first setting) and `predictions.npz` (what the first repeat predicts for each graph). Baselines add their folds
to the same records, and `comparison` shows all of them together. A stopped run goes on where it was, also within a
matrix.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from rwk.datasets import dataset_statistics
from rwk.experiment.baseline_runs import BaselineMethod
from rwk.experiment.comparisons import differences
from rwk.experiment.folds import Folds
from rwk.experiment.methods import METHODS, RwkMethod
from rwk.experiment.notes import NOTES, read_notes
from rwk.experiment.predictions import PREDICTIONS, save_predictions
from rwk.experiment.records import read_records
from rwk.experiment.run import Forms, RunOptions, run_experiment, run_or_note
from rwk.experiment.tables import Experiment, experiments, markdown_table
from rwk.gram.health import GramHealth
from rwk.gram.matrices import SingleMatrix
from rwk.gram.matrix_file import save_gram
from rwk.graphs import GraphSet
from rwk.learn.grids import for_forms
from rwk.learn.setting_kernels import Matrices
from rwk.runtime.display import card_of
from rwk.runtime.files import UNFINISHED, check_writable, write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

RECORDS: Final = "records.jsonl"
RUN: Final = "run.json"
# what runs compare with: RWK, under the name that folders of version 0.1 gave it, or else a variant
REFERENCES: Final = ("RWK", "rwk", *METHODS)


@dataclass(frozen=True)
class Run:
    """What a run found: the scores of all folds, how the pairs were solved, and the matrix of every setting."""

    experiment: Experiment
    health: GramHealth
    matrices: Mapping[str, SingleMatrix]
    folder: Path

    def _repr_html_(self) -> str | None:
        return card_of("run", self)

    def row(self) -> dict[str, str]:
        """The run in one row of a table."""
        found = self.experiment
        return {
            "dataset": found.dataset,
            "method": found.method,
            "accuracy %": f"{100 * found.mean:.1f}",
            "± repeats": f"{100 * found.std_repeats:.1f}" if found.n_repeats > 1 else "one repeat",
            "± folds": f"{100 * found.std_folds:.1f}",
            "majority %": f"{100 * found.majority:.1f}",
            "pairs": f"{self.health.n_pairs:,}",
            "pairs/s": f"{self.health.pairs_per_second:,.0f}",
            "not converged": f"{self.health.n_not_converged:,}",
        }


def classify(
    graphs: GraphSet,
    method: RwkMethod,
    folder: str | os.PathLike[str],
    *,
    folds: Folds,
    options: RunOptions | None = None,
    forms: Forms | None = None,
) -> Run:
    """Run RWK on a set of graphs, in all its forms if they are given, and write the folder of the run."""
    folder, forms = Path(folder), forms or {"": graphs}
    check_writable(folder / RUN)
    kept_until_written = options is None or options.matrices is None
    options = replace(options or RunOptions(), records=folder / RECORDS)
    options = replace(options, matrices=options.matrices or folder / UNFINISHED)
    experiment = run_experiment(method, forms, folds, options)
    solved = {name: matrix.solved() for name, matrix in method.matrices(forms, options).items()}
    health = GramHealth.of([health for _, health in solved.values()])
    run = Run(experiment, health, {name: matrix for name, (matrix, _) in solved.items()}, folder)
    save_gram(
        folder / "gram.npz",
        next(iter(run.matrices.values())),
        next(iter(method.settings.values())),
        targets=graphs.targets,
        name=graphs.name,
        names=graphs.names,
    )
    grid = for_forms(method.grid, len(forms)).checked()
    matrices = Matrices(dict(run.matrices), "discrepancy", grid)  # type: ignore[arg-type]  # float32
    save_predictions(folder / PREDICTIONS, matrices, graphs.targets, folds, experiment.scores)
    write_json(folder / RUN, record_of(run, graphs, method, forms), checksum=True)
    if kept_until_written:
        for matrix in method.matrices(forms, options).values():
            matrix.forget()
    return run


def record_of(run: Run, graphs: GraphSet, method: RwkMethod, forms: Forms) -> dict[str, Any]:
    """Everything worth knowing about a run, as plain values."""
    found = run.experiment
    return {
        "kind": "rwk run",
        "dataset": asdict(dataset_statistics(graphs)),
        "method": found.method,
        "accuracy": found.mean,
        "std_repeats": found.std_repeats,
        "std_folds": found.std_folds,
        "majority": found.majority,
        "n_repeats": found.n_repeats,
        "protocol": "nested cross-validation; settings, eta and C chosen inside the training folds",
        "health": {**run.health._asdict(), "pairs_per_second": run.health.pairs_per_second},
        "settings": {name: parameters.asdict() for name, parameters in method.settings.items()},
        "forms": list(forms),
        "grid": asdict(for_forms(method.grid, len(forms))),
        "made_with": machine_record(SOLVER_VERSION),
    }


def add_baselines(
    graphs: GraphSet,
    baselines: Sequence[BaselineMethod],
    folder: str | os.PathLike[str],
    *,
    folds: Folds,
    options: RunOptions,
    budget: float | None = None,
    forms: Forms | None = None,
) -> str:
    """Score baselines on the same graphs, forms and folds, into the records of a folder; returns its `comparison`.

    If several are asked for, or they are given a budget, one that can't be run leaves a note and is no error.
    """
    options, forms = replace(options, records=check_writable(Path(folder) / RECORDS)), forms or {"": graphs}
    for one in baselines:
        if len(baselines) == 1 and budget is None:
            run_experiment(one, forms, folds, options)
        else:
            run_or_note(one, forms, folds, options, budget=budget)
    return comparison(folder, graphs.name)


def comparison(folder: str | os.PathLike[str], dataset: str) -> str:
    """All methods that a folder has records or notes of on a dataset, with paired tests against RWK, in Markdown."""
    scores = [score for score in read_records(Path(folder) / RECORDS) if score.dataset == dataset]
    methods = {score.method for score in scores}
    reference = next((name for name in REFERENCES if name in methods), "")
    notes = [note for note in read_notes(Path(folder) / NOTES).values() if note.dataset == dataset]
    parts = [markdown_table(scores, highlight=reference), *(f"* {note.method}: {note.words}" for note in notes)]
    parts.append(differences(experiments(scores), reference=reference))
    return "\n\n".join(part for part in parts if part)
