"""Writing results: beside the target, then renamed, so that a file is whole or not there."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

# folder beside results for what a run needs to go on, until it is over
UNFINISHED: Final = "unfinished"


class OutputError(OSError):
    """A place that can't be written, with a sentence that says which and why."""


def check_writable(path: str | os.PathLike[str]) -> Path:
    """The path, its folder made; raises before any work is done if a file could not be written there."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent} can't be made a folder ({error.strerror}); choose another place") from None
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file in it")
    probe = path.parent / f".{path.name}.{os.getpid()}.probe"
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"{path.parent} can't be written to ({error.strerror}); choose another place") from None
    return path


def write_whole(path: str | os.PathLike[str], write: Callable[[Path], object]) -> Path:
    """Call `write` on a name beside `path` (same ending), then rename: nothing half-written is ever seen."""
    path = check_writable(path)
    beside = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        write(beside)
        os.replace(beside, path)
    except OSError as error:
        raise OutputError(f"{path} could not be written ({error.strerror or error}); nothing was kept") from None
    finally:
        beside.unlink(missing_ok=True)
    return path


def write_json(path: str | os.PathLike[str], record: Any) -> Path:
    """Write a record as indented JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False, default=plain_value) + "\n"
    return write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def write_arrays(path: str | os.PathLike[str], **arrays: Any) -> Path:
    """Write arrays by name as npz."""

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            np.savez(file, **arrays)

    return write_whole(path, write)


def read_arrays(path: str | os.PathLike[str], meaning: str) -> dict[str, Any] | None:
    """What `write_arrays` wrote with this `meaning`; None where there is nothing, or something else, or damage."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file) if str(file["meaning"]) == meaning else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def plain_value(value: Any) -> Any:
    """JSON's idea of numpy's scalars and arrays."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)
