"""Ctrl-C and SIGTERM: finished work is kept, worker processes end, and the command ends within seconds.

The first signal raises KeyboardInterrupt in the main thread, and the command cleans up. A thread watches: if the
command has not ended after `GRACE` seconds (it may be deep in compiled code), or a second signal comes, the thread says
what was kept and ends the process. That loses nothing, since whatever is kept is written whole or not at all.

Worker processes must not hear Ctrl-C, which a terminal sends to all of them: each would print a traceback. So SIGINT is
blocked in the main thread, and in all that inherit from it; the watching thread alone receives it.
"""

from __future__ import annotations

import logging
import multiprocessing.process
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from rwk.cli.screen import INTERRUPTED, note, what_was_kept
from rwk.runtime.deadline import hide_tidying

GRACE: Final = 3.0  # seconds that a command has to clean up
SHOW_CURSOR: Final = "\x1b[?25h"
# Python's cleaners of shared memory end by themselves, after cleaning up; options about warnings may name them too
TRACKER: Final = b"resource_tracker import main"


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """While a command runs, Ctrl-C and SIGTERM stop it; afterwards signals act as before."""
    if threading.current_thread() is not threading.main_thread():  # signals can be set nowhere else
        yield
        return
    stopper = Stopper()
    before = {number: signal.signal(number, stopper.interrupt) for number in stopper.numbers}
    hide_tidying()
    old_fd = stopper.watch()
    try:
        yield
    except BaseException:
        if stopper.stopping:  # threads in compiled code would delay a normal exit
            stopper.end()
        raise
    finally:
        stopper.unwatch(old_fd)
        for number, handler in before.items():
            signal.signal(number, handler)


class Stopper:
    """Hears signals: the first interrupts the main thread; a second, or too long a clean-up, ends the process."""

    def __init__(self) -> None:
        self.stopping = False
        self.numbers = [signal.SIGTERM]
        if signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):  # a job in the background ignores Ctrl-C
            self.numbers.append(signal.SIGINT)
        self._main = threading.get_ident()
        self._heard, self._written = socket.socketpair()
        self._ending = threading.Lock()

    def interrupt(self, number: int, frame: Any) -> None:
        """Raise KeyboardInterrupt, once; this runs in the main thread."""
        if not self.stopping:
            self.stopping = True
            silence()
            raise KeyboardInterrupt

    def watch(self) -> int:
        """Start the thread; returns the descriptor that signals were written to before."""
        self._written.setblocking(False)
        threading.Thread(target=self._watch, name="rwk-signals", daemon=True).start()
        hear_ctrl_c(False)
        return signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)

    def unwatch(self, old_fd: int) -> None:
        """Let signals act as before."""
        signal.set_wakeup_fd(old_fd)
        hear_ctrl_c(True)
        self._written.close()  # ends the thread

    def end(self) -> None:
        """Stop all child processes, say what was kept unless the command has, and end this process."""
        self._ending.acquire()  # held until the process is gone
        last_resort = threading.Timer(1.0, os._exit, [INTERRUPTED])  # if a console can't be written to
        last_resort.daemon = True
        last_resort.start()
        stop_children()
        with suppress(Exception):
            if sys.stderr.isatty():
                sys.stderr.write(SHOW_CURSOR)  # a progress bar hides it
            sentence = what_was_kept()
            if sentence:
                note(sentence)
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(INTERRUPTED)

    def _watch(self) -> None:
        hear_ctrl_c(True)
        with self._heard, suppress(OSError):
            first = self._next()
            if first == signal.SIGINT and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(self._main, signal.SIGTERM)  # wakes the main thread, which does not hear SIGINT
                self._next()  # its echo
            if first:
                self._heard.settimeout(GRACE)
                with suppress(TimeoutError):
                    first = self._next()
            if first:
                self.end()

    def _next(self) -> int:
        """The next signal that asks the command to stop; 0 if the command has ended."""
        while received := self._heard.recv(1):
            if received[0] in self.numbers:
                return received[0]
        return 0


def hear_ctrl_c(wanted: bool) -> None:
    """Let this thread, and the threads and processes that it starts, receive SIGINT or not."""
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_UNBLOCK if wanted else signal.SIG_BLOCK, {signal.SIGINT})


def silence() -> None:
    """Log nothing and print no traceback of other threads from now on: what is being stopped complains about it."""
    logging.disable()
    threading.excepthook = lambda details: None
    sys.unraisablehook = lambda details: None


def stop_children() -> None:
    """Kill the processes that this one has started, and theirs, and start no others."""
    # a nanny of Dask would start a new worker for every one that dies
    multiprocessing.process.BaseProcess.start = _start_nothing  # type: ignore[method-assign, assignment]
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _start_nothing(process: multiprocessing.process.BaseProcess) -> None:
    raise RuntimeError("this process is ending")


def descendants(pid: int) -> list[int]:
    """The children of a process, their children and so on, without Python's trackers of shared memory."""
    parents: dict[int, list[int]] = {}
    for child, parent in _processes():
        parents.setdefault(parent, []).append(child)
    found, new = list[int](), [pid]
    while new:
        new = [child for one in new for child in parents.get(one, [])]
        found += new
    return [child for child in found if TRACKER not in _command_line(child)]


def _processes() -> Iterator[tuple[int, int]]:
    """(process, its parent) of all processes that can be seen."""
    if Path("/proc/self/stat").exists():
        for place in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                # the name of the program is in parentheses and may contain anything
                yield int(place.parent.name), int(place.read_text().rpartition(")")[2].split()[1])
        return
    with suppress(OSError):
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
        for line in listed.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
