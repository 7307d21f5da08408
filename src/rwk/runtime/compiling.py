"""The compile policies.

`compiled` is strict: sums keep the order in which they are written and no product is fused unless the code says so
(`vectors.fma`), so the bits of a result do not depend on how the compiler felt, on whether the machine code was just
made or read from disk, or on where arrays lie in memory. What must be fast is written with `vectors`.
`compiled_inside` is the same for functions that compiled code alone calls: they have no door for Python's objects,
which for records of many arrays would take longer to compile than the functions themselves. `compiled_borrowing` is
that for functions that make no array: nothing counts references there, which for such records would take longer than
small matrices do. `compiled_loosely` lets the compiler reorder sums; it serves code whose last bits nobody compares.

All release the interpreter lock, and keep machine code on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from numba import njit, typeof
from numba.extending import register_jitable

from rwk.runtime.log import LOG

STRICT: Final = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INSIDE: Final = {**STRICT, "no_cpython_wrapper": True}
SUMS_REORDERED: Final = {"reassoc", "contract", "arcp", "nsz"}

Function = TypeVar("Function", bound=Callable[..., Any])
_called: set[Any] = set()  # solver bodies, and kinds of arguments, that this process has called


def compiled(function: Function) -> Function:
    """Compile on first use, strictly."""
    return cast(Function, njit(**STRICT)(function))


def compiled_inside(function: Function) -> Function:
    """Compile strictly where compiled code calls it; for Python it stays what it was."""
    return cast(Function, register_jitable(**INSIDE)(function))


def compiled_borrowing(function: Function) -> Function:
    """Like `compiled_inside`, for functions that make no array and return none."""
    return cast(Function, register_jitable(_nrt=False, **INSIDE)(function))


def compiled_loosely(function: Function) -> Function:
    """Compile on first use; sums may be reordered."""
    return cast(Function, njit(**STRICT, fastmath=SUMS_REORDERED)(function))


def call_compiled(function: Callable[..., Any], measures: Any, *arguments: Any) -> Any:
    """Call a solver body; say so first where neither this process nor the disk has it for arguments of these kinds."""
    arrays = (argument for argument in arguments if isinstance(argument, np.ndarray))
    kind = function, measures.structure.dtype, *(array.dtype for array in arrays)
    if kind not in _called:
        _called.add(kind)
        if is_cold(function, measures, *arguments):
            LOG.warning("rwk is compiling, once (about 40 seconds)")
    return function(measures, *arguments)


def is_cold(function: Any, *arguments: Any) -> bool:
    """Whether neither this process nor the disk has the machine code for arguments of these kinds."""
    kinds = tuple(typeof(argument) for argument in arguments)
    if kinds in function.signatures:
        return False
    try:
        known = function._cache._cache_file._load_index()
    except (AttributeError, OSError):  # another numba, or no disk cache
        return False
    return not any(key[0] == kinds for key in known)
