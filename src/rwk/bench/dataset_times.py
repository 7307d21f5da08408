"""Whole datasets: time to represent them, time and memory of a large Gram matrix, and the largest pair of DD."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

from rwk.datasets import load_dataset
from rwk.gram import symmetric_discrepancy
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.pairs import solve_pair

# The Gram matrix of all NCI1 graphs in a process of its own. Memory does not depend on the number of iterations, so one
# iteration with one Sinkhorn round is enough.
MEMORY = """
import resource
from rwk.datasets import load_dataset
from rwk.gram.matrix import symmetric_discrepancy
from rwk.parameters import Parameters
from rwk.represent import represent
measures, _ = represent(load_dataset("NCI1"), Parameters())
symmetric_discrepancy(measures, Parameters(max_iter=1, sinkhorn_iter=1))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

# The largest pair in a process of its own, so that its peak memory is not that of what was measured before.
LARGE_PAIR = """
import json
from rwk.bench.dataset_times import large_pair
print(json.dumps(large_pair()))
"""


def representation(name: str, embedding: str) -> float:
    """Seconds to represent a whole dataset."""
    graphs, parameters = load_dataset(name), Parameters(embedding=embedding)
    represent(graphs[:4], parameters)
    start = time.perf_counter()
    represent(graphs, parameters)
    return time.perf_counter() - start


def nci1(n_graphs: int = 1000) -> dict[str, float]:
    """Time of the Gram matrix of some NCI1 graphs, the estimated time of the whole set, and the peak memory of it."""
    graphs = load_dataset("NCI1")
    chosen = np.sort(np.random.default_rng(0).choice(len(graphs), n_graphs, replace=False))
    measures, _ = represent(graphs[chosen], Parameters())
    _, health = symmetric_discrepancy(measures, Parameters())
    all_pairs = len(graphs) * (len(graphs) + 1) // 2
    peak = _printed(MEMORY)
    return {
        "pairs solved": health.n_pairs,
        "pairs a second": health.pairs_per_second,
        "not converged": health.n_not_converged,
        "seconds": health.seconds,
        "estimated seconds of all": all_pairs / health.pairs_per_second,
        "peak MB of all": float(peak),
    }


def large_pair_apart() -> dict[str, float]:
    """`large_pair`, measured in a new process."""
    found: dict[str, float] = json.loads(_printed(LARGE_PAIR))
    return found


def _printed(code: str) -> str:
    """What a new process prints that runs some code."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def large_pair() -> dict[str, float]:
    """Time and memory of the pair of the largest (5,748 nodes) and the second largest graph of DD."""
    graphs = load_dataset("DD")
    largest = np.argsort(graphs.sizes)[-2:][::-1]
    parameters = Parameters().checked()
    start = time.perf_counter()
    measures, _ = represent(graphs[largest], parameters)
    represented = time.perf_counter()
    solution = solve_pair(measures, 0, 1, parameters.cost_weights(), parameters.scg_options())
    return {
        "nodes": float(graphs.sizes[largest[0]]),
        "nodes of the other": float(graphs.sizes[largest[1]]),
        "value": solution.value,
        "iterations": float(solution.n_iter),
        "seconds to represent": represented - start,
        "seconds to solve": time.perf_counter() - represented,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
