"""The same numbered steps with an exact linear solver in step 4, and the certificate of a result.

An exact linear program is no vector loop: here Python drives the compiled steps, one pair at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.backends import BackendError
from rwk.runtime.threads import Ticker, one_blas_thread
from rwk.transport.cpu import scalar as cpu
from rwk.transport.cpu.loading import load_pair
from rwk.transport.cpu.quadratic import quadratic_map
from rwk.transport.cpu.reductions import inner
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import (
    NO_START,
    TERM_NAMES,
    CostWeights,
    PairResults,
    PairSolution,
    ScgOptions,
    make_solution,
)


def exact_plan(g: NDArray[np.float64], mu: NDArray[np.float64], nu: NDArray[np.float64]) -> NDArray[np.float64]:
    """argmin <gamma, g> over couplings, by POT's network simplex."""
    try:
        from ot import emd
    except ImportError:
        raise BackendError("the exact direction needs POT; install it with: pip install 'rwk[baselines]'") from None
    return np.asarray(emd(mu, nu, g, numItermax=1_000_000))


def in_doubles(measures: GraphMeasures) -> GraphMeasures:
    """Measures with float64 matrices: a linear program knows no other precision."""
    return measures._replace(
        factors=measures.factors.astype(np.float64, copy=False),
        structure=measures.structure.astype(np.float64, copy=False),
        laplacian_values=measures.laplacian_values.astype(np.float64, copy=False),
    )


def run_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """Solve pairs as oriented, one after the other: POT holds the interpreter lock."""
    measures, results = in_doubles(measures), PairResults.empty(len(pairs))
    for p, (a, b) in enumerate(pairs):
        solution = run_pair(measures, int(a), int(b), weights, options)
        results.values[p], results.n_iter[p] = solution.value, solution.n_iter
        results.gaps[p], results.converged[p] = solution.gap, solution.converged
        if tick:
            tick(1)
    return results


def run_pair(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
) -> PairSolution:
    """Algorithm 1 with the exact direction: plain Frank-Wolfe, whose gap is the true one."""
    measures, kl = in_doubles(measures), weights.beta_global * weights.degree_weight
    with one_blas_thread():
        pair = load_pair(measures, a, b, weights)  # 1
        shape = pair.fixed.shape
        gamma = np.outer(pair.mu, pair.nu)  # 2
        if start.size:
            cpu.leave_for(start, pair, options.sinkhorn_iter, gamma)
        logs, trial, trial_logs = np.zeros(shape), np.empty(shape), np.zeros(shape)
        image, delta_image, g = np.empty(shape), np.empty(shape), np.empty(shape)
        terms = np.zeros(len(TERM_NAMES))
        quadratic_map(measures, pair, weights, gamma, image)
        divergence = cpu.logarithms(gamma, pair.log_prior, logs) if kl else 0.0
        objective = cpu.terms_at(measures, pair, weights, gamma, divergence, terms)
        history = np.full((options.max_iter if trace else 0, 2), np.nan)
        gap, converged, n_iter = np.inf, False, 0
        for iteration in range(options.max_iter):
            cpu.gradient(pair, kl, image, logs, g)  # 3
            delta = exact_plan(g, pair.mu, pair.nu) - gamma  # 4
            slope = inner(delta, g)  # 5
            gap = -slope
            if trace:
                history[iteration] = objective, gap
            if gap <= options.tol:
                converged = True
                break
            quadratic_map(measures, pair, weights, delta, delta_image)  # 6
            curvature = inner(delta, delta_image)
            alpha, change, divergence = cpu.line_search(  # 7
                pair, kl, (gamma, logs, divergence), delta, slope, curvature, (trial, trial_logs)
            )
            if alpha == 0.0:
                break
            gamma, trial, logs, trial_logs = trial, gamma, trial_logs, logs  # 8
            image += alpha * delta_image
            objective += change
            n_iter = iteration + 1
        cpu.terms_at(measures, pair, weights, gamma, divergence, terms)  # 9
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)


def true_gap(measures: GraphMeasures, a: int, b: int, weights: CostWeights, coupling: NDArray[Any]) -> float:
    """The Frank-Wolfe gap max <gamma - gamma_hat, g> over all couplings, at a given coupling."""
    measures, kl = in_doubles(measures), weights.beta_global * weights.degree_weight
    with one_blas_thread():
        pair = load_pair(measures, a, b, weights)
        gamma = np.ascontiguousarray(coupling, np.float64)
        image, logs, g = np.empty_like(gamma), np.zeros_like(gamma), np.empty_like(gamma)
        quadratic_map(measures, pair, weights, gamma, image)
        if kl:
            cpu.logarithms(gamma, pair.log_prior, logs)
        cpu.gradient(pair, kl, image, logs, g)
        return float(inner(gamma - exact_plan(g, pair.mu, pair.nu), g))
