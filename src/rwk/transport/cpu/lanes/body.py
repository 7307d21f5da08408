"""The compiled solver body for small graphs: Algorithm 1 for as many pairs at once as a register has lanes.

The numbered steps are those of cpu.py. Every operation acts on all lanes, so loops of any length, exp and log
included, fill the machine's vectors. A lane whose pair is done takes the next pair of the list at once: no lane waits
for another, and a pair's bits do not depend on its neighbours.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside
from rwk.transport.cpu.costs import cost_scratch
from rwk.transport.cpu.lanes.entering import enter
from rwk.transport.cpu.lanes.lane_data import (
    Point,
    Roll,
    Rooms,
    Slopes,
    Stage,
    empty_point,
    empty_roll,
    empty_stage,
    make_rooms,
    make_slopes,
)
from rwk.transport.cpu.lanes.lane_sinkhorn import sinkhorn_lanes
from rwk.transport.cpu.lanes.steps import (
    curvature_lanes,
    direction_lanes,
    gradient_lanes,
    quadratic_lanes,
    search_lanes,
    value_lanes,
)
from rwk.transport.cpu.lanes.summaries import Summaries, empty_summaries
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_32, PLAIN_SPREAD_64

# How far from the tolerance a gap must be for float32 to tell, by the spread of the gradient: ten times the largest
# error seen
UNSURE_32: Final = 2e-6
# iterations, each of which adds to what rounding has moved
MANY_32: Final = 8


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

    `hard` is set for pairs whose results do not count: their kernel would underflow, or float32 can't tell when they
    are done, because a gap is too near the tolerance or because they never are (one more or one less iteration changes
    a value by far more than rounding does, and so do many). `couplings` (pairs, n, m) are filled where there is room
    for them, and `trace` with (objective, gap) of pair 0 before each of its iterations.
    """
    width = like.shape[1]
    stage = stage_for(graphs, pairs, weights, width, like.dtype)
    n, m, _ = stage.fixed.shape
    known, scratch = empty_summaries(graphs), cost_scratch(graphs, n, m)
    roll, rooms, slopes = empty_roll(width), make_rooms(stage), make_slopes(width)
    _run(
        graphs, pairs, weights, options, stage, empty_point(stage), empty_point(stage), known, scratch, roll, rooms,
        slopes, np.zeros(2, np.int64),
        results, hard, couplings, trace,
    )  # fmt: skip


@compiled_borrowing
def _run(
    graphs: Any,
    pairs: Any,
    weights: Any,
    options: Any,
    stage: Stage,
    here: Point,
    trial: Point,
    known: Summaries,
    scratch: Any,
    roll: Roll,
    rooms: Rooms,
    slopes: Slopes,
    extent: Any,
    results: Any,
    hard: Any,
    couplings: Any,
    trace: Any,
) -> None:
    """The loop: all memory is there."""
    width = len(roll.pair)
    kl = weights.beta_global * weights.degree_weight
    ridge = 0.5 * weights.beta_local * weights.ridge
    narrow = stage.fixed.itemsize == 4
    widest = PLAIN_SPREAD_32 if narrow else PLAIN_SPREAD_64
    upcoming = 0
    while True:
        fresh = False
        for lane in range(width):
            if not roll.active[lane] and upcoming < len(pairs):
                a, b = pairs[upcoming, 0], pairs[upcoming, 1]
                enter(graphs, a, b, weights, known, scratch, stage, here, extent, roll, lane)  # 1, 2
                roll.pair[lane], roll.active[lane], fresh = upcoming, True, True
                upcoming += 1
        if _count(roll.active) == 0:
            return
        shrink(roll, extent)
        n, m = int(extent[0]), int(extent[1])
        gradient_lanes(stage, here, fresh, n, m, kl, rooms)  # 3
        sinkhorn_lanes(stage, n, m, rooms, options.entropy, options.sinkhorn_iter)  # 4
        direction_lanes(stage, here, fresh, n, m, rooms, slopes)  # 5
        for lane in range(width):
            stage.fresh[0, 0, lane] = 0.0
        if len(trace) and roll.pair[0] == 0 and roll.n_iter[0] == 0:
            value_lanes(stage, here, False, n, m, rooms, slopes)
            roll.objective[0] = slopes.value[0] + kl * roll.entropy[0] + roll.constant[0]
        for lane in range(width):
            if roll.active[lane]:
                roll.gap[lane] = -slopes.slope[lane]
                spread = np.float64(rooms.high[0, 0, lane]) - np.float64(rooms.low[0, 0, lane])
                roll.hard[lane] = spread > widest * options.entropy
                roll.converged[lane] = roll.gap[lane] <= options.tol
                if narrow and abs(roll.gap[lane] - options.tol) <= UNSURE_32 * spread:
                    roll.hard[lane] = True
                if roll.pair[lane] == 0 and roll.n_iter[lane] < len(trace):
                    trace[roll.n_iter[lane], 0], trace[roll.n_iter[lane], 1] = roll.objective[lane], roll.gap[lane]
                if roll.converged[lane] or roll.hard[lane] or options.max_iter == 0:
                    roll.active[lane] = False
        moved = _count(roll.active) > 0
        if moved:
            quadratic_lanes(stage, n, m, ridge, rooms, rooms.delta, rooms.delta_image)  # 6
            curvature_lanes(n, m, rooms, slopes)
            search_lanes(here, trial, roll, n, m, kl, rooms, slopes)  # 7
            here, trial = trial, here  # 8
            for lane in range(width):
                if roll.active[lane]:
                    if rooms.alpha[0, 0, lane] == 0.0:
                        roll.active[lane] = False
                        continue
                    roll.entropy[lane] = slopes.new_entropy[lane]
                    roll.objective[lane] += slopes.change[lane]
                    roll.n_iter[lane] += 1
                    roll.active[lane] = roll.n_iter[lane] < options.max_iter
        value_lanes(stage, here, moved, n, m, rooms, slopes)  # 9
        if _count(roll.active) < width:
            for lane in range(width):
                if roll.pair[lane] >= 0 and not roll.active[lane]:
                    if narrow and options.tol > 0.0 and (not roll.converged[lane] or roll.n_iter[lane] >= MANY_32):
                        roll.hard[lane] = True
                    _leave(here, roll, kl * roll.entropy[lane] + slopes.value[lane], lane, results, hard, couplings)


@compiled_borrowing
def _count(flags: Any) -> int:
    """How many are set."""
    total = 0
    for flag in flags:
        total += flag
    return total


@compiled_borrowing
def shrink(roll: Roll, extent: Any) -> None:
    """Use no more of the stage than the pairs in it need."""
    n, m = 1, 1
    for lane in range(len(roll.pair)):
        if roll.pair[lane] >= 0:
            n, m = max(n, roll.n[lane]), max(m, roll.m[lane])
    extent[0], extent[1] = min(extent[0], n), min(extent[1], m)


@compiled_borrowing
def _leave(here: Point, roll: Roll, variable: float, lane: int, results: Any, hard: Any, couplings: Any) -> None:
    """Write down the result of a lane, the part of H that varies with gamma given."""
    values, n_iter, gaps, converged = results
    p = roll.pair[lane]
    hard[p] = roll.hard[lane]
    values[p], n_iter[p] = variable + roll.constant[lane], roll.n_iter[lane]
    gaps[p], converged[p] = roll.gap[lane], roll.converged[lane]
    if p < len(couplings):
        for i in range(roll.n[lane]):
            for k in range(roll.m[lane]):
                couplings[p, i, k] = here.gamma[i, k, lane]
    roll.pair[lane] = -1
