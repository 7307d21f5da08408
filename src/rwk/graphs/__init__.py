"""Graphs as plain records of arrays, their canonical form, and the checks of what users pass in.

    graph       `Graph`, one graph, and `GraphError`
    graph_set   `GraphSet`, many graphs in packed arrays with offsets
    canonical   one form for edges (undirected, sorted, no loops, no duplicates) and for labels (integers)
    atom_names  labels of atoms (`C`, `c`, `N+`), and the element that such a label names
    colours     Weisfeiler-Lehman colours of nodes, which can be compared between sets
    checks      `check_graphs` raises a `GraphError` for graphs that no solver can use

`graph_set` uses `graph`; `canonical` and `checks` are called by the two packages that make graphs, `convert` and
`datasets`, and `checks` once more by `represent`.
"""

from rwk.graphs.graph import EDGE_FIELDS, NODE_FIELDS, Graph, GraphError
from rwk.graphs.graph_set import GraphSet

__all__ = ["EDGE_FIELDS", "NODE_FIELDS", "Graph", "GraphError", "GraphSet"]
