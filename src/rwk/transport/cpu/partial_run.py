"""The partial problem on many pairs: one pair per task, dealt out to threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import call_compiled
from rwk.runtime.threads import Ticker, in_threads, one_blas_thread
from rwk.transport.cpu import partial
from rwk.transport.cpu.loading import with_feature_cost
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


def run_partial(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
    cost: NDArray[np.float64] = NO_COST,
    coupling: NDArray[np.float64] | None = None,
) -> PairSolution:
    """Solve one pair: from a multiple of mu nu^T, near the plan of the costs `start`, or from a given coupling.

    The caller keeps BLAS to one thread.
    """
    measures = in_precision(measures, "float64")
    terms, history = np.zeros(len(TERM_NAMES)), np.full((options.max_iter if trace else 0, 2), np.nan)
    pair = partial.load_partial(measures, a, b, weights)
    if cost.size:
        pair = with_feature_cost(pair, cost)
    if coupling is None:
        gamma = np.empty(pair.fixed.shape)
        partial.partial_start(pair, weights.mass, start, options.sinkhorn_iter, gamma)
    else:
        gamma = np.array(coupling, np.float64)
    solved = call_compiled(partial.solve_partial, measures, pair, weights, options, gamma, terms, history)
    gamma, _, n_iter, gap, converged = solved
    return make_solution(gamma, terms, n_iter=n_iter, gap=gap, converged=converged, history=history)


def run_partial_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """The values of many pairs."""
    results, measures = PairResults.empty(len(pairs)), in_precision(measures, "float64")

    def work(p: int) -> int:
        a, b = pairs[p].tolist()
        results.put_solution(p, run_partial(measures, a, b, weights, options))
        return 1

    with one_blas_thread():
        in_threads(work, len(pairs), n_jobs=n_jobs, tick=tick)
    return results


def partial_solutions(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    couplings: Sequence[NDArray[np.float64]] | None = None,
    n_jobs: int | None = None,
) -> list[PairSolution]:
    """The solutions of many pairs, couplings included, each from its own coupling if there are some."""
    found: dict[int, PairSolution] = {}

    def work(p: int) -> int:
        start = None if couplings is None else couplings[p]
        a, b = pairs[p].tolist()
        found[p] = run_partial(measures, a, b, weights, options, coupling=start)
        return 1

    with one_blas_thread():
        in_threads(work, len(pairs), n_jobs=n_jobs, tick=None)
    return [found[p] for p in range(len(pairs))]
