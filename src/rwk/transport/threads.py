"""The CPU backend: chunks of pairs, each a loop over the compiled solver, over threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwk.transport import cpu
from rwk.transport.chunks import Ticker, in_threads, one_blas_thread, plan_chunks
from rwk.transport.cold import compile_apart
from rwk.transport.problem import (
    TERM_NAMES,
    CostWeights,
    GraphMeasures,
    PairResults,
    PairSolution,
    ScgOptions,
    make_solution,
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
    """Solve pairs as oriented."""
    compile_apart(str(measures.structure.dtype))
    order, bounds = plan_chunks(measures, pairs)
    results = PairResults.empty(len(pairs))

    def solve(chunk: int) -> int:
        mine = order[bounds[chunk] : bounds[chunk + 1]]
        part = PairResults.empty(len(mine))
        cpu.solve_chunk(measures, pairs[mine], weights, options, part)
        results.put(mine, part)
        return len(mine)

    with one_blas_thread():
        in_threads(solve, len(bounds) - 1, n_jobs=n_jobs, tick=tick)
    return results


def run_pair(
    measures: GraphMeasures, a: int, b: int, weights: CostWeights, options: ScgOptions, *, trace: bool = False
) -> PairSolution:
    """Solve one pair, coupling included."""
    compile_apart(str(measures.structure.dtype))
    terms = np.zeros(len(TERM_NAMES))
    history = np.full((options.max_iter if trace else 0, 2), np.nan)
    with one_blas_thread():
        gamma, _, n_iter, gap, converged = cpu.solve_pair(measures, a, b, weights, options, terms, history)
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)
