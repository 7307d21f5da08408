"""Random graphs for the tests of the baselines."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from rwk import Graph, GraphSet


def random_graph(rng: np.random.Generator, n: int, share: float, *, n_labels: int = 3, width: int = 2) -> Graph:
    """A graph with labels and attributes, and about `share` of all possible edges."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)], dtype=np.int64).reshape(-1, 2)
    edges = pairs[rng.random(len(pairs)) < share]
    return Graph(n, edges, node_labels=rng.integers(0, n_labels, n), node_attributes=rng.normal(size=(n, width)))


def random_set(seed: int, count: int, *, low: int = 4, high: int = 10, share: float = 0.4) -> GraphSet:
    """Several such graphs."""
    rng = np.random.default_rng(seed)
    return GraphSet.from_graphs([random_graph(rng, int(rng.integers(low, high + 1)), share) for _ in range(count)])


def without(graphs: GraphSet, *fields: str) -> GraphSet:
    """The same graphs without labels or attributes."""
    from dataclasses import replace

    return replace(graphs, **dict.fromkeys(fields))


def permuted(graphs: GraphSet, seed: int = 0) -> GraphSet:
    """The same graphs with their nodes in another order."""
    rng = np.random.default_rng(seed)
    return GraphSet.from_graphs([graph.permuted(rng.permutation(graph.n_nodes)) for graph in graphs])


def to_grakel(graphs: GraphSet, attributes: bool = False) -> list[Any]:
    """Graphs in GraKeL's form."""
    result = []
    for graph in graphs:
        neighbours: dict[int, dict[int, float]] = {i: {} for i in range(graph.n_nodes)}
        for i, j in graph.edges.tolist():
            neighbours[i][j] = neighbours[j][i] = 1.0
        if attributes:
            labels: dict[int, Any] = {i: tuple(row) for i, row in enumerate(graph.node_attributes.tolist())}
        else:
            labels = dict(enumerate(graph.node_labels.tolist()))
        result.append((neighbours, labels))
    return result


def as_networkx(graph: Graph) -> Any:
    result = nx.Graph()
    result.add_nodes_from(range(graph.n_nodes))
    result.add_edges_from(graph.edges.tolist())
    return result


def dense(graph: Graph) -> Any:
    return graph.adjacency().toarray()


def colours_of(graph: Graph, rounds: int) -> list[list[Any]]:
    """Colours as nested tuples, one list per round."""
    network = as_networkx(graph)
    result = [list(graph.node_labels.tolist())]
    for _ in range(rounds):
        last = result[-1]
        result.append([(last[v], tuple(sorted((last[w] for w in network[v]), key=repr))) for v in network])
    return result
