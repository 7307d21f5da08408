"""The edges of a graph as compiled searches read them: by node, and as dense matrices."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import Graph
from rwk.runtime.compiling import compiled

NO_WEIGHTS: Final = np.empty(0)
NO_LABELS: Final = np.empty(0, np.int64)


class EdgeLists(NamedTuple):
    """Edges of one graph: by node, and as dense matrices of weights and labels."""

    offsets: NDArray[np.int64]  # (n + 1,)
    neighbours: NDArray[np.int64]
    weights: NDArray[np.float64]  # (n, n)
    labels: NDArray[np.int64]  # (n, n)
    squares: NDArray[np.float64]  # (n,): sum of w^2 over the edges of a node; its degree, if edges have no weights


class ListedArrays(NamedTuple):
    """What `listed` takes: the edges of a graph, with weights and labels or with empty arrays."""

    n_nodes: int
    edges: NDArray[np.int64]
    weights: NDArray[np.float64]
    labels: NDArray[np.int64]


def edge_arrays(graph: Graph, codes: Any = None) -> ListedArrays:
    """The edges of a graph as arrays; if `codes` are given, labels are their places in it."""
    weights, labels = graph.edge_weights, graph.edge_labels
    if labels is not None and codes is not None:
        labels = np.searchsorted(codes, labels)
    return ListedArrays(
        graph.n_nodes,
        np.ascontiguousarray(graph.edges),
        NO_WEIGHTS if weights is None else np.ascontiguousarray(weights),
        NO_LABELS if labels is None else np.ascontiguousarray(labels),
    )


def edge_lists(graph: Graph, codes: Any = None) -> EdgeLists:
    """The edges of a graph as the search reads them; if `codes` are given, labels are their places in it."""
    return EdgeLists(*listed(*edge_arrays(graph, codes)))


@compiled
def listed(n: int, edges: Any, given: Any, given_labels: Any) -> Any:
    """The fields of `EdgeLists`; edges of weight 0 are left out."""
    weights, labels = np.zeros((n, n)), np.zeros((n, n), np.int64)
    offsets, squares = np.zeros(n + 1, np.int64), np.zeros(n)
    for e in range(len(edges)):
        i, k = edges[e, 0], edges[e, 1]
        weight = given[e] if len(given) else 1.0
        weights[i, k], weights[k, i] = weight, weight
        if len(given_labels):
            labels[i, k], labels[k, i] = given_labels[e], given_labels[e]
    for i in range(n):
        offsets[i + 1] = offsets[i]
        for k in range(n):
            if weights[i, k] != 0.0:
                offsets[i + 1] += 1
                squares[i] += weights[i, k] * weights[i, k]
    neighbours = np.empty(offsets[n], np.int64)
    at = 0
    for i in range(n):
        for k in range(n):
            if weights[i, k] != 0.0:
                neighbours[at] = k
                at += 1
    return offsets, neighbours, weights, labels, squares
