"""The assignment of rows to columns with the least cost, for compiled code: shortest augmenting paths.

SciPy has the same, and as fast; this one can be called from compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside


@compiled_inside
def assign(cost: Any, p: Any, q: Any) -> None:
    """Fill p with the column of each row, and q with the row of each column or -1; cost is (n, m) with n <= m.

    Jonker and Volgenant 1987: rows whose cheapest column is free take it, and each of the others is then added by the
    shortest path in reduced costs, cost(i, k) - u(i) - v(k).
    """
    n, m = cost.shape
    u, v = np.zeros(n), np.zeros(m)
    if take_cheapest(cost, p, q, 0.0):
        return
    for i in range(n):
        u[i] = np.inf
        for k in range(m):
            u[i] = min(u[i], cost[i, k])
    distance, parent, done = np.empty(m), np.empty(m, np.int64), np.empty(m, np.bool_)
    for row in range(n):
        if p[row] >= 0:
            continue
        for k in range(m):
            distance[k], done[k] = np.inf, False
        i, shortest, end = row, 0.0, -1
        while end < 0:  # Dijkstra, until a free column is reached
            least, nearest = np.inf, -1
            for k in range(m):
                if done[k]:
                    continue
                through = shortest + cost[i, k] - u[i] - v[k]
                if through < distance[k]:
                    distance[k], parent[k] = through, i
                if distance[k] < least or (distance[k] == least and q[k] < 0):
                    least, nearest = distance[k], k
            shortest, done[nearest] = least, True
            if q[nearest] < 0:
                end = nearest
            else:
                i = q[nearest]
        u[row] += shortest
        for k in range(m):
            if done[k] and k != end:
                u[q[k]] += shortest - distance[k]
                v[k] -= shortest - distance[k]
        _flip(p, q, parent, row, end)


@compiled_borrowing
def take_cheapest(cost: Any, p: Any, q: Any, slack: float) -> bool:
    """Let every row take its cheapest column, or one that costs `slack` more, if it is free; the others get -1.

    Returns whether there are no others.
    """
    n, m = cost.shape
    for k in range(m):
        q[k] = -1
    complete = True
    for i in range(n):
        nearest = 0
        for k in range(1, m):
            if cost[i, k] < cost[i, nearest]:
                nearest = k
        dearest = cost[i, nearest] + slack
        while nearest < m and (q[nearest] >= 0 or cost[i, nearest] > dearest):
            nearest += 1
        if nearest < m:
            p[i], q[nearest] = nearest, i
        else:
            p[i], complete = -1, False
    return complete


@compiled_borrowing
def _flip(p: Any, q: Any, parent: Any, row: int, end: int) -> None:
    """Assign along a path that ends at a free column, back to the row where it began."""
    k = end
    while True:
        i = parent[k]
        q[k] = i
        p[i], k = k, p[i]
        if i == row:
            break


@compiled
def least_cost(cost: Any) -> Any:
    """The column of each row in the assignment of least cost.

    >>> least_cost(np.array([[1.0, 0.0, 3.0], [2.0, 0.5, 9.0]]))
    array([0, 1])
    """
    n, m = cost.shape
    p, q = np.empty(n, np.int64), np.empty(m, np.int64)
    assign(cost, p, q)
    return p
