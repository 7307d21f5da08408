"""What aligned graphs say about their average: which edges most of them have, and how nodes and edges are labelled.

A plan (n, m) says which nodes of a member the nodes of the average are. Its rows are shares, which add up to 1, or to 0
where the member lacks the node: one-to-one matchings have a single 1 in a row, couplings are divided by their row sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.runtime.arrays import FloatArray, IntArray

NOTHING: Final = 1e-12  # shares and masses below this are rounding errors


class Members(NamedTuple):
    """The graphs to average, and their weights, which add up to 1."""

    graphs: Sequence[Graph]
    weights: FloatArray

    @property
    def sizes(self) -> list[int]:
        return [graph.n_nodes for graph in self.graphs]


class Evidence(NamedTuple):
    """What the members say about the edges of an average of n nodes."""

    shares: FloatArray  # (n, n): share of the members that have an edge there, among those that have both nodes
    known: Any  # (n, n) bool: whether any member has both nodes


def assignment_plans(n: int, matchings: Sequence[IntArray], sizes: Sequence[int]) -> list[FloatArray]:
    """One-to-one matchings, as rows (node of the average, node of the member), as plans.

    >>> assignment_plans(3, [np.array([[0, 1], [2, 0]])], [2])[0].tolist()
    [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """
    plans = [np.zeros((n, m)) for m in sizes]
    for plan, pairs in zip(plans, matchings, strict=True):
        plan[pairs[:, 0], pairs[:, 1]] = 1.0
    return plans


def evidence_of(members: Members, plans: Sequence[FloatArray]) -> Evidence:
    """The edges of the members as the plans carry them to the average: T A T^T, over the mass that could carry one."""
    n = len(plans[0])
    carried, possible = np.zeros((n, n)), np.zeros((n, n))
    for weight, plan, graph in zip(members.weights, plans, members.graphs, strict=True):
        there = plan.sum(axis=1)
        carried += weight * (plan @ _matrix(graph, np.ones(graph.n_edges)) @ plan.T)
        possible += weight * np.outer(there, there)
    known = possible > NOTHING
    shares = np.where(known, carried / np.maximum(possible, NOTHING), 0.0)
    np.fill_diagonal(shares, 0.0)
    return Evidence(shares, known)


def usual_threshold(members: Members, evidence: Evidence) -> float | None:
    """The threshold that gives the average as many edges as the members have on average; None if there is none."""
    shares = np.sort(evidence.shares[np.triu_indices(len(evidence.shares), 1)])[::-1]
    count = round(float(members.weights @ [graph.n_edges for graph in members.graphs]))
    if not 0 < count < len(shares) or shares[count - 1] <= NOTHING:
        return None
    return float(0.5 * (shares[count - 1] + shares[count]))


def averaged_graph(
    members: Members, plans: Sequence[FloatArray], threshold: float, now: Graph, evidence: Evidence | None = None
) -> Graph:
    """The graph of all edges whose share is at least the threshold; where nothing is known, that of the graph `now`."""
    evidence = evidence_of(members, plans) if evidence is None else evidence
    present = evidence.shares >= threshold - NOTHING
    if not evidence.known.all():
        present = np.where(evidence.known, present, _matrix(now, np.ones(now.n_edges)) > 0)
    edges = np.argwhere(np.triu(present, 1)).astype(np.int64)
    graph = Graph(now.n_nodes, edges, label_names=now.label_names)
    return replace(graph, **_node_fields(members, plans, now), **_edge_fields(members, plans, edges))


def _node_fields(members: Members, plans: Sequence[FloatArray], now: Graph) -> dict[str, Any]:
    """Labels by majority and mean attributes; nodes that no member has keep those of the graph `now`."""
    fields: dict[str, Any] = {}
    mass = _over_members(members, plans, lambda graph: np.ones(graph.n_nodes))
    there = mass > NOTHING
    if now.node_labels is not None:
        codes = np.unique(np.concatenate([np.asarray(graph.node_labels) for graph in members.graphs]))
        votes = _over_members(members, plans, lambda graph: np.asarray(graph.node_labels)[:, None] == codes)
        fields["node_labels"] = np.where(there, codes[_winners(votes)], now.node_labels)
    if now.node_attributes is not None:
        total = _over_members(members, plans, lambda graph: np.asarray(graph.node_attributes))
        mean = total / np.maximum(mass, NOTHING)[:, None]
        fields["node_attributes"] = np.where(there[:, None], mean, now.node_attributes)
    return fields


def _edge_fields(members: Members, plans: Sequence[FloatArray], edges: IntArray) -> dict[str, Any]:
    """Labels by majority, and mean weights and attributes, over the members that have the edge."""

    def carried(columns_of: Callable[[Graph], Any]) -> FloatArray:
        """The weighted sum of what the plans carry of the columns (n_edges, d) to each edge."""
        parts = [
            [weight * (plan @ _matrix(graph, column) @ plan.T)[edges[:, 0], edges[:, 1]] for column in columns.T]
            for weight, plan, graph in zip(members.weights, plans, members.graphs, strict=True)
            for columns in [np.asarray(columns_of(graph), np.float64)]
        ]
        return np.asarray(np.array(parts).sum(axis=0).T)

    first = members.graphs[0]
    fields: dict[str, Any] = {}
    if first.edge_labels is not None:
        codes = np.unique(np.concatenate([np.asarray(graph.edge_labels) for graph in members.graphs]))
        codes = codes if len(codes) else np.zeros(1, np.int64)  # of graphs without edges
        votes = carried(lambda graph: np.asarray(graph.edge_labels)[:, None] == codes)
        fields["edge_labels"] = codes[_winners(votes)]
    if first.edge_weights is not None or first.edge_attributes is not None:
        mass = np.maximum(carried(lambda graph: np.ones((graph.n_edges, 1))), NOTHING)
        if first.edge_weights is not None:
            fields["edge_weights"] = (carried(lambda graph: np.asarray(graph.edge_weights)[:, None]) / mass)[:, 0]
        if first.edge_attributes is not None:
            fields["edge_attributes"] = carried(lambda graph: graph.edge_attributes) / mass
    return fields


def _over_members(members: Members, plans: Sequence[FloatArray], values_of: Callable[[Graph], Any]) -> FloatArray:
    """The weighted sum of what the plans carry of the values of nodes."""
    parts = zip(members.weights, plans, members.graphs, strict=True)
    return np.asarray(sum(weight * (plan @ values_of(graph)) for weight, plan, graph in parts), np.float64)


def _matrix(graph: Graph, values: Any) -> FloatArray:
    """Values of the edges as a symmetric matrix."""
    matrix = np.zeros((graph.n_nodes, graph.n_nodes))
    i, k = graph.edges.T
    matrix[i, k] = matrix[k, i] = values
    return matrix


def _winners(votes: FloatArray) -> IntArray:
    """The column with the most votes in each row; of equal ones, up to rounding, the first."""
    return np.asarray((votes >= votes.max(axis=1, keepdims=True) - NOTHING).argmax(axis=1), np.int64)
