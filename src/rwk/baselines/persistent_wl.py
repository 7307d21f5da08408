"""Persistent Weisfeiler-Lehman (P-WL): colours weighted by the persistence of their nodes in a filtration by edges.

In each round the weight of an edge is [colours of its ends differ] + L1 distance of their neighbours' colour counts
+ 1, with the colours before the round (in round 0 without the neighbours). Edges are added by increasing weight. If an
edge joins two components, the one whose representative has the larger colour ends, and the persistence of this
representative is the weight of the edge; a component that never ends gets the largest weight of the graph. Edges of
equal weight are added in the order of the colours of their ends, so that which edges close a cycle depends on colours,
not on the numbering of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from rwk.baselines.base import NO_ATTRIBUTES, RoundsKernel
from rwk.baselines.histograms import Histograms, histograms, owners
from rwk.graphs import GraphSet
from rwk.graphs.colours import Colours, mix, wl_colours
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled_loosely

CYCLE_SALT: Final = np.uint64(0x71D67FFFEDA60001)


class PWL(RoundsKernel):
    """Persistent Weisfeiler-Lehman kernel: counts of colours, each node weighted by its persistence.

    Parameters
    ----------
    rounds : int, default 5
        Rounds of colour refinement.
    power : float, default 1.0
        Power of the persistence.
    cycles : bool, default True
        Whether to count edges that close a cycle as well, with the colours of both ends (the variant P-WL-C).
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> graphs = as_graphs([nx.path_graph(3)])  # degrees 1, 2, 1: both edges weigh 2
    >>> PWL(rounds=0, normalize=False).fit_transform(graphs).tolist()  # the three nodes persist for 2 each
    [[20.0]]
    """

    title: ClassVar[str] = "P-WL"
    reference: ClassVar[str] = (
        "B. Rieck, C. Bock, K. Borgwardt. A persistent Weisfeiler-Lehman procedure for graph classification. ICML 2019."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "structure")
    sees: ClassVar[str] = "labels"
    note: ClassVar[str] = NO_ATTRIBUTES
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": tuple(range(11)), "power": (1.0, 2.0)}

    def __init__(self, *, rounds: int = 5, power: float = 1.0, cycles: bool = True, normalize: bool = True) -> None:
        self.rounds = rounds
        self.power = power
        self.cycles = cycles
        self.normalize = normalize

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        colours = wl_colours(graphs, self.rounds)
        ends = graphs.packed_edges
        neighbours = _neighbours(ends, int(graphs.node_offsets[-1]))
        terms = []
        for t, colour in enumerate(colours):
            weights = 1.0 + (colours[max(t - 1, 0)][ends[:, 0]] != colours[max(t - 1, 0)][ends[:, 1]])
            if t > 0:
                weights += _multiset_distances(ends, *neighbours, colours[t - 1])
            terms.append(self._round(graphs, ends, weights, colour))
        return terms

    def _round(self, graphs: GraphSet, ends: IntArray, weights: FloatArray, colour: Colours) -> Histograms:
        owner = owners(graphs)
        pairs = mix(colour[ends[:, 0]]) + mix(colour[ends[:, 1]])
        order = np.lexsort((pairs, weights, owner[ends[:, 0]]))
        persistence, closes = _filtration(ends, weights, order, colour)
        largest = np.ones(len(graphs))
        np.maximum.at(largest, owner[ends[:, 0]], weights)
        persistence = np.where(persistence < 0, largest[owner], persistence)
        persistence = persistence**self.power
        if not self.cycles:
            return histograms(owner, colour, len(graphs), persistence)
        # an edge that closes a cycle counts at both ends: summed by node first, because there are many edges
        ending = np.bincount(ends[closes].ravel(), np.repeat(weights[closes] ** self.power, 2), len(owner))
        there = ending > 0
        return histograms(
            np.concatenate([owner, owner[there]]),
            np.concatenate([colour, mix(colour[there] + CYCLE_SALT)]),
            len(graphs),
            np.concatenate([persistence, ending[there]]),
        )


def _neighbours(ends: IntArray, n_nodes: int) -> tuple[IntArray, IntArray]:
    """Offsets into the list of neighbours, one per node and the end, and the list."""
    tails, heads = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.argsort(tails, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=n_nodes))]).astype(np.int64)
    return first, np.ascontiguousarray(heads[order])


@compiled_loosely
def _multiset_distances(ends: Any, first: Any, neighbours: Any, colours: Any) -> Any:
    """For every edge, the L1 distance between the counts of colours around its two ends."""
    n_nodes = len(first) - 1
    around = colours[neighbours]
    for v in range(n_nodes):
        around[first[v] : first[v + 1]].sort()
    distances = np.empty(len(ends))
    for e in range(len(ends)):
        i, i_end = first[ends[e, 0]], first[ends[e, 0] + 1]
        j, j_end = first[ends[e, 1]], first[ends[e, 1] + 1]
        common = 0
        n_both = i_end - i + j_end - j
        while i < i_end and j < j_end:
            if around[i] == around[j]:
                common += 1
                i += 1
                j += 1
            elif around[i] < around[j]:
                i += 1
            else:
                j += 1
        distances[e] = n_both - 2 * common
    return distances


@compiled_loosely
def _filtration(ends: Any, weights: Any, order: Any, colours: Any) -> Any:
    """Persistence of every node (−1 if its component never ends), and whether each edge closes a cycle."""
    parent = np.arange(len(colours))
    persistence = np.full(len(colours), -1.0)
    closes = np.zeros(len(ends), np.bool_)
    for e in order:
        stays, dies = _root(parent, ends[e, 0]), _root(parent, ends[e, 1])
        if stays == dies:
            closes[e] = True
            continue
        if colours[stays] > colours[dies]:
            stays, dies = dies, stays
        persistence[dies] = weights[e]
        parent[dies] = stays
    return persistence, closes


@compiled_loosely
def _root(parent: Any, node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
