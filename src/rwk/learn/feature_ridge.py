"""Bayesian ridge regression on landmark features: the cheapest model with error bars, for the largest sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn.linear_model import BayesianRidge

from rwk.graphs import GraphSet
from rwk.kernel import RWKernel
from rwk.learn.exact_gp import Prediction
from rwk.parameters import Parameters
from rwk.retrieval.landmarks import RWFeatures
from rwk.runtime.arrays import FloatArray

SAMPLE: Final = 60  # graphs whose mean discrepancy sets η


@dataclass(frozen=True, eq=False)
class FeatureRidge:
    """A fitted Bayesian ridge regression on the landmark features of one or more settings."""

    features: tuple[RWFeatures, ...]
    ridge: BayesianRidge
    target_mean: float
    target_std: float
    criterion: float

    negative_share: float = 0.0  # features of the flip kernel: nothing is left out

    def predict(self, graphs: GraphSet, *, covariance: bool = False) -> Prediction:
        """Predict the values of graphs."""
        rows = np.hstack([np.asarray(part.transform(graphs)) for part in self.features])
        centred = rows - self.ridge.X_offset_
        spread = centred @ self.ridge.sigma_ @ centred.T if covariance else None
        variance = np.einsum("ij,jk,ik->i", centred, self.ridge.sigma_, centred) + 1.0 / self.ridge.alpha_
        if spread is not None:
            np.fill_diagonal(spread, variance)
            spread *= self.target_std**2
        mean = self.target_mean + self.target_std * self.ridge.predict(rows)
        return Prediction(mean, variance * self.target_std**2, spread)

    def log_marginal_likelihood(self, targets: FloatArray) -> float:
        """log density of the training targets."""
        return self.criterion - len(targets) * float(np.log(self.target_std))

    def record(self) -> dict[str, Any]:
        """The chosen hyperparameters in plain values."""
        landmarks = sum(len(part.landmarks_) for part in self.features)
        return {"noise": round(1.0 / float(self.ridge.alpha_), 6), "landmarks": landmarks}


def fit_feature_ridge(
    graphs: GraphSet, targets: FloatArray, settings: dict[str, Parameters], n_landmarks: int, seed: int
) -> FeatureRidge:
    """Fit from graphs; η is the inverse of the mean discrepancy of a sample."""
    draw = np.random.default_rng(seed)
    sample = graphs[np.sort(draw.permutation(len(graphs))[:SAMPLE])]
    parts, columns = [], []
    for setting in settings.values():
        keywords = setting.asdict()
        typical = float(RWKernel(**keywords).fit(sample).discrepancy().mean())
        kernel = RWKernel(**{**keywords, "eta": 1.0 / typical if typical > 0 else 1.0})
        count = max(1, min(n_landmarks, len(graphs)) // len(settings))
        part = RWFeatures(count, kernel=kernel, barycentres=False, random_state=seed)
        columns.append(np.asarray(part.fit_transform(graphs)))
        parts.append(part)
    mean, std = float(targets.mean()), float(targets.std())
    ridge = BayesianRidge(compute_score=True).fit(np.hstack(columns), (targets - mean) / std)
    return FeatureRidge(tuple(parts), ridge, mean, std, float(ridge.scores_[-1]))
