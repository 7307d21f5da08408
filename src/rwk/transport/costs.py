"""Step 1: the cost matrices of one pair, from what is packed of its two graphs.

Rows are padded to whole vectors (`padded`), so every loop is vectors alone; what stands in the padding is finite and
means nothing. Distances are sums of squared differences, never differences of squared norms, except over sparse
columns, where a remainder at rounding level is taken for 0: nodes with equal features are at distance 0 exactly. All
of it is float64 whatever the precision of the solve.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.transport.compiling import compiled_inside
from rwk.transport.reductions import total_of
from rwk.transport.vectormath import log_of
from rwk.transport.vectors import WIDTH_64, absolute, fma, larger, load, mismatch, root, splat, store, where_larger

PRIOR_FLOOR: Final = 1e-6
ROUNDING: Final = 1e-13
SMALLEST_DEGREE: Final = 1e-300


@compiled_inside
def padded(m: int) -> int:
    """The length of a row of m entries in whole vectors."""
    return (m + WIDTH_64 - 1) // WIDTH_64 * WIDTH_64


@compiled_inside
def fixed_cost(graphs: Any, a: int, b: int, weights: Any, moment_mu: Any, moment_nu: Any, out: Any) -> None:
    """The part of the gradient that gamma does not change: M + 2 beta_global c + kl (1 - log prior)."""
    n, length = out.shape
    m = len(moment_nu)
    feature_cost(graphs, a, b, out)
    other = np.empty((n, length))
    flat, more = out.reshape(n * length), other.reshape(n * length)
    if weights.beta_local != 0.0:
        neighbour_cost(graphs, a, b, other)
        scale = splat(flat, weights.beta_local)
        for p in range(0, n * length, WIDTH_64):
            store(flat, p, fma(scale, load(more, p), load(flat, p)))
    kl = weights.beta_global * weights.degree_weight
    if kl != 0.0:
        log_degree_prior(graphs, a, b, other)
        scale, one = splat(flat, kl), splat(flat, 1.0)
        for p in range(0, n * length, WIDTH_64):
            store(flat, p, fma(scale, one - load(more, p), load(flat, p)))
    twice, moments = splat(flat, 2.0 * weights.beta_global), np.zeros(length)
    for k in range(m):
        moments[k] = moment_nu[k]
    for i in range(n):
        moment = splat(flat, moment_mu[i])
        for k in range(0, length, WIDTH_64):
            p = i * length + k
            store(flat, p, fma(twice, moment + load(moments, k), load(flat, p)))


@compiled_inside
def feature_cost(graphs: Any, a: int, b: int, out: Any) -> None:
    """C_V: Euclidean distance of feature vectors, and the share of Weisfeiler-Lehman rounds that differ."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    flat = out.reshape(n * length)
    _squared_distances(graphs.features, i0, k0, m, out)
    starts = graphs.column_offsets
    spans = starts[a], starts[a + 1], starts[b], starts[b + 1]
    if spans[0] < spans[1] or spans[2] < spans[3]:
        columns = graphs.column_keys, graphs.entry_offsets, graphs.entry_rows, graphs.entry_values
        _add_sparse_squared_distances(columns, spans, graphs.square_norms, i0, k0, m, out)
    for p in range(0, n * length, WIDTH_64):
        store(flat, p, root(load(flat, p)))
    rounds = graphs.colours.shape[0]
    if rounds:
        one_round = splat(flat, graphs.hamming_cost / rounds)
        known, colours = graphs.colours, np.zeros(length, np.uint64)
        for r in range(rounds):
            for k in range(m):
                colours[k] = known[r, k0 + k]
            for i in range(n):
                colour = known[r, i0 + i]
                for k in range(0, length, WIDTH_64):
                    p = i * length + k
                    store(flat, p, load(flat, p) + mismatch(colours, k, colour, one_round))


@compiled_inside
def neighbour_cost(graphs: Any, a: int, b: int, out: Any) -> None:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    width = graphs.signs.shape[1]
    if width:
        out[:] = 0.0
        for i in range(n):
            for k in range(m):
                differ = 0
                for c in range(width):
                    differ += graphs.signs[i0 + i, c] != graphs.signs[k0 + k, c]
                out[i, k] = graphs.neighbour_cost * differ / width
        return
    _squared_distances(graphs.embedding, i0, k0, m, out)
    flat = out.reshape(out.size)
    scale = splat(flat, graphs.neighbour_cost)
    for p in range(0, len(flat), WIDTH_64):
        store(flat, p, scale * root(load(flat, p)))


