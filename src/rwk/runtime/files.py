"""Writing files completely or not at all: each is written under a temporary name, then renamed."""

from __future__ import annotations

import json
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

# folder next to the results for what an interrupted run needs to continue
UNFINISHED: Final = "unfinished"


class OutputError(OSError):
    """A file that cannot be written; the message says which and why."""


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Return the path and create its folder; raises `OutputError`, before any work, if it cannot be written to."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder {path.parent} can't be created ({error.strerror}); choose another") from None
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file in it")
    probe = path.parent / f".{path.name}.{os.getpid()}-{threading.get_ident()}.probe"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"the folder {path.parent} can't be written to ({error.strerror}); choose another") from None
    return path


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], object]) -> Path:
    """Call `write` with a temporary name (same folder and ending), then rename it to `path`."""
    path = check_writable(path)
    beside = path.with_name(f".{path.stem}.{os.getpid()}-{threading.get_ident()}{path.suffix}")
    try:
        write(beside)
        os.replace(beside, path)
    except OSError as error:
        raise OutputError(f"{path} could not be written ({error.strerror or error}); nothing was saved") from None
    finally:
        beside.unlink(missing_ok=True)
    return path


def write_json(path: str | os.PathLike[str], record: Any) -> Path:
    """Write a record as indented JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False, default=plain_value) + "\n"
    return write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def write_arrays(path: str | os.PathLike[str], **arrays: Any) -> Path:
    """Write named arrays as npz."""

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            np.savez(file, **arrays)

    return write_whole(path, write)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What `write_arrays` wrote; None if the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def plain_value(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers and lists; anything else as text. For JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)
