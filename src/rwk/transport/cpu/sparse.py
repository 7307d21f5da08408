"""Squared distances of sparse features: |x|^2 + |y|^2 - 2 <x, y> over columns named by keys.

Only columns that both graphs have matter. For single pairs they are found by merging two sorted lists of keys. For many
pairs, each key gets a small number, the columns of a target are laid out as rows of numbers that its key's number leads
to, and the products of a source's node are sums over its entries that stay in registers (`EntriesByNode`). Either way a
product is one chain of fused multiply-adds in the order of the keys, so both give the same bits.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.aligned import aligned_zeros
from rwk.transport.cpu.simd.loops import not_unrolled
from rwk.transport.cpu.simd.vectorcode import SIZE, VectorCode, for_each_count
from rwk.transport.cpu.simd.vectors import WIDTH_64, fma, load, splat, store, where_larger
from rwk.transport.problem import ROUNDING

MOST_NUMBERS: Final = 2**15  # of a target that is laid out
MOST_VECTORS: Final = 8  # of a row of products that stay in registers
NOTHING: Final = -1  # no graph


class EntriesByNode(NamedTuple):
    """The entries of many graphs by node, sorted when a graph is first met, and one target laid out as rows."""

    counts: Any  # (2,) how many keys have numbers, and the target that is laid out or NOTHING
    known: Any  # (N,) whether the entries of a graph are sorted; none if graphs are to be merged
    begins: Any  # (V + 1,) where the entries of each node begin
    names: Any  # (entries,) number of the column's key, from 1 on
    values: Any  # (entries,)
    columns: Any  # (columns,) number of each column's key
    slots: Any  # a hash table of the keys: their numbers, or 0
    keys: Any  # (columns + 1,) by number
    places: Any  # (columns + 1,) where the numbers of that column begin in `numbers`; 0 if the target does not have it
    numbers: Any  # a row of zeros, then the columns of the target as rows, padded to whole vectors


class SparseColumns(NamedTuple):
    """The sparse columns of all graphs, and where those of one source and one target lie."""

    keys: Any
    offsets: Any  # of entries
    rows: Any
    values: Any
    source: Any  # (first, last)
    target: Any


@compiled_inside
def no_entries() -> EntriesByNode:
    """Nothing: columns are merged."""
    large, small, none = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0)
    return EntriesByNode(
        large, np.empty(0, np.bool_), large, small, none, small, small, np.empty(0, np.uint64), small, none
    )  # fmt: skip


def empty_entries(graphs: Any, m: int) -> EntriesByNode:
    """Memory for all graphs and targets of up to m nodes; the system hands out most of it only as it is written."""
    n_graphs, n_nodes = len(graphs.offsets) - 1, len(graphs.weights)
    n_columns, n_entries = len(graphs.column_keys), len(graphs.entry_values)
    n_rows = int(np.diff(graphs.column_offsets).max(initial=0)) + 1
    numbers = min(MOST_NUMBERS, n_rows * WIDTH_64 * -(-m // WIDTH_64))
    return EntriesByNode(
        np.array([0, NOTHING]), np.zeros(n_graphs, np.bool_), np.empty(n_nodes + 1, np.int64),
        np.empty(n_entries, np.int32), np.empty(n_entries), np.empty(n_columns, np.int32),
        np.zeros(1 << (2 * n_columns).bit_length(), np.int32), np.empty(n_columns + 1, np.uint64),
        np.zeros(n_columns + 1, np.int32), aligned_zeros(numbers, np.dtype(np.float64)),
    )  # fmt: skip


@compiled_borrowing
def add_products(graphs: Any, a: int, b: int, entries: EntriesByNode, column: Any, length: int, products: Any) -> None:
    """<x, y> of all pairs of nodes of a source and a target in `products`, zeros before, in rows of `length` numbers.

    `column` is all zeros between uses.
    """
    starts = graphs.column_offsets
    if len(entries.known) == 0 or (starts[b + 1] - starts[b] + 1) * length > MOST_NUMBERS:
        merge(
            SparseColumns(
                graphs.column_keys, graphs.entry_offsets, graphs.entry_rows, graphs.entry_values,
                (starts[a], starts[a + 1]), (starts[b], starts[b + 1]),
            ), column, length, products,
        )  # fmt: skip
        return
    for g in (a, b):
        if not entries.known[g]:
            _sort_by_node(graphs, g, entries)
    if entries.counts[1] != b:
        _lay_out(graphs, b, entries, length)
    i0, names, values, places = graphs.offsets[a], entries.names, entries.values, entries.places
    for i in range(graphs.offsets[a + 1] - i0):
        of_node = entries.begins[i0 + i], entries.begins[i0 + i + 1]
        for k in range(0, length, MOST_VECTORS * WIDTH_64):
            count = min(MOST_VECTORS, (length - k) // WIDTH_64)
            _sum_entries(names, values, places, entries.numbers, of_node, k, products, i * length + k, count)


@compiled_borrowing
def _sort_by_node(graphs: Any, g: int, entries: EntriesByNode) -> None:
    """Give numbers to the keys of a graph, and sort its entries by node; those of a node stay in the order of keys."""
    entries.known[g] = True
    first, last, i0, end = (
        graphs.column_offsets[g],
        graphs.column_offsets[g + 1],
        graphs.offsets[g],
        graphs.offsets[g + 1],
    )
    offsets, rows, begins = graphs.entry_offsets, graphs.entry_rows, entries.begins
    for i in range(i0, end):
        begins[i] = 0
    for t in range(offsets[first], offsets[last]):
        begins[i0 + rows[t]] += 1
    place = offsets[first]
    for i in range(i0, end):
        place, begins[i] = place + begins[i], place
    for q in range(first, last):
        name = _number_of(graphs.column_keys[q], entries)
        entries.columns[q] = name
        for t in range(offsets[q], offsets[q + 1]):
            place = begins[i0 + rows[t]]
            entries.names[place], entries.values[place] = name, graphs.entry_values[t]
            begins[i0 + rows[t]] = place + 1
    for i in range(end, i0, -1):  # every node has moved to where the next one begins
        begins[i] = begins[i - 1]
    begins[i0] = offsets[first]


@compiled_borrowing
def _number_of(key: Any, entries: EntriesByNode) -> Any:
    """The number of a key, a new one if it has none."""
    slots, mask = entries.slots, len(entries.slots) - 1
    s = np.int64(key & np.uint64(mask))
    while slots[s] != 0 and entries.keys[slots[s]] != key:
        s = (s + 1) & mask
    if slots[s] == 0:
        entries.counts[0] += 1
        slots[s] = entries.counts[0]
        entries.keys[slots[s]] = key
    return slots[s]


@compiled_borrowing
def _lay_out(graphs: Any, b: int, entries: EntriesByNode, length: int) -> None:
    """The columns of a target as rows of numbers, in place of those of the last one."""
    starts, offsets, places, numbers = graphs.column_offsets, graphs.entry_offsets, entries.places, entries.numbers
    old = entries.counts[1]
    if old != NOTHING:
        for q in range(starts[old], starts[old + 1]):
            places[entries.columns[q]] = 0
    entries.counts[1] = b
    zero = splat(numbers, 0.0)
    for p in range(0, (starts[b + 1] - starts[b] + 1) * length, WIDTH_64):
        store(numbers, p, zero)
    begin = length
    for q in range(starts[b], starts[b + 1]):
        places[entries.columns[q]] = begin
        for t in range(offsets[q], offsets[q + 1]):
            numbers[begin + graphs.entry_rows[t]] = graphs.entry_values[t]
        begin += length


@intrinsic  # type: ignore[untyped-decorator]
def _sum_entries(
    typing_context: Any, names: Any, values: Any, places: Any, numbers: Any, entries: Any, k: Any, out: Any, p: Any,
    count: Any,
) -> Any:  # fmt: skip
    """`count` vectors out[p:] = sum over the entries (first, last) t of values[t] numbers[places[names[t]] + k:]."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code = VectorCode(context, builder)
        first, last = code.integers(cgutils.unpack_tuple(builder, arguments[4]), entries)
        shift, place, many = code.integers((arguments[5], *arguments[7:]), (k, p, count))

        def number(which: int, index: Any) -> Any:
            data = context.make_array(sig.args[which])(context, builder, arguments[which]).data
            return builder.load(builder.gep(data, [index]))

        def write(vectors: int) -> None:
            sums = code.sums(numbers, vectors)
            some = builder.if_then(builder.icmp_signed("<", first, last))
            with some, not_unrolled(builder, builder.sub(last, first)) as t:
                entry = builder.add(first, t)
                row = builder.sext(number(2, builder.sext(number(0, entry), SIZE)), SIZE)
                row, value = builder.add(row, shift), code.splat(numbers, number(1, entry))
                for c, total in enumerate(sums):
                    vector = code.load(numbers, arguments[3], builder.add(row, SIZE(c * WIDTH_64)))
                    code.add(total, value, vector)
            for c, total in enumerate(sums):
                code.store(builder.load(total), out, arguments[6], builder.add(place, SIZE(c * WIDTH_64)))

        for_each_count(builder, [many], (MOST_VECTORS,), write)
        return context.get_dummy_value()

    return types.void(names, values, places, numbers, entries, k, out, p, count), generate


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
