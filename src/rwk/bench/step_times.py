"""How long each step of a pair takes, and how many operations a pair needs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import compiled
from rwk.transport.cpu import costs
from rwk.transport.cpu.chunks import plan_chunks
from rwk.transport.cpu.dispatch import empty_lanes, is_small
from rwk.transport.cpu.lanes import body, entering, steps, summaries
from rwk.transport.cpu.lanes import lane_data as stage
from rwk.transport.cpu.lanes import lane_sinkhorn as side_by_side
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
    steps = results.n_iter + results.converged  # gradients and Sinkhorn steps
    maps = results.n_iter + 1  # images under Q
    products = 2 * n * m * (n + m) + 4 * n * m * (r + s) + 2 * (n * n * s + m * m * r)
    rounds = steps * options.sinkhorn_iter * 4 * n * m
    features = measures.features.shape[1] + measures.embedding.shape[1]
    return {
        "floating point": float((maps * products + rounds + 3 * n * m * features).mean()),
        "products": float((maps * products).mean()),
        "Sinkhorn": float(rounds.mean()),
        "exp": float((steps * n * m).mean()),
        "log": float(((maps + 1) * n * m).mean()),
    }


def gemm_peak(precision: str, size: int = 512) -> float:
    """GFLOP/s of one thread on a large square product: the practical limit of this computer."""
    from threadpoolctl import threadpool_limits

    a = np.random.default_rng(0).random((size, size)).astype(precision)
    with threadpool_limits(1, "blas"):
        best = np.inf
        for _ in range(8):
            start = time.perf_counter()
            a @ a
            best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best / 1e9


@compiled
def _fixed_costs(graphs: Any, pairs: Any, weights: Any) -> float:
    """Step 1 without the lanes: the cost matrices of every pair."""
    total, largest = 0.0, np.diff(graphs.offsets).max()
    scratch = costs.cost_scratch(graphs, largest, largest)
    moments = np.zeros(len(graphs.weights))
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
        out = scratch.cost[: n * costs.padded(m)].reshape((n, costs.padded(m)))
        costs.fixed_cost(graphs, a, b, weights, moments, scratch, out)
        total += out[0, 0]
    return total


@compiled
def _groups(graphs: Any, pairs: Any, weights: Any, options: Any, like: Any, which: int, times: int) -> float:
    """Fill group after group of lanes, and repeat one step on each."""
    width = like.shape[1]
    lanes = body.stage_for(graphs, pairs, weights, width, like.dtype)
    roll, rooms, known = stage.empty_roll(width), stage.make_rooms(lanes), summaries.empty_summaries(graphs)
    scratch = costs.cost_scratch(graphs, lanes.fixed.shape[0], lanes.fixed.shape[1])
    here, trial = stage.empty_point(lanes), stage.empty_point(lanes)
    rooms.alpha[:] = 0.5
    rooms.delta_image[:] = 0.0
    slopes, extent = stage.make_slopes(width), np.zeros(2, np.int64)
    kl, ridge = weights.beta_global * weights.degree_weight, 0.5 * weights.beta_local * weights.ridge
    for first in range(0, len(pairs) - width + 1, width):
        for lane in range(width):
            a, b = pairs[first + lane, 0], pairs[first + lane, 1]
            roll.n[lane] = graphs.offsets[a + 1] - graphs.offsets[a]
            roll.m[lane] = graphs.offsets[b + 1] - graphs.offsets[b]
            roll.pair[lane] = first + lane
            entering.enter(graphs, a, b, weights, known, scratch, lanes, here, extent, roll, lane)
        body.shrink(roll, extent)
        n, m = int(extent[0]), int(extent[1])
        steps.gradient_lanes(lanes, here, True, n, m, kl, rooms)
        side_by_side.sinkhorn_lanes(lanes, n, m, rooms, options.entropy, 0)
        steps.direction_lanes(lanes, here, True, n, m, rooms, slopes)
        for _ in range(times):
            if which == 0:
                steps.quadratic_lanes(lanes, n, m, ridge, rooms, here.gamma, rooms.delta_image)
            if which == 1 or which == 2:
                rounds = options.sinkhorn_iter if which == 1 else 0
                side_by_side.sinkhorn_lanes(lanes, n, m, rooms, options.entropy, rounds)
            if which == 3:
                steps.try_step(here, trial, n, m, kl, rooms, slopes)
            if which == 4:
                steps.gradient_lanes(lanes, here, False, n, m, kl, rooms)
                steps.direction_lanes(lanes, here, False, n, m, rooms, slopes)
                steps.curvature_lanes(n, m, rooms, slopes)
                steps.value_lanes(lanes, here, True, n, m, rooms, slopes)
    last: float = rooms.delta_image[0, 0, 0]
    return last


def step_shares(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions
) -> dict[str, float]:
    """Microseconds per pair of one call of each step: the first two are called once per pair, the rest per iteration.

    On pairs that are solved side by side, in groups as they would meet.
    """
    pairs = pairs[is_small(measures, pairs)]
    pairs = pairs[plan_chunks(measures, pairs, alike=True)[0]]
    like, many = empty_lanes(measures.structure.dtype), 40
    pairs = pairs[: len(pairs) // like.shape[1] * like.shape[1]]

    def microseconds(which: int, times: int) -> float:
        return _best(lambda: _groups(measures, pairs, weights, options, like, which, times), len(pairs))

    made_ready = microseconds(-1, 0)
    each = [(microseconds(which, many) - made_ready) / many for which in range(5)]
    made = _best(lambda: _fixed_costs(measures, pairs, weights), len(pairs))
    return {
        "costs, per pair": made,
        "loading into a lane, per pair": made_ready - made,
        "products, per iteration": each[0],
        "Sinkhorn rounds, per iteration": each[1] - each[2],
        "exp and rounding, per iteration": each[2],
        "step and log, per iteration": each[3],
        "gradient, gap and the rest, per iteration": each[4],
    }


def _best(call: Any, count: int) -> float:
    call()
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / count
