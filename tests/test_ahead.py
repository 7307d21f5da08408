"""Compiling in two processes: a helper compiles for the right types, and one that fails does no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import typeof

from generators import plain
from rwk import GraphSet, Parameters
from rwk.represent import represent
from rwk.transport.cpu import ahead
from rwk.transport.measures import no_measures


def some_measures(**keywords: Any) -> Any:
    graphs = GraphSet.from_graphs([plain("path"), plain("star"), plain("two nodes apart")])
    return represent(graphs, Parameters(scale="none", **keywords))[0]


@pytest.mark.parametrize("keywords", [{}, {"feature_metric": "product"}, {"structure": "adjacency"}], ids=str)
def test_a_helper_compiles_for_the_types_that_are_solved(keywords: dict[str, Any]) -> None:
    measures = some_measures(**keywords)
    assert typeof(ahead.no_pairs(no_measures())) == typeof(ahead.no_pairs(measures))


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "pass"])
def test_a_helper_that_fails_does_no_harm(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(ahead, "HELPER", code)
    monkeypatch.setattr(ahead, "_asked", [])
    monkeypatch.setattr(ahead, "_helpers", [])
    monkeypatch.setattr(ahead, "is_cold", lambda *arguments: True)
    monkeypatch.setattr(ahead, "thread_count", lambda n_jobs: 2)
    ahead.start_ahead()
    ahead.start_ahead()
    assert len(ahead._helpers) == 1, "one helper is enough"
    ahead.wait_for_helpers()
    assert not ahead._helpers


def test_a_helper_is_only_started_if_the_loop_must_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_asked", [])
    monkeypatch.setattr(ahead, "_helpers", [])
    monkeypatch.setattr(ahead, "is_cold", lambda *arguments: False)
    ahead.start_ahead()
    assert not ahead._helpers


def test_no_pairs_ask_for_no_pair() -> None:
    _, pairs, *_, entrance = ahead.no_pairs(no_measures())
    assert not len(pairs)
    assert entrance == 0
    assert pairs.dtype == np.int64
