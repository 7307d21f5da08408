"""Baselines as methods of an experiment: the same graphs and folds as RWK, their own grids.

A kernel's settings and C (for WWL and FGW also γ) are chosen inside the training folds; a network chooses on graphs
that it sets aside. A fair run gives every baseline what RWK has: labels and attributes together where the method can
use both, sums of kernels, the same η, in units of the mean discrepancy, for every discrepancy; and networks as many
epochs as their papers have.
"""

from __future__ import annotations

import functools
import glob
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from rwk import __version__
from rwk.experiment.baseline_matrices import BaselineMatrices
from rwk.experiment.paper import BASELINES
from rwk.experiment.run import Forms, Hardware, Obstacle, PreparedMethod, RunOptions, first_form
from rwk.gram.kept import Kept, hashed
from rwk.graphs import GraphSet
from rwk.learn.grids import COSTS, SPREAD
from rwk.learn.search import Task
from rwk.learn.search_grid import Grid
from rwk.runtime.arrays import IntArray
from rwk.runtime.backends import backend_name
from rwk.runtime.threads import thread_count


def baseline_names() -> list[str]:
    """The baselines that can be asked for, as the paper spells them."""
    known = set(_registry().names())
    return [name for name in BASELINES if name.lower() in known]


def baseline(name: str) -> Any:
    """A new estimator of a baseline."""
    return _registry().get(name)


def is_network(name: str) -> bool:
    """Whether a baseline learns on graphs by itself, for many minutes per fold.

    >>> is_network("GIN"), is_network("WL")
    (True, False)
    """
    return bool(name in BASELINES and baseline(name).kind == "classifier")


@dataclass(frozen=True, slots=True)
class BaselineMethod:
    """A baseline by its name in the paper.

    A kernel chooses between the forms of a dataset as RWK does; a network sees the first. With `fair`, the fair grid is
    searched, the sum of all kernels is one more setting, and networks are trained for longer.
    """

    name: str
    fair: bool = False

    def prepare(self, forms: Forms, options: RunOptions) -> PreparedMethod:
        """Matrices of all settings of a kernel, which are made together, or a network that learns fold by fold."""
        estimator = baseline(self.name)
        for seen in forms.values():
            estimator.check_applies(seen)
        values = estimator.grid_for(first_form(forms), fair=True) if self.fair else estimator.grid
        searched = {key: list(tried) for key, tried in values.items()}
        about: dict[str, Any] = {"estimator": repr(estimator), "searched": searched}
        setting = kept_setting(estimator, searched)
        if self.fair:
            about["fair"] = True
            estimator.set_params(**estimator.fair_parameters)
        hardware = self._told(estimator, options)
        if estimator.kind == "classifier":
            # what a network is depends on numbers that its name leaves out
            given = estimator.get_params().items()
            about["parameters"] = {key: value for key, value in given if key not in ("random_state", "device")}
            network = _Network(self.name, estimator, first_form(forms), setting, options.unfinished)
            return PreparedMethod(network, about, hardware, forget=network.forget)
        grid = fair_search() if self.fair else own_search(estimator)
        if estimator.solver():
            about["solver"] = estimator.solver()
            setting = f"{setting} {estimator.solver()}"
        making = BaselineMatrices(
            self.name, estimator, forms, self.fair, setting, folder=options.unfinished, bar=options.bar
        )
        return PreparedMethod(LazyMatrices(making.all), about, hardware, estimator.kind, grid, making.forget)

    def hardware(self, options: RunOptions) -> Hardware:
        """Networks leave the CPU only when they are told to: beside other work on a GPU they hardly get a turn."""
        n_jobs = thread_count(options.n_jobs)
        if baseline(self.name).kind != "classifier":
            return Hardware(backend_name(options.backend), n_jobs)
        if options.backend == "gpu":
            return Hardware("gpu", 1)  # one process trains the networks of all folds at once
        return Hardware("cpu", n_jobs)

    def obstacle(self, forms: Forms) -> Obstacle | None:
        """Graphs lack what the baseline compares, or its library is not installed."""
        estimator = baseline(self.name)
        if not all(estimator.applies(seen) for seen in forms.values()):
            return Obstacle(f"needs node {' or '.join(estimator.accepts)}", lasting=True)
        if estimator.extra and importlib.util.find_spec(estimator.extra) is None:
            words = f"is not run, because it needs {estimator.extra}; pip install 'rwk[baselines]'"
            return Obstacle(words, lasting=False)
        return None

    def _told(self, estimator: Any, options: RunOptions) -> Hardware:
        """Tell an estimator where to run, as far as it has a choice."""
        hardware = self.hardware(options)
        given: dict[str, Any] = {"backend": hardware.backend, "n_jobs": thread_count(options.n_jobs)}
        if hardware.backend == "gpu":
            from rwk.runtime.device import open_device

            given["device"] = str(open_device())
        known = estimator.get_params()
        estimator.set_params(**{name: value for name, value in given.items() if name in known})
        return hardware


