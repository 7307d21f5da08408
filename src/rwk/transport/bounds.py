"""Lower bounds of a pair's value that cost a fraction of solving it.

Every term of H but the linear one and Gromov-Wasserstein is at least 0, so H >= min <gamma, M> + beta_global GW. A
coupling sends each node's mass somewhere: <gamma, M> is at least what sending it to the cheapest place costs, on
either side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.transport.chunks import in_threads
from rwk.transport.compiling import compiled
from rwk.transport.costs import feature_cost, neighbour_cost
from rwk.transport.problem import GraphMeasures

PAIRS_AT_ONCE = 256


def linear_bounds(
    measures: GraphMeasures, pairs: NDArray[np.int64], beta_local: float, *, n_jobs: int | None = None
) -> NDArray[np.float64]:
    """Lower bounds of min <gamma, C_V + beta_local C_N> for each pair, over all couplings gamma."""
    out = np.empty(len(pairs))
    starts = range(0, len(pairs), PAIRS_AT_ONCE)

    def bound(chunk: int) -> int:
        mine = slice(starts[chunk], starts[chunk] + PAIRS_AT_ONCE)
        _linear_bounds(measures, pairs[mine], beta_local, out[mine])
        return len(pairs[mine])

    in_threads(bound, len(starts), n_jobs=n_jobs, tick=None)
    return out


@compiled
def _linear_bounds(graphs: Any, pairs: Any, beta_local: float, out: Any) -> None:
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        i0, k0 = graphs.offsets[a], graphs.offsets[b]
        n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
        cost, other, scratch = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
        feature_cost(graphs, a, b, cost, scratch)
        if beta_local != 0.0:
            neighbour_cost(graphs, a, b, other, scratch)
            for i in range(n):
                for k in range(m):
                    cost[i, k] += beta_local * other[i, k]
        columns = np.full(m, np.inf)
        from_source = 0.0
        for i in range(n):
            least = np.inf
            for k in range(m):
                least = min(least, cost[i, k])
            for k in range(m):
                columns[k] = min(columns[k], cost[i, k])
            from_source += graphs.weights[i0 + i] * least
        from_target = 0.0
        for k in range(m):
            from_target += graphs.weights[k0 + k] * columns[k]
        out[p] = max(from_source, from_target)
