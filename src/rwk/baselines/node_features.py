"""What baselines take from a graph's nodes: adjacency as a plain matrix, labels or attributes as vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.graphs import Graph, GraphError, GraphSet
from rwk.runtime.arrays import FloatArray, IntArray


class Standard(NamedTuple):
    """Mean and deviation of every attribute column of the fitted graphs."""

    mean: FloatArray
    deviation: FloatArray

    def apply(self, attributes: FloatArray) -> FloatArray:
        """Attributes in these units."""
        if attributes.shape[1] != len(self.mean):
            raise GraphError(
                f"these graphs have {attributes.shape[1]} node attributes and the fitted graphs had {len(self.mean)}; "
                "give as many"
            )
        return np.asarray((attributes - self.mean) / self.deviation)


class NodeVectors(NamedTuple):
    """How nodes become vectors: standardised attributes, or labels as one-hot rows where there are none."""

    labels: IntArray | None  # the known ones, where labels are used
    standard: Standard

    def of(self, graphs: GraphSet) -> FloatArray:
        """Vectors of all nodes, shape (V, d)."""
        check_same_data(graphs.node_attributes, self.labels is None)
        if self.labels is not None:
            return one_hot(labels_or_degrees(graphs), self.labels)
        assert graphs.node_attributes is not None
        return self.standard.apply(graphs.node_attributes)


def learn_vectors(graphs: GraphSet, *, standardize: bool = True) -> NodeVectors:
    """Learn from the fitted graphs how to make vectors of nodes."""
    if graphs.node_attributes is None:
        return NodeVectors(np.unique(labels_or_degrees(graphs)), Standard(np.zeros(0), np.ones(0)))
    width = graphs.node_attributes.shape[1]
    plain = Standard(np.zeros(width), np.ones(width))
    return NodeVectors(None, standard_of(graphs.node_attributes) if standardize else plain)


def standard_of(attributes: FloatArray) -> Standard:
    """Learn the standard of attributes; a constant column is only centred.

    >>> standard_of(np.array([[1.0, 5.0], [3.0, 5.0]])).apply(np.array([[3.0, 6.0]])).tolist()
    [[1.0, 1.0]]
    """
    mean, deviation = attributes.mean(axis=0), attributes.std(axis=0)
    constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return Standard(mean, np.where(constant, 1.0, deviation))


def dense_adjacency(graph: Graph) -> FloatArray:
    """The weighted adjacency matrix as a plain array."""
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    low, high = graph.edges.reshape(-1, 2).T
    weights = 1.0 if graph.edge_weights is None else graph.edge_weights
    matrix[low, high] = weights
    matrix[high, low] = weights
    return matrix


def hop_distances(graph: Graph) -> Any:
    """Numbers of edges on shortest paths as int64, −1 where there is no path."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    low, high = graph.edges.reshape(-1, 2).T
    edges = csr_array((np.ones(graph.n_edges), (low, high)), shape=(graph.n_nodes, graph.n_nodes))
    paths = shortest_path(edges, method="D", directed=False, unweighted=True)
    return np.where(np.isfinite(paths), paths, -1.0).astype(np.int64)


def labels_or_degrees(graphs: GraphSet) -> IntArray:
    """Node labels, or degrees where there are none."""
    if graphs.node_labels is not None:
        return graphs.node_labels
    ends = graphs.edges + np.repeat(graphs.node_offsets[:-1], graphs.n_edges)[:, None]
    return np.bincount(ends.ravel(), minlength=int(graphs.node_offsets[-1])).astype(np.int64)


def one_hot(labels: IntArray, known: IntArray) -> FloatArray:
    """One column for each known label; a label not among them is a row of zeros.

    >>> one_hot(np.array([3, 5, 4]), np.array([3, 5])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    return np.asarray(labels[:, None] == known[None, :], np.float64)


def check_same_data(attributes: Any, fitted: bool) -> None:
    """Raise unless graphs have attributes exactly if the fitted ones had."""
    if (attributes is not None) != fitted:
        now, then = ("have", "had none") if not fitted else ("have no", "had some")
        raise GraphError(f"these graphs {now} node attributes and the fitted graphs {then}; make them alike")
