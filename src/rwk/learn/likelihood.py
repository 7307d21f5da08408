"""How well a sum of kernels explains targets: marginal likelihood or leave-one-out density, with gradients.

The covariance of the targets is A = K₊ + N with K = Σ w_m K_m(η_m), K₊ the kernel with its negative eigenvalues
treated, and N the diagonal of noise variances. A term is a discrepancy matrix, which becomes a kernel by exp(−η D), or
a kernel that is used as it is. All of w, η and the noise are positive and are optimised as logarithms.

With L the criterion and G = ∂L/∂A, the gradient for a change dK is tr(G̃ dK). For clipping, G̃ = V (F ∘ VᵀGV) Vᵀ with
K = V diag(λ) Vᵀ and F the divided differences of λ ↦ max(λ, 0) (Daleckii and Krein): no approximation is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import minimize

from rwk.learn.treatment import is_positive, rounding, slack
from rwk.runtime.arrays import FloatArray

Criterion = Literal["likelihood", "leave-one-out"]
CRITERIA: Final = ("likelihood", "leave-one-out")
GP_TREATMENTS: Final = ("clip", "shift")

# ranges of the logarithms; targets are standardised and discrepancies have mean 1
LOG_WEIGHT: Final = (-9.0, 5.0)
LOG_ETA: Final = (-4.0, 4.0)
LOG_NOISE: Final = (-11.0, 1.0)
# If no variances are given: molecules that are listed twice have the same value twice, and would make the noise vanish
# and the error bars far too small. The lowest noise has a twentieth of the spread of the targets.
LOG_UNKNOWN_NOISE: Final = (-6.0, 1.0)
JITTER: Final = 1e-9
WORST: Final = 1e25  # what the optimiser sees where A can't be factorised


class Term(NamedTuple):
    """One matrix of the sum: discrepancies, made a kernel by exp(−η D), or a kernel."""

    matrix: FloatArray
    has_eta: bool

    def kernel(self, eta: float) -> FloatArray:
        return np.asarray(np.exp(-eta * self.matrix)) if self.has_eta else self.matrix


class Hyperparameters(NamedTuple):
    """Weights and η of all terms (η is 1 and unused for kernels), and the noise variance."""

    weights: tuple[float, ...]
    etas: tuple[float, ...]
    noise: float

    def packed(self, terms: Sequence[Term]) -> FloatArray:
        """Logarithms: weights, then η of the terms that have one, then the noise."""
        etas = [eta for eta, term in zip(self.etas, terms, strict=True) if term.has_eta]
        return np.asarray(np.log(np.array([*self.weights, *etas, self.noise])))

    @classmethod
    def unpacked(cls, theta: FloatArray, terms: Sequence[Term]) -> Hyperparameters:
        values = np.exp(theta)
        etas = iter(values[len(terms) : -1])
        return cls(
            tuple(float(w) for w in values[: len(terms)]),
            tuple(float(next(etas)) if term.has_eta else 1.0 for term in terms),
            float(values[-1]),
        )


class Treated(NamedTuple):
    """A positive kernel; the spectrum of the kernel it was made from, if it had negative eigenvalues; the shift."""

    kernel: FloatArray
    values: FloatArray | None
    vectors: FloatArray | None
    shift: float

    @property
    def removed(self) -> FloatArray:
        """Eigenvectors that clipping removed."""
        if self.values is None or self.vectors is None or self.shift:
            return np.empty((len(self.kernel), 0))
        return self.vectors[:, self.values < 0]

    @property
    def negative_share(self) -> float:
        """Σ|negative eigenvalues| / Σ|all eigenvalues| before the treatment."""
        if self.values is None:
            return 0.0
        return float(-self.values[self.values < 0].sum() / np.abs(self.values).sum())


def treated_kernel(kernel: FloatArray, treatment: str) -> Treated:
    """A kernel without negative eigenvalues, by "clip" or "shift"; positive ones are returned as they are.

    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> treated_kernel(swap, "clip").kernel.round(3).tolist(), treated_kernel(swap, "shift").kernel.round(3).tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[1.0, 1.0], [1.0, 1.0]])
    """
    if is_positive(kernel + slack(kernel) * np.eye(len(kernel))):
        return Treated(kernel, None, None, 0.0)
    values, vectors = eigh(kernel, driver="evd", check_finite=False)
    if values[0] >= -rounding(values):
        return Treated(kernel, None, None, 0.0)
    if treatment == "shift":
        return Treated(kernel - values[0] * np.eye(len(kernel)), values, vectors, float(-values[0]))
    positive = vectors[:, values > 0]
    return Treated((positive * values[values > 0]) @ positive.T, values, vectors, 0.0)


def total_kernel(terms: Sequence[Term], chosen: Hyperparameters) -> FloatArray:
    """Σ w_m K_m(η_m), untreated; terms may also be blocks of rows."""
    total = np.zeros(terms[0].matrix.shape)
    for term, weight, eta in zip(terms, chosen.weights, chosen.etas, strict=True):
        total += weight * term.kernel(eta)
    return total


class Criterial(NamedTuple):
    """A criterion (to be maximised), and its gradient for every entry of A."""

    value: float
    gradient: FloatArray  # (n, n)


def marginal_likelihood(covariance: FloatArray, targets: FloatArray) -> Criterial:
    """log N(targets; 0, covariance)."""
    factor = cho_factor(covariance, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(len(targets)), check_finite=False)
    coefficients = inverse @ targets
    log_determinant = 2.0 * float(np.log(np.diagonal(factor[0])).sum())
    value = -0.5 * (float(targets @ coefficients) + log_determinant + len(targets) * np.log(2 * np.pi))
    return Criterial(value, 0.5 * (np.outer(coefficients, coefficients) - inverse))


def leave_one_out(covariance: FloatArray, targets: FloatArray) -> Criterial:
    """Sum of the log densities of each target given all others (Rasmussen and Williams 2006, section 5.4.2)."""
    factor = cho_factor(covariance, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(len(targets)), check_finite=False)
    coefficients, precision = inverse @ targets, np.diagonal(inverse)
    value = 0.5 * float((np.log(precision) - coefficients**2 / precision).sum() - len(targets) * np.log(2 * np.pi))
    own = 0.5 / precision + 0.5 * (coefficients / precision) ** 2
    cross = np.outer(inverse @ (coefficients / precision), coefficients)
    return Criterial(value, 0.5 * (cross + cross.T) - (inverse * own) @ inverse)


class Problem(NamedTuple):
    """What hyperparameters are chosen for."""

    terms: Sequence[Term]
    targets: FloatArray  # standardised
    extra_noise: FloatArray  # variances known beforehand, added to the common one
    treatment: str = "clip"
    criterion: Criterion = "likelihood"

    def evaluate(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The criterion at these logarithms and its gradient; raises LinAlgError if A can't be factorised."""
        chosen = Hyperparameters.unpacked(theta, self.terms)
        kernels = [term.kernel(eta) for term, eta in zip(self.terms, chosen.etas, strict=True)]
        total = sum(weight * kernel for weight, kernel in zip(chosen.weights, kernels, strict=True))
        treated = treated_kernel(np.asarray(total), self.treatment)
        covariance = treated.kernel + np.diag(chosen.noise + self.extra_noise + JITTER)
        found = (marginal_likelihood if self.criterion == "likelihood" else leave_one_out)(covariance, self.targets)
        inner = _through_treatment(found.gradient, treated)
        slopes = [
            weight * float(np.vdot(inner, kernel)) for weight, kernel in zip(chosen.weights, kernels, strict=True)
        ]
        widths = [
            -weight * eta * float(np.vdot(inner, term.matrix * kernel))
            for term, weight, eta, kernel in zip(self.terms, chosen.weights, chosen.etas, kernels, strict=True)
            if term.has_eta
        ]
        noise = chosen.noise * float(np.trace(found.gradient))
        return found.value, np.array([*slopes, *widths, noise])

    def bounds(self) -> list[tuple[float, float]]:
        """Ranges of the logarithms."""
        widths = [LOG_ETA for term in self.terms if term.has_eta]
        noise = LOG_NOISE if self.extra_noise.any() else LOG_UNKNOWN_NOISE
        return [*[LOG_WEIGHT] * len(self.terms), *widths, noise]


