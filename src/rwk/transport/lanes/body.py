"""The compiled solver body for small graphs: Algorithm 1 for as many pairs at once as a register has lanes.

The numbered steps are those of cpu.py. Every operation acts on all lanes, so loops of any length, exp and log
included, fill the machine's vectors. A lane whose pair is done takes the next pair of the list at once: no lane waits
for another, and a pair's bits do not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.transport.compiling import compiled, compiled_inside
from rwk.transport.lanes.entering import enter
from rwk.transport.lanes.sinkhorn import sinkhorn_lanes
from rwk.transport.lanes.stage import Roll, Stage, empty_roll, empty_stage
from rwk.transport.lanes.steps import (
    curvature_lanes,
    direction_lanes,
    gradient_lanes,
    lane_value,
    make_rooms,
    make_slopes,
    quadratic_lanes,
    search_lanes,
    take_step,
)
from rwk.transport.sinkhorn import PLAIN_SPREAD_32, PLAIN_SPREAD_64


@compiled_inside
def stage_for(graphs: Any, pairs: Any, weights: Any, width: int, dtype: Any) -> Stage:
    """A stage that has room for any of these pairs."""
    n, m, r, s = 1, 1, 1, 1
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        size_a, size_b = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
        n, m = max(n, size_a), max(m, size_b)
        r = max(r, (graphs.factor_offsets[a + 1] - graphs.factor_offsets[a]) // size_a)
        s = max(s, (graphs.factor_offsets[b + 1] - graphs.factor_offsets[b]) // size_b)
    return empty_stage(n, m, r, s, weights, width, dtype)


@compiled
def solve_side_by_side(
    graphs: Any, pairs: Any, weights: Any, options: Any, like: Any, results: Any, hard: Any, couplings: Any, trace: Any
) -> None:
    """Solve pairs in the precision of `like`, an array (0, lanes); results are values, n_iter, gaps, converged.

    `hard` is set for pairs whose kernel would underflow, which have no result. `couplings` (pairs, n, m) are filled
    where there is room for them, and `trace` with (objective, gap) of pair 0 before each of its iterations.
    """
    width = like.shape[1]
    kl = weights.beta_global * weights.degree_weight
    ridge = 0.5 * weights.beta_local * weights.ridge
    widest = PLAIN_SPREAD_32 if like.itemsize == 4 else PLAIN_SPREAD_64
    stage = stage_for(graphs, pairs, weights, width, like.dtype)
    roll = empty_roll(width, stage.fixed.shape[1])
    rooms, slopes = make_rooms(stage), make_slopes(width)
    extent = np.zeros(2, np.int64)
    upcoming = 0
    for lane in range(width):
        p = lane % len(pairs)  # lanes too many idle on copies
        enter(graphs, pairs[p, 0], pairs[p, 1], weights, stage, extent, roll, lane)  # 1, 2
        if upcoming < len(pairs):
            roll.pair[lane], roll.active[lane] = upcoming, True
            upcoming += 1
    if len(trace):
        roll.objective[0] = lane_value(stage, roll, kl, 0)
    while roll.active.any():
        n, m = int(extent[0]), int(extent[1])
        gradient_lanes(stage, roll, n, m, kl, rooms)  # 3
        sinkhorn_lanes(stage, n, m, rooms.g, rooms.low, options.entropy, options.sinkhorn_iter, rooms.delta)  # 4
        direction_lanes(stage, n, m, rooms, slopes)  # 5
        for lane in range(width):
            if roll.active[lane]:
                roll.gap[lane] = -slopes.slope[lane]
                spread = np.float64(rooms.high[0, 0, lane]) - np.float64(rooms.low[0, 0, lane])
                roll.hard[lane] = spread > widest * options.entropy
                roll.converged[lane] = roll.gap[lane] <= options.tol
                if roll.pair[lane] == 0 and roll.n_iter[lane] < len(trace):
                    trace[roll.n_iter[lane], 0], trace[roll.n_iter[lane], 1] = roll.objective[lane], roll.gap[lane]
                if roll.converged[lane] or roll.hard[lane] or options.max_iter == 0:
                    roll.active[lane] = False
        if roll.active.any():
            quadratic_lanes(stage, n, m, ridge, rooms, rooms.delta, rooms.delta_image)  # 6
            curvature_lanes(n, m, rooms, slopes)
            search_lanes(stage, roll, n, m, kl, rooms, slopes)  # 7
            take_step(stage, n, m, rooms)  # 8
            for lane in range(width):
                if roll.active[lane]:
                    if rooms.alpha[0, 0, lane] == 0.0:
                        roll.active[lane] = False
                        continue
                    roll.entropy[lane] = slopes.new_entropy[lane]
                    roll.objective[lane] += slopes.change[lane]
                    roll.n_iter[lane] += 1
                    roll.active[lane] = roll.n_iter[lane] < options.max_iter
        for lane in range(width):
            if roll.pair[lane] >= 0 and not roll.active[lane]:
                _leave(stage, roll, kl, lane, results, hard, couplings)  # 9
                roll.pair[lane] = -1
                if upcoming < len(pairs):
                    a, b = pairs[upcoming, 0], pairs[upcoming, 1]
                    roll.n[lane] = graphs.offsets[a + 1] - graphs.offsets[a]
                    roll.m[lane] = graphs.offsets[b + 1] - graphs.offsets[b]
                    shrink(roll, extent, lane)
                    enter(graphs, a, b, weights, stage, extent, roll, lane)
                    roll.pair[lane], roll.active[lane] = upcoming, True
                    upcoming += 1
        shrink(roll, extent, -1)


@compiled_inside
def shrink(roll: Roll, extent: Any, entering: int) -> None:
    """Use no more of the stage than the pairs in it, and the one about to enter, need."""
    n, m = 1, 1
    for lane in range(len(roll.pair)):
        if roll.pair[lane] >= 0 or lane == entering:
            n, m = max(n, roll.n[lane]), max(m, roll.m[lane])
    extent[0], extent[1] = min(extent[0], n), min(extent[1], m)


@compiled_inside
def _leave(stage: Stage, roll: Roll, kl: float, lane: int, results: Any, hard: Any, couplings: Any) -> None:
    """Write down the result of a lane."""
    values, n_iter, gaps, converged = results
    p = roll.pair[lane]
    hard[p] = roll.hard[lane]
    values[p], n_iter[p] = lane_value(stage, roll, kl, lane), roll.n_iter[lane]
    gaps[p], converged[p] = roll.gap[lane], roll.converged[lane]
    if p < len(couplings):
        for i in range(roll.n[lane]):
            for k in range(roll.m[lane]):
                couplings[p, i, k] = stage.gamma[i, k, lane]
