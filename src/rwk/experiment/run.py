"""The one way from a method and a dataset to records: `run_experiment`.

    forms of a dataset ─► method.prepare: matrices or a learner ─► nested_cv: folds ─► records ─► Experiment

`rwk classify` (`run_folder`), `rwk reproduce` (`reproduce`), baselines and trials all come here. A method is anything
with the three functions of `Method`: variants of RWK and trials are `methods.RwkMethod`, kernels and networks of others
are `baseline_runs.BaselineMethod`. `run_or_note` adds what tables need: a time limit, and a note beside the records
for a method that can't use a dataset or is not done in time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from rwk.experiment.folds import Folds
from rwk.experiment.notes import NOTES, Note, append_note, read_notes
from rwk.experiment.protocol import Matrix, nested_cv
from rwk.experiment.records import read_records
from rwk.experiment.running import FitPredict
from rwk.experiment.tables import Experiment
from rwk.graphs import GraphError, GraphSet
from rwk.learn.search_grid import Grid
from rwk.parameters import Parameters
from rwk.runtime.deadline import done_within
from rwk.runtime.files import UNFINISHED
from rwk.runtime.log import LOG
from rwk.runtime.progress import Bar
from rwk.runtime.words import counted, duration
from rwk.transport.measures import GraphMeasures

# forms of a dataset by name; most datasets have one, ""
Forms = Mapping[str, GraphSet]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Where an experiment runs and where its results go.

    `records` is the file that folds are added to, with notes beside it; without one nothing is kept. `matrices` is a
    folder that keeps discrepancy matrices for good; without one they are kept beside the records until all folds are
    recorded. `n_jobs` is the number of threads, and of folds at a time (None: all usable cores). `bar` shows progress.
    `announce` is called once, before the first pairs of RWK are solved, with the graphs, that setting's parameters and
    measures, and the number of matrices to come: it may tell what the run will cost.
    """

    records: Path | None = None
    matrices: Path | None = None
    backend: str = "cpu"
    n_jobs: int | None = 1
    bar: Bar | None = None
    announce: Callable[[GraphSet, Parameters, GraphMeasures, int], None] | None = None

    @property
    def unfinished(self) -> Path | None:
        """The folder of what is kept until all folds are recorded."""
        return self.records.parent / UNFINISHED if self.records else None


class Hardware(NamedTuple):
    """What the folds of a method run on."""

    backend: str  # "cpu" or "gpu"
    n_jobs: int

    def __str__(self) -> str:
        return counted(self.n_jobs, "core") + (" and a GPU" if self.backend == "gpu" else "")


class PreparedMethod(NamedTuple):
    """What nested cross-validation needs of a method on one dataset."""

    given: Mapping[str, Matrix] | FitPredict  # one matrix per form and setting, or a function that learns and predicts
    about: dict[str, Any]  # what records say of the method, and a resumed run must share
    hardware: Hardware
    kind: Literal["discrepancy", "kernel"] = "discrepancy"
    grid: Grid | None = None
    forget: Callable[[], None] = lambda: None  # removes what was kept only until the folds are recorded


class Obstacle(NamedTuple):
    """Why a method is not run on a dataset; `lasting` if it stays true elsewhere, so that tables should say it."""

    words: str
    lasting: bool


class Method(Protocol):
    """A method by its name in records, and what it needs of a dataset."""

    @property
    def name(self) -> str: ...

    def prepare(self, forms: Forms, options: RunOptions) -> PreparedMethod:
        """Matrices or a learner; nothing is computed before nested cross-validation asks for it."""
        ...

    def hardware(self, options: RunOptions) -> Hardware:
        """What the folds would run on."""
        ...

    def obstacle(self, forms: Forms) -> Obstacle | None:
        """Why the method can't be run on a dataset, if so."""
        ...


def run_experiment(method: Method, forms: Forms, folds: Folds, options: RunOptions | None = None) -> Experiment:
    """Score a method on a dataset by nested cross-validation; folds that are on record are not run again.

    Parameters
    ----------
    method
        What is run.
    forms
        The dataset as the method sees it, by form; a method with matrices chooses between the forms.
    folds
        The folds, the same for all methods.
    options
        Where it runs and where results go; without, on one core of the CPU, and nothing is kept.

    Returns
    -------
    Experiment
        The scores of all folds.
    """
    options = options or RunOptions()
    graphs = first_form(forms)
    prepared = method.prepare(forms, options)
    experiment = nested_cv(
        prepared.given,
        np.asarray(graphs.targets),
        folds=folds,
        grid=prepared.grid,
        kind=prepared.kind,
        dataset=graphs.name,
        method=method.name,
        about=prepared.about,
        records=options.records,
        n_jobs=prepared.hardware.n_jobs,
        backend=prepared.hardware.backend,
        verbose=options.bar or False,
    )
    prepared.forget()
    repeats = counted(experiment.n_repeats, "repeat")
    LOG.info("%s on %s: %.2f %% over %s", method.name, graphs.name, 100 * experiment.mean, repeats)
    return experiment


def run_or_note(
    method: Method, forms: Forms, folds: Folds, options: RunOptions, *, budget: float | None = None
) -> Experiment | None:
    """`run_experiment`, or None and a note beside the records if the method can't be run or needs too long.

    A budget of seconds is enforced by running in a process of its own, which is ended when the time is over; what was
    recorded stays, and a larger budget goes on from there.
    """
    dataset = first_form(forms).name
    obstacle = method.obstacle(forms)
    if obstacle:
        _note(Note(dataset, method.name, "not applicable", obstacle.words), options if obstacle.lasting else None)
        return None
    if budget is None or options.records is None:
        return run_experiment(method, forms, folds, options)
    known = read_notes(options.records.parent / NOTES).get((dataset, method.name))
    spent = known is not None and known.seconds is not None and known.seconds >= budget
    if known and spent and not _complete(method, dataset, folds, options.records):
        LOG.info("%s on %s: %s; give it a larger budget", method.name, dataset, known.words)
        return None
    elsewhere = replace(options, announce=None)  # which need not pickle
    if not done_within(budget, run_experiment, method, dict(forms), folds, elsewhere):
        words = f"did not finish in {duration(budget)} on {method.hardware(options)}"
        _note(Note(dataset, method.name, "not finished", words, budget), options)
        return None
    return run_experiment(method, forms, folds, options)  # from the records


def first_form(forms: Forms) -> GraphSet:
    """The dataset in its first form, which carries its name and targets."""
    graphs = next(iter(forms.values()))
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels, so there is nothing to classify")
    return graphs


def _note(note: Note, options: RunOptions | None) -> None:
    """Log a note, and keep it beside the records unless it is the last word there already."""
    LOG.info("%s on %s: %s", note.method, note.dataset, note.words)
    if options is None or options.records is None:
        return
    place = options.records.parent / NOTES
    if read_notes(place).get((note.dataset, note.method)) != note:
        append_note(place, note)


def _complete(method: Method, dataset: str, folds: Folds, records: Path) -> bool:
    known = {score.key for score in read_records(records)}
    return all((dataset, method.name, seed, fold) in known for seed, fold in folds)
