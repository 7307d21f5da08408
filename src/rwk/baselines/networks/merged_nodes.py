"""Nodes of a graph that no sums over neighbours can tell apart, as one row that stands for all of them.

    row a       the nodes of a graph with one stable Weisfeiler-Lehman colour; copies[a] of them
    counts[e]   how many neighbours in row tails[e] each node of its row has

A network that only adds over neighbours and over nodes gives equal nodes equal values after every layer, so rows are
exact. COLLAB has 372,474 nodes and 24.6 million directed edges, but 161,773 rows and 3.5 million counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from rwk.graphs import GraphSet
from rwk.graphs.colours import Colours, both_directions, wl_colours
from rwk.runtime.arrays import IntArray, offsets_of


class MergedNodes(NamedTuple):
    """The rows of a set of graphs, graph by graph."""

    node_offsets: IntArray  # (G + 1,) over the rows
    first: IntArray  # (R,) a node of each row
    copies: IntArray  # (R,) number of its nodes
    edge_ends: IntArray  # (R + 1,) the counts of row a are edge_ends[a] .. edge_ends[a + 1]
    tails: IntArray  # rows, numbered inside each graph
    counts: IntArray


def merged_nodes(graphs: GraphSet) -> MergedNodes:
    """Rows for a network whose input is the label of a node, or else its degree.

    >>> from rwk.graphs import Graph
    >>> star = GraphSet.from_graphs([Graph(4, np.array([[0, 1], [0, 2], [0, 3]]))])
    >>> merged = merged_nodes(star)
    >>> merged.first.tolist(), merged.copies.tolist(), merged.counts.tolist()
    ([1, 0], [3, 1], [1, 3])
    """
    owners = np.repeat(np.arange(len(graphs)), graphs.sizes)
    first, row, copies = _stable_rows(graphs, owners)
    tails, heads, _ = both_directions(graphs)
    one_each = np.zeros(len(owners), bool)
    one_each[first] = True  # the neighbours of one node speak for all nodes of its row
    read = one_each[heads]
    ends = row[heads[read]], row[tails[read]]
    counted = csr_array((np.ones(len(ends[0]), np.int64), ends), shape=(len(first), len(first)))
    counted.sum_duplicates()
    offsets = offsets_of(np.bincount(owners[first], minlength=len(graphs)))
    begin = np.repeat(offsets[owners[first]], np.diff(counted.indptr))
    return MergedNodes(
        node_offsets=offsets,
        first=first,
        copies=copies,
        edge_ends=counted.indptr.astype(np.int64),
        tails=counted.indices.astype(np.int64) - begin,
        counts=counted.data,
    )


def _stable_rows(graphs: GraphSet, owners: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """A node of each row, the row of each node, and the number of its nodes, when no further round tells more apart."""
    rounds = 2
    while True:
        rounds *= 2
        before, last = (_rows(owners, colours) for colours in wl_colours(graphs, rounds)[-2:])
        if len(before[0]) == len(last[0]):
            return last


def _rows(owners: IntArray, colours: Colours) -> tuple[IntArray, IntArray, IntArray]:
    _, codes = np.unique(colours, return_inverse=True)
    pairs = owners * len(owners) + codes.reshape(-1)
    _, first, row, copies = np.unique(pairs, return_index=True, return_inverse=True, return_counts=True)
    return first, row.reshape(-1), copies
