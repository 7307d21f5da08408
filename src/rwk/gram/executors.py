"""Who solves the tiles: threads of this process, processes of this machine, or (in `cluster`) a Dask cluster.

An executor takes tiles and a way to load blocks of measures, and yields solved tiles in any order. It keeps nothing:
whoever consumes it writes them down. A lost worker costs the tile it was at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain, islice
from queue import SimpleQueue
from threading import Event
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

import rwk
from rwk.gram.budget import Workload, tiles_at_once
from rwk.gram.errors import GramError
from rwk.gram.store import TileValues
from rwk.gram.tiles import Tile, Tiling
from rwk.parameters import Parameters
from rwk.runtime.backends import device_present
from rwk.runtime.threads import Ticker, one_blas_thread, thread_count
from rwk.transport.measures import GraphMeasures, in_precision, joined
from rwk.transport.pairs import content_ranks, solve_pairs
from rwk.transport.problem import SOLVER_VERSION, CostWeights, ScgOptions

Solved = tuple[Tile, TileValues]
LoadBlock = Callable[[int], GraphMeasures]
TICK_EVERY: Final = 0.2  # seconds, at most, between two looks at what threads have solved
LOSSES_IN_A_ROW: Final = 3  # worker pools that may break without finishing a tile between


class TileJob(NamedTuple):
    """What is the same for every tile; it travels to the workers."""

    weights: CostWeights
    options: ScgOptions
    precision: str
    backend: str
    version: tuple[str, int]  # of rwk and of its solver, where the run was started

    @classmethod
    def of(cls, settings: Parameters, backend: str) -> TileJob:
        return cls(settings.cost_weights(), settings.scg_options(), settings.precision, backend, this_version())


class Executor(Protocol):
    """Solves tiles somewhere."""

    @property
    def n_workers(self) -> int:
        """Threads that solve pairs at once, everywhere."""

    @property
    def load(self) -> Workload:
        """What happens at once on one machine."""

    def find_backend(self) -> str:
        """Which backend the workers have, "gpu" or "cpu"."""

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        """Solved tiles as they come; `tick` hears of pairs solved before their tile is."""


def this_version() -> tuple[str, int]:
    """Version of the package and of its solver."""
    return rwk.__version__, SOLVER_VERSION


def solve_tile(
    job: TileJob,
    rows: GraphMeasures,
    columns: GraphMeasures | None,
    *,
    n_jobs: int | None = 1,
    tick: Ticker | None = None,
) -> TileValues:
    """Solve all pairs of two blocks, or of one with itself."""
    if this_version() != job.version:
        raise GramError(
            f"a worker has rwk {this_version()[0]} (solver {this_version()[1]}) and the run was started by "
            f"{job.version[0]} (solver {job.version[1]}); install the same version on both"
        )
    start = time.perf_counter()
    if columns is None:
        pairs = np.stack(np.triu_indices(rows.n_graphs), axis=1).astype(np.int64)
        measures = _writable(rows)
    else:
        left, right = np.indices((rows.n_graphs, columns.n_graphs), np.int64).reshape(2, -1)
        pairs = np.stack([left, right + rows.n_graphs], axis=1)
        measures = joined(rows, columns)
    results = solve_pairs(
        in_precision(measures, job.precision),
        pairs,
        job.weights,
        job.options,
        backend=job.backend,
        n_jobs=n_jobs,
        tick=tick,
        ranks=content_ranks(measures),
    )
    if columns is None:
        values = np.empty((rows.n_graphs, rows.n_graphs))
        values[pairs[:, 0], pairs[:, 1]] = values[pairs[:, 1], pairs[:, 0]] = results.values
    else:
        values = results.values.reshape(rows.n_graphs, columns.n_graphs)
    n_bad = int((~results.converged).sum())
    return TileValues(values, n_bad, int(results.n_iter.sum()), time.perf_counter() - start)


def solve_tile_alone(job: TileJob, rows: GraphMeasures, columns: GraphMeasures | None) -> TileValues:
    """`solve_tile` in a worker process, which leaves the cores to the other workers for good."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, "blas")
    return solve_tile(job, rows, columns)


