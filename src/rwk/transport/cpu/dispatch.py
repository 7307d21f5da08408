"""The CPU backend: chunks of pairs over threads, small pairs side by side, large ones one by one.

Which body solves a pair depends on the pair alone: on its two sizes, and on its costs if a body must give up. So its
value is bit-identical whatever the number of threads, the order, or the other pairs in the list (R16). A single pair
that is asked for with its coupling has a body of its own if it is small (plain.py): nothing has to be compiled for it,
and its value agrees with that of a list to rounding.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import call_compiled
from rwk.runtime.threads import Ticker, in_threads, one_blas_thread, thread_count
from rwk.transport.cpu import scalar
from rwk.transport.cpu.ahead import wait_for_helpers
from rwk.transport.cpu.chunks import plan_chunks
from rwk.transport.cpu.lanes import body
from rwk.transport.cpu.lanes.entrance import entrance_for
from rwk.transport.cpu.lanes.kept_memory import KeptMemory
from rwk.transport.cpu.lanes.lane_data import LaneMemory, LaneOutputs
from rwk.transport.cpu.loading import load_pair, with_feature_cost
from rwk.transport.cpu.partial_run import partial_solutions, run_partial, run_partial_pairs
from rwk.transport.cpu.plain import SpreadTooWideError, solve_plainly
from rwk.transport.cpu.plain_costs import LARGEST_PLAIN
from rwk.transport.cpu.rows.row_body import RowOutputs, solve_in_rows
from rwk.transport.cpu.rows.row_data import KeptRows
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

# n * m of the largest pair that is solved side by side with others, by the bytes of a number: beyond that, vectors
# along the rows of one pair are as fast, and need no pairs of similar size to share a register with
LARGEST_SMALL: Final = {8: 80 * 80, 4: 56 * 56}
# nodes of its larger graph: beyond that, the structure of eight targets leaves the cache (20 x 150 nodes: 1.3 times as
# slow as one by one, 8 x 380: 1.7)
LARGEST_SIDE: Final = 110
LEAST_STARTS: Final = 4  # of a small pair that share registers: fewer are faster one by one (30 nodes: two take .6)

NO_COUPLINGS: Final = np.empty((0, 0, 0))
NO_TRACE: Final = np.empty((0, 2))


def run_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """Solve pairs as they are oriented."""
    if weights.mass < 1.0:
        return run_partial_pairs(measures, pairs, weights, options, n_jobs=n_jobs, tick=tick)
    results, lanes, rows = PairResults.empty(len(pairs)), KeptMemory(), KeptRows()
    small = is_small(measures, pairs)
    for chosen, solve in ((np.flatnonzero(small), solve_small), (np.flatnonzero(~small), solve_large)):
        order, bounds = plan_chunks(
            measures, pairs[chosen], alike=solve is solve_small, n_threads=thread_count(n_jobs)
        )  # fmt: skip
        places = chosen[order]

        def work(chunk: int, places: Any = places, bounds: Any = bounds, solve: Any = solve) -> int:
            mine = places[bounds[chunk] : bounds[chunk + 1]]
            part = PairResults.empty(len(mine))
            if solve is solve_small:
                solve_small(measures, pairs[mine], weights, options, part, memory=lanes)
            else:
                solve_large(measures, pairs[mine], weights, options, part, memory=rows)
            results.put(mine, part)
            return len(mine)

        with one_blas_thread():
            in_threads(work, len(bounds) - 1, n_jobs=n_jobs, tick=tick)
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
    cost: NDArray[np.float64] = NO_COST,
) -> PairSolution:
    """Solve one pair, coupling included.

    Small pairs in float64 are solved by plain.py, whatever has been compiled, unless a kernel would underflow.

    Unless they are empty, it starts near the plan of the costs `start`, and `cost` is used in place of C_V.
    """
    if weights.mass < 1.0:
        with one_blas_thread():
            return run_partial(measures, a, b, weights, options, trace=trace, start=start, cost=cost)
    pairs = np.array([[a, b]])
    small = bool(is_small(measures, pairs)[0])
    plain = is_plain(measures, a, b) and measures.structure.dtype == np.float64
    if plain:
        with one_blas_thread(), suppress(SpreadTooWideError):
            return solve_plainly(measures, (a, b), weights, options, trace=trace, start=start, cost=cost)
    terms = np.zeros(len(TERM_NAMES))
    history = np.full((options.max_iter if trace else 0, 2), np.nan)
    with one_blas_thread():
        if small and not plain and not start.size and not cost.size:
            results, couplings = PairResults.empty(1), np.empty((1, measures.sizes[a], measures.sizes[b]))
            if not len(solve_small(measures, pairs, weights, options, results, couplings, history)):
                gamma = couplings[0].astype(measures.structure.dtype)
                terms = scalar.terms_of(measures, a, b, weights, gamma)
                _, n_iter, gap, converged = (of_one[0] for of_one in results)
                return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)
            history[:] = np.nan
        if not (small or trace or start.size or cost.size):
            solution = _run_large(measures, pairs, weights, options)
            if solution is not None:
                return solution
        if cost.size:
            pair = with_feature_cost(load_pair(measures, a, b, weights), cost)
            solved = call_compiled(scalar.solve_loaded, measures, pair, weights, options, start, terms, history)
        else:
            solved = call_compiled(scalar.solve_one, measures, a, b, weights, options, start, terms, history)
        gamma, _, n_iter, gap, converged = solved
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)


def _run_large(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions
) -> PairSolution | None:
    """Solve one large pair, coupling included; None if its kernel would underflow."""
    a, b = pairs[0].tolist()
    results, couplings = PairResults.empty(1), np.empty((1, measures.sizes[a], measures.sizes[b]))
    if len(_run_rows(measures, pairs, weights, options, KeptRows(), results, couplings)):
        return None
    gamma = couplings[0].astype(measures.structure.dtype, copy=False)
    terms = scalar.terms_of(measures, a, b, weights, gamma)
    return _solution(gamma, terms, results.n_iter, results.gaps, results.converged)


def run_starts(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    starts: NDArray[np.float64],
    *,
    n_jobs: int | None = None,
) -> list[PairSolution]:
    """Solve one pair from many couplings (S, n, m); many starts of a small pair side by side, one per lane.

    Where a kernel would underflow, it absorbs potentials (absorbed.py).
    """
    measures, pairs = in_precision(measures, "float64"), np.repeat(np.array([[a, b]]), len(starts), axis=0)
    if weights.mass < 1.0:
        return partial_solutions(measures, pairs, weights, options, couplings=list(starts), n_jobs=n_jobs)
    found: list[PairSolution | None] = [None] * len(starts)
    left = np.arange(len(starts))
    with one_blas_thread():
        if len(starts) >= LEAST_STARTS and is_small(measures, pairs[:1])[0]:
            results, unsolved = PairResults.empty(len(starts)), np.zeros(len(starts), np.bool_)
            outputs = LaneOutputs(results, unsolved, np.empty(starts.shape), NO_TRACE)
            lanes = KeptMemory().room_for(measures, pairs, weights, np.dtype(np.float64))
            _run_lanes(measures, pairs, weights, options, lanes, starts, outputs)
            pair = load_pair(measures, a, b, weights)
            for s in np.flatnonzero(~unsolved):
                terms = scalar.terms_of_loaded(measures, pair, weights, outputs.couplings[s])
                health = results.take(slice(s, s + 1))
                found[s] = _solution(outputs.couplings[s], terms, health.n_iter, health.gaps, health.converged)
            left = np.flatnonzero(unsolved)

        def work(place: int) -> int:
            terms, start = np.zeros(len(TERM_NAMES)), np.ascontiguousarray(starts[left[place]])
            arguments = measures, a, b, weights, options, start.copy(), terms
            gamma, _, n_iter, gap, converged = call_compiled(scalar.solve_from, *arguments)
            found[left[place]] = _solution(gamma, terms, [n_iter], [gap], [converged])
            return 1

        in_threads(work, len(left), n_jobs=n_jobs, tick=None)
    return [solution for solution in found if solution is not None]


def _solution(gamma: Any, terms: Any, n_iter: Any, gap: Any, converged: Any) -> PairSolution:
    return make_solution(gamma, terms, n_iter=n_iter[0], gap=gap[0], converged=converged[0])


def is_small(measures: GraphMeasures, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which pairs are small enough to be solved side by side."""
    sizes = measures.sizes[pairs]
    largest = LARGEST_SMALL[measures.structure.itemsize]
    small: NDArray[np.bool_] = (sizes.prod(axis=1) <= largest) & (sizes.max(axis=1, initial=0) <= LARGEST_SIDE)
    return small


