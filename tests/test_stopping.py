"""Ctrl-C and SIGTERM stop every command within seconds: work is kept, no process is left, no traceback is shown."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gram_graphs import random_graphs, write_tu
from rwk.cli import stopping
from rwk.cli.stopping import Stopper, descendants
from rwk.experiment.records import read_records
from test_executors import Cluster, wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the list of processes in /proc")

SECONDS = 5 + 5  # the promise, and as much again for a machine that is busy
QUICK = ["--max-iter", "2", "--sinkhorn-iter", "5", "--backend", "cpu"]
# a command whose tiles, folds or solver say that they have begun, and then take a minute: until they are stopped
SLOW_TILES = """
from {module} import {name} as solve
import {module} as place
def slow(*given):
    solved = solve(*given)
    if not os.path.exists({first!r}):
        open({first!r}, "w").close()
        return solved  # one tile is finished, the others take their time
    open({begun!r} + "/" + str(os.getpid()), "w").close()
    time.sleep(60)
place.SILENT_FOR = 2.0  # of Dask
place.{name} = slow
"""
SLOW_FOLDS = """
import rwk.experiment.running as running
run_fold = running._run_fold
def slow(runner, task):
    done = run_fold(runner, task)
    if task.fold == 0 and task.seed == 0:
        return done
    open({begun!r} + "/" + str(os.getpid()), "w").close()
    time.sleep(60)
running._run_fold = slow
"""
# like compiled code in the middle of a pair: it runs without the interpreter lock and hears no signal
DEAF = """
import ctypes
from {module} import {where} as place
def deaf(*given, **options):
    open({begun!r} + "/" + str(os.getpid()), "w").close()
    for _ in range(600):
        ctypes.CDLL(None).usleep(100_000)  # goes on after a signal, as compiled code does
place.{name} = deaf
"""
MAIN = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background inherit that it is ignored
{patch}
if __name__ == "__main__":
    from rwk.cli import main
    sys.argv = ["rwk", *{words!r}]
    main()
"""


class Command:
    """A command in a session of its own, with all processes that it starts."""

    def __init__(self, folder: Path, words: list[str], patch: str) -> None:
        self.begun = folder / "begun"
        self.begun.mkdir(exist_ok=True)
        script = folder / "command.py"
        script.write_text(MAIN.format(words=words, patch=patch.replace("{begun!r}", repr(str(self.begun)))))
        self.process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            cwd=folder,
        )
        self.errors = ""

    def wait_for_work(self, count: int = 1) -> None:
        wait_for(lambda: self.process.poll() is not None or len(list(self.begun.iterdir())) >= count)
        assert self.process.poll() is None, self.process.communicate()[0]

    def stop(self, *signals: signal.Signals) -> str:
        """Send signals as a terminal does (Ctrl-C, to all processes) or `kill` does (to one); returns what was said."""
        started = [self.process.pid, *descendants(self.process.pid)]
        start = time.monotonic()
        for number in signals:
            if number == signal.SIGINT:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
            time.sleep(0.3)
        try:
            said, _ = self.process.communicate(timeout=60)
        finally:
            self.kill(started)
        assert time.monotonic() - start < SECONDS, said
        assert self.process.returncode == 130, said
        assert "Traceback" not in said
        assert "Error" not in said
        assert "Warning" not in said
        return " ".join(said.split())

    def kill(self, started: list[int]) -> None:
        left = [pid for pid in started[1:] if Path(f"/proc/{pid}/cmdline").exists() and _is_alive(pid)]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        assert not left, "processes were left behind"


def _is_alive(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty for one that ended and waits to be collected
    except OSError:
        return False


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_tu(tmp_path_factory.mktemp("data") / "TOY", random_graphs(40)))


def gram_command(folder: Path, data: str, place: tuple[str, str], *options: str) -> Command:
    words = ["gram", data, "--store", str(folder / "store"), "--memory", "450kB", "--resume", *options, *QUICK]
    patch = SLOW_TILES.replace("{module}", place[0]).replace("{name}", place[1])
    return Command(folder, words, patch.replace("{first!r}", repr(str(folder / "first"))))


PROCESSES, DASK = ("rwk.gram.executors", "_keyed"), ("rwk.gram.cluster", "solve_tile_alone")
TERM, CTRL_C, TWICE = (signal.SIGTERM,), (signal.SIGINT,), (signal.SIGINT, signal.SIGINT)


@pytest.mark.parametrize("signals", [TERM, CTRL_C], ids=["SIGTERM", "Ctrl-C"])
def test_gram_in_processes(signals: tuple[signal.Signals, ...], data: str, tmp_path: Path) -> None:
    command = gram_command(tmp_path, data, PROCESSES, "--processes", "2")
    command.wait_for_work(2)
    assert "finished tiles are kept" in command.stop(*signals)
    assert list((tmp_path / "store" / "discrepancy-0").glob("*.*"))


