"""Labels and attributes of nodes as vectors, as the baselines use them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.graphs import GraphError, GraphSet
from rwk.runtime.arrays import FloatArray, IntArray


class Standard(NamedTuple):
    """Mean and deviation of every attribute column of the fitted graphs."""

    mean: FloatArray
    deviation: FloatArray

    def apply(self, attributes: FloatArray) -> FloatArray:
        """Attributes, centred and divided by the deviations."""
        if attributes.shape[1] != len(self.mean):
            raise GraphError(
                f"these graphs have {attributes.shape[1]} node attributes and the fitted graphs had {len(self.mean)}; "
                "give graphs with the same attributes"
            )
        return np.asarray((attributes - self.mean) / self.deviation)


class NodeVectors(NamedTuple):
    """How nodes become vectors: standardised attributes or, without attributes, one-hot labels."""

    labels: IntArray | None  # the known labels; None if attributes are used
    standard: Standard

    def of(self, graphs: GraphSet) -> FloatArray:
        """Vectors of all nodes, shape (V, d)."""
        check_same_data(graphs.node_attributes, self.labels is None)
        if self.labels is not None:
            return one_hot(labels_or_degrees(graphs), self.labels)
        assert graphs.node_attributes is not None
        return self.standard.apply(graphs.node_attributes)


def learn_vectors(graphs: GraphSet, *, standardize: bool = True) -> NodeVectors:
    """Learn from the fitted graphs how nodes become vectors."""
    if graphs.node_attributes is None:
        return NodeVectors(np.unique(labels_or_degrees(graphs)), Standard(np.zeros(0), np.ones(0)))
    return NodeVectors(None, standard_of(graphs.node_attributes, standardize=standardize))


def standard_of(attributes: FloatArray, *, standardize: bool = True) -> Standard:
    """Learn how to standardise attributes; a constant column is only centred, without `standardize` nothing changes.

    >>> standard_of(np.array([[1.0, 5.0], [3.0, 5.0]])).apply(np.array([[3.0, 6.0]])).tolist()
    [[1.0, 1.0]]
    """
    if not standardize:
        return Standard(np.zeros(attributes.shape[1]), np.ones(attributes.shape[1]))
    mean, deviation = attributes.mean(axis=0), attributes.std(axis=0)
    constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
    return Standard(mean, np.where(constant, 1.0, deviation))


def labels_or_degrees(graphs: GraphSet) -> IntArray:
    """Node labels, or degrees if there are no labels."""
    if graphs.node_labels is not None:
        return graphs.node_labels
    return np.bincount(graphs.packed_edges.ravel(), minlength=int(graphs.node_offsets[-1])).astype(np.int64)


def one_hot(labels: IntArray, known: IntArray) -> FloatArray:
    """One column per known label; the row of an unknown label is zero.

    >>> one_hot(np.array([3, 5, 4]), np.array([3, 5])).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    return np.asarray(labels[:, None] == known[None, :], np.float64)


def check_same_data(attributes: Any, fitted: bool) -> None:
    """Raise GraphError if some of fitted and new graphs have attributes and the others don't."""
    if (attributes is not None) != fitted:
        now, then = ("have", "had none") if not fitted else ("have no", "had some")
        raise GraphError(f"these graphs {now} node attributes, but the fitted graphs {then}; give the same to both")
