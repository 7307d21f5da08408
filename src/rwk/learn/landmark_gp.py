"""A Gaussian process for many graphs: kernel functions of m landmarks stand in for all training graphs.

With K_mm = V diag(λ) Vᵀ between landmarks (negative λ left out) and K_nm between training graphs and landmarks, the
features Φ = K_nm V λ^(−1/2) make K ≈ Φ Φᵀ: the subset of regressors. Costs are O(n m²) instead of O(n³), and n m pairs
instead of n²/2. Its error bars would vanish far from all landmarks, so the part of the prior that the landmarks do not
explain, k(x, x) − |φ(x)|², is added to the variance (the deterministic training conditional).

Weights and η are chosen on the landmarks alone, then the noise by the marginal likelihood of all training targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from rwk.learn.exact_gp import Blocks, FittedGP, GpOptions, Prediction, fit_gp
from rwk.learn.likelihood import LOG_NOISE, LOG_UNKNOWN_NOISE, total_kernel
from rwk.runtime.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkGP:
    """What a prediction needs; the same interface as `FittedGP`."""

    exact: FittedGP  # of the landmarks: weights, η, units and standardisation
    map: FloatArray  # (m, k) from kernel rows to features
    noise: float  # standardised
    coefficients: FloatArray  # (k,)
    factor: FloatArray  # (k, k) lower Cholesky factor of Φᵀ N⁻¹ Φ + I
    criterion: float
    target_mean: float
    target_std: float

    @property
    def negative_share(self) -> float:
        return self.exact.negative_share

    def predict(self, blocks: Blocks, own: Blocks, among: Blocks | None = None) -> Prediction:
        """Predict from rows (new × landmarks), as `FittedGP.predict` does."""
        features = total_kernel(self.exact.terms(blocks), self.exact.chosen) @ self.map
        solved = cho_solve((self.factor, True), features.T, check_finite=False)
        mean = self.target_mean + self.target_std * (features @ self.coefficients)
        prior = total_kernel(self.exact.terms(own), self.exact.chosen)
        unexplained = np.maximum(prior - np.einsum("ij,ij->i", features, features), 0.0)
        variance = unexplained + np.einsum("ij,ji->i", features, solved) + self.noise
        covariance = None
        if among is not None:
            among_new = total_kernel(self.exact.terms(among), self.exact.chosen)
            covariance = among_new - features @ features.T + features @ solved
            covariance = 0.5 * (covariance + covariance.T)
            np.fill_diagonal(covariance, variance)
            covariance *= self.target_std**2
        return Prediction(mean, variance * self.target_std**2, covariance)

    def record(self) -> dict[str, object]:
        """The chosen hyperparameters in plain values."""
        return {**self.exact.record(), "noise": round(self.noise, 6), "landmarks": len(self.map)}

    def log_marginal_likelihood(self, targets: FloatArray) -> float:
        """log density of the training targets under the approximation, as it was when fitted."""
        return self.criterion - len(targets) * float(np.log(self.target_std))


def fit_landmark_gp(
    square: Blocks,
    rows: Blocks,
    landmarks: IntArray,
    targets: FloatArray,
    alpha: FloatArray | float,
    options: GpOptions,
) -> LandmarkGP:
    """Fit from the matrices of the landmarks (square) and of all training graphs with the landmarks (rows)."""
    known = np.broadcast_to(np.asarray(alpha, np.float64), targets.shape)
    exact = fit_gp(square, targets[landmarks], known[landmarks], options)
    kernel = total_kernel(exact.terms(square), exact.chosen)
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 1e-6 * values[-1]
    to_features = vectors[:, kept] / np.sqrt(values[kept])
    features = total_kernel(exact.terms(rows), exact.chosen) @ to_features
    mean, std = float(targets.mean()), float(targets.std())
    scaled, extra = (targets - mean) / std, known / std**2

    def loss(log_noise: float) -> float:
        return -_condition(features, scaled, np.exp(log_noise) + extra)[0]

    bounds = LOG_NOISE if extra.any() else LOG_UNKNOWN_NOISE
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02, "maxiter": 30})
    noise = float(np.exp(best.x))
    criterion, coefficients, factor = _condition(features, scaled, noise + extra)
    return LandmarkGP(exact, to_features, noise, coefficients, factor, criterion, mean, std)


def _condition(features: FloatArray, targets: FloatArray, noise: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Marginal likelihood, posterior mean and factor of the posterior precision of a Bayesian linear model."""
    weighted = features / noise[:, None]
    precision = features.T @ weighted + np.eye(features.shape[1])
    factor, _ = cho_factor(precision, lower=True, check_finite=False)
    coefficients = np.asarray(cho_solve((factor, True), weighted.T @ targets, check_finite=False))
    fit = float(targets @ (targets / noise)) - float((weighted.T @ targets) @ coefficients)
    determinant = 2.0 * float(np.log(np.diagonal(factor)).sum()) + float(np.log(noise).sum())
    value = -0.5 * (fit + determinant + len(targets) * float(np.log(2 * np.pi)))
    return value, coefficients, np.tril(factor)
