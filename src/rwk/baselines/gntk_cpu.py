"""The graph neural tangent kernel of pairs of graphs on a CPU; `gntk` says what is computed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.arrays import FloatArray
from rwk.runtime.compiling import compiled_loosely


def _arccos_polynomial(degree: int) -> FloatArray:
    """Coefficients of arccos(x) / sqrt(1 − x) on [0, 1] in z = 2x − 1, highest power first."""

    def smooth_part(z: Any) -> Any:
        return np.arccos((z + 1) / 2) / np.sqrt((1 - z) / 2)

    series: Any = np.polynomial.chebyshev.chebinterpolate(smooth_part, degree)
    return np.asarray(np.polynomial.chebyshev.cheb2poly(series)[::-1], np.float64).copy()


# the error is about 5.8^-degree, because of the singularity at x = −1
ARCCOS: Final = _arccos_polynomial(20)
TINY: Final = 1e-300  # attributes may cancel in a neighbourhood


@compiled_loosely
def learn_roots(state: Any, graph: int, layers: int) -> None:
    """Compare a graph with itself; its roots and values are stored in `state`."""
    n = state.offsets[graph + 1] - state.offsets[graph]
    _evolve(state, state, graph, graph, layers, True, np.empty((3, _room(n, n))), state.own[:, graph])


@compiled_loosely
def solve_pairs(rows: Any, columns: Any, i: Any, j: Any, layers: int, jumping: Any, wanted: Any, out: Any) -> None:
    """The kernel of the pairs (i, j), as many values per pair as there are wanted numbers of blocks."""
    sums = np.empty(len(rows.roots) + 1)
    most = 0
    for k in range(len(i)):
        n, m = rows.offsets[i[k] + 1] - rows.offsets[i[k]], columns.offsets[j[k] + 1] - columns.offsets[j[k]]
        most = max(most, _room(n, m))
    room = np.empty((3, most))
    for k in range(len(i)):
        _evolve(rows, columns, i[k], j[k], layers, False, room, sums)
        for at in range(len(wanted)):
            out[k, at] = sums[: wanted[at] + 1].sum() if jumping else sums[wanted[at]]


@compiled_loosely
def _room(n: int, m: int) -> int:
    """How many numbers Σ and Θ of a pair take at most."""
    return 2 * max(n * _padded(m), m * _padded(n))


@compiled_loosely
def _padded(width: int) -> int:
    """The next multiple of 16, so that loops over a row need no remainder."""
    return (width + 15) // 16 * 16


@compiled_loosely
def _matrix(room: Any, n: int, m: int) -> Any:
    """Σ and Θ side by side, row by row, each row padded."""
    width = 2 * _padded(m)
    return room[: n * width].reshape(n, width)


@compiled_loosely
def _evolve(rows: Any, columns: Any, i: int, j: int, layers: int, learn: Any, room: Any, out: Any) -> None:
    """The sum of Θ of one pair after every block; with `learn`, of a graph with itself, whose roots are stored.

    Every block transposes Σ and Θ, so their rows are nodes of one graph and of the other by turns.
    """
    a, b = rows.offsets[i], columns.offsets[j]
    n, m = rows.offsets[i + 1] - a, columns.offsets[j + 1] - b
    now = _matrix(room[0], n, m)
    out[0] = _start(rows, columns, a, b, m, now)
    for block in range(len(rows.roots)):
        left, right = rows.roots[block, a : a + n], columns.roots[block, b : b + m]
        here, there = block % 2, 1 - block % 2
        if here == 0:
            half, turned = _matrix(room[there], n, m), _matrix(room[here], m, n)
            _aggregate(rows, a, now, half)
            _turn(half, m, turned)
            now = _matrix(room[there], m, n)
            _aggregate(columns, b, turned, now)
            left, right = right, left
        else:
            half, turned = _matrix(room[there], m, n), _matrix(room[here], n, m)
            _aggregate(columns, b, now, half)
            _turn(half, n, turned)
            now = _matrix(room[there], n, m)
            _aggregate(rows, a, turned, now)
        if learn:
            for u in range(n):
                left[u] = np.sqrt(max(now[u, u], 0.0))
        out[block + 1] = _relu(now, left, right, layers, room[2])


@compiled_loosely
def _start(rows: Any, columns: Any, a: int, b: int, m: int, matrix: Any) -> float:
    """Σ = Θ before the first block; returns their sum."""
    wide = _padded(m)
    total = 0.0
    for u in range(len(matrix)):
        for v in range(wide):
            value = 0.0
            if v < m:
                value = rows.label_weight if rows.labels[a + u] == columns.labels[b + v] else 0.0
                for f in range(rows.points.shape[1]):
                    value += rows.points[a + u, f] * columns.points[b + v, f]
            matrix[u, v] = matrix[u, wide + v] = value
            total += value
    return total


@compiled_loosely
def _aggregate(graphs: Any, start: int, matrix: Any, out: Any) -> None:
    """out[u] = c_u Σ of matrix[a] over a in the closed neighbourhood of u."""
    width = matrix.shape[1]
    for u in range(len(matrix)):
        scale = graphs.scale[start + u]
        for v in range(width):
            out[u, v] = matrix[u, v]
        for at in range(graphs.first[start + u], graphs.first[start + u + 1]):
            other = graphs.neighbours[at]
            for v in range(width):
                out[u, v] += matrix[other, v]
        if scale != 1.0:
            for v in range(width):
                out[u, v] *= scale


@compiled_loosely
def _turn(matrix: Any, m: int, out: Any) -> None:
    """Σ and Θ transposed; m is the number of columns of each."""
    n, wide, wide_out = len(matrix), _padded(m), _padded(len(matrix))
    for v in range(m):
        for u in range(n):
            out[v, u] = matrix[u, v]
            out[v, wide_out + u] = matrix[u, wide + v]
        for u in range(n, wide_out):
            out[v, u] = out[v, wide_out + u] = 0.0


@compiled_loosely
def _relu(matrix: Any, left: Any, right: Any, layers: int, norms: Any) -> float:
    """All fully connected layers on Σ and Θ, in place; returns the sum of Θ."""
    wide = _padded(len(right))
    total = 0.0
    norms[:wide] = 0.0
    for u in range(len(left)):
        for v in range(len(right)):
            norms[v] = left[u] * right[v]
        for _ in range(layers):
            for v in range(wide):
                norm = norms[v]
                rho = min(max(matrix[u, v] / max(norm, TINY), -1.0), 1.0)
                size = abs(rho)
                z = 2.0 * size - 1.0
                p = ARCCOS[0]
                for k in range(1, 21):
                    p = p * z + ARCCOS[k]
                angle = np.sqrt(1.0 - size) * p
                rest = np.pi - angle if rho >= 0.0 else angle  # π − arccos ρ
                value = norm * (rho * rest + np.sqrt(1.0 - rho * rho)) / np.pi
                matrix[u, v] = value
                matrix[u, wide + v] = matrix[u, wide + v] * rest / np.pi + value
        for v in range(wide):
            total += matrix[u, wide + v]
    return total
