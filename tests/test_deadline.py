"""Work with a time limit: it ends in time, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import timed_work
from rwk.runtime.deadline import done_within

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="reads the state of processes from /proc, which is not there"
)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def comes_true(what: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


def workers_in(folder: Path) -> list[int]:
    return [int(path.name) for path in folder.iterdir()]


def test_work_is_stopped_when_its_time_is_over() -> None:
    start = time.perf_counter()
    assert not done_within(0.5, time.sleep, 60)
    assert time.perf_counter() - start < 30
    assert done_within(60, time.sleep, 0)


def test_errors_of_timed_work_are_raised() -> None:
    with pytest.raises(ValueError, match="must be non-negative"):
        done_within(60, time.sleep, -1)
    with pytest.raises(ValueError, match="the time limit must be positive"):
        done_within(0, time.sleep, 1)


@needs_proc
@pytest.mark.parametrize(("budget", "seconds", "done"), [(2.0, 600.0, False), (120.0, 0.0, True)])
def test_no_worker_outlives_timed_work(tmp_path: Path, budget: float, seconds: float, done: bool) -> None:
    while not (workers := workers_in(tmp_path)):  # on a slow machine no worker had begun when the time was over
        assert budget < 200
        assert done_within(budget, timed_work.sleep_in_workers, tmp_path, seconds) == done
        budget *= 3
    assert comes_true(lambda: not any(map(is_alive, workers)), 10)


@needs_proc
def test_timed_work_ends_with_its_caller(tmp_path: Path) -> None:
    tests = Path(__file__).parent
    paths = os.pathsep.join(filter(None, [str(tests), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, str(tests / "timed_work.py"), str(tmp_path)]
    caller = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths})
    try:
        assert comes_true(lambda: len(workers_in(tmp_path)) == 2, 60)
    finally:
        caller.kill()
        caller.wait()
    assert comes_true(lambda: not any(map(is_alive, workers_in(tmp_path))), 10)
