"""SIMD vectors as values in compiled code, each as wide as one register, with an explicit order for every sum.

Compilers vectorise a sum only if they are allowed to reorder it, and then its last bits depend on the order that the
compiler chose. Here the code itself says in which order lanes are added and which products are fused (`fma`). Code
compiled with strict floating-point rules is then just as fast, and its results are always bit-identical (R16).

    v = load(x, (i, k))      the vector x[i, k, :]; load(x, i) is x[i, :], or x[i : i + WIDTH] if x is flat
    store(x, (i, k), v)      write v to the same place
    fma(a, b, c)             a * b + c, rounded once; also works on scalars
    larger, smaller, choose  lane by lane
    splat(x, number)         a vector of the kind that x holds, with the number in all lanes
    wide(v), lane_sum(v)     v as float64; the sum of all lanes

This module defines the type and its instructions; the arithmetic operators work on two vectors of the same kind.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, models, register_model

REGISTER_BYTES: Final = 64 if llvm.get_host_cpu_features().get("avx512f") else 32
WIDTH_64: Final = REGISTER_BYTES // 8
WIDTH_32: Final = REGISTER_BYTES // 4


class Lanes(types.Type):  # type: ignore[misc]
    """The type of a vector of `width` numbers."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(name=f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, vector_type(lanes))


def width_of(dtype: Any) -> int:
    """How many numbers of this type a register holds."""
    return WIDTH_32 if dtype == types.float32 else WIDTH_64


def vector_type(lanes: Lanes) -> Any:
    """The LLVM type of a vector."""
    return ir.VectorType(ir.FloatType() if lanes.dtype == types.float32 else ir.DoubleType(), lanes.width)


def _all(lanes: Lanes, number: float) -> Any:
    return ir.Constant(vector_type(lanes), [number] * lanes.width)


def _operator(symbol: Any, instruction: str) -> None:
    @infer_global(symbol)
    class Typing(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, keywords: Any) -> Any:
            if len(arguments) == 2 and isinstance(arguments[0], Lanes) and arguments[0] == arguments[1]:
                return signature(arguments[0], *arguments)
            return None

    @lower_builtin(symbol, Lanes, Lanes)  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments)


for _symbol, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _operator(_symbol, _instruction)


# Memory


def address(context: Any, builder: Any, array_type: Any, array: Any, indices: Sequence[Any]) -> Any:
    """Address of the vector at these leading indices; in a flat array the index counts numbers, not vectors.

    The last axis of any other array is as long as a vector, which the code takes as known: neighbouring vectors are
    then addressed by constants, and loops over them need fewer registers.
    """
    made = context.make_array(array_type)(context, builder, array)
    shape = cgutils.unpack_tuple(builder, made.shape, array_type.ndim)
    if array_type.ndim > 1:
        shape[-1] = shape[-1].type(width_of(array_type.dtype))
    place = indices[0]
    for axis in range(1, array_type.ndim):
        place = builder.mul(place, shape[axis])
        if axis < len(indices):
            place = builder.add(place, indices[axis])
    return builder.bitcast(builder.gep(made.data, [place]), vector_type(lanes_in(array_type)).as_pointer())


