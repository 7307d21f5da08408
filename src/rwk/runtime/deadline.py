"""Work with a time limit: it runs in a process of its own, which is stopped when the time is over.

The process leads a process group that its own workers belong to. When the time is over the whole group is stopped, and
none of these processes outlives the caller, however the caller ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final

GRACE: Final = 5.0  # seconds that a process has to end by itself, and again after it was told to end
# the warning of Python's shared-memory tracker when it cleans up after workers that were stopped
TIDYING: Final = "ignore:resource_tracker:UserWarning"


def done_within(seconds: float, work: Callable[..., object], *arguments: Any) -> bool:
    """Run `work(*arguments)` for at most so many seconds, and return whether it finished.

    The time includes the start of the process. Errors of the work are raised here. What it returns is lost, so it
    should leave its results in files. The function and its arguments must be picklable.

    >>> import time
    >>> done_within(0.01, time.sleep, 60)
    False
    """
    if not seconds > 0:
        raise ValueError(f"the time limit must be positive, not {seconds} s")
    start_tracker()
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_work, args=(theirs, work, arguments))
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            return False
        error = ours.recv()
        process.join(GRACE)
    except EOFError:
        raise RuntimeError(
            f"{work.__name__} was killed, perhaps because memory ran out; try a smaller problem"
        ) from None
    finally:
        _end(process)
        ours.close()
    if error is not None:
        raise error
    return True


def hide_tidying() -> None:
    """Let Python's trackers of shared memory, started from now on, clean up after stopped workers without a warning."""
    given = os.environ.get("PYTHONWARNINGS", "")
    if TIDYING not in given:
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [given, TIDYING]))


def start_tracker() -> None:
    """Start Python's tracker of shared memory, without which no process is spawned, before it is needed.

    Python unblocks SIGINT in the thread that starts it; here what was blocked stays so, and so it does in the processes
    that are spawned afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows, which needs no tracker
        return
    from multiprocessing.resource_tracker import ensure_running

    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _work(pipe: Connection, work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """What the process does: the work, then send back its error, or None."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
        threading.Thread(target=_end_with_caller, daemon=True).start()
    hide_tidying()
    error = None
    try:
        work(*arguments)
    except Exception as raised:
        error = raised
    pipe.send(error)


def _end_with_caller() -> None:
    """Wait for the caller to end, then stop the whole process group."""
    caller = multiprocessing.parent_process()
    if caller is not None:
        caller.join()
        os.killpg(os.getpgrp(), signal.SIGTERM)


def _end(process: Any) -> None:
    """Stop a process, if it still runs, and its group; shared-memory trackers clean up and end by themselves."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    process.terminate()  # in case it does not lead a group yet
    process.join(GRACE)
    if process.is_alive():
        process.kill()
        process.join()
