"""Loaded by pytest: `--reach FILE` writes which tests run which lines of rwk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reach import Watching


def pytest_addoption(parser: Any) -> None:
    """The file to write to."""
    parser.addoption("--reach", type=Path)


def pytest_configure(config: Any) -> None:
    """Watch the tests of this run."""
    if config.getoption("--reach"):
        config.pluginmanager.register(Watching(config.getoption("--reach")))
