"""Writing results: beside the target, then renamed, so that a file is whole or not there."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk import __version__
from rwk.parameters import Parameters

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


def check_matrix_file(path: str | os.PathLike[str]) -> Path:
    """The path, if it names a kind of file that a matrix is written to and can be written.

    >>> check_matrix_file("K.txt")
    Traceback (most recent call last):
    rwk.runtime.files.OutputError: K.txt: a matrix is .npz (with parameters and targets) or plain .npy; choose one
    """
    path = Path(path)
    if path.suffix.lower() not in (".npz", ".npy") and not path.is_dir():
        raise OutputError(f"{path}: a matrix is .npz (with parameters and targets) or plain .npy; choose one")
    return check_writable(path)


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
    text = json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n"
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


def save_gram(
    path: str | os.PathLike[str], discrepancy: Any, parameters: Parameters, *, targets: Any = None, name: str = ""
) -> Path:
    """Write a Gram matrix as npz: kernel, discrepancy, targets, and parameters and version as text.

    To a name that ends in .npy the discrepancies alone are written, as they are.

    >>> import tempfile
    >>> place = save_gram(tempfile.mkdtemp() + "/K.npz", np.zeros((2, 2)), Parameters())
    >>> sorted(np.load(place).files)
    ['discrepancy', 'kernel', 'name', 'parameters', 'version']
    """
    arrays: dict[str, Any] = {
        "kernel": np.exp(-parameters.eta * discrepancy),
        "discrepancy": discrepancy,
        "parameters": json.dumps(parameters.asdict(), default=_plain),
        "version": __version__,
        "name": name,
    }
    if targets is not None:
        values = np.asarray(targets)
        arrays["targets"] = values.astype(str) if values.dtype == object else values

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            if Path(path).suffix.lower() == ".npy":
                np.save(file, np.asarray(discrepancy))
            else:
                np.savez_compressed(file, **arrays)

    return write_whole(path, write)


def _plain(value: Any) -> Any:
    """JSON's idea of numpy's scalars and arrays."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)
