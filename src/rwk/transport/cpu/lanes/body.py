"""The solver body of small pairs: Algorithm 1 for as many pairs at once as a register has lanes.

The numbered steps are those of problem.py, as in scalar.py. Every operation acts on all lanes, so loops of any length,
exp and log included, run on full vectors. A lane whose pair is done takes the next pair of the list at once: no lane
waits for another, and a pair is bit-identical whatever the other lanes hold (R16).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_borrowing
from rwk.runtime.packed import packed
from rwk.transport.cpu.lanes.entering import place_start, take_image
from rwk.transport.cpu.lanes.entrance import enter_at
from rwk.transport.cpu.lanes.lane_data import (
    NOBODY,
    LaneCouplings,
    LaneMemory,
    LaneOutputs,
    LaneState,
    LaneSums,
    Workspace,
    shrink_extent,
)
from rwk.transport.cpu.lanes.lane_sinkhorn import sinkhorn_lanes
from rwk.transport.cpu.lanes.steps import (
    curvature_lanes,
    direction_lanes,
    gradient_lanes,
    line_search_lanes,
    quadratic_map_lanes,
    value_lanes,
)
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_32, PLAIN_SPREAD_64

# float32 can't tell on which side of the tolerance a gap lies if they are nearer than this share of the gradient's
# spread: ten times the largest error seen
UNSURE_32: Final = 2e-6
# a pair that takes as many iterations is left to float64: each iteration adds to what rounding has moved
MANY_32: Final = 8
# if this share of the lanes is done after step 5 and more pairs wait, these enter at once and steps 6 to 8 are put off:
# the other lanes repeat steps 3 to 5, which changes nothing in them and takes less time than 6 to 8 with idle lanes
MANY_DONE: Final = 0.5


@compiled
def solve_side_by_side(
    graphs: Any,
    pairs: Any,
    weights: Any,
    options: Any,
    memory: LaneMemory,
    starts: Any,
    outputs: LaneOutputs,
    entrance: int,
) -> None:
    """Solve pairs in memory that was made for them, and in its precision; `entrance` is the address of `enter`.

    They start from mu nu^T or, if there are any, from the couplings `starts`, one per pair.

    A pair is `unsolved` if its kernel would underflow, or if float32 can't tell when it is done: a gap is too near the
    tolerance, the pair never reaches it, or takes many iterations. One iteration more or less changes a value by far
    more than rounding does.
    """
    _run(graphs, pairs, weights, options, memory, starts, outputs, entrance)


@compiled_borrowing
def _run(
    graphs: Any,
    pairs: Any,
    weights: Any,
    options: Any,
    memory: LaneMemory,
    starts: Any,
    outputs: LaneOutputs,
    entrance: int,
) -> None:
    """Algorithm 1 over the list of pairs; it asks for no more memory."""
    contents, scratch, work, sums, here = memory
    data, state, _, extent, _ = contents
    kl = weights.beta_global * weights.degree_weight
    ridge = 0.5 * weights.beta_local * weights.ridge
    upcoming, records = 0, packed((graphs, weights, contents, here, scratch))
    while True:
        fresh = False
        for lane in range(len(state.pair)):
            if not state.active[lane] and upcoming < len(pairs):
                a, b = pairs[upcoming, 0], pairs[upcoming, 1]
                enter_at(entrance, records, a, b, lane)  # 1 costs, 2 start
                if len(starts):
                    place_start(starts[upcoming], data, state, here, extent, kl, lane)
                state.pair[lane], state.active[lane], fresh = upcoming, True, True
                upcoming += 1
        if _count(state.active) == 0:
            return
        shrink_extent(state, extent)
        n, m = int(extent[0]), int(extent[1])
        if fresh and len(starts):
            quadratic_map_lanes(data, n, m, ridge, work, here.gamma, work.delta_image)
            take_image(state, n, m, work.delta_image, data.image)
        gradient_lanes(data, here, fresh, n, m, kl, work)  # 3 gradient
        sinkhorn_lanes(data, n, m, work, options.entropy, options.sinkhorn_iter)  # 4 direction
        direction_lanes(data, here, fresh, n, m, work, sums)  # 5 gap
        for lane in range(len(state.pair)):
            data.fresh[0, 0, lane] = 0.0
        if len(outputs.trace) and state.pair[0] == 0 and state.n_iter[0] == 0:
            value_lanes(data, here, False, n, m, work, sums)
            state.objective[0] = sums.value[0] + kl * state.entropy[0] + state.constant[0]
        _check_gaps(state, work, sums, options, outputs.trace)
        active = _count(state.active)
        moved = active > (len(state.pair) * (1.0 - MANY_DONE) if upcoming < len(pairs) else 0)
        if moved:
            quadratic_map_lanes(data, n, m, ridge, work, work.delta, work.delta_image)  # 6 products
            curvature_lanes(n, m, work, sums)
            line_search_lanes(
                here, state, n, m, kl, work, sums
            )  # 7 line search, 8 step; see `value_lanes` for Q(gamma)
            _count_steps(state, work, sums, options.max_iter)
        value_lanes(data, here, moved, n, m, work, sums)  # 9 value
        if _count(state.active) < len(state.pair):
            _empty_lanes(here, state, sums, kl, options.tol, outputs)


@compiled_borrowing
def _check_gaps(state: LaneState, work: Workspace, sums: LaneSums, options: Any, trace: Any) -> None:
    """Step 5: the gap of every lane, and which lanes stop there."""
    narrow = work.g.itemsize == 4
    widest = PLAIN_SPREAD_32 if narrow else PLAIN_SPREAD_64
    for lane in range(len(state.pair)):
        if state.active[lane]:
            gap, iteration = -sums.slope[lane], state.n_iter[lane]
            spread = np.float64(work.high[0, 0, lane]) - np.float64(work.low[0, 0, lane])
            state.gap[lane], state.converged[lane] = gap, gap <= options.tol
            state.unsolved[lane] = spread > widest * options.entropy
            if narrow and abs(gap - options.tol) <= UNSURE_32 * spread:
                state.unsolved[lane] = True
            if state.pair[lane] == 0 and iteration < len(trace):
                trace[iteration, 0], trace[iteration, 1] = state.objective[lane], gap
            if state.converged[lane] or state.unsolved[lane] or options.max_iter == 0:
                state.active[lane] = False


@compiled_borrowing
def _count_steps(state: LaneState, work: Workspace, sums: LaneSums, max_iter: int) -> None:
    """Step 8: what every lane knows of itself after a step; a lane that found no descent stops."""
    for lane in range(len(state.pair)):
        if state.active[lane]:
            if work.alpha[0, 0, lane] == 0.0:
                state.active[lane] = False
                continue
            state.entropy[lane] = sums.new_entropy[lane]
            state.objective[lane] += sums.change[lane]
            state.n_iter[lane] += 1
            state.active[lane] = state.n_iter[lane] < max_iter


@compiled_borrowing
def _empty_lanes(
    here: LaneCouplings, state: LaneState, sums: LaneSums, kl: float, tol: float, outputs: LaneOutputs
) -> None:
    """Write down the results of all pairs that have stopped, and free their lanes."""
    values, n_iter, gaps, converged = outputs.results
    narrow = here.gamma.itemsize == 4
    for lane in range(len(state.pair)):
        p = state.pair[lane]
        if p == NOBODY or state.active[lane]:
            continue
        if narrow and tol > 0.0 and (not state.converged[lane] or state.n_iter[lane] >= MANY_32):
            state.unsolved[lane] = True
        outputs.unsolved[p] = state.unsolved[lane]
        values[p] = (kl * state.entropy[lane] + sums.value[lane]) + state.constant[lane]
        n_iter[p], gaps[p], converged[p] = state.n_iter[lane], state.gap[lane], state.converged[lane]
        if p < len(outputs.couplings):
            for i in range(state.n[lane]):
                for k in range(state.m[lane]):
                    outputs.couplings[p, i, k] = here.gamma[i, k, lane]
        state.pair[lane] = NOBODY


@compiled_borrowing
def _count(flags: Any) -> int:
    """How many are set."""
    total = 0
    for flag in flags:
        total += flag
    return total
