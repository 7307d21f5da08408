"""Progress bars of functions called from Python: who sees one, when, and that its counts are right."""

from __future__ import annotations

import sys
import threading
import time
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.experiment import Grid
from rwk.runtime import progress, watched
from rwk.runtime.watched import LateBar, NotebookBar, in_notebook, is_somebody_watching, shown_progress

GRAPHS = [nx.path_graph(3), nx.cycle_graph(4), nx.star_graph(3), nx.path_graph(5), nx.cycle_graph(5), nx.star_graph(4)]
TARGETS = [0, 1, 0, 0, 1, 0]


class Terminal:
    """Inside its context, a stderr that says that it is a terminal."""

    def __init__(self) -> None:
        self.written = ""

    def __enter__(self) -> Terminal:
        self._real, sys.stderr = sys.stderr, self  # type: ignore[assignment]
        return self

    def __exit__(self, *_: object) -> None:
        sys.stderr = self._real

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.written += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    return Terminal()


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a notebook would show, one entry per update; a small stand-in for IPython."""
    shown: list[dict[str, str]] = []
    handle = SimpleNamespace(update=lambda content, raw: shown.append(content))

    def display(content: dict[str, str], raw: bool, display_id: bool) -> Any:
        shown.append(content)
        return handle

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    return shown


CALLS: dict[str, Any] = {
    "pairwise_discrepancy": lambda verbose: rwk.pairwise_discrepancy(GRAPHS, verbose=verbose),
    "pairwise_discrepancy of two sets": lambda verbose: rwk.pairwise_discrepancy(GRAPHS, GRAPHS[:3], verbose=verbose),
    "compute_gram": lambda verbose: rwk.compute_gram(GRAPHS, verbose=verbose),
    "RWKernel": lambda verbose: rwk.RWKernel(verbose=verbose).fit_transform(GRAPHS),
    "RWKClassifier": lambda verbose: rwk.RWKClassifier(grid="quick", n_inner=2, verbose=verbose).fit(GRAPHS, TARGETS),
    "nearest": lambda verbose: rwk.nearest(GRAPHS[:2], GRAPHS, k=2, verbose=verbose),
    "nested_cv": lambda verbose: rwk.nested_cv(
        {"line": np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))},
        np.arange(12) >= 6,
        folds=rwk.make_folds(np.arange(12) >= 6, n_splits=2, n_repeats=1),
        grid=Grid(eta=(0.1,), C=(1.0,)),
        verbose=verbose,
    ),
}
COUNTS = {
    "pairwise_discrepancy": "21/21",
    "pairwise_discrepancy of two sets": "18/18",
    "compute_gram": "1/1 tiles",
    "RWKernel": "21/21",
    "RWKClassifier": "21/21",
    "nearest": "12/12",
    "nested_cv": "2/2",
}


@pytest.mark.parametrize("name", CALLS)
def test_verbose_shows_a_bar_that_ends_at_its_total(name: str, terminal: Terminal) -> None:
    with terminal:
        CALLS[name](True)
    assert COUNTS[name] in terminal.written


@pytest.mark.parametrize("name", CALLS)
def test_a_notebook_shows_its_own_bar(name: str, notebook: list[dict[str, str]]) -> None:
    CALLS[name](True)
    assert COUNTS[name] in notebook[-1]["text/html"]
    assert COUNTS[name] in notebook[-1]["text/plain"]
    CALLS[name](False)
    assert COUNTS[name] in notebook[-1]["text/html"]  # nothing was added


@pytest.mark.parametrize("name", CALLS)
def test_short_work_and_verbose_false_show_nothing(name: str, terminal: Terminal) -> None:
    with terminal:
        CALLS[name](None)
        CALLS[name](False)
    assert terminal.written == ""


def test_long_work_shows_a_bar_in_a_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "AUTOMATIC_AFTER", 0.05)
    with terminal, shown_progress(None, "solving", 10) as tick:
        assert tick is not None
        tick(4)
        wait_for(progress.is_shown)
        tick(6)
    assert "10/10" in terminal.written
    assert not progress.is_shown()


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_nobody_is_watching_a_log(monkeypatch: pytest.MonkeyPatch, terminal: Terminal) -> None:
    """No automatic bar in a file, in another thread, in a worker process, or beside another bar."""
    found: list[bool] = []
    with terminal:
        assert is_somebody_watching()
        thread = threading.Thread(target=lambda: found.append(is_somebody_watching()))
        thread.start()
        thread.join()
        with progress.being_shown(), shown_progress(True, "solving", 10) as tick:
            assert tick is None
        monkeypatch.setattr(watched.multiprocessing, "current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
        assert not is_somebody_watching()
        monkeypatch.undo()
    assert found == [False]
    assert not in_notebook()
    assert not is_somebody_watching()  # pytest captures stderr
    with shown_progress(None, "solving", 10) as tick:
        assert tick is None


def test_a_late_bar_begins_where_the_work_is(notebook: list[dict[str, str]]) -> None:
    with shown_progress(True, "first", None) as first:
        assert isinstance(first, NotebookBar)
    assert notebook[-1]["text/html"].count("<progress></progress>") == 1
    late = LateBar(lambda done: watched._bar("late", 8, "pairs", done), 0, after=0.01)
    late(3)
    wait_for(progress.is_shown)
    assert "3/8" in notebook[-1]["text/plain"]
    late.show(5.0, 10.0, "half <of> it")
    late.close()
    assert "half &lt;of&gt; it" in notebook[-1]["text/html"]
    assert not progress.is_shown()


def test_a_callers_ticker_replaces_the_bar(terminal: Terminal) -> None:
    done: list[int] = []
    with terminal:
        rwk.pairwise_discrepancy(GRAPHS, tick=done.append, verbose=True)
        rwk.compute_gram(GRAPHS, report=lambda progress: None, verbose=True)
    assert sum(done) == 21
    assert terminal.written == ""


def test_an_invalid_verbose_is_rejected() -> None:
    with pytest.raises(ValueError, match="verbose='yes' is not valid"):
        rwk.pairwise_discrepancy(GRAPHS[:2], verbose="yes")


def test_the_estimate_counts_cores_that_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one free core two threads take turns, so together they are no faster than one."""
    from rwk.gram import estimate

    at_work: list[object] = []

    def solve(measures: Any, pairs: Any, *_: Any, **__: Any) -> None:
        me = object()
        at_work.append(me)
        for _ in pairs:
            time.sleep(0.003 * len(at_work))
        at_work.remove(me)

    monkeypatch.setattr(estimate, "solve_pairs", solve)
    monkeypatch.setattr(estimate, "thread_count", lambda n_jobs: 2)
    one, two = (rwk.estimate_gram(GRAPHS, n_jobs=n, backend="cpu") for n in (1, 2))
    assert (one.n_workers, two.n_workers) == (1, 2)
    assert two.seconds / one.seconds > 0.75  # one thread, timed alone, would give 0.5
