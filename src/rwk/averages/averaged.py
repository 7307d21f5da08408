"""`AverageGraph`: an average graph, and how it lies in every graph that it is the average of."""

from __future__ import annotations

from dataclasses import dataclass

from rwk.graphs import Graph
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.display import card_of
from rwk.runtime.words import counted


@dataclass(frozen=True, slots=True, eq=False)
class AverageGraph:
    """The average of several graphs: the answer of `barycenter`.

    Attributes
    ----------
    graph : Graph
        The average graph, with labels by majority and mean attributes.
    objective : float
        The weighted mean of `values`, which the descent lowered.
    history : ndarray
        The objective at the start and after every round that was kept; it never increases.
    values : ndarray of shape (n_graphs,)
        The discrepancy of the average and each graph.
    couplings : list of ndarray
        For each graph, how much mass every node of the average (rows) sends to every node of the graph (columns).
    matchings : list of int arrays of shape (n_pairs, 2)
        For each graph, which node of the average (first column) is which node of the graph (second column).
    edge_shares : ndarray of shape (n_nodes, n_nodes)
        For every two nodes of the average, the share of the graphs that have an edge there, among those that have both
        nodes.
    threshold : float
        The share from which on an edge is part of the average.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import barycenter
    >>> average = barycenter([nx.cycle_graph(5), nx.cycle_graph(5), nx.path_graph(5)], n_starts=1)
    >>> average
    AverageGraph(5 nodes, 5 edges, of 3 graphs)
    >>> sorted(average.edge_shares[tuple(average.graph.edges.T)].round(2).tolist())
    [0.67, 1.0, 1.0, 1.0, 1.0]
    """

    graph: Graph
    objective: float
    history: FloatArray
    values: FloatArray
    couplings: list[FloatArray]
    matchings: list[IntArray]
    edge_shares: FloatArray
    threshold: float

    def __repr__(self) -> str:
        parts = (
            counted(self.graph.n_nodes, "node"),
            counted(self.graph.n_edges, "edge"),
            f"of {counted(len(self.values), 'graph')}",
        )
        return f"AverageGraph({', '.join(parts)})"

    def _repr_html_(self) -> str | None:
        return card_of("average", self)
