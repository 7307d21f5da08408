"""Graphs as packed records, their canonical form, and checks of what users give.

graph_set   Graph and GraphSet: arrays of all nodes and edges, and offsets
canonical   one form for equal graphs: sorted edges, no loops, no duplicates
checks      a sentence that says what is wrong with graphs that can't be used
"""

from rwk.graphs.graph_set import EDGE_FIELDS, NODE_FIELDS, Graph, GraphError, GraphSet

__all__ = ["EDGE_FIELDS", "NODE_FIELDS", "Graph", "GraphError", "GraphSet"]
