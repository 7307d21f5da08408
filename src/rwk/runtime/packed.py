"""Records that compiled functions pass on by their address.

Compiled code passes a record field by field, hundreds of numbers for one with many arrays, on every call. If a function
is called often, its caller packs them once instead: `packed` puts them into the caller's own memory, and the function
called reads from there what it uses. The address is good until the caller returns.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model


class Packed(types.Type):  # type: ignore[misc]
    """The type of the address of a value of another type."""

    def __init__(self, content: Any) -> None:
        self.content = content
        super().__init__(name=f"Packed({content})")


@register_model(Packed)
class _PackedModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, packed: Packed) -> None:
        super().__init__(manager, packed, ir.IntType(8).as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def packed(typing_context: Any, content: Any) -> Any:
    """The address of a copy of a value, which lives until the function that calls this returns."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, arguments[0].type)
        builder.store(arguments[0], place)
        return builder.bitcast(place, ir.IntType(8).as_pointer())

    return Packed(content)(content), generate


@intrinsic  # type: ignore[untyped-decorator]
def unpacked(typing_context: Any, address: Any) -> Any:
    """The value at an address; only those of its fields are read that are used."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kind = context.get_value_type(address.content)
        return _fields(builder, kind, builder.bitcast(arguments[0], kind.as_pointer()))

    return address.content(address), generate


def _fields(builder: Any, kind: Any, place: Any) -> Any:
    """Load a value number by number: LLVM drops what nobody uses, but not a part of one large load."""
    if not isinstance(kind, ir.LiteralStructType | ir.ArrayType):
        return builder.load(place)
    value = ir.Constant(kind, ir.Undefined)
    parts = kind.elements if isinstance(kind, ir.LiteralStructType) else [kind.element] * kind.count
    for field, part in enumerate(parts):
        there = builder.gep(place, [ir.IntType(32)(0), ir.IntType(32)(field)], inbounds=True)
        value = builder.insert_value(value, _fields(builder, part, there), field)
    return value
