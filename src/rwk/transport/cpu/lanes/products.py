"""Products of small matrices in all lanes at once: the inner loops of the solver.

A matrix is an array (rows, columns, lanes). A product computes tiles of ROWS x COLUMNS results that stay in registers,
so each loaded vector serves several of them. Every result is one chain of fused multiply-adds in the order of the inner
index: neither the tiling nor padding at the end changes its bits (R16). Products with one vector take up to BLOCK rows
at a time: few enough that their entries are still in the first-level cache when they are read again. Tiles at the
borders have code of their own for every number of rows and columns (`for_each_count`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.simd.vectormath import divide
from rwk.transport.cpu.simd.vectors import address, call_llvm, lanes_in, vector_type
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64

# as many results as fit in the registers beside the factors
ROWS: Final = 4
COLUMNS: Final = 4 if llvm.get_host_cpu_features().get("avx512f") else 2
BLOCK: Final = 4

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


def _not_unrolled(module: Any) -> Any:
    """Metadata of one loop: a node whose first operand is itself, as LLVM wants it."""
    advice = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    node = ir.values.MDValue(module, (), name=str(len(module.metadata)))
    node.operands = (node, advice)
    return node


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

    @contextmanager
    def each(self, count: Any) -> Iterator[Any]:
        """A loop over 0, 1, ..., count - 1, at least once, which LLVM does not unroll: the code for what is left over
        would be run as often, since few loops have more than twenty rounds."""
        builder, before = self.builder, self.builder.block
        body, after = builder.append_basic_block("each"), builder.append_basic_block("done")
        builder.branch(body)
        builder.position_at_end(body)
        index = builder.phi(SIZE)
        yield index
        following = builder.add(index, SIZE(1))
        index.add_incoming(SIZE(0), before)
        index.add_incoming(following, builder.block)
        again = builder.cbranch(builder.icmp_signed("<", following, count), body, after)
        again.set_metadata("llvm.loop", _not_unrolled(builder.module))
        builder.position_at_end(after)

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
            with code.each(inner) as j:
                lefts = [code.load(left, x, row, j) for row in down]
                rights = [code.load(right, y, j, column) for column in across]
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
    for i in range(0, n if depth else 0, ROWS):
        for k in range(0, m, COLUMNS):
            tile_product(left, right, out, i, k, depth, min(ROWS, n - i), min(COLUMNS, m - k))


@intrinsic  # type: ignore[untyped-decorator]
def scale_rows(
    typing_context: Any, masses: Any, matrix: Any, vector: Any, scales: Any, out: Any, i: Any, m: Any, rows: Any
) -> Any:
    """Half a Sinkhorn round on `rows` rows from i on, over their m columns.

    scales[r] = masses[r] / sum over k of matrix[r, k] vector[k], then out[k] += sum over r of scales[r] matrix[r, k].
    Each sum is one chain of additions.
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, (w, x, y, u, z) = _VectorCode(context, builder), arguments[:5]
        first_row, columns, count = code.integers(arguments[5:], sig.args[5:])
        lanes = lanes_in(matrix)
        tiny = ir.Constant(vector_type(lanes), [TINY_32 if lanes.dtype == types.float32 else TINY_64] * lanes.width)

        def block(height: int) -> None:
            down, sums = code.after(first_row, height), code.sums(matrix, height)
            with code.each(columns) as k:
                factor = code.load(vector, y, k)
                for place, row in zip(sums, down, strict=True):
                    code.add(place, code.load(matrix, x, row, k), factor)
            factors = []
            for place, row in zip(sums, down, strict=True):
                total = builder.load(place)
                total = builder.select(builder.fcmp_ordered(">", total, tiny), total, tiny)
                factors.append(divide(builder, lanes, code.load(masses, w, row), total))
                code.store(factors[-1], scales, u, row)
            with code.each(columns) as k:
                total = code.load(out, z, k)
                for factor, row in zip(factors, down, strict=True):
                    total = call_llvm(builder, "fma", (factor, code.load(matrix, x, row, k), total))
                code.store(total, out, z, k)

        for_each_count(builder, [count], (BLOCK,), block)
        return context.get_dummy_value()

    return types.void(masses, matrix, vector, scales, out, i, m, rows), generate
