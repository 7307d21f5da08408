"""What graphs are made of: numbers of nodes and edges of each kind, and three kernels on them.

The RW discrepancy compares shares of nodes, so it does not see that one graph is twice another. These kernels do;
quantities that grow with the graph (extensive ones) need them.

    composition   linear: numbers of nodes, edges, labels, and sums of node attributes
    edge-kinds    linear: numbers of edges by their label and the labels of their ends (if nodes have labels)
    overlap       min-max: what two graphs have in common, as a share of all that they have; it can't grow without bound

Every number is a sum over nodes, if edges are shared by their ends; so is what a graph adds to a prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from rwk.graphs import Graph, GraphSet
from rwk.learn.count_kernels import min_max_kernel
from rwk.learn.exact_gp import Block
from rwk.runtime.arrays import FloatArray, IntArray

COMPOSITION: Final = "composition"
EDGE_KINDS: Final = "edge-kinds"
OVERLAP: Final = "overlap"


class Kinds(NamedTuple):
    """The labels that are counted; all are those of the fitted graphs."""

    node_labels: IntArray
    edge_labels: IntArray
    edges: IntArray  # (k, 3): label of an edge, the lower and the higher label of its ends

    @classmethod
    def of(cls, graphs: GraphSet) -> Kinds:
        nodes = np.empty(0, np.int64) if graphs.node_labels is None else np.unique(graphs.node_labels)
        edges = np.empty(0, np.int64) if graphs.edge_labels is None else np.unique(graphs.edge_labels)
        return cls(nodes, edges, np.unique(edge_kinds(graphs), axis=0))


class Scaled(NamedTuple):
    """Mean and spread of counts on the fitted graphs."""

    mean: FloatArray
    spread: FloatArray

    @classmethod
    def of(cls, counts: FloatArray) -> Scaled:
        spread = counts.std(axis=0)
        return cls(counts.mean(axis=0), np.where(spread > 0, spread, 1.0))

    def features(self, counts: FloatArray) -> FloatArray:
        """Standardised, and scaled so that the linear kernel of a fitted graph with itself is 1 on average."""
        return np.asarray((counts - self.mean) / self.spread / np.sqrt(max(len(self.mean), 1)))

    def per_count(self, slopes: FloatArray) -> FloatArray:
        """What one more of each count adds, from what one more of each feature adds."""
        return np.asarray(slopes / self.spread / np.sqrt(max(len(self.mean), 1)))


@dataclass(frozen=True, eq=False)
class CompositionTerms:
    """The three kernels between any graphs, in the units of the fitted graphs."""

    kinds: Kinds
    composition: Scaled
    edges: Scaled | None  # None without node labels: edge labels are part of the composition

    @classmethod
    def of(cls, graphs: GraphSet) -> CompositionTerms:
        """Learn which labels there are, and how their numbers spread."""
        kinds = Kinds.of(graphs)
        edges = Scaled.of(edge_kind_counts(graphs, kinds)) if len(kinds.edges) else None
        return cls(kinds, Scaled.of(composition_counts(graphs, kinds)), edges)

    def features(self, graphs: GraphSet) -> dict[str, FloatArray]:
        """The features of the linear kernels, and the counts of the min-max kernel, by the name of their term."""
        found = {COMPOSITION: self.composition.features(composition_counts(graphs, self.kinds))}
        if self.edges is not None:
            found[EDGE_KINDS] = self.edges.features(edge_kind_counts(graphs, self.kinds))
        return found | {OVERLAP: composition_counts(graphs, self.kinds, absolute=True)}

    def blocks(self, first: GraphSet, second: GraphSet) -> dict[str, Block]:
        """The matrices of all terms, graphs of `first` in rows and of `second` in columns."""
        rows = self.features(first)
        columns = rows if second is first else self.features(second)
        return {name: Block(_kernel(name, rows[name], columns[name]), False) for name in rows}

    def own(self, graphs: GraphSet) -> dict[str, Block]:
        """The values of each graph with itself."""
        found = {name: np.einsum("ij,ij->i", values, values) for name, values in self.features(graphs).items()}
        return {name: Block(np.ones(len(graphs)) if name == OVERLAP else found[name], False) for name in found}

    def node_parts(
        self, name: str, graph: Graph, fitted: GraphSet, coefficients: FloatArray
    ) -> tuple[FloatArray, float]:
        """What each node adds to Σ_j c_j k(graph, fitted graph j), and what no node adds."""
        known = self.features(fitted)[name]
        if name == OVERLAP:
            parts = composition_parts(graph, self.kinds, absolute=True)  # (nodes, counts)
            counts = parts.sum(axis=0)
            common, all_of = np.minimum(known, counts), np.maximum(known, counts).sum(axis=1)
            shared = (coefficients / np.where(all_of > 0, all_of, 1.0)) @ common  # by count
            return parts @ (shared / np.where(counts > 0, counts, 1.0)), 0.0
        scaled = self.composition if name == COMPOSITION else self.edges
        assert scaled is not None
        of_nodes = composition_parts if name == COMPOSITION else edge_kind_parts
        slopes = scaled.per_count(coefficients @ known)
        return of_nodes(graph, self.kinds) @ slopes, -float(slopes @ scaled.mean)


def composition_counts(graphs: GraphSet, kinds: Kinds, *, absolute: bool = False) -> FloatArray:
    """Numbers of nodes, of edges, of nodes and edges with each label, and sums of the attributes or of their sizes.

    >>> from rwk import as_graphs
    >>> pair = as_graphs([(np.array([[0, 1], [1, 0]]), ["C", "O"])])
    >>> composition_counts(pair, Kinds.of(pair)).tolist()
    [[2.0, 1.0, 1.0, 1.0]]
    """
    n_graphs = len(graphs)
    of_nodes, of_edges = _owners(graphs)
    columns = [graphs.sizes, graphs.n_edges]
    for owners, values, known in (
        (of_nodes, graphs.node_labels, kinds.node_labels),
        (of_edges, graphs.edge_labels, kinds.edge_labels),
    ):
        for label in known:
            here = owners[values == label] if values is not None else owners[:0]
            columns.append(np.bincount(here, minlength=n_graphs))
    if graphs.node_attributes is not None:
        attributes = np.abs(graphs.node_attributes) if absolute else graphs.node_attributes
        columns += [np.bincount(of_nodes, column, minlength=n_graphs) for column in attributes.T]
    return np.stack(columns, axis=1).astype(np.float64)


def composition_parts(graph: Graph, kinds: Kinds, *, absolute: bool = False) -> FloatArray:
    """The counts of one graph, node by node; the two ends of an edge have half of it each.

    >>> from rwk import as_graphs
    >>> pair = as_graphs([(np.array([[0, 1], [1, 0]]), ["C", "C"])])
    >>> composition_parts(pair[0], Kinds.of(pair)).tolist()
    [[1.0, 0.5, 1.0], [1.0, 0.5, 1.0]]
    """
    ends = _half_edges(graph)
    columns = [np.ones((graph.n_nodes, 1)), ends.sum(axis=1, keepdims=True)]
    none = np.zeros((graph.n_nodes, 0))
    columns.append(none if graph.node_labels is None else graph.node_labels[:, None] == kinds.node_labels)
    columns.append(none if graph.edge_labels is None else ends @ (graph.edge_labels[:, None] == kinds.edge_labels))
    if graph.node_attributes is not None:
        columns.append(np.abs(graph.node_attributes) if absolute else graph.node_attributes)
    return np.hstack(columns).astype(np.float64)


def edge_kinds(graphs: GraphSet) -> IntArray:
    """The kind of each edge: its label (0 without labels), the lower and the higher label of its ends.

    >>> from rwk import as_graphs
    >>> pair = as_graphs([(np.array([[0, 1], [1, 0]]), [7, 3])])
    >>> edge_kinds(pair).tolist()
    [[0, 3, 7]]
    """
    if graphs.node_labels is None:
        return np.empty((0, 3), np.int64)
    first = np.repeat(graphs.node_offsets[:-1], graphs.n_edges)
    ends = np.sort(graphs.node_labels[graphs.edges + first[:, None]], axis=1)
    labels = np.zeros(len(ends), np.int64) if graphs.edge_labels is None else graphs.edge_labels
    return np.column_stack([labels, ends])


def edge_kind_counts(graphs: GraphSet, kinds: Kinds) -> FloatArray:
    """How many edges of each known kind each graph has."""
    found = _numbered(edge_kinds(graphs), kinds)
    _, owners = _owners(graphs)
    counts = np.zeros((len(graphs), len(kinds.edges)))
    np.add.at(counts, (owners[found >= 0], found[found >= 0]), 1.0)
    return counts


def edge_kind_parts(graph: Graph, kinds: Kinds) -> FloatArray:
    """The kinds of the edges of one graph, half of each edge at each of its ends."""
    found = _numbered(edge_kinds(GraphSet.from_graphs([graph])), kinds)
    return np.asarray(_half_edges(graph) @ (found[:, None] == np.arange(len(kinds.edges))))


def _numbered(rows: IntArray, kinds: Kinds) -> IntArray:
    """The number of each kind, −1 for those that no fitted graph has."""
    known = {tuple(kind): number for number, kind in enumerate(kinds.edges.tolist())}
    return np.array([known.get(tuple(row), -1) for row in rows.tolist()], dtype=np.int64)


def _half_edges(graph: Graph) -> FloatArray:
    """(nodes, edges): one half where a node is an end of an edge."""
    found = np.zeros((graph.n_nodes, graph.n_edges))
    np.add.at(found, (graph.edges.ravel(), np.repeat(np.arange(graph.n_edges), 2)), 0.5)
    return found


def _owners(graphs: GraphSet) -> tuple[IntArray, IntArray]:
    """The graph of each node and of each edge."""
    numbers = np.arange(len(graphs))
    return np.repeat(numbers, graphs.sizes), np.repeat(numbers, graphs.n_edges)


def _kernel(name: str, rows: FloatArray, columns: FloatArray) -> FloatArray:
    return min_max_kernel(rows, columns) if name == OVERLAP else rows @ columns.T
