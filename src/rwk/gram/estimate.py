"""What a Gram matrix takes, from a measured sample: `rwk gram --dry-run`, and what is printed before a long run."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import harmonic_mean
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.convert import as_graphs
from rwk.gram.budget import largest_tile_bytes, limits_within, parse_memory
from rwk.gram.executor_names import as_executor
from rwk.gram.executors import Executor, Processes, Threads, TileJob
from rwk.gram.matrix import PAIRS_PER_BLOCK
from rwk.gram.tiles import Tiling, block_ends
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.represent.footprint import measure_bytes
from rwk.runtime.arrays import IntArray
from rwk.runtime.threads import thread_count
from rwk.transport.measures import GraphMeasures, cut, in_precision
from rwk.transport.pairs import solve_pairs
from rwk.transport.work import pair_cost

DRAWN: Final = 20_000  # pairs whose cost is looked at
STRATA: Final = 8  # of the same total cost each
PAIRS_PER_STRATUM: Final = 48
LONG_ENOUGH: Final = 0.1  # seconds: a shorter measurement is repeated with more pairs
ENOUGH_SECONDS: Final = 10.0  # of measuring; the costlier strata then follow from the cost model
BYTES_PER_PAIR_BEING_SOLVED: Final = 110  # its numbers, its place in the order, its results


class GramEstimate(NamedTuple):
    """Pairs, tiles, time and memory of a Gram matrix that is not computed yet."""

    n_graphs: int
    n_pairs: int
    n_tiles: int
    core_seconds: float
    n_workers: int  # threads; 1 on a GPU
    tile_bytes: float  # memory of the tiles that are solved at once, on one machine
    matrix_bytes: int  # the whole matrix, in memory or as a memory map
    store_bytes: int  # upper triangle and measures, at most
    sampled_pairs: int
    backend: str
    memory_bytes: float  # of a run that holds matrix and measures in memory

    @property
    def seconds(self) -> float:
        """Time if all workers are busy to the end."""
        return self.core_seconds / self.n_workers

    @property
    def pairs_per_core_second(self) -> float:
        return self.n_pairs / self.core_seconds


def estimate_gram(
    graphs: Any,
    *,
    memory: str | int = "2GB",
    executor: Any = None,
    measures: GraphMeasures | None = None,
    **parameters: Any,
) -> GramEstimate:
    """Estimate time, memory and storage of `compute_gram` with the same arguments.

    Pairs are drawn at random and sorted by cost into strata of the same total cost; some of each stratum are solved
    and timed, by as many threads at once as the run would use. So cores that are busy with other work count.

    Parameters
    ----------
    graphs : anything `as_graphs` accepts
        The graphs of the matrix.
    memory : str or int, default "2GB"
        Memory for the tiles that are solved at once.
    executor : optional
        Who would compute the matrix, as in `compute_gram`.
    measures : GraphMeasures, optional
        The graphs as `represent` returns them, if they are at hand; otherwise the graphs of the sample are represented.
    **parameters
        Fields of `rwk.Parameters`.

    Returns
    -------
    GramEstimate
        Numbers of pairs and tiles, `core_seconds`, `seconds` on all workers, and bytes of memory and storage.

    Examples
    --------
    >>> import networkx as nx
    >>> estimate = estimate_gram([nx.path_graph(n) for n in range(3, 30)])
    >>> estimate.n_pairs, estimate.core_seconds > 0
    (378, True)
    """
    settings = Parameters.of(parameters)
    given = as_graphs(graphs)
    workers = as_executor(executor, settings.n_jobs)
    backend = workers.find_backend() if settings.solver() == "auto" else settings.solver()
    budget, sizes, n_pairs = parse_memory(memory), given.sizes, len(given) * (len(given) + 1) // 2

    def represented(chosen: IntArray) -> GraphMeasures:
        return represent(given[chosen], settings)[0] if measures is None else cut(measures, chosen)

    taken = measure_bytes(given, settings)
    ends = block_ends(sizes, taken, limits_within(budget, sizes, taken, workers.load))
    tiling = Tiling.of([sizes], [ends], taken)
    stopwatch = _Stopwatch(TileJob.of(settings, backend), _threads_here(workers, backend), n_pairs // STRATA)
    seconds_per_pair, sampled = _measure(sizes, represented, stopwatch)
    held = float(taken.sum()) if measures is None else sum(np.asarray(part).nbytes for part in measures)
    return GramEstimate(
        n_graphs=len(given),
        n_pairs=n_pairs,
        n_tiles=tiling.n_blocks * (tiling.n_blocks + 1) // 2,
        core_seconds=seconds_per_pair * n_pairs,
        n_workers=1 if backend == "gpu" and isinstance(workers, Threads) else workers.n_workers,
        tile_bytes=_tiles_at_once(workers, tiling, budget) * largest_tile_bytes(tiling),
        matrix_bytes=8 * len(given) ** 2,
        store_bytes=8 * n_pairs + int(taken.sum()),
        sampled_pairs=sampled,
        backend=backend,
        memory_bytes=held + 8 * len(given) ** 2 + BYTES_PER_PAIR_BEING_SOLVED * min(n_pairs, PAIRS_PER_BLOCK[backend]),
    )


def _tiles_at_once(workers: Executor, tiling: Tiling, budget: int) -> int:
    return workers.fitted(tiling, budget).at_once if isinstance(workers, Threads) else workers.load.tiles


def _threads_here(workers: Executor, backend: str) -> int:
    """How many threads of this machine would solve pairs at the same time; 1 if other machines do, or a GPU."""
    local = isinstance(workers, Threads | Processes) and backend != "gpu"
    return min(workers.n_workers, thread_count(None)) if local else 1


def _measure(
    sizes: IntArray, represented: Callable[[IntArray], GraphMeasures], stopwatch: _Stopwatch
) -> tuple[float, int]:
    """Mean seconds per pair of one thread, and how many pairs were solved to find out."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(sizes), (DRAWN, 2))
    cost = pair_cost(sizes[drawn[:, 0]].astype(float), sizes[drawn[:, 1]].astype(float))
    order = np.argsort(cost, kind="stable")
    share = np.cumsum(cost[order]) / cost.sum()
    strata = np.split(order, np.searchsorted(share, np.arange(1, STRATA) / STRATA))
    total, spent, sampled, rate = 0.0, 0.0, 0, 0.0
    for stratum in (stratum for stratum in strata if len(stratum)):
        if spent <= ENOUGH_SECONDS:
            at = rng.choice(stratum, min(PAIRS_PER_STRATUM, len(stratum)), replace=False)
            chosen = drawn[at]
            used, numbers = np.unique(chosen, return_inverse=True)
            measures = in_precision(represented(used), stopwatch.job.precision)
            pairs = numbers.reshape(chosen.shape).astype(np.int64)
            stopwatch.warm(measures, pairs[[cost[at].argmin(), cost[at].argmax()]])
            seconds, n_timed = stopwatch.timed(measures, pairs)
            spent += seconds
            sampled += n_timed
            per_pair = seconds / n_timed
            rate = per_pair / float(cost[stratum].mean())
        else:
            per_pair = rate * float(cost[stratum].mean())
        total += per_pair * len(stratum)
    return total / DRAWN, sampled


