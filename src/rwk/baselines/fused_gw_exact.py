"""The exact solver of fused Gromov-Wasserstein on the CPU: conditional gradients whose directions are exact plans."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.baselines.network_simplex import first_tree, flows, improve
from rwk.graphs.colours import Colours
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled

MAX_ITER: Final = 1000
TOLERANCE: Final = 1e-9  # of the objective, relative and absolute


class FusedGraphs(NamedTuple):
    """Distances and features of all graphs."""

    distances: FloatArray  # the matrices of all graphs, flattened and concatenated
    distance_offsets: IntArray
    points: FloatArray  # (V, d); d = 0 if only colours are compared
    colours: Colours  # (rounds, V); no rounds if only points are compared
    colour_cost: float  # of one round in which colours differ
    offsets: IntArray
    place: FloatArray  # of two graphs, the one with the smaller place is the source


@compiled
def solve_pairs(rows: Any, columns: Any, i: Any, j: Any, same: Any, alpha: Any, out: Any) -> None:
    for k in range(len(i)):
        if same and i[k] == j[k]:
            out[k, 0] = 0.0  # the identity is optimal
            continue
        if rows.place[i[k]] <= columns.place[j[k]]:
            out[k, 0] = _solve_pair(rows, columns, i[k], j[k], alpha)
        else:
            out[k, 0] = _solve_pair(columns, rows, j[k], i[k], alpha)


@compiled
def _solve_pair(rows: Any, columns: Any, i: int, j: int, alpha: float) -> float:
    n, m = rows.offsets[i + 1] - rows.offsets[i], columns.offsets[j + 1] - columns.offsets[j]
    at, to = rows.distance_offsets[i], columns.distance_offsets[j]
    c = rows.distances[at : at + n * n].reshape(n, n)
    d = columns.distances[to : to + m * m].reshape(m, m)
    cost = _feature_costs(rows, columns, rows.offsets[i], columns.offsets[j], n, m)
    return fused_cost(cost, c, d, alpha)


@compiled
def _feature_costs(rows: Any, columns: Any, at: int, to: int, n: int, m: int) -> Any:
    cost = np.zeros((n, m))
    width, rounds = rows.points.shape[1], len(rows.colours)
    for a in range(n):
        for b in range(m):
            total = 0.0
            for f in range(width):
                total += (rows.points[at + a, f] - columns.points[to + b, f]) ** 2
            for r in range(rounds):
                total += (rows.colours[r, at + a] != columns.colours[r, to + b]) * rows.colour_cost
            cost[a, b] = total
    return cost


@compiled
def fused_cost(cost: Any, c: Any, d: Any, alpha: float) -> float:
    """The FGW objective at the coupling found by conditional gradients."""
    n, m = cost.shape
    plan = np.full((n, m), 1.0 / (n * m))
    fixed = np.empty((n, m))  # the part of the gradient that does not change
    for a in range(n):
        own = 0.0
        for k in range(n):
            own += c[a, k] ** 2
        for b in range(m):
            fixed[a, b] = (1.0 - alpha) * cost[a, b] + alpha * own / n
    for b in range(m):
        own = 0.0
        for k in range(m):
            own += d[b, k] ** 2
        fixed[:, b] += alpha * own / m
    image = np.dot(np.dot(c, plan), d)
    objective = _inner(fixed, plan) - 2.0 * alpha * _inner(image, plan)
    gradient, delta = np.empty((n, m)), np.empty((n, m))
    for iteration in range(MAX_ITER):
        for a in range(n):
            for b in range(m):
                gradient[a, b] = fixed[a, b] - 4.0 * alpha * image[a, b]
        if iteration == 0:
            tree = first_tree(gradient)
        improve(gradient, tree)  # from the last iteration's basis
        flow = flows(tree, n, m)
        unit = 1.0 / flow.sum()
        for a in range(n):
            for b in range(m):
                delta[a, b] = flow[a, b] * unit - plan[a, b]
        delta_image = np.dot(np.dot(c, delta), d)
        curvature = -2.0 * alpha * _inner(delta_image, delta)
        slope = _inner(gradient, delta)
        step = 1.0
        if curvature > 0.0:
            step = min(1.0, -slope / (2.0 * curvature))
        change = step * slope + step * step * curvature
        if step <= 0.0 or change >= 0.0:
            break
        plan += step * delta
        image += step * delta_image
        objective += change
        if -change <= TOLERANCE * max(1.0, abs(objective)):
            break
    return max(_inner(fixed, plan) - 2.0 * alpha * _inner(image, plan), 0.0)


@compiled
def _inner(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total
