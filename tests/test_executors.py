"""Threads, processes and Dask workers give bit-identical results; if a worker is lost, only its tile is repeated."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gram_graphs import QUICK, SMALL, random_graphs
from rwk import pairwise_discrepancy
from rwk.gram.compute import GramProgress, compute_gram
from rwk.gram.errors import GramError
from rwk.gram.executors import Processes, Threads, TileJob, solve_tile, this_version
from rwk.gram.tiles import Tile, Tiling
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.measures import GraphMeasures, cut

GRAPHS = random_graphs(48)
OTHER_VERSION = "import rwk; rwk.__version__ = '0.0.9'\n"


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    return pairwise_discrepancy(GRAPHS, **QUICK)


def gram(executor: Any, **options: Any) -> np.ndarray:
    return compute_gram(GRAPHS, memory=SMALL, executor=executor, **{**QUICK, **options}).discrepancy()


# ---------------------------------------------------------------- this machine


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_thread_count_agnostic(n_jobs: int, matrix: np.ndarray) -> None:
    np.testing.assert_array_equal(gram("threads", n_jobs=n_jobs), matrix)


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_tiles_at_once_agnostic(at_once: int, matrix: np.ndarray) -> None:
    class Fixed(Threads):
        def fitted(self, tiling: Any, budget: int) -> Threads:
            return Threads(self.n_jobs, at_once=at_once)

    np.testing.assert_array_equal(gram(Fixed(3)), matrix)


@pytest.mark.parametrize(("memory", "at_once"), [(10**9, 3), (10**6, 1)])
def test_threads_take_a_tile_each_while_memory_lasts(memory: int, at_once: int) -> None:
    """Tiles of few pairs are one chunk each: with threads only within a tile, one thread would solve them all."""
    tiling = Tiling.of([GRAPHS.sizes], [list(range(6, 49, 6))], 2e3 * GRAPHS.sizes)
    measures, _ = represent(GRAPHS, Parameters(**QUICK))
    blocks = [cut(measures, tiling.members(block)) for block in range(tiling.n_blocks)]
    loaded: list[int] = []

    def load(block: int) -> GraphMeasures:
        loaded.append(block)
        return blocks[block]

    threads = Threads(3).fitted(tiling, memory)
    job = TileJob.of(Parameters(**QUICK), "cpu")
    diagonal = [tile for tile in tiling if tile.row == tile.column]  # one block each
    running = threads.solve(job, diagonal, load, lambda pairs: None)
    next(running)
    assert at_once < len(loaded) <= 2 * at_once  # those that ran side by side, and as many as took their place
    assert len(list(running)) == len(diagonal) - 1


def test_an_error_in_one_tile_ends_the_run() -> None:
    measures, _ = represent(GRAPHS, Parameters())
    job = TileJob.of(Parameters(), "cpu")._replace(version=("0.0.9", 0))
    tiles = [Tile(row, column, 48, 48, 1.0) for row in range(3) for column in range(row, 3)]
    with pytest.raises(GramError, match="a worker has rwk"):
        list(Threads(2, at_once=2).solve(job, tiles, lambda block: measures, lambda pairs: None))


def test_processes_survive_the_loss_of_one(matrix: np.ndarray) -> None:
    killed: list[int] = []

    def kill_one(progress: GramProgress) -> None:
        if progress.tiles_done == 3 and not killed:
            children = subprocess.run(["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False)
            workers = [int(pid) for pid in children.stdout.split() if b"popen_loky" in command_line(int(pid))]
            os.kill(workers[0], signal.SIGKILL)
            killed.append(workers[0])

    result = compute_gram(GRAPHS, memory="2MB", executor=Processes(2), report=kill_one, **QUICK)
    assert killed
    np.testing.assert_array_equal(result.discrepancy(), matrix)


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_unknown_executor() -> None:
    with pytest.raises(GramError, match="executor='slurm' is not known"):
        gram("slurm")


def test_a_tile_of_another_version_is_refused() -> None:
    measures, _ = represent(GRAPHS[:2], Parameters())
    job = TileJob.of(Parameters(), "cpu")._replace(version=("0.0.9", 0))
    with pytest.raises(GramError, match=r"a worker has rwk .* started by rwk 0\.0\.9"):
        solve_tile(job, measures, None)


# ---------------------------------------------------------------- Dask


class Cluster:
    """A scheduler and workers in processes of their own, which connect over TCP."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start("scheduler", "--host", "127.0.0.1", "--port", self.address.rpartition(":")[2], "--no-dashboard")

    def add_worker(self, *options: str) -> subprocess.Popen[bytes]:
        plain = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny", "--memory-limit", "0")
        return self._start("worker", self.address, *plain, *options)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def _start(self, role: str, *options: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{role}-{len(self.processes)}.log").open("wb")
        command = [sys.executable, "-m", "dask", role, *options]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        self.processes.append(process)
        return process


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    for _ in range(2):
        cluster.add_worker()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def client(cluster: Cluster) -> Iterator[Any]:
    from distributed import Client

    with Client(cluster.address, timeout=30) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def test_workers_over_tcp(client: Any, matrix: np.ndarray) -> None:
    np.testing.assert_array_equal(gram(client), matrix)


def test_the_address_of_a_scheduler(cluster: Cluster, client: Any, matrix: np.ndarray) -> None:
    from rwk.gram.cluster import Dask

    dask = Dask.connect(cluster.address)
    np.testing.assert_array_equal(gram(dask), matrix)
    dask.close()
    assert len(client.nthreads()) == 2  # a cluster that was not started here goes on


def test_workers_killed_during_the_run(cluster: Cluster, client: Any, matrix: np.ndarray, tmp_path: Path) -> None:
    """The first workers are killed one after the other; new workers solve the tiles that they worked on."""
    killed: list[int] = []

    def kill(progress: GramProgress) -> None:
        if progress.tiles_done in (3, 9) and len(killed) < progress.tiles_done / 4:
            cluster.add_worker()
            victim = client.run(os.getpid)
            os.kill(next(pid for pid in victim.values() if pid not in killed), signal.SIGKILL)
            killed.append(progress.tiles_done)

    last: list[GramProgress] = []

    def report(progress: GramProgress) -> None:
        last.append(progress)
        kill(progress)

    result = compute_gram(GRAPHS, store=tmp_path / "s", memory=SMALL, executor=client, report=report, **QUICK)
    assert len(killed) == 2
    assert last[-1].tiles_done == last[-1].n_tiles  # none twice in the store's count, none left out
    np.testing.assert_array_equal(result.discrepancy(), matrix)


def test_a_worker_of_another_version(cluster: Cluster, client: Any, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_text(OTHER_VERSION)
    before = len(client.nthreads())
    old = cluster.add_worker("--preload", str(tmp_path / "old.py"))
    wait_for(lambda: len(client.nthreads()) > before)
    with pytest.raises(GramError, match=rf"has rwk 0\.0\.9 .* this is rwk {this_version()[0]}"):
        gram(client)
    old.kill()
    wait_for(lambda: len(client.nthreads()) == before)


def wait_for(condition: Any) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < 60
        time.sleep(0.05)


def test_a_cluster_whose_workers_are_gone(tmp_path: Path, matrix: np.ndarray) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from distributed import Client

    from rwk.gram.cluster import Dask

    cluster = Cluster(tmp_path)
    try:
        worker = cluster.add_worker()
        with Client(cluster.address, timeout=30) as client:
            client.wait_for_workers(1, timeout=60)

            def kill(progress: GramProgress) -> None:
                if progress.tiles_done == 2 and worker.poll() is None:
                    worker.kill()

            store, dask = tmp_path / "store", Dask(client=client, patience=1.0)
            with pytest.raises(GramError, match="no worker for 1 seconds; finished tiles are kept"):
                compute_gram(GRAPHS, store=store, memory=SMALL, executor=dask, report=kill, **QUICK)
    finally:
        cluster.close()
    last: list[GramProgress] = []
    result = compute_gram(GRAPHS, store=store, memory=SMALL, report=last.append, **QUICK)
    assert last[-1].tiles_found >= 2
    np.testing.assert_array_equal(result.discrepancy(), matrix)


def test_a_scheduler_that_goes_away(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from distributed import Client

    cluster = Cluster(tmp_path)
    try:
        cluster.add_worker()
        with Client(cluster.address, timeout=30) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(GramError, match="the Dask scheduler is gone; finished tiles are kept"):
                compute_gram(
                    GRAPHS,
                    store=tmp_path / "store",
                    memory=SMALL,
                    executor=client,
                    report=lambda progress: cluster.processes[0].kill() if progress.tiles_done == 2 else None,
                    **QUICK,
                )
    finally:
        cluster.close()


def test_a_scheduler_that_falls_silent_while_a_call_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from distributed import Client

    from rwk.gram import cluster as place

    monkeypatch.setattr(place, "SILENT_FOR", 1.0)
    cluster = Cluster(tmp_path)
    try:
        cluster.add_worker()
        client = Client(cluster.address, timeout=30)
        client.wait_for_workers(1, timeout=60)
        dask = place.Dask(client)
        assert dask.answer(lambda: client.scatter([7], hash=False))[0].result() == 7
        with pytest.raises(ZeroDivisionError):
            dask.answer(lambda: 1 // 0)
        cluster.processes[0].send_signal(signal.SIGSTOP)
        with pytest.raises(GramError, match="has not answered for 1 seconds; finished tiles are kept"):
            dask.answer(lambda: client.scatter([7], hash=False))
    finally:
        cluster.close()
        client.close(timeout=1)


def test_local_workers(matrix: np.ndarray) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from rwk.gram.cluster import Dask

    dask = Dask.connect("local:2")
    try:
        assert dask.n_workers == 2
        assert dask.find_backend() in ("cpu", "gpu")
        np.testing.assert_array_equal(gram(dask), matrix)
    finally:
        dask.close()


@pytest.mark.parametrize("where", ["local:none", "local:0"])
def test_a_local_cluster_of_no_size(where: str) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from rwk.gram.cluster import Dask

    with pytest.raises(GramError, match="does not say how many workers"):
        Dask.connect(where)


def test_an_address_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    from rwk.gram import cluster

    monkeypatch.setattr(cluster, "ANSWER_WITHIN", 0.5)
    for where in ("tcp://127.0.0.1:9", "nonsense"):
        with pytest.raises(GramError, match=rf"no Dask scheduler answers at {where} within 0\.5 seconds"):
            cluster.Dask.connect(where)
