"""The baselines under the protocol of RWK: the same graphs, the same folds, their own grids, a budget of time.

A kernel's settings and C (for WWL and FGW also γ) are chosen inside the training folds; a network chooses on graphs it
sets aside. What can't use a dataset, or is not done in time, leaves a note in place of figures.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.base import clone

from rwk.experiment import Experiment, Folds, nested_cv, read_records
from rwk.experiment.notes import NOTES, Note, append_note, read_notes
from rwk.experiment.paper import BASELINES
from rwk.gram.settings import KeptMatrices, LazyMatrices
from rwk.graphs import GraphSet
from rwk.learn.grids import COSTS
from rwk.learn.search import Grid
from rwk.runtime.arrays import IntArray
from rwk.runtime.backends import backend_name
from rwk.runtime.deadline import done_within
from rwk.runtime.files import UNFINISHED
from rwk.runtime.words import counted, duration

# networks that learn beside each other on one GPU, each in a process of its own: one keeps an H200 busy for a tenth
# (CapsGNN on DD) to a quarter (GIN on COLLAB) of its time, the rest is spent on starting kernels
NETWORKS_ON_GPU: Final = 4


def baseline_names() -> list[str]:
    """The baselines that can be asked for, as the paper spells them."""
    known = set(_registry().names())
    return [name for name in BASELINES if name.lower() in known]


def baseline(name: str) -> Any:
    """The estimator of a baseline."""
    return _registry().get(name)


def is_network(name: str) -> bool:
    """Whether a baseline learns on graphs by itself, for many minutes a fold.

    >>> is_network("GIN"), is_network("WL")
    (True, False)
    """
    return bool(name in BASELINES and baseline(name).kind == "classifier")


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a baseline's records and notes go (without `records` nothing is kept), and what it is run on."""

    records: Path | None = None
    n_jobs: int = 1
    backend: str = "cpu"
    progress: bool = False


def score_baseline(forms: Mapping[str, GraphSet], name: str, folds: Folds, place: RunPlace | None = None) -> Experiment:
    """Nested cross-validation of a baseline on the forms of a dataset (most have one, "").

    A kernel chooses between the forms as RWK does; a network sees the first.
    """
    place = place or RunPlace()
    estimator = baseline(name)
    graphs = next(iter(forms.values()))
    for seen in forms.values():
        estimator.check_applies(seen)
    targets = np.asarray(graphs.targets)
    searched = {key: list(values) for key, values in estimator.grid.items()}
    common: dict[str, Any] = {
        "folds": folds,
        "dataset": graphs.name,
        "method": name,
        "about": {"estimator": repr(estimator), "searched": searched},
        "records": place.records,
        "progress": place.progress,
    }
    if estimator.kind == "classifier":
        # what a network is depends on numbers that its name leaves out
        given = {key: value for key, value in estimator.get_params().items() if key not in ("random_state", "device")}
        common["about"]["parameters"] = given
        return nested_cv(_Network(estimator, graphs, targets), targets, **common, **_placed(estimator, place))
    kept = None
    if place.records:
        kept = KeptMatrices.at(place.records.parent / UNFINISHED / f"{graphs.name}-{name}.npz", forms, estimator)
    where = _placed(estimator, place)
    matrices = LazyMatrices(lambda: _all_settings(estimator, forms, kept))
    # exp(−γ D) is searched over the γ of the method's own paper
    grid = Grid(eta=estimator.gammas, C=COSTS) if estimator.kind == "discrepancy" else Grid(C=COSTS)
    experiment = nested_cv(matrices, targets, grid=grid, kind=estimator.kind, **common, **where)
    if kept:
        kept.remove()
    return experiment


