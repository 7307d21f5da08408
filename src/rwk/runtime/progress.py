"""The progress bar of every long run: how much is done, how fast, and the time left, on stderr.

It needs rich, which the command line brings; without rich it shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from rwk.runtime.threads import Ticker

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


class Bar(Protocol):
    """What shows the progress of some work: `progress_bar`, or anything called like it."""

    def __call__(
        self, title: str, total: int, unit: str = "pairs", *, done: int = 0
    ) -> AbstractContextManager[Ticker | None]: ...


class ProgressBar:
    """A ticker that moves the bar: call it with the number of units done since the last call."""

    def __init__(self, progress: Progress | None = None, title: str = "", total: float | None = None) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=total, note="") if progress else None

    def __call__(self, done: int) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, done)

    def show(self, done: float, total: float, note: str = "") -> None:
        """Set the bar to `done` of `total`; a note replaces the count and the rate."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=min(done, total), total=total, note=note)


_SHOWN: list[object] = []  # one entry per bar on the screen


def is_shown() -> bool:
    """Whether a bar is on the screen now."""
    return bool(_SHOWN)


@contextmanager
def being_shown() -> Iterator[None]:
    """Say that a bar is on the screen."""
    mark = object()
    _SHOWN.append(mark)
    try:
        yield
    finally:
        _SHOWN.remove(mark)


@contextmanager
def progress_bar(title: str, total: float | None, unit: str = "pairs", *, done: int = 0) -> Iterator[ProgressBar]:
    """Show a bar with count, rate, elapsed time and time left; yields its ticker.

    `done` units are finished already, and don't count towards the rate. A `total` of None is one not known yet.

    >>> with progress_bar("solving", 100) as tick:
    ...     tick(100)
    """
    if find_spec("rich") is None:
        yield ProgressBar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # it may name a file
        BarColumn(),
        _state_column(unit),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with being_shown(), Progress(*columns, console=Console(stderr=True)) as progress:
        bar = ProgressBar(progress, title, total)
        if total is not None:
            bar.show(done, total)
        yield bar


def _state_column(unit: str) -> ProgressColumn:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class State(ProgressColumn):
        """Count and rate, or the note that replaces them."""

        def render(self, task: Task) -> Text:
            if task.fields["note"] or task.total is None:
                return Text(task.fields["note"])
            speed = task.finished_speed or task.speed
            rate = f" {speed:,.0f} {unit}/s" if speed else ""
            return Text(f"{task.completed:,.0f}/{task.total:,.0f}{rate}", style="cyan")

    return State()
