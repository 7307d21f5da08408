"""Compiling in two processes: the loop of the lanes in one, everything else that a first matrix needs in this one.

A helper process is started before the graphs are represented, and leaves the loop in numba's cache on disk. Whoever
needs the loop first waits for it. If there is no helper, or it fails, the loop is compiled here: the helper saves time
and decides nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

import numpy as np

from rwk.runtime.compiling import is_cold
from rwk.runtime.log import LOG
from rwk.runtime.threads import thread_count
from rwk.transport.cpu.lanes import body
from rwk.transport.cpu.lanes.lane_data import LaneOutputs, largest_of, memory_for
from rwk.transport.measures import GraphMeasures, no_measures
from rwk.transport.problem import CostWeights, PairResults, ScgOptions

HELPER = "from rwk.transport.cpu.ahead import compile_loop; compile_loop()"

_helpers: list[subprocess.Popen[bytes]] = []  # those that may still be running
_asked: list[bool] = []  # whether this process has looked if it needs a helper


def start_ahead() -> None:
    """Have a helper compile the loop of the lanes in float64, if it is not on disk yet."""
    if _asked:
        return
    _asked.append(True)
    if thread_count(None) < 2 or not sys.executable or getattr(sys, "frozen", False):
        return
    if not is_cold(body.solve_side_by_side, *no_pairs(no_measures())):
        return
    LOG.warning("rwk is compiling, once (about 15 seconds)")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    nowhere = subprocess.DEVNULL
    with suppress(OSError):  # no more processes
        command = [sys.executable, "-c", HELPER]
        _helpers.append(subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, env=environment))


def wait_for_helpers() -> None:
    """Wait until every helper has ended; many threads may call this at once."""
    for helper in tuple(_helpers):
        helper.wait()
        with suppress(ValueError):  # another thread was first
            _helpers.remove(helper)


def compile_loop() -> None:
    """What a helper does: have the loop compiled, and solve nothing."""
    body.solve_side_by_side(*no_pairs(no_measures()))


def no_pairs(measures: GraphMeasures) -> tuple[Any, ...]:
    """Arguments of `solve_side_by_side` that ask for no pair, with the types that those of real pairs have."""
    outputs = LaneOutputs(PairResults.empty(0), np.zeros(0, np.bool_), np.empty((0, 0, 0)), np.empty((0, 2)))
    weights, options = CostWeights(*[0.0] * len(CostWeights._fields)), ScgOptions(1.0, 1, 1, 0.0)
    pairs = np.empty((0, 2), np.int64)
    memory = memory_for(measures, largest_of(measures, pairs), weights, measures.structure.dtype)
    return measures, pairs, weights, options, memory, np.empty((0, 0, 0)), outputs, 0
