"""Threads: how many `n_jobs` means, and work dealt out to them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

# Called with the number of pairs, graphs or folds done since the last call.
Ticker = Callable[[int], None]


def in_threads(work: Callable[[int], int], count: int, *, n_jobs: int | None, tick: Ticker | None) -> None:
    """Call work(0..count-1) from `n_jobs` threads; an interrupt lets running chunks end and starts no more."""
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
    """Threads for `n_jobs` as scikit-learn counts them: None is all, -1 all, -2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not valid; give 1 or more, -1 for all cores, or None")
    return max(1, n_jobs if n_jobs > 0 else cores + 1 + n_jobs)


def one_blas_thread() -> Any:
    """Pin BLAS inside a pair to one thread; the old number is restored on leaving."""
    return _libraries().limit(limits=1, user_api="blas")


@functools.cache
def _libraries() -> Any:
    """The thread pools of this process; looking for them takes milliseconds, so it is done once."""
    import scipy.linalg.cython_blas  # noqa: F401  (the BLAS that compiled products call must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
