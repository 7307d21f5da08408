"""Products of small matrices in all lanes at once: the inner loops of the solver.

A matrix is an array (rows, columns, lanes). A product computes tiles of ROWS x COLUMNS results that stay in registers,
so each loaded vector serves several of them. Every result is one chain of fused multiply-adds in the order of the inner
index: neither the tiling nor padding at the end changes its bits (R16). Products with one vector take BLOCK rows at a
time. Tiles at the borders have code of their own for every number of rows and columns (`for_each_count`).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.simd.vectors import address, call_llvm, lanes_in, vector_type

# as many results as fit in the registers beside the factors
ROWS: Final = 4
COLUMNS: Final = 4 if llvm.get_host_cpu_features().get("avx512f") else 2
BLOCK: Final = 8 if llvm.get_host_cpu_features().get("avx512f") else 4

SIZE: Final = ir.IntType(64)


def for_each_count(builder: Any, counts: Any, most: tuple[int, ...], write: Callable[..., None]) -> None:
    """Emit the code of `write` for every combination of counts from 1 to `most`, and a jump to the right one."""
    which, after = SIZE(0), builder.append_basic_block("after")
    for count, largest in zip(counts, most, strict=True):
        which = builder.add(builder.mul(which, SIZE(largest + 1)), count)
    cases = builder.switch(which, after)
    for known in product(*(range(1, largest + 1) for largest in most)):
        number, block = 0, builder.append_basic_block("case")
        for count, largest in zip(known, most, strict=True):
            number = number * (largest + 1) + count
        cases.add_case(SIZE(number), block)
        builder.position_at_end(block)
        write(*known)
        builder.branch(after)
    builder.position_at_end(after)


class _VectorCode:
    """Emits loads and stores of vectors, and sums that stay in registers."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def integers(self, values: Any, kinds: Any) -> list[Any]:
        """Integers of any kind as 64-bit ones."""
        pairs = zip(values, kinds, strict=True)
        return [self.context.cast(self.builder, value, kind, types.int64) for value, kind in pairs]

    def load(self, kind: Any, array: Any, *indices: Any) -> Any:
        """The vector at the leading indices."""
        place = address(self.context, self.builder, kind, array, indices)
        return self.builder.load(place, align=kind.dtype.bitwidth // 8)

    def store(self, value: Any, kind: Any, array: Any, *indices: Any) -> None:
        """Put a vector at the leading indices."""
        place = address(self.context, self.builder, kind, array, indices)
        self.builder.store(value, place, align=kind.dtype.bitwidth // 8)

    def after(self, first: Any, count: int) -> list[Any]:
        """first, first + 1, ..., `count` of them."""
        return [self.builder.add(first, SIZE(c)) for c in range(count)]

    def sums(self, kind: Any, count: int) -> list[Any]:
        """Variables for sums, all zero."""
        places = [cgutils.alloca_once(self.builder, vector_type(lanes_in(kind))) for _ in range(count)]
        for place in places:
            self.builder.store(ir.Constant(vector_type(lanes_in(kind)), None), place)
        return places

    def add(self, place: Any, a: Any, b: Any) -> None:
        """Add a b to a sum, rounded once."""
        self.builder.store(call_llvm(self.builder, "fma", (a, b, self.builder.load(place))), place)


@intrinsic  # type: ignore[untyped-decorator]
def tile_product(
    typing_context: Any, left: Any, right: Any, out: Any, i: Any, k: Any, depth: Any, rows: Any, columns: Any
) -> Any:
    """out[i + r, k + c] += sum over j < depth of left[i + r, j] * right[j, k + c], for r < rows and c < columns."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (x, y, z) = _VectorCode(context, builder), arguments[:3]
        first_row, first_column, inner, *counts = code.integers(arguments[3:], sig.args[3:])

        def tile(height: int, width: int) -> None:
            down, across = code.after(first_row, height), code.after(first_column, width)
            sums = code.sums(out, height * width)
            for p, place in enumerate(sums):
                builder.store(code.load(out, z, down[p // width], across[p % width]), place)
            with cgutils.for_range(builder, inner) as loop:
                lefts = [code.load(left, x, row, loop.index) for row in down]
                rights = [code.load(right, y, loop.index, column) for column in across]
                for p, place in enumerate(sums):
                    code.add(place, lefts[p // width], rights[p % width])
            for p, place in enumerate(sums):
                code.store(builder.load(place), out, z, down[p // width], across[p % width])

        for_each_count(builder, counts, (ROWS, COLUMNS), tile)
        return context.get_dummy_value()

    return types.void(left, right, out, i, k, depth, rows, columns), generate


@compiled_borrowing
def add_product(left: Any, right: Any, out: Any, n: int, depth: int, m: int) -> None:
    """out[:n, :m] += left[:n, :depth] right[:depth, :m]."""
    for i in range(0, n, ROWS):
        for k in range(0, m, COLUMNS):
            tile_product(left, right, out, i, k, depth, min(ROWS, n - i), min(COLUMNS, m - k))


@intrinsic  # type: ignore[untyped-decorator]
def row_sums(typing_context: Any, matrix: Any, vector: Any, out: Any, i: Any, m: Any, rows: Any) -> Any:
    """out[i + r] = sum over k < m of matrix[i + r, k] vector[k], for r < rows.

    Even and odd columns are summed separately, so that twice as many chains of additions run in parallel.
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (x, y, z) = _VectorCode(context, builder), arguments[:3]
        first_row, columns, count = code.integers(arguments[3:], sig.args[3:])

        def block(height: int) -> None:
            down = code.after(first_row, height)
            even, odd = code.sums(out, height), code.sums(out, height)

            def add_column(sums: list[Any], column: Any) -> None:
                factor = code.load(vector, y, column)
                for place, row in zip(sums, down, strict=True):
                    code.add(place, code.load(matrix, x, row, column), factor)

            with cgutils.for_range(builder, builder.lshr(columns, SIZE(1))) as loop:
                first = builder.shl(loop.index, SIZE(1))
                add_column(even, first)
                add_column(odd, builder.add(first, SIZE(1)))
            with builder.if_then(builder.trunc(columns, ir.IntType(1))):
                add_column(even, builder.sub(columns, SIZE(1)))
            for row, a, b in zip(down, even, odd, strict=True):
                code.store(builder.fadd(builder.load(a), builder.load(b)), out, z, row)

        for_each_count(builder, [count], (BLOCK,), block)
        return context.get_dummy_value()

    return types.void(matrix, vector, out, i, m, rows), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_rows(typing_context: Any, weights: Any, matrix: Any, out: Any, i: Any, m: Any, rows: Any) -> Any:
    """out[k] += sum over r < rows of weights[i + r] matrix[i + r, k], for k < m, one chain of additions each."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (x, y, z) = _VectorCode(context, builder), arguments[:3]
        first_row, columns, count = code.integers(arguments[3:], sig.args[3:])

        def block(height: int) -> None:
            down = code.after(first_row, height)
            factors = [code.load(weights, x, row) for row in down]
            with cgutils.for_range(builder, columns) as loop:
                total = code.load(out, z, loop.index)
                for factor, row in zip(factors, down, strict=True):
                    total = call_llvm(builder, "fma", (factor, code.load(matrix, y, row, loop.index), total))
                code.store(total, out, z, loop.index)

        for_each_count(builder, [count], (BLOCK,), block)
        return context.get_dummy_value()

    return types.void(weights, matrix, out, i, m, rows), generate