@compiled_inside
def log_degree_prior(graphs: Any, a: int, b: int, out: Any) -> None:
    """log gamma': likeness of degrees, floored, as a joint distribution."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    known, degrees = graphs.degrees, np.ones(length)
    for k in range(m):
        degrees[k] = known[k0 + k]
    flat = out.reshape(n * length)
    floor, one, least = splat(flat, PRIOR_FLOOR), splat(flat, 1.0), splat(flat, SMALLEST_DEGREE)
    total = 0.0
    first, row_sums = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        first[i] = _first_equal(known, i0, i)
        if first[i] == i:
            d = splat(flat, known[i0 + i])
            for k in range(0, length, WIDTH_64):
                e = load(degrees, k)
                # 0/0 counts as alike: both differences are 0 then
                likeness = one - absolute(d - e) / larger(larger(d, e), least)
                store(flat, i * length + k, larger(likeness, floor))
            row_sums[i] = total_of(flat, i * length, m)
        total += row_sums[first[i]]
    log_total = splat(flat, np.log(total))
    for i in range(n):
        for k in range(i * length, (i + 1) * length, WIDTH_64):
            same = load(flat, k + (first[i] - i) * length)
            store(flat, k, same if first[i] < i else log_of(same) - log_total)


@compiled_inside
def _first_equal(values: Any, begin: int, i: int) -> int:
    """The first j <= i with values[begin + j] == values[begin + i]: degrees repeat, and so do rows made of them."""
    for j in range(i):
        if values[begin + j] == values[begin + i]:
            return j
    return i


@compiled_inside
def _squared_distances(rows: Any, i0: int, k0: int, m: int, out: Any) -> None:
    """Squared Euclidean distances of two runs of rows; the target's columns are made contiguous."""
    n, length = out.shape
    width = rows.shape[1]
    columns = np.zeros(width * length)
    for k in range(m):
        for c in range(width):
            columns[c * length + k] = rows[k0 + k, c]
    flat = out.reshape(n * length)
    zero = splat(flat, 0.0)
    i = 0
    while i < n:
        j = min(i + 1, n - 1)  # two rows at a time share the loads of columns
        for k in range(0, length, WIDTH_64):
            first, second = zero, zero
            for c in range(width):
                column = load(columns, c * length + k)
                x = splat(flat, rows[i0 + i, c]) - column
                y = splat(flat, rows[i0 + j, c]) - column
                first, second = fma(x, x, first), fma(y, y, second)
            store(flat, i * length + k, first)
            store(flat, j * length + k, second)
        i += 2


@compiled_inside
def _add_sparse_squared_distances(columns: Any, spans: Any, norms: Any, i0: int, k0: int, m: int, out: Any) -> None:
    """Adds |x|^2 + |y|^2 - 2 <x, y> over sparse columns, found by merging two sorted lists of keys."""
    keys, offsets, rows, values = columns
    p, p_end, q, q_end = spans
    n, length = out.shape
    products, column = np.zeros(n * length), np.zeros(length)
    while p < p_end and q < q_end:
        left, right = keys[p], keys[q]
        if left == right:
            begin, end = offsets[q], offsets[q + 1]
            full = WIDTH_64 * (end - begin) >= length  # worth whole rows at a time
            if full:
                for t in range(begin, end):
                    column[rows[t]] = values[t]
            for s in range(offsets[p], offsets[p + 1]):
                first, x = rows[s] * length, values[s]
                if full:
                    xs = splat(column, x)
                    for k in range(0, length, WIDTH_64):
                        store(products, first + k, fma(xs, load(column, k), load(products, first + k)))
                else:
                    for t in range(begin, end):
                        k = first + rows[t]
                        products[k] = fma(x, values[t], products[k])
            if full:
                for t in range(begin, end):
                    column[rows[t]] = 0.0
        p += left <= right
        q += right <= left
    for k in range(m):
        column[k] = norms[k0 + k]
    flat = out.reshape(n * length)
    minus_two, rounding = splat(flat, -2.0), splat(flat, ROUNDING)
    for i in range(n):
        norm = splat(flat, norms[i0 + i])
        for k in range(0, length, WIDTH_64):
            both = norm + load(column, k)
            rest = fma(minus_two, load(products, i * length + k), both)
            store(flat, i * length + k, load(flat, i * length + k) + where_larger(rest, rounding * both, rest))
