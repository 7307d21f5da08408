"""The paper's tables again, under one protocol: `rwk reproduce discrete|continuous|ablation|hops|...|tables`.

    load        the sets by name, in the form the method sees (COX2_MD and BZR_MD: bonds, and distance-weighted)
    settings    one grid for all discrete and one for all continuous sets, a variant of the paper applied to each
    matrices    one discrepancy matrix a setting, which serves all folds
    folds       nested cross-validation, one line a fold under results/<dataset>-<method>.jsonl
    tables      ours and the paper's side by side, from the records

`python -m rwk.experiment.reproduce` does the same without the libraries of the command line. A stopped run goes on
where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

import numpy as np

from rwk.datasets.forms import grid_of, load_forms
from rwk.experiment import Experiment, Folds, nested_cv, paper
from rwk.experiment.folds import stored_folds
from rwk.experiment.methods import METHODS, known_method, settings_of, time_method
from rwk.experiment.page import results_page, table_of
from rwk.experiment.results import SIGNS
from rwk.experiment.rivals import RunPlace, baseline_names, is_network, score_or_note
from rwk.experiment.runtimes import RUNTIMES, append_runtime
from rwk.experiment.trial_records import TRIALS, trials_table
from rwk.experiment.trials import known_changes, run_trials
from rwk.gram.matrices import Bar, MatrixSolve, described
from rwk.graphs import GraphError, GraphSet
from rwk.learn.grids import search_grid
from rwk.parameters import Parameters
from rwk.runtime.files import UNFINISHED, write_whole

EVERYTHING: Final = (*paper.DISCRETE, *paper.CONTINUOUS, "PROTEINS_full")
# name of the table -> its datasets, its methods, repeats unless others are asked for
TABLES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], int]]] = {
    "discrete": (paper.DISCRETE, (*paper.HOPS, *paper.BASELINES), 10),
    "continuous": ((*paper.CONTINUOUS, "PROTEINS_full"), (*paper.HOPS, *paper.BASELINES), 10),
    "hops": (EVERYTHING, paper.HOPS, 10),
    "ablation": (EVERYTHING, (*SIGNS, *paper.ABLATION), 3),
    "trials": (("MUTAG", "PTC_MR", "BZR", "COX2", "ENZYMES"), (), 3),
    "runtime": (EVERYTHING, ("RWK", "WWL", "FGW"), 3),
    "tables": ((), (), 0),
}
# networks learn for minutes a fold
NETWORK_REPEATS: Final = 3


@dataclass(frozen=True, slots=True)
class Options:
    """Where things are, and how much is run.

    `folder` keeps records and folds, `matrices` the discrepancy matrices (if not given, they are kept until their
    folds are run), `data` holds the datasets (else as `load_dataset`). Seeds are `first_seed`, `first_seed` + 1, ...
    `solve_only` fills `matrices` and stops there, for a machine that solves while another runs the folds. `budget` is
    the time in seconds that a baseline is given on a dataset; one that is not done by then gets a note in place of its
    figure.
    """

    folder: Path = Path("results")
    matrices: Path | None = None
    data: Path | None = None
    page: Path = Path("docs/results.md")
    repeats: int | None = None
    first_seed: int = 0
    splits: int = 10
    grid: str | None = None
    backend: str = "auto"
    jobs: int | None = None
    solve_only: bool = False
    budget: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("first_seed", 0), ("jobs", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} is outside its range: it must be {least} or more")
        if self.budget is not None and not self.budget > 0:
            raise ValueError(f"budget={self.budget} is outside its range: it must be positive, in seconds")


def reproduce(
    what: str,
    options: Options,
    *,
    datasets: Sequence[str] = (),
    methods: Sequence[str] = (),
    say: Callable[[str], None] = print,
    bar: Bar | None = None,
) -> str:
    """Run what is missing of a table of the paper, and return it with our figures and the paper's."""
    if what not in TABLES:
        raise ValueError(f"there is no table {what!r}; the tables are {', '.join(TABLES)}")
    if what == "tables":
        page = results_page(options.folder)
        write_whole(options.page, lambda beside: beside.write_text(page, encoding="utf-8"))
        return f"{options.page} written from the records in {options.folder}"
    sets, usual, repeats = TABLES[what]
    fewer = options.repeats is None
    options = options if options.repeats else replace(options, repeats=repeats)
    if what == "trials":
        return _try(datasets or sets, methods, options, say)
    methods = all_methods(methods) or [name for name in usual if name in (*METHODS, *baseline_names())]
    done = []
    for name in datasets or sets:
        graphs, forms = load_forms(name, options.data)
        done.append(graphs.name)
        for method in methods:
            if what == "runtime":
                _time(forms, method, options, say)
            elif method in METHODS:
                score_variant(forms, method, options, say=say, bar=bar)
            elif not options.solve_only:
                own = (
                    replace(options, repeats=min(repeats, NETWORK_REPEATS)) if fewer and is_network(method) else options
                )
                place = RunPlace(_records(graphs, method, own), own.jobs or os.cpu_count() or 1, own.backend)
                score_or_note(forms, method, _folds(graphs, own), place, budget=own.budget, say=say)
    return "" if options.solve_only else table_of(what, options.folder, list(dict.fromkeys(done)), methods)


