"""Files of this package: written completely or not at all, and read with a check that they are whole.

Each is written under a temporary name, then renamed. A checksum of the content is kept in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

# folder next to the results for what an interrupted run needs to continue
UNFINISHED: Final = "unfinished"
CHECKSUM: Final = "checksum"  # the entry of a file that holds the checksum of all others
DIGITS: Final = 32  # of a checksum, hexadecimal


class OutputError(OSError):
    """A file that cannot be written; the message says which and why."""


class DamagedFileError(ValueError):
    """A file that this package wrote is no longer whole; the message says which, and what to do."""


def user_path(path: str | os.PathLike[str]) -> Path:
    """The path with `~` replaced by the user's folder; as it is where there is no such folder.

    >>> user_path("~no-such-user/K.npz").name
    'K.npz'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user, or no home
        return Path(path)


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file or folder of this name; a long SMILES or other text that can't be a name has none.

    >>> is_there("."), is_there("C" * 1000)
    (True, False)
    """
    try:
        return user_path(path).exists()
    except (OSError, ValueError):  # too long for a path, or not allowed in one
        return False


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


def write_json(path: str | os.PathLike[str], record: Any, *, checksum: bool = False) -> Path:
    """Write a record as indented JSON; `checksum` adds a checksum of a mapping, which `load_json` checks."""
    if checksum:
        record = {**record, CHECKSUM: record_checksum(record)}
    text = json.dumps(record, indent=2, ensure_ascii=False, default=plain_value) + "\n"
    return write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def write_arrays(path: str | os.PathLike[str], *, compressed: bool = False, **arrays: Any) -> Path:
    """Write named arrays as npz, with a checksum of their content that `load_arrays` checks."""
    named: dict[str, Any] = {name: np.asarray(values) for name, values in arrays.items()}
    named[CHECKSUM] = np.asarray(_digest(named))

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, **named)

    return write_whole(path, write)


def load_arrays(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `write_arrays` wrote, without the checksum; raises `DamagedFileError`, or `FileNotFoundError`.

    Files of earlier versions have no checksum; those are read if they are whole.
    """
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:  # numpy leaves damaged files open
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise
    except Exception as error:  # what a damaged zip makes numpy raise has no end: errors of zip, zlib, tokens, keys
        raise DamagedFileError(f"{path} is damaged, or was not written by rwk; compute it again") from error
    stored = arrays.pop(CHECKSUM, None)
    if stored is not None and str(stored) != _digest(arrays):
        raise DamagedFileError(f"{path} is damaged: its content has changed since it was written; compute it again")
    return arrays


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What `load_arrays` returns; None if the file is missing or damaged."""
    try:
        return load_arrays(path)
    except (OSError, DamagedFileError):
        return None


def load_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A record that `write_json` wrote, without the checksum; raises `DamagedFileError`, or `FileNotFoundError`."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged, or was not written by rwk; make it again") from error
    if not isinstance(record, dict):
        raise DamagedFileError(f"{path} is damaged, or was not written by rwk; make it again")
    stored = record.pop(CHECKSUM, None)
    if stored is None:  # an earlier version wrote it; or the name of the checksum is what was damaged
        stored = next((value for value in record.values() if _is_checksum(value)), None)
    if stored is not None and stored != record_checksum(record):
        raise DamagedFileError(f"{path} is damaged: its content has changed since it was written; make it again")
    return record


def _is_checksum(value: Any) -> bool:
    return isinstance(value, str) and len(value) == DIGITS and set(value) <= set("0123456789abcdef")


def record_checksum(record: Mapping[str, Any]) -> str:
    """The checksum of a record, whatever the order of its keys.

    >>> record_checksum({"a": 1, "b": [2]}) == record_checksum({"b": (2,), "a": 1})
    True
    """
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, default=plain_value)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _digest(arrays: Mapping[str, Any]) -> str:
    """The checksum of named arrays: names, types, shapes and bytes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {values.dtype.str} {np.shape(arrays[name])} ".encode())
        digest.update(values.tobytes() if values.dtype.hasobject else values.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()[:DIGITS]


def plain_value(value: Any) -> Any:
    """NumPy scalars and arrays as Python numbers and lists; anything else as text. For JSON."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)
