"""Check that graphs can be used, and say in one sentence what is wrong if they cannot."""

from __future__ import annotations

import numpy as np

from rwk.graphs import EDGE_FIELDS, NODE_FIELDS, Graph, GraphError, GraphSet
from rwk.runtime.arrays import IntArray


def check_graphs(graphs: GraphSet) -> GraphSet:
    """Return `graphs`, or raise a `GraphError` that names the first problem found.

    >>> from rwk.graphs import Graph
    >>> check_graphs(GraphSet.from_graphs([Graph(0, np.empty((0, 2), int))]))
    Traceback (most recent call last):
    rwk.graphs.graph.GraphError: graph 0 has no nodes; remove it or add a node
    """
    if len(graphs) == 0:
        raise GraphError(f"{graphs.name} is empty; give at least one graph")
    if (graphs.sizes == 0).any():
        raise GraphError(f"graph {int(np.argmin(graphs.sizes))} has no nodes; remove it or add a node")
    _check_lengths(graphs)
    _check_edges(graphs)
    for name in NODE_FIELDS:
        _check_values(graphs, name, graphs.node_offsets, "node")
    for name in EDGE_FIELDS:
        _check_values(graphs, name, graphs.edge_offsets, "edge")
    if graphs.node_distances is not None:
        _check_values(graphs, "node_distances", graphs.pair_offsets, "pair")
    if graphs.node_weights is not None:
        largest = np.maximum.reduceat(graphs.node_weights, graphs.node_offsets[:-1])
        if (largest <= 0).any():
            raise GraphError(f"graph {int(np.argmin(largest))}: all node weights are 0; make at least one positive")
    return graphs


def is_plain(graph: Graph) -> bool:
    """Whether a graph has nothing but nodes, edges and perhaps labels of nodes, and nothing is wrong with it.

    Any other graph may be good too, but has to be looked at as a set (`check_graphs`).

    >>> from rwk.graphs import Graph
    >>> is_plain(Graph(2, np.array([[0, 1]]))), is_plain(Graph(2, np.array([[1, 0]])))
    (True, False)
    """
    fields = (*NODE_FIELDS, *EDGE_FIELDS, "node_distances", "label_names")
    if any(getattr(graph, name) is not None for name in fields if name != "node_labels"):
        return False
    labelled, named = graph.node_labels, graph.node_names
    if not graph.n_nodes or any(part is not None and len(part) != graph.n_nodes for part in (labelled, named)):
        return False
    low, high = graph.edges[:, 0], graph.edges[:, 1]
    return not len(low) or bool(low.min() >= 0 and high.max() < graph.n_nodes and (low < high).all())


def _check_lengths(graphs: GraphSet) -> None:
    """Every field must have one row per node, edge, pair of nodes or graph."""
    for names, needed, what in (
        (NODE_FIELDS, graphs.node_offsets[-1], "nodes"),
        ((*EDGE_FIELDS, "edges"), graphs.edge_offsets[-1], "edges"),
        (("node_distances",), (graphs.sizes**2).sum(), "pairs of nodes"),
        (("targets", "names", "node_names"), len(graphs), "graphs"),
    ):
        for name in names:
            values = getattr(graphs, name)
            if values is not None and len(values) != needed:
                title = name.replace("_", " ")
                raise GraphError(f"{title}: {len(values)} given for {needed} {what}; give exactly {needed}")
    for i, (named, size) in enumerate(zip(graphs.node_names or (), graphs.sizes.tolist(), strict=False)):
        if named is not None and len(named) != size:
            raise GraphError(f"graph {i}: {len(named)} node names given for {size} nodes; give one per node")


def _check_edges(graphs: GraphSet) -> None:
    low, high = graphs.edges.reshape(-1, 2).T
    bad = (low < 0) | (low >= high) | (high >= np.repeat(graphs.sizes, graphs.n_edges))
    if not bad.any():
        return
    at, inside = _locate(int(np.argmax(bad)), graphs.edge_offsets)
    ends = graphs.edges[int(np.argmax(bad))].tolist()
    if not 0 <= min(ends) <= max(ends) < graphs.sizes[at]:
        raise GraphError(
            f"graph {at}, edge {inside} joins {ends}, but the nodes are 0 to {graphs.sizes[at] - 1}; correct the edge"
        )
    raise GraphError(
        f"graph {at}, edge {inside} joins {ends}; list each edge once with the smaller node first, and no self-loops"
    )


def _check_values(graphs: GraphSet, name: str, offsets: IntArray, what: str) -> None:
    """Floats must be finite; weights and distances must not be negative."""
    values = getattr(graphs, name)
    if values is None or not values.size or np.issubdtype(values.dtype, np.integer):
        return
    rows = values.reshape(len(values), -1)
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        at, inside = _locate(int(np.argmax(bad)), offsets)
        title = name.replace("_", " ")
        raise GraphError(f"graph {at}, {what} {inside}: {title} are NaN or infinite; replace or remove them")
    if not name.endswith("attributes") and (values < 0).any():
        at, inside = _locate(int(np.argmax(values < 0)), offsets)
        title = name.removeprefix(f"{what}_").removeprefix("node_").removesuffix("s")
        raise GraphError(f"graph {at}, {what} {inside}: negative {title}; {title}s must be 0 or more")


def _locate(position: int, offsets: IntArray) -> tuple[int, int]:
    """Which graph a packed row belongs to, and its index inside that graph."""
    at = int(np.searchsorted(offsets, position, side="right")) - 1
    return at, position - int(offsets[at])