def is_plain(measures: GraphMeasures, a: int, b: int) -> bool:
    """Whether a single pair is small enough for NumPy."""
    return bool(measures.sizes[a] * measures.sizes[b] <= LARGEST_PLAIN)


def solve_small(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    results: PairResults,
    couplings: NDArray[np.float64] = NO_COUPLINGS,
    trace: NDArray[np.float64] = NO_TRACE,
    *,
    memory: KeptMemory | None = None,
) -> NDArray[np.int64]:
    """Solve small pairs side by side; returns the rows of the pairs that could not be solved that way.

    What float32 can't solve is solved in float64. Pairs whose kernel would underflow even there go to `solve_large`,
    which has rounds on logarithms, unless couplings are asked for: then the caller must solve the pairs returned.
    """
    left, memory = np.arange(len(pairs)), memory or KeptMemory()
    for precision in dict.fromkeys((measures.structure.dtype, np.dtype(np.float64))):
        trace[:] = np.nan
        part, unsolved = PairResults.empty(len(left)), np.zeros(len(left), np.bool_)
        outputs = LaneOutputs(part, unsolved, couplings, trace)
        lanes = memory.room_for(measures, pairs[left], weights, precision)
        _run_lanes(measures, pairs[left], weights, options, lanes, NO_COUPLINGS, outputs)
        results.put(left, part)
        left = left[unsolved]
        if not len(left):
            return left
    if not len(couplings):
        part = PairResults.empty(len(left))
        solve_large(measures, pairs[left], weights, options, part)
        results.put(left, part)
    return left


