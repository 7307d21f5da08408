"""Memory that the program no longer uses, handed back to the system."""

from __future__ import annotations

import ctypes


def return_free_memory() -> None:
    """Hand memory that was freed back to the system, where the C library can do that (glibc); elsewhere do nothing.

    glibc keeps what was freed below the highest block in use for later requests. Many arrays of a few kilobytes leave
    hundreds of megabytes behind that no large array fits into.

    >>> return_free_memory()
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # macOS, musl, Windows
        return
    trim(ctypes.c_size_t(0))
