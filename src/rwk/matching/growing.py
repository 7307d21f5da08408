"""Growing: every node is assigned again by how many of its neighbours are matched to neighbours of its new place.

A part that is matched well spreads this way to its surroundings. Counts of neighbours, weighted as in the misfit
(local_search.py), are divided by the root of both degrees (`EdgeLists.squares`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.matching.assignment import assign
from rwk.matching.local_search import Standing, improve, least_gain, misfit, misfits, stand
from rwk.runtime.compiling import compiled, compiled_inside

WITHOUT_GAIN: Final = 3  # rounds without a gain, before growing stops
TINY: Final = 1e-24  # nodes without edges have no neighbours to count


@compiled_inside
def regrow(G: Any, H: Any, U: Any, now: Standing, cost: Any) -> None:
    """Assign all nodes again; `cost` is scratch (n, m)."""
    n, m = U.shape
    for i in range(n):
        for k in range(m):
            witnesses = 0.5 * (U[i, k] - now.V[i, k])
            cost[i, k] = U[i, k] - witnesses / np.sqrt(max(G.squares[i] * H.squares[k], TINY))
    assign(cost, now.p, now.q)
    stand(G, H, U, now)


@compiled_inside
def grow(G: Any, H: Any, U: Any, now: Standing, rounds: int, patience: int, exchanging: bool) -> None:
    """Grow until the misfit is 0 or `patience` rounds have not lowered it, and keep the best assignment of all rounds.

    If `exchanging`, every round ends with exchanges. The assignment must stand as `stand` leaves it.
    """
    n, m = U.shape
    least, of_nodes, cost, kept = least_gain(G, H), np.empty(n), np.empty((n, m)), now.p.copy()
    best, stalled = misfits(G, U, now, of_nodes), 0
    for _ in range(rounds):
        if best <= least or stalled == patience:
            break
        regrow(G, H, U, now, cost)
        if exchanging:
            improve(G, H, now, least)
        found = misfits(G, U, now, of_nodes)
        stalled += 1
        if found < best:
            best, stalled = found, 0
            for i in range(n):
                kept[i] = now.p[i]
    for i in range(n):
        now.p[i] = kept[i]
    stand(G, H, U, now)


@compiled
def grown(G: Any, H: Any, U: Any, now: Standing, plain: int, rounds: int) -> float:
    """Improve the assignment `now.p`, and return the misfit.

    First it grows in up to `plain` rounds without exchanges, as long as every round helps; then exchanges improve it,
    and it grows in up to `rounds` rounds with exchanges.
    """
    stand(G, H, U, now)
    for exchanging in (False, True):  # one call of `grow`, since each is compiled anew
        if exchanging:
            improve(G, H, now, least_gain(G, H))
        limit, patience = (rounds, WITHOUT_GAIN) if exchanging else (plain, 1)
        if limit > 0:
            grow(G, H, U, now, limit, patience, exchanging)
    return misfit(G, H, U, now.p)
