"""Compiled code on disk: never stale, and used again whenever the sources are the same."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import rwk
from rwk.runtime import source_stamps
from rwk.runtime.source_stamps import STAMP, imported_names, source_stamp

SOURCES = Path(rwk.__file__).parent

# a chain over three files; `middle` and `bottom` are compiled into `top`
PACKAGE = {
    "__init__.py": "",
    "top.py": """
        from rwk.runtime.compiling import compiled, is_cold
        from chain import middle

        @compiled
        def compute(x):
            return middle.double(x)
        """,
    "middle.py": """
        from rwk.runtime.compiling import {policy}
        from chain.below.bottom import STEP, add

        @{policy}
        def double(x):
            return add(x, x) + STEP
        """,
    "aside.py": "STEP = 1",
    "below/__init__.py": "",
    "below/bottom.py": """
        from rwk.runtime.compiling import {policy}

        STEP = 0

        @{policy}
        def add(x, y):
            return x + y
        """,
}
CALL = """
from chain import top
cold = top.is_cold(top.compute, 1)
value = top.compute(1)
print(value, cold, sum(top.compute._cache_hits.values()), sum(top.compute._cache_misses.values()))
"""


def write_package(folder: Path, policy: str) -> Path:
    for name, lines in PACKAGE.items():
        file = folder / "chain" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(line.removeprefix("        ") for line in lines.splitlines())
        file.write_text(text.replace("{policy}", policy) + "\n")
    return folder


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    before = file.stat()
    file.write_text(text.replace(old, new))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # dates tell nothing


def call(folder: Path, cache: Path | None) -> tuple[int, bool, int, int]:
    """Run `compute(1)` in a fresh process: the value, whether it was cold, functions loaded and compiled."""
    environ = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environ |= {"PYTHONPATH": os.pathsep.join([str(folder), str(SOURCES.parent)])}
    environ |= {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", CALL], check=True, env=environ, capture_output=True, text=True)
    value, cold, hits, misses = done.stdout.split()
    return int(value), cold == "True", int(hits), int(misses)


@pytest.mark.parametrize("policy", ["compiled", "compiled_inside"])
def test_an_edit_below_reaches_the_caller(tmp_path: Path, policy: str) -> None:
    folder, cache = write_package(tmp_path, policy), tmp_path / "cache"
    assert call(folder, cache) == (2, True, 0, 1)
    kept = {file.name for file in cache.rglob("*.nb[ic]")}
    edit(folder / "chain/aside.py", "1", "2")
    assert call(folder, cache) == (2, False, 1, 0), "nothing it is made from has changed: loaded from disk"
    edit(folder / "chain/below/bottom.py", "x + y", "x - y")
    assert call(folder, cache) == (0, True, 0, 1)
    edit(folder / "chain/below/bottom.py", "STEP = 0", "STEP = 7")
    assert call(folder, cache) == (7, True, 0, 1), "a constant is compiled in as well"
    after = {file.name for file in cache.rglob("*.nb[ic]")}
    assert len(after) == len(kept), "code of former sources is removed"
    assert not after & kept


def test_an_edit_below_reaches_the_caller_without_a_cache_folder(tmp_path: Path) -> None:
    """Numba then keeps compiled code next to the sources."""
    folder = write_package(tmp_path, "compiled_inside")
    assert call(folder, None) == (2, True, 0, 1)
    edit(folder / "chain/below/bottom.py", "x + y", "x - y")
    assert call(folder, None) == (0, True, 0, 1)


def test_dates_and_places_do_not_matter(tmp_path: Path) -> None:
    """A copy of sources and compiled code, as of a fresh clone, is not compiled again."""
    folder = write_package(tmp_path / "here", "compiled_inside")
    assert call(folder, None) == (2, True, 0, 1)
    shutil.copytree(folder, tmp_path / "there", copy_function=shutil.copyfile)
    for file in (tmp_path / "there").rglob("*.py"):
        os.utime(file, (1e9, 1e9))
    assert call(tmp_path / "there", None) == (2, False, 1, 0)


def test_imports_are_found_as_the_parser_finds_them() -> None:
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        found = {(base, name) for base, names in imported_names(text, "rwk") for name in names or [""]}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                assert {(node.module, alias.name) for alias in node.names} <= found, file
            elif isinstance(node, ast.Import):
                assert {(alias.name, "") for alias in node.names} <= found, file


def test_stamps_of_the_solver_cover_its_files_and_take_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.transport.cpu import scalar
    from rwk.transport.cpu.lanes import body

    monkeypatch.setattr(source_stamps, "_sources", {})
    monkeypatch.setattr(source_stamps, "_stamps", {})
    start = time.process_time()
    for function in (scalar.solve_one, body.solve_side_by_side):
        assert source_stamp(function.py_func) == getattr(function.py_func, STAMP)  # type: ignore[attr-defined]
    assert time.process_time() - start < 0.1  # about 5 ms on an idle computer
    names = {str(file.relative_to(SOURCES)) for file in source_stamps._sources}
    assert {"runtime/compiling.py", "transport/cpu/sinkhorn.py", "transport/cpu/simd/vectors.py"} <= names
    assert "learn/smo.py" not in names


def test_sources_are_read_when_a_module_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Running code has the stamp of the sources that it came from, even if they are edited meanwhile."""
    monkeypatch.syspath_prepend(write_package(tmp_path, "compiled_inside"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    top, middle = (importlib.import_module(f"chain.{name}") for name in ("top", "middle"))
    stamp = source_stamp(middle.double)
    edit(tmp_path / "chain/middle.py", "+ STEP", "- STEP")
    assert source_stamp(middle.double) == stamp == getattr(middle.double, STAMP)
    importlib.reload(middle)
    assert source_stamp(middle.double) != stamp
    assert stamp_of(importlib.reload(top)) != stamp
    for name in ("chain", "chain.top", "chain.middle", "chain.below", "chain.below.bottom"):
        sys.modules.pop(name)


def stamp_of(module: ModuleType) -> Any:
    return getattr(module.compute.py_func, STAMP)


def test_a_function_without_a_file_is_left_to_numba() -> None:
    made: dict[str, Any] = {"__name__": "typed_at_a_prompt"}
    exec("def add(x, y):\n    return x + y", made)
    assert source_stamp(made["add"]) is None


def test_another_numba_keeps_its_own_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core import caching

    monkeypatch.delattr(caching.CacheImpl, "_locator_classes")
    source_stamps.stamp_numba_cache()
    assert not hasattr(caching.CacheImpl, "_locator_classes")


def test_functions_of_others_keep_numbas_stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs.py").write_text("import numba\n@numba.njit(cache=True)\ndef add(x, y):\n    return x + y\n")
    monkeypatch.syspath_prepend(tmp_path)
    theirs = importlib.import_module("theirs")
    assert theirs.add(1, 2) == 3
    assert theirs.add._cache._cache_file._source_stamp != source_stamp(theirs.add.py_func)


def test_one_policy_compiles_everything() -> None:
    """Nobody but `compiling` calls numba's decorators."""
    allowed = {SOURCES / "runtime/compiling.py"}
    for file in set(SOURCES.rglob("*.py")) - allowed:
        for base, names in imported_names(file.read_text(), "rwk"):
            if base.split(".")[0] == "numba":
                assert not {"jit", "njit", "guvectorize", "vectorize", "register_jitable"} & set(names), file


# ---------------------------------------------------------------- numba's private interfaces


def test_a_numba_without_an_interface_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core import cgutils

    from rwk.runtime.numba_interfaces import check_numba

    check_numba()
    monkeypatch.delattr(cgutils, "for_range")
    with pytest.raises(ImportError, match=r"has no numba\.core\.cgutils\.for_range, .*; install a version"):
        check_numba()


def test_the_list_of_private_interfaces_is_that_of_the_imports() -> None:
    """What the sources take from numba.core is in the list, and nothing else is."""
    import re

    from rwk.runtime.numba_interfaces import NEEDED

    used = set()
    for file in (Path(__file__).parents[1] / "src" / "rwk").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for module, names in re.findall(r"^from (numba\.core[\w.]*) import ([\w, ]+)$", text, re.MULTILINE):
            used |= {f"{module}.{name.strip()}" for name in names.split(",")}
        used |= {f"numba.core.{name}" for name in re.findall(r"\bcgutils\.\w+", text)}
    used -= {"numba.core.cgutils"}
    assert used == {name for name in NEEDED if name.startswith("numba.core.") and "options" not in name}
