"""Warnings name the line of the user's own code, wherever in rwk their reason was found."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rwk

DIRECTED = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
COMPLETE = [nx.complete_graph(n) for n in (4, 5, 6, 7)]
CLASSES = np.array([0, 1, 0, 1])

CALLS: dict[str, Callable[[], object]] = {
    "as_graphs": lambda: rwk.as_graphs([DIRECTED]),
    "align": lambda: rwk.align(DIRECTED, DIRECTED),
    "match": lambda: rwk.match(DIRECTED, DIRECTED),
    "fit": lambda: rwk.RWKernel().fit([DIRECTED, DIRECTED]),
    "transform": lambda: rwk.RWKernel().fit(COMPLETE[:2]).transform([DIRECTED]),
    "classify": lambda: rwk.RWKClassifier(grid="quick").fit(COMPLETE, CLASSES),
    "matching": lambda: rwk.align(nx.cycle_graph(6), nx.cycle_graph(6)).matching(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_of_the_caller(name: str) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        CALLS[name]()
    assert found
    assert {Path(one.filename).name for one in found} == {Path(__file__).name}
    assert {one.lineno for one in found} == {CALLS[name].__code__.co_firstlineno}


def test_every_caller_is_told() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        rwk.as_graphs([DIRECTED])
        rwk.as_graphs([DIRECTED])
        for _ in range(3):
            rwk.as_graphs([DIRECTED])
    assert len(found) == 3, "once per line"
