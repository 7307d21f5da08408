"""How long each step of a pair takes, and how many operations a pair needs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import compiled
from rwk.runtime.packed import packed
from rwk.transport.cpu import costs
from rwk.transport.cpu.chunks import plan_chunks
from rwk.transport.cpu.dispatch import is_small
from rwk.transport.cpu.lanes import entering, lane_data, lane_sinkhorn, steps
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import CostWeights, PairResults, ScgOptions


def count_operations(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions, results: PairResults
) -> dict[str, float]:
    """Mean operations per pair: floating-point operations of products and Sinkhorn rounds, and exp and log calls."""
    sizes = measures.sizes.astype(float)
    widths = np.diff(measures.factor_offsets) / sizes
    n, m = sizes[pairs[:, 0]], sizes[pairs[:, 1]]
    r, s = widths[pairs[:, 0]], widths[pairs[:, 1]]
    gradients = results.n_iter + results.converged  # and Sinkhorn directions
    images = results.n_iter + 1  # under Q
    products = 2 * n * m * (n + m) + 4 * n * m * (r + s) + 2 * (n * n * s + m * m * r)
    rounds = gradients * options.sinkhorn_iter * 4 * n * m
    features = measures.features.shape[1] + measures.embedding.shape[1]
    return {
        "floating point": float((images * products + rounds + 3 * n * m * features).mean()),
        "products": float((images * products).mean()),
        "Sinkhorn": float(rounds.mean()),
        "exp": float((gradients * n * m).mean()),
        "log": float(((images + 1) * n * m).mean()),
    }


def gemm_peak(precision: str, size: int = 512) -> float:
    """GFLOP/s of one thread on a large square product: the practical limit of this computer."""
    from threadpoolctl import threadpool_limits

    a = np.random.default_rng(0).random((size, size)).astype(precision)
    with threadpool_limits(1, "blas"):
        best = np.inf
        for _ in range(8):
            start = time.thread_time()
            a @ a
            best = min(best, time.thread_time() - start)
    return 2 * size**3 / best / 1e9


@compiled
def _fixed_costs(graphs: Any, pairs: Any, weights: Any, scratch: Any) -> float:
    """Step 1 without putting pairs into lanes: the cost matrices of every pair."""
    total = 0.0
    moments = np.zeros(len(graphs.weights))
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
        out = scratch.cost[: n * costs.padded(m)].reshape((n, costs.padded(m)))
        costs.fixed_cost(graphs, a, b, weights, moments, scratch, out)
        total += out[0, 0]
    return total


MOST_PAIRS = 512  # that steps are timed on

# What `_repeat_step` repeats on every group of pairs.
PRODUCTS, SINKHORN, EXP_AND_ROUNDING, TRIAL, REST, NOTHING = range(6)


@compiled
def _repeat_step(graphs: Any, pairs: Any, weights: Any, options: Any, memory: Any, step: int, times: int) -> float:
    """Fill all lanes with group after group of pairs, and repeat one step on each group."""
    contents, scratch, work, sums, here = memory
    data, state, _, extent, _ = contents
    work.alpha[:] = 0.5
    work.delta_image[:] = 0.0
    kl, ridge = weights.beta_global * weights.degree_weight, 0.5 * weights.beta_local * weights.ridge
    width, records = len(state.pair), packed((graphs, weights, contents, here, scratch))
    for first in range(0, len(pairs) - width + 1, width):
        for lane in range(width):
            state.pair[lane] = first + lane
            a, b = pairs[first + lane, 0], pairs[first + lane, 1]
            entering.enter(records, a, b, lane)
        lane_data.shrink_extent(state, extent)
        n, m = int(extent[0]), int(extent[1])
        steps.gradient_lanes(data, here, True, n, m, kl, work)
        lane_sinkhorn.sinkhorn_lanes(data, n, m, work, options.entropy, 0)
        steps.direction_lanes(data, here, True, n, m, work, sums)
        for _ in range(times):
            if step == PRODUCTS:
                steps.quadratic_map_lanes(data, n, m, ridge, work, here.gamma, work.delta_image)
            elif step == SINKHORN:
                lane_sinkhorn.sinkhorn_lanes(data, n, m, work, options.entropy, options.sinkhorn_iter)
            elif step == EXP_AND_ROUNDING:
                lane_sinkhorn.sinkhorn_lanes(data, n, m, work, options.entropy, 0)
            elif step == TRIAL:
                steps.move_couplings(here, n, m, kl, work, sums)
            elif step == REST:
                steps.gradient_lanes(data, here, False, n, m, kl, work)
                steps.direction_lanes(data, here, False, n, m, work, sums)
                steps.curvature_lanes(n, m, work, sums)
                steps.value_lanes(data, here, True, n, m, work, sums)
    last: float = work.delta_image[0, 0, 0]
    return last


def step_shares(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions
) -> dict[str, float]:
    """Microseconds per pair of each step, called once: a pair pays the first two once, the rest in every iteration.

    Measured on pairs that are solved side by side, in the groups in which they would meet.
    """
    pairs = pairs[is_small(measures, pairs)]
    pairs = pairs[:MOST_PAIRS]
    pairs = pairs[plan_chunks(measures, pairs, alike=True)[0]]
    many, memory = 20, _memory(measures, pairs, weights)
    width = len(memory.contents.state.pair)
    if len(pairs) < width:
        raise ValueError(f"steps are timed on {width} small pairs at least, and here are {len(pairs)}; use more graphs")
    pairs = pairs[: len(pairs) // width * width]

    def microseconds(step: int, times: int) -> float:
        return _best(lambda: _repeat_step(measures, pairs, weights, options, memory, step, times), len(pairs))

    entered = microseconds(NOTHING, 0)
    each = {step: (microseconds(step, many) - entered) / many for step in range(NOTHING)}
    made = _best(lambda: _fixed_costs(measures, pairs, weights, memory.scratch), len(pairs))
    return {
        "costs, once a pair": made,
        "into its lane, once a pair": entered - made,
        "products, an iteration": each[PRODUCTS],
        "Sinkhorn rounds, an iteration": each[SINKHORN] - each[EXP_AND_ROUNDING],
        "exp and rounding, an iteration": each[EXP_AND_ROUNDING],
        "step and log, an iteration": each[TRIAL],
        "gradient, gap and the rest, an iteration": each[REST],
    }


def _memory(measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights) -> lane_data.LaneMemory:
    largest = lane_data.largest_of(measures, pairs)
    return lane_data.memory_for(measures, largest, weights, measures.structure.dtype)


def _best(call: Any, count: int) -> float:
    call()
    best = np.inf
    for _ in range(5):
        start = time.thread_time()
        call()
        best = min(best, time.thread_time() - start)
    return 1e6 * best / count
