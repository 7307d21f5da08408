"""pytest with a mutant, in a forked process that has the heavy libraries loaded already.

No file is changed: the process imports the mutated file from memory (`changed_import`), and so does every Python that
its tests start. So mutants can run side by side, and the compiled code on disk stays valid.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from changed_import import VARIABLE, use_changed_file
from places import ROOT, SOURCES, Place

LIBRARIES = (
    *("numpy", "scipy.sparse", "scipy.linalg", "scipy.special", "scipy.optimize", "sklearn.svm"),
    *("sklearn.model_selection", "numba", "networkx", "joblib", "typer", "rich.progress", "pytest", "_pytest.doctest"),
    *("hypothesis", "coverage", "sklearn.gaussian_process", "sklearn.metrics"),
)
# layers below all that is mutated by the sampler: the process starts with them
LOWER = ("rwk.transport.pairs", "rwk.transport.cpu.dispatch", "rwk.represent.pipeline", "rwk.graphs")
COMPILED = ("learn/smo.py",)  # is machine code with numba, and Python without


def load_libraries(lower_layers: bool = False) -> None:
    """Import what the tests need and mutants do not touch, once for all of them."""
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]
    for library in (*LIBRARIES, *(LOWER if lower_layers else ())):
        __import__(library)


def start(tests: list[str], place: Place | None, output: Path, options: tuple[str, ...] = ("-x",)) -> int:
    """Fork a process that runs pytest with this mutant; its number. With "plain" as an option, numba is off."""
    child = os.fork()
    if child == 0:
        os.setpgrp()
        code = 1
        try:
            _test_in_child(tests, place, output, options)
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os._exit(code)
    return child


def ended(child: int, deadline: float) -> int | None:
    """The exit code of a process; None while it runs. One that runs past the deadline is ended, and has code 1."""
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        code: int | None = os.waitstatus_to_exitcode(status)
    elif time.monotonic() < deadline:
        return None
    else:
        code = 1
    _kill_group(child)  # also what its tests have started
    if not found:
        os.waitpid(child, 0)
    return code


def run_tests(tests: list[str], place: Place | None, timeout: float = 900.0) -> int:
    """The exit code of pytest with this mutant. A mutant may loop for ever, which is noticed too."""
    with tempfile.TemporaryDirectory() as folder:
        child, deadline = start(tests, place, Path(folder) / "said"), time.monotonic() + timeout
        while (code := ended(child, deadline)) is None:
            time.sleep(0.05)
        return code


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _test_in_child(tests: list[str], place: Place | None, output: Path, options: tuple[str, ...]) -> None:
    import pytest

    os.chdir(ROOT)
    said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    paths = [str(Path(__file__).parent), str(ROOT / "src"), str(ROOT / "tests")]
    given = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, given]).rstrip(os.pathsep)  # sitecustomize.py is in the first
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as folder:
        if place is not None:
            change = {"file": str(SOURCES / place.file), "source": place.source().decode()}
            (Path(folder) / "change.json").write_text(json.dumps(change), encoding="utf-8")
            os.environ[VARIABLE] = str(Path(folder) / "change.json")
            use_changed_file()
        if "plain" in options or (place is not None and place.file in COMPILED):
            _forget_compiled()
        options = tuple(option for option in options if option != "plain")
        # pytest would rewrite the assertions of every file it is given, and so read files with examples from disk
        usual = ("-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore")
        sys.exit(int(pytest.main([*usual, *options, *tests])))


def _forget_compiled() -> None:
    """Run compiled files as Python: their machine code on disk is that of the unchanged file."""
    import numba

    numba.config.DISABLE_JIT = 1
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    for name in [name for name in sys.modules if name == "rwk" or name.startswith("rwk.")]:
        del sys.modules[name]
