"""What a fresh environment takes: the first alignment and the first matrix of a lifetime, and once compiled."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

FIRST = {
    "align, 20 nodes each": """
import networkx as nx, rwk
print(rwk.align(nx.gnm_random_graph(20, 30, seed=1), nx.gnm_random_graph(20, 32, seed=2)).value)
""",
    "matrix of 100 graphs": """
import networkx as nx, rwk
graphs = [nx.gnm_random_graph(n, 11 * n // 10, seed=i) for i in range(100) for n in (10 + i % 18,)]
print(rwk.pairwise_discrepancy(graphs).shape)
""",
}


def cold_start() -> dict[str, dict[str, float]]:
    """Wall and CPU seconds from `python` to the printed value, without and with compiled code on disk.

    CPU seconds are those of all processes together: compiling uses two, and on two idle cores the wall time is a little
    more than half of them.
    """
    found = {}
    for name, code in FIRST.items():
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = _seconds(code, folder), _seconds(code, folder)
        found[name] = {
            "wall seconds": cold[0],
            "CPU seconds": cold[1],
            "wall seconds, compiled": warm[0],
            "CPU seconds, compiled": warm[1],
        }
    return found


def _seconds(code: str, folder: str) -> tuple[float, float]:
    """Wall and CPU seconds of a new process that keeps compiled code in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": folder}
    start, before = time.perf_counter(), _children()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start, _children() - before


def _children() -> float:
    """CPU seconds of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
