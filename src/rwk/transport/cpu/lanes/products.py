"""Products of small matrices in all lanes at once: the inner loops of the solver.

A matrix is an array (rows, columns, lanes). A product computes tiles of ROWS x COLUMNS results that stay in registers,
so each loaded vector serves several of them. Every result is one chain of fused multiply-adds in the order of the inner
index: neither the tiling nor padding at the end changes its bits (R16). Tiles at the borders have code of their own for
every number of rows and columns (`for_each_count`). Sinkhorn's rounds take two blocks of up to BLOCK rows at a time:
few enough that their entries are still in the first-level cache when they are read again.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.simd.loops import not_unrolled
from rwk.transport.cpu.simd.vectorcode import SIZE, VectorCode, for_each_count
from rwk.transport.cpu.simd.vectormath import divide
from rwk.transport.cpu.simd.vectors import call_llvm, lanes_in, splat, vector_type
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64

# as many results as fit in the registers beside the factors
ROWS: Final = 4
COLUMNS: Final = 4 if llvm.get_host_cpu_features().get("avx512f") else 2
BLOCK: Final = 4


class View(NamedTuple):
    """A matrix of vectors inside an array (rows, columns, lanes): where it begins and how far its entries are apart.

    Places are counted in vectors, so `View(x, 0, x.shape[1], 1)` is x itself and `View(x, 0, 1, x.shape[1])` its
    transpose.
    """

    memory: Any
    first: int
    down: int  # from one row to the next
    across: int  # from one column to the next


@intrinsic  # type: ignore[untyped-decorator]
def tile_product(
    typing_context: Any, left: Any, right: Any, out: Any, base: Any, scale: Any, i: Any, k: Any, counts: Any
) -> Any:
    """out[i + r, k + c] = sum over j < depth of left[i + r, j] right[j, k + c], for r < rows and c < columns.

    `left`, `right` and `out` are `View`s, and `counts` is (depth, rows, columns). The sum starts from scale * base,
    also a view, or from 0 if `base` is None.
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code = VectorCode(context, builder)
        x, y, z = (code.view(kind, value) for kind, value in zip(sig.args[:3], arguments[:3], strict=True))
        start = None if isinstance(base, types.NoneType) else code.view(base, arguments[3])
        first_row, first_column = code.integers(arguments[5:7], sig.args[5:7])
        inner, *most = code.integers(cgutils.unpack_tuple(builder, arguments[7]), counts)

        def tile(height: int, width: int) -> None:
            down, across = code.after(first_row, height), code.after(first_column, width)
            places = [(row, column) for row in down for column in across]
            sums = code.sums(x.kind, height * width)
            if start is not None:
                for place, (row, column) in zip(sums, places, strict=True):
                    builder.store(builder.fmul(arguments[4], start.load(row, column)), place)
            with not_unrolled(builder, inner) as j:
                lefts = [x.load(row, j) for row in down]
                rights = [y.load(j, column) for column in across]
                for p, place in enumerate(sums):
                    code.add(place, lefts[p // width], rights[p % width])
            for place, (row, column) in zip(sums, places, strict=True):
                z.store(builder.load(place), row, column)

        for_each_count(builder, most, (ROWS, COLUMNS), tile)
        return context.get_dummy_value()

    return types.void(left, right, out, base, scale, i, k, counts), generate


@compiled_borrowing
def multiply(left: View, right: View, out: View, n: int, depth: int, m: int) -> None:
    """out[:n, :m] = left[:n, :depth] right[:depth, :m]; the depth is not 0."""
    for i in range(0, n, ROWS):
        for k in range(0, m, COLUMNS):
            tile_product(left, right, out, None, None, i, k, (depth, min(ROWS, n - i), min(COLUMNS, m - k)))


@compiled_borrowing
def multiply_onto(base: View, scale: float, left: View, right: View, out: View, n: int, depth: int, m: int) -> None:
    """out[:n, :m] = scale * base[:n, :m] + left[:n, :depth] right[:depth, :m]; the depth is not 0."""
    factor = splat(base.memory, scale)
    for i in range(0, n, ROWS):
        for k in range(0, m, COLUMNS):
            tile_product(left, right, out, base, factor, i, k, (depth, min(ROWS, n - i), min(COLUMNS, m - k)))


@intrinsic  # type: ignore[untyped-decorator]
def half_round(
    typing_context: Any, pair: Any, matrix: Any, u: Any, v: Any, sums: Any, m: Any, known: Any, wanted: Any, turns: Any
) -> Any:
    """One loop over m columns that serves two blocks of rows in the order of Sinkhorn's rounds.

    `known` and `wanted` are blocks of rows: the first, the step to the next, and how many, up to BLOCK. The rows that
    are known have their u; they are added to the sums K^T u. The rows that are wanted get theirs, u = mu / K v. If the
    round `turns` in between, all sums are complete: they give the next v = nu / K^T u and start again from 0. `pair` is
    (mu, nu).

    There is code for blocks of BLOCK rows and of one less. In smaller ones the last row stands in for those that are
    missing: its u is computed again, and added no more than once.

    Each block alone would wait for its own sums, of which there are too few to keep the processor busy.
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (weights, x, scales, factors, totals) = VectorCode(context, builder), arguments[:5]
        mu, nu = cgutils.unpack_tuple(builder, weights)
        columns, turn = code.integers((arguments[5], arguments[8]), (m, turns))
        known_rows, many_known = code.rows_of(known, arguments[6])
        wanted_rows, many_wanted = code.rows_of(wanted, arguments[7])
        lanes = lanes_in(matrix)
        tiny = ir.Constant(vector_type(lanes), [TINY_32 if lanes.dtype == types.float32 else TINY_64] * lanes.width)

        def share(mass: Any, total: Any) -> Any:
            return divide(builder, lanes, mass, builder.select(builder.fcmp_ordered(">", total, tiny), total, tiny))

        def loop(old: int, new: int, turning: bool) -> None:
            above, below = known_rows(old), wanted_rows(new)
            nothing, places = ir.Constant(vector_type(lanes), None), code.sums(matrix, new)
            scale = [
                builder.select(builder.icmp_signed("<", SIZE(c), many_known), code.load(u, scales, row), nothing)
                for c, row in enumerate(above)
            ]
            with not_unrolled(builder, columns) as k:

                def add_wanted(factor: Any) -> None:
                    for place, row in zip(places, below, strict=True):
                        code.add(place, code.load(matrix, x, row, k), factor)

                if not turning:
                    add_wanted(code.load(v, factors, k))
                total = code.load(sums, totals, k)
                for factor, row in zip(scale, above, strict=True):
                    total = call_llvm(builder, "fma", (factor, code.load(matrix, x, row, k), total))
                code.store(nothing if turning else total, sums, totals, k)
                if turning:
                    factor = share(code.load(pair[1], nu, k), total)
                    code.store(factor, v, factors, k)
                    add_wanted(factor)
            for place, row in zip(places, below, strict=True):
                code.store(share(code.load(pair[0], mu, row), builder.load(place)), u, scales, row)

        def full(count: Any) -> Any:
            return builder.zext(builder.icmp_signed("==", count, SIZE(BLOCK)), SIZE)

        def loops(turning: bool) -> None:
            counts = [builder.add(full(count), SIZE(1)) for count in (many_known, many_wanted)]
            for_each_count(
                builder, counts, (2, 2), lambda old, new: loop(BLOCK - 2 + old, BLOCK - 2 + new, turning)
            )  # fmt: skip

        with builder.if_else(builder.icmp_signed("==", turn, SIZE(0))) as (straight, around):
            with straight:
                loops(turning=False)
            with around:
                loops(turning=True)
        return context.get_dummy_value()

    return types.void(pair, matrix, u, v, sums, m, known, wanted, turns), generate
