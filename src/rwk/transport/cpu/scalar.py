"""The solver body of single pairs: Algorithm 1 for one pair of graphs after the other.

The numbered steps are those of problem.py, as in lanes/body.py. A pair is solved with matrices of its own exact size,
so its arithmetic depends on the pair alone (R16). Products go through BLAS; the rest is loops over contiguous rows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.absorbed import absorbed_plan
from rwk.transport.cpu.loading import N_LOADED, N_SOLVED, PairMatrices, load_into, load_pair, matrix_in, pair_memory
from rwk.transport.cpu.quadratic import add_multiple, laplacian_times, narrowed, quadratic_map, start_image
from rwk.transport.cpu.reductions import inner, inner_of_ratios, inner_wide
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import fma
from rwk.transport.cpu.sinkhorn import sinkhorn_plan
from rwk.transport.problem import (
    ARMIJO,
    DEGREE_PRIOR,
    FEATURE,
    GROMOV_WASSERSTEIN,
    HALVINGS,
    LAPLACIAN_SOURCE,
    LAPLACIAN_TARGET,
    LARGEST_STEP_WITH_KL,
    LEAST_MASS_32,
    LEAST_MASS_64,
    NEIGHBOURHOOD,
    RIDGE,
    START_ENTROPY,
    START_SHARE,
    TERM_NAMES,
)

ROWS_AT_A_TIME: Final = 256  # of C_mu gamma, where only a sum over it is needed


@compiled
def logarithms(gamma: Any, log_prior: Any, logs: Any) -> float:
    """Fill `logs` with log gamma; returns KL(gamma | prior)."""
    least = gamma.dtype.type(LEAST_MASS_32 if gamma.itemsize == 4 else LEAST_MASS_64)
    masses, out, prior = gamma.ravel(), logs.ravel(), log_prior.ravel()
    for p in range(len(masses)):
        out[p] = log_of(max(masses[p], least))
    return inner_of_ratios(masses, out, prior, 0.0)


@compiled
def move_towards_plan(costs: Any, pair: PairMatrices, rounds: int, gamma: Any) -> None:
    """Move gamma most of the way to a sharp Sinkhorn plan of some costs between 0 and 1."""
    plan = np.empty_like(gamma)
    sinkhorn_plan(costs.astype(gamma.dtype), pair.mu, pair.nu, START_ENTROPY, rounds, plan)
    add_multiple(plan, -1.0, gamma, plan)
    add_multiple(gamma, START_SHARE, plan, gamma)


@compiled
def gradient(pair: PairMatrices, kl: float, image: Any, logs: Any, out: Any) -> None:
    """Step 3: out = fixed + 2 Q(gamma) + kl log gamma; the 2 is that of a quadratic form (R10)."""
    add_multiple(pair.fixed, 2.0, image, out)
    if kl != 0.0:
        add_multiple(out, kl, logs, out)


@compiled
def line_search(
    pair: PairMatrices, kl: float, current: Any, delta: Any, slope: float, curvature: float, trial: Any
) -> tuple[float, float, float]:
    """Step 7: the step (0 if none descends), the change of H and the new KL; `trial` holds the new gamma and its logs.

    The new logs may take the place of the old ones.

    H(gamma + alpha Delta) - H(gamma) = alpha <g - KL part, Delta> + alpha^2 <Q(Delta), Delta> + kl (KL' - KL).
    """
    gamma, logs, divergence = current
    new_gamma, new_logs = trial
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    alpha = largest
    if curvature > 0.0:
        alpha = min(max(-slope / (2.0 * curvature), 0.0), largest)
    smooth_slope = slope
    if kl != 0.0:
        smooth_slope -= kl * inner_of_ratios(delta, logs, pair.log_prior, 1.0)
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
def value_at(pair: PairMatrices, weights: Any, gamma: Any, image: Any, divergence: float) -> float:
    """Step 9 without products: H, from Q(gamma) and the KL of gamma to the prior."""
    value: float = inner_wide(gamma, pair.feature) + inner_wide(gamma, image) + pair.constant
    if weights.beta_local != 0.0:
        value += weights.beta_local * inner_wide(gamma, pair.neighbour)
    if weights.beta_global * weights.degree_weight != 0.0:
        value += weights.beta_global * weights.degree_weight * divergence
    return value


@compiled
def terms_at(graphs: Any, pair: PairMatrices, weights: Any, gamma: Any, divergence: float, terms: Any) -> float:
    """Step 9: the seven terms of H, from gamma and its KL to the prior; returns their sum."""
    kl = weights.beta_global * weights.degree_weight
    terms[:] = 0.0
    terms[FEATURE] = inner_wide(gamma, pair.feature)
    if weights.beta_local != 0.0:
        terms[NEIGHBOURHOOD] = weights.beta_local * inner_wide(gamma, pair.neighbour)
        terms[RIDGE] = 0.5 * weights.beta_local * weights.ridge * inner(gamma, gamma)
    if weights.beta_local * weights.laplacian_source != 0.0:
        narrow, smooth = narrowed(gamma, pair.factor_nu)  # tr(F^T gamma^T L gamma F) = <L narrow, narrow>
        laplacian_times(graphs, pair.first_mu, narrow, smooth)
        terms[LAPLACIAN_SOURCE] = weights.beta_local * weights.laplacian_source * inner(smooth, narrow)
    if weights.beta_local * weights.laplacian_target != 0.0:
        narrow, smooth = narrowed(gamma.T, pair.factor_mu)
        laplacian_times(graphs, pair.first_nu, narrow, smooth)
        terms[LAPLACIAN_TARGET] = weights.beta_local * weights.laplacian_target * inner(smooth, narrow)
    if weights.beta_global != 0.0:
        right, product = pair.right[: len(gamma)], 0.0
        np.dot(gamma, pair.structure_nu, right)
        for first in range(0, len(gamma), ROWS_AT_A_TIME):
            left = pair.structure_mu[first : first + ROWS_AT_A_TIME]
            product += inner(np.dot(left, gamma), right[first : first + ROWS_AT_A_TIME])
        terms[GROMOV_WASSERSTEIN] = pair.constant - weights.beta_global * product
    if kl != 0.0:
        terms[DEGREE_PRIOR] = kl * divergence
    total = 0.0
    for t in range(len(terms)):
        total += terms[t]
    return total


def terms_of(graphs: Any, a: int, b: int, weights: Any, gamma: Any) -> Any:
    """The terms of H at any coupling of graphs a and b, in the precision of the matrices."""
    return terms_of_loaded(graphs, load_pair(graphs, a, b, weights), weights, gamma)


def terms_of_loaded(graphs: Any, pair: PairMatrices, weights: Any, gamma: Any) -> Any:
    """The terms of H at any coupling of a pair whose costs are known."""
    terms, divergence = np.zeros(len(TERM_NAMES)), 0.0
    if weights.beta_global * weights.degree_weight != 0.0:
        divergence = logarithms(gamma, pair.log_prior, np.empty_like(gamma))
    terms_at(graphs, pair, weights, gamma, divergence, terms)
    return terms


@compiled
def solve_one(
    graphs: Any, a: int, b: int, weights: Any, options: Any, start: Any, terms: Any, trace: Any
) -> tuple[Any, float, int, float, bool]:
    """Algorithm 1 for graphs a (source) and b (target).

    It starts from mu nu^T or, if `start` is not empty, near the plan of those costs. Returns gamma, the value, the
    number of iterations, the last gap and whether it reached the tolerance. Unless they are empty, `terms` is filled
    with the terms of H and `trace` with (objective, gap) before each iteration. The value is the sum of the terms;
    without them it comes from Q(gamma), which is carried from step to step.
    """
    return solve_loaded(graphs, load_pair(graphs, a, b, weights), weights, options, start, terms, trace)  # 1 costs


@compiled
def solve_loaded(
    graphs: Any, pair: PairMatrices, weights: Any, options: Any, start: Any, terms: Any, trace: Any
) -> tuple[Any, float, int, float, bool]:
    """`solve_one` from step 2 on, for a pair whose costs are known."""
    n, m = pair.fixed.shape
    real = pair.fixed.dtype
    memory = (
        np.empty((n, m), real), np.empty((n, m), real), np.empty((n, m), real), np.empty((n, m), real),
        np.empty((n, m), real), np.empty((n, m), real),
    )  # fmt: skip
    return _solve_in(graphs, pair, weights, options, start, terms, trace, memory)


@compiled_inside
def _solve_in(
    graphs: Any, pair: PairMatrices, weights: Any, options: Any, start: Any, terms: Any, trace: Any, memory: Any
) -> tuple[Any, float, int, float, bool]:
    """`solve_loaded` in the memory of six matrices (n, m), one of which is the gamma that it returns."""
    n, m = pair.fixed.shape
    gamma, image = memory[:2]
    for i in range(n):  # 2 start
        for k in range(m):
            gamma[i, k] = pair.mu[i] * pair.nu[k]
    if start.size:
        move_towards_plan(start, pair, options.sinkhorn_iter, gamma)
        quadratic_map(graphs, pair, weights, gamma, image)
    else:
        start_image(graphs, pair, weights, image)
    return _descend(graphs, pair, weights, options, memory, terms, trace, None)


@compiled
def solve_from(graphs: Any, a: int, b: int, weights: Any, options: Any, gamma: Any, terms: Any) -> Any:
    """`solve_one` from a given coupling, which is overwritten."""
    pair, image, trace = load_pair(graphs, a, b, weights), np.empty_like(gamma), np.empty((0, 2))
    quadratic_map(graphs, pair, weights, gamma, image)  # 2 start
    more = np.empty_like(gamma), np.empty_like(gamma), np.empty_like(gamma), np.empty_like(gamma)
    return _descend(graphs, pair, weights, options, (gamma, image, *more), terms, trace, True)


@compiled_inside
def _descend(
    graphs: Any, pair: PairMatrices, weights: Any, options: Any, memory: Any, terms: Any, trace: Any, absorb: Any
) -> tuple[Any, float, int, float, bool]:
    """Steps 3 to 9 from a coupling and its Q(gamma), the first two matrices of `memory`; four more are overwritten.

    The line search tries couplings in the memory of the gradient, which is no longer needed by then. Unless `absorb` is
    None, wide kernels absorb their potentials (absorbed.py): faster, and the same but for rounding.
    """
    gamma, image, delta, delta_image, g, logs = memory
    kl = weights.beta_global * weights.degree_weight
    divergence = logarithms(gamma, pair.log_prior, logs) if kl != 0.0 else 0.0
    objective = 0.0
    if len(trace):
        objective = terms_at(graphs, pair, weights, gamma, divergence, terms)

    gap, converged, n_iter = np.inf, False, 0
    for iteration in range(options.max_iter):
        gradient(pair, kl, image, logs, g)  # 3 gradient
        if absorb is None:  # 4 direction
            sinkhorn_plan(g, pair.mu, pair.nu, options.entropy, options.sinkhorn_iter, delta)
        else:
            absorbed_plan(g, pair.mu, pair.nu, options.entropy, options.sinkhorn_iter, delta)
        add_multiple(delta, -1.0, gamma, delta)
        slope = inner(delta, g)  # 5 gap
        gap = -slope
        if iteration < len(trace):
            trace[iteration, 0], trace[iteration, 1] = objective, gap
        if gap <= options.tol:
            converged = True
            break
        quadratic_map(graphs, pair, weights, delta, delta_image)  # 6 products
        curvature = inner(delta, delta_image)
        alpha, change, divergence = line_search(  # 7 line search
            pair, kl, (gamma, logs, divergence), delta, slope, curvature, (g, logs)
        )
        if alpha == 0.0:
            break
        gamma, g = g, gamma  # 8 step
        add_multiple(image, alpha, delta_image, image)
        objective += change
        n_iter = iteration + 1

    if len(terms):  # 9 value
        value = terms_at(graphs, pair, weights, gamma, divergence, terms)
    else:
        value = value_at(pair, weights, gamma, image, divergence)
    return gamma, value, n_iter, gap, converged


@compiled
def solve_chunk(graphs: Any, pairs: Any, weights: Any, options: Any, start: Any, results: Any) -> None:
    """Solve many pairs, one after the other, all from the same start; `results` are a PairResults to fill."""
    values, n_iter, gaps, converged = results
    terms, trace = np.empty(0), np.empty((0, 2))
    rows, columns, all_matrices = 1, 1, N_LOADED + N_SOLVED
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        rows = max(rows, graphs.offsets[a + 1] - graphs.offsets[a])
        columns = max(columns, graphs.offsets[b + 1] - graphs.offsets[b])
    memory = pair_memory(graphs, rows, columns, all_matrices)
    for p in range(len(pairs)):
        pair = load_into(graphs, pairs[p, 0], pairs[p, 1], weights, memory, all_matrices)  # 1 costs
        n, m = pair.fixed.shape
        mine = (
            matrix_in(memory.reals, 1, n, m), matrix_in(memory.reals, 2, n, m), matrix_in(memory.reals, 3, n, m),
            matrix_in(memory.reals, 4, n, m), matrix_in(memory.reals, 5, n, m), matrix_in(memory.reals, 6, n, m),
        )  # fmt: skip
        _, values[p], n_iter[p], gaps[p], converged[p] = _solve_in(
            graphs, pair, weights, options, start, terms, trace, mine
        )
