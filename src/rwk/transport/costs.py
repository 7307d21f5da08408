"""Step 1: the cost matrices of one pair, from what is packed of its two graphs.

Distances are sums of squared differences, never differences of squared norms, except over sparse columns, where a
remainder at rounding level is taken for 0: nodes with equal features are at distance 0 exactly. All of it is
float64 whatever the precision of the solve.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.transport.compiling import compiled
from rwk.transport.rooms import room, rooms
from rwk.transport.vectormath import log_of

PRIOR_FLOOR: Final = 1e-6
ROUNDING: Final = 1e-13


@compiled
def feature_cost(graphs: Any, a: int, b: int, out: Any, squares: Any) -> None:
    """C_V: Euclidean distance of feature vectors, and the share of Weisfeiler-Lehman rounds that differ."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    _squared_distances(graphs.features, i0, k0, squares)
    _sparse_squared_distances(graphs, a, b, squares)
    flat_out, flat_squares = out.ravel(), squares.ravel()
    for p in range(len(flat_out)):
        flat_out[p] = np.sqrt(flat_squares[p])
    rounds = graphs.colours.shape[0]
    if rounds:
        one_round = graphs.hamming_cost / rounds
        for i in range(n):
            for r in range(rounds):
                colour = graphs.colours[r, i0 + i]
                for k in range(m):
                    out[i, k] += one_round * (graphs.colours[r, k0 + k] != colour)


@compiled
def neighbour_cost(graphs: Any, a: int, b: int, out: Any, squares: Any) -> None:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    width = graphs.signs.shape[1]
    if width:
        for i in range(n):
            for k in range(m):
                differ = 0
                for c in range(width):
                    differ += graphs.signs[i0 + i, c] != graphs.signs[k0 + k, c]
                out[i, k] = graphs.neighbour_cost * differ / width
        return
    _squared_distances(graphs.embedding, i0, k0, squares)
    flat_out, flat_squares = out.ravel(), squares.ravel()
    for p in range(len(flat_out)):
        flat_out[p] = graphs.neighbour_cost * np.sqrt(flat_squares[p])


@compiled
def log_degree_prior(graphs: Any, a: int, b: int, out: Any, prior: Any) -> None:
    """log gamma': likeness of degrees, floored, as a joint distribution."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = out.shape
    total = 0.0
    for i in range(n):
        d = graphs.degrees[i0 + i]
        for k in range(m):
            e = graphs.degrees[k0 + k]
            # 0/0 counts as alike: both differences are 0 then
            likeness = 1.0 - abs(d - e) / max(max(d, e), 1e-300)
            prior[i, k] = max(likeness, PRIOR_FLOOR)
    # a loop of its own: beside a store, the order of the sum would depend on where the arrays lie in memory
    for i in range(n):
        for k in range(m):
            total += prior[i, k]
    log_total = np.log(total)
    flat_out, flat_prior = out.ravel(), prior.ravel()
    for p in range(len(flat_out)):
        flat_out[p] = log_of(flat_prior[p]) - log_total


@compiled
def _squared_distances(rows: Any, i0: int, k0: int, out: Any) -> None:
    """Squared Euclidean distances of two runs of rows; the target's columns are made contiguous, four at a time."""
    n, m = out.shape
    width = rows.shape[1]
    columns = rooms(4, m, np.float64)
    out[:] = 0.0
    for first in range(0, width, 4):
        some = min(4, width - first)
        for c in range(some):
            for k in range(m):
                columns[c, k] = rows[k0 + k, first + c]
        if some == 4:
            for i in range(n):
                x0, x1 = rows[i0 + i, first], rows[i0 + i, first + 1]
                x2, x3 = rows[i0 + i, first + 2], rows[i0 + i, first + 3]
                for k in range(m):
                    d0, d1, d2, d3 = x0 - columns[0, k], x1 - columns[1, k], x2 - columns[2, k], x3 - columns[3, k]
                    out[i, k] += (d0 * d0 + d1 * d1) + (d2 * d2 + d3 * d3)
        else:
            for c in range(some):
                for i in range(n):
                    x = rows[i0 + i, first + c]
                    for k in range(m):
                        out[i, k] += (x - columns[c, k]) * (x - columns[c, k])


@compiled
def _sparse_squared_distances(graphs: Any, a: int, b: int, out: Any) -> None:
    """Adds |x|^2 + |y|^2 - 2 <x, y> over sparse columns, found by merging two sorted lists of keys."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    p, p_end = graphs.column_offsets[a], graphs.column_offsets[a + 1]
    q, q_end = graphs.column_offsets[b], graphs.column_offsets[b + 1]
    if p == p_end and q == q_end:
        return
    n, m = out.shape
    products, column = rooms(n, m, np.float64), room(m, np.float64)
    products[:] = 0.0
    column[:] = 0.0
    while p < p_end and q < q_end:
        left, right = graphs.column_keys[p], graphs.column_keys[q]
        if left == right:
            begin, end = graphs.entry_offsets[q], graphs.entry_offsets[q + 1]
            full = 4 * (end - begin) >= m  # worth whole rows at a time
            if full:
                for t in range(begin, end):
                    column[graphs.entry_rows[t]] = graphs.entry_values[t]
            for s in range(graphs.entry_offsets[p], graphs.entry_offsets[p + 1]):
                i, x = graphs.entry_rows[s], graphs.entry_values[s]
                if full:
                    for k in range(m):
                        products[i, k] += x * column[k]
                else:
                    for t in range(begin, end):
                        products[i, graphs.entry_rows[t]] += x * graphs.entry_values[t]
            if full:
                for t in range(begin, end):
                    column[graphs.entry_rows[t]] = 0.0
        p += left <= right
        q += right <= left
    for i in range(n):
        for k in range(m):
            both = graphs.square_norms[i0 + i] + graphs.square_norms[k0 + k]
            rest = both - 2.0 * products[i, k]
            out[i, k] += rest if rest > ROUNDING * both else 0.0
