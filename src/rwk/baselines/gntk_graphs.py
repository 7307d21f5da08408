"""The data of graphs for the graph neural tangent kernel, on CPU and GPU."""

from __future__ import annotations

from typing import NamedTuple

from rwk.runtime.arrays import FloatArray, IntArray


class TangentGraphs(NamedTuple):
    """Labels, attributes, closed neighbourhoods and, per block, sqrt(Σ(v, v)) of all nodes."""

    labels: IntArray
    label_weight: float  # Σ at first: this if labels are equal, plus the inner product of the points
    points: FloatArray  # (V, d); d = 0 if only labels are compared
    offsets: IntArray
    first: IntArray  # the neighbours of node v are neighbours[first[v]:first[v + 1]], numbered inside the graph
    neighbours: IntArray
    scale: FloatArray  # c_u
    roots: FloatArray  # (blocks, V)
    own: FloatArray  # (blocks + 1, graphs): the kernel of each graph with itself, after 0..blocks blocks
