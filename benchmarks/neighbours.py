"""Recall of `nearest` and the share of pairs it solves:
`python benchmarks/neighbours.py MUTAG NCI1 --graphs 800 --queries 15 --output results/neighbours.json`.

Queries are graphs of the set that are not among the candidates. For the recall, all pairs are solved as well. Times are
per query on all threads, without the representation and the signatures of the candidates.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def measure(kernel: rwk.RWKernel, queries: rwk.GraphSet, truth: np.ndarray, k: int, share: float | None) -> dict:
    """Recall, share of pairs solved and seconds per query."""
    start = time.perf_counter()
    found = rwk.nearest(queries, kernel, k=k, max_share=share)
    seconds = time.perf_counter() - start
    hits = [len(set(a) & set(b)) for a, b in zip(found.indices.tolist(), truth[:, :k].tolist(), strict=True)]
    return {
        "max_share": share,
        "recall": round(float(np.mean(hits)) / k, 4),
        "share_solved": round(found.share_solved, 4),
        "seconds_per_query": round(seconds / len(queries), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--graphs", type=int, default=1000, help="maximal number of candidates")
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("-k", type=int, default=10)
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.data:
        graphs = rwk.load_dataset(name)
        order = np.random.default_rng(0).permutation(len(graphs))[: arguments.graphs + arguments.queries]
        queries, candidates = graphs[order[: arguments.queries]], graphs[order[arguments.queries :]]
        kernel = rwk.RWKernel(backend="cpu").fit(candidates)
        rwk.nearest(queries[:1], kernel, k=1)  # loads compiled code
        start = time.perf_counter()
        truth = np.argsort(kernel.discrepancy(queries), axis=1, kind="stable")
        scan = (time.perf_counter() - start) / len(queries)
        for share in (None, 0.1, 0.05, 0.02):
            row = measure(kernel, queries, truth, arguments.k, share)
            row = {"dataset": name, "n_candidates": len(candidates), "n_queries": len(queries), "k": arguments.k, **row}
            rows.append({**row, "full_scan_seconds_per_query": round(scan, 4)})
            print(rows[-1], flush=True)
    if arguments.output:
        arguments.output.write_text(
            json.dumps({"rows": rows, "made_with": machine_record(SOLVER_VERSION)}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
