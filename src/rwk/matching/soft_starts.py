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

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.matching.assignment import assign, take_cheapest
from rwk.matching.growing import TINY
from rwk.matching.local_search import Standing, misfit
from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.vectormath import exp_of
from rwk.transport.cpu.simd.vectors import WIDTH_64, choose, fma, lane_sum, larger, load, smaller, splat, store

STEPS: Final = 6  # of lazy random walks, whose chances to return are compared
DEGREE_COST: Final = 0.25  # of nodes whose degrees differ by the mean degree
EDGE_LABEL_COST: Final = 0.25  # of an edge label that one of two nodes has more often than the other
FIRST_SHARPNESS: Final = 8.0  # the first X is exp(-FIRST_SHARPNESS C)
SHARPNESS: Final = np.geomspace(2.0, 100.0, 15)
SHARP: Final = 0.98  # sum of squares of a row of which nothing is left to decide
BALANCING: Final = 3  # rounds of columns and rows per step
MIX: Final = 0.5
NOISE: Final = 0.3  # largest number that is added to C for starts after the first
PLAIN_ROUNDS: Final = 5  # of growing without exchanges, after which
ROUNDS: Final = 2  # follow such with exchanges
LARGEST_EXPONENT: Final = 300.0
FAR: Final = 1e9  # cost of what is padded
ROUNDING: Final = 1e-9  # nodes whose costs differ by less are equally cheap
LANES: Final = WIDTH_64


class SoftMemory(NamedTuple):
    """What a soft start works on: flat matrices whose rows are padded to whole vectors."""

    X: NDArray[np.float64]  # (n, padded m), as are C, near and back
    C: NDArray[np.float64]
    near: NDArray[np.float64]  # Y times both roots
    back: NDArray[np.float64]
    across: NDArray[np.float64]  # (m, padded n)
    moved: NDArray[np.float64]
    shrink_mu: NDArray[np.float64]  # (n,): 1 / d
    shrink_nu: NDArray[np.float64]  # (padded m,)
    columns: NDArray[np.float64]
    real: NDArray[np.float64]  # 1, and 0 in what is padded


@compiled_borrowing
def padded(m: int) -> int:
    """The next multiple of the number of lanes."""
    return (m + LANES - 1) // LANES * LANES


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
def _propagate(G: Any, X: Any, width: int, out: Any) -> None:
    """out(i) = sum of w(ir) X(r) over neighbours; rows are `width` apart."""
    for i in range(len(G.squares)):
        for c in range(0, width, LANES):
            total = splat(X, 0.0)
            for at in range(G.offsets[i], G.offsets[i + 1]):
                r = G.neighbours[at]
                total = fma(splat(X, G.weights[i, r]), load(X, r * width + c), total)
            store(out, i * width + c, total)


@compiled_borrowing
def _transpose(X: Any, n: int, m: int, width: int, out: Any, new_width: int) -> None:
    """The transpose of n rows of m numbers."""
    for i in range(n):
        for k in range(m):
            out[k * new_width + i] = X[i * width + k]


@compiled_borrowing
def _exponentiate(work: SoftMemory, n: int, width: int, beta: float, mix: float) -> None:
    """X = exp(beta (Y - mix C))."""
    X, C, near = work.X, work.C, work.near
    sharpness, share, highest = splat(X, beta), splat(X, mix), splat(X, LARGEST_EXPONENT)
    for i in range(n):
        own = splat(X, work.shrink_mu[i])
        for c in range(0, width, LANES):
            gain = load(near, i * width + c) * (own * load(work.shrink_nu, c))
            exponent = sharpness * (gain - share * load(C, i * width + c))
            store(X, i * width + c, exp_of(smaller(exponent, highest)))


@compiled_borrowing
def _balance(work: SoftMemory, n: int, m: int, width: int) -> bool:
    """Divide columns by their sums, where these exceed 1 or all nodes are matched, and then rows by theirs.

    Returns whether every row then has nearly all in one place.
    """
    X, columns = work.X, work.columns
    one, limit, least = splat(X, 1.0), splat(X, 1.0 if n < m else 0.0), splat(X, TINY)
    for c in range(0, width, LANES):
        total = splat(X, 0.0)
        for i in range(n):
            total = total + load(X, i * width + c)
        scale = choose(total, limit, one / larger(total, least), one)
        store(columns, c, scale * load(work.real, c))
    sharp = True
    for i in range(n):
        total, squares = splat(X, 0.0), splat(X, 0.0)
        for c in range(0, width, LANES):
            entry = load(X, i * width + c) * load(columns, c)
            store(X, i * width + c, entry)
            total, squares = total + entry, fma(entry, entry, squares)
        whole = lane_sum(total)
        inverse = splat(X, 1.0 / whole)
        for c in range(0, width, LANES):
            store(X, i * width + c, load(X, i * width + c) * inverse)
        sharp = sharp and lane_sum(squares) >= SHARP * whole * whole
    return sharp


@compiled_borrowing
def _sharpen(G: Any, H: Any, work: SoftMemory, n: int, m: int) -> None:
    """Fill X with the soft assignment of the costs C, at the last sharpness or as soon as it is sharp."""
    width, across_width = padded(m), padded(n)
    _exponentiate(work, n, width, FIRST_SHARPNESS, 1.0)
    _balance(work, n, m, width)
    for step in range(len(SHARPNESS)):
        _transpose(work.X, n, m, width, work.across, across_width)
        _propagate(H, work.across, across_width, work.moved)
        _transpose(work.moved, m, n, across_width, work.back, width)
        _propagate(G, work.back, width, work.near)
        _exponentiate(work, n, width, SHARPNESS[step], MIX)
        for _ in range(BALANCING - 1):
            _balance(work, n, m, width)
        if _balance(work, n, m, width):
            return


@compiled
def soft_start(G: Any, H: Any, U: Any, C: Any, noise: Any, now: Standing) -> None:
    """Fill `now.p` with the assignment nearest to the soft assignment of the costs C + noise.

    If each node can take the cheapest place, and every edge and label is preserved, that is it.
    """
    n, m = C.shape
    width, across_width = padded(m), padded(n)
    cost = np.empty((n, m))
    for i in range(n):
        for k in range(m):
            cost[i, k] = C[i, k] + noise[i, k]
    if take_cheapest(cost, now.p, now.q, ROUNDING) and misfit(G, H, U, now.p) == 0.0:
        return
    flat, turned = n * width, m * across_width
    work = SoftMemory(
        np.empty(flat), np.full(flat, FAR), np.zeros(flat), np.zeros(flat), np.zeros(turned), np.zeros(turned),
        np.empty(n), np.zeros(width), np.empty(width), np.zeros(width),
    )  # fmt: skip
    for i in range(n):
        work.shrink_mu[i] = 1.0 / np.sqrt(max(G.squares[i], TINY))
        for k in range(m):
            work.C[i * width + k] = cost[i, k]
    for k in range(m):
        work.shrink_nu[k], work.real[k] = 1.0 / np.sqrt(max(H.squares[k], TINY)), 1.0
    _sharpen(G, H, work, n, m)
    for i in range(n):
        for k in range(m):
            cost[i, k] = -work.X[i * width + k]
    assign(cost, now.p, now.q)
