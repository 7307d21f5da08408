"""The numbered steps with an exact linear program in step 4, and the certificate of a result.

A linear program gains nothing from compiled loops around it: here Python calls the compiled steps, one pair at a time.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.backends import BackendError
from rwk.runtime.threads import Ticker, one_blas_thread
from rwk.transport.cpu import partial, scalar
from rwk.transport.cpu.loading import load_pair, with_feature_cost
from rwk.transport.cpu.quadratic import quadratic_map
from rwk.transport.cpu.reductions import inner
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.problem import (
    NO_COST,
    NO_START,
    TERM_NAMES,
    CostWeights,
    PairResults,
    PairSolution,
    ScgOptions,
    make_solution,
)


def exact_plan(
    g: NDArray[np.float64], mu: NDArray[np.float64], nu: NDArray[np.float64], mass: float = 1.0
) -> NDArray[np.float64]:
    """The coupling with the least <gamma, g>, by POT's network simplex in float64.

    For a mass below 1 a dummy node on either side takes what stays, at no cost; no mass goes from dummy to dummy.
    """
    try:
        from ot import emd
    except ImportError:
        raise BackendError("the exact direction needs POT; install it with: pip install 'rwk[baselines]'") from None
    if mass == 1.0:
        return np.asarray(emd(mu, nu, g, numItermax=1_000_000))
    padded = np.pad(g - g.min(), ((0, 1), (0, 1)))
    padded[-1, -1] = padded.max() + 1.0
    plan = emd(np.append(mu, nu.sum() - mass), np.append(nu, mu.sum() - mass), padded, numItermax=1_000_000)
    return np.ascontiguousarray(plan[:-1, :-1])


def run_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """Solve pairs as they are oriented, one after the other: POT holds the interpreter lock."""
    measures, results = in_precision(measures, "float64"), PairResults.empty(len(pairs))
    for p, (a, b) in enumerate(pairs):
        results.put_solution(p, run_pair(measures, int(a), int(b), weights, options))
        if tick:
            tick(1)
    return results


class _Steps(NamedTuple):
    """The compiled steps that differ between the whole and the partial problem."""

    load: Any  # 1
    map: Any  # 6
    terms: Any  # 9


_WHOLE: Final = _Steps(load_pair, quadratic_map, scalar.terms_at)
_PARTIAL: Final = _Steps(partial.load_partial, partial.partial_map, partial.partial_terms)


def run_pair(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
    cost: NDArray[np.float64] = NO_COST,
) -> PairSolution:
    """Algorithm 1 with the exact direction: plain Frank-Wolfe, whose gap is the true one."""
    measures, kl = in_precision(measures, "float64"), weights.beta_global * weights.degree_weight
    steps = _WHOLE if weights.mass == 1.0 else _PARTIAL
    with one_blas_thread():
        pair = steps.load(measures, a, b, weights)  # 1 costs
        if cost.size:
            pair = with_feature_cost(pair, cost)
        shape = pair.fixed.shape
        gamma = weights.mass * np.outer(pair.mu, pair.nu)  # 2 start
        if start.size and weights.mass == 1.0:
            scalar.move_towards_plan(start, pair, options.sinkhorn_iter, gamma)
        elif start.size:
            partial.partial_start(pair, weights.mass, start, options.sinkhorn_iter, gamma)
        logs, trial, trial_logs = np.zeros(shape), np.empty(shape), np.zeros(shape)
        image, delta_image, g = np.empty(shape), np.empty(shape), np.empty(shape)
        terms = np.zeros(len(TERM_NAMES))
        steps.map(measures, pair, weights, gamma, image)
        divergence = scalar.logarithms(gamma, pair.log_prior, logs) if kl else 0.0
        objective = steps.terms(measures, pair, weights, gamma, divergence, terms)
        history = np.full((options.max_iter if trace else 0, 2), np.nan)
        gap, converged, n_iter = np.inf, False, 0
        for iteration in range(options.max_iter):
            scalar.gradient(pair, kl, image, logs, g)  # 3 gradient
            if not np.isfinite(g).all():  # POT would crash; the value becomes NaN, which the caller reports
                gamma[:] = gap = np.nan
                break
            delta = exact_plan(g, pair.mu, pair.nu, weights.mass) - gamma  # 4 direction
            slope = inner(delta, g)  # 5 gap
            gap = -slope
            if trace:
                history[iteration] = objective, gap
            if gap <= options.tol:
                converged = True
                break
            steps.map(measures, pair, weights, delta, delta_image)  # 6 products
            curvature = inner(delta, delta_image)
            alpha, change, divergence = scalar.line_search(  # 7 line search
                pair, kl, (gamma, logs, divergence), delta, slope, curvature, (trial, trial_logs)
            )
            if alpha == 0.0:
                break
            gamma, trial, logs, trial_logs = trial, gamma, trial_logs, logs  # 8 step
            image += alpha * delta_image
            objective += change
            n_iter = iteration + 1
        steps.terms(measures, pair, weights, gamma, divergence, terms)  # 9 value
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)


def true_gap(measures: GraphMeasures, a: int, b: int, weights: CostWeights, coupling: NDArray[Any]) -> float:
    """The Frank-Wolfe gap of a coupling gamma: the largest <gamma - gamma_hat, g> over all couplings gamma_hat."""
    measures, kl = in_precision(measures, "float64"), weights.beta_global * weights.degree_weight
    with one_blas_thread():
        steps = _WHOLE if weights.mass == 1.0 else _PARTIAL
        pair = steps.load(measures, a, b, weights)
        gamma = np.ascontiguousarray(coupling, np.float64)
        image, logs, g = np.empty_like(gamma), np.zeros_like(gamma), np.empty_like(gamma)
        steps.map(measures, pair, weights, gamma, image)
        if kl:
            scalar.logarithms(gamma, pair.log_prior, logs)
        scalar.gradient(pair, kl, image, logs, g)
        if not np.isfinite(g).all():
            return float("nan")
        return float(inner(gamma - exact_plan(g, pair.mu, pair.nu, weights.mass), g))
