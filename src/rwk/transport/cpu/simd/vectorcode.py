"""Writing the instructions of inner loops: vectors by address, sums in registers, and code for every small count."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils

from rwk.transport.cpu.simd.vectors import address, call_llvm, lanes_in, vector_address, vector_type

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


class VectorCode:
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

    def view(self, kind: Any, value: Any) -> _ViewCode:
        """Loads and stores of a `View`."""
        memory, *numbers = cgutils.unpack_tuple(self.builder, value)
        return _ViewCode(self, kind[0], memory, *self.integers(numbers, kind.types[1:]))

    def after(self, first: Any, count: int) -> list[Any]:
        """first, first + 1, ..., `count` of them."""
        return [self.builder.add(first, SIZE(c)) for c in range(count)]

    def rows_of(self, kind: Any, block: Any) -> tuple[Callable[[int], list[Any]], Any]:
        """The first so many rows of a block (first, step, count), its last or first in place of any more; its count."""
        builder = self.builder
        first, step, count = self.integers(cgutils.unpack_tuple(builder, block), kind)

        last = builder.select(builder.icmp_signed(">", count, SIZE(0)), builder.sub(count, SIZE(1)), SIZE(0))

        def row(c: int) -> Any:
            inside = builder.icmp_signed("<", SIZE(c), count)
            return builder.add(first, builder.mul(step, builder.select(inside, SIZE(c), last)))

        return lambda many: [row(c) for c in range(many)], count

    def splat(self, kind: Any, number: Any) -> Any:
        """A vector of the kind that an array holds, with the same number in all lanes."""
        vector, nowhere = vector_type(lanes_in(kind)), ir.IntType(32)
        first = self.builder.insert_element(ir.Constant(vector, ir.Undefined), number, nowhere(0))
        return self.builder.shuffle_vector(
            first, first, ir.Constant(ir.VectorType(nowhere, vector.count), [0] * vector.count)
        )

    def sums(self, kind: Any, count: int) -> list[Any]:
        """Variables for sums, all zero."""
        places = [cgutils.alloca_once(self.builder, vector_type(lanes_in(kind))) for _ in range(count)]
        for place in places:
            self.builder.store(ir.Constant(vector_type(lanes_in(kind)), None), place)
        return places

    def add(self, place: Any, a: Any, b: Any) -> None:
        """Add a b to a sum, rounded once."""
        self.builder.store(call_llvm(self.builder, "fma", (a, b, self.builder.load(place))), place)


class _ViewCode(NamedTuple):
    """Emits loads and stores of the vectors of a `View`."""

    code: VectorCode
    kind: Any
    memory: Any
    first: Any
    down: Any
    across: Any

    def place(self, row: Any, column: Any) -> Any:
        """The address of the vector at a row and a column."""
        builder = self.code.builder
        there = builder.add(builder.mul(row, self.down), builder.mul(column, self.across))
        return vector_address(self.code.context, builder, self.kind, self.memory, builder.add(self.first, there))

    def load(self, row: Any, column: Any) -> Any:
        return self.code.builder.load(self.place(row, column), align=self.kind.dtype.bitwidth // 8)

    def store(self, value: Any, row: Any, column: Any) -> None:
        self.code.builder.store(value, self.place(row, column), align=self.kind.dtype.bitwidth // 8)
