"""How functions are compiled: four policies and one disk cache.

`compiled` is strict: sums keep the order in which they are written and no product is fused with a sum unless the code
says so (`vectors.fma`), so the bits of a result do not depend on the compiler's choices, on whether the machine code
was just made or read from disk, or on where arrays lie in memory. What must be fast is written with `vectors`.
`compiled_inside` is the same for functions that only compiled code calls: they get no wrapper for Python objects, which
for records of many arrays would take longer to compile than the functions themselves, and become machine code only
inside the functions that call them (`linked_code`). `compiled_borrowing` is
`compiled_inside` for functions that create no array: they count no references, which for such records would take longer
than the work on small matrices. `compiled_loosely` lets the compiler reorder sums, for code whose last bits do not
matter.

All release the interpreter lock. What Python calls keeps its machine code on disk until a file changes that it was
compiled from (`source_stamps`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from numba import njit, typeof
from numba.extending import register_jitable

from rwk.runtime.linked_code import Linked
from rwk.runtime.log import LOG
from rwk.runtime.source_stamps import STAMP, source_stamp, stamp_numba_cache

STRICT: Final = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INSIDE: Final = {**STRICT, "cache": False, "no_cpython_wrapper": True, "pipeline_class": Linked}
SUMS_REORDERED: Final = {"reassoc", "contract", "arcp", "nsz"}

Function = TypeVar("Function", bound=Callable[..., Any])
_called: set[Any] = set()  # solver bodies, and kinds of arguments, that this process has called

stamp_numba_cache()


def compiled(function: Function) -> Function:
    """Compile on first use, strictly."""
    return cast(Function, njit(**STRICT)(_stamped(function)))


def compiled_inside(function: Function) -> Function:
    """Compile strictly where compiled code calls it; from Python it stays a Python function."""
    return cast(Function, register_jitable(**INSIDE)(_stamped(function)))


def compiled_borrowing(function: Function) -> Function:
    """Like `compiled_inside`, for functions that create no array and return none."""
    return cast(Function, register_jitable(_nrt=False, **INSIDE)(_stamped(function)))


def compiled_apart(function: Function) -> Function:
    """Like `compiled_borrowing`, but machine code of its own, which other compiled code calls by its address.

    Such a function and its caller are compiled independently of each other, so two processes can share the work.
    """
    return cast(Function, njit(_nrt=False, no_cpython_wrapper=True, **STRICT)(_stamped(function)))


def address_of(function: Any, *kinds: Any) -> int:
    """Where the machine code of a function that is compiled apart lies, for arguments of these types."""
    function.compile(kinds)
    made = function.overloads[kinds]
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


def compiled_loosely(function: Function) -> Function:
    """Compile on first use; sums may be reordered."""
    return cast(Function, njit(**STRICT, fastmath=SUMS_REORDERED)(_stamped(function)))


def _stamped(function: Function) -> Function:
    setattr(function, STAMP, source_stamp(function))
    return function


def call_compiled(function: Callable[..., Any], measures: Any, *arguments: Any) -> Any:
    """Call a solver body; log a message first if it must be compiled for arguments of these types."""
    arrays = (argument for argument in arguments if isinstance(argument, np.ndarray))
    kind = function, measures.structure.dtype, *(array.dtype for array in arrays)
    if kind not in _called:
        _called.add(kind)
        if is_cold(function, measures, *arguments):
            LOG.warning("rwk is compiling, once (about 15 seconds)")
    return function(measures, *arguments)


def is_cold(function: Any, *arguments: Any) -> bool:
    """Whether neither this process nor the disk has the machine code for arguments of these types."""
    kinds = tuple(typeof(argument) for argument in arguments)
    if kinds in function.signatures:
        return False
    try:
        known = function._cache._cache_file._load_index()
    except (AttributeError, OSError):  # another numba, or no disk cache
        return False
    return not any(key[0] == kinds for key in known)