def score_or_note(
    forms: Mapping[str, GraphSet],
    name: str,
    folds: Folds,
    place: RunPlace,
    *,
    budget: float | None = None,
    say: Callable[[str], None] = print,
) -> Experiment | None:
    """`score_baseline`, or a note beside the records where it does not apply or is not done in `budget` seconds.

    A budget is kept by a process of its own, which is ended when it is spent; what it recorded stays, and a larger
    budget goes on from there.
    """
    graphs = next(iter(forms.values()))
    notes = place.records.parent / NOTES if place.records else None

    def note(kind: str, words: str, spent: float | None = None) -> None:
        say(f"{name} on {graphs.name}: {words}")
        known = read_notes(notes).get((graphs.name, name)) if notes else None
        made = Note(graphs.name, name, kind, words, spent)
        if notes and known != made:
            append_note(notes, made)

    method = baseline(name)
    for seen in forms.values():
        if not method.applies(seen):
            note("not applicable", f"needs node {' or '.join(method.accepts)}")
            return None
    if method.extra and importlib.util.find_spec(method.extra) is None:
        say(f"{name} on {graphs.name} is not run: it needs {method.extra}; pip install 'rwk[baselines]'")
        return None
    if budget is None or place.records is None:
        experiment = score_baseline(forms, name, folds, place)
    else:
        known = read_notes(place.records.parent / NOTES).get((graphs.name, name))
        if known and known.seconds is not None and known.seconds >= budget and not _complete(place.records, folds):
            say(f"{name} on {graphs.name}: {known.words}; give it a larger budget")
            return None
        if not done_within(budget, score_baseline, dict(forms), name, folds, place):
            where = _where(method, place)
            machine = counted(where["n_jobs"], "core") + (" and a GPU" if where["backend"] == "gpu" else "")
            note("not finished", f"did not finish in {duration(budget)} on {machine}", budget)
            return None
        experiment = score_baseline(forms, name, folds, place)  # from the records
    say(repr(experiment))
    return experiment


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """Folds of a network: a fresh one a fold, seeded by the repeat, with what it chose."""

    estimator: Any
    graphs: GraphSet
    targets: Any

    def __call__(self, train: IntArray, test: IntArray, seed: int) -> tuple[Any, dict[str, Any]]:
        fresh = clone(self.estimator)
        if "random_state" in fresh.get_params():
            fresh.set_params(random_state=seed)
        fresh.fit(self.graphs[train], self.targets[train])
        chosen = {key: _plain(value) for key, value in getattr(fresh, "chosen_", {}).items()}
        return fresh.predict(self.graphs[test]), chosen


def _where(estimator: Any, place: RunPlace) -> dict[str, Any]:
    """What the folds of a baseline run on.

    Networks leave the processor only when they are told to: beside other work on a GPU they hardly come forward.
    """
    if estimator.kind != "classifier":
        return {"backend": backend_name(place.backend), "n_jobs": place.n_jobs}
    if place.backend == "gpu":
        return {"backend": "gpu", "n_jobs": min(place.n_jobs, NETWORKS_ON_GPU)}
    return {"backend": "cpu", "n_jobs": place.n_jobs}


def _placed(estimator: Any, place: RunPlace) -> dict[str, Any]:
    """Tell an estimator where to run, as far as it has a choice; what its folds run on."""
    where = _where(estimator, place)
    given = {**where, "n_jobs": place.n_jobs}
    if where["backend"] == "gpu":
        from rwk.runtime.device import open_device

        given["device"] = str(open_device())
    known = estimator.get_params()
    estimator.set_params(**{name: value for name, value in given.items() if name in known})
    return where


def _all_settings(estimator: Any, forms: Mapping[str, GraphSet], kept: KeptMatrices | None) -> dict[str, Any]:
    """The matrix of every setting on every form; of equal ones the first, which would win the tie anyway."""
    found = kept.read() if kept else None
    if found is not None:
        return found
    made: dict[str, Any] = {}
    for form, graphs in forms.items():
        for name, matrix in estimator.settings(graphs):
            if not any(np.array_equal(matrix, other) for other in made.values()):
                made[f"{form}: {name}" if form else name] = matrix
    if kept:
        kept.write(made)
    return made


def _complete(records: str | os.PathLike[str], folds: Folds) -> bool:
    known = {(score.seed, score.fold) for score in read_records(records)}
    return known >= set(folds)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _registry() -> Any:
    return importlib.import_module("rwk.baselines")  # its own imports are not needed for RWK
