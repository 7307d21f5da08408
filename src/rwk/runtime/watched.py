"""Progress bars of functions called from Python: `verbose=True`, `False`, or `None` for automatic.

An automatic bar appears after five seconds, if somebody is watching: in a terminal or a notebook, in the main thread of
the main process, and only if no other bar is shown. A terminal gets the bar of `progress`, a notebook one in HTML.
"""

from __future__ import annotations

import functools
import html
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Final, Protocol

from rwk.runtime import progress
from rwk.runtime.threads import Ticker
from rwk.runtime.words import duration

AUTOMATIC_AFTER: Final = 5.0  # seconds
EVERY: Final = 0.25  # seconds between two updates in a notebook


class MovingBar(Protocol):
    """What moves a bar: called with the number of units done since the last call, or told how many there are."""

    def __call__(self, done: int) -> None: ...

    def show(self, done: float, total: float, note: str = "") -> None: ...


class NotebookBar:
    """A bar in the output of a notebook's cell; it needs IPython alone."""

    def __init__(self, title: str, total: float | None, unit: str, done: float = 0) -> None:
        from IPython.display import display

        self._title, self._total, self._unit = title, total, unit
        self._done = self._first = done
        self._note, self._start, self._next = "", time.monotonic(), 0.0
        self._handle: Any = display(self._content(), raw=True, display_id=True)

    def __call__(self, done: int) -> None:
        self._done += done
        self._draw()

    def show(self, done: float, total: float, note: str = "") -> None:
        self._done, self._total, self._note = min(done, total), total, note
        self._draw()

    def close(self) -> None:
        """Draw the last state."""
        self._next = 0.0
        self._draw()

    def _draw(self) -> None:
        if time.monotonic() >= self._next and self._handle is not None:
            self._handle.update(self._content(), raw=True)
            self._next = time.monotonic() + EVERY

    def _content(self) -> dict[str, str]:
        seconds, total = time.monotonic() - self._start, self._total
        rate = (self._done - self._first) / seconds if seconds > 0 else 0.0
        parts = [self._note] if self._note else [f"{self._done:,.0f}/{total:,.0f}" if total else ""]
        parts += [f"{rate:,.0f} {self._unit}/s"] if rate and not self._note else []
        parts.append(duration(seconds))
        if total and rate and self._done < total:
            parts.append(f"{duration((total - self._done) / rate)} left")
        text = " · ".join(part for part in parts if part)
        bar = f'<progress max="{total:g}" value="{self._done:g}"></progress>' if total else "<progress></progress>"
        shown = f'<div style="font:13px sans-serif">{html.escape(self._title)} {bar} {html.escape(text)}</div>'
        return {"text/html": shown, "text/plain": f"{self._title}: {text}"}


def watched(
    tick: Ticker | None, verbose: bool | None, title: str, total: float | None, unit: str = "pairs"
) -> AbstractContextManager[Ticker | None]:
    """A context that yields the ticker of some work: the caller's, if there is one, or that of a bar, or None."""
    return nullcontext(tick) if tick is not None else shown_progress(verbose, title, total, unit)


def shown_progress(
    verbose: bool | None, title: str, total: float | None, unit: str = "pairs", *, done: int = 0
) -> AbstractContextManager[MovingBar | None]:
    """The bar that `verbose` asks for; yields what moves it, or None if no bar will be shown.

    >>> with shown_progress(False, "solving", 100) as tick:
    ...     tick is None
    True
    """
    check_verbose(verbose)
    make = functools.partial(_bar, title, total, unit)
    if verbose is False or progress.is_shown():
        return nullcontext()
    if verbose:
        return make(done)
    return _late(make, done) if is_somebody_watching() else nullcontext()


def check_verbose(verbose: object) -> None:
    """Reject anything but True, False and None."""
    if verbose is not None and not isinstance(verbose, bool):
        raise ValueError(f"verbose={verbose!r} is not valid; give True, False, or None for a bar after five seconds")


def is_somebody_watching() -> bool:
    """Whether this is the main thread of the main process, in a notebook or with a terminal as stderr."""
    main = threading.current_thread() is threading.main_thread()
    if not main or multiprocessing.current_process().name != "MainProcess":
        return False
    return in_notebook() or bool(sys.stderr and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this code runs in the kernel of a notebook; IPython is not imported."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def _bar(title: str, total: float | None, unit: str, done: int) -> Iterator[MovingBar]:
    if not in_notebook():
        with progress.progress_bar(title, total, unit, done=done) as shown:
            yield shown
        return
    with progress.being_shown():
        bar = NotebookBar(title, total, unit, done)
        try:
            yield bar
        finally:
            bar.close()


@contextmanager
def _late(make: Callable[[int], AbstractContextManager[MovingBar]], done: int) -> Iterator[MovingBar]:
    bar = LateBar(make, done, AUTOMATIC_AFTER)
    try:
        yield bar
    finally:
        bar.close()


class LateBar:
    """A bar that appears only if the work takes longer than some seconds."""

    def __init__(self, make: Callable[[int], AbstractContextManager[MovingBar]], done: int, after: float) -> None:
        self._make, self._done = make, done
        self._bar: MovingBar | None = None
        self._state: tuple[float, float, str] | None = None  # of the last `show`
        self._opened, self._lock = ExitStack(), threading.Lock()
        self._timer = threading.Timer(after, self._open)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, done: int) -> None:
        with self._lock:
            self._done += done
            if self._bar is not None:
                self._bar(done)

    def show(self, done: float, total: float, note: str = "") -> None:
        """Set the bar to `done` of `total`; a note replaces the count and the rate."""
        with self._lock:
            self._state = (done, total, note)
            if self._bar is not None:
                self._bar.show(done, total, note)

    def close(self) -> None:
        """Remove the timer, and finish the bar if it has appeared."""
        self._timer.cancel()
        with self._lock:
            self._opened.close()

    def _open(self) -> None:
        with self._lock:
            if self._timer.finished.is_set() or progress.is_shown():  # the work ended just now, or another bar began
                return
            self._bar = self._opened.enter_context(self._make(self._done))
            if self._state is not None:
                self._bar.show(*self._state)
