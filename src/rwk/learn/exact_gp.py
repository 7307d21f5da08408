"""A Gaussian process on matrices: hyperparameters chosen by a criterion, then predictions with error bars.

Matrices come as named terms, the same for training (square), for new graphs (rows) and for new graphs among themselves.
Discrepancies are divided by their mean on the training graphs, and targets are standardised, so that the ranges of the
hyperparameters suit every set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import minimize_scalar

from rwk.learn.likelihood import (
    JITTER,
    LOG_UNKNOWN_NOISE,
    Criterion,
    Hyperparameters,
    Optimum,
    Problem,
    Term,
    Treated,
    optimise,
    refine,
    total_kernel,
    treated_kernel,
)
from rwk.runtime.arrays import FloatArray, IntArray

FIRST_GRAPHS: Final = 400  # the starts are compared on so many training graphs
MOST_GRAPHS: Final = 1200  # the best of them is refined on so many
REFINING: Final = 12  # steps
LOG_RATIO: Final = (-9.0, 3.0)  # of the noise to the amplitude, if there are more graphs


class Block(NamedTuple):
    """One matrix between graphs: discrepancies or values of a kernel."""

    matrix: FloatArray
    has_eta: bool


Blocks = Mapping[str, Block]


class GpOptions(NamedTuple):
    """How the hyperparameters are chosen."""

    criterion: Criterion = "likelihood"
    treatment: str = "clip"
    n_starts: int = 2
    seed: int = 0


class Prediction(NamedTuple):
    """Mean and variance of the measured values of new graphs, noise included; the covariance if asked for."""

    mean: FloatArray
    variance: FloatArray
    covariance: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FittedGP:
    """What a prediction needs; `record` and `arrays` hold all of it in plain form."""

    names: tuple[str, ...]
    units: tuple[float, ...]  # mean training discrepancy of each term, or 1
    etas_used: tuple[bool, ...]
    chosen: Hyperparameters
    criterion: float
    starts: tuple[float, ...]
    target_mean: float
    target_std: float
    coefficients: FloatArray  # (n,) on treated rows
    factor: FloatArray  # (n, n) lower Cholesky factor of the covariance of the targets
    removed: FloatArray  # (n, k) eigenvectors that rows are projected off
    negative_share: float

    def terms(self, blocks: Blocks) -> list[Term]:
        """The terms of the sum between some graphs, in the units of the training graphs."""
        return [
            Term(np.asarray(blocks[name].matrix, np.float64) / unit, has_eta)
            for name, unit, has_eta in zip(self.names, self.units, self.etas_used, strict=True)
        ]

    def rows(self, blocks: Blocks) -> FloatArray:
        """Treated kernel rows of new graphs."""
        rows = total_kernel(self.terms(blocks), self.chosen)
        return np.asarray(rows - (rows @ self.removed) @ self.removed.T)

    def predict(self, blocks: Blocks, own: Blocks, among: Blocks | None = None) -> Prediction:
        """Predict from rows (new × training), the terms of each new graph with itself, and optionally of all pairs."""
        rows = self.rows(blocks)
        mean = self.target_mean + self.target_std * (rows @ self.coefficients)
        solved = cho_solve((self.factor, True), rows.T, check_finite=False)  # (n, new)
        prior = total_kernel([Term(term.matrix, term.has_eta) for term in self.terms(own)], self.chosen)
        noise = self.chosen.noise
        variance = np.maximum(prior - np.einsum("ij,ji->i", rows, solved), JITTER) + noise
        covariance = None
        if among is not None:
            covariance = total_kernel(self.terms(among), self.chosen) - rows @ solved
            covariance = 0.5 * (covariance + covariance.T)
            np.fill_diagonal(covariance, variance)
            covariance *= self.target_std**2
        return Prediction(mean, variance * self.target_std**2, covariance)

    def log_marginal_likelihood(self, targets: FloatArray) -> float:
        """log density of the (unstandardised) training targets at the chosen hyperparameters."""
        scaled = (targets - self.target_mean) / self.target_std
        determinant = 2.0 * float(np.log(np.diagonal(self.factor)).sum())
        fit = float(scaled @ cho_solve((self.factor, True), scaled))
        n = len(targets)
        return -0.5 * (fit + determinant + n * float(np.log(2 * np.pi))) - n * float(np.log(self.target_std))

    def left_out(self, targets: FloatArray) -> Prediction:
        """Mean and variance of each training target given all others."""
        inverse = cho_solve((self.factor, True), np.eye(len(targets)), check_finite=False)
        scaled = (targets - self.target_mean) / self.target_std
        precision = np.diagonal(inverse)
        mean = scaled - (inverse @ scaled) / precision
        return Prediction(self.target_mean + self.target_std * mean, self.target_std**2 / precision)

    def record(self) -> dict[str, Any]:
        """The chosen hyperparameters in plain values."""
        weights = {name: round(w, 6) for name, w in zip(self.names, self.chosen.weights, strict=True)}
        etas = {
            name: round(eta, 6)
            for name, eta, used in zip(self.names, self.chosen.etas, self.etas_used, strict=True)
            if used
        }
        return {"weights": weights, "eta": etas, "noise": round(self.chosen.noise, 6), "negative": self.negative_share}


def fit_gp(blocks: Blocks, targets: FloatArray, alpha: FloatArray | float, options: GpOptions) -> FittedGP:
    """Choose hyperparameters and condition on the training targets.

    `alpha` are variances of the measurements known beforehand, in squared units of the targets.
    """
    mean, std = float(targets.mean()), float(targets.std())
    units = tuple(_unit(block) for block in blocks.values())
    terms = [
        Term(np.asarray(block.matrix, np.float64) / unit, block.has_eta)
        for block, unit in zip(blocks.values(), units, strict=True)
    ]
    extra = np.broadcast_to(np.asarray(alpha, np.float64), targets.shape) / std**2
    problem = Problem(terms, (targets - mean) / std, extra, options.treatment, options.criterion)
    best = choose(problem, options)
    treated = treated_kernel(total_kernel(terms, best.chosen), options.treatment)
    chosen, amplitude = best.chosen, 1.0
    if len(targets) > MOST_GRAPHS and not extra.any():
        chosen, amplitude = rescaled(chosen, treated, problem.targets)
    covariance = amplitude * treated.kernel + np.diag(chosen.noise + extra + JITTER)
    factor, _ = cho_factor(covariance, lower=True, check_finite=False)
    return FittedGP(
        names=tuple(blocks),
        units=units,
        etas_used=tuple(term.has_eta for term in terms),
        chosen=chosen,
        criterion=best.value,
        starts=best.starts,
        target_mean=mean,
        target_std=std,
        coefficients=np.asarray(cho_solve((factor, True), problem.targets, check_finite=False)),
        factor=np.tril(factor),
        removed=treated.removed,
        negative_share=treated.negative_share,
    )


def left_out_values(discrepancies: FloatArray, targets: FloatArray) -> Prediction:
    """Each target predicted from all others by a process on one matrix of discrepancies.

    >>> places = np.linspace(0.0, 3.0, 12)
    >>> found = left_out_values(np.abs(places[:, None] - places[None, :]), np.sin(places))
    >>> bool(np.abs(found.mean - np.sin(places)).mean() < 0.1)
    True
    """
    return fit_gp({"RW": Block(discrepancies, True)}, targets, 0.0, GpOptions()).left_out(targets)


def choose(problem: Problem, options: GpOptions) -> Optimum:
    """The best hyperparameters; starts are compared on a part of a large training set, and refined on more of it."""
    n = len(problem.targets)
    order = np.random.default_rng(options.seed).permutation(n)
    first = optimise(part_of(problem, order[:FIRST_GRAPHS]), n_starts=options.n_starts, seed=options.seed)
    if n <= FIRST_GRAPHS:
        return first
    refined = refine(part_of(problem, order[:MOST_GRAPHS]), first.chosen, max_iter=REFINING)
    return refined._replace(starts=first.starts)


def rescaled(chosen: Hyperparameters, treated: Treated, targets: FloatArray) -> tuple[Hyperparameters, float]:
    """Hyperparameters of a part of the graphs, with the amplitude a and the noise of all of them; and a.

    The covariance is a (K₊ + r I). Among more graphs each has nearer neighbours, and a noise that was right for fewer
    graphs is far too small if K₊ is not the true kernel. The leave-one-out density depends on that least; the best a
    for each r has a closed form, and one spectrum of K₊ serves every r.
    """
    values, vectors = treated.values, treated.vectors
    if values is None or vectors is None:
        values, vectors = eigh(treated.kernel, driver="evd", check_finite=False)
    values = np.maximum(values + treated.shift, 0.0)
    rotated, squared = vectors.T @ targets, vectors**2

    def fitted(log_ratio: float) -> tuple[float, float]:
        """Minus the density, and the amplitude."""
        inverse = 1.0 / (values + np.exp(log_ratio))
        precision = squared @ inverse
        amplitude = float(np.mean((vectors @ (inverse * rotated)) ** 2 / precision))
        return 0.5 * (len(targets) * np.log(amplitude) - float(np.log(precision).sum())), amplitude

    best = minimize_scalar(lambda ratio: fitted(ratio)[0], bounds=LOG_RATIO, method="bounded", options={"xatol": 0.02})
    amplitude = fitted(float(best.x))[1]
    noise = max(amplitude * float(np.exp(best.x)), float(np.exp(LOG_UNKNOWN_NOISE[0])))
    weights = tuple(weight * amplitude for weight in chosen.weights)
    return Hyperparameters(weights, chosen.etas, noise), amplitude


def part_of(problem: Problem, chosen: IntArray) -> Problem:
    """The problem of some of the graphs."""
    chosen = np.sort(chosen)
    block = np.ix_(chosen, chosen)
    terms = [term._replace(matrix=term.matrix[block]) for term in problem.terms]
    return problem._replace(terms=terms, targets=problem.targets[chosen], extra_noise=problem.extra_noise[chosen])


def sample(prediction: Prediction, n_samples: int, seed: int | None) -> FloatArray:
    """Draws from the joint distribution of new graphs, one column per draw."""
    assert prediction.covariance is not None
    values, vectors = np.linalg.eigh(prediction.covariance)
    normal = np.random.default_rng(seed).normal(size=(len(values), n_samples))
    return np.asarray(prediction.mean[:, None] + (vectors * np.sqrt(np.maximum(values, 0.0))) @ normal)


def blocks_of(blocks: Blocks, rows: IntArray | Sequence[int], columns: IntArray | Sequence[int]) -> dict[str, Block]:
    """A part of every matrix: how one matrix serves every fold."""
    at = np.ix_(np.asarray(rows), np.asarray(columns))
    return {name: block._replace(matrix=block.matrix[at]) for name, block in blocks.items()}


def own_of(blocks: Blocks, rows: IntArray | Sequence[int]) -> dict[str, Block]:
    """The diagonal entries of every square matrix."""
    at = np.asarray(rows)
    return {name: block._replace(matrix=block.matrix[at, at]) for name, block in blocks.items()}


def _unit(block: Block) -> float:
    mean = float(np.mean(block.matrix)) if block.has_eta else 1.0
    return mean if mean > 0 else 1.0
