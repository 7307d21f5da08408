"""What a Gram matrix would take, from a measured sample: `rwk gram --dry-run`."""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.convert import as_graphs
from rwk.gram.budget import largest_tile_bytes, limits_within, parse_memory
from rwk.gram.executor_names import as_executor
from rwk.gram.executors import Threads, TileJob
from rwk.gram.tiles import Tiling, block_ends, measure_bytes, pair_cost
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import IntArray
from rwk.transport.measures import in_precision
from rwk.transport.pairs import backend_named, orient

DRAWN: Final = 20_000  # pairs whose cost is looked at
STRATA: Final = 8  # of equal cost together
PAIRS_PER_STRATUM: Final = 48
ENOUGH_SECONDS: Final = 10.0  # of measuring; dearer strata then follow from the cost model


class GramEstimate(NamedTuple):
    """Pairs, tiles, time and room of a Gram matrix that is not computed yet."""

    n_graphs: int
    n_pairs: int
    n_tiles: int
    core_seconds: float
    n_workers: int
    tile_bytes: float  # memory of the tiles in work at once, on one machine
    matrix_bytes: int  # the whole matrix, in memory or as a map
    store_bytes: int  # upper triangle and measures, at most
    sampled_pairs: int

    @property
    def seconds(self) -> float:
        """Time of all workers together, if none waits."""
        return self.core_seconds / self.n_workers

    @property
    def pairs_per_core_second(self) -> float:
        return self.n_pairs / self.core_seconds


def estimate_gram(graphs: Any, *, memory: str | int = "2GB", executor: Any = None, **parameters: Any) -> GramEstimate:
    """Time, memory and storage of `compute_gram` with the same arguments, from a sample of pairs solved here.

    Pairs are drawn at random, sorted by cost into strata of equal total cost, and some of each are timed on one core.

    >>> import networkx as nx
    >>> estimate = estimate_gram([nx.path_graph(n) for n in range(3, 30)])
    >>> estimate.n_pairs, estimate.core_seconds > 0
    (378, True)
    """
    settings = Parameters.of(parameters)
    given = as_graphs(graphs)
    workers = as_executor(executor, settings.n_jobs)
    backend = "exact" if settings.direction == "exact" else settings.backend
    backend = workers.find_backend() if backend == "auto" else backend
    sizes = given.sizes
    tiling = Tiling.of([sizes], [block_ends(sizes, limits_within(parse_memory(memory), sizes, workers.load))])
    n_pairs = len(given) * (len(given) + 1) // 2
    seconds_per_pair, sampled = _measure(given, settings, TileJob.of(settings, backend))
    at_once = workers.load.tiles
    if isinstance(workers, Threads):
        at_once = workers.fitted(tiling, parse_memory(memory)).at_once
    return GramEstimate(
        n_graphs=len(given),
        n_pairs=n_pairs,
        n_tiles=tiling.n_blocks * (tiling.n_blocks + 1) // 2,
        core_seconds=seconds_per_pair * n_pairs,
        n_workers=workers.n_workers,
        tile_bytes=at_once * largest_tile_bytes(tiling),
        matrix_bytes=8 * len(given) ** 2,
        store_bytes=8 * n_pairs + int(measure_bytes(sizes).sum()),
        sampled_pairs=sampled,
    )


def _measure(graphs: GraphSet, settings: Parameters, job: TileJob) -> tuple[float, int]:
    """Seconds a pair takes on average on one core, and how many pairs were solved to know."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, len(graphs), (DRAWN, 2))
    cost = pair_cost(graphs.sizes[drawn[:, 0]].astype(float), graphs.sizes[drawn[:, 1]].astype(float))
    order = np.argsort(cost, kind="stable")
    share = np.cumsum(cost[order]) / cost.sum()
    strata = np.split(order, np.searchsorted(share, np.arange(1, STRATA) / STRATA))
    total, spent, sampled, rate = 0.0, 0.0, 0, 0.0
    for number, stratum in enumerate(stratum for stratum in strata if len(stratum)):
        if spent <= ENOUGH_SECONDS:
            chosen = drawn[rng.choice(stratum, min(PAIRS_PER_STRATUM, len(stratum)), replace=False)]
            seconds = _timed(graphs, chosen, settings, job, warm=number == 0)
            spent += seconds
            sampled += len(chosen)
            per_pair = seconds / len(chosen)
            rate = per_pair / float(cost[stratum].mean())
        else:
            per_pair = rate * float(cost[stratum].mean())
        total += per_pair * len(stratum)
    return total / DRAWN, sampled


def _timed(graphs: GraphSet, pairs: IntArray, settings: Parameters, job: TileJob, *, warm: bool) -> float:
    used, numbers = np.unique(pairs, return_inverse=True)
    measures = in_precision(represent(graphs[used], settings)[0], job.precision)
    numbers = numbers.reshape(pairs.shape).astype(np.int64)
    run, oriented = backend_named(job.backend).run_pairs, orient(measures, numbers)
    if warm:  # compiles or loads the solver
        run(measures, oriented[:1], job.weights, job.options, n_jobs=1)
    # the solver alone: in a tile, what is done once a graph is spread over very many pairs
    start = time.perf_counter()
    run(measures, oriented, job.weights, job.options, n_jobs=1)
    return time.perf_counter() - start
