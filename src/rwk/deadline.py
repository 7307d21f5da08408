"""Work that is given a time: it is done in a process of its own, which is ended when the time is over."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

GRACE: Final = 5.0  # seconds between asking a process to end and ending it


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
    except EOFError:
        raise RuntimeError(f"{work.__name__} ended without a word; was there enough memory?") from None
    finally:
        _end(process)
        ours.close()
    if error is not None:
        raise error
    return True


def _work(pipe: Connection, work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    error = None
    try:
        work(*arguments)
    except Exception as raised:
        error = raised
    pipe.send(error)


def _end(process: Any) -> None:
    process.join(0.1)
    if process.is_alive():
        process.terminate()
        process.join(GRACE)
    if process.is_alive():
        process.kill()
        process.join()
