"""Graphs with some nodes more or less, as starts of a descent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rwk.graphs import EDGE_FIELDS, NODE_FIELDS, Graph
from rwk.graphs.graph import rows_of
from rwk.runtime.arrays import IntArray


def resized(graph: Graph, n: int) -> Graph:
    """A graph of n nodes to start from: nodes of low degree are dropped, or nodes of high degree get a twin.

    >>> resized(Graph(3, np.array([[0, 1], [0, 2]])), 4).edges.tolist()
    [[0, 1], [0, 2], [1, 3], [2, 3]]
    """
    order = np.argsort(-graph.degrees, kind="stable")
    if n < graph.n_nodes:
        return _part(graph, np.sort(order[:n]))
    while graph.n_nodes < n:
        graph = _with_twin(graph, int(order[(graph.n_nodes - len(order)) % len(order)]))
    return graph


def _part(graph: Graph, kept: IntArray) -> Graph:
    """The part of a graph between some of its nodes."""
    place = np.full(graph.n_nodes, -1)
    place[kept] = np.arange(len(kept))
    ends = place[graph.edges]
    inside = (ends >= 0).all(axis=1)
    node = {name: rows_of(getattr(graph, name), kept) for name in NODE_FIELDS}
    edge = {name: rows_of(getattr(graph, name), inside) for name in EDGE_FIELDS}
    return replace(graph, n_nodes=len(kept), edges=ends[inside], node_names=None, **node, **edge)


def _with_twin(graph: Graph, i: int) -> Graph:
    """The graph with one more node, which is like node i and has its neighbours."""
    touching = (graph.edges == i).any(axis=1)
    others = graph.edges[touching].sum(axis=1) - i
    new = np.stack([others, np.full(len(others), graph.n_nodes)], axis=1)
    again = np.append(np.arange(graph.n_nodes), i)
    both = np.concatenate([np.arange(graph.n_edges), np.flatnonzero(touching)])
    node = {name: rows_of(getattr(graph, name), again) for name in NODE_FIELDS}
    edge = {name: rows_of(getattr(graph, name), both) for name in EDGE_FIELDS}
    edges = np.concatenate([graph.edges, new])
    return replace(graph, n_nodes=graph.n_nodes + 1, edges=edges, node_names=None, **node, **edge)
