"""The graphs that a user gives to a picture, in any form that `as_graphs` accepts."""

from __future__ import annotations

import warnings
from typing import Any

from rwk.convert import as_graphs
from rwk.discrepancy import joined_graphs
from rwk.graphs import Graph, GraphSet


def given_graph(graph: Any) -> Graph:
    """The one graph that is given.

    >>> given_graph([[0, 1], [1, 0]]).n_edges
    1
    """
    return graph if isinstance(graph, Graph) else _single(graph)[0]


def given_pair(first: Any, second: Any) -> tuple[Graph, Graph]:
    """The two graphs that are given, their labels in the same codes."""
    if isinstance(first, Graph) and isinstance(second, Graph):
        return first, second
    both = joined_graphs(_single(first), _single(second))
    return both[0], both[1]


def _single(graph: Any) -> GraphSet:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever compared these graphs has seen the warnings
        graphs = as_graphs(graph)
    if len(graphs) != 1:
        raise ValueError(f"{len(graphs)} graphs were given where one is drawn; pick one of them")
    return graphs
