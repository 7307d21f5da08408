"""A command that is stopped at any moment: it ends soon, and goes on to the same matrix."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import rwk
from fuzz.promise import holds
from fuzz.values import Chance

PATIENCE = 15.0  # seconds until a stopped command has ended, on a busy machine
WORDS = ("TOY", "--n-jobs", "1", "--backend", "cpu", "-o", "K.npz")


def make(chance: Chance) -> Any:
    """When, and by which signal."""
    return {"signal": chance.of("SIGTERM", "SIGINT", "SIGKILL"), "after": chance.uniform(0.1, 6.0)}


def run(recipe: Any) -> None:
    """Start `rwk gram`, stop it, and run it again to the end."""
    folder = Path(tempfile.mkdtemp(prefix="rwk-fuzz-"))
    rwk.to_tu(_graphs(), folder / "TOY")
    process = subprocess.Popen(
        [sys.executable, "-m", "rwk", "gram", *WORDS], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    time.sleep(recipe["after"])
    process.send_signal(getattr(signal, recipe["signal"]))
    try:
        said = process.communicate(timeout=PATIENCE)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        holds(False, "a stopped command is still there")
    holds("Traceback" not in said, "a traceback is shown")
    # SIGTERM may come before the command has started to listen
    holds(process.returncode in (0, 130, -signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT), "an odd exit code")
    if (folder / "K.npz").exists():  # the signal came between the last rename and the end of the process
        holds(_is_whole(folder / "K.npz"), "a half-written file is left")
    subprocess.run([sys.executable, "-m", "rwk", "gram", *WORDS], cwd=folder, check=True, capture_output=True)
    holds(_is_whole(folder / "K.npz"), "a continued run has other values")
    holds(recipe["signal"] == "SIGKILL" or not list(folder.glob(".*")), "a half-written file is left")


def _is_whole(path: Path) -> bool:
    try:
        with np.load(path) as file:
            return np.array_equal(file["discrepancy"], _wanted())
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return False


@functools.cache
def _graphs() -> Any:
    return rwk.as_graphs([nx.random_regular_graph(3, 24, seed=i) for i in range(40)])


@functools.cache
def _wanted() -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return rwk.pairwise_discrepancy(_graphs(), backend="cpu", n_jobs=1)