def _through_treatment(gradient: FloatArray, treated: Treated) -> FloatArray:
    """The gradient for entries of the untreated kernel."""
    values, vectors = treated.values, treated.vectors
    if values is None or vectors is None:
        return gradient
    if treated.shift:  # the shift is −λ_1, whose derivative for K is −v_1 v_1ᵀ
        return np.asarray(gradient - np.trace(gradient) * np.outer(vectors[:, 0], vectors[:, 0]))
    positive = np.maximum(values, 0.0)
    apart = values[:, None] - values[None, :]
    equal = np.abs(apart) <= rounding(values)
    ratio = (positive[:, None] - positive[None, :]) / np.where(equal, 1.0, apart)
    ratio = np.where(equal, (values > 0)[:, None].astype(np.float64), ratio)
    return np.asarray(vectors @ (ratio * (vectors.T @ gradient @ vectors)) @ vectors.T)


class Optimum(NamedTuple):
    """The best hyperparameters found, their criterion, and the criterion that each start led to."""

    chosen: Hyperparameters
    value: float
    starts: tuple[float, ...]


def optimise(problem: Problem, *, n_starts: int, seed: int, max_iter: int = 60) -> Optimum:
    """Maximise the criterion by L-BFGS from several starts: the first two are usual, the others are drawn at random."""
    draw = np.random.default_rng(seed)
    found = [_climb(problem, _start(problem.terms, start, draw), max_iter) for start in range(n_starts)]
    value, theta = max(found, key=lambda pair: pair[0])
    return Optimum(Hyperparameters.unpacked(theta, problem.terms), value, tuple(value for value, _ in found))


def refine(problem: Problem, chosen: Hyperparameters, *, max_iter: int) -> Optimum:
    """Some more steps from given hyperparameters."""
    value, theta = _climb(problem, chosen.packed(problem.terms), max_iter)
    return Optimum(Hyperparameters.unpacked(theta, problem.terms), value, (value,))


def _climb(problem: Problem, theta: FloatArray, max_iter: int) -> tuple[float, FloatArray]:
    """The criterion and the logarithms where L-BFGS ends."""

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        try:
            value, gradient = problem.evaluate(theta)
        except LinAlgError:
            return WORST, np.zeros_like(theta)
        return -value, -gradient

    options = {"maxiter": max_iter, "ftol": 1e-6}
    done = minimize(loss, theta, jac=True, method="L-BFGS-B", bounds=problem.bounds(), options=options)
    return -float(done.fun), np.asarray(done.x)


def _start(terms: Sequence[Term], number: int, draw: np.random.Generator) -> FloatArray:
    """Weights that add up to 1 and noise 0.1, with η = 1 (start 0) or 5 (start 1); then log-uniform around these.

    A discrepancy whose values are all similar needs a large η to tell graphs apart: from η = 1 its weight would vanish.
    """
    eta = 5.0 if number % 2 else 1.0
    usual = Hyperparameters((1.0 / len(terms),) * len(terms), (eta,) * len(terms), 0.1).packed(terms)
    return usual if number < 2 else usual + draw.uniform(-1.5, 1.5, len(usual))