def all_methods(names: Sequence[str]) -> list[str]:
    """Methods as the paper spells them; "all" stands for RWK, its two shorter hops and every baseline.

    >>> all_methods(["wl", "rwk"]), len(all_methods(["all"]))
    (['WL', 'RWK'], 19)
    """
    spelled = [[*paper.HOPS, *baseline_names()] if name.lower() == "all" else [known_method(name)] for name in names]
    return list(dict.fromkeys(name for part in spelled for name in part))


def score_variant(
    forms: Mapping[str, GraphSet],
    method: str,
    options: Options,
    *,
    say: Callable[[str], None] = print,
    bar: Bar | None = None,
) -> Experiment | None:
    """Nested cross-validation of one variant on one dataset; what is recorded is not run again."""
    graphs = next(iter(forms.values()))
    grid = options.grid or grid_of(graphs)
    base = Parameters(backend=options.backend, n_jobs=options.jobs)
    kept_in = options.matrices or options.folder / UNFINISHED
    solves, about, full = {}, {}, {}
    for form, seen in forms.items():
        for name, parameters in settings_of(method, grid, base).items():
            title = f"{form}: {name}" if form else name
            where = f"{graphs.name} {method} {title}"
            solves[title] = MatrixSolve(seen, parameters, form, kept_in, where, say, bar)
            about[title] = described(parameters, form)
            full[title] = parameters.asdict()
    if options.solve_only:
        for solve in solves.values():
            solve()
        return None
    experiment = nested_cv(
        solves,
        np.asarray(graphs.targets),
        folds=_folds(graphs, options),
        grid=search_grid(grid),
        dataset=graphs.name,
        method=method,
        about={"settings": about, "parameters": full},
        records=_records(graphs, method, options),
        n_jobs=options.jobs or os.cpu_count() or 1,
        backend=options.backend,
        progress=bar is not None,
    )
    if options.matrices is None:
        for solve in solves.values():
            solve.forget()
    say(repr(experiment))
    return experiment


def _try(datasets: Sequence[str], changes: Sequence[str], options: Options, say: Callable[[str], None]) -> str:
    """Trials of single changes; of a dataset with several forms, on the first."""
    done, changes = [], known_changes(changes)
    for name in datasets:
        graphs = next(iter(load_forms(name, options.data)[1].values()))
        done.append(graphs.name)
        run_trials(
            graphs,
            _folds(graphs, options),
            options.folder / TRIALS,
            changes=changes,
            matrices=options.matrices,
            base=Parameters(backend=options.backend, n_jobs=options.jobs),
            n_jobs=options.jobs or os.cpu_count() or 1,
            say=say,
        )
    return trials_table(options.folder / TRIALS, done)


def _time(forms: Mapping[str, GraphSet], method: str, options: Options, say: Callable[[str], None]) -> None:
    graphs = next(iter(forms.values()))
    base = Parameters(backend=options.backend, n_jobs=options.jobs)
    parameters = replace(base, **METHODS[method]).checked() if method in METHODS else base
    try:
        runtime = time_method(graphs, method, parameters, n_runs=options.repeats or 1)
    except (GraphError, ImportError) as reason:
        say(f"{method} on {graphs.name} is not timed: {reason}")
        return
    append_runtime(options.folder / RUNTIMES, runtime)
    say(" ".join(runtime.row))


def _folds(graphs: GraphSet, options: Options) -> Folds:
    seeds = range(options.first_seed, options.first_seed + (options.repeats or 1))
    place = options.folder / "folds" / f"{graphs.name}.json"
    return stored_folds(place, np.asarray(graphs.targets), options.splits, seeds)


def _records(graphs: GraphSet, method: str, options: Options) -> Path:
    return options.folder / f"{graphs.name}-{method}.jsonl"


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m rwk.experiment.reproduce`: the command without the libraries of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m rwk.experiment.reproduce", description="The paper's tables, reproduced."
    )
    parser.add_argument("what", choices=TABLES)
    for name in ("datasets", "methods"):
        parser.add_argument(f"--{name}", default="", help="names, with commas between")
    for field in fields(Options):
        flag = "--" + field.name.replace("_", "-")
        if field.name == "solve_only":
            parser.add_argument(flag, action="store_true")
        else:
            kind = next((made for word, made in _KINDS.items() if word in str(field.type)), str)
            parser.add_argument(flag, type=kind, default=field.default)
    given = vars(parser.parse_args(arguments))
    what, datasets, methods = given.pop("what"), listed(given.pop("datasets")), listed(given.pop("methods"))
    try:
        print(reproduce(what, Options(**given), datasets=datasets, methods=methods, say=_say))
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        if os.environ.get("RWK_DEBUG"):
            raise
        print(f"rwk: {error}", file=sys.stderr)
        return 2
    return 0


def listed(names: str) -> list[str]:
    """Names written with commas between.

    >>> listed("MUTAG, DD")
    ['MUTAG', 'DD']
    """
    return [name.strip() for name in names.split(",") if name.strip()]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


_KINDS: Final[Mapping[str, type]] = {"Path": Path, "int": int, "float": float}

if __name__ == "__main__":
    sys.exit(main())
