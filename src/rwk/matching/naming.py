"""From positions of nodes to a `Matching`: names, and what is left."""

from __future__ import annotations

import numpy as np

from rwk.matching.later import SoftSide
from rwk.matching.matched import Matching
from rwk.runtime.arrays import IntArray


def named_matching(numbers: IntArray, misfit: float, soft: SoftSide) -> Matching:
    """The matching with the names of nodes, where they have some, in place of their numbers."""
    names = [graph.node_names or range(graph.n_nodes) for graph in soft.pair]
    left = []
    for side, own in enumerate(names):
        free = np.ones(len(own), np.bool_)
        free[numbers[:, side]] = False
        left.append([own[node] for node in np.flatnonzero(free).tolist()])
    return Matching(
        pairs=[(names[0][i], names[1][k]) for i, k in numbers.tolist()],
        unmatched=(left[0], left[1]),
        numbers=np.ascontiguousarray(numbers),
        misfit=misfit,
        soft=soft,
    )
