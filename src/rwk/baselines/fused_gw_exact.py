"""The exact solver of fused Gromov-Wasserstein on the CPU: conditional gradients whose directions are exact plans."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.baselines.network_simplex import AMOUNT, PARENT, arc_of, first_tree, improve
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
    image = np.empty((n, m))  # C T D of the plan T
    _start(cost, c, d, alpha, fixed, image)
    objective = _inner(fixed, plan) - 2.0 * alpha * _inner(image, plan)
    gradient, delta, delta_image = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    for iteration in range(MAX_ITER):
        for a in range(n):
            for b in range(m):
                gradient[a, b] = fixed[a, b] - 4.0 * alpha * image[a, b]
        if iteration == 0:
            tree = first_tree(gradient)
        improve(gradient, tree)  # from the last iteration's basis
        _direction(tree, plan, delta, c, d, delta_image)
        curvature, slope = 0.0, 0.0
        for a in range(n):
            for b in range(m):
                delta_image[a, b] -= image[a, b]
                curvature -= 2.0 * alpha * delta_image[a, b] * delta[a, b]
                slope += gradient[a, b] * delta[a, b]
        step = 1.0
        if curvature > 0.0:
            step = min(1.0, -slope / (2.0 * curvature))
        change = step * slope + step * step * curvature
        if step <= 0.0 or change >= 0.0:
            break
        for a in range(n):
            for b in range(m):
                plan[a, b] += step * delta[a, b]
                image[a, b] += step * delta_image[a, b]
        objective += change
        if -change <= TOLERANCE * max(1.0, abs(objective)):
            break
    return max(_inner(fixed, plan) - 2.0 * alpha * _inner(image, plan), 0.0)


@compiled
def _start(cost: Any, c: Any, d: Any, alpha: float, fixed: Any, image: Any) -> None:
    """What does not change of the gradient, (1 − α) M + α (C² μ + D² ν), and the image of the product coupling."""
    n, m = cost.shape
    for a in range(n):
        squares, mean = 0.0, 0.0
        for k in range(n):
            squares += c[a, k] ** 2 / n
            mean += c[a, k] / n
        for b in range(m):
            fixed[a, b] = (1.0 - alpha) * cost[a, b] + alpha * squares
            image[a, b] = mean
    for b in range(m):
        squares, mean = 0.0, 0.0
        for k in range(m):
            squares += d[b, k] ** 2 / m
            mean += d[b, k] / m
        for a in range(n):
            fixed[a, b] += alpha * squares
            image[a, b] *= mean


@compiled
def _direction(tree: Any, plan: Any, delta: Any, c: Any, d: Any, image: Any) -> None:
    """From the plan to the flow F of a tree, and C F D: F has n + m − 1 arcs, so that only one product is dense.

    The source has the fewer nodes, so C is the smaller matrix.
    """
    n, m = plan.shape
    unit, moved = math.gcd(n, m) / (n * m), np.zeros((n, m))  # F D
    for a in range(n):
        for b in range(m):
            delta[a, b] = -plan[a, b]
    for node in range(n + m):
        if tree[node, PARENT] >= 0 and tree[node, AMOUNT] > 0:
            row, column = arc_of(tree, node, n)
            mass = tree[node, AMOUNT] * unit
            delta[row, column] += mass
            for b in range(m):
                moved[row, b] += mass * d[column, b]
    np.dot(c, moved, image)


@compiled
def _inner(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total
