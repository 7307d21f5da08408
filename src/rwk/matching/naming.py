"""From positions of nodes to a `Matching`: names, what is left, groups of nodes that look alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.matching.matched import Matching
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.interchangeable import alike_rows
from rwk.transport.problem import PairSolution


class Details(NamedTuple):
    """What a `Matching` has beside its pairs."""

    confidence: FloatArray
    blurred: FloatArray  # the coupling that nodes are told apart by
    solution: PairSolution
    misfit: float


def named_matching(graphs: tuple[Graph, Graph], numbers: IntArray, more: Details) -> Matching:
    """The matching with the names of nodes, where they have some, in place of their numbers."""
    names = [graph.node_names or range(graph.n_nodes) for graph in graphs]
    groups = [
        [[own[node] for node in group] for group in alike_rows(coupling)]
        for own, coupling in zip(names, (more.blurred, more.blurred.T), strict=True)
    ]
    left = [
        [own[node] for node in np.setdiff1d(np.arange(len(own)), numbers[:, side])] for side, own in enumerate(names)
    ]
    return Matching(
        pairs=[(names[0][i], names[1][k]) for i, k in numbers.tolist()],
        confidence=more.confidence,
        unmatched=(left[0], left[1]),
        interchangeable=(groups[0], groups[1]),
        edges_preserved=edges_preserved(graphs[0], graphs[1], numbers),
        solution=more.solution,
        numbers=np.ascontiguousarray(numbers),
        misfit=more.misfit,
    )


def edges_preserved(G: Graph, H: Graph, numbers: IntArray) -> float:
    """The share of the edges between matched nodes of G that are edges of H too; 1 if there are none.

    >>> import networkx as nx
    >>> from rwk import as_graphs
    >>> path, star = as_graphs([nx.path_graph(3), nx.star_graph(2)])
    >>> edges_preserved(path, star, np.array([[0, 0], [1, 1], [2, 2]]))
    0.5
    """
    place = np.full(G.n_nodes, -1, np.int64)
    place[numbers[:, 0]] = numbers[:, 1]
    ends = place[G.edges]
    ends = np.sort(ends[(ends >= 0).all(axis=1)], axis=1)
    if not len(ends):
        return 1.0
    known = np.isin(ends @ [H.n_nodes, 1], np.sort(H.edges, axis=1) @ [H.n_nodes, 1])
    return float(known.mean())
