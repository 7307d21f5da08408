"""A synthetic set with a known answer: graphs of one class contain a motif, and its nodes are known."""

from __future__ import annotations

import numpy as np

from rwk.graphs import Graph, GraphSet
from rwk.runtime.arrays import IntArray

# a wheel with a broken rim: five nodes, seven edges, and cycles, which no tree has
MOTIF = ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4))
MOTIF_SIZE = 5


def planted_motif(n_graphs: int = 60, *, n_nodes: int = 16, random_state: int = 0) -> tuple[GraphSet, list[IntArray]]:
    """Random trees, half of them (class 1) with a motif attached, and the nodes of the motif in each graph.

    Graphs of class 0 have a random tree of the same size in its place, so the size of a graph does not tell its class.
    The nodes are shuffled; for a graph without motif the array of its nodes is empty.

    >>> graphs, motifs = planted_motif(4)
    >>> graphs.targets.tolist(), [len(nodes) for nodes in motifs]
    ([0, 1, 0, 1], [0, 5, 0, 5])
    """
    rng = np.random.default_rng(random_state)
    graphs, motifs = [], []
    targets = np.arange(n_graphs) % 2
    for target in targets:
        size = n_nodes + int(rng.integers(-2, 3))
        edges = _tree(size, rng)
        grown = list(MOTIF) if target else _tree(MOTIF_SIZE, rng)
        edges += [(size + a, size + b) for a, b in grown]
        edges.append((int(rng.integers(size)), size + int(rng.integers(MOTIF_SIZE))))
        order = rng.permutation(size + MOTIF_SIZE)
        ends = np.sort(np.asarray(edges, dtype=np.int64), axis=1)
        graph = Graph(size + MOTIF_SIZE, ends).permuted(order)
        graphs.append(graph)
        motifs.append(np.flatnonzero(order >= size) if target else np.zeros(0, np.int64))
    return GraphSet.from_graphs(graphs, targets=targets, name="planted motif"), motifs


def _tree(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """A random tree: each node is attached to one of the four before it, so branches grow long."""
    return [(int(rng.integers(max(0, i - 4), i)), i) for i in range(1, n)]
