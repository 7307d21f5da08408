"""Which sources a compiled function is made from: its own file, and every file that one imports, directly or not.

Numba keeps compiled code on disk, and compiles a function again when the file it is in has changed. It does not look at
the files of the functions that are called, although their code is compiled into the caller: after an edit of, say,
`sinkhorn`, it would load the solver as it was before. `source_stamp` covers all these files by content, so that neither
the date of a file nor its folder matters; `stamp_numba_cache` makes numba's cache compare these stamps.

Imports of modules of the function's own package and of this one are followed, wherever they stand in a file. A file
is read once each time its module is loaded, when the first function in it is decorated: the sources that are stamped
are those that run, even if they are edited while the process lives.
"""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

# numba's functions are looked up by this attribute; it is set when a function is decorated
STAMP: Final = "__source_stamp__"
PACKAGE: Final = __name__.split(".")[0]
PACKAGE_ROOT: Final = Path(__file__).parents[__name__.count(".")]

# a regular expression: `ast` would take 50 ms for the solver's files. If it takes a line of a docstring for an import,
# the stamp covers one file more than it must
IMPORTS: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)+)|import[ \t]+([^\n]+))", re.MULTILINE
)


class SourceFile(NamedTuple):
    """One file as it was when its module was loaded."""

    digest: bytes
    imported: tuple[tuple[str, Path], ...]  # modules and their files
    loading: object  # the module's spec, another one after every (re)loading


_sources: dict[Path, SourceFile] = {}
_stamps: dict[Path, tuple[object, str]] = {}  # the loading of a file's module, and the stamp of its functions


def source_stamp(function: Callable[..., Any]) -> str | None:
    """A digest of the function's file and of all files that one imports; None if they can't be read as files."""
    module = function.__module__
    path = Path(function.__code__.co_filename)
    loading = _loading(module)
    if path in _stamps and _stamps[path][0] is loading:
        return _stamps[path][1]
    try:
        found = dict(_reachable(module, path))
    except (OSError, UnicodeDecodeError):  # typed at a prompt, or inside an archive
        return None
    whole = hashlib.blake2b(digest_size=12)
    for name in sorted(found):
        whole.update(name.encode() + b"\n" + found[name])
    _stamps[path] = loading, whole.hexdigest()
    return whole.hexdigest()


def _loading(module: str) -> object:
    return getattr(sys.modules.get(module), "__spec__", None)


def _reachable(module: str, path: Path) -> Iterator[tuple[str, bytes]]:
    """Names and digests of a module and of all that it imports."""
    roots = {PACKAGE: PACKAGE_ROOT}
    depth = module.count(".") + (path.name == "__init__.py")
    if module != "__main__" and depth < len(path.parents):
        roots.setdefault(module.split(".")[0], path.parents[depth])
    seen, left = {module}, [(module, path)]
    while left:
        name, file = left.pop()
        source = _read(name, file, roots)
        yield name, source.digest
        new = [(other, place) for other, place in source.imported if other not in seen]
        seen.update(other for other, _ in new)
        left += new


def _read(module: str, path: Path, roots: dict[str, Path]) -> SourceFile:
    loading = _loading(module)
    if path not in _sources or _sources[path].loading is not loading:
        content = path.read_bytes()
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        imported = dict(_imported_files(content.decode(), package, roots))
        _sources[path] = SourceFile(hashlib.blake2b(content).digest(), tuple(imported.items()), loading)
    return _sources[path]


def _imported_files(source: str, package: str, roots: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    for base, names in imported_names(source, package):
        below = {name: _file_of(f"{base}.{name}", roots) for name in names}
        yield from ((f"{base}.{name}", file) for name, file in below.items() if file is not None)
        itself = _file_of(base, roots)
        if itself is not None and (not below or None in below.values()):
            yield base, itself


def imported_names(source: str, package: str) -> Iterator[tuple[str, list[str]]]:
    """The modules that a file of `package` imports, each with the names taken from it.

    >>> list(imported_names("from a.b import c, d as e\\nfrom . import f\\nimport g.h, i as j", "x"))
    [('a.b', ['c', 'd']), ('x', ['f']), ('g.h', []), ('i', [])]
    """
    for base, names, modules in IMPORTS.findall(source):
        words = re.sub(r"#[^\n]*|[()\\\n]", " ", names or modules).split(",")
        taken = [word.split()[0] for word in words if word.split()]
        if modules:
            yield from ((module, []) for module in taken)
            continue
        try:
            yield importlib.util.resolve_name(base, package), taken
        except ImportError:  # words of a docstring that look like an import
            continue


def _file_of(module: str, roots: dict[str, Path]) -> Path | None:
    root = roots.get(module.split(".")[0])
    if root is None or not all(part.isidentifier() for part in module.split(".")):
        return None
    place = os.path.join(root, *module.split("."))  # pathlib would take ten times as long
    files = f"{place}{os.sep}__init__.py", f"{place}.py"
    return next((Path(file) for file in files if os.path.isfile(file)), None)


class StampedLocator:
    """Stands first in numba's list of places for compiled code: the usual place, with the stamp of all sources."""

    usual: tuple[Any, ...] = ()  # numba's own list

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """The locator that numba would choose, if `function` has a stamp; None leaves the choice to numba."""
        stamp = getattr(function, STAMP, None)
        if stamp is None:
            return None
        found = (usual.from_function(function, file) for usual in cls.usual)
        locator = next((locator for locator in found if locator is not None), None)
        if locator is not None:
            _stamp_locator(locator, f"{Path(file).stem}.{function.__qualname__}", stamp)
        return locator


def _stamp_locator(locator: Any, function: str, stamp: str) -> None:
    """Have the names of the files tell the stamp, and drop those of other stamps when new ones are written.

    Numba writes an index before the code that the index names: under one name for all stamps, a process that reads in
    between, or after a crash, would find the old code.
    """
    line, make_folder = locator.get_disambiguator(), locator.ensure_cache_path

    def clear_folder() -> None:
        make_folder()
        base = glob.escape(function.replace("<", "").replace(">", ""))
        for file in Path(locator.get_cache_path()).glob(f"{base}-*.nb[ic]"):
            if stamp not in file.name:
                file.unlink(missing_ok=True)

    locator.get_source_stamp = lambda: stamp
    locator.get_disambiguator = lambda: f"{line}-{stamp}"
    locator.ensure_cache_path = clear_folder


def stamp_numba_cache() -> None:
    """Make numba's cache respect stamps; with a numba whose cache is built otherwise, nothing changes."""
    try:
        from numba.core.caching import CacheImpl

        places = CacheImpl._locator_classes
        StampedLocator.usual = tuple(place for place in places if place.__name__ != StampedLocator.__name__)
        CacheImpl._locator_classes = [StampedLocator, *StampedLocator.usual]
    except (ImportError, AttributeError, TypeError):
        pass
