"""The files of a TU set: a folder or a zip with NAME_A.txt, NAME_graph_indicator.txt and so on."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from rwk.graphs import GraphError

PARTS = (
    "A",
    "graph_indicator",
    "graph_labels",
    "graph_attributes",
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
)
MAX_BYTES = 4 * 2**30  # of text in one set, ten times the largest benchmark set

# what zipfile and the decompressors raise on damaged archives; NotImplementedError is a RuntimeError
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, LookupError, ValueError)
MOST_WORDS = 200  # of another library's message: that of a zip may repeat its whole name table


@dataclass(frozen=True)
class Source:
    """Where the parts of one set are; `files` maps a part to its path in the folder or its name in the zip."""

    name: str
    path: Path
    files: dict[str, str]
    stamp: str  # changes whenever the files do

    @contextmanager
    def open(self, part: str) -> Iterator[IO[bytes]]:
        """Open one part for reading bytes; a damaged file raises a `GraphError`."""
        try:
            if self.path.is_dir():
                with open(self.path / self.files[part], "rb") as stream:
                    yield stream
            else:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.files[part]) as stream:
                    yield stream
        except GraphError:
            raise
        except _DAMAGE as error:
            why = _shortened(error)
            raise GraphError(f"{self.path}: {self.files[part]} cannot be read ({why}); get the set again") from error

    def file_name(self, part: str) -> str:
        """Name of the file of one part, for messages; parts that are missing have one too."""
        return PurePosixPath(self.files.get(part, f"{self.name}_{part}.txt")).name


def tu_place(path: Path) -> Path | None:
    """Where the files of a set are: a zip, a folder, or its subfolder `raw` (PyG's layout); None if there are none."""
    if path.suffix == ".zip" and path.is_file():
        return path
    return next((place for place in (path, path / "raw") if any(place.glob("*_A.txt"))), None)


def find_source(path: Path) -> Source:
    """The set that a folder or zip contains; raises a `GraphError` if it contains none."""
    path = tu_place(path) or path
    if path.is_dir():
        entries = {p.name: p.stat() for p in path.iterdir() if p.name.endswith(".txt") and p.is_file()}
        stamp = ";".join(f"{n}:{s.st_size}:{s.st_mtime_ns}" for n, s in sorted(entries.items()))
        return _source(path, list(entries), stamp)
    if not path.is_file():
        raise GraphError(f"there is no folder or zip {path}; check the path")
    stat = path.stat()
    return _source(path, _checked_members(path), f"{stat.st_size}:{stat.st_mtime_ns}")


def _checked_members(path: Path) -> list[str]:
    """The files in a zip; raises if one points outside, or if together they are too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            files = [member.filename for member in members if not member.is_dir()]
    except _DAMAGE as error:
        raise GraphError(f"{path}: not a readable zip ({_shortened(error)}); get it again") from error
    for member in members:
        parts = PurePosixPath(member.filename.replace("\\", "/")).parts
        if ".." in parts or parts[:1] == ("/",) or (parts and ":" in parts[0]):
            raise GraphError(f"{path}: the file {member.filename!r} in it points outside the zip; don't use this zip")
    size = sum(member.file_size for member in members)
    if size > MAX_BYTES:
        raise GraphError(
            f"{path} would unpack to {size / 2**30:.0f} GiB and the limit is {MAX_BYTES / 2**30:.0f}; use a smaller set"
        )
    return files


def _shortened(error: Exception) -> str:
    """The message of an error, at most `MOST_WORDS` characters of it."""
    text = str(error)
    return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]} ..."


def _source(path: Path, files: list[str], stamp: str) -> Source:
    hidden = "._"  # macOS adds such a file for every file
    files = [file for file in files if not PurePosixPath(file).name.startswith(hidden)]
    names = {PurePosixPath(file).name.removesuffix("_A.txt"): file for file in files if file.endswith("_A.txt")}
    stem = path.name.removesuffix(".zip")
    if not names:
        raise GraphError(f"{path} contains no file NAME_A.txt, which every TU set has; check the path")
    if len(names) > 1 and stem not in names:
        raise GraphError(f"{path} contains several sets ({', '.join(sorted(names))}); keep one")
    name = stem if stem in names else next(iter(names))
    prefix = names[name].removesuffix("A.txt")
    here = set(files)
    found = {part: f"{prefix}{part}.txt" for part in PARTS if f"{prefix}{part}.txt" in here}
    for part in ("graph_indicator", "graph_labels"):
        if part not in found and not (part == "graph_labels" and "graph_attributes" in found):
            raise GraphError(f"{path}: {name}_{part}.txt is missing; get the set again")
    return Source(name, path, found, stamp)
