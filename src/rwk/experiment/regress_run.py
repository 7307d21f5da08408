"""What `rwk regress` computes: a model, its leave-one-out predictions, a learning curve, and outliers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.experiment.regression import regression_scores
from rwk.experiment.regression_splits import random_split
from rwk.learn.exact_gp import Blocks, FittedGP, GpOptions, Prediction, blocks_of, fit_gp, own_of
from rwk.learn.gaussian_process import RWKGaussianProcess
from rwk.learn.target_checks import checked_targets
from rwk.learn.term_sources import TermSources
from rwk.parameters import Parameters
from rwk.runtime.arrays import FloatArray

SHARES: Final = (0.25, 0.5, 0.75, 1.0)  # of the training graphs of a split
CURVE_SEEDS: Final = (0, 1, 2)
LEVELS: Final = tuple(level / 20 for level in range(1, 20))
N_OUTLIERS: Final = 10
N_NEIGHBOURS: Final = 3


class Outlier(NamedTuple):
    """A graph whose value is far from its leave-one-out prediction, and its most similar graphs."""

    number: int
    surprise: float  # error in units of the standard deviation
    neighbours: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class RegressRun:
    """A fitted process, and what is known of its errors."""

    process: RWKGaussianProcess
    left_out: Prediction
    scores: dict[str, float]
    curve: dict[int, list[float]]  # number of training graphs -> RMSE of each split
    outliers: list[Outlier]
    setting: str  # the one with the largest weight
    discrepancy: FloatArray  # of this setting

    def parameters(self) -> Parameters:
        """The parameters of the setting with the largest weight, with the η that was chosen for it."""
        model = self.process.model_
        assert isinstance(model, FittedGP)
        place = model.names.index(self.setting)
        eta = model.chosen.etas[place] / model.units[place]
        return replace(self.process.sources_.options.settings[self.setting], eta=eta)


def regress(
    process: RWKGaussianProcess, X: Sequence[Any], y: Any, *, store: str | os.PathLike[str] | None = None
) -> RegressRun:
    """Fit a process, and judge it on its own training graphs; every matrix is computed once, and kept in the store."""
    terms = process._terms()
    graphs = terms.read(X)
    targets = checked_targets(graphs, y)
    sources = TermSources.of(terms, X, graphs)
    blocks = sources.training(sources.computed(store, None))
    given = {name: blocks[name].matrix for name in terms.settings}
    process.fit(X, targets, discrepancies=given)
    if not isinstance(process.model_, FittedGP):
        raise ValueError("there are too many molecules for leave-one-out predictions; give at most 5,000")
    left_out = process.model_.left_out(targets)
    scores = regression_scores(targets, left_out)
    weights = dict(zip(process.model_.names, process.model_.chosen.weights, strict=True))
    heaviest = max(terms.settings, key=lambda name: weights[name])
    curve, outliers = _curve(blocks, targets), _outliers(blocks, targets, left_out)
    return RegressRun(process, left_out, scores, curve, outliers, heaviest, blocks[heaviest].matrix)


def calibration(targets: FloatArray, found: Prediction) -> FloatArray:
    """For every level, the share of targets that are inside the interval of that level.

    >>> exact = Prediction(np.zeros(3), np.ones(3))
    >>> calibration(np.zeros(3), exact).tolist() == [1.0] * len(LEVELS)
    True
    """
    from scipy.stats import norm

    surprise = np.abs(targets - found.mean) / np.sqrt(found.variance)
    return np.array([float((surprise <= norm.ppf(0.5 + level / 2)).mean()) for level in LEVELS])


def _curve(blocks: Blocks, targets: FloatArray) -> dict[int, list[float]]:
    """RMSE on a fifth of the graphs, learned from more and more of the others."""
    found: dict[int, list[float]] = {}
    for seed in CURVE_SEEDS:
        split = random_split(len(targets), seed)
        order = np.random.default_rng(seed).permutation(split.train)
        for share in SHARES:
            train = np.sort(order[: max(3, round(share * len(order)))])
            if not len(split.test) or np.ptp(targets[train]) == 0:
                continue
            model = fit_gp(blocks_of(blocks, train, train), targets[train], 0.0, GpOptions(n_starts=1))
            predicted = model.predict(blocks_of(blocks, split.test, train), own_of(blocks, split.test))
            error = float(np.sqrt(np.mean((predicted.mean - targets[split.test]) ** 2)))
            found.setdefault(len(train), []).append(error)
    return found


def _outliers(blocks: Blocks, targets: FloatArray, found: Prediction) -> list[Outlier]:
    """The graphs with the most surprising values; neighbours are by the mean discrepancy of all settings."""
    surprise = (targets - found.mean) / np.sqrt(found.variance)
    apart = sum(block.matrix / max(float(block.matrix.mean()), 1e-300) for block in blocks.values() if block.has_eta)
    outliers = []
    for number in np.argsort(-np.abs(surprise), kind="stable")[:N_OUTLIERS]:
        row = np.array(np.asarray(apart)[number])
        row[number] = np.inf
        nearest = np.argsort(row, kind="stable")[:N_NEIGHBOURS]
        outliers.append(Outlier(int(number), float(surprise[number]), tuple(int(other) for other in nearest)))
    return outliers
