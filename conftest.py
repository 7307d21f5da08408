"""Fixtures for every test, including those in docstrings."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

with suppress(ImportError):  # it is in the extra 'dev'
    from hypothesis import settings

    settings.register_profile("rwk", deadline=None)  # a busy computer is no mistake
    settings.load_profile("rwk")


def pytest_sessionfinish() -> None:
    """Save what coverage has measured: pytest-xdist kills workers that take ten seconds to end."""
    coverage = sys.modules.get("coverage")
    measured = coverage and coverage.Coverage.current()
    if measured:
        measured.save()


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """pyplot keeps every figure until it is closed, and warns if there are many."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
