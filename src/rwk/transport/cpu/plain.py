"""The solver body of one small pair in plain NumPy: Algorithm 1 without compiling anything.

The numbered steps are those of problem.py, as in scalar.py. Every single small pair in float64 is solved here, whatever
has been compiled before, so `align` has one value on one machine; it agrees with a matrix to rounding. The first
alignment of a lifetime then takes a few seconds rather than the half minute that compiling the lanes takes, and a later
one a millisecond more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.transport.cpu.loading import PairMatrices, with_feature_cost
from rwk.transport.cpu.plain_costs import laplacian_of, load_plainly
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_64, TINY_64
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import (
    ARMIJO,
    HALVINGS,
    LARGEST_STEP_WITH_KL,
    LEAST_MASS_64,
    START_ENTROPY,
    START_SHARE,
    CostWeights,
    PairSolution,
    ScgOptions,
    make_solution,
)

Matrix = NDArray[np.float64]


class SpreadTooWideError(ArithmeticError):
    """The kernel of a Sinkhorn round would underflow: the pair needs the rounds on logarithms of scalar.py."""


class PlainProblem(NamedTuple):
    """One pair: its matrices, its two Laplacians and the weights."""

    pair: PairMatrices
    laplacians: tuple[Matrix, Matrix]
    weights: CostWeights

    @property
    def kl(self) -> float:
        """The weight of the degree prior."""
        return self.weights.beta_global * self.weights.degree_weight

    def quadratic(self, x: Matrix) -> Matrix:
        """Q(x), as in quadratic.py."""
        pair, weights = self.pair, self.weights
        out = 0.5 * weights.beta_local * weights.ridge * x
        if weights.beta_global:
            out -= weights.beta_global * (pair.structure_mu @ x @ pair.structure_nu)
        if weights.beta_local * weights.laplacian_source:
            smooth = self.laplacians[0] @ (x @ pair.factor_nu)
            out += weights.beta_local * weights.laplacian_source * (smooth @ pair.factor_nu.T)
        if weights.beta_local * weights.laplacian_target:
            smooth = self.laplacians[1] @ (x.T @ pair.factor_mu)
            out += weights.beta_local * weights.laplacian_target * (pair.factor_mu @ smooth.T)
        return np.asarray(out)

    def divergence(self, gamma: Matrix) -> tuple[Matrix, float]:
        """The logarithm of gamma, and its KL to the prior; zeros if the prior has no weight."""
        if not self.kl:
            return np.zeros_like(gamma), 0.0
        logs = np.log(np.maximum(gamma, LEAST_MASS_64))
        return logs, float(np.vdot(gamma, logs - self.pair.log_prior))

    def terms(self, gamma: Matrix, divergence: float) -> Matrix:
        """Step 9: the seven terms of H, in the order of `TERM_NAMES`."""
        pair, weights = self.pair, self.weights
        local = weights.beta_local
        source, target = gamma @ pair.factor_nu, gamma.T @ pair.factor_mu
        moved = np.vdot(pair.structure_mu @ gamma, gamma @ pair.structure_nu)
        return np.array([
            np.vdot(gamma, pair.feature),
            local * np.vdot(gamma, pair.neighbour),
            local * weights.laplacian_source * np.vdot(self.laplacians[0] @ source, source),
            local * weights.laplacian_target * np.vdot(self.laplacians[1] @ target, target),
            0.5 * local * weights.ridge * np.vdot(gamma, gamma),
            pair.constant - weights.beta_global * moved,
            self.kl * divergence,
        ])  # fmt: skip


def solve_plainly(
    measures: GraphMeasures,
    graphs: tuple[int, int],
    weights: CostWeights,
    options: ScgOptions,
    *,
    trace: bool,
    start: Matrix,
    cost: Matrix,
) -> PairSolution:
    """Algorithm 1 for two graphs, source and target; see `dispatch.run_pair` for `start` and `cost`.

    Raises `SpreadTooWideError` if this body can't solve the pair.
    """
    pair = load_plainly(measures, *graphs, weights)  # 1 costs
    if cost.size:
        pair = with_feature_cost(pair, cost)
    problem = PlainProblem(pair, (laplacian_of(measures, graphs[0]), laplacian_of(measures, graphs[1])), weights)
    gamma = np.outer(pair.mu, pair.nu)  # 2 start
    if start.size:
        plan = sinkhorn(np.asarray(start, np.float64), pair, START_ENTROPY, options.sinkhorn_iter)
        gamma += START_SHARE * (plan - gamma)
    return _descend(problem, gamma, options, np.full((options.max_iter if trace else 0, 2), np.nan))


def _descend(problem: PlainProblem, gamma: Matrix, options: ScgOptions, history: Matrix) -> PairSolution:
    """Steps 3 to 9 from a coupling."""
    pair, kl = problem.pair, problem.kl
    image, (logs, divergence) = problem.quadratic(gamma), problem.divergence(gamma)
    objective = float(problem.terms(gamma, divergence).sum()) if len(history) else 0.0
    gap, converged, n_iter = np.inf, False, 0
    for iteration in range(max(options.max_iter, 1)):
        g = pair.fixed + 2.0 * image + kl * logs  # 3 gradient
        delta = sinkhorn(g, pair, options.entropy, options.sinkhorn_iter) - gamma  # 4 direction
        slope = float(np.vdot(delta, g))
        gap = -slope  # 5 gap
        if iteration < len(history):
            history[iteration] = objective, gap
        converged = bool(gap <= options.tol)
        if converged or options.max_iter == 0:
            break
        delta_image = problem.quadratic(delta)  # 6 products
        curvature = float(np.vdot(delta, delta_image))
        step = line_search(problem, (gamma, logs, divergence), delta, slope, curvature)  # 7 line search
        if step is None:
            break
        alpha, change, (gamma, logs, divergence) = step  # 8 step
        image = image + alpha * delta_image
        objective += change
        n_iter = iteration + 1
    terms = problem.terms(gamma, divergence)  # 9 value
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)


def line_search(
    problem: PlainProblem, current: tuple[Matrix, Matrix, float], delta: Matrix, slope: float, curvature: float
) -> tuple[float, float, tuple[Matrix, Matrix, float]] | None:
    """Step 7: the step, the change of H, and the new gamma with its logarithms and KL; None if no step descends."""
    gamma, logs, divergence = current
    kl = problem.kl
    largest = LARGEST_STEP_WITH_KL if kl else 1.0
    alpha = min(max(-slope / (2.0 * curvature), 0.0), largest) if curvature > 0.0 else largest
    smooth_slope = slope
    if kl:
        smooth_slope -= kl * float(np.vdot(delta, 1.0 + logs - problem.pair.log_prior))
    for _ in range(HALVINGS + 1):
        trial = np.maximum(gamma + alpha * delta, 0.0)
        new_logs, new_divergence = problem.divergence(trial)
        change = alpha * smooth_slope + alpha * alpha * curvature + kl * (new_divergence - divergence)
        if change <= ARMIJO * alpha * slope:
            return None if alpha == 0.0 else (alpha, change, (trial, new_logs, new_divergence))
        alpha *= 0.5
    return None


def sinkhorn(g: Matrix, pair: PairMatrices, lam: float, rounds: int) -> Matrix:
    """Step 4: the plan of truncated Sinkhorn rounds, rounded to exact marginals (R13); see sinkhorn.py."""
    mu, nu, low = pair.mu, pair.nu, g.min()
    if not g.max() - low <= PLAIN_SPREAD_64 * lam:
        raise SpreadTooWideError
    kernel = np.exp((low - g) / lam)
    u, v, sums = np.ones_like(mu), np.ones_like(nu), kernel.sum(axis=0)
    for _ in range(rounds):
        v = nu / np.maximum(sums, TINY_64)
        u = mu / np.maximum(kernel @ v, TINY_64)
        sums = u @ kernel
    carried = v * sums  # rows are exact after the last u: only columns are shrunk
    v = v * np.minimum(nu / np.maximum(carried, TINY_64), 1.0)
    plan = u[:, None] * kernel * v
    missing_rows, missing_columns = np.maximum(mu - plan.sum(axis=1), 0.0), np.maximum(nu - carried, 0.0)
    missing: Any = missing_rows.sum()
    return np.asarray(plan + np.outer(missing_rows / missing, missing_columns) if missing > 0.0 else plan)