class LazyMatrices(Mapping[str, Any]):
    """Matrices by setting that share work: all are made when the first is asked for."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._made = functools.cache(make)

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


def own_search(estimator: Any) -> Grid:
    """What is searched on the matrices of a kernel: C, and for exp(−γ D) the γ of the method's own paper."""
    return Grid(eta=estimator.gammas, C=COSTS) if estimator.kind == "discrepancy" else Grid(C=COSTS)


def fair_search() -> Grid:
    """What a fair run searches on the matrices of every kernel alike.

    >>> fair_search().combine, fair_search().unit
    ('sum', 'mean')
    """
    return Grid(eta=(0.25, 1.0, 4.0), C=COSTS, combine="sum", unit="mean", spread=SPREAD)


def kept_setting(estimator: Any, searched: Mapping[str, Sequence[Any]] | None = None) -> str:
    """What the matrices of an estimator and of its grid, or of another, depend on, in words with a fingerprint."""
    grid = {name: list(map(str, values)) for name, values in (searched or estimator.grid).items()}
    return f"{estimator!r} @{hashed([repr(estimator), grid, __version__])[:10]}"


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """Folds of a network: a fresh one per fold, seeded by the repeat, with what it chose.

    Networks that are trained side by side are kept in `folder` under the words of `setting` until `forget` is called.
    """

    name: str
    estimator: Any
    graphs: GraphSet
    setting: str
    folder: Path | None = None

    @property
    def targets(self) -> Any:
        return np.asarray(self.graphs.targets)

    def __call__(self, train: IntArray, test: IntArray, seed: int) -> tuple[Any, dict[str, Any]]:
        fresh = clone(self.estimator)
        if "random_state" in fresh.get_params():
            fresh.set_params(random_state=seed)
        fresh.fit(self.graphs[train], self.targets[train])
        return fresh.predict(self.graphs[test]), _plain(getattr(fresh, "chosen_", {}))

    def together(self, tasks: Sequence[Task]) -> list[tuple[Any, dict[str, Any]]]:
        """The same for many folds, trained side by side on one device."""
        from rwk.baselines.networks.stack_checkpoint import StackFiles
        from rwk.baselines.neural_stacks import FoldTask, fit_folds

        files = None
        if self.folder:
            files = StackFiles(Kept.at(self.folder, self.graphs, self.setting), self._title)
        folds = [FoldTask(task.train, task.test, task.seed) for task in tasks]
        fits = fit_folds(self.estimator, self.graphs, self.targets, folds, files)
        return [(fit.predicted, _plain(fit.chosen)) for fit in fits]

    def forget(self) -> None:
        """Remove what was kept."""
        if self.folder:
            Kept(self.folder, "", "").remove(f"{glob.escape(self._title)}.stack-*")

    @property
    def _title(self) -> str:
        return f"{self.graphs.name}-{self.name}"


def _plain(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What was chosen, as JSON knows it."""
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in chosen.items()}


def _registry() -> Any:
    return importlib.import_module("rwk.baselines")  # its own imports are not needed for RWK