def vector_address(context: Any, builder: Any, array_type: Any, array: Any, place: Any) -> Any:
    """Address of a vector by its number in memory."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, vector_type(lanes_in(array_type)).as_pointer()), [place])


def lanes_in(array: Any) -> Lanes:
    """The type of the vectors that are loaded from an array of this type."""
    if array.layout != "C":
        raise TypeError("vectors are loaded from contiguous arrays")
    return Lanes(array.dtype, width_of(array.dtype))


def _indices(builder: Any, index: Any, value: Any) -> Sequence[Any]:
    if isinstance(index, types.BaseTuple):
        return list(cgutils.unpack_tuple(builder, value, len(index)))
    return [value]


@intrinsic  # type: ignore[untyped-decorator]
def load(typing_context: Any, array: Any, index: Any) -> Any:
    """Load the vector at the leading indices."""
    lanes = lanes_in(array)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        places = _indices(builder, index, arguments[1])
        pointer = address(context, builder, array, arguments[0], places)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return lanes(array, index), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Store a vector at the leading indices."""
    lanes = lanes_in(array)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        places = _indices(builder, index, arguments[1])
        pointer = address(context, builder, array, arguments[0], places)
        builder.store(arguments[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, lanes), generate


# Arithmetic


def call_llvm(builder: Any, name: str, arguments: Sequence[Any]) -> Any:
    """Call an LLVM intrinsic on scalars or vectors of the same kind."""
    kind = arguments[0].type
    letter = "f32" if "float" in str(kind) else "f64"
    suffix = f"v{kind.count}{letter}" if isinstance(kind, ir.VectorType) else letter
    function_type = ir.FunctionType(kind, [kind] * len(arguments))
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.{suffix}")
    return builder.call(function, list(arguments))


@intrinsic  # type: ignore[untyped-decorator]
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once, for vectors or scalars of the same kind."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return call_llvm(builder, "fma", arguments)

    return a(a, a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def larger(typing_context: Any, a: Any, b: Any) -> Any:
    """The larger of a and b, lane by lane; b if either of them is NaN."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return a(a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing_context: Any, a: Any, b: Any) -> Any:
    """The smaller of a and b, lane by lane; b if either of them is NaN."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments), *arguments)

    return a(a, a), generate


@intrinsic  # type: ignore[untyped-decorator]
def splat(typing_context: Any, array: Any, number: Any) -> Any:
    """A vector of the kind that this array holds, with the same number in all lanes."""
    lanes = lanes_in(array)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        value = context.cast(builder, arguments[1], number, lanes.dtype)
        first = builder.insert_element(ir.Constant(vector_type(lanes), ir.Undefined), value, ir.IntType(32)(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes.width), [0] * lanes.width)
        return builder.shuffle_vector(first, first, mask)

    return lanes(array, number), generate


@intrinsic  # type: ignore[untyped-decorator]
def wide(typing_context: Any, a: Any) -> Any:
    """The vector as float64; a float32 vector then takes two registers."""
    lanes = Lanes(types.float64, a.width)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return arguments[0] if a == lanes else builder.fpext(arguments[0], vector_type(lanes))

    return lanes(a), generate


@intrinsic  # type: ignore[untyped-decorator]
def no_lanes(typing_context: Any, a: Any) -> Any:
    """A vector of zeros of the same kind."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return _all(a, 0.0)

    return a(a), generate


@intrinsic  # type: ignore[untyped-decorator]
def put(typing_context: Any, array: Any, value: Any) -> Any:
    """Write a vector, which may be wider than a register, to the start of a flat array of the same dtype."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        made = context.make_array(array)(context, builder, arguments[0])
        builder.store(arguments[1], builder.bitcast(made.data, arguments[1].type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def lane_sum(typing_context: Any, a: Any) -> Any:
    """The sum of all lanes: the second half is added to the first, until one number is left."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        parts = [builder.extract_element(arguments[0], ir.IntType(32)(lane)) for lane in range(a.width)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(x, y) for x, y in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    return a.dtype(a), generate


@intrinsic  # type: ignore[untyped-decorator]
def absolute(typing_context: Any, a: Any) -> Any:
    """Absolute values."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return call_llvm(builder, "fabs", arguments)

    return a(a), generate


@intrinsic  # type: ignore[untyped-decorator]
def where_larger(typing_context: Any, a: Any, b: Any, value: Any) -> Any:
    """`value` in lanes where a > b, else 0."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), arguments[2], _all(value, 0.0))

    return value(a, a, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def choose(typing_context: Any, a: Any, b: Any, value: Any, other: Any) -> Any:
    """`value` in lanes where a > b, else `other`."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return value(a, a, value, value), generate


@intrinsic  # type: ignore[untyped-decorator]
def mismatch(typing_context: Any, words: Any, index: Any, word: Any, value: Any) -> Any:
    """`value` in lanes where words[index : index + WIDTH] differs from `word`, else 0."""
    whole = ir.VectorType(ir.IntType(64), value.width)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        made = context.make_array(words)(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(made.data, [arguments[1]]), whole.as_pointer())
        one = builder.insert_element(ir.Constant(whole, ir.Undefined), arguments[2], ir.IntType(32)(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), value.width), [0] * value.width)
        differ = builder.icmp_unsigned("!=", builder.load(pointer, align=8), builder.shuffle_vector(one, one, mask))
        return builder.select(differ, arguments[3], _all(value, 0.0))

    return value(words, index, word, value), generate
