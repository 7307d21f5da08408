"""`dataset_statistics`: one row of statistics per set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rwk.graphs import GraphError, GraphSet


@dataclass(frozen=True)
class DatasetStatistics:
    """Statistics of a set of graphs; entries that do not apply are None.

    Edges are undirected. A self-loop that was dropped on loading counts as one edge, as in the published statistics.
    """

    name: str
    n_graphs: int
    classes: dict[Any, int] | None  # class -> number of graphs
    mean_nodes: float
    mean_edges: float
    min_nodes: int
    max_nodes: int
    n_node_labels: int | None
    node_attribute_dim: int | None
    n_edge_labels: int | None
    edge_attribute_dim: int | None
    n_with_isolated_nodes: int
    n_disconnected: int

    def row(self) -> dict[str, str]:
        """The statistics as text, by column title.

        >>> from rwk.datasets import load_dataset
        >>> dataset_statistics(load_dataset("MUTAG")).row()["classes (label: count)"]
        '2 (-1: 63, 1: 125)'
        """
        return {
            "name": self.name,
            "graphs": str(self.n_graphs),
            "classes (label: count)": self._classes(),
            "avg nodes": f"{self.mean_nodes:.2f}",
            "avg edges": f"{self.mean_edges:.2f}",
            "min-max nodes": f"{self.min_nodes}-{self.max_nodes}",
            "node labels (distinct)": _or_dash(self.n_node_labels),
            "node attr dim": _or_dash(self.node_attribute_dim),
            "edge labels (distinct)": _or_dash(self.n_edge_labels),
            "edge attr dim": _or_dash(self.edge_attribute_dim),
            "graphs with isolated nodes": str(self.n_with_isolated_nodes),
            "disconnected graphs": str(self.n_disconnected),
        }

    def _classes(self) -> str:
        if self.classes is None:
            return "-"
        return f"{len(self.classes)} ({', '.join(f'{label}: {count}' for label, count in self.classes.items())})"


def dataset_statistics(graphs: GraphSet) -> DatasetStatistics:
    """Statistics of a set: numbers of graphs, classes, nodes, edges, labels and attributes, and connectivity.

    Parameters
    ----------
    graphs : GraphSet
        The set, with at least one graph.

    Returns
    -------
    DatasetStatistics
        A record; `row()` gives the statistics as text for a table.

    Examples
    --------
    >>> from rwk.datasets import dataset_statistics, load_dataset
    >>> round(dataset_statistics(load_dataset("MUTAG")).mean_edges, 2)
    19.79
    """
    if not len(graphs):
        raise GraphError(f"{graphs.name} is empty; give at least one graph")
    loops = 0 if graphs.n_self_loops is None else int(graphs.n_self_loops.sum())
    isolated, disconnected = _connectivity(graphs)
    return DatasetStatistics(
        name=graphs.name,
        n_graphs=len(graphs),
        classes=_class_counts(graphs),
        mean_nodes=float(graphs.sizes.mean()),
        mean_edges=(len(graphs.edges) + loops) / len(graphs),
        min_nodes=int(graphs.sizes.min()),
        max_nodes=int(graphs.sizes.max()),
        n_node_labels=None if graphs.node_labels is None else len(np.unique(graphs.node_labels)),
        node_attribute_dim=None if graphs.node_attributes is None else graphs.node_attributes.shape[1],
        n_edge_labels=None if graphs.edge_labels is None else len(np.unique(graphs.edge_labels)),
        edge_attribute_dim=None if graphs.edge_attributes is None else graphs.edge_attributes.shape[1],
        n_with_isolated_nodes=isolated,
        n_disconnected=disconnected,
    )


def _class_counts(graphs: GraphSet) -> dict[Any, int] | None:
    targets = graphs.targets
    if targets is None or targets.ndim > 1 or targets.dtype.kind == "f":
        return None
    labels, counts = np.unique(targets, return_counts=True)
    return dict(zip(labels.tolist(), counts.tolist(), strict=True))


def _connectivity(graphs: GraphSet) -> tuple[int, int]:
    """How many graphs have a node without neighbours, and how many are not connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n_nodes = int(graphs.node_offsets[-1])
    ends = graphs.packed_edges
    lonely = np.bincount(ends.ravel(), minlength=n_nodes) == 0
    isolated = np.logical_or.reduceat(lonely, graphs.node_offsets[:-1])
    union = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    n_parts, part = connected_components(union, directed=False)
    first_node = np.unique(part, return_index=True)[1] if n_parts else np.empty(0, dtype=np.int64)
    owner = np.searchsorted(graphs.node_offsets, first_node, side="right") - 1
    return int(isolated.sum()), int((np.bincount(owner, minlength=len(graphs)) > 1).sum())


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)
