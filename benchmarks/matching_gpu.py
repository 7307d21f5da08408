"""Partial transport and joint starts, GPU beside CPU: `python benchmarks/matching_gpu.py --output FILE.json`.

Three kinds of parts, each with the largest difference between the two backends and times of both: one pair solved from
1, 2 and 10 starts by annealing, with all the mass and with a part of it; whole calls of `match`; all pairs of a set
with a mass below 1. The CPU uses one thread. Times of starts and matchings are the least of two calls after a first
one; with a mass below 1 there is one call. The file is written after every part.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from threadpoolctl import threadpool_limits

import rwk
from rwk.discrepancy import MATCHING, annealing_of
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.machine import machine_record
from rwk.transport.pairs import solve_pairs
from rwk.transport.problem import SOLVER_VERSION

BACKENDS = ("cpu", "gpu")
STARTS = (1, 2, 10)


def planted(n: int, seed: int) -> tuple[rwk.Graph, rwk.Graph]:
    """A graph, and a copy in another order without a tenth of its nodes and with some edges moved."""
    rng = np.random.default_rng(seed)
    graph = nx.connected_watts_strogatz_graph(n, 4, 0.2, seed=seed)
    A = nx.to_numpy_array(graph)
    order = rng.permutation(n)[: n - n // 10]
    B = A[np.ix_(order, order)]
    for i, k in rng.permutation(np.argwhere(np.triu(B, 1) > 0))[: n // 20]:
        B[i, k] = B[k, i] = 0.0
    first, second = rwk.as_graphs([A, B])
    return first, second


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[Any, float]:
    """The result of a call, and the least seconds of some calls after a first one; of that one without repeats."""
    seconds = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - begun)
    return found, min(seconds[1:] or seconds)


def difference(found: Any, wanted: Any) -> float:
    """The largest difference, in units of the largest wanted number."""
    return float(np.abs(np.asarray(found) - np.asarray(wanted)).max() / max(np.abs(np.asarray(wanted)).max(), 1e-300))


def mass_part(count: int, sample: int, mass: float) -> dict[str, Any]:
    """All pairs of random graphs of 15 to 40 nodes on the GPU, with a mass below 1; the CPU solves a sample of them."""
    rng = np.random.default_rng(0)
    matrices = [nx.to_numpy_array(nx.gnp_random_graph(int(rng.integers(15, 41)), 0.15, seed=s)) for s in range(count)]
    settings = Parameters.of({"mass": mass, "n_jobs": 1})
    measures, _ = represent(rwk.as_graphs(matrices), settings)
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((count, count)), 1) > 0))
    weights, options = settings.cost_weights(), settings.scg_options()
    parts = {"cpu": pairs[:sample], "gpu": pairs}
    found = {
        backend: timed(lambda b=backend: solve_pairs(measures, parts[b], weights, options, backend=b, n_jobs=1), 0)
        for backend in BACKENDS
    }
    return {
        "graphs": count,
        "mass": mass,
        "compared": sample,
        "largest_difference": difference(found["gpu"][0].values[:sample], found["cpu"][0].values),
        "pairs_per_second": {backend: round(len(parts[backend]) / found[backend][1], 1) for backend in BACKENDS},
    }


def starts_part(n: int, mass: float, counts: tuple[int, ...] = STARTS, repeats: int = 2) -> dict[str, Any]:
    """One pair, all starts at once, annealed."""
    graphs = rwk.GraphSet.from_graphs(planted(n, n)[::-1])
    line: dict[str, Any] = {"nodes": n, "mass": mass, "milliseconds": {}}
    final = {}
    for backend in BACKENDS:
        settings = Parameters.of({**MATCHING, "mass": mass, "backend": backend, "n_jobs": 1})
        measures, _ = represent(graphs, settings)
        for count in counts:
            stages, seconds = timed(lambda c=count, m=measures, s=settings: annealing_of(m, 0, 1, s, c), repeats)
            line["milliseconds"][f"{backend}, {count} starts"] = round(1e3 * seconds, 2)
            final[backend] = stages[-1]
    values = [[one.value for one in final[backend]] for backend in BACKENDS]
    line["largest_difference"] = difference(values[1], values[0])
    couplings = [np.stack([one.coupling for one in final[backend]]) for backend in BACKENDS]
    apart = np.abs(couplings[1] - couplings[0]).sum(axis=(1, 2)) / mass
    line["mass_that_moves_elsewhere"] = {"median": float(np.median(apart)), "largest": float(apart.max())}
    return line


def match_part(n: int) -> dict[str, Any]:
    """Whole calls of `match` with ten starts of transport."""
    pair = planted(n, n + 1)
    found = {b: timed(lambda b=b: rwk.match(*pair, n_starts=10, backend=b, n_jobs=1), 2) for b in BACKENDS}
    return {
        "nodes": n,
        "misfit": {backend: found[backend][0].misfit for backend in BACKENDS},
        "same_pairs": float(np.mean(found["cpu"][0].numbers[:, 1] == found["gpu"][0].numbers[:, 1])),
        "milliseconds": {backend: round(1e3 * found[backend][1], 1) for backend in BACKENDS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=(30, 100, 300))
    parser.add_argument("--graphs", type=int, default=200, help="of the set whose pairs are solved with a mass below 1")
    parser.add_argument("--sample", type=int, default=1000, help="pairs of it that the CPU solves")
    options = parser.parse_args()
    record: dict[str, Any] = {"made_with": machine_record(SOLVER_VERSION), "threads": 1}
    parts: list[tuple[str, Callable[[], dict[str, Any]]]] = []
    for n in options.sizes:
        parts += [("starts", lambda n=n: starts_part(n, 1.0)), ("match", lambda n=n: match_part(n))]
    parts.append(("mass", lambda: mass_part(options.graphs, options.sample, 0.7)))
    parts.append(("starts", lambda: starts_part(30, 0.6, (10,), 0)))
    for name, part in parts:
        record.setdefault(name, []).append(part())
        options.output.write_text(json.dumps(record, indent=1) + "\n")
        print(name, record[name][-1], flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