class Threads:
    """Threads of this process: a tile each while memory lasts, else several on a tile. A GPU has one tile at a time."""

    def __init__(self, n_jobs: int | None = None, *, at_once: int = 1) -> None:
        self.n_jobs = n_jobs
        self.at_once = at_once

    @property
    def n_workers(self) -> int:
        return thread_count(self.n_jobs)

    @property
    def load(self) -> Workload:
        """One tile at the least; how many more there is room for is known when there are tiles."""
        return Workload(tiles=1, threads=thread_count(self.n_jobs))

    def fitted(self, tiling: Tiling, budget: int) -> Threads:
        """The same threads, on as many of these tiles at once as the budget has room for."""
        return Threads(self.n_jobs, at_once=tiles_at_once(tiling, budget, self.n_workers))

    def find_backend(self) -> str:
        return "gpu" if device_present() else "cpu"

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        at_once = 1 if job.backend == "gpu" else min(self.at_once, self.n_workers)
        coming, running, heard = iter(tiles), dict[Future[TileValues], _Running](), SimpleQueue[Callable[[], None]]()
        stopped = Event()

        def start(tile: Tile) -> None:
            blocks = {b: load_block(b) for b in sorted({tile.row, tile.column})}
            mine = _Running(tile, heard, tick, stopped)
            columns = None if tile.row == tile.column else blocks[tile.column]
            n_jobs = max(1, self.n_workers // at_once)
            future = pool.submit(solve_tile, job, blocks[tile.row], columns, n_jobs=n_jobs, tick=mine.solved)
            running[future] = mine

        # pinned around all tiles: their own pinning would be undone by whichever ends first
        with one_blas_thread(), ThreadPoolExecutor(at_once) as pool:
            try:
                while True:
                    for tile in islice(coming, at_once - len(running)):
                        start(tile)
                    if not running:
                        return
                    landed = wait(running, timeout=TICK_EVERY, return_when=FIRST_COMPLETED).done
                    while not heard.empty():
                        heard.get()()
                    done = [(running.pop(future), future) for future in landed]
                    for tile in islice(coming, at_once - len(running)):  # before the writing, which takes its time
                        start(tile)
                    for mine, future in done:
                        yield mine.tile, mine.landed(future.result())
            finally:  # after an interrupt a running tile ends with the chunk it is at, and is dropped
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)


class _Running:
    """A tile in work. What it has solved is told in the thread that consumes, and taken back when the tile lands."""

    def __init__(self, tile: Tile, heard: SimpleQueue[Callable[[], None]], tick: Ticker, stopped: Event) -> None:
        self.tile = tile
        self._heard, self._tick, self._stopped = heard, tick, stopped
        self._told = 0

    def solved(self, pairs: int) -> None:
        """Called by the thread that solves, after every chunk of pairs."""
        if self._stopped.is_set():
            raise _DroppedError
        self._heard.put(lambda: self._tell(pairs))

    def landed(self, solved: TileValues) -> TileValues:
        self._tell(-self._told)
        return solved

    def _tell(self, pairs: int) -> None:
        self._told += pairs
        self._tick(pairs)


class _DroppedError(Exception):
    """Ends a tile nobody waits for any more."""


class Processes:
    """Worker processes of this machine through joblib, one tile each."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = thread_count(n_jobs)

    @property
    def n_workers(self) -> int:
        return self.n_jobs

    @property
    def load(self) -> Workload:
        return Workload(tiles=self.n_jobs + 1, threads=self.n_jobs)

    def find_backend(self) -> str:
        return "gpu" if device_present() else "cpu"

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        coming = iter(tiles)
        sent: dict[tuple[int, int], Tile] = {}  # not back yet
        losses, over = 0, False
        while not over:
            try:
                for key, solved in self._pool(job, sent, coming, load_block):
                    losses = 0
                    yield sent.pop(key), solved
                over = True
            except TerminatedWorkerError as error:
                losses += 1
                if losses >= LOSSES_IN_A_ROW:
                    raise GramError(
                        f"worker processes died {losses} times in a row without finishing a tile, most likely for want "
                        "of memory; use fewer processes (n_jobs) or a smaller memory budget"
                    ) from error

    def _pool(
        self, job: TileJob, sent: dict[tuple[int, int], Tile], coming: Iterator[Tile], load_block: LoadBlock
    ) -> Iterator[tuple[tuple[int, int], TileValues]]:
        """Solve what was sent and lost, then what is coming."""
        from joblib import Parallel, delayed

        def work() -> Iterator[Any]:
            for tile in chain(list(sent.values()), coming):
                key = (tile.row, tile.column)
                sent[key] = tile
                columns = None if tile.row == tile.column else load_block(tile.column)
                yield delayed(_keyed)(key, job, load_block(tile.row), columns)

        # no memory maps: read-only arrays would be compiled for a second time
        pool = Parallel(
            self.n_jobs,
            "loky",
            return_as="generator_unordered",
            pre_dispatch=self.n_jobs + 1,
            batch_size=1,
            max_nbytes=None,
        )
        yield from pool(work())


def _keyed(
    key: tuple[int, int], job: TileJob, rows: GraphMeasures, columns: GraphMeasures | None
) -> tuple[tuple[int, int], TileValues]:
    return key, solve_tile_alone(job, rows, columns)


def _writable(measures: GraphMeasures) -> GraphMeasures:
    """Arrays that came over a wire may be read-only, for which nothing is compiled."""
    fields = {name: np.require(value, requirements="W") for name, value in measures._asdict().items()}
    return measures._replace(**{name: value for name, value in fields.items() if value.ndim})
