"""Exact optimal transport of uniform masses, compiled: successive shortest paths with potentials.

Masses 1/n and 1/m are the integers m/g and n/g over nm/g, g = gcd(n, m), so flows are exact integers and the end is
reached after finitely many augmentations. Costs may be of any sign.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rwk.graphs import FloatArray
from rwk.transport.compiling import compiled


def uniform_plan(cost: FloatArray) -> FloatArray:
    """The coupling of two uniform distributions with the least cost.

    >>> uniform_plan(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    n, m = cost.shape
    cost = np.ascontiguousarray(cost, np.float64)
    return np.asarray(transport_plan(cost, cost.min(axis=0)) * (math.gcd(n, m) / (n * m)))


@compiled
def transport_plan(cost: Any, v: Any) -> Any:
    """Integer flows from rows with supply m/g to columns with demand n/g.

    `v` are first guesses of the columns' potentials, such as their minima or those of a similar problem; on return
    they are the optimal ones.
    """
    n, m = cost.shape
    a, b = n, m
    while b:
        a, b = b, a % b
    supply, demand = np.full(n, m // a), np.full(m, n // a)
    flow = np.zeros((m, n), np.int64)  # by columns: a search asks which rows feed a column
    u = np.zeros(n)  # potentials: cost - u - v >= 0, equal 0 where there is flow
    _start(cost, supply, demand, flow, u, v)
    columns = np.empty((3, m))  # distance, once settled; while unsettled, then infinite; the same, then −infinite
    before_column, before_row = np.empty(m, np.int64), np.empty(n, np.int64)
    rows, seen, sinks = np.empty(n), np.empty(n, np.bool_), np.empty(m, np.int64)
    for source in range(n):
        while supply[source] > 0:
            seen[:] = False
            seen[source], rows[source] = True, 0.0
            columns[1:] = np.inf
            _relax(cost, v, source, -u[source], columns, before_column)
            count = _nearest_sinks(
                cost, flow, (supply[source], demand), (u, v), (rows, columns), seen, (before_column, before_row), sinks
            )
            reach = columns[0, sinks[count - 1]]
            for i in range(n):
                if seen[i]:
                    u[i] += reach - rows[i]
            for j in range(m):
                if columns[2, j] == -np.inf:
                    v[j] -= reach - columns[0, j]
            for k in range(count):  # the paths now all cost nothing; one may have used up another
                _augment(flow, supply, demand, source, sinks[k], before_column, before_row)
    return flow.T


@compiled
def _start(cost: Any, supply: Any, demand: Any, flow: Any, u: Any, v: Any) -> None:
    """Potentials of the rows from their minima, and flow along the minima as far as demand goes."""
    n, m = cost.shape
    for i in range(n):
        at = 0
        least = cost[i, 0] - v[0]
        for j in range(1, m):
            reduced = cost[i, j] - v[j]
            if reduced < least:
                least, at = reduced, j
        u[i] = least
        sent = min(supply[i], demand[at])
        flow[at, i] = sent
        supply[i] -= sent
        demand[at] -= sent


@compiled
def _relax(cost: Any, v: Any, i: int, offset: float, columns: Any, before_column: Any) -> None:
    """Shorten the distances of unsettled columns by way of row i; without branches, so that it vectorises."""
    unsettled, bar = columns[1], columns[2]
    for j in range(len(v)):
        through = offset + cost[i, j] - v[j]
        nearer = through < bar[j]
        unsettled[j] = through if nearer else unsettled[j]
        bar[j] = through if nearer else bar[j]
        before_column[j] = i if nearer else before_column[j]


@compiled
def _nearest_sinks(
    cost: Any, flow: Any, masses: Any, potentials: Any, distances: Any, seen: Any, before: Any, sinks: Any
) -> int:
    """Dijkstra on reduced costs until the settled columns ask for as much as there is; how many ask for something."""
    n = len(cost)
    supply, demand = masses
    count = 0
    u, v = potentials
    rows, columns = distances
    before_column, before_row = before
    # not negative, so their bits order them; minima of integers vectorise
    bits = columns[1].view(np.int64)
    while True:
        least = bits[0]
        for j in range(1, len(bits)):
            least = min(least, bits[j])
        at = 0
        while bits[at] != least:
            at += 1
        columns[0, at], columns[1, at], columns[2, at] = columns[1, at], np.inf, -np.inf
        if demand[at] > 0:
            sinks[count] = at
            count += 1
            supply -= demand[at]
            if supply <= 0:
                return count
        for i in range(n):
            if flow[at, i] > 0 and not seen[i]:
                seen[i], rows[i] = True, columns[0, at]
                before_row[i] = at
                _relax(cost, v, i, columns[0, at] - u[i], columns, before_column)


@compiled
def _augment(flow: Any, supply: Any, demand: Any, source: int, sink: int, before_column: Any, before_row: Any) -> None:
    """Send as much as the path from source to sink allows."""
    amount = min(supply[source], demand[sink])
    i = before_column[sink]
    while i != source:
        amount = min(amount, flow[before_row[i], i])
        i = before_column[before_row[i]]
    i = before_column[sink]
    flow[sink, i] += amount
    while i != source:
        j = before_row[i]
        flow[j, i] -= amount
        i = before_column[j]
        flow[j, i] += amount
    supply[source] -= amount
    demand[sink] -= amount
