"""Starts that see edges and nodes alone: soft assignments, made sharper step by step (graduated assignment).

    C(i, k)  U(i, k) + how much nodes i and k differ in their surroundings (`signature_costs`)
    X        soft assignment (n, m): rows sum to 1, columns to 1 or less

    X <- balanced exp(beta (Y - MIX C)),   Y(i, k) = sum of w(ir) w(ks) X(r, s) over neighbours r and s / (d_i d_k)

as beta grows from the first of `SHARPNESS` to the last; d are roots of degrees (growing.py). The result is rounded to
an assignment, grown and improved by exchanges. This is transport with the edges as the structure, without distances: it
takes a fraction of a millisecond for 30 nodes, and has nothing to say about graphs that agree in their shape only.
Start 0 has the costs as they are; others have random numbers added to C. (Gold and Rangarajan 1996.)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.matching.assignment import assign
from rwk.matching.growing import TINY
from rwk.matching.local_search import Standing
from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.vectormath import exp_of

STEPS: Final = 6  # of lazy random walks, whose chances to return are compared
DEGREE_COST: Final = 0.25  # of nodes whose degrees differ by the mean degree
EDGE_LABEL_COST: Final = 0.25  # of an edge label that one of two nodes has more often than the other
FIRST_SHARPNESS: Final = 8.0  # the first X is exp(-FIRST_SHARPNESS C)
SHARPNESS: Final = np.geomspace(2.0, 100.0, 15)
BALANCING: Final = 3  # rounds of columns and rows per step
MIX: Final = 0.5
NOISE: Final = 0.3  # largest number that is added to C for starts after the first
PLAIN_ROUNDS: Final = 5  # of growing without exchanges, after which
ROUNDS: Final = 2  # follow such with exchanges
LARGEST_EXPONENT: Final = 300.0


@compiled_inside
def _returns(G: Any, out: Any) -> None:
    """Fill out[:, s] with the chances that lazy walks of s + 1 steps end where they began.

    The last column is for degrees, in units of their mean.
    """
    n, steps = len(out), out.shape[1] - 1
    degrees, mean = np.zeros(n), 1e-300
    now, new = np.zeros((n, n)), np.empty((n, n))
    for i in range(n):
        for at in range(G.offsets[i], G.offsets[i + 1]):
            degrees[i] += G.weights[i, G.neighbours[at]]
        mean += degrees[i] / n
        now[i, i] = 1.0
    for s in range(steps):
        for i in range(n):
            stay = 0.5 if degrees[i] > 0.0 else 1.0
            for c in range(n):
                new[i, c] = stay * now[i, c]
            for at in range(G.offsets[i], G.offsets[i + 1]):
                r = G.neighbours[at]
                share = 0.5 * G.weights[i, r] / degrees[i]
                for c in range(n):
                    new[i, c] += share * now[r, c]
            out[i, s] = new[i, i]
        now, new = new, now
    for i in range(n):
        out[i, steps] = DEGREE_COST * degrees[i] / mean


@compiled_borrowing
def _neighbour_means(G: Any, signatures: Any, out: Any) -> None:
    """Fill `out` with the mean signatures of the neighbours of each node."""
    for i in range(len(out)):
        total = 0.0
        for c in range(out.shape[1]):
            out[i, c] = 0.0
        for at in range(G.offsets[i], G.offsets[i + 1]):
            total += G.weights[i, G.neighbours[at]]
        for at in range(G.offsets[i], G.offsets[i + 1]):
            r = G.neighbours[at]
            for c in range(out.shape[1]):
                out[i, c] += G.weights[i, r] / total * signatures[r, c]


@compiled_inside
def _add_distances(one: Any, other: Any, out: Any) -> None:
    """Add the l1 distances between rows."""
    column = np.empty(len(other))
    for c in range(one.shape[1]):
        for k in range(len(other)):
            column[k] = other[k, c]
        for i in range(len(one)):
            own = one[i, c]
            for k in range(len(other)):
                out[i, k] += abs(own - column[k])


@compiled_inside
def _label_counts(G: Any, n_labels: int) -> Any:
    """How many edges of each label every node has, times their cost."""
    counts = np.zeros((len(G.weights), n_labels))
    for i in range(len(counts)):
        for at in range(G.offsets[i], G.offsets[i + 1]):
            counts[i, G.labels[i, G.neighbours[at]]] += EDGE_LABEL_COST
    return counts


@compiled
def signature_costs(G: Any, H: Any, U: Any) -> Any:
    """C (n, m): what nodes cost by themselves and by their surroundings, those of their neighbours included."""
    n, m = U.shape
    costs = U.copy()
    one, other = np.empty((n, STEPS + 1)), np.empty((m, STEPS + 1))
    _returns(G, one)
    _returns(H, other)
    _add_distances(one, other, costs)
    near_one, near_other = np.empty((n, STEPS)), np.empty((m, STEPS))
    _neighbour_means(G, one, near_one)
    _neighbour_means(H, other, near_other)
    _add_distances(near_one, near_other, costs)
    n_labels = max(_largest_label(G), _largest_label(H)) + 1
    if n_labels > 1:
        _add_distances(_label_counts(G, n_labels), _label_counts(H, n_labels), costs)
    return costs


@compiled_borrowing
def _largest_label(G: Any) -> int:
    largest = 0
    for i in range(len(G.weights)):
        for at in range(G.offsets[i], G.offsets[i + 1]):
            largest = max(largest, G.labels[i, G.neighbours[at]])
    return largest


@compiled_borrowing
def _propagate(G: Any, X: Any, out: Any) -> None:
    """out(i) = sum of w(ir) X(r) over neighbours."""
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = 0.0
        for at in range(G.offsets[i], G.offsets[i + 1]):
            r = G.neighbours[at]
            weight = G.weights[i, r]
            for c in range(out.shape[1]):
                out[i, c] += weight * X[r, c]


@compiled_borrowing
def _transpose(X: Any, out: Any) -> None:
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            out[k, i] = X[i, k]


@compiled_borrowing
def _balance(X: Any, columns: Any) -> None:
    """Divide columns by their sums, where these exceed 1 or all nodes are matched, and then rows by theirs."""
    n, m = X.shape
    for k in range(m):
        columns[k] = 0.0
    for i in range(n):
        for k in range(m):
            columns[k] += X[i, k]
    for k in range(m):
        columns[k] = 1.0 / columns[k] if columns[k] > 1.0 or n == m else 1.0
    for i in range(n):
        for k in range(m):
            X[i, k] *= columns[k]
        scale = 1.0 / _row_sum(X, i)
        for k in range(m):
            X[i, k] *= scale


@compiled_borrowing
def _row_sum(X: Any, i: int) -> float:
    """The sum of a row, in four parts that do not wait for each other."""
    m = X.shape[1]
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for k in range(0, m - 3, 4):
        a += X[i, k]
        b += X[i, k + 1]
        c += X[i, k + 2]
        d += X[i, k + 3]
    for k in range(m - m % 4, m):
        a += X[i, k]
    return (a + b) + (c + d)


@compiled_inside
def _sharpen(G: Any, H: Any, C: Any, X: Any) -> None:
    """Fill X with the soft assignment of the costs C at the last sharpness."""
    n, m = C.shape
    across, moved = np.empty((m, n)), np.empty((m, n))
    back, near, columns = np.empty((n, m)), np.zeros((n, m)), np.empty(m)
    shrink_mu, shrink_nu = np.empty(n), np.empty(m)
    for shrink, squares in ((shrink_mu, G.squares), (shrink_nu, H.squares)):
        for i in range(len(shrink)):
            shrink[i] = 1.0 / np.sqrt(max(squares[i], TINY))
    for step in range(-1, len(SHARPNESS)):
        beta, mix = (SHARPNESS[step], MIX) if step >= 0 else (FIRST_SHARPNESS, 1.0)
        if step >= 0:
            _transpose(X, across)
            _propagate(H, across, moved)
            _transpose(moved, back)
            _propagate(G, back, near)
        for i in range(n):
            for k in range(m):
                near[i, k] = beta * (near[i, k] * (shrink_mu[i] * shrink_nu[k]) - mix * C[i, k])
            for k in range(m):
                X[i, k] = exp_of(min(near[i, k], LARGEST_EXPONENT))
        for _ in range(BALANCING if step >= 0 else 1):
            _balance(X, columns)


@compiled
def soft_start(G: Any, H: Any, C: Any, noise: Any, now: Standing) -> None:
    """Fill `now.p` with the assignment nearest to the soft assignment of the costs C + noise."""
    n, m = C.shape
    X, cost = np.empty((n, m)), np.empty((n, m))
    for i in range(n):
        for k in range(m):
            cost[i, k] = C[i, k] + noise[i, k]
    _sharpen(G, H, cost, X)
    for i in range(n):
        for k in range(m):
            cost[i, k] = -X[i, k]
    assign(cost, now.p, now.q)
