"""Who solves the tiles: threads of this process, processes of this machine, or (in `cluster`) a Dask cluster.

An executor takes tiles and a function that loads blocks of measures, and yields solved tiles in any order. It stores
nothing: the caller writes tiles down. If a worker is lost, the tile it was solving is solved again.
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
from rwk.runtime.log import LOG
from rwk.runtime.threads import Ticker, one_blas_thread, thread_count
from rwk.transport.measures import GraphMeasures, in_precision, joined
from rwk.transport.pairs import solve_pairs
from rwk.transport.problem import SOLVER_VERSION, CostWeights, ScgOptions

Solved = tuple[Tile, TileValues]
LoadBlock = Callable[[int], GraphMeasures]
TICK_EVERY: Final = 0.2  # seconds, at most, between two reports of what threads have solved
LOSSES_IN_A_ROW: Final = 3  # how often worker processes may die before any of them finishes a tile


class TileJob(NamedTuple):
    """What all tiles have in common; it is sent to the workers."""

    weights: CostWeights
    options: ScgOptions
    precision: str
    backend: str
    version: tuple[str, int]  # of rwk and of its solver, on the machine that started the run

    @classmethod
    def of(cls, settings: Parameters, backend: str) -> TileJob:
        return cls(settings.cost_weights(), settings.scg_options(), settings.precision, backend, this_version())


class Executor(Protocol):
    """Solves tiles somewhere."""

    @property
    def n_workers(self) -> int:
        """Number of threads that solve pairs at the same time, on all machines together."""

    @property
    def load(self) -> Workload:
        """Tiles and threads at work at the same time on one machine."""

    def find_backend(self) -> str:
        """The backend that the workers have, "gpu" or "cpu"."""

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        """Yield solved tiles; `tick` is called with the number of pairs solved in unfinished tiles."""


def this_version() -> tuple[str, int]:
    """The versions of the package and of its solver."""
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
            f"a worker has rwk {this_version()[0]} (solver {this_version()[1]}), but the run was started by "
            f"rwk {job.version[0]} (solver {job.version[1]}); install the same version on both"
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
    )
    if columns is None:
        values = np.empty((rows.n_graphs, rows.n_graphs))
        values[pairs[:, 0], pairs[:, 1]] = values[pairs[:, 1], pairs[:, 0]] = results.values
    else:
        values = results.values.reshape(rows.n_graphs, columns.n_graphs)
    n_bad = int((~results.converged).sum())
    return TileValues(values, n_bad, int(results.n_iter.sum()), time.perf_counter() - start)


def solve_tile_alone(job: TileJob, rows: GraphMeasures, columns: GraphMeasures | None) -> TileValues:
    """`solve_tile` in a worker process, whose BLAS keeps to one thread from then on."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, "blas")
    return solve_tile(job, rows, columns)


class Threads:
    """Threads of this process: one tile each if memory allows, otherwise several per tile; one tile on a GPU."""

    def __init__(self, n_jobs: int | None = None, *, at_once: int = 1) -> None:
        self.n_jobs = n_jobs
        self.at_once = at_once

    @property
    def n_workers(self) -> int:
        return thread_count(self.n_jobs)

    @property
    def load(self) -> Workload:
        """At least one tile; `fitted` finds out how many more the budget allows."""
        return Workload(tiles=1, threads=thread_count(self.n_jobs))

    def fitted(self, tiling: Tiling, budget: int) -> Threads:
        """The same threads, on as many of these tiles at once as the budget allows."""
        return Threads(self.n_jobs, at_once=tiles_at_once(tiling, budget, self.n_workers))

    def find_backend(self) -> str:
        return "gpu" if device_present() else "cpu"

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        at_once = 1 if job.backend == "gpu" else min(self.at_once, self.n_workers)
        coming, running, reports = iter(tiles), dict[Future[TileValues], _Running](), SimpleQueue[Callable[[], None]]()
        stopped = Event()

        def start(tile: Tile) -> None:
            blocks = {b: load_block(b) for b in sorted({tile.row, tile.column})}
            mine = _Running(tile, reports, tick, stopped)
            columns = None if tile.row == tile.column else blocks[tile.column]
            n_jobs = max(1, self.n_workers // at_once)
            future = pool.submit(solve_tile, job, blocks[tile.row], columns, n_jobs=n_jobs, tick=mine.solved)
            running[future] = mine

        # BLAS is limited around all tiles: a limit set inside a tile would be lifted by the first tile to end
        with one_blas_thread(), ThreadPoolExecutor(at_once) as pool:
            try:
                while True:
                    for tile in islice(coming, at_once - len(running)):
                        start(tile)
                    if not running:
                        return
                    ended = wait(running, timeout=TICK_EVERY, return_when=FIRST_COMPLETED).done
                    while not reports.empty():
                        reports.get()()
                    done = [(running.pop(future), future) for future in ended]
                    for tile in islice(coming, at_once - len(running)):  # before the caller writes, which takes time
                        start(tile)
                    for mine, future in done:
                        yield mine.tile, mine.finished(future.result())
            finally:  # after an interrupt, running tiles are dropped at the end of their current chunk
                stopped.set()
                pool.shutdown(wait=True, cancel_futures=True)


class _Running:
    """A tile being solved: its pairs are reported in the caller's thread, and subtracted when the tile is finished."""

    def __init__(self, tile: Tile, reports: SimpleQueue[Callable[[], None]], tick: Ticker, stopped: Event) -> None:
        self.tile = tile
        self._reports, self._tick, self._stopped = reports, tick, stopped
        self._pairs = 0

    def solved(self, pairs: int) -> None:
        """Called by the solving thread after every chunk of pairs."""
        if self._stopped.is_set():
            raise _DroppedError
        self._reports.put(lambda: self._report(pairs))

    def finished(self, solved: TileValues) -> TileValues:
        self._report(-self._pairs)
        return solved

    def _report(self, pairs: int) -> None:
        self._pairs += pairs
        self._tick(pairs)


class _DroppedError(Exception):
    """Ends the solving of a tile whose result is no longer wanted."""


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
        sent: dict[tuple[int, int], Tile] = {}  # to workers, without a result so far
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
                        f"worker processes died {losses} times in a row without finishing a tile, most likely out of "
                        "memory; use fewer processes (n_jobs) or a smaller memory budget"
                    ) from error
                LOG.warning("a worker process died; solving its tiles again")

    def _pool(
        self, job: TileJob, sent: dict[tuple[int, int], Tile], coming: Iterator[Tile], load_block: LoadBlock
    ) -> Iterator[tuple[tuple[int, int], TileValues]]:
        """Solve the tiles that were sent and lost, then the coming ones."""
        from joblib import Parallel, delayed

        def work() -> Iterator[Any]:
            for tile in chain(list(sent.values()), coming):
                key = (tile.row, tile.column)
                sent[key] = tile
                columns = None if tile.row == tile.column else load_block(tile.column)
                yield delayed(_keyed)(key, job, load_block(tile.row), columns)

        # no memory maps: the solver would have to be compiled again for read-only arrays
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
    """The same measures in writable arrays, as the solver expects; from another process they may be read-only."""
    fields = {name: np.require(value, requirements="W") for name, value in measures._asdict().items()}
    return measures._replace(**{name: value for name, value in fields.items() if value.ndim})
