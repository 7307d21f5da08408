"""Threads: how many `n_jobs` asks for, and a loop that runs on them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

# called with the number of pairs, graphs or folds done since the last call
Ticker = Callable[[int], None]


def in_threads(work: Callable[[int], int], count: int, *, n_jobs: int | None, tick: Ticker | None) -> None:
    """Call work(0), ..., work(count - 1) in `n_jobs` threads; after an interrupt, running calls end and none starts.

    `work` returns the number that `tick` is called with.
    """
    report = tick or (lambda done: None)
    n_threads = min(thread_count(n_jobs), count)
    if n_threads <= 1:
        for chunk in range(count):
            report(work(chunk))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        running: set[Future[int]] = set()
        try:
            for chunk in range(count):
                running.add(pool.submit(work, chunk))
                while len(running) >= 2 * n_threads or (running and chunk == count - 1):
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in finished:
                        report(future.result())
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def thread_count(n_jobs: int | None) -> int:
    """Number of threads that `n_jobs` asks for: None and -1 mean all cores that this process may use, -2 all but one.

    >>> thread_count(3), thread_count(-1) == thread_count(None)
    (3, True)
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not valid; give 1 or more, -1 for all cores, or None")
    return max(1, n_jobs if n_jobs > 0 else cores + 1 + n_jobs)


def one_blas_thread() -> Any:
    """A context in which BLAS uses one thread; the old number is restored at the end."""
    return _libraries().limit(limits=1, user_api="blas")


@functools.cache
def _libraries() -> Any:
    """The thread pools of this process; finding them takes milliseconds, so it is done once."""
    import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that compiled products call must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
