"""Products of large matrices, with vectors along their rows.

    out = left right,   left (n, depth), right (depth, columns)

The columns of `right` are copied, a few vectors at a time and so many rows that they stay in the first-level cache,
into a panel. A tile of results stays in registers while one panel passes by: every number of `left` serves all vectors
of the panel, every vector of the panel all rows of the tile. Each result is one chain of fused multiply-adds in the
order of the inner index, so neither tiles nor panels change its bits (R16).

Processors that a BLAS library does not know get code for older ones from it, with half of their speed.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.simd.loops import not_unrolled
from rwk.transport.cpu.simd.vectorcode import SIZE, VectorCode, for_each_count
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, WIDTH_32, WIDTH_64, lanes_in, load, splat, store, vector_type

# as many results as fit in the registers beside the factors
HALF_TILE: Final = 4 if REGISTER_BYTES == 64 else 2  # rows; a tile has twice as many, or as many at the end
VECTORS: Final = 3
PANEL_BYTES: Final = 24 * 2**10
PANEL_DEPTH: Final = PANEL_BYTES // (VECTORS * REGISTER_BYTES)


class Rows(NamedTuple):
    """A matrix inside a flat array: where it begins and how far its rows are apart."""

    memory: Any
    first: int
    down: int


@compiled_borrowing
def multiply(left: Rows, right: Rows, scale: float, out: Rows, shape: Any, fresh: bool, panel: Any) -> None:
    """Fill `out` with scale left right, or add that to it if it is not `fresh`; `shape` is (n, depth, columns).

    Rows of `out` are padded to whole vectors, which get zeros; those of `right` need not be.
    """
    n, depth, columns = shape
    width = WIDTH_32 if panel.itemsize == 4 else WIDTH_64
    vectors = (columns + width - 1) // width
    for first in range(0, depth, PANEL_DEPTH):
        count = min(PANEL_DEPTH, depth - first)
        for v in range(0, vectors, VECTORS):
            across = min(VECTORS, vectors - v)
            _pack(right, scale, first, count, v * width, columns, across * width, panel)
            for i in range(0, n, 2 * HALF_TILE):
                halves = 2 if n - i > HALF_TILE else 1
                begins = fresh and first == 0
                source = (left.first + first, left.down, i, n - 1)
                place = (out.first + v * width, out.down)
                panel_tile(left.memory, source, panel, count, out.memory, place, begins, (halves, across))


@compiled_borrowing
def _pack(
    right: Rows, scale: float, first: int, count: int, column: int, columns: int, length: int, panel: Any
) -> None:
    """Copy `count` rows of some columns to the panel, times `scale`, with zeros after the last column."""
    width = WIDTH_32 if panel.itemsize == 4 else WIDTH_64
    factor, number = splat(panel, scale), panel.dtype.type(scale)
    known = min(length, columns - column)
    whole = known // width * width
    for j in range(count):
        source, place = right.first + (first + j) * right.down + column, j * length
        for k in range(0, whole, width):
            store(panel, place + k, factor * load(right.memory, source + k))
        for k in range(whole, length):
            panel[place + k] = number * right.memory[source + k] if k < known else panel.dtype.type(0)


@intrinsic  # type: ignore[untyped-decorator]
def panel_tile(
    typing_context: Any,
    left: Any,
    source: Any,
    panel: Any,
    depth: Any,
    out: Any,
    place: Any,
    fresh: Any,
    counts: Any,
) -> Any:
    """out[i + r] = sum over j < depth of left[i + r, j] panel[j], for the rows of a tile; added to it unless `fresh`.

    `source` is (first, down, i, last): where `left` begins, how far its rows are apart, the first row and the last one
    that there is: rows beyond it are computed as that one. `place` is the same for `out`, whose rows are those of
    `left`. `counts` are half tiles and vectors.
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, kind = VectorCode(context, builder), vector_type(lanes_in(panel))
        first, down, row, last = code.integers(cgutils.unpack_tuple(builder, arguments[1]), source)
        out_first, out_down = code.integers(cgutils.unpack_tuple(builder, arguments[5]), place)
        inner, halves, across = code.integers(
            [arguments[3], *cgutils.unpack_tuple(builder, arguments[7])], [depth, *counts]
        )
        data, packed, results = (
            context.make_array(of)(context, builder, value).data
            for of, value in ((left, arguments[0]), (panel, arguments[2]), (out, arguments[4]))
        )
        width, align = lanes_in(panel).width, panel.dtype.bitwidth // 8
        nought = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)

        def everywhere(number: Any) -> Any:
            one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.IntType(32)(0))
            return builder.shuffle_vector(one, one, nought)

        def vector_at(memory: Any, index: Any) -> Any:
            return builder.bitcast(builder.gep(memory, [index]), kind.as_pointer())

        def tile(n_halves: int, n_vectors: int) -> None:
            rows = []
            for r in code.after(row, n_halves * HALF_TILE):
                rows.append(builder.select(builder.icmp_signed("<", r, last), r, last))
            begins = [builder.gep(data, [builder.add(first, builder.mul(r, down))]) for r in rows]
            places = [
                vector_at(results, builder.add(builder.add(out_first, builder.mul(r, out_down)), SIZE(v * width)))
                for r in rows
                for v in range(n_vectors)
            ]
            sums = code.sums(panel, len(places))
            with builder.if_then(builder.not_(builder.trunc(arguments[6], ir.IntType(1)))):
                for total, known in zip(sums, places, strict=True):
                    builder.store(builder.load(known, align=align), total)
            with not_unrolled(builder, inner) as j:
                start = builder.mul(j, SIZE(n_vectors * width))
                vectors = [
                    builder.load(vector_at(packed, builder.add(start, SIZE(v * width))), align=align)
                    for v in range(n_vectors)
                ]
                for r, begin in enumerate(begins):
                    number = everywhere(builder.load(builder.gep(begin, [j])))
                    for v, vector in enumerate(vectors):
                        code.add(sums[r * n_vectors + v], number, vector)
            for total, known in zip(sums, places, strict=True):
                builder.store(builder.load(total), known, align=align)

        for_each_count(builder, [halves, across], (2, VECTORS), tile)
        return context.get_dummy_value()

    return types.void(left, source, panel, depth, out, place, fresh, counts), generate
