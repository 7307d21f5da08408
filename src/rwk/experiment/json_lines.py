"""Files of JSON lines: headers say what many lines have in common, short lines hold the rest.

    {"rwk":"records","format":2,"h":0,"dataset":"MUTAG", ...}     header number 0
    {"h":0,"seed":0,"fold":3, ...}                                a line that header number 0 belongs to
    {"h":0,"seed":0,"fold":4, ...}

A line names its header by number and means the last header above it that has this number, so files can be
concatenated. A line, with its header if that is new, is appended by a single write: a killed run leaves whole lines
and at most one torn one at the end, which reading skips and the next append cuts off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import RawIOBase
from pathlib import Path
from typing import Any, Final, NamedTuple

from rwk.runtime.files import OutputError

FORMAT: Final = 2
_MARK: Final = "rwk"  # the first key of a header


class Entry(NamedTuple):
    """One line of a file; `header` is None if the line names none (files of format 1, and notes)."""

    number: int  # of the line, from 1
    header: Mapping[str, Any] | None
    content: dict[str, Any]


class NewerFormatError(ValueError):
    """A file that a later version of rwk wrote."""


def read_entries(path: str | os.PathLike[str], what: str) -> Iterator[Entry]:
    """Yield every whole line of a file with its header; a torn last line is skipped, a missing file is empty.

    `what` is the word for a line that error messages use.

    >>> list(read_entries("no-such-file.jsonl", "record"))
    []
    """
    path = Path(path)
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    headers: dict[int, dict[str, Any]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
            if not isinstance(content, dict):
                raise ValueError("not a JSON object")
            if _MARK in content:
                headers[content["h"]] = _checked(content, path)
                continue
            header = headers[content.pop("h")] if "h" in content else None
        except NewerFormatError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):  # torn: it does not end with a line break
                continue
            raise not_a_line(path, number, what) from error
        yield Entry(number, header, content)


def not_a_line(path: str | os.PathLike[str], number: int, what: str) -> ValueError:
    """The error for a line that can't be read."""
    return ValueError(f"{path}, line {number}: not a {what}; remove the line")


def append_line(path: str | os.PathLike[str], content: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    """Append one line with a single write, on disk when this returns; its header goes before it if it is new.

    A header is new unless the file has one that covers it: see `covers`. If `header` is empty the line is written
    alone. A torn last line is cut off first.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    with os.fdopen(handle, "rb+", buffering=0) as file, _locked(handle):
        whole = _cut(file)
        before = ""
        if header:
            header, known = json.loads(dumped(header)), _headers(whole, path)
            number = next((number for number, other in known.items() if covers(other, header)), None)
            if number is None:
                number = 1 + max(known, default=-1)
                before = dumped(numbered(header, number))
            content = {"h": number, **content}
        _append(file, (before + dumped(content)).encode(), path)
        os.fsync(handle)


def _append(file: RawIOBase, line: bytes, path: str | os.PathLike[str]) -> None:
    """Write a line at the end, whole or not at all: on a full disk a write may end early without an error."""
    end = file.seek(0, os.SEEK_END)
    reason = "No space left on device"
    try:
        written = file.write(line)
    except OSError as error:
        written, reason = 0, error.strerror or str(error)
    if written != len(line):
        with suppress(OSError):
            file.truncate(end)
        raise OutputError(f"{path} could not be written ({reason}); the lines before are kept")


def covers(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a line that needs the header `wanted` may stand under `recorded`: equal, or with more folds.

    >>> covers({"method": "WL", "folds": {"0": "a", "1": "b"}}, {"method": "WL", "folds": {"1": "b"}})
    True
    >>> covers({"method": "WL", "folds": {"0": "a"}}, {"method": "WL", "folds": {"1": "b"}})
    False
    """
    more, fewer = recorded.get("folds"), wanted.get("folds")
    if not (isinstance(more, Mapping) and isinstance(fewer, Mapping)):
        return recorded == wanted
    if bool(fewer) != bool(more):  # a line without folds would get those of the header
        return False
    return {**recorded, "folds": {}} == {**wanted, "folds": {}} and fewer.items() <= more.items()


def numbered(header: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A header as it is written: its kind and format first, then its number.

    >>> numbered({"rwk": "records", "dataset": "MUTAG"}, 3)
    {'rwk': 'records', 'format': 2, 'h': 3, 'dataset': 'MUTAG'}
    """
    return {_MARK: header[_MARK], "format": FORMAT, "h": number, **header}


def dumped(content: Mapping[str, Any]) -> str:
    """One line of JSON without spaces."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False) + "\n"


def cut_torn_line(path: str | os.PathLike[str]) -> None:
    """Cut off a torn last line, if there is one; the folder is made if need be."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        with path.open("rb+", buffering=0) as file, _locked(file.fileno()):
            _cut(file)


def _cut(file: RawIOBase) -> bytes:
    """The content of a file up to its last line break; the rest is cut off."""
    content = file.readall()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        file.truncate(len(whole))
    return whole


def _headers(content: bytes, path: str | os.PathLike[str]) -> dict[int, dict[str, Any]]:
    """The last header of each number, without what `numbered` adds."""
    start = f'{{"{_MARK}":'.encode()
    found = {}
    for line in content.split(b"\n"):
        if line.startswith(start):
            header = _checked(json.loads(line), path)
            del header["format"]
            found[header.pop("h")] = header
    return found


def _checked(header: dict[str, Any], path: str | os.PathLike[str]) -> dict[str, Any]:
    if header["format"] > FORMAT:
        raise NewerFormatError(f"{path} has format {header['format']}, this rwk reads up to {FORMAT}; update rwk")
    return header


@contextmanager
def _locked(handle: int) -> Iterator[None]:
    """Hold a file while its headers are read and a line is added, where the system can lock files."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX)
    yield  # closing the file unlocks it
