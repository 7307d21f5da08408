"""Steps 1 to 3, 5 and 7 to 9 of one pair, each as one pass over its rows."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.costs import degree_prior_rows, feature_cost, neighbour_cost
from rwk.transport.cpu.lanes.summaries import (
    EMBEDDING_IMAGE,
    HALF_MOMENT,
    LAPLACIAN_IMAGE,
    LOG_WEIGHT,
    STRUCTURE_IMAGE,
    WEIGHT,
)
from rwk.transport.cpu.rows.row_data import (
    CARRIED,
    LOG_NU,
    NU,
    ROUGH,
    SHIFT,
    SMOOTH,
    RowMemory,
)
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import (
    WIDTH_32,
    WIDTH_64,
    choose,
    fma,
    lane_sum,
    larger,
    load,
    no_lanes,
    smaller,
    splat,
    store,
    wide,
)
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, LEAST_MASS_32, LEAST_MASS_64

FAR: Final = 1e30  # the gradient of padding: its kernel is 0
N_KNOWN: Final = SMOOTH + 1  # rows of `RowMemory.columns` that stay the same through the solve


@compiled_borrowing
def load_rows(graphs: Any, a: int, b: int, weights: Any, length: int, memory: RowMemory) -> None:
    """Step 1: M, the rows of the log prior, and what is known of the target."""
    n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
    scratch, linear, real = memory.scratch, memory.linear, memory.linear.dtype.type
    cost, other = scratch.cost[: n * length], scratch.table[: n * length]
    feature_cost(graphs, a, b, scratch, cost.reshape((n, length)))
    if weights.beta_local != 0.0:
        neighbour_cost(graphs, a, b, scratch, other.reshape((n, length)))
        for p in range(n * length):
            linear[p] = real(fma(weights.beta_local, other[p], cost[p]))
    else:
        for p in range(n * length):
            linear[p] = real(cost[p])
    if weights.beta_global * weights.degree_weight != 0.0:
        degree_prior_rows(graphs, a, b, scratch, other.reshape((n, length)))
        for i in range(n):
            if scratch.first[i] == i:
                for p in range(i * length, (i + 1) * length):
                    memory.prior[p] = real(other[p])
    else:
        for i in range(n):
            scratch.first[i] = 0
        for k in range(length):
            memory.prior[k] = real(0)
    k0, columns, known = graphs.offsets[b], memory.columns, memory.summaries.vectors
    for c in range(N_KNOWN):
        for k in range(length):
            columns[c * length + k] = real(0)
    for k in range(m):
        columns[NU * length + k] = real(known[WEIGHT, k0 + k])
        columns[LOG_NU * length + k] = real(known[LOG_WEIGHT, k0 + k])
        columns[SHIFT * length + k] = real(2.0 * weights.beta_global * known[HALF_MOMENT, k0 + k])
        columns[CARRIED * length + k] = real(known[STRUCTURE_IMAGE, k0 + k])
        columns[ROUGH * length + k] = real(known[LAPLACIAN_IMAGE, k0 + k])
        columns[SMOOTH * length + k] = real(known[EMBEDDING_IMAGE, k0 + k])


@compiled_borrowing
def start_rows(i0: int, n: int, weights: Any, length: int, memory: RowMemory) -> float:
    """Step 2: gamma = mu nu^T, its logarithms, and Q(gamma), a sum of outer products; returns KL(gamma | prior)."""
    gamma, columns, known, prior = memory.gamma, memory.columns, memory.summaries.vectors, memory.prior
    width = WIDTH_32 if gamma.itemsize == 4 else WIDTH_64
    source, target = weights.beta_local * weights.laplacian_source, weights.beta_local * weights.laplacian_target
    ridge = 0.5 * weights.beta_local * weights.ridge
    total = no_lanes(wide(load(gamma, 0)))
    for i in range(n):
        mass, log_mass = splat(gamma, known[WEIGHT, i0 + i]), splat(gamma, known[LOG_WEIGHT, i0 + i])
        a = splat(gamma, ridge * known[WEIGHT, i0 + i])
        b = splat(gamma, -weights.beta_global * known[STRUCTURE_IMAGE, i0 + i])
        c, d = (
            splat(gamma, source * known[LAPLACIAN_IMAGE, i0 + i]),
            splat(gamma, target * known[EMBEDDING_IMAGE, i0 + i]),
        )
        same = memory.scratch.first[i] * length
        for k in range(0, length, width):
            p, nu = i * length + k, load(columns, NU * length + k)
            mine, logs = mass * nu, log_mass + load(columns, LOG_NU * length + k)
            image = fma(b, load(columns, CARRIED * length + k), a * nu)
            image = fma(c, load(columns, SMOOTH * length + k), image)
            store(memory.image, p, fma(d, load(columns, ROUGH * length + k), image))
            store(gamma, p, mine)
            store(memory.logs, p, logs)
            total = fma(wide(mine), wide(logs - load(prior, same + k)), total)
    result: float = lane_sum(total)
    return result


@compiled_borrowing
def gradient_rows(i0: int, n: int, weights: Any, alpha: float, length: int, memory: RowMemory, g: Any) -> Any:
    """Steps 8 and 3: Q(gamma) after a step of alpha, then the gradient; returns its smallest and its largest entry."""
    image, columns, known, prior = memory.image, memory.columns, memory.summaries.vectors, memory.prior
    width = WIDTH_32 if g.itemsize == 4 else WIDTH_64
    kl = weights.beta_global * weights.degree_weight
    step, two, share, zero = splat(g, alpha), splat(g, 2.0), splat(g, kl), splat(g, 0.0)
    far, near = splat(g, FAR), splat(g, -FAR)
    low, high = far, near
    for i in range(n):
        shift = splat(g, 2.0 * weights.beta_global * known[HALF_MOMENT, i0 + i] + kl)
        same = memory.scratch.first[i] * length
        for k in range(0, length, width):
            p = i * length + k
            mine = load(image, p)
            if alpha != 0.0:
                mine = fma(step, load(memory.delta_image, p), mine)
                store(image, p, mine)
            entry = load(memory.linear, p) + (shift + load(columns, SHIFT * length + k))
            entry = fma(share, load(memory.logs, p) - load(prior, same + k), fma(two, mine, entry))
            nu = load(columns, NU * length + k)
            low = smaller(low, choose(nu, zero, entry, far))
            high = larger(high, choose(nu, zero, entry, near))
            store(g, p, choose(nu, zero, entry, far))
    return _extremes(low, high, memory.panel)


@compiled_borrowing
def _extremes(low: Any, high: Any, memory: Any) -> Any:
    """The smallest lane of one vector and the largest of another."""
    width = WIDTH_32 if memory.itemsize == 4 else WIDTH_64
    store(memory, 0, low)
    store(memory, width, high)
    least, most = memory[0], memory[width]
    for lane in range(width):
        least, most = min(least, memory[lane]), max(most, memory[width + lane])
    return np.float64(least), np.float64(most)


@compiled_borrowing
def line_search_rows(
    n: int, weights: Any, divergence: float, slope: float, slope_of_kl: float, curvature: float,
    length: int, memory: RowMemory, gamma: Any, trial: Any,
) -> Any:  # fmt: skip
    """Step 7: the step (0 if none descends) and the new KL; `trial` is the new gamma, and the logs are its own.

    `slope_of_kl` is <1 + log gamma - log prior, Delta>.
    """
    kl = weights.beta_global * weights.degree_weight
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    alpha = largest
    if curvature > 0.0:
        alpha = min(max(-slope / (2.0 * curvature), 0.0), largest)
    smooth_slope = slope - kl * slope_of_kl
    for _ in range(HALVINGS + 1):
        new_divergence = _try_step(n, alpha, kl != 0.0, length, memory, gamma, trial)
        change = alpha * smooth_slope + alpha * alpha * curvature
        if kl != 0.0:
            change += kl * (new_divergence - divergence)
        if change <= ARMIJO * alpha * slope:
            return alpha, new_divergence
        alpha *= 0.5
    return 0.0, divergence


@compiled_borrowing
def _try_step(n: int, alpha: float, with_logs: bool, length: int, memory: RowMemory, gamma: Any, trial: Any) -> float:
    """gamma + alpha Delta, and its logarithms unless nobody needs them; returns KL(trial | prior)."""
    delta, prior = memory.delta, memory.prior
    width = WIDTH_32 if gamma.itemsize == 4 else WIDTH_64
    step, zero = splat(gamma, alpha), splat(gamma, 0.0)
    least = splat(gamma, LEAST_MASS_32 if gamma.itemsize == 4 else LEAST_MASS_64)
    total = no_lanes(wide(zero))
    for i in range(n):
        same = memory.scratch.first[i] * length
        for k in range(0, length, width):
            p = i * length + k
            mine = larger(fma(step, load(delta, p), load(gamma, p)), zero)
            store(trial, p, mine)
            if with_logs:
                logs = log_of(larger(mine, least))
                store(memory.logs, p, logs)
                total = fma(wide(mine), wide(logs - load(prior, same + k)), total)
    result: float = lane_sum(total)
    return result


@compiled_borrowing
def value_rows(count: int, memory: RowMemory, gamma: Any) -> float:
    """Step 9 without KL and constant: <gamma, M + Q(gamma)>."""
    width = WIDTH_32 if gamma.itemsize == 4 else WIDTH_64
    total = no_lanes(wide(load(gamma, 0)))
    for p in range(0, count, width):
        total = fma(wide(load(gamma, p)), wide(load(memory.linear, p)) + wide(load(memory.image, p)), total)
    result: float = lane_sum(total)
    return result
