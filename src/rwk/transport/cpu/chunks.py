"""Long lists of pairs as chunks of similar cost, the unit of work of a thread."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rwk.transport.measures import GraphMeasures
from rwk.transport.work import pair_cost

PAIRS_PER_CHUNK: Final = 512
COST_PER_CHUNK: Final = 2e8  # by `pair_cost`; a chunk of large pairs is short


def plan_chunks(
    measures: GraphMeasures, pairs: NDArray[np.int64], *, alike: bool = False
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of the pairs, and where in it each chunk begins.

    The costliest pairs come first or, if `alike`, those with the largest target, with similar sizes next to each other.
    """
    sizes = measures.sizes.astype(np.float64)
    n, m = sizes[pairs[:, 0]], sizes[pairs[:, 1]]
    cost = pair_cost(n, m)
    order = _alike(pairs, n, m) if alike else np.argsort(-cost, kind="stable")
    filled = np.cumsum(cost[order] / COST_PER_CHUNK + 1.0 / PAIRS_PER_CHUNK)
    bounds = np.searchsorted(filled, np.arange(1, int(filled[-1]) + 1)) if len(pairs) else np.zeros(0, np.int64)
    return order, np.unique(np.concatenate([[0], bounds, [len(pairs)]])).astype(np.int64)


def _alike(pairs: NDArray[np.int64], n: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.int64]:
    """Target after target, with sources by ascending and by descending size in turn, so that neither size jumps."""
    by_target = np.lexsort((pairs[:, 1], -m))
    upwards = np.empty(len(pairs), np.bool_)
    upwards[by_target] = np.cumsum(np.diff(pairs[by_target, 1], prepend=-1) != 0) % 2 == 0
    return np.lexsort((np.where(upwards, n, -n), pairs[:, 1], -m))
