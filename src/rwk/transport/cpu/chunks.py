"""Long lists of pairs as chunks of like cost, and threads that take them one after the other."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.transport.problem import GraphMeasures

# Called with the number of pairs done since the last call.
Ticker = Callable[[int], None]

PAIRS_PER_CHUNK: Final = 512
COST_PER_CHUNK: Final = 2e8  # in multiply-adds of one iteration; a chunk of large pairs is short


def plan_chunks(
    measures: GraphMeasures, pairs: NDArray[np.int64], *, alike: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs in descending order of cost, or (`alike`) of size with like sizes together, and where each chunk begins."""
    sizes = measures.sizes.astype(np.float64)
    n, m = sizes[pairs[:, 0]], sizes[pairs[:, 1]]
    cost = n * m * (n + m + 64)
    order = _alike(pairs, n, m) if alike else np.argsort(-cost, kind="stable")
    filled = np.cumsum(cost[order] / COST_PER_CHUNK + 1.0 / PAIRS_PER_CHUNK)
    bounds = np.searchsorted(filled, np.arange(1, int(filled[-1]) + 1)) if len(pairs) else np.zeros(0, np.int64)
    return order, np.unique(np.concatenate([[0], bounds, [len(pairs)]])).astype(np.int64)


def _alike(pairs: NDArray[np.int64], n: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.int64]:
    """Target after target, sources up and down in turn, so that neither size ever jumps."""
    by_target = np.lexsort((pairs[:, 1], -m))
    upwards = np.empty(len(pairs), np.bool_)
    upwards[by_target] = np.cumsum(np.diff(pairs[by_target, 1], prepend=-1) != 0) % 2 == 0
    return np.lexsort((np.where(upwards, n, -n), pairs[:, 1], -m))


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
        raise ValueError("n_jobs=0 is no number of threads: give 1 or more, -1 for all cores, or None")
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
