"""The two compile policies.

`compiled` is strict: sums keep the order in which they are written and no product is fused unless the code says so
(`vectors.fma`), so the bits of a result do not depend on how the compiler felt, on whether the machine code was just
made or read from disk, or on where arrays lie in memory. What must be fast is written with `vectors`.
`compiled_loosely` lets the compiler reorder sums; it serves code whose last bits nobody compares.

Either releases the interpreter lock, and keeps machine code on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from numba import njit

SUMS_REORDERED: Final = {"reassoc", "contract", "arcp", "nsz"}

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile on first use, strictly."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy")(function))


def compiled_loosely(function: Function) -> Function:
    """Compile on first use; sums may be reordered."""
    return cast(Function, njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS_REORDERED)(function))


def is_cold(function: Callable[..., Any], precision: str) -> bool:
    """Whether neither this process nor the disk has a function's code for solves in this precision."""
    wide = precision != "float32"
    if any(("float32" not in str(signature)) == wide for signature in getattr(function, "signatures", ())):
        return False
    try:
        known = function._cache._cache_file._load_index()  # type: ignore[attr-defined]
    except (AttributeError, OSError):  # another numba, or no disk cache
        return False
    return not any(("float32" not in str(key[0])) == wide for key in known)