def _run_lanes(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    memory: LaneMemory,
    starts: NDArray[np.float64],
    outputs: LaneOutputs,
) -> None:
    """Call the body of small pairs, both halves of it compiled."""
    entrance = entrance_for(measures, weights, memory)
    wait_for_helpers()
    call_compiled(body.solve_side_by_side, measures, pairs, weights, options, memory, starts, outputs, entrance)


def solve_large(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    results: PairResults,
    start: NDArray[np.float64] = NO_START,
    *,
    memory: KeptRows | None = None,
) -> None:
    """Solve pairs one by one, all from the same start.

    Vectors run along the rows of a pair. Other starts, and pairs whose kernel would underflow, go to scalar.py.
    """
    if weights.mass < 1.0:
        for p, (a, b) in enumerate(pairs.tolist()):
            results.put_solution(p, run_partial(measures, a, b, weights, options, start=start))
        return
    left = np.arange(len(pairs))
    if not start.size:
        left = _run_rows(measures, pairs, weights, options, memory or KeptRows(), results)
    if len(left):
        part = PairResults.empty(len(left))
        call_compiled(scalar.solve_chunk, measures, pairs[left], weights, options, start, part)
        results.put(left, part)


def _run_rows(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    memory: KeptRows,
    results: PairResults,
    couplings: NDArray[np.float64] = NO_COUPLINGS,
) -> NDArray[np.int64]:
    """Call the body of large pairs; returns the rows of the pairs whose kernel would underflow."""
    outputs = RowOutputs(results, np.zeros(len(pairs), np.bool_), couplings)
    rows = memory.room_for(measures, pairs)
    call_compiled(solve_in_rows, measures, pairs, weights, options, rows, outputs)
    return np.flatnonzero(outputs.unsolved)
