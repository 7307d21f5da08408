"""Step 1: the cost matrices of one pair, from what is packed of its two graphs.

Rows are padded to whole vectors (`padded`), so every loop runs on full vectors; the padding holds finite numbers that
nobody uses. Distances are sums of squared differences, never differences of squared norms, except over sparse columns,
where a remainder at rounding level counts as 0: nodes with equal features are at distance 0 exactly. All costs are
float64, whatever the precision of the solve.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing, compiled_inside
from rwk.transport.cpu.reductions import total_of
from rwk.transport.cpu.simd.vectormath import exp_of, log_of, root_of
from rwk.transport.cpu.simd.vectors import WIDTH_64, absolute, fma, larger, load, mismatch, splat, store
from rwk.transport.cpu.sparse import SparseColumns, TargetColumns, add_products, add_squared_distances, empty_layout
from rwk.transport.problem import PRIOR_FLOOR

SMALLEST_DEGREE: Final = 1e-300


class CostScratch(NamedTuple):
    """Flat arrays that the costs of a pair are worked out in, so that no pair asks for memory."""

    cost: Any  # n rows
    table: Any  # n rows
    products: Any  # n rows, zeros between uses
    columns: Any  # as many rows as features, return probabilities or embeddings have columns
    row: Any  # one row
    words: Any  # one row of colours
    first: Any  # (n,)
    sums: Any  # (n,)
    layout: TargetColumns  # the sparse columns of a target


@compiled_inside
def cost_scratch(graphs: Any, n: int, m: int) -> CostScratch:
    """Scratch memory for pairs of up to n and m nodes."""
    length = padded(m)
    width = max(graphs.features.shape[1], graphs.returns.shape[1], graphs.embedding.shape[1])
    return CostScratch(
        np.empty(n * length), np.empty(n * length), np.zeros(n * length), np.zeros(width * length), np.zeros(length),
        np.zeros(length, np.uint64), np.empty(n, np.int64), np.empty(n), empty_layout(length),
    )  # fmt: skip


@compiled_borrowing
def padded(m: int) -> int:
    """The length of a row of m entries in whole vectors."""
    return (m + WIDTH_64 - 1) // WIDTH_64 * WIDTH_64


@compiled_borrowing
def fixed_cost(graphs: Any, a: int, b: int, weights: Any, moments: Any, scratch: CostScratch, out: Any) -> None:
    """The part of the gradient without gamma: M + 2 beta_global c + kl (1 - log prior).

    `moments` are C_P^2 w / 2 of all nodes (R10).
    """
    n, length = out.shape
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    m = graphs.offsets[b + 1] - k0
    feature_cost(graphs, a, b, scratch, out)
    more = scratch.table[: n * length]
    flat, other = out.reshape(n * length), more.reshape((n, length))
    if weights.beta_local != 0.0:
        neighbour_cost(graphs, a, b, scratch, other)
        scale = splat(flat, weights.beta_local)
        for p in range(0, n * length, WIDTH_64):
            store(flat, p, fma(scale, load(more, p), load(flat, p)))
    kl = weights.beta_global * weights.degree_weight
    if kl != 0.0:
        log_degree_prior(graphs, a, b, scratch, other)
        scale, one = splat(flat, kl), splat(flat, 1.0)
        for p in range(0, n * length, WIDTH_64):
            store(flat, p, fma(scale, one - load(more, p), load(flat, p)))
    twice, row = splat(flat, 2.0 * weights.beta_global), scratch.row
    for k in range(m):
        row[k] = moments[k0 + k]
    for i in range(n):
        moment = splat(flat, moments[i0 + i])
        for k in range(0, length, WIDTH_64):
            p = i * length + k
            store(flat, p, fma(twice, moment + load(row, k), load(flat, p)))


@compiled_borrowing
def feature_cost(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """C_V: Euclidean distance of feature vectors, and the share of Weisfeiler-Lehman rounds that differ; or a product.

    `scratch.table` is overwritten.
    """
    if graphs.product_cost > 0.0:
        _product_cost(graphs, a, b, scratch, out)
        return
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    flat = out.reshape(n * length)
    _squared_distances(graphs.features, i0, k0, m, scratch.columns, out)
    starts = graphs.column_offsets
    own, other = (starts[a], starts[a + 1]), (starts[b], starts[b + 1])
    if own[0] < own[1] or other[0] < other[1]:
        both = SparseColumns(
            graphs.column_keys, graphs.entry_offsets, graphs.entry_rows, graphs.entry_values, own, other
        )
        add_products(both, b, scratch.layout, length, scratch.products)
        add_squared_distances(graphs.square_norms, i0, k0, m, scratch.row, scratch.products, out)
    for p in range(0, n * length, WIDTH_64):
        store(flat, p, root_of(load(flat, p)))
    rounds = graphs.colours.shape[0]
    if rounds:
        _add_mismatches(graphs.colours, i0, k0, m, graphs.hamming_cost / rounds, scratch.words, out)


@compiled_borrowing
def _add_mismatches(known: Any, i0: int, k0: int, m: int, cost: float, colours: Any, out: Any) -> None:
    """Add a cost for every Weisfeiler-Lehman round whose colours differ."""
    n, length = out.shape
    flat = out.reshape(n * length)
    one_round = splat(flat, cost)
    for r in range(known.shape[0]):
        for k in range(m):
            colours[k] = known[r, k0 + k]
        for i in range(n):
            colour = known[r, i0 + i]
            for k in range(0, length, WIDTH_64):
                p = i * length + k
                store(flat, p, load(flat, p) + mismatch(colours, k, colour, one_round))


@compiled_borrowing
def _product_cost(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """C_V by R18: cost (1 - w exp(-|r_x - r_y| - |a_x - a_y|)), w the share of Weisfeiler-Lehman rounds that agree.

    The distances are in units that make them exponents (`GraphMeasures`).
    """
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    flat, table = out.reshape(n * length), scratch.table[: n * length]
    other, zero, one = table.reshape((n, length)), splat(flat, 0.0), splat(flat, 1.0)
    _squared_distances(graphs.features, i0, k0, m, scratch.columns, out)
    _squared_distances(graphs.returns, i0, k0, m, scratch.columns, other)
    for p in range(0, n * length, WIDTH_64):
        store(flat, p, exp_of(zero - (root_of(load(flat, p)) + root_of(load(table, p)))))
        store(table, p, zero)
    _add_mismatches(graphs.colours, i0, k0, m, 1.0, scratch.words, other)
    rounds, cost = splat(flat, float(graphs.colours.shape[0])), splat(flat, graphs.product_cost)
    for p in range(0, n * length, WIDTH_64):
        agreeing = (rounds - load(table, p)) / rounds
        store(flat, p, cost * (one - agreeing * load(flat, p)))


@compiled_borrowing
def neighbour_cost(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    width = graphs.signs.shape[1]
    if width:
        for i in range(n):
            for k in range(m, out.shape[1]):
                out[i, k] = 0.0
            for k in range(m):
                differ = 0
                for c in range(width):
                    differ += graphs.signs[i0 + i, c] != graphs.signs[k0 + k, c]
                out[i, k] = graphs.neighbour_cost * differ / width
        return
    _squared_distances(graphs.embedding, i0, k0, m, scratch.columns, out)
    flat = out.reshape(out.size)
    scale = splat(flat, graphs.neighbour_cost)
    for p in range(0, len(flat), WIDTH_64):
        store(flat, p, scale * root_of(load(flat, p)))


@compiled_borrowing
def log_degree_prior(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """The logarithm of the degree prior: likeness of degrees, floored, as a joint distribution (R8)."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    known, degrees = graphs.degrees, scratch.row
    for k in range(length):
        degrees[k] = known[k0 + k] if k < m else 1.0
    flat = out.reshape(n * length)
    floor, one, least = splat(flat, PRIOR_FLOOR), splat(flat, 1.0), splat(flat, SMALLEST_DEGREE)
    total = 0.0
    first, row_sums = scratch.first, scratch.sums
    for i in range(n):
        first[i] = _first_equal(known, i0, i)
        if first[i] == i:
            d = splat(flat, known[i0 + i])
            for k in range(0, length, WIDTH_64):
                e = load(degrees, k)
                # 0/0 counts as equal degrees: the difference is 0 then
                likeness = one - absolute(d - e) / larger(larger(d, e), least)
                store(flat, i * length + k, larger(likeness, floor))
            row_sums[i] = total_of(flat, i * length, m)
        total += row_sums[first[i]]
    log_total = splat(flat, np.log(total))
    for i in range(n):
        for k in range(i * length, (i + 1) * length, WIDTH_64):
            same = load(flat, k + (first[i] - i) * length)
            store(flat, k, same if first[i] < i else log_of(same) - log_total)


@compiled_borrowing
def _first_equal(values: Any, begin: int, i: int) -> int:
    """The first j <= i with values[begin + j] == values[begin + i]: equal degrees have equal rows."""
    for j in range(i):
        if values[begin + j] == values[begin + i]:
            return j
    return i


@compiled_borrowing
def _squared_distances(rows: Any, i0: int, k0: int, m: int, columns: Any, out: Any) -> None:
    """Squared Euclidean distances of the rows from i0 and from k0 on; `columns` holds the target's, made contiguous."""
    n, length = out.shape
    width = rows.shape[1]
    for c in range(width):
        for k in range(length):
            columns[c * length + k] = rows[k0 + k, c] if k < m else 0.0
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
