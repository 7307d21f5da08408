"""pytest on a folder of sources, in a forked process that has the heavy libraries loaded already."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT = 900.0  # seconds: a mutant may loop for ever, which is noticed too
OUTPUT = Path(tempfile.gettempdir()) / f"rwk-mutant-{os.getpid()}.txt"  # what pytest said the last time
LIBRARIES = (
    *("numpy", "scipy.sparse", "scipy.linalg", "scipy.special", "scipy.optimize", "sklearn.svm"),
    *("sklearn.model_selection", "numba", "networkx", "joblib", "typer", "rich.progress", "pytest", "_pytest.doctest"),
)


def load_libraries() -> None:
    """Import what the tests need and mutants do not touch, once for all of them."""
    for library in LIBRARIES:
        __import__(library)


def run_tests(folder: Path, tests: str) -> int:
    """The exit code of pytest in a forked process, which shares what is imported here but nothing of rwk."""
    child = os.fork()
    if child == 0:
        os.setpgrp()
        code = 1
        try:
            _test_in_child(folder, shlex.split(tests))
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            os._exit(code)
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 1


def _test_in_child(folder: Path, tests: list[str]) -> None:
    import pytest

    os.chdir(folder)
    silent = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    paths = [str(folder / "src"), str(folder / "tests")]
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.dont_write_bytecode = True
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore"]
    sys.exit(int(pytest.main([*options, *tests])))
