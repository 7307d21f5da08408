"""Tiles on a Dask cluster: local, over TCP, on SLURM, Kubernetes, or wherever a Dask client connects to.

Each block of measures is scattered when a tile first needs it, and stays on the cluster until the run ends. If a worker
is lost, its tiles are solved again, and blocks that were lost with it are scattered again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Final, Self, TypeVar

from rwk.gram.budget import Workload
from rwk.gram.errors import GramError, need
from rwk.gram.executors import LoadBlock, Solved, TileJob, solve_tile_alone, this_version
from rwk.gram.tiles import Tile
from rwk.runtime.backends import device_present
from rwk.runtime.deadline import start_tracker
from rwk.runtime.log import LOG
from rwk.runtime.threads import Ticker

ANSWER_WITHIN: Final = 5.0  # seconds for a scheduler to answer
SILENT_FOR: Final = 30.0  # seconds without an answer after which a connected scheduler is given up
ASKED_EVERY: Final = 2.0  # seconds, whether the scheduler is still there while a call waits for it
TRIES: Final = 5  # how often workers may be lost with the same tile
TILES_PER_THREAD: Final = 2  # one being solved, one waiting

Found = TypeVar("Found")


class Dask:
    """The workers of a Dask cluster; `patience` is how many seconds to wait while there is no worker."""

    def __init__(self, client: Any, *, patience: float = 600.0) -> None:
        self.client = client
        self.patience = patience

    @classmethod
    def connect(cls, where: str, *, patience: float = 60.0) -> Self:
        """Connect to a scheduler at "tcp://host:port", or start worker processes here with "local:4"."""
        start_tracker()  # before Dask does
        distributed = need("distributed", "a Dask cluster")
        if where.startswith("local"):
            count = where.partition(":")[2] or "2"
            if not count.isdigit() or int(count) < 1:
                raise GramError(f"--dask {where!r} does not say how many workers; write it like 'local:4'")
            cluster = distributed.LocalCluster(
                n_workers=int(count),
                threads_per_worker=1,
                dashboard_address=":0",
                memory_limit=0,
                silence_logs=logging.CRITICAL,  # workers that are stopped would complain
            )
            return cls(distributed.Client(cluster), patience=patience)
        try:
            _handshake(where)
            return cls(distributed.Client(where, timeout=ANSWER_WITHIN), patience=patience)
        except Exception as error:  # what answers there may be anything
            raise GramError(
                f"no Dask scheduler answers at {where} within {ANSWER_WITHIN:g} seconds; "
                "check the address, and that the scheduler is running"
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
        """The load of one worker, since the memory budget is per worker."""
        threads = max(self._wait_for_workers().values())
        return Workload(tiles=threads, threads=threads)

    def find_backend(self) -> str:
        self.check_workers()
        answers = set(self.answer(lambda: self.client.run(device_present)).values())
        if len(answers) > 1:
            raise GramError("some workers have a GPU and some have none; use backend='cpu', or workers of one kind")
        return "gpu" if answers == {True} else "cpu"

    def check_workers(self) -> None:
        """Raise a `GramError` if a worker has another version of the package."""
        self._wait_for_workers()
        answers = self.answer(lambda: self.client.run(this_version, on_error="return"))
        for worker, answer in answers.items():
            if isinstance(answer, BaseException):
                raise GramError(
                    f"the worker {worker} has no usable rwk ({answer}); install rwk {this_version()[0]} there"
                )
            if tuple(answer) != this_version():
                raise GramError(
                    f"the worker {worker} has rwk {answer[0]} (solver {answer[1]}), but this is rwk "
                    f"{this_version()[0]} (solver {this_version()[1]}); install the same version on both"
                )

    def solve(self, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock, tick: Ticker) -> Iterator[Solved]:
        self.check_workers()
        run = _Run(self, job, tiles, load_block)
        try:
            while run.fill(TILES_PER_THREAD * self.n_workers):
                yield from run.finished()
        finally:
            run.cancel()

    def answer(self, ask: Callable[[], Found]) -> Found:
        """The answer to a call that would wait for ever if the scheduler never answered: then a `GramError`."""
        found: list[Found] = []
        errors: list[BaseException] = []

        def wait() -> None:
            try:
                found.append(ask())
            except BaseException as error:
                errors.append(error)

        asking = threading.Thread(target=wait, daemon=True)
        asking.start()
        asking.join(ASKED_EVERY)
        while asking.is_alive():
            self._threads()  # raises if the scheduler is silent or gone; workers may take their time
            asking.join(ASKED_EVERY)
        if errors:
            raise errors[0]
        return found[0]

    def _wait_for_workers(self) -> dict[str, int]:
        """Threads of each worker; waits for a while if the cluster has no worker at the moment."""
        start = time.monotonic()
        while True:
            threads = self._threads()
            if threads:
                return threads
            if time.monotonic() - start > self.patience:
                raise GramError(
                    f"the Dask cluster has had no worker for {self.patience:g} seconds; finished tiles are kept: "
                    "start workers and run the same command again"
                )
            time.sleep(0.2)

    def _threads(self) -> dict[str, int]:
        try:
            if self.client.status == "running":
                found = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=SILENT_FOR)
                return dict(found)
        except TimeoutError:
            raise GramError(
                f"the Dask scheduler has not answered for {SILENT_FOR:g} seconds; finished tiles are kept: look "
                "after it and run the same command again"
            ) from None
        except OSError:
            pass
        raise GramError("the Dask scheduler is gone; finished tiles are kept: start it and run the same command again")


def _handshake(where: str) -> None:
    """Raise an error unless a Dask server answers; a `Client` would wait for one that accepts and stays silent."""
    failed: list[BaseException | None] = []

    async def connect() -> None:
        from distributed.comm import connect as open_comm

        comm = await asyncio.wait_for(open_comm(where, timeout=ANSWER_WITHIN), ANSWER_WITHIN)
        comm.abort()

    def ask() -> None:  # in a thread: a notebook has a running loop in the main one
        try:
            asyncio.run(connect())
            failed.append(None)
        except Exception as error:
            failed.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(2 * ANSWER_WITHIN)
    error = failed[0] if failed else TimeoutError()
    if error is not None:
        raise error


class _Run:
    """One run: tiles to be sent, tiles on the cluster, and the blocks scattered for them."""

    def __init__(self, cluster: Dask, job: TileJob, tiles: Iterable[Tile], load_block: LoadBlock) -> None:
        self.cluster, self.client, self.job, self.load_block = cluster, cluster.client, job, load_block
        self.coming = iter(tiles)
        self.lost: list[Tile] = []
        self.sent: dict[Any, Tile] = {}
        self.tries: dict[Tile, int] = {}
        self.held: dict[int, Any] = {}

    def fill(self, width: int) -> int:
        """Send tiles until `width` are on the cluster; returns their number, plus 1 if a tile could not be sent."""
        while len(self.sent) < width:
            tile = self.lost.pop() if self.lost else next(self.coming, None)
            if tile is None:
                break
            try:
                rows = self._block(tile.row)
                columns = None if tile.row == tile.column else self._block(tile.column)
            except (OSError, TimeoutError):  # the worker that should hold the block was lost
                self.lost.append(tile)
                return len(self.sent) + 1
            future = self.client.submit(solve_tile_alone, self.job, rows, columns, pure=False)
            self.sent[future] = tile
        return len(self.sent)

    def finished(self) -> Iterator[Solved]:
        """Yield finished tiles; lost ones are queued again."""
        from distributed import wait

        if not self.sent:
            return
        try:
            with self.client.as_current():  # otherwise `wait` uses the client that was made last
                wait(list(self.sent), timeout=1.0, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return
        except CancelledError:  # some were lost; their status says which
            pass
        for future in [future for future in self.sent if future.status != "pending"]:
            tile = self.sent.pop(future)
            solved = self._result(future, tile)
            if solved is None:
                self.lost.append(tile)
            else:
                yield tile, solved

    def cancel(self) -> None:
        """Cancel the tiles on the cluster."""
        if self.client.status == "running":
            self.client.cancel(list(self.sent))
        self.sent.clear()
        self.held.clear()

    def _result(self, future: Any, tile: Tile) -> Any:
        """The solved tile; None if it was lost with its worker."""
        from distributed.comm import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return future.result(timeout=SILENT_FOR)
        except (CancelledError, KilledWorker, CommClosedError, TimeoutError) as error:
            self.tries[tile] = self.tries.get(tile, 0) + 1
            if self.tries[tile] >= TRIES:
                raise GramError(
                    f"workers were lost {TRIES} times with the same tile, most likely out of memory; "
                    "give workers more memory, or make a store with a smaller budget"
                ) from error
            LOG.warning("a worker was lost; solving tile %d.%d again", tile.row, tile.column)
            for block in {tile.row, tile.column}:
                self._forget_if_lost(block)
            return None

    def _block(self, number: int) -> Any:
        self._forget_if_lost(number)
        if number not in self.held:
            # in a list of one, because a tuple of arrays would be scattered array by array
            loaded = [self.load_block(number)]
            [self.held[number]] = self.cluster.answer(lambda: self.client.scatter(loaded, hash=False))
        return self.held[number]

    def _forget_if_lost(self, number: int) -> None:
        if number in self.held and self.held[number].status != "finished":
            del self.held[number]
