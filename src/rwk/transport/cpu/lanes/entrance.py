"""The door between the two halves of the solver body that are compiled apart: `enter`, and the loop that calls it.

Each half takes as long to compile as the other. The loop knows `enter` only by an address, so one process can compile
the loop while another compiles `enter` (../ahead.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import typeof, types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.runtime.compiling import address_of
from rwk.runtime.packed import Packed
from rwk.transport.cpu.lanes.entering import enter
from rwk.transport.cpu.lanes.lane_data import LaneMemory

_known: dict[Any, int] = {}  # addresses of `enter`, by what it is compiled for


def entrance_for(measures: Any, weights: Any, memory: LaneMemory) -> int:
    """The address of `enter` for these measures and this memory; it is compiled if need be."""
    kind = memory.here.gamma.dtype, *map(type, weights), *map(_kind, measures)
    if kind not in _known:
        records = measures, weights, memory.contents, memory.here, memory.scratch
        _known[kind] = address_of(enter, Packed(typeof(records)), types.int64, types.int64, types.int64)
    return _known[kind]


def _kind(field: Any) -> Any:
    """What numba's type of a field depends on."""
    return (field.dtype, field.flags.num) if isinstance(field, np.ndarray) else type(field)


@intrinsic  # type: ignore[untyped-decorator]
def enter_at(typing_context: Any, address: Any, records: Any, a: Any, b: Any, lane: Any) -> Any:
    """`enter` at an address that `entrance_for` gave for records of these types."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        kinds, convention = sig.args[1:], context.call_conv
        function = convention.get_function_type(types.none, kinds)
        pointer = builder.inttoptr(arguments[0], function.as_pointer())
        status, _ = convention.call_function(builder, pointer, types.none, kinds, arguments[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(address, records, types.int64, types.int64, types.int64), generate
