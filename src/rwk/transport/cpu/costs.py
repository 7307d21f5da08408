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
from rwk.transport.cpu.simd.aligned import aligned_zeros
from rwk.transport.cpu.simd.vectormath import exp_of, log_of, root_of
from rwk.transport.cpu.simd.vectors import WIDTH_64, absolute, fma, larger, load, mismatch, splat, store
from rwk.transport.cpu.sparse import (
    NOTHING,
    EntriesByNode,
    add_products,
    add_squared_distances,
    empty_entries,
    no_entries,
)
from rwk.transport.problem import PRIOR_FLOOR

SMALLEST_DEGREE: Final = 1e-300

# Places of `CostScratch.held`
FEATURES: Final = 0
RETURNS: Final = 1
EMBEDDING: Final = 2
COLOURS: Final = 3


class CostScratch(NamedTuple):
    """Flat arrays that the costs of a pair are worked out in, so that no pair asks for memory."""

    cost: Any  # n rows
    table: Any  # n rows
    products: Any  # n rows, zeros between uses
    held: Any  # (4,) the target whose columns and colours are laid out here, or NOTHING: for each of the next four
    features: Any  # one row per column of the target's features
    returns: Any  # likewise
    embedding: Any  # likewise
    words: Any  # one row of the target's colours per round
    row: Any  # one row
    first: Any  # (n,)
    sums: Any  # (n,)
    column: Any  # one row, zeros between uses
    entries: EntriesByNode  # sparse features, if many pairs share a graph


@compiled_inside
def cost_scratch(graphs: Any, n: int, m: int) -> CostScratch:
    """Scratch memory for pairs of up to n and m nodes."""
    return scratch_with_products(graphs, n, m, np.zeros(n * padded(m)))


@compiled_inside
def scratch_with_products(graphs: Any, n: int, m: int, products: Any) -> CostScratch:
    """`cost_scratch` with given memory for the products, as large as n padded rows."""
    length = padded(m)
    return CostScratch(
        np.empty(n * length), np.empty(n * length), products, np.full(4, NOTHING),
        np.zeros(graphs.features.shape[1] * length), np.zeros(graphs.returns.shape[1] * length),
        np.zeros(graphs.embedding.shape[1] * length), np.zeros(graphs.colours.shape[0] * length, np.uint64),
        np.zeros(length), np.empty(n, np.int64), np.empty(n), np.zeros(length), no_entries(),
    )  # fmt: skip


def shared_scratch(graphs: Any, n: int, m: int) -> CostScratch:
    """`cost_scratch` for many pairs of the same graphs: their sparse features are sorted, and its rows are aligned."""
    scratch = cost_scratch(graphs, n, m)
    rows = "cost", "table", "products", "features", "returns", "embedding", "words", "row"
    aligned = {name: aligned_zeros(getattr(scratch, name).size, getattr(scratch, name).dtype) for name in rows}
    return scratch._replace(entries=empty_entries(graphs, m), **aligned)


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
    _squared_distances(graphs.features, graphs.offsets, a, b, scratch.features, scratch.held[FEATURES:], out)
    starts = graphs.column_offsets
    if starts[a] < starts[a + 1] or starts[b] < starts[b + 1]:
        add_products(graphs, a, b, scratch.entries, scratch.column, length, scratch.products)
        add_squared_distances(graphs.square_norms, i0, k0, m, scratch.row, scratch.products, out)
    known, words, rounds = graphs.colours, scratch.words, graphs.colours.shape[0]
    _lay_out_colours(known, k0, m, b, length, scratch)
    one_round = splat(flat, graphs.hamming_cost / max(rounds, 1))
    for i in range(n):
        for k in range(0, length, WIDTH_64):
            cost = root_of(load(flat, i * length + k))
            for r in range(rounds):
                cost = cost + mismatch(words, r * length + k, known[r, i0 + i], one_round)
            store(flat, i * length + k, cost)


@compiled_borrowing
def _lay_out_colours(known: Any, k0: int, m: int, b: int, length: int, scratch: CostScratch) -> None:
    """The Weisfeiler-Lehman colours of the target, one row per round."""
    if scratch.held[COLOURS] != b:
        scratch.held[COLOURS] = b
        for r in range(known.shape[0]):
            for k in range(m):
                scratch.words[r * length + k] = known[r, k0 + k]


