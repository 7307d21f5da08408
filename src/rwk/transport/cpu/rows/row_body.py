"""The solver body of large pairs: Algorithm 1 for one pair after the other, with vectors along the rows of a pair.

The numbered steps are those of problem.py. A pair is solved in matrices of its own size, with rows padded to whole
vectors, so its arithmetic depends on the pair alone (R16).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled, compiled_borrowing
from rwk.transport.cpu.lanes.summaries import TOTAL_MOMENT, summarise
from rwk.transport.cpu.rows.row_data import RowMemory
from rwk.transport.cpu.rows.row_products import quadratic_rows
from rwk.transport.cpu.rows.row_sinkhorn import direction_rows, sinkhorn_rows
from rwk.transport.cpu.rows.row_steps import gradient_rows, line_search_rows, load_rows, start_rows, value_rows
from rwk.transport.cpu.simd.vectors import WIDTH_32, WIDTH_64
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_32, PLAIN_SPREAD_64
from rwk.transport.problem import PairResults


class RowOutputs(NamedTuple):
    """Where results go."""

    results: PairResults
    unsolved: Any  # (pairs,) whether a kernel would underflow: the results do not count
    couplings: Any  # (pairs, n, m), or empty


@compiled
def solve_in_rows(graphs: Any, pairs: Any, weights: Any, options: Any, memory: RowMemory, outputs: RowOutputs) -> None:
    """Solve pairs from mu nu^T in memory that was made for them."""
    _run(graphs, pairs, weights, options, memory, outputs)


@compiled_borrowing
def _run(graphs: Any, pairs: Any, weights: Any, options: Any, memory: RowMemory, outputs: RowOutputs) -> None:
    """`solve_in_rows`; it asks for no more memory."""
    values, n_iter, gaps, converged = outputs.results
    for p in range(len(pairs)):
        for graph in (pairs[p, 0], pairs[p, 1]):
            if not memory.summaries.done[graph]:
                summarise(graphs, graph, weights, memory.summaries)
        values[p], n_iter[p], gaps[p], converged[p], outputs.unsolved[p] = _solve(
            graphs, pairs[p, 0], pairs[p, 1], weights, options, memory, outputs.couplings[p : p + 1]
        )


@compiled_borrowing
def _solve(graphs: Any, a: int, b: int, weights: Any, options: Any, memory: RowMemory, coupling: Any) -> Any:
    """The value, the number of iterations, the last gap, whether it reached the tolerance, and whether it gave up.

    `coupling` (1, n, m) is filled in unless it is empty.
    """
    i0, n = graphs.offsets[a], graphs.offsets[a + 1] - graphs.offsets[a]
    narrow, m = memory.linear.itemsize == 4, graphs.offsets[b + 1] - graphs.offsets[b]
    width = WIDTH_32 if narrow else WIDTH_64
    widest = (PLAIN_SPREAD_32 if narrow else PLAIN_SPREAD_64) * options.entropy
    length = (m + width - 1) // width * width
    kl, totals = weights.beta_global * weights.degree_weight, memory.summaries.totals
    load_rows(graphs, a, b, weights, length, memory)  # 1 costs
    divergence = start_rows(i0, n, weights, length, memory)  # 2 start
    gamma, other, alpha = memory.gamma, memory.other, 0.0
    gap, converged, n_iter = np.inf, False, 0
    for iteration in range(options.max_iter):
        low, high = gradient_rows(i0, n, weights, alpha, length, memory, other)  # 8 step, 3 gradient
        alpha = 0.0
        if high - low > widest:
            return 0.0, 0, 0.0, False, True
        sinkhorn_rows(i0, n, low, options.entropy, options.sinkhorn_iter, length, memory, other)  # 4 direction
        slope, slope_of_kl = direction_rows(i0, n, length, memory, gamma, other)  # 5 gap
        gap = -slope
        if gap <= options.tol:
            converged = True
            break
        curvature = quadratic_rows(graphs, a, b, weights, length, memory)  # 6 products
        alpha, divergence = line_search_rows(  # 7 line search
            n, weights, divergence, slope, slope_of_kl, curvature, length, memory, gamma, other
        )
        if alpha == 0.0:
            break
        gamma, other = other, gamma  # 8 step
        n_iter = iteration + 1
    if alpha != 0.0:  # the last step has not reached Q(gamma) yet
        gradient_rows(i0, n, weights, alpha, length, memory, other)
    for c in range(len(coupling)):
        for i in range(n):
            for k in range(m):
                coupling[c, i, k] = gamma[i * length + k]
    constant = weights.beta_global * (totals[a, TOTAL_MOMENT] + totals[b, TOTAL_MOMENT])
    value = value_rows(n * length, memory, gamma) + constant + kl * divergence  # 9 value
    return value, n_iter, gap, converged, False
