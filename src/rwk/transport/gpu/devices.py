"""Several GPUs: pairs are dealt to them by cost, and one thread drives each.

A worker is one entry of the list of devices. It has a stream of its own, so that two workers on one device do not wait
for each other. Which worker solves a pair changes its value by rounding at most, as its place in a batch does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.threads import Ticker
from rwk.transport.gpu.device_measures import Store, make_store, width_of
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import PairResults
from rwk.transport.work import pair_cost

# by worker: the last store, reused if a list of pairs comes in parts
kept: dict[int, tuple[GraphMeasures, Store]] = {}
LEAST_WORK: Final = 2e9  # multiply-adds per iteration that are worth another worker: about a millisecond


def dealt(sizes: NDArray[np.int64], pairs: NDArray[np.int64], workers: int) -> list[NDArray[np.int64]]:
    """Indices of the pairs of each worker, with about the same cost each and in the order given.

    Pairs are dealt in turn, the most expensive size classes first, forwards and backwards; fewer workers than asked
    for take part if there is little to do.

    >>> pairs = np.array([[0, 0], [0, 1], [1, 1], [1, 1], [0, 0]])
    >>> [share.tolist() for share in dealt(np.array([1000, 2000]), pairs, 2)]
    [[0, 2, 4], [1, 3]]
    """
    if workers == 1 or len(pairs) < 2:
        return [np.arange(len(pairs))]
    widths, classes = np.unique(width_of(sizes), return_inverse=True)
    costs = pair_cost(widths[:, None].astype(np.float64), widths[None, :].astype(np.float64)).ravel()
    codes = (classes * len(widths))[pairs[:, 0]] + classes[pairs[:, 1]]
    work = float(costs @ np.bincount(codes, minlength=len(costs)))
    used = int(np.clip(work // LEAST_WORK, 1, min(workers, len(pairs))))
    rank = np.empty(len(costs), np.uint16)
    rank[np.argsort(-costs, kind="stable")] = np.arange(len(costs))
    order = np.argsort(rank[codes], kind="stable")  # NumPy uses a radix sort for 16-bit numbers
    turn = np.arange(len(order)) % (2 * used)
    worker = np.empty(len(order), np.int64)
    worker[order] = np.where(turn < used, turn, 2 * used - 1 - turn)
    return [np.flatnonzero(worker == number) for number in range(used)]


def run_on_workers(
    solve: Callable[[int, Any, NDArray[np.int64], Ticker], PairResults],
    devices: list[Any],
    shares: list[NDArray[np.int64]],
    tick: Ticker,
) -> PairResults:
    """Call `solve(worker, device, share, tick)` for each share in a thread of its own; results in the order given."""
    lock, stopped = threading.Lock(), threading.Event()

    def heard(done: int) -> None:
        if stopped.is_set():  # another worker failed, or the user interrupted
            raise InterruptedError("stopped")
        with lock:
            tick(done)

    def work(worker: int) -> PairResults:
        try:
            with own_stream(devices[worker]):
                return solve(worker, devices[worker], shares[worker], heard)
        except BaseException:
            stopped.set()
            raise

    results = PairResults.empty(sum(map(len, shares)))
    with ThreadPoolExecutor(len(shares)) as pool:
        running = [pool.submit(work, worker) for worker in range(len(shares))]
        try:
            for future, share in zip(running, shares, strict=True):
                results.put(share, future.result())
        except BaseException as error:
            stopped.set()
            failed = [future.exception() for future in running]
            first = next((each for each in failed if each and not isinstance(each, InterruptedError)), None)
            raise first if first is not None and isinstance(error, InterruptedError) else error from None
    return results


@contextmanager
def own_stream(device: Any) -> Iterator[None]:
    """Make the device the current one of this thread, with a stream of its own; does nothing on the CPU."""
    if device.type != "cuda":
        yield
        return
    import torch

    with torch.cuda.device(device), torch.cuda.stream(torch.cuda.Stream(device)):
        yield
        torch.cuda.current_stream().synchronize()


def store_of(measures: GraphMeasures, device: Any, worker: int = 0) -> Store:
    """The graphs on the device; the store of the worker's last call is reused if the measures are the same."""
    import torch

    if worker in kept and _same(kept[worker][0], measures) and kept[worker][1].device == device:
        return kept[worker][1]
    kept.pop(worker, None)
    made = make_store(measures, np.arange(measures.n_graphs), device, torch.float32)
    kept[worker] = measures, made
    return made


def drop_other_stores(measures: GraphMeasures) -> None:
    """Free the memory of stores of other graphs, on all devices."""
    for worker, (known, _) in list(kept.items()):
        if not _same(known, measures):
            del kept[worker]


def _same(first: GraphMeasures, second: GraphMeasures) -> bool:
    return all(x is y or (np.isscalar(x) and x == y) for x, y in zip(first, second, strict=True))
