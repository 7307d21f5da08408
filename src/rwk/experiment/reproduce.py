"""The paper's tables, run again under one protocol: `rwk reproduce discrete|continuous|ablation|hops|...|tables`.

    load_forms        the datasets by name, in the forms that methods see (COX2_MD and BZR_MD: bonds, distance-weighted)
    method_of_paper   a variant on the grid of all discrete or of all continuous datasets, or a baseline on its own
    run_or_note       matrices, folds and records: one file results/<dataset>-<method>.jsonl
    table_of          ours and the paper's side by side, from the records

A stopped run goes on where it was. It needs no library of the command line:

    from rwk.experiment.reproduce import Options, reproduce
    print(reproduce("discrete", Options(n_jobs=8), datasets=["MUTAG"], methods=["RWK", "WL"]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from rwk.datasets.forms import grid_of, load_forms
from rwk.experiment import paper
from rwk.experiment.baseline_runs import baseline_names, is_network
from rwk.experiment.folds import Folds, stored_folds
from rwk.experiment.methods import METHODS, RwkMethod, known_method, method_of_paper
from rwk.experiment.page import results_page, table_of
from rwk.experiment.regression import RegressionOptions, reproduce_regression
from rwk.experiment.results import SIGNS
from rwk.experiment.run import Forms, RunOptions, first_form, run_or_note
from rwk.experiment.runtimes import RUNTIMES, append_runtime
from rwk.experiment.timing import time_method
from rwk.experiment.trial_records import TRIALS, trials_table
from rwk.experiment.trials import known_changes, run_trials
from rwk.graphs import GraphError, GraphSet
from rwk.parameters import Parameters
from rwk.runtime.files import write_whole
from rwk.runtime.log import LOG
from rwk.runtime.parameter_checks import check_jobs
from rwk.runtime.progress import Bar

EVERYTHING: Final = (*paper.DISCRETE, *paper.CONTINUOUS, "PROTEINS_full")
# name of the table -> its datasets, its methods, and repeats unless another number is asked for
TABLES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...], int]]] = {
    "discrete": (paper.DISCRETE, (*paper.HOPS, *paper.BASELINES), 10),
    "continuous": ((*paper.CONTINUOUS, "PROTEINS_full"), (*paper.HOPS, *paper.BASELINES), 10),
    "hops": (EVERYTHING, paper.HOPS, 10),
    "ablation": (EVERYTHING, (*SIGNS, *paper.ABLATION), 3),
    "trials": (("MUTAG", "PTC_MR", "BZR", "COX2", "ENZYMES"), (), 3),
    "runtime": (EVERYTHING, ("RWK", "WWL", "FGW"), 3),
    "regression": ((), (), 0),
    "tables": ((), (), 0),
}
# networks learn for minutes per fold
NETWORK_REPEATS: Final = 3


@dataclass(frozen=True, slots=True)
class Options:
    """Where things are, and how much is run.

    `folder` keeps records and folds, `matrices` the discrepancy matrices (if not given, they are kept until their
    folds are run), `data` holds the datasets (if not given, as in `load_dataset`). Seeds are `first_seed`,
    `first_seed` + 1, ... `n_jobs` is the number of threads, and of folds at a time (None: all usable cores).
    `solve_only` fills `matrices` and stops there, for a computer that solves while another runs the folds. `budget` is
    the time in seconds that a baseline is given on a dataset; one that is not done by then gets a note in place of its
    figure. With `fair`, baselines have what RWK has (`baseline_runs`), otherwise the grids of their papers. `bar` shows
    progress.
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
    n_jobs: int | None = None
    solve_only: bool = False
    budget: float | None = None
    fair: bool = True
    bar: Bar | None = None

    def __post_init__(self) -> None:
        for name, least in (("repeats", 1), ("first_seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name}={value} is outside its range: it must be {least} or more")
        check_jobs(self.n_jobs)
        if self.budget is not None and not self.budget > 0:
            raise ValueError(f"budget={self.budget} is outside its range: it must be positive, in seconds")

    def run_options(self, records: Path | None) -> RunOptions:
        """The same for one method on one dataset."""
        return RunOptions(records, self.matrices, self.backend, self.n_jobs, self.bar)


def reproduce(what: str, options: Options, *, datasets: Sequence[str] = (), methods: Sequence[str] = ()) -> str:
    """Run what is missing of a table of the paper, and return it with our figures and the paper's.

    Parameters
    ----------
    what
        Name of the table: "discrete", "continuous", "hops", "ablation", "trials", "runtime", "regression", or
        "tables" for the page of all results.
    options
        Where things are, and how much is run.
    datasets, methods
        Names, or all of the table's if there are none; in "trials", methods are names of changes.

    Returns
    -------
    str
        The table in Markdown; empty if matrices were solved only.
    """
    if what not in TABLES:
        raise ValueError(f"there is no table {what!r}; the tables are {', '.join(TABLES)}")
    if what == "tables":
        page = results_page(options.folder)
        write_whole(options.page, lambda beside: beside.write_text(page, encoding="utf-8"))
        return f"{options.page} written from the records in {options.folder}"
    if what == "regression":
        own = RegressionOptions(
            options.folder, options.matrices, options.data, options.repeats, options.backend, options.n_jobs,
            options.solve_only,
        )  # fmt: skip
        return reproduce_regression(datasets, methods, own)
    sets, usual, repeats = TABLES[what]
    shorter = replace(options, repeats=min(repeats, NETWORK_REPEATS)) if options.repeats is None else options
    options = options if options.repeats else replace(options, repeats=repeats)
    if what == "trials":
        return _try(datasets or sets, methods, options)
    methods = all_methods(methods) or [name for name in usual if name in (*METHODS, *baseline_names())]
    done = []
    for name in datasets or sets:
        graphs, forms = load_forms(name, options.data)
        done.append(graphs.name)
        for method in methods:
            if what == "runtime":
                _time(first_form(forms), method, options)
            else:
                _run(forms, method, shorter if is_network(method) else options)
    return "" if options.solve_only else table_of(what, options.folder, list(dict.fromkeys(done)), methods)


def _run(forms: Forms, name: str, options: Options) -> None:
    """One method on one dataset; with `solve_only`, only the matrices of RWK."""
    graphs = first_form(forms)
    method = method_of_paper(name, options.grid or grid_of(graphs), Parameters(), fair=options.fair)
    place = options.run_options(options.folder / f"{graphs.name}-{name}.jsonl")
    if not options.solve_only:
        budget = None if isinstance(method, RwkMethod) else options.budget
        run_or_note(method, forms, _folds(graphs, options), place, budget=budget)
    elif isinstance(method, RwkMethod):
        for matrix in method.matrices(forms, place).values():
            matrix()


def all_methods(names: Sequence[str]) -> list[str]:
    """Methods as the paper spells them; "all" stands for RWK, its two shorter hops and every baseline.

    >>> all_methods(["wl", "rwk"]), len(all_methods(["all"]))
    (['WL', 'RWK'], 19)
    """
    spelled = [[*paper.HOPS, *baseline_names()] if name.lower() == "all" else [known_method(name)] for name in names]
    return list(dict.fromkeys(name for part in spelled for name in part))


def _try(datasets: Sequence[str], changes: Sequence[str], options: Options) -> str:
    """Trials of single changes; of a dataset with several forms, on the first."""
    done, changes = [], known_changes(changes)
    for name in datasets:
        graphs = first_form(load_forms(name, options.data)[1])
        done.append(graphs.name)
        place = options.run_options(records=None)
        run_trials(graphs, _folds(graphs, options), options.folder / TRIALS, changes=changes, options=place)
    return trials_table(options.folder / TRIALS, done)


def _time(graphs: GraphSet, method: str, options: Options) -> None:
    parameters = Parameters(backend=options.backend, n_jobs=options.n_jobs, **METHODS.get(method, {})).checked()
    try:
        runtime = time_method(graphs, method, parameters, n_runs=options.repeats or 1)
    except (GraphError, ImportError) as reason:
        LOG.info("%s on %s is not timed: %s", method, graphs.name, reason)
        return
    append_runtime(options.folder / RUNTIMES, runtime)
    LOG.info(" ".join(runtime.row))


def _folds(graphs: GraphSet, options: Options) -> Folds:
    seeds = range(options.first_seed, options.first_seed + (options.repeats or 1))
    place = options.folder / "folds" / f"{graphs.name}.json"
    return stored_folds(place, np.asarray(graphs.targets), options.splits, seeds)
