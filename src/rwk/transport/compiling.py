"""The one compile policy.

Compiled code may reorder sums (a sum over a row becomes vector lanes) but keeps NaN and infinity meaningful; careful
elementary functions may only fuse a multiplication with an addition. It releases the interpreter lock and its machine
code is kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from numba import njit

SUMS_REORDERED: Final = {"reassoc", "contract", "arcp", "nsz"}
FUSED_ONLY: Final = {"contract"}

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile on first use."""
    policy = njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS_REORDERED)
    return cast(Function, policy(function))


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
