"""How much faster are two workers than one: `python benchmarks/workers.py --output results/workers.json`.

The workers are Dask workers with one thread each, started by this script, on the same graphs. Runs with one and two
workers take turns, and the best run of each counts, since other programs can only slow a run down.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import rwk
from rwk.gram.cluster import Dask
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", default="NCI1")
    parser.add_argument("--graphs", type=int, default=400, help="number of graphs, chosen at random")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    graphs = rwk.load_dataset(arguments.data)
    graphs = graphs[np.random.default_rng(0).permutation(len(graphs))[: arguments.graphs]]
    clusters = {n: Dask.connect(f"local:{n}") for n in arguments.workers}
    seconds: dict[int, list[float]] = {n: [] for n in clusters}
    for repeat in range(arguments.repeats + 1):
        for n, cluster in clusters.items():
            start = time.perf_counter()
            gram = rwk.compute_gram(graphs, executor=cluster, backend="cpu")
            if repeat:  # the first run of each loads compiled code
                seconds[n].append(round(time.perf_counter() - start, 3))
    for cluster in clusters.values():
        cluster.close()
    best = {n: min(times) for n, times in seconds.items()}
    first = best[min(best)]
    record = {
        "dataset": arguments.data,
        "n_pairs": gram.health.n_pairs,
        "seconds": {str(n): times for n, times in seconds.items()},
        "speedup": {str(n): round(first / time_, 3) for n, time_ in best.items()},
        "made_with": machine_record(SOLVER_VERSION),
    }
    print(json.dumps(record))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
