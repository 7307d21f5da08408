"""Receptive fields of PATCHY-SAN: central nodes, each with its nearest nodes, in an order given by the graph alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.baselines.paths import neighbour_lists, search_from
from rwk.graphs import GraphSet
from rwk.graphs.colours import wl_colours
from rwk.runtime.arrays import IntArray
from rwk.runtime.compiling import compiled_loosely

ROUNDS: Final = 4  # of colour refinement, which orders nodes of equal centrality
ROUNDING: Final = 9


def receptive_fields(graphs: GraphSet, n_fields: int, k: int) -> IntArray:
    """Nodes of the fields, shape (graphs, n_fields · k), numbered inside each graph; −1 if a graph has too few.

    Nodes are ranked by betweenness, then by colour, then by attributes. Each of the first `n_fields` nodes has a field:
    the k nodes nearest to it, by distance and then rank, which is also their order in the field: its centre comes
    first, as the paper's normalisation asks for (algorithm 4: d(u, v) < d(w, v) implies r(u) < r(w)).

    >>> from rwk.graphs import Graph
    >>> star = GraphSet.from_graphs([Graph(4, np.array([[0, 1], [0, 2], [0, 3]]))])
    >>> receptive_fields(star, 1, 2)[0, 0].tolist()
    0
    """
    colours = wl_colours(graphs, ROUNDS)[-1]
    fields = np.full((len(graphs), n_fields * k), -1, np.int64)
    for i, graph in enumerate(graphs):
        first, neighbours = neighbour_lists(graph)
        mine = colours[graphs.node_offsets[i] : graphs.node_offsets[i + 1]]
        values = () if graph.node_attributes is None else tuple(graph.node_attributes.T)
        order = np.lexsort((*values, mine, -_betweenness(first, neighbours).round(ROUNDING)))
        _fill(first, neighbours, order, fields[i], k)
    return fields


@compiled_loosely
def _betweenness(first: Any, neighbours: Any) -> Any:
    """For every node, the share of shortest paths through it, summed over all pairs of other nodes (Brandes)."""
    n = len(first) - 1
    total = np.zeros(n)
    depth, ways, queue, passed = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64), np.empty(n)
    for source in range(n):
        passed[:] = 0.0
        reached = search_from(source, first, neighbours, depth, ways, queue)
        for k in range(reached - 1, 0, -1):
            w = queue[k]
            for at in range(first[w], first[w + 1]):
                v = neighbours[at]
                if depth[v] == depth[w] - 1:
                    passed[v] += ways[v] / ways[w] * (1.0 + passed[w])
            total[w] += passed[w]
    return total / 2.0


@compiled_loosely
def _fill(first: Any, neighbours: Any, order: Any, fields: Any, k: int) -> None:
    """Write the fields of one graph."""
    n = len(order)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    seen = np.empty(n, np.bool_)
    for number in range(min(n, len(fields) // k)):
        seen[:] = False
        field = np.full(n, -1, np.int64)  # ranks of the nodes reached, ring by ring
        field[0], size, start = number, 1, 0
        seen[order[number]] = True
        while size < k and start < size:  # one more ring
            end = size
            for at in range(start, end):
                v = order[field[at]]
                for e in range(first[v], first[v + 1]):
                    w = neighbours[e]
                    if not seen[w]:
                        seen[w] = True
                        field[size] = rank[w]
                        size += 1
            field[end:size].sort()  # if only a part of the last ring fits, that with the best ranks
            start = end
        for place in range(min(size, k)):
            fields[number * k + place] = order[field[place]]