@pytest.mark.parametrize("signals", [TERM, TWICE], ids=["SIGTERM", "Ctrl-C twice"])
def test_gram_on_local_dask_workers(signals: tuple[signal.Signals, ...], data: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    command = gram_command(tmp_path, data, DASK, "--dask", "local:1")
    command.wait_for_work()
    assert "finished tiles are kept" in command.stop(*signals)
    assert list((tmp_path / "store" / "discrepancy-0").glob("*.*"))


def test_workers_are_told_from_trackers_whatever_their_options() -> None:
    """A warning filter that names the tracker is passed on to workers; they are to be stopped nevertheless."""
    code = "import time; time.sleep(60)"
    worker = subprocess.Popen([sys.executable, "-Wignore:resource_tracker:UserWarning", "-c", code])
    tracker = subprocess.Popen([sys.executable, "-c", f"'from x.resource_tracker import main'; {code}"])
    try:
        wait_for(lambda: all(_is_alive(one.pid) for one in (worker, tracker)))
        found = descendants(os.getpid())
        assert worker.pid in found
        assert tracker.pid not in found
    finally:
        for one in (worker, tracker):
            one.kill()
            one.wait()


def test_gram_while_dask_workers_start(data: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    command = gram_command(tmp_path, data, DASK, "--dask", "local:2")
    wait_for(lambda: command.process.poll() is not None or descendants(command.process.pid))
    assert "finished tiles are kept" in command.stop(signal.SIGINT)


def test_classify_in_processes(data: str, tmp_path: Path) -> None:
    words = ["classify", data, "-o", str(tmp_path / "run"), "--repeats", "1", "--n-jobs", "2", "--backend", "cpu"]
    command = Command(tmp_path, words, SLOW_FOLDS)
    command.wait_for_work()
    wait_for(lambda: len(read_records(tmp_path / "run" / "records.jsonl")) == 1)
    assert "kept: 1 fold in" in command.stop(signal.SIGTERM)
    assert len(read_records(tmp_path / "run" / "records.jsonl")) == 1


def test_reproduce_in_processes(data: str, tmp_path: Path) -> None:
    words = ["reproduce", "discrete", "--datasets", data, "--methods", "RWK", "--repeats", "1", "--splits", "3"]
    words += ["--folder", str(tmp_path / "results"), "--n-jobs", "2", "--backend", "cpu", "--grid", "quick"]
    command = Command(tmp_path, words, SLOW_FOLDS)
    command.wait_for_work()
    wait_for(lambda: any(read_records(path) for path in (tmp_path / "results").rglob("*.jsonl")))
    assert "finished folds are in the records" in command.stop(signal.SIGINT)


@pytest.mark.parametrize(
    ("place", "n_jobs"),
    [
        (("rwk.represent", "pipeline", "structures_of"), "1"),
        (("rwk.transport.cpu", "dispatch", "call_compiled"), "1"),
        (("rwk.transport.cpu", "dispatch", "call_compiled"), "2"),
    ],
    ids=["representation", "one large pair", "large pairs in threads"],
)
def test_what_does_not_hear_signals_ends_too(
    place: tuple[str, str, str], n_jobs: str, data: str, tmp_path: Path
) -> None:
    module, where, name = place
    patch = DEAF.replace("{module}", module).replace("{where}", where).replace("{name}", name)
    words = ["gram", data, "-o", str(tmp_path / "gram.npz"), "--n-jobs", n_jobs, *QUICK]
    command = Command(tmp_path, words, patch)
    command.wait_for_work()
    assert "the same command begins again" in command.stop(signal.SIGTERM)
    assert not (tmp_path / "gram.npz").exists()


def test_a_command_outside_the_main_thread_leaves_signals_alone() -> None:
    seen: list[bool] = []

    def work() -> None:
        with stopping.stopped_by_signals():
            seen.append(signal.getsignal(signal.SIGTERM) is before)

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


def test_signals_act_as_before_after_a_command() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with stopping.stopped_by_signals():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == blocked


def test_the_main_thread_is_interrupted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "silence", lambda: None)
    stopper = Stopper()
    with pytest.raises(KeyboardInterrupt):
        stopper.interrupt(signal.SIGTERM, None)
    stopper.interrupt(signal.SIGTERM, None)  # while the command cleans up: the watching thread ends the process


def test_a_job_in_the_background_ignores_ctrl_c() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert signal.SIGINT not in Stopper().numbers
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------- a Dask scheduler that is silent or gone


def test_a_scheduler_that_accepts_and_stays_silent(data: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        words = ["gram", data, "--store", str(tmp_path / "store"), "--dask", address]
        ended = subprocess.run(
            [sys.executable, "-m", "rwk", *words], capture_output=True, text=True, timeout=50, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"rwk: no Dask scheduler answers at {address} within 5 seconds; check the address")
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("how", "said"),
    [(signal.SIGKILL, "the Dask scheduler is gone"), (signal.SIGSTOP, "has not answered for 2 seconds")],
)
def test_a_scheduler_lost_during_the_run(how: signal.Signals, said: str, data: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is in the extra 'distributed'")
    cluster = Cluster(tmp_path)
    try:
        cluster.add_worker()
        command = gram_command(tmp_path, data, DASK, "--dask", cluster.address)
        command.wait_for_work()
        cluster.processes[0].send_signal(how)
        printed, _ = command.process.communicate(timeout=60)
    finally:
        cluster.close()
    assert command.process.returncode == 2
    assert "Traceback" not in printed
    last = printed.splitlines()[-1]
    assert last.startswith("rwk: the Dask scheduler")
    assert said in last
    assert "finished tiles are kept" in last
