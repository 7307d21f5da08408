"""Vectors of single graphs that every pair of theirs needs, computed when a graph is first met.

The image of the first coupling is made of them: Q(mu nu^T) is a sum of outer products of images of mu and of nu.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import fma

# Rows of `GraphSummaries.vectors`; w are the weights of the nodes.
STRUCTURE_IMAGE: Final = 0  # C_P w
EMBEDDING_IMAGE: Final = 1  # S w = F F^T w
LAPLACIAN_IMAGE: Final = 2  # L w
WEIGHT: Final = 3  # w
LOG_WEIGHT: Final = 4  # log w
HALF_MOMENT: Final = 5  # C_P^2 w / 2
N_VECTORS: Final = 6

# Columns of `GraphSummaries.totals`.
TOTAL_MOMENT: Final = 0  # <C_P^2 w / 2, w>
TOTAL_ENTROPY: Final = 1  # <w, log w>
N_TOTALS: Final = 2


class GraphSummaries(NamedTuple):
    """What is known of each graph and of each node, in float64; a term whose weight is 0 leaves zeros."""

    done: Any  # (N,) whether the rest is filled in
    vectors: Any  # (N_VECTORS, V)
    totals: Any  # (N, N_TOTALS)


def empty_summaries(graphs: Any) -> GraphSummaries:
    """Room for all graphs; the system hands out pages of memory only as they are written."""
    n_graphs, n_nodes = len(graphs.offsets) - 1, len(graphs.weights)
    return GraphSummaries(np.zeros(n_graphs, np.bool_), np.empty((N_VECTORS, n_nodes)), np.empty((n_graphs, N_TOTALS)))


@compiled_borrowing
def summarise(graphs: Any, g: int, weights: Any, known: GraphSummaries) -> None:
    """Fill in the summary of graph g."""
    known.done[g] = True
    first, last = graphs.offsets[g], graphs.offsets[g + 1]
    n, w, vectors, totals = last - first, graphs.weights, known.vectors, known.totals
    for i in range(first, last):
        for row in range(N_VECTORS):
            vectors[row, i] = 0.0
    if weights.beta_global != 0.0:
        _fill_structure(graphs.structure, graphs.structure_offsets[g], first, n, w, vectors)
    if weights.beta_local != 0.0:
        begin = graphs.factor_offsets[g]
        r = (graphs.factor_offsets[g + 1] - begin) // n
        _fill_embedding(graphs.factors, begin, r, first, n, w, vectors)
        for i in range(first, last):
            for p in range(graphs.laplacian_offsets[i], graphs.laplacian_offsets[i + 1]):
                value = np.float64(graphs.laplacian_values[p])
                weight = w[first + graphs.laplacian_columns[p]]
                vectors[LAPLACIAN_IMAGE, i] = fma(value, weight, vectors[LAPLACIAN_IMAGE, i])
    totals[g, TOTAL_MOMENT], totals[g, TOTAL_ENTROPY] = 0.0, 0.0
    for i in range(first, last):  # node weights are mostly equal, so one logarithm serves many
        same = i > first and w[i] == w[i - 1]
        vectors[WEIGHT, i] = w[i]
        vectors[LOG_WEIGHT, i] = vectors[LOG_WEIGHT, i - 1] if same else log_of(w[i])
        totals[g, TOTAL_MOMENT] = fma(vectors[HALF_MOMENT, i], w[i], totals[g, TOTAL_MOMENT])
        totals[g, TOTAL_ENTROPY] = fma(w[i], vectors[LOG_WEIGHT, i], totals[g, TOTAL_ENTROPY])


@compiled_borrowing
def _fill_structure(structure: Any, begin: int, first: int, n: int, w: Any, vectors: Any) -> None:
    """C_P w, and C_P^2 w / 2: the half is that of the loss (R10)."""
    for i in range(n):
        square, mean = 0.0, 0.0
        for j in range(n):
            entry = np.float64(structure[begin + i * n + j])
            carried = entry * w[first + j]
            square = fma(carried, entry, square)
            mean += carried
        vectors[STRUCTURE_IMAGE, first + i], vectors[HALF_MOMENT, first + i] = mean, 0.5 * square


@compiled_borrowing
def _fill_embedding(factors: Any, begin: int, r: int, first: int, n: int, w: Any, vectors: Any) -> None:
    """F F^T w, column by column of F."""
    for c in range(r):
        carried = 0.0
        for i in range(n):
            carried = fma(w[first + i], np.float64(factors[begin + i * r + c]), carried)
        for i in range(n):
            entry = np.float64(factors[begin + i * r + c])
            vectors[EMBEDDING_IMAGE, first + i] = fma(entry, carried, vectors[EMBEDDING_IMAGE, first + i])
