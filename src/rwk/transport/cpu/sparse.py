"""Squared distances of sparse features: |x|^2 + |y|^2 - 2 <x, y> over columns named by keys.

Only columns that both graphs have matter. The columns of a small target are laid out as rows of numbers behind a hash
table of their keys, once for all consecutive pairs with that target; those of a large one are found by merging two
sorted lists. Either way a product is one chain of fused multiply-adds in the order of the keys, so both give the same
bits.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.vectors import WIDTH_64, fma, load, splat, store, where_larger
from rwk.transport.problem import ROUNDING

MOST_COLUMNS: Final = 512  # of a graph that is laid out
MOST_NUMBERS: Final = 2**15  # in all its columns
NOTHING: Final = -1  # no graph, or no column


class TargetColumns(NamedTuple):
    """The columns of one graph behind a hash table of their keys."""

    held: Any  # (1,) the graph, or NOTHING
    mask: Any  # (1,) number of slots in use, minus one
    keys: Any  # (slots,)
    columns: Any  # (slots,) number of the column with that key, or NOTHING
    numbers: Any  # columns as rows, padded to whole vectors
    column: Any  # (length,) one column at a time, all zeros between uses


class SparseColumns(NamedTuple):
    """The sparse columns of all graphs, and where those of one source and one target lie."""

    keys: Any
    offsets: Any  # of entries
    rows: Any
    values: Any
    source: Any  # (first, last)
    target: Any


@compiled_inside
def empty_layout(length: int) -> TargetColumns:
    """Memory for any graph that is laid out; `length` is the longest row."""
    return TargetColumns(
        np.full(1, NOTHING), np.zeros(1, np.int64), np.empty(4 * MOST_COLUMNS, np.uint64),
        np.empty(4 * MOST_COLUMNS, np.int64), np.empty(MOST_NUMBERS), np.zeros(length),
    )  # fmt: skip


@compiled_borrowing
def add_products(both: SparseColumns, target: int, layout: TargetColumns, length: int, products: Any) -> None:
    """Add <x, y> of all pairs of nodes to `products`, in rows of `length` numbers; `target` is the second graph."""
    count = both.target[1] - both.target[0]
    if count <= MOST_COLUMNS and count * length <= MOST_NUMBERS:
        if layout.held[0] != target:
            _lay_out(both, layout, length)
            layout.held[0] = target
        _look_up(both, layout, length, products)
    else:
        merge(both, layout.column, length, products)


@compiled_borrowing
def _lay_out(both: SparseColumns, layout: TargetColumns, length: int) -> None:
    """Enter the columns of the target into the hash table."""
    first, last = both.target
    slots = 4
    while slots < 4 * (last - first):
        slots *= 2
    layout.mask[0] = slots - 1
    layout.columns[:slots] = NOTHING
    zero = splat(layout.numbers, 0.0)
    for p in range(0, (last - first) * length, WIDTH_64):
        store(layout.numbers, p, zero)
    for q in range(first, last):
        s = np.int64(both.keys[q] & np.uint64(slots - 1))
        while layout.columns[s] != NOTHING:
            s = (s + 1) & (slots - 1)
        layout.keys[s], layout.columns[s] = both.keys[q], q - first
        for t in range(both.offsets[q], both.offsets[q + 1]):
            layout.numbers[(q - first) * length + both.rows[t]] = both.values[t]


@compiled_borrowing
def _look_up(both: SparseColumns, layout: TargetColumns, length: int, products: Any) -> None:
    """Add the products of the source's columns with those that the hash table has."""
    mask, numbers = layout.mask[0], layout.numbers
    for p in range(both.source[0], both.source[1]):
        key = both.keys[p]
        s = np.int64(key & np.uint64(mask))
        while layout.columns[s] != NOTHING and layout.keys[s] != key:
            s = (s + 1) & mask
        if layout.columns[s] != NOTHING:
            begin = layout.columns[s] * length
            for t in range(both.offsets[p], both.offsets[p + 1]):
                row, x = both.rows[t] * length, splat(numbers, both.values[t])
                for k in range(0, length, WIDTH_64):
                    store(products, row + k, fma(x, load(numbers, begin + k), load(products, row + k)))


@compiled_borrowing
def merge(both: SparseColumns, column: Any, length: int, products: Any) -> None:
    """`add_products` by merging two sorted lists, for graphs of any size; `column` is all zeros between uses."""
    keys, offsets, rows, values = both.keys, both.offsets, both.rows, both.values
    (p, p_end), (q, q_end) = both.source, both.target
    while p < p_end and q < q_end:
        left, right = keys[p], keys[q]
        if left == right:
            begin, end = offsets[q], offsets[q + 1]
            full = WIDTH_64 * (end - begin) >= length  # then whole rows at a time are faster
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


@compiled_borrowing
def add_squared_distances(norms: Any, i0: int, k0: int, m: int, row: Any, products: Any, out: Any) -> None:
    """Add |x|^2 + |y|^2 - 2 <x, y> to `out` and clear the products; `row` holds one row at a time."""
    n, length = out.shape
    for k in range(length):
        row[k] = norms[k0 + k] if k < m else 0.0
    flat = out.reshape(n * length)
    minus_two, rounding, zero = splat(flat, -2.0), splat(flat, ROUNDING), splat(flat, 0.0)
    for i in range(n):
        norm = splat(flat, norms[i0 + i])
        for k in range(0, length, WIDTH_64):
            both = norm + load(row, k)
            p = i * length + k
            rest = fma(minus_two, load(products, p), both)
            store(products, p, zero)
            store(flat, p, load(flat, p) + where_larger(rest, rounding * both, rest))
