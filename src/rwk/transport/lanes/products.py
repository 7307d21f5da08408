"""Products of small matrices, a register's worth of pairs at a time.

A matrix of a group is an array (rows, columns, WIDTH): entry [i, k] is a vector, one lane a pair. A product computes
tiles of ROWS x COLUMNS results that stay in registers, so each loaded vector serves several of them. Every result is
one chain of fused multiply-adds in the order of the inner index: neither the tiling nor zeros at the end change it.
"""

from __future__ import annotations

from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.transport.compiling import compiled_borrowing
from rwk.transport.vectors import address, call_llvm, lanes_in, vector_type

# as many results as fit in the registers, with room for what is multiplied
ROWS: Final = 4
COLUMNS: Final = 4 if llvm.get_host_cpu_features().get("avx512f") else 2


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def tile_product(
    typing_context: Any,
    left: Any,
    right: Any,
    out: Any,
    i: Any,
    k: Any,
    depth: Any,
    rows: Any,
    columns: Any,
) -> Any:
    """out[i + r, k + c] += sum over j < depth of left[i + r, j] * right[j, k + c], for r < rows and c < columns.

    The last two are constants of the code.
    """
    n_rows, n_columns = rows.literal_value, columns.literal_value
    size = ir.IntType(64)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        numbers = zip(arguments[3:6], (i, k, depth), strict=True)
        first_row, first_column, inner = (context.cast(builder, *number, types.int64) for number in numbers)

        def pointer(kind: Any, array: Any, row: Any, column: Any) -> Any:
            return address(context, builder, kind, array, (row, column))

        def load(kind: Any, array: Any, row: Any, column: Any) -> Any:
            return builder.load(pointer(kind, array, row, column), align=kind.dtype.bitwidth // 8)

        down = [builder.add(first_row, size(r)) for r in range(n_rows)]
        across = [builder.add(first_column, size(c)) for c in range(n_columns)]
        sums = [cgutils.alloca_once(builder, vector_type(lanes_in(out))) for _ in range(n_rows * n_columns)]
        for p, place in enumerate(sums):
            builder.store(load(out, arguments[2], down[p // n_columns], across[p % n_columns]), place)
        with cgutils.for_range(builder, inner) as loop:
            lefts = [load(left, arguments[0], row, loop.index) for row in down]
            rights = [load(right, arguments[1], loop.index, column) for column in across]
            for p, place in enumerate(sums):
                factors = lefts[p // n_columns], rights[p % n_columns]
                builder.store(call_llvm(builder, "fma", (*factors, builder.load(place))), place)
        for p, place in enumerate(sums):
            where = pointer(out, arguments[2], down[p // n_columns], across[p % n_columns])
            builder.store(builder.load(place), where, align=out.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(left, right, out, i, k, depth, rows, columns), generate


@compiled_borrowing
def add_product(left: Any, right: Any, out: Any, n: int, depth: int, m: int) -> None:
    """out[:n, :m] += left[:n, :depth] right[:depth, :m]."""
    i = 0
    while i + ROWS <= n:
        k = 0
        while k + COLUMNS <= m:
            tile_product(left, right, out, i, k, depth, ROWS, COLUMNS)
            k += COLUMNS
        while k < m:
            tile_product(left, right, out, i, k, depth, ROWS, 1)
            k += 1
        i += ROWS
    while i < n:
        k = 0
        while k + COLUMNS <= m:
            tile_product(left, right, out, i, k, depth, 1, COLUMNS)
            k += COLUMNS
        while k < m:
            tile_product(left, right, out, i, k, depth, 1, 1)
            k += 1
        i += 1
