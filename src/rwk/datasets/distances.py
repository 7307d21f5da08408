"""Sets whose edges have a length, such as COX2_MD and BZR_MD: complete graphs with the distance of every two atoms.

METHOD, section 2: the bonds are the adjacency, and all distances stay available for C_P (`bonds_only`); the alternative
is a complete adjacency weighted by distance (`distance_graph`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwk.graphs import GraphError, GraphSet
from rwk.runtime.arrays import FloatArray


def bonds_only(graphs: GraphSet, no_bond: int = 1) -> GraphSet:
    """Keep only the edges that are chemical bonds: those whose label is not `no_bond`.

    The bonds keep their labels and lengths. If the graphs were complete, the distances of all pairs of atoms become
    `node_distances`.

    >>> from rwk import Graph
    >>> water = Graph(3, np.array([[0, 1], [0, 2], [1, 2]]), edge_labels=np.array([0, 0, 1]))
    >>> bonds_only(GraphSet.from_graphs([water])).edges.tolist()
    [[0, 1], [0, 2]]
    """
    if graphs.edge_labels is None:
        raise GraphError(f"{graphs.name} has no edge labels that tell bonds from other edges; use it as it is")
    keep = graphs.edge_labels != no_bond
    before = np.concatenate([[0], np.cumsum(keep)])
    complete = np.array_equal(graphs.n_edges, graphs.sizes * (graphs.sizes - 1) // 2)
    has_lengths = complete and graphs.edge_attributes is not None and graphs.edge_attributes.shape[1] == 1
    return replace(
        graphs,
        edges=graphs.edges[keep],
        edge_offsets=before[graphs.edge_offsets],
        node_distances=_all_distances(graphs) if has_lengths else graphs.node_distances,
        edge_weights=None if graphs.edge_weights is None else graphs.edge_weights[keep],
        edge_labels=graphs.edge_labels[keep],
        edge_attributes=None if graphs.edge_attributes is None else graphs.edge_attributes[keep],
    )


def distance_graph(graphs: GraphSet, sigma: float) -> GraphSet:
    """Give every edge the weight exp(-d² / σ²), where d is its length (its first attribute).

    >>> from rwk import Graph
    >>> pair = Graph(2, np.array([[0, 1]]), edge_attributes=np.array([[2.0]]))
    >>> distance_graph(GraphSet.from_graphs([pair]), sigma=2.0).edge_weights.round(3).tolist()
    [0.368]
    """
    if graphs.edge_attributes is None:
        raise GraphError(f"{graphs.name} has no edge attributes, so its edges have no lengths; use another set")
    if not (np.isfinite(sigma) and sigma > 0):
        raise GraphError(f"sigma is {sigma}; it must be positive")
    return replace(graphs, edge_weights=np.exp(-((graphs.edge_attributes[:, 0] / sigma) ** 2)))


def _all_distances(graphs: GraphSet) -> FloatArray:
    """The distance matrices of complete graphs, flattened, one after the other."""
    assert graphs.edge_attributes is not None
    lengths, sizes = graphs.edge_attributes[:, 0], np.repeat(graphs.sizes, graphs.n_edges)
    starts = np.repeat(graphs.pair_offsets[:-1], graphs.n_edges)
    low, high = graphs.edges.T
    distances = np.zeros(int(graphs.pair_offsets[-1]))
    distances[starts + low * sizes + high] = lengths
    distances[starts + high * sizes + low] = lengths
    return distances
