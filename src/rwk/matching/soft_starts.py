"""Starts that see edges and nodes alone: soft assignments, made sharper step by step (graduated assignment).

    C(i, k)  U(i, k) + how much nodes i and k differ in their surroundings (signatures.py)
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
from rwk.runtime.compiling import compiled, compiled_borrowing
from rwk.transport.cpu.simd.vectormath import exp_of
from rwk.transport.cpu.simd.vectors import WIDTH_64, choose, fma, lane_sum, larger, load, smaller, splat, store

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
LARGEST_DENSE: Final = 48  # nodes up to which products with all weights are faster than transposes and sparse products


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
    dense: NDArray[np.float64]  # (m, padded m): the weights of H if it is small; else empty


@compiled_borrowing
def padded(m: int) -> int:
    """The next multiple of twice the number of lanes."""
    return (m + 2 * LANES - 1) // (2 * LANES) * (2 * LANES)


@compiled_borrowing
def _propagate(G: Any, X: Any, width: int, out: Any) -> None:
    """out(i) = sum of w(ir) X(r) over neighbours; rows are `width` apart.

    Four vectors of a row at a time, so that neighbours and weights are read a quarter as often.
    """
    zero, far = splat(X, 0.0), 4 * LANES
    for i in range(len(G.squares)):
        first, last, c = G.offsets[i], G.offsets[i + 1], 0
        while c + far <= width:
            t0 = t1 = t2 = t3 = zero
            for at in range(first, last):
                r = G.neighbours[at]
                weight, p = splat(X, G.weights[i, r]), r * width + c
                t0, t1 = fma(weight, load(X, p), t0), fma(weight, load(X, p + LANES), t1)
                t2, t3 = fma(weight, load(X, p + 2 * LANES), t2), fma(weight, load(X, p + 3 * LANES), t3)
            p = i * width + c
            store(out, p, t0)
            store(out, p + LANES, t1)
            store(out, p + 2 * LANES, t2)
            store(out, p + 3 * LANES, t3)
            c += far
        while c < width:
            t0 = zero
            for at in range(first, last):
                r = G.neighbours[at]
                t0 = fma(splat(X, G.weights[i, r]), load(X, r * width + c), t0)
            store(out, i * width + c, t0)
            c += LANES


@compiled_borrowing
def _times_dense(X: Any, A: Any, n: int, m: int, width: int, out: Any) -> None:
    """out = X A for a symmetric A (m, m), every row of which is padded to `width`: four rows, two vectors at a time."""
    zero = splat(X, 0.0)
    for c in range(0, width, 2 * LANES):
        i = 0
        while i < n:
            i = min(i, max(n - 4, 0))  # the last four may be there twice
            r0, r1, r2, r3 = i * width, min(i + 1, n - 1) * width, min(i + 2, n - 1) * width, min(i + 3, n - 1) * width
            t0 = t1 = t2 = t3 = u0 = u1 = u2 = u3 = zero
            for s in range(m):
                x, y = load(A, s * width + c), load(A, s * width + c + LANES)
                own = splat(X, X[r0 + s])
                t0, u0 = fma(own, x, t0), fma(own, y, u0)
                own = splat(X, X[r1 + s])
                t1, u1 = fma(own, x, t1), fma(own, y, u1)
                own = splat(X, X[r2 + s])
                t2, u2 = fma(own, x, t2), fma(own, y, u2)
                own = splat(X, X[r3 + s])
                t3, u3 = fma(own, x, t3), fma(own, y, u3)
            store(out, r0 + c, t0)
            store(out, r1 + c, t1)
            store(out, r2 + c, t2)
            store(out, r3 + c, t3)
            store(out, r0 + c + LANES, u0)
            store(out, r1 + c + LANES, u1)
            store(out, r2 + c + LANES, u2)
            store(out, r3 + c + LANES, u3)
            i += 4


@compiled_borrowing
def _transpose(X: Any, n: int, m: int, width: int, out: Any, new_width: int) -> None:
    """The transpose of n rows of m numbers."""
    for k in range(m):
        for i in range(n):
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
        if len(work.dense):
            _times_dense(work.X, work.dense, n, m, width, work.back)
        else:
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
    is_dense = m <= LARGEST_DENSE
    flat, turned = n * width, 0 if is_dense else m * across_width
    work = SoftMemory(
        np.empty(flat), np.full(flat, FAR), np.zeros(flat), np.zeros(flat), np.zeros(turned), np.zeros(turned),
        np.empty(n), np.zeros(width), np.empty(width), np.zeros(width), np.zeros(m * width if is_dense else 0),
    )  # fmt: skip
    if is_dense:
        for k in range(m):
            for at in range(H.offsets[k], H.offsets[k + 1]):
                work.dense[k * width + H.neighbours[at]] = H.weights[k, H.neighbours[at]]
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
