"""Kernels on counts: substructures of molecules, and the composition of graphs.

The RW discrepancy compares shares of nodes, so it does not see that one graph is twice another. A kernel on the numbers
of nodes and edges of each kind does; quantities that grow with the graph (extensive ones) need it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from rwk.graphs import Graph, GraphSet
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.threads import in_threads

ROWS_AT_ONCE: Final = 64


def min_max_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
    """Σ min(x, y) / Σ max(x, y) between rows of counts: the Tanimoto kernel of multisets.

    >>> min_max_kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])).round(2).tolist()
    [[1.0, 0.5, 0.0]]
    """
    used = (first.any(axis=0)) | (second.any(axis=0))
    first, second = first[:, used], second[:, used]
    kernel = np.empty((len(first), len(second)))

    def work(chunk: int) -> int:
        rows = slice(chunk * ROWS_AT_ONCE, (chunk + 1) * ROWS_AT_ONCE)
        both = first[rows].sum(axis=1)[:, None] + second.sum(axis=1)[None, :]
        apart = cdist(first[rows], second, "cityblock") if second.shape[1] else np.zeros_like(both)
        total = both + apart
        kernel[rows] = np.where(total > 0, (both - apart) / np.where(total > 0, total, 1.0), 1.0)
        return len(both)

    in_threads(work, -(-len(first) // ROWS_AT_ONCE), n_jobs=None, tick=None)
    return kernel


class Composition(NamedTuple):
    """What composition is counted, and the mean and spread of each count on the fitted graphs."""

    node_labels: IntArray
    edge_labels: IntArray
    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, graphs: GraphSet) -> Composition:
        """Learn which labels there are, and how their numbers spread."""
        nodes = np.empty(0, np.int64) if graphs.node_labels is None else np.unique(graphs.node_labels)
        edges = np.empty(0, np.int64) if graphs.edge_labels is None else np.unique(graphs.edge_labels)
        counts = composition_counts(graphs, nodes, edges)
        spread = counts.std(axis=0)
        return cls(nodes, edges, counts.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def features(self, graphs: GraphSet) -> FloatArray:
        """Standardised counts, scaled so that the linear kernel of a fitted graph with itself is 1 on average."""
        counts = composition_counts(graphs, self.node_labels, self.edge_labels)
        return np.asarray((counts - self.mean) / self.spread / np.sqrt(len(self.mean)))

    def node_parts(self, graph: Graph, slopes: FloatArray) -> FloatArray:
        """What each node adds to a sum of slopes times features, up to a constant; edges are shared by their ends.

        >>> from rwk import as_graphs
        >>> pair = as_graphs([(np.array([[0, 1], [1, 0]]), [0, 1])])
        >>> Composition.of(pair).node_parts(pair[0], np.array([0.0, 2.0, 4.0, 8.0])).tolist()
        [2.5, 4.5]
        """
        slopes = slopes / self.spread / np.sqrt(len(self.mean))  # per unit of each count
        labels, attributes = np.split(slopes[2:], [len(self.node_labels) + len(self.edge_labels)])
        of_nodes, of_edges = np.split(labels, [len(self.node_labels)])
        found = np.full(graph.n_nodes, slopes[0])
        ends = np.full(graph.n_edges, slopes[1])
        if graph.node_labels is not None:
            found += (graph.node_labels[:, None] == self.node_labels) @ of_nodes
        if graph.edge_labels is not None:
            ends = ends + (graph.edge_labels[:, None] == self.edge_labels) @ of_edges
        if graph.node_attributes is not None:
            found += graph.node_attributes @ attributes
        np.add.at(found, graph.edges.ravel(), np.repeat(0.5 * ends, 2))
        return found


def composition_counts(graphs: GraphSet, node_labels: IntArray, edge_labels: IntArray) -> FloatArray:
    """Numbers of nodes, of edges, of nodes and edges with each of these labels, and the sums of the node attributes.

    >>> from rwk import as_graphs
    >>> pair = as_graphs([(np.array([[0, 1], [1, 0]]), ["C", "O"])])
    >>> composition_counts(pair, np.unique(pair.node_labels), np.empty(0, int)).tolist()
    [[2.0, 1.0, 1.0, 1.0]]
    """
    n_graphs = len(graphs)
    sizes = {"node": graphs.sizes, "edge": graphs.n_edges}
    owners = {what: np.repeat(np.arange(n_graphs), numbers) for what, numbers in sizes.items()}
    columns = [graphs.sizes, graphs.n_edges]
    for what, values, known in (
        ("node", graphs.node_labels, node_labels),
        ("edge", graphs.edge_labels, edge_labels),
    ):
        for label in known:
            here = owners[what][values == label] if values is not None else owners[what][:0]
            columns.append(np.bincount(here, minlength=n_graphs))
    if graphs.node_attributes is not None:
        columns += [np.bincount(owners["node"], column, minlength=n_graphs) for column in graphs.node_attributes.T]
    return np.stack(columns, axis=1).astype(np.float64)
