"""Graphs and processes for the tests of stores and executors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from rwk import Graph, GraphSet, compute_gram

# the cheapest settings: the tests are about who computes and where results are kept, not about values
QUICK = {"max_iter": 2, "sinkhorn_iter": 5, "backend": "cpu", "n_jobs": 1}
SMALL = "450kB"  # a budget that makes many tiles of few graphs


def random_graphs(count: int, *, seed: int = 0, low: int = 4, high: int = 12) -> GraphSet:
    """Labelled random graphs of different sizes; the first ones do not depend on the number of graphs."""
    graphs = []
    for i in range(count):
        rng = np.random.default_rng([seed, i])
        n = int(rng.integers(low, high))
        upper = np.argwhere(np.triu(rng.random((n, n)) < 0.35, 1))
        graphs.append(Graph(n, upper.astype(np.int64), node_labels=rng.integers(0, 3, n)))
    return GraphSet.from_graphs(graphs, targets=np.arange(count) % 2)


def fill_store(place: str, count: int, seed: int = 0) -> None:
    """Compute a store in a process of its own, which prints the number of tiles done."""

    def report(progress: object) -> None:
        print(progress.tiles_done, flush=True)  # type: ignore[attr-defined]

    compute_gram(random_graphs(count, seed=seed), store=place, memory=SMALL, report=report, **QUICK)


def write_tu(folder: Path, graphs: GraphSet, name: str = "TOY") -> Path:
    """The graphs as a folder of TU files."""
    folder.mkdir()
    starts = graphs.node_offsets[:-1]
    ends = graphs.edges + np.repeat(starts, graphs.n_edges)[:, None] + 1
    both = np.concatenate([ends, ends[:, ::-1]])
    (folder / f"{name}_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in both))
    indicator = np.repeat(np.arange(1, len(graphs) + 1), graphs.sizes)
    (folder / f"{name}_graph_indicator.txt").write_text("".join(f"{i}\n" for i in indicator))
    (folder / f"{name}_graph_labels.txt").write_text("".join(f"{y}\n" for y in graphs.targets))
    (folder / f"{name}_node_labels.txt").write_text("".join(f"{x}\n" for x in graphs.node_labels))
    return folder


if __name__ == "__main__":
    fill_store(sys.argv[1], int(sys.argv[2]), *map(int, sys.argv[3:]))
