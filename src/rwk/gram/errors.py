"""What can go wrong with a Gram matrix that outlives its process, told in one sentence each."""

from __future__ import annotations

import errno
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_NOT_ALLOWED: Final = (errno.EACCES, errno.EPERM, errno.EROFS)


class GramError(ValueError):
    """A store, budget, cluster or request that can't be used; nothing already computed is lost."""


class NoRoomError(GramError):
    """The disk is full: what was finished is kept, and the same command goes on from there."""


def need(module: str, purpose: str) -> Any:
    """Import a module of the extra `distributed`, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise GramError(
            f"{purpose} needs {package}, which can't be imported; pip install 'rwk[distributed]'"
        ) from error


@contextmanager
def told(place: str) -> Iterator[None]:
    """Turn errors of the file system at `place` into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise NoRoomError(
                f"no room is left at {place}; finished tiles are kept: make room and run the same command again"
            ) from error
        if error.errno in _NOT_ALLOWED or isinstance(error, PermissionError):
            raise GramError(f"{place} may not be written or read by this user; choose another place") from error
        if isinstance(error, NotADirectoryError | FileExistsError):
            raise GramError(
                f"{place} is a file or runs through one, and a store is a folder; choose another"
            ) from error
        raise GramError(f"{place} can't be used ({error}); check that it is reachable") from error
