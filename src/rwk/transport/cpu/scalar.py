"""The compiled solver body: Sinkhorn conditional gradient (Algorithm 1 of the paper) for one pair of graphs.

    1  costs of the pair                        5  gap, and whether to stop
    2  start: gamma = mu nu^T and Q(gamma)      6  Q(Delta), the only products of an iteration
    3  gradient                                 7  line search, no products
    4  direction: Sinkhorn, rounded             8  step; at the end 9: value, and terms where asked for

One pair is solved with matrices of its own exact size, so a pair's arithmetic depends on the pair alone. Products
go through BLAS, which reaches most of the machine's peak even at 16 x 16; everything else is loops over
contiguous rows. The quadratic part of H is <Q(gamma), gamma>, whose image of gamma is updated by that of Delta.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.loading import Pair, load_pair
from rwk.transport.cpu.quadratic import add_multiple, laplacian_times, narrowed, quadratic_map, start_image
from rwk.transport.cpu.reductions import inner
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import fma
from rwk.transport.cpu.sinkhorn import sinkhorn_plan
from rwk.transport.problem import (
    ARMIJO,
    HALVINGS,
    LARGEST_STEP_WITH_KL,
    LEAST_MASS_32,
    LEAST_MASS_64,
    START_ENTROPY,
    START_SHARE,
)


@compiled
def logarithms(gamma: Any, log_prior: Any, logs: Any) -> float:
    """logs = log gamma; returns KL(gamma | prior)."""
    least = gamma.dtype.type(LEAST_MASS_32 if gamma.itemsize == 4 else LEAST_MASS_64)
    masses, out, prior = gamma.ravel(), logs.ravel(), log_prior.ravel()
    for p in range(len(masses)):
        out[p] = log_of(max(masses[p], least))
    ratios = np.empty(len(masses))
    for p in range(len(masses)):
        ratios[p] = np.float64(out[p]) - prior[p]
    return inner(masses.astype(np.float64), ratios)


@compiled
def leave_for(costs: Any, pair: Pair, rounds: int, gamma: Any) -> None:
    """Move gamma most of the way to a sharp plan of some costs between 0 and 1."""
    plan = np.empty_like(gamma)
    sinkhorn_plan(costs.astype(gamma.dtype), pair.mu, pair.nu, START_ENTROPY, rounds, plan)
    add_multiple(plan, -1.0, gamma, plan)
    add_multiple(gamma, START_SHARE, plan, gamma)


@compiled
def gradient(pair: Pair, kl: float, image: Any, logs: Any, out: Any) -> None:
    """Step 3: out = M + 2 Q(gamma) + 2 beta_global c + kl (1 + log gamma - log prior)."""
    add_multiple(pair.fixed, 2.0, image, out)
    if kl != 0.0:
        add_multiple(out, kl, logs, out)


@compiled
def line_search(
    pair: Pair, kl: float, current: Any, delta: Any, slope: float, curvature: float, trial: Any
) -> tuple[float, float, float]:
    """Step 7: the step, the change of H and the new KL; trial = (gamma, logs) holds the accepted point.

    H(gamma + alpha Delta) - H(gamma) = alpha <g - KL part, Delta> + alpha^2 <Q(Delta), Delta> + kl (KL' - KL).
    A step of 0 says that no descent was found.
    """
    gamma, logs, divergence = current
    new_gamma, new_logs = trial
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    alpha = largest
    if curvature > 0.0:
        alpha = min(max(-slope / (2.0 * curvature), 0.0), largest)
    smooth_slope = slope
    if kl != 0.0:
        moves, old, prior = delta.ravel(), logs.ravel(), pair.log_prior.ravel()
        rates = np.empty(len(moves))
        for p in range(len(moves)):
            rates[p] = 1.0 + np.float64(old[p]) - prior[p]
        smooth_slope -= kl * inner(moves.astype(np.float64), rates)
    flat_gamma, flat_delta, flat_new = gamma.ravel(), delta.ravel(), new_gamma.ravel()
    zero = delta.dtype.type(0.0)
    for _ in range(HALVINGS + 1):
        step = delta.dtype.type(alpha)
        for p in range(len(flat_new)):
            flat_new[p] = max(fma(step, flat_delta[p], flat_gamma[p]), zero)
        change = alpha * smooth_slope + alpha * alpha * curvature
        new_divergence = divergence
        if kl != 0.0:
            new_divergence = logarithms(new_gamma, pair.log_prior, new_logs)
            change += kl * (new_divergence - divergence)
        if change <= ARMIJO * alpha * slope:
            return alpha, change, new_divergence
        alpha *= 0.5
    return 0.0, 0.0, divergence


@compiled_inside
def value_at(pair: Pair, weights: Any, gamma: Any, image: Any, divergence: float) -> float:
    """Step 9 without products: H where Q(gamma) and the KL of gamma to the prior are known."""
    masses = gamma.astype(np.float64)
    value: float = inner(masses, pair.feature) + inner(masses, image.astype(np.float64)) + pair.constant
    if weights.beta_local != 0.0:
        value += weights.beta_local * inner(masses, pair.neighbour)
    if weights.beta_global * weights.degree_weight != 0.0:
        value += weights.beta_global * weights.degree_weight * divergence
    return value


@compiled
def terms_at(graphs: Any, pair: Pair, weights: Any, gamma: Any, divergence: float, terms: Any) -> float:
    """Step 9: the seven terms of H, from gamma and its KL to the prior; returns their sum."""
    kl = weights.beta_global * weights.degree_weight
    terms[:] = 0.0
    masses = gamma.astype(np.float64)
    terms[0] = inner(masses, pair.feature)
    if weights.beta_local != 0.0:
        terms[1] = weights.beta_local * inner(masses, pair.neighbour)
        terms[4] = 0.5 * weights.beta_local * weights.ridge * inner(gamma, gamma)
    if weights.beta_local * weights.laplacian_source != 0.0:
        narrow, smooth = narrowed(gamma, pair.factor_nu)  # tr(F^T gamma^T L gamma F) = <L narrow, narrow>
        laplacian_times(graphs, pair.first_mu, narrow, smooth)
        terms[2] = weights.beta_local * weights.laplacian_source * inner(smooth, narrow)
    if weights.beta_local * weights.laplacian_target != 0.0:
        narrow, smooth = narrowed(gamma.T, pair.factor_mu)
        laplacian_times(graphs, pair.first_nu, narrow, smooth)
        terms[3] = weights.beta_local * weights.laplacian_target * inner(smooth, narrow)
    if weights.beta_global != 0.0:
        product = inner(np.dot(pair.structure_mu, gamma), np.dot(gamma, pair.structure_nu))
        terms[5] = pair.constant - weights.beta_global * product
    if kl != 0.0:
        terms[6] = kl * divergence
    total = 0.0
    for t in range(len(terms)):
        total += terms[t]
    return total


def terms_of(graphs: Any, a: int, b: int, weights: Any, gamma: Any) -> Any:
    """The terms of H at any coupling, in the precision of the matrices."""
    pair, terms, divergence = load_pair(graphs, a, b, weights), np.zeros(7), 0.0
    if weights.beta_global * weights.degree_weight != 0.0:
        divergence = logarithms(gamma, pair.log_prior, np.empty_like(gamma))
    terms_at(graphs, pair, weights, gamma, divergence, terms)
    return terms


@compiled
def solve_pair(
    graphs: Any, a: int, b: int, weights: Any, options: Any, start: Any, terms: Any, trace: Any
) -> tuple[Any, float, int, float, bool]:
    """The whole of Algorithm 1 for graphs a (source) and b (target).

    It starts from mu nu^T, or near the plan of the costs `start` where there are any. Returns gamma, the value,
    iterations, the last gap and whether it reached the tolerance; fills `terms` and `trace`, the latter with
    (objective, gap) before each iteration, where they have room. The value is the sum of the terms, or without them
    comes from Q(gamma), carried from step to step.
    """
    pair = load_pair(graphs, a, b, weights)  # 1
    n, m = pair.fixed.shape
    kl = weights.beta_global * weights.degree_weight
    real = pair.fixed.dtype
    gamma, trial, delta, g = (
        np.empty((n, m), real),
        np.empty((n, m), real),
        np.empty((n, m), real),
        np.empty((n, m), real),
    )
    image, delta_image = np.empty((n, m), real), np.empty((n, m), real)
    logs, trial_logs = np.zeros((n, m), real), np.zeros((n, m), real)

    for i in range(n):  # 2
        for k in range(m):
            gamma[i, k] = pair.mu[i] * pair.nu[k]
    if start.size:
        leave_for(start, pair, options.sinkhorn_iter, gamma)
        quadratic_map(graphs, pair, weights, gamma, image)
    else:
        start_image(graphs, pair, weights, image)
    divergence = logarithms(gamma, pair.log_prior, logs) if kl != 0.0 else 0.0
    objective = 0.0
    if len(trace):
        objective = terms_at(graphs, pair, weights, gamma, divergence, terms)

    gap, converged, n_iter = np.inf, False, 0
    for iteration in range(options.max_iter):
        gradient(pair, kl, image, logs, g)  # 3
        sinkhorn_plan(g, pair.mu, pair.nu, options.entropy, options.sinkhorn_iter, delta)  # 4
        add_multiple(delta, -1.0, gamma, delta)
        slope = inner(delta, g)  # 5
        gap = -slope
        if iteration < len(trace):
            trace[iteration, 0], trace[iteration, 1] = objective, gap
        if gap <= options.tol:
            converged = True
            break
        quadratic_map(graphs, pair, weights, delta, delta_image)  # 6
        curvature = inner(delta, delta_image)
        alpha, change, divergence = line_search(  # 7
            pair, kl, (gamma, logs, divergence), delta, slope, curvature, (trial, trial_logs)
        )
        if alpha == 0.0:
            break
        gamma, trial = trial, gamma  # 8
        logs, trial_logs = trial_logs, logs
        add_multiple(image, alpha, delta_image, image)
        objective += change
        n_iter = iteration + 1

    if len(terms):  # 9
        value = terms_at(graphs, pair, weights, gamma, divergence, terms)
    else:
        value = value_at(pair, weights, gamma, image, divergence)
    return gamma, value, n_iter, gap, converged


@compiled
def solve_chunk(graphs: Any, pairs: Any, weights: Any, options: Any, start: Any, results: Any) -> None:
    """Many pairs, one after the other, from one start; results are values, n_iter, gaps, converged."""
    values, n_iter, gaps, converged = results
    terms, trace = np.empty(0), np.empty((0, 2))
    for p in range(len(pairs)):
        _, values[p], n_iter[p], gaps[p], converged[p] = solve_pair(
            graphs, pairs[p, 0], pairs[p, 1], weights, options, start, terms, trace
        )
