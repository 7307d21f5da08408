"""Shortest paths of one graph: distances, and the number of shortest paths from one node."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.graphs import Graph
from rwk.runtime.arrays import IntArray
from rwk.runtime.compiling import compiled_loosely


def neighbour_lists(graph: Graph) -> tuple[IntArray, IntArray]:
    """Offsets into the list of neighbours, one per node and the end, and the list, ascending for each node.

    >>> first, neighbours = neighbour_lists(Graph(3, np.array([[0, 1], [1, 2]])))
    >>> first.tolist(), neighbours.tolist()
    ([0, 1, 3, 4], [1, 0, 2, 1])
    """
    adjacency = graph.adjacency()
    adjacency.sort_indices()
    return adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)


def hop_distances(graph: Graph) -> Any:
    """Number of edges on the shortest path of every pair of nodes as int64, −1 if there is no path."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    low, high = graph.edges.reshape(-1, 2).T.astype(np.int32)  # SciPy 1.12 takes no others
    edges = csr_array((np.ones(graph.n_edges), (low, high)), shape=(graph.n_nodes, graph.n_nodes))
    paths = shortest_path(edges, method="D", directed=False, unweighted=True)
    return np.where(np.isfinite(paths), paths, -1.0).astype(np.int64)


@compiled_loosely
def search_from(source: int, first: Any, neighbours: Any, depth: Any, ways: Any, queue: Any) -> int:
    """Breadth-first search from one node; returns the number of nodes reached.

    Fills `depth` (distances, −1 if not reached), `ways` (numbers of shortest paths) and `queue` (nodes reached, nearest
    first).
    """
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
