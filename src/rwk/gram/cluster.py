"""Tiles on a Dask cluster: local, over TCP, on SLURM, Kubernetes or anything else a Dask client speaks to.

Blocks of measures are scattered once each, when a tile first needs them, and stay on the cluster to the end of the
run. A worker lost on the way costs the tiles it was at; blocks that were lost with it are scattered again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Final, Self

from rwk.gram.budget import Workload
from rwk.gram.errors import GramError, need
from rwk.gram.executors import LoadBlock, Solved, TileJob, solve_tile_alone, this_version
from rwk.gram.tiles import Tile
from rwk.runtime.backends import device_present
from rwk.runtime.threads import Ticker

ANSWER_WITHIN: Final = 5.0  # seconds for a scheduler to answer
TRIES: Final = 5  # of one tile, if workers keep getting lost with it
TILES_PER_THREAD: Final = 2  # one at work, one waiting


class Dask:
    """Workers of a Dask cluster; `patience` is how many seconds to wait while there is no worker at all."""

    def __init__(self, client: Any, *, patience: float = 600.0) -> None:
        self.client = client
        self.patience = patience

    @classmethod
    def connect(cls, where: str, *, patience: float = 60.0) -> Self:
        """A client for "tcp://host:port" of a scheduler, or for "local:4" worker processes started here."""
        distributed = need("distributed", "a Dask cluster")
        if where.startswith("local"):
            count = where.partition(":")[2] or "2"
            if not count.isdigit() or int(count) < 1:
                raise GramError(f"--dask {where!r} does not say how many workers; write it like 'local:4'")
            cluster = distributed.LocalCluster(
                n_workers=int(count), threads_per_worker=1, dashboard_address=":0", memory_limit=0
            )
            return cls(distributed.Client(cluster), patience=patience)
        try:
            return cls(distributed.Client(where, timeout=ANSWER_WITHIN), patience=patience)
        except Exception as error:  # a stranger's answer may end in anything
            raise GramError(
                f"no Dask scheduler answers at {where} within {ANSWER_WITHIN:g} seconds; "
                "check the address and that it runs"
            ) from error

    def close(self) -> None:
        """Leave the cluster, and stop it if it was started here."""
        cluster = self.client.cluster
        self.client.close()
        if cluster is not None:
            cluster.close()

    @property
    def n_workers(self) -> int:
        return sum(self._wait_for_workers().values())

    @property
    def load(self) -> Workload:
        """Of one worker: that is the machine whose memory is stated."""
        threads = max(self._wait_for_workers().values())
        return Workload(tiles=threads, threads=threads)

    def find_backend(self) -> str:
        self.check_workers()
        answers = set(self.client.run(device_present).values())
        if len(answers) > 1:
            raise GramError("some workers have a GPU and some have none; ask for backend='cpu' or use one kind")
        return "gpu" if answers == {True} else "cpu"

    def check_workers(self) -> None:
        """All workers must have this very version of the package."""
        self._wait_for_workers()
        answers = self.client.run(this_version, on_error="return")
        for worker, answer in answers.items():
            if isinstance(answer, BaseException):
                raise GramError(
                    f"the worker {worker} has no usable rwk ({answer}); install rwk {this_version()[0]} there"
                )
            if tuple(answer) != this_version():
                raise GramError(
                    f"the worker {worker} has rwk {answer[0]} (solver {answer[1]}) and this is rwk {this_version()[0]} "
                    f"(solver {this_version()[1]}); install the same version on both"
                )

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        self.check_workers()
        run = _Run(self.client, job, tiles, load_block)
        try:
            while run.fill(TILES_PER_THREAD * self.n_workers):
                yield from run.landed()
        finally:
            run.cancel()

    def _wait_for_workers(self) -> dict[str, int]:
        """Threads of each worker; patience with a cluster that has none at the moment."""
        start = time.monotonic()
        while True:
            threads = self._threads()
            if threads:
                return threads
            if time.monotonic() - start > self.patience:
                raise GramError(
                    f"the Dask cluster has had no worker for {self.patience:g} seconds; finished tiles are kept: "
                    "start workers and run again"
                )
            time.sleep(0.2)

    def _threads(self) -> dict[str, int]:
        try:
            if self.client.status == "running":
                return dict(self.client.nthreads())
        except (OSError, TimeoutError):
            pass
        raise GramError("the Dask scheduler is gone; finished tiles are kept: start it and run again")


class _Run:
    """Tiles to come, tiles on the cluster, and the blocks scattered for them."""

    def __init__(self, client: Any, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock) -> None:
        self.client, self.job, self.load_block = client, job, load_block
        self.coming = iter(tiles)
        self.lost: list[Tile] = []
        self.flying: dict[Any, Tile] = {}
        self.tries: dict[Tile, int] = {}
        self.held: dict[int, Any] = {}

    def fill(self, width: int) -> int:
        """Send tiles until so many are on the cluster; returns how many are, or could not be sent right now."""
        while len(self.flying) < width:
            tile = self.lost.pop() if self.lost else next(self.coming, None)
            if tile is None:
                break
            try:
                rows = self._block(tile.row)
                columns = None if tile.row == tile.column else self._block(tile.column)
            except (OSError, TimeoutError):  # the worker that was to hold it went away
                self.lost.append(tile)
                return len(self.flying) + 1
            future = self.client.submit(solve_tile_alone, self.job, rows, columns, pure=False)
            self.flying[future] = tile
        return len(self.flying)

    def landed(self) -> Iterator[Solved]:
        """Tiles that are back; lost ones go again."""
        from distributed import wait

        if not self.flying:
            return
        try:
            with self.client.as_current():  # else `wait` asks whichever client was made last
                wait(list(self.flying), timeout=1.0, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return
        except CancelledError:  # some were lost, which their status says too
            pass
        for future in [future for future in self.flying if future.status != "pending"]:
            tile = self.flying.pop(future)
            solved = self._result(future, tile)
            if solved is None:
                self.lost.append(tile)
            else:
                yield tile, solved

    def cancel(self) -> None:
        """Drop what is under way."""
        if self.client.status == "running":
            self.client.cancel(list(self.flying))
        self.flying.clear()
        self.held.clear()

    def _result(self, future: Any, tile: Tile) -> Any:
        """The solved tile, or None if it was lost with its worker."""
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=60)
        except (CancelledError, KilledWorker, CommClosedError, TimeoutError) as error:
            self.tries[tile] = self.tries.get(tile, 0) + 1
            if self.tries[tile] >= TRIES:
                raise GramError(
                    f"workers were lost {TRIES} times with the same tile, most likely for want of memory; "
                    "give workers more memory or make a store with a smaller budget"
                ) from error
            for block in {tile.row, tile.column}:
                self._forget_if_lost(block)
            return None

    def _block(self, number: int) -> Any:
        self._forget_if_lost(number)
        if number not in self.held:
            # in a list of one, as a tuple of arrays would be scattered array by array
            [self.held[number]] = self.client.scatter([self.load_block(number)], hash=False)
        return self.held[number]

    def _forget_if_lost(self, number: int) -> None:
        if number in self.held and self.held[number].status != "finished":
            del self.held[number]
