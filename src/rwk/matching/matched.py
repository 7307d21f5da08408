"""`Matching`: which node is which, with names, confidence, and what the matching is worth."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rwk.graphs import Graph
from rwk.matching.later import SoftSide, edges_preserved
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.display import card_of
from rwk.runtime.words import counted
from rwk.transport.interchangeable import alike_rows
from rwk.transport.problem import PairSolution


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Which node of one graph is which node of another: the answer of `match` and of `common_part`.

    All but `numbers` and `misfit` is computed when it is asked for.

    Attributes
    ----------
    pairs : list of (node, node)
        The matched nodes of the first and of the second graph, by their names, in the order of the first graph.
    confidence : ndarray of shape (n_pairs,)
        How sure each pair is, from 0 to 1. If all mass moves: what speaks against a pair are exchanges of the node with
        others at little cost, and assignments from other starts that are nearly as good. If part of it stays: the
        share of the mass of both nodes that goes from the one to the other.
    unmatched : tuple of two lists
        Nodes of the first and of the second graph without a partner; one of the lists is empty, unless only a part of
        the mass moves.
    interchangeable : tuple of two lists of lists
        Groups of nodes of each graph that look alike to a coupling, such as the ends of a path: which of them is which
        is arbitrary.
    edges_preserved : float
        Share of the edges between matched nodes of the first graph that are edges of the second too.
    solution : PairSolution
        The soft matching near these pairs: its value, the terms of the value, and the coupling.
    numbers : int array of shape (n_pairs, 2)
        The pairs again, as positions of the nodes in their graphs.
    misfit : float
        Edges without a counterpart and unlike nodes, counted: what the refinement lowers.
    soft : SoftSide
        The two graphs and the settings, from which the other attributes are computed.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import match
    >>> kite = nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("c", "e"), ("e", "f"), ("f", "g")])
    >>> found = match(kite, nx.relabel_nodes(kite, str.upper))
    >>> dict(found)["c"], found.unmatched, found.edges_preserved
    ('C', ([], []), 1.0)
    """

    numbers: IntArray
    misfit: float
    soft: SoftSide

    def __iter__(self) -> Any:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def pairs(self) -> list[tuple[Hashable, Hashable]]:
        """The matched nodes of both graphs, by their names."""
        first, second = (graph.node_names or range(graph.n_nodes) for graph in self.soft.pair)
        return [(first[i], second[k]) for i, k in self.numbers.tolist()]

    @property
    def unmatched(self) -> tuple[list[Hashable], list[Hashable]]:
        """Nodes of both graphs without a partner, by their names."""
        first, second = (
            [_name(graph, node) for node in np.setdiff1d(np.arange(graph.n_nodes), self.numbers[:, side]).tolist()]
            for side, graph in enumerate(self.soft.pair)
        )
        return first, second

    @property
    def confidence(self) -> FloatArray:
        """How sure each pair is, from 0 to 1."""
        return self.soft.certain()

    @property
    def edges_preserved(self) -> float:
        """Share of the edges between matched nodes of the first graph that are edges of the second too."""
        return edges_preserved(*self.soft.pair, self.numbers)

    @property
    def solution(self) -> PairSolution:
        """The soft matching near these pairs."""
        return self.soft.solved()

    @property
    def interchangeable(self) -> tuple[list[list[Hashable]], list[list[Hashable]]]:
        """Groups of nodes of each graph that look alike to a coupling."""
        blurred = self.soft.blurry()
        first, second = (
            [[_name(graph, node) for node in group] for group in alike_rows(coupling)]
            for graph, coupling in zip(self.soft.pair, (blurred, blurred.T), strict=True)
        )
        return first, second

    @property
    def coupling(self) -> FloatArray:
        """The soft matching: how much mass each node of the first graph sends to each node of the second."""
        return self.solution.coupling

    def as_coupling(self) -> FloatArray:
        """The pairs as a matrix with a 1 for each of them."""
        matrix = np.zeros([graph.n_nodes for graph in self.soft.pair])
        matrix[self.numbers[:, 0], self.numbers[:, 1]] = 1.0
        return matrix

    def __repr__(self) -> str:
        pairs, left = counted(len(self), "pair"), len(self.unmatched[0]) + len(self.unmatched[1])
        return f"Matching({pairs}, {left} unmatched, {self.edges_preserved:.0%} of edges preserved)"

    def _repr_html_(self) -> str | None:
        return card_of("matching", self)


def _name(graph: Graph, node: int) -> Hashable:
    return node if graph.node_names is None else graph.node_names[node]
