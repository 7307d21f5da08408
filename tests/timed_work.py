"""Work for the tests of time limits: workers that write their process ids and sleep; quick to import."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import joblib

from rwk.runtime.deadline import done_within


def sleep_in_workers(folder: Path, seconds: float) -> None:
    joblib.Parallel(n_jobs=2)(joblib.delayed(sleep_and_say)(folder, seconds) for _ in range(2))


def sleep_and_say(folder: Path, seconds: float) -> None:
    (folder / str(os.getpid())).touch()
    time.sleep(seconds)


if __name__ == "__main__":
    from timed_work import sleep_in_workers as named

    done_within(600, named, Path(sys.argv[1]), 600)
