"""Errors of Gram matrices, each with a message of one sentence that says what to do."""

from __future__ import annotations

import errno
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


class GramError(ValueError):
    """Raised if a store, a memory budget, a cluster or a request can't be used; finished tiles are never lost.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import compute_gram
    >>> compute_gram([nx.path_graph(3)], memory="2 apples")
    Traceback (most recent call last):
    rwk.gram.errors.GramError: memory='2 apples' is not an amount of memory; write it like '2GB' or '500MB'
    """


class NoRoomError(GramError):
    """Raised if the disk is full; finished tiles are kept, and the same command goes on from there."""


def need(module: str, purpose: str) -> Any:
    """Import a module of the extra `distributed`, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise GramError(
            f"{purpose} needs {package}, which can't be imported; install it with: pip install 'rwk[distributed]'"
        ) from error


@contextmanager
def storage_errors(place: str) -> Iterator[None]:
    """Turn errors of the file system at `place` into a `GramError` of one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise NoRoomError(
                f"the disk is full at {place}; finished tiles are kept: free some space and run the same command again"
            ) from error
        if error.errno in _NOT_ALLOWED or isinstance(error, PermissionError):
            raise GramError(f"{place} can't be read or written by this user; choose another folder") from error
        if isinstance(error, NotADirectoryError | FileExistsError):
            raise GramError(
                f"{place} is not a folder, or part of its path is a file; choose another folder for the store"
            ) from error
        raise GramError(f"{place} can't be used ({error}); check that it is reachable") from error
