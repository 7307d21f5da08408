"""What holds for every test, those in docstrings included."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def close_figures() -> Iterator[None]:
    """pyplot keeps every figure until it is told; others would count them."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
