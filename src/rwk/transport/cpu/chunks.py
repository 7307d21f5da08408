"""Long lists of pairs as chunks of similar cost, the unit of work of a thread."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from rwk.transport.measures import GraphMeasures
from rwk.transport.work import pair_cost

# The largest chunks: lanes run empty at the end of each, and an interrupt waits for the end, a fifth of a second.
PAIRS_PER_CHUNK: Final = 4096
COST_PER_CHUNK: Final = 1.6e9  # by `pair_cost`; a chunk of large pairs is short
SMALLEST_SHARE: Final = 1 / 16  # of that; several threads get smaller and smaller chunks, so that they end together
CHUNKS_LEFT: Final = 4  # per thread: what is left is dealt out in as many chunks as long as they are not too small


def plan_chunks(
    measures: GraphMeasures, pairs: NDArray[np.int64], *, alike: bool = False, n_threads: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of the pairs, and where in it each chunk begins.

    The costliest pairs come first or, if `alike`, those with the largest target, with similar sizes next to each other.
    """
    sizes = measures.sizes.astype(np.float64)
    n, m = sizes[pairs[:, 0]], sizes[pairs[:, 1]]
    cost = pair_cost(n, m)
    order = _alike(pairs, n, m) if alike else np.argsort(-cost, kind="stable")
    filled = np.cumsum(cost[order] / COST_PER_CHUNK + 1.0 / PAIRS_PER_CHUNK)
    ends = np.searchsorted(filled, _ends(float(filled[-1]) if len(pairs) else 0.0, n_threads))
    return order, np.unique(np.concatenate([[0], ends, [len(pairs)]])).astype(np.int64)


def _ends(total: float, n_threads: int) -> list[float]:
    """Where chunks end, in units of the largest: as large as possible, and smaller towards the end of several threads.

    >>> _ends(2.5, 1)
    [1.0, 2.0]
    >>> _ends(2.0, 2)[:3]
    [0.25, 0.46875, 0.66015625]
    """
    ends, end = [], 0.0
    while end < total:
        share = (total - end) / (CHUNKS_LEFT * n_threads) if n_threads > 1 else 1.0
        end += min(1.0, max(share, SMALLEST_SHARE))
        ends.append(end)
    return ends[:-1]


def _alike(pairs: NDArray[np.int64], n: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.int64]:
    """Target after target, with sources by ascending and by descending size in turn, so that neither size jumps."""
    targets = np.flatnonzero(np.bincount(pairs[:, 1]))
    size = np.zeros(len(targets) and targets[-1] + 1)
    size[pairs[:, 1]] = m
    rank = np.empty(len(size), np.int64)
    rank[targets[np.argsort(-size[targets], kind="stable")]] = np.arange(len(targets))
    turn, longest = rank[pairs[:, 1]], int(n.max(initial=0))
    return np.argsort(turn * (longest + 1) + np.where(turn % 2, n, longest - n).astype(np.int64), kind="stable")