class _Stopwatch(NamedTuple):
    """Times the solver as a run would use it."""

    job: TileJob
    n_threads: int
    most: int  # pairs that it is worth repeating a measurement for

    def warm(self, measures: GraphMeasures, pairs: IntArray) -> None:
        """Compile or load the solvers of these pairs; those of small and large pairs differ."""
        for pair in pairs:
            self._solve(measures, pair[None])

    def timed(self, measures: GraphMeasures, pairs: IntArray) -> tuple[float, int]:
        """Seconds of the solver alone, and how many pairs each thread has solved in that time.

        What is done once per graph is left out: in a tile it is spread over very many pairs. Fast pairs are repeated
        until they can be timed, as a GPU needs many at once to be busy.
        """
        with ThreadPoolExecutor(self.n_threads) as pool:
            while True:
                copies = [pool.submit(self._solve, measures, pairs) for _ in range(self.n_threads)]
                # threads share the work of a run, so their rates add up, and a slow one does not hold up the others
                seconds = harmonic_mean([copy.result() for copy in copies])
                if seconds >= LONG_ENOUGH or len(pairs) >= self.most:
                    return seconds, len(pairs)
                pairs = np.tile(pairs, (4, 1))

    def _solve(self, measures: GraphMeasures, pairs: IntArray) -> float:
        job, start = self.job, time.perf_counter()
        solve_pairs(measures, pairs, job.weights, job.options, backend=job.backend, n_jobs=1)
        return time.perf_counter() - start
