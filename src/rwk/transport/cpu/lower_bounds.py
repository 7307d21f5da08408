"""Lower bounds of a pair's value that cost a fraction of solving it.

Every term of H but the linear one and Gromov-Wasserstein is at least 0, so H >= min <gamma, M> + beta_global GW. For
the linear part, any feasible dual prices (u_i + v_k <= M_ik) give a lower bound: u_i the least cost of source node i,
then v_k the least of what is left at target node k; or the other way round.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.runtime.threads import in_threads
from rwk.transport.cpu.costs import cost_scratch, feature_cost, neighbour_cost, padded
from rwk.transport.measures import GraphMeasures

PAIRS_AT_ONCE: Final = 256  # by one thread


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
        cost, other = np.empty((n, padded(m))), np.empty((n, padded(m)))
        scratch = cost_scratch(graphs, n, m)
        feature_cost(graphs, a, b, scratch, cost)
        if beta_local != 0.0:
            neighbour_cost(graphs, a, b, scratch, other)
            for i in range(n):
                for k in range(m):
                    cost[i, k] += beta_local * other[i, k]
        mu, nu = graphs.weights[i0 : i0 + n], graphs.weights[k0 : k0 + m]
        table = np.ascontiguousarray(cost[:, :m])
        out[p] = max(_dual_value(table, mu, nu), _dual_value(np.ascontiguousarray(table.T), nu, mu))


@compiled_inside
def _dual_value(cost: Any, mu: Any, nu: Any) -> float:
    """<u, mu> + <v, nu> with u the row minima and v the column minima of what they leave; both are at least 0."""
    n, m = cost.shape
    left = np.full(m, np.inf)
    value = 0.0
    for i in range(n):
        least = np.inf
        for k in range(m):
            least = min(least, cost[i, k])
        for k in range(m):
            left[k] = min(left[k], cost[i, k] - least)
        value += mu[i] * least
    for k in range(m):
        value += nu[k] * left[k]
    return value


def binned_quantiles(rows: NDArray[Any], mass: NDArray[Any], offsets: NDArray[np.int64], bins: int) -> NDArray[Any]:
    """Quantile functions of weighted values, averaged over bins of equal mass, for runs of rows: (runs, columns, bins).

    >>> binned_quantiles(np.array([[3.0], [1.0]]), np.array([0.5, 0.5]), np.array([0, 2]), 4).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    """
    out = np.zeros((len(offsets) - 1, rows.shape[1], bins))
    _binned_quantiles(np.ascontiguousarray(rows, np.float64), np.ascontiguousarray(mass, np.float64), offsets, out)
    return out


@compiled
def _binned_quantiles(rows: Any, mass: Any, offsets: Any, out: Any) -> None:
    bins = out.shape[2]
    for run in range(out.shape[0]):
        first, last = offsets[run], offsets[run + 1]
        total = 0.0
        for i in range(first, last):
            total += mass[i]
        for c in range(out.shape[1]):
            order = np.argsort(rows[first:last, c])
            bin_, room = 0, 1.0 / bins
            for place in order:
                value, rest = rows[first + place, c], mass[first + place] / total
                while rest > 0.0:
                    # what is left over by rounding goes to the last bin
                    taken = rest if bin_ == bins - 1 else min(rest, room)
                    out[run, c, bin_] += bins * taken * value
                    rest -= taken
                    room -= taken
                    if room <= 0.0 and bin_ < bins - 1:
                        bin_ += 1
                        room = 1.0 / bins
