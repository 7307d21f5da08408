"""Vectors of single graphs that every pair of theirs needs, made when a graph is first met.

The image of the first coupling is made of them: Q(mu nu^T) is a sum of outer products of images of mu and of nu.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import fma


class Summaries(NamedTuple):
    """What is known of each graph and of each node; a term that is off leaves zeros."""

    done: Any  # (N,) whether the rest is there
    vectors: Any  # (6, V): C_P w, F F^T w, L w, w, log w and C_P^2 w / 2
    totals: Any  # (N, 2): <C_P^2 w / 2, w> and <w, log w>


@compiled_inside
def empty_summaries(graphs: Any) -> Summaries:
    """Room for all graphs; memory that is never written is never taken."""
    n_graphs, n_nodes = len(graphs.offsets) - 1, len(graphs.weights)
    return Summaries(np.zeros(n_graphs, np.bool_), np.empty((6, n_nodes)), np.empty((n_graphs, 2)))


@compiled_borrowing
def summarise(graphs: Any, g: int, weights: Any, known: Summaries) -> None:
    """Make what is known of one graph."""
    known.done[g] = True
    first, last = graphs.offsets[g], graphs.offsets[g + 1]
    n, w, out = last - first, graphs.weights, known.vectors
    for i in range(first, last):
        for c in range(6):
            out[c, i] = 0.0
    if weights.beta_global != 0.0:
        _structure_vectors(graphs.structure, graphs.structure_offsets[g], first, n, w, out)
    if weights.beta_local != 0.0:
        begin = graphs.factor_offsets[g]
        r = (graphs.factor_offsets[g + 1] - begin) // n
        _factor_vector(graphs.factors, begin, r, first, n, w, out)
        for i in range(first, last):
            for p in range(graphs.laplacian_offsets[i], graphs.laplacian_offsets[i + 1]):
                value = np.float64(graphs.laplacian_values[p])
                out[2, i] = fma(value, w[first + graphs.laplacian_columns[p]], out[2, i])
    known.totals[g, 0], known.totals[g, 1] = 0.0, 0.0
    for i in range(first, last):  # weights of nodes are mostly equal, so one logarithm serves many
        out[3, i] = w[i]
        out[4, i] = out[4, i - 1] if i > first and w[i] == w[i - 1] else log_of(w[i])
        known.totals[g, 0] = fma(out[5, i], w[i], known.totals[g, 0])
        known.totals[g, 1] = fma(w[i], out[4, i], known.totals[g, 1])


@compiled_borrowing
def _structure_vectors(structure: Any, begin: int, first: int, n: int, w: Any, out: Any) -> None:
    for i in range(n):
        half, mean = 0.0, 0.0
        for j in range(n):
            entry = np.float64(structure[begin + i * n + j])
            carried = entry * w[first + j]
            half = fma(carried, entry, half)
            mean += carried
        out[0, first + i], out[5, first + i] = mean, 0.5 * half


@compiled_borrowing
def _factor_vector(factors: Any, begin: int, r: int, first: int, n: int, w: Any, out: Any) -> None:
    """F F^T w, column by column of F."""
    for c in range(r):
        carried = 0.0
        for i in range(n):
            carried = fma(w[first + i], np.float64(factors[begin + i * r + c]), carried)
        for i in range(n):
            out[1, first + i] = fma(np.float64(factors[begin + i * r + c]), carried, out[1, first + i])
