"""How time grows with the size of graphs and with their number, and how long starting up takes."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np

from rwk.gram import symmetric_discrepancy
from rwk.graphs import Graph, GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent


def random_graph(rng: np.random.Generator, n: int, degree: float = 3.0) -> Graph:
    """A sparse random graph with four node labels."""
    ends = np.sort(rng.integers(0, n, (int(n * degree / 2), 2)), axis=1)
    edges = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return Graph(n, edges.astype(np.int64), node_labels=rng.integers(0, 4, n))


def fitted_exponent(sizes: Any, seconds: Any) -> float:
    """Slope of log(seconds) over log(sizes) by least squares, over the upper half, where overheads matter little."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(np.asarray(sizes)[half:]), np.log(np.asarray(seconds)[half:]), 1)[0])


def by_nodes(sizes: tuple[int, ...] = (10, 20, 50, 100, 200, 500, 1000)) -> dict[str, Any]:
    """Seconds per pair as graphs get larger, always with ten iterations."""
    rng = np.random.default_rng(0)
    parameters = Parameters(tol=0.0, n_jobs=1)
    seconds = []
    for n in sizes:
        count = max(2, min(20, 2000 // n))
        graphs = GraphSet.from_graphs([random_graph(rng, n) for _ in range(count)])
        measures, _ = represent(graphs, parameters)
        symmetric_discrepancy(measures, parameters)
        _, health = symmetric_discrepancy(measures, parameters)
        seconds.append(1.0 / health.pairs_per_second)
    return {"nodes": list(sizes), "seconds per pair": seconds, "exponent": fitted_exponent(sizes, seconds)}


def by_graphs(counts: tuple[int, ...] = (100, 200, 500, 1000, 2000, 4000)) -> dict[str, Any]:
    """Seconds for a whole matrix as the number of graphs grows, ten nodes each; the better of two rounds."""
    rng = np.random.default_rng(0)
    graphs = GraphSet.from_graphs([random_graph(rng, 10) for _ in range(max(counts))])
    parameters = Parameters()
    scale = represent(graphs, parameters)[1]
    parts = [represent(graphs[:count], parameters, scale=scale)[0] for count in counts]
    rounds = [[symmetric_discrepancy(part, parameters)[1].seconds for part in parts] for _ in range(2)]
    seconds = np.min(rounds, axis=0).tolist()
    return {"graphs": list(counts), "seconds": seconds, "exponent": fitted_exponent(counts, seconds)}


STARTUP = {
    "import rwk": "import rwk",
    "first solve": "import rwk, numpy as np; rwk.align(np.ones((3, 3)) - np.eye(3), np.ones((4, 4)) - np.eye(4))",
    "rwk --help": "import sys; sys.argv = ['rwk', '--help']; from rwk.cli.app import app; app(standalone_mode=False)",
}


def startup() -> dict[str, float]:
    """Seconds that a new process takes with compiled code on disk, minus the start of the interpreter."""
    found = {}
    for name, code in {"nothing": "pass", **STARTUP}.items():
        best = np.inf
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            best = min(best, time.perf_counter() - start)
        found[name] = best
    nothing = found.pop("nothing")
    return {name: seconds - nothing for name, seconds in found.items()}
