"""How large the costs of sampled pairs are on average, so that weights mean the same on every set of graphs (R7)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import compiled
from rwk.transport.cpu.costs import cost_scratch, feature_cost, neighbour_cost, padded
from rwk.transport.cpu.plain_costs import LARGEST_PLAIN, feature_costs, neighbour_costs
from rwk.transport.measures import GraphMeasures

N_PAIRS: Final = 256  # in a sample
N_NODE_PAIRS: Final = 2**22  # whose distances are looked at, or those of the first pair of graphs if that has more


def sample_pairs(n_graphs: int, random_state: int | None) -> NDArray[np.int64]:
    """Pairs of different graphs, all of them if they are few; a single graph is paired with itself."""
    if n_graphs == 1:
        return np.zeros((1, 2), np.int64)
    total = n_graphs * (n_graphs - 1) // 2
    if total <= N_PAIRS:
        return np.stack(np.triu_indices(n_graphs, 1), axis=1).astype(np.int64)
    rng = np.random.default_rng(random_state)
    first = rng.integers(0, n_graphs, N_PAIRS)
    second = (first + rng.integers(1, n_graphs, N_PAIRS)) % n_graphs
    return np.stack([first, second], axis=1).astype(np.int64)


def typical(means: NDArray[np.float64], *, least: float = 0.0) -> float:
    """A robust mean: the median, or the mean if more than half are 0, or 1 if all are.

    Up to `least` a mean counts as a rounding error: divided by it, noise would look like a cost.
    """
    for candidate in (np.median(means), np.mean(means)) if len(means) else ():
        if candidate > least and np.isfinite(candidate):
            return float(candidate)
    return 1.0


def mean_feature_costs(graphs: GraphMeasures, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean of C_V for each pair."""
    return _means(graphs, pairs, True)


def mean_neighbour_costs(graphs: GraphMeasures, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Mean of C_N for each pair."""
    return _means(graphs, pairs, False)


def node_distances(rows: NDArray[np.float64], graphs: GraphMeasures, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Euclidean distances of all nodes of the first graph of each pair to all of the second, one after the other.

    Whole pairs of graphs are looked at, so that it does not matter how their nodes are numbered (R15).
    """
    counts = np.cumsum(graphs.sizes[pairs].prod(axis=1))
    used = max(1, int(np.searchsorted(counts, N_NODE_PAIRS, side="right")))
    return np.asarray(_distances(np.ascontiguousarray(rows), graphs.offsets, pairs[:used], int(counts[used - 1])))


@compiled
def _distances(rows: Any, offsets: Any, pairs: Any, count: int) -> Any:
    out, place = np.empty(count), 0
    for p in range(len(pairs)):
        for i in range(offsets[pairs[p, 0]], offsets[pairs[p, 0] + 1]):
            for k in range(offsets[pairs[p, 1]], offsets[pairs[p, 1] + 1]):
                total = 0.0
                for c in range(rows.shape[1]):
                    total += (rows[i, c] - rows[k, c]) ** 2
                out[place] = np.sqrt(total)
                place += 1
    return out


def _means(graphs: GraphMeasures, pairs: NDArray[np.int64], of_features: bool) -> NDArray[np.float64]:
    """The mean cost of each pair; of a single small pair in plain NumPy, so that an alignment compiles nothing."""
    n, m = graphs.sizes[pairs].max(axis=0, initial=1).tolist()
    if len(pairs) == 1 and n * m <= LARGEST_PLAIN:
        a, b = pairs[0].tolist()
        if of_features:
            return np.array([feature_costs(graphs, a, b).mean()])
        source, target = (slice(graphs.offsets[g], graphs.offsets[g + 1]) for g in (a, b))
        return np.array([neighbour_costs(graphs, source, target).mean()])
    out = np.empty(len(pairs))
    _fill_means(graphs, pairs, of_features, cost_scratch(graphs, n, m), out)
    return out


@compiled
def _fill_means(graphs: Any, pairs: Any, of_features: bool, scratch: Any, out: Any) -> None:
    """The mean cost of each pair; the caller asks for memory, so that this compiles quickly."""
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
        cost = scratch.cost[: n * padded(m)].reshape((n, padded(m)))
        if of_features:
            feature_cost(graphs, a, b, scratch, cost)
        else:
            neighbour_cost(graphs, a, b, scratch, cost)
        total = 0.0
        for i in range(n):
            for k in range(m):
                total += cost[i, k]
        out[p] = total / (n * m)
