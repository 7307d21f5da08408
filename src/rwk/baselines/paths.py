"""Shortest paths from one node: how far every other node is, and in how many ways it is reached."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.graphs import Graph
from rwk.runtime.arrays import IntArray
from rwk.runtime.compiling import compiled_loosely


def neighbour_lists(graph: Graph) -> tuple[IntArray, IntArray]:
    """Where each node's neighbours begin, and the neighbours, ascending.

    >>> first, neighbours = neighbour_lists(Graph(3, np.array([[0, 1], [1, 2]])))
    >>> first.tolist(), neighbours.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    """
    adjacency = graph.adjacency()
    adjacency.sort_indices()
    return adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)


@compiled_loosely
def search_from(source: int, first: Any, neighbours: Any, depth: Any, ways: Any, queue: Any) -> int:
    """Fill `depth` (−1: not reached), `ways` and, nearest first, `queue`; the number of nodes reached."""
    depth[:] = -1
    depth[source], ways[source], queue[0], reached = 0, 1.0, source, 1
    k = 0
    while k < reached:
        v = queue[k]
        k += 1
        for at in range(first[v], first[v + 1]):
            w = neighbours[at]
            if depth[w] < 0:
                depth[w], ways[w], queue[reached] = depth[v] + 1, 0.0, w
                reached += 1
            if depth[w] == depth[v] + 1:
                ways[w] += ways[v]
    return reached
