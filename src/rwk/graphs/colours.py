"""Weisfeiler-Lehman colours of the nodes of all graphs of a set, as hashes that can be compared between sets."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.graphs.graph_set import GraphSet
from rwk.runtime.arrays import IntArray

Colours = NDArray[np.uint64]

NEIGHBOUR_SALT: Final = np.uint64(0x9E3779B97F4A7C15)
EDGE_SALT: Final = np.uint64(0xC2B2AE3D27D4EB4F)
DEGREE_SALT: Final = np.uint64(0x165667B19E3779F9)


def wl_colours(graphs: GraphSet, rounds: int, *, edge_labels: bool = False) -> Colours:
    """Weisfeiler-Lehman colours of rounds 0..`rounds`, shape (rounds + 1, nodes).

    A colour is a 64-bit hash of a node's own colour and the multiset of its neighbours' colours, so the colours of
    different sets of graphs, fitted or not, can be compared by equality. Round 0 is the node label, or the degree if
    there are no labels. The Hamming metric (R3) compares two nodes by the share of rounds whose colours differ.

    >>> from rwk.graphs import Graph, GraphSet
    >>> path = Graph(4, np.array([[0, 1], [1, 2], [2, 3]]), node_labels=np.zeros(4, int))
    >>> colours = wl_colours(GraphSet.from_graphs([path]), rounds=1)
    >>> [len(set(row.tolist())) for row in colours]
    [1, 2]
    """
    tail, head, edge = both_directions(graphs)
    n_nodes = int(graphs.node_offsets[-1])
    if graphs.node_labels is not None:
        colour = mix(graphs.node_labels.astype(np.int64).view(np.uint64))
    else:
        colour = mix(np.bincount(head, minlength=n_nodes).astype(np.uint64) + DEGREE_SALT)
    marks: Any = None
    if edge_labels and graphs.edge_labels is not None:
        marks = mix(graphs.edge_labels.astype(np.int64).view(np.uint64) + EDGE_SALT)[edge]
    colours = [colour]
    for _ in range(rounds):
        # the sum of hashed values does not depend on the order of the neighbours
        neighbours = np.zeros(n_nodes, np.uint64)
        marked = mix((colour[tail] ^ marks) + NEIGHBOUR_SALT) if marks is not None else None
        np.add.at(neighbours, head, mix(colour + NEIGHBOUR_SALT)[tail] if marked is None else marked)
        colour = mix(mix(colour) + neighbours)
        colours.append(colour)
    return np.stack(colours)


def both_directions(graphs: GraphSet) -> tuple[IntArray, IntArray, IntArray]:
    """(from, to, index of the edge) for both directions of every edge, with nodes numbered over all graphs."""
    ends = graphs.packed_edges
    edge = np.arange(len(ends))
    return (
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
        np.concatenate([edge, edge]),
    )


def mix(values: Any) -> Colours:
    """Hash 64-bit integers by the last step of splitmix64; integer overflow is intended."""
    x = np.asarray(values, np.uint64) + NEIGHBOUR_SALT
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