@compiled_borrowing
def _product_cost(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """C_V by R18: cost (1 - w exp(-|r_x - r_y| - |a_x - a_y|)), w the share of Weisfeiler-Lehman rounds that agree.

    The distances are in units that make them exponents (`GraphMeasures`).
    """
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    length = out.shape[1]
    flat, table = out.reshape(n * length), scratch.table[: n * length]
    zero, one, whole = splat(flat, 0.0), splat(flat, 1.0), splat(flat, graphs.product_cost)
    places, held = graphs.offsets, scratch.held
    _squared_distances(graphs.features, places, a, b, scratch.features, held[FEATURES:], out)
    _squared_distances(graphs.returns, places, a, b, scratch.returns, held[RETURNS:], table.reshape((n, length)))
    known, words, rounds = graphs.colours, scratch.words, graphs.colours.shape[0]
    _lay_out_colours(known, k0, m, b, length, scratch)
    all_rounds = splat(flat, float(rounds))
    for i in range(n):
        for k in range(0, length, WIDTH_64):
            p, agreeing = i * length + k, all_rounds
            for r in range(rounds):
                agreeing = agreeing - mismatch(words, r * length + k, known[r, i0 + i], one)
            likeness = exp_of(zero - (root_of(load(flat, p)) + root_of(load(table, p))))
            store(flat, p, whole * (one - agreeing / all_rounds * likeness))


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
    _squared_distances(graphs.embedding, graphs.offsets, a, b, scratch.embedding, scratch.held[EMBEDDING:], out)
    flat = out.reshape(out.size)
    scale = splat(flat, graphs.neighbour_cost)
    for p in range(0, len(flat), WIDTH_64):
        store(flat, p, scale * root_of(load(flat, p)))


@compiled_borrowing
def log_degree_prior(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """The logarithm of the degree prior: likeness of degrees, floored, as a joint distribution (R8)."""
    degree_prior_rows(graphs, a, b, scratch, out)
    n, length = out.shape
    flat, first = out.reshape(n * length), scratch.first
    for i in range(n):
        if first[i] < i:
            for k in range(i * length, (i + 1) * length, WIDTH_64):
                store(flat, k, load(flat, k + (first[i] - i) * length))


@compiled_borrowing
def degree_prior_rows(graphs: Any, a: int, b: int, scratch: CostScratch, out: Any) -> None:
    """`log_degree_prior` without repetitions: row i of it is row `scratch.first[i]` of `out`."""
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
        if first[i] == i:
            for k in range(i * length, (i + 1) * length, WIDTH_64):
                store(flat, k, log_of(load(flat, k)) - log_total)


@compiled_borrowing
def _first_equal(values: Any, begin: int, i: int) -> int:
    """The first j <= i with values[begin + j] == values[begin + i]: equal degrees have equal rows."""
    for j in range(i):
        if values[begin + j] == values[begin + i]:
            return j
    return i


@compiled_borrowing
def _squared_distances(rows: Any, offsets: Any, a: int, b: int, columns: Any, held: Any, out: Any) -> None:
    """Squared Euclidean distances of the rows of two graphs.

    `columns` holds those of the target held[0], made contiguous; consecutive pairs with one target find them there.
    """
    n, length = out.shape
    i0, k0, width = offsets[a], offsets[b], rows.shape[1]
    if held[0] != b:
        held[0] = b
        for k in range(offsets[b + 1] - k0):
            for c in range(width):
                columns[c * length + k] = rows[k0 + k, c]
    flat = out.reshape(n * length)
    zero, last = splat(flat, 0.0), i0 + n - 1
    for i in range(0, n, 4):  # four rows at a time, for as many independent chains of sums
        i1, i2, i3 = min(i0 + i + 1, last), min(i0 + i + 2, last), min(i0 + i + 3, last)
        for k in range(0, length, WIDTH_64):
            first, second, third, fourth = zero, zero, zero, zero
            for c in range(width):
                column = load(columns, c * length + k)
                w, x = splat(flat, rows[i0 + i, c]) - column, splat(flat, rows[i1, c]) - column
                y, z = splat(flat, rows[i2, c]) - column, splat(flat, rows[i3, c]) - column
                first, second = fma(w, w, first), fma(x, x, second)
                third, fourth = fma(y, y, third), fma(z, z, fourth)
            store(flat, i * length + k, first)
            store(flat, (i1 - i0) * length + k, second)
            store(flat, (i2 - i0) * length + k, third)
            store(flat, (i3 - i0) * length + k, fourth)
