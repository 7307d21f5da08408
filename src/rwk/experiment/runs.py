"""One run: graphs, a few settings, a matrix for each, an honest accuracy, and a folder that says how it came about.

A run's folder holds `run.json` (what was done and what came out), `records.jsonl` (one line a fold) and
`gram.npz` (the matrix of the first setting). A run that was stopped goes on where it was, also within a matrix.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.datasets import dataset_statistics
from rwk.experiment import Experiment, Folds, Grid, nested_cv
from rwk.gram import GramHealth, symmetric_discrepancy
from rwk.gram.matrices import Bar, fingerprint
from rwk.gram.matrix_file import save_gram
from rwk.gram.rows import KeptRows
from rwk.graphs import GraphError, GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.display import card_of
from rwk.runtime.files import UNFINISHED, write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


@dataclass(frozen=True)
class Run:
    """What a run found."""

    experiment: Experiment
    health: GramHealth
    matrices: Mapping[str, NDArray[np.float64]]
    folder: Path

    def _repr_html_(self) -> str | None:
        return card_of("run", self)

    def row(self) -> dict[str, str]:
        """The run in one row of a table."""
        found = self.experiment
        return {
            "dataset": found.dataset,
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
    settings: Mapping[str, Parameters],
    folder: str | os.PathLike[str],
    *,
    folds: Folds,
    grid: Grid,
    bar: Bar | None = None,
) -> Run:
    """Discrepancy matrices of all settings, nested cross-validation on them, and the folder of the run."""
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels; give targets= or a set that has them")
    folder = Path(folder)
    first = next(iter(settings.values()))
    kept = {name: KeptRows.at(folder / UNFINISHED / fingerprint(made), graphs, made) for name, made in settings.items()}
    matrices, healths = discrepancies(graphs, settings, bar, kept)
    experiment = nested_cv(
        matrices,
        graphs.targets,
        folds=folds,
        grid=grid,
        dataset=graphs.name,
        records=folder / "records.jsonl",
        n_jobs=first.n_jobs or os.cpu_count() or 1,
        backend=first.backend,
        progress=bar is not None,
    )
    total = GramHealth.of(list(healths.values()))
    run = Run(experiment, total, matrices, folder)
    save_gram(folder / "gram.npz", next(iter(matrices.values())), first, targets=graphs.targets, name=graphs.name)
    write_json(folder / "run.json", record_of(run, graphs, settings, grid))
    for rows in kept.values():
        rows.remove()
    with suppress(OSError):
        (folder / UNFINISHED).rmdir()
    return run


def discrepancies(
    graphs: GraphSet,
    settings: Mapping[str, Parameters],
    bar: Bar | None = None,
    kept: Mapping[str, KeptRows] | None = None,
) -> tuple[dict[str, NDArray[np.float64]], dict[str, GramHealth]]:
    """One symmetric discrepancy matrix a setting; rows are kept as they are solved where a setting has a place."""
    matrices, healths = {}, {}
    n_pairs = len(graphs) * (len(graphs) + 1) // 2
    for name, parameters in settings.items():
        measures, _ = represent(graphs, parameters)
        with bar(name, n_pairs) if bar else nullcontext() as tick:
            rows = kept[name] if kept else None
            matrices[name], healths[name] = symmetric_discrepancy(measures, parameters, tick=tick, kept=rows)
    return matrices, healths


def record_of(run: Run, graphs: GraphSet, settings: Mapping[str, Parameters], grid: Grid) -> dict[str, Any]:
    """Everything worth knowing about a run, as plain values."""
    found = run.experiment
    return {
        "kind": "rwk run",
        "dataset": asdict(dataset_statistics(graphs)),
        "accuracy": found.mean,
        "std_repeats": found.std_repeats,
        "std_folds": found.std_folds,
        "majority": found.majority,
        "n_repeats": found.n_repeats,
        "protocol": "nested cross-validation; settings, eta and C chosen inside the training folds",
        "health": {**run.health._asdict(), "pairs_per_second": run.health.pairs_per_second},
        "settings": {name: parameters.asdict() for name, parameters in settings.items()},
        "grid": asdict(grid),
        "made_with": machine_record(SOLVER_VERSION),
    }
