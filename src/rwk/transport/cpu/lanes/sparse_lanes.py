"""Sparse matrices side by side: the Laplacians of the pairs in all lanes.

Each lane has entries at places of its own. Products visit the places at which any lane has one, in the order of the
columns; where a lane has none its entry is 0, which changes no bit of its sums (R16).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.products import View
from rwk.transport.cpu.simd.vectorcode import SIZE, VectorCode, for_each_count

WORD: Final = 64  # bits
MOST_COLUMNS: Final = 8  # of the dense factor that a product takes at a time


class SparseLanes(NamedTuple):
    """Square matrices of all lanes."""

    values: Any  # (n, n, lanes)
    places: Any  # (n, words, lanes) at which columns the row of each lane has entries, one bit per column
    used: Any  # (n, words) at which columns any lane has one


def empty_sparse(values: Any) -> SparseLanes:
    """No entries, in zeroed memory for the values."""
    n, _, lanes = values.shape
    words = (n + WORD - 1) // WORD
    return SparseLanes(values, np.zeros((n, words, lanes), np.uint64), np.zeros((n, words), np.uint64))


@compiled_borrowing
def enter_sparse(matrix: SparseLanes, entries: Any, old: Any, new: Any, weight: float, lane: int) -> None:
    """In one lane, `weight` times a new matrix in place of an old one.

    Either is given by its first row in the packed `entries` and the row after its last; the old one may have no rows.
    """
    rows, columns, values = entries
    places, one = matrix.places, np.uint64(1)
    for i in range(old[1] - old[0]):
        for w in range(places.shape[1]):
            places[i, w, lane] = np.uint64(0)
        for p in range(rows[old[0] + i], rows[old[0] + i + 1]):
            matrix.values[i, columns[p], lane] = 0.0
    for i in range(new[1] - new[0]):
        for p in range(rows[new[0] + i], rows[new[0] + i + 1]):
            j = columns[p]
            matrix.values[i, j, lane] = weight * np.float64(values[p])
            places[i, j // WORD, lane] |= one << np.uint64(j % WORD)
    for i in range(max(old[1] - old[0], new[1] - new[0])):
        for w in range(places.shape[1]):
            anywhere = np.uint64(0)
            for other in range(places.shape[2]):
                anywhere |= places[i, w, other]
            matrix.used[i, w] = anywhere


@compiled_borrowing
def sparse_multiply(matrix: SparseLanes, dense: Any, out: View, n: int, width: int) -> None:
    """out[:n, :width] = matrix[:n] dense[:, :width]."""
    for i in range(n):
        for c in range(0, width, MOST_COLUMNS):
            sparse_row(matrix.values, matrix.used, dense, out, i, c, min(width - c, MOST_COLUMNS))


@intrinsic  # type: ignore[untyped-decorator]
def sparse_row(typing_context: Any, values: Any, used: Any, dense: Any, out: Any, i: Any, c: Any, width: Any) -> Any:
    """Row i of the product, in columns c, ..., c + width - 1."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (x, bits, y) = VectorCode(context, builder), arguments[:3]
        z = code.view(out, arguments[3])
        row, first, count = code.integers(arguments[4:], sig.args[4:])
        made = context.make_array(used)(context, builder, bits)
        words = builder.extract_value(made.shape, 1)
        begin = builder.mul(row, words)

        def write(height: int) -> None:
            across, sums = code.after(first, height), code.sums(dense, height)
            with cgutils.for_range(builder, words) as loop:
                word = builder.load(builder.gep(made.data, [builder.add(begin, loop.index)]))
                with builder.if_then(builder.icmp_unsigned("!=", word, SIZE(0))), _each_bit(builder, word) as bit:
                    j = builder.add(builder.mul(loop.index, SIZE(WORD)), bit)
                    entry = code.load(values, x, row, j)
                    for place, column in zip(sums, across, strict=True):
                        code.add(place, entry, code.load(dense, y, j, column))
            for place, column in zip(sums, across, strict=True):
                z.store(builder.load(place), row, column)

        for_each_count(builder, [count], (MOST_COLUMNS,), write)
        return context.get_dummy_value()

    return types.void(values, used, dense, out, i, c, width), generate


@contextmanager
def _each_bit(builder: Any, word: Any) -> Iterator[Any]:
    """A loop over the places of the bits that are set in a word, from the lowest on; at least one is."""
    before, body, after = builder.block, builder.append_basic_block("bit"), builder.append_basic_block("bits")
    builder.branch(body)
    builder.position_at_end(body)
    left = builder.phi(SIZE)
    yield builder.cttz(left, ir.IntType(1)(1))
    rest = builder.and_(left, builder.sub(left, SIZE(1)))
    left.add_incoming(word, before)
    left.add_incoming(rest, builder.block)
    builder.cbranch(builder.icmp_unsigned("!=", rest, SIZE(0)), body, after)
    builder.position_at_end(after)
