"""Graphs as packed records, their canonical form, and checks of what users give."""

from rwk.graphs.graph_set import EDGE_FIELDS, NODE_FIELDS, FloatArray, Graph, GraphError, GraphSet, IntArray

__all__ = ["EDGE_FIELDS", "NODE_FIELDS", "FloatArray", "Graph", "GraphError", "GraphSet", "IntArray"]
