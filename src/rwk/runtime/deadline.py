"""Work that is given a time: it is done in a process of its own, which is ended when the time is over.

The process leads a group, and its own workers belong to that: when the time is over all of them are ended, and none
outlives the caller, however that ends.
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

GRACE: Final = 5.0  # seconds that a process has to end by itself, and again when it is asked to
# what trackers of shared memory say when they tidy up after workers that were ended
TIDYING: Final = "ignore:resource_tracker:UserWarning"


def done_within(seconds: float, work: Callable[..., object], *arguments: Any) -> bool:
    """Whether `work(*arguments)` is done in so many seconds, start of the process included; its errors are raised here.

    What it returns is lost: it should leave its results in files. Function and arguments must pickle.

    >>> import time
    >>> done_within(0.01, time.sleep, 60)
    False
    """
    if not seconds > 0:
        raise ValueError(f"a budget must be positive, not {seconds} s")
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
        raise RuntimeError(f"{work.__name__} ended without a word; was there enough memory?") from None
    finally:
        _end(process)
        ours.close()
    if error is not None:
        raise error
    return True


def _work(pipe: Connection, work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """What the process does: the work, and a word on how it went."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()
        threading.Thread(target=_end_with_caller, daemon=True).start()
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [os.environ.get("PYTHONWARNINGS"), TIDYING]))
    error = None
    try:
        work(*arguments)
    except Exception as raised:
        error = raised
    pipe.send(error)


def _end_with_caller() -> None:
    caller = multiprocessing.parent_process()
    if caller is not None:
        caller.join()
        os.killpg(os.getpgrp(), signal.SIGTERM)


def _end(process: Any) -> None:
    """End a process that may have ended, and its group; trackers of shared memory tidy up and end by themselves."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
    process.terminate()  # it may not have come to lead a group
    process.join(GRACE)
    if process.is_alive():
        process.kill()
        process.join()
