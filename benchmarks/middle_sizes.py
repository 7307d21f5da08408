"""Pairs of a few hundred nodes: `python benchmarks/middle_sizes.py --output results/middle-sizes.json`.

Graphs of DD without its 20 largest, whose pairs are too large to be solved side by side. Two bodies of the solver take
turns on the same pairs, in one process and one thread: `rows`, which solves them, and `scalar`, which did so before,
with products by BLAS. Times are CPU time. Products of 285 x 285 matrices, the mean size of these graphs, are set
against the fused multiply-adds that a core can do at all.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rwk.datasets import load_dataset
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.compiling import compiled
from rwk.runtime.machine import busy_share, machine_record
from rwk.runtime.threads import one_blas_thread
from rwk.transport.cpu import dispatch, scalar
from rwk.transport.cpu.rows.panels import PANEL_DEPTH, VECTORS, Rows, multiply
from rwk.transport.cpu.rows.row_data import KeptRows, whole_vectors
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, WIDTH_64, fma, lane_sum, load
from rwk.transport.measures import in_precision
from rwk.transport.pairs import planned
from rwk.transport.problem import NO_START, SOLVER_VERSION, PairResults

LEFT_OUT, SIZE = 20, 285


@compiled
def _products(left: Any, right: Any, out: Any, n: int, length: int, panel: Any) -> None:
    multiply(Rows(left, 0, n), Rows(right, 0, n), 1.0, Rows(out, 0, length), (n, n, n), True, panel)


@compiled
def _fused(numbers: Any, count: int) -> float:
    """So many times ten independent fused multiply-adds of vectors."""
    x = load(numbers, 0)
    a = b = c = d = e = f = g = h = i = j = load(numbers, WIDTH_64)
    for _ in range(count):
        a, b, c, d, e = fma(x, a, x), fma(x, b, x), fma(x, c, x), fma(x, d, x), fma(x, e, x)
        f, g, h, i, j = fma(x, f, x), fma(x, g, x), fma(x, h, x), fma(x, i, x), fma(x, j, x)
    return lane_sum(a + b + c + d + e + f + g + h + i + j)  # type: ignore[no-any-return]


def shortest(work: Callable[[], Any], times: int) -> float:
    """The least CPU seconds of this thread over some calls, after one that may compile."""
    work()
    found = np.inf
    for _ in range(times):
        start = time.thread_time()
        work()
        found = min(found, time.thread_time() - start)
    return found


def speeds() -> dict[str, float]:
    """GFLOP/s of one core in float64."""
    rng, length = np.random.default_rng(0), whole_vectors(SIZE, np.float64)
    left, right, out = rng.random((SIZE, SIZE)), rng.random((SIZE, SIZE)), np.empty(SIZE * length)
    panel = np.empty(PANEL_DEPTH * VECTORS * REGISTER_BYTES // 8)
    operations = 2e-9 * SIZE**3
    return {
        "products": operations / shortest(lambda: _products(left.ravel(), right.ravel(), out, SIZE, length, panel), 20),
        "products by BLAS": operations / shortest(lambda: left @ right, 20),
        "fused multiply-adds": 2e-9 * 10 * WIDTH_64 * 10**6 / shortest(lambda: _fused(0.1 * left.ravel(), 10**6), 5),
    }


def compare(n_graphs: int, rounds: int, precision: str) -> dict[str, Any]:
    """Milliseconds per pair of both bodies, the median and the least of some rounds."""
    parameters, graphs = Parameters().checked(), load_dataset("DD")
    kept = np.argsort(-graphs.sizes, kind="stable")[LEFT_OUT:]
    chosen = np.sort(np.random.default_rng(0).choice(kept, n_graphs, replace=False))
    measures = in_precision(represent(graphs[chosen], parameters)[0], precision)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    pairs = planned(measures, np.stack(np.triu_indices(n_graphs), axis=1), weights).once
    pairs = pairs[~dispatch.is_small(measures, pairs)]
    before, now, memory = PairResults.empty(len(pairs)), PairResults.empty(len(pairs)), KeptRows()

    def by_rows(some: Any, results: PairResults) -> None:
        dispatch.solve_large(measures, some, weights, options, results, memory=memory)

    def by_scalar(some: Any, results: PairResults) -> None:
        scalar.solve_chunk(measures, some, weights, options, NO_START, results)

    seconds: dict[str, list[float]] = {"rows": [], "scalar": []}
    for turn in range(rounds + 1):
        for name, solve, results in (("rows", by_rows, now), ("scalar", by_scalar, before)):
            start = time.thread_time()
            solve(pairs if turn else pairs[:1], results if turn else PairResults.empty(1))
            if turn:
                seconds[name].append((time.thread_time() - start) / len(pairs))
    return {
        "graphs": n_graphs,
        "nodes on average": float(measures.sizes.mean()),
        "pairs": len(pairs),
        "iterations on average": float(now.n_iter.mean()),
        "median ms": {name: 1e3 * float(np.median(each)) for name, each in seconds.items()},
        "least ms": {name: 1e3 * min(each) for name, each in seconds.items()},
        "largest relative difference": float(np.abs(now.values / before.values - 1.0).max()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    used = busy_share()
    with one_blas_thread():
        record = {
            **{p: compare(arguments.graphs, arguments.rounds, p) for p in ("float64", "float32")},
            "GFLOP/s": speeds(),
            "made_with": {**machine_record(SOLVER_VERSION), "used by other programs": round(used, 3)},
        }
    print(json.dumps(record, indent=1))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
