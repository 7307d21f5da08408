"""Exchanges that improve an assignment of the nodes of one graph to those of another that has as many or more.

    misfit  sum over nodes of U(i, p(i))
          + sum over pairs of nodes of w(ij)^2 + w(p(i) p(j))^2 - 2 s(ij, p(i) p(j))

p(i) is the node that i is assigned to, U the cost of nodes, w the weight of an edge (0 if there is none), and s the
product of two weights, halved if the labels of the edges differ. Without weights and labels the second sum counts the
edges, of either graph, without a counterpart among the matched nodes.

An exchange swaps p(i) and p(j), or sends i to a node that is free. What it changes is known from two sums that are kept
up to date, V and T, so that no edge is looked at but those of the nodes that move:

    V(i, b)  U(i, b) - 2 times the sum of s(ir, b p(r)) over the neighbours r of i
    T(b)     the sum of w(bc)^2 over the neighbours c of b that are taken

`improve` makes the best exchange of one node after the other until none helps; only nodes near a change are looked at
again. `improve_by_kicks` then repeatedly moves a few nodes that fit badly to wrong places and improves again, and keeps
what is no worse.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.compiling import compiled, compiled_borrowing

OTHER_LABEL: Final = 0.5  # what is left of the product of two edges whose labels differ
LEAST_GAIN: Final = 1e-9  # in units of the largest sum of squares of a node, or of 1
KICK_DRAWS: Final = 6  # random numbers per kick: how many nodes, whether to a free node, and which nodes
FLOOR: Final = 0.05  # weight of a node that fits perfectly in the choice of nodes to kick


class Standing(NamedTuple):
    """An assignment with what its exchanges are judged by."""

    p: NDArray[np.int64]  # (n,): node of H of each node of G
    q: NDArray[np.int64]  # (m,): node of G at each node of H, or -1
    V: NDArray[np.float64]  # (n, m)
    T: NDArray[np.float64]  # (m,)
    look: NDArray[np.bool_]  # (n,): nodes whose exchanges have to be looked at


def fresh_standing(n: int, m: int) -> Standing:
    """Memory for an assignment of n nodes to m; `stand` fills all but p."""
    places, taken = np.zeros(n, np.int64), np.zeros(m, np.int64)
    return Standing(places, taken, np.empty((n, m)), np.empty(m), np.empty(n, np.bool_))


@compiled_borrowing
def product(G: Any, H: Any, i: int, j: int, k: int, l: int) -> float:
    """s(ij, kl)."""
    both: float = G.weights[i, j] * H.weights[k, l]
    return both if G.labels[i, j] == H.labels[k, l] else OTHER_LABEL * both


@compiled_borrowing
def _arrive(G: Any, H: Any, V: Any, i: int, b: int, sign: float) -> None:
    """Change V for i coming to b (sign 1), or leaving it (sign -1)."""
    for at in range(G.offsets[i], G.offsets[i + 1]):
        r = G.neighbours[at]
        for place in range(H.offsets[b], H.offsets[b + 1]):
            c = H.neighbours[place]
            V[r, c] -= 2.0 * sign * product(G, H, i, r, b, c)


@compiled_borrowing
def _take(H: Any, T: Any, b: int, sign: float) -> None:
    """Change T for b being taken (sign 1), or left free (sign -1)."""
    for place in range(H.offsets[b], H.offsets[b + 1]):
        c = H.neighbours[place]
        T[c] += sign * H.weights[b, c] ** 2


@compiled_borrowing
def stand(G: Any, H: Any, U: Any, now: Standing) -> None:
    """Fill q, V and T for the assignment p, and mark all nodes."""
    p, q, V, T, look = now
    for b in range(len(q)):
        q[b], T[b] = -1, 0.0
    for i in range(len(p)):
        look[i] = True
        for b in range(len(q)):
            V[i, b] = U[i, b]
    for i in range(len(p)):
        q[p[i]] = i
        _take(H, T, p[i], 1.0)
        _arrive(G, H, V, i, p[i], 1.0)


@compiled_borrowing
def _change(G: Any, H: Any, now: Standing, i: int, b: int) -> float:
    """The change of the misfit if i goes to b; q(b) is the node that is there, which takes i's place, or -1."""
    p, q, V, T, _ = now
    a, j = p[i], q[b]
    if j < 0:
        return float(V[i, b] - V[i, a] + T[b] - H.weights[a, b] ** 2 - T[a])
    change = V[i, b] - V[i, a] + V[j, a] - V[j, b]
    if G.weights[i, j] != 0.0:  # the edge between them stays what it is
        change -= 4.0 * product(G, H, i, j, a, b)
    return float(change)


@compiled_borrowing
def _exchange(G: Any, H: Any, now: Standing, i: int, b: int) -> None:
    """Send i to b, and the node that is there to where i was; mark what is near."""
    p, q, V, T, look = now
    a, j = p[i], q[b]
    p[i], q[b], q[a] = b, i, j
    _arrive(G, H, V, i, a, -1.0)
    _arrive(G, H, V, i, b, 1.0)
    if j >= 0:
        p[j] = a
        _arrive(G, H, V, j, b, -1.0)
        _arrive(G, H, V, j, a, 1.0)
        _look_near(G, H, q, j, a, look)
    else:
        _take(H, T, a, -1.0)
        _take(H, T, b, 1.0)
    _look_near(G, H, q, i, b, look)
    _look_near(G, H, q, i, a, look)


@compiled_borrowing
def _look_near(G: Any, H: Any, q: Any, i: int, b: int, look: Any) -> None:
    """Mark i, its neighbours, and the nodes that are at the neighbours of b."""
    look[i] = True
    for at in range(G.offsets[i], G.offsets[i + 1]):
        look[G.neighbours[at]] = True
    for at in range(H.offsets[b], H.offsets[b + 1]):
        if q[H.neighbours[at]] >= 0:
            look[q[H.neighbours[at]]] = True


@compiled
def misfit(G: Any, H: Any, U: Any, p: Any) -> float:
    """The misfit of an assignment."""
    total, n = 0.0, len(p)
    for i in range(n):
        total += U[i, p[i]]
        for j in range(i):
            own, other = G.weights[i, j], H.weights[p[i], p[j]]
            if own != 0.0 or other != 0.0:
                total += own * own + other * other - 2.0 * product(G, H, i, j, p[i], p[j])
    return total


@compiled_borrowing
def misfits(G: Any, U: Any, now: Standing, of_nodes: Any) -> float:
    """The misfit as V and T have it; fills `of_nodes` with what each node has part in."""
    total = 0.0
    for i in range(len(of_nodes)):
        a = now.p[i]
        of_nodes[i] = max(now.V[i, a] + G.squares[i] + now.T[a], 0.0)
        total += 0.5 * (of_nodes[i] + U[i, a])
    return total


@compiled_borrowing
def improve(G: Any, H: Any, now: Standing, least: float) -> None:
    """Make the best exchange of every marked node until none lowers the misfit by more than `least`."""
    p, look = now.p, now.look
    again = True
    while again:
        again = False
        for i in range(len(p)):
            if not look[i]:
                continue
            look[i] = False
            best, to = -least, -1
            for b in range(len(now.q)):
                change = _change(G, H, now, i, b) if b != p[i] else 0.0
                if change < best:
                    best, to = change, b
            if to >= 0:
                _exchange(G, H, now, i, to)
                again = True


@compiled_borrowing
def least_gain(G: Any, H: Any) -> float:
    """The least change of the misfit that is no matter of rounding."""
    largest = 1.0
    for squares in (G.squares, H.squares):
        for square in squares:
            largest = max(largest, square)
    return LEAST_GAIN * largest


@compiled
def improve_by_kicks(G: Any, H: Any, U: Any, now: Standing, draws: Any) -> float:
    """Improve the assignment `now.p` by kicks, one per row of `draws` (uniform numbers); returns the misfit."""
    p, q, V, T, look = now
    n, m = U.shape
    of_nodes, ends, least = np.empty(n), np.empty(n), least_gain(G, H)
    stand(G, H, U, now)
    improve(G, H, now, least)
    best = misfits(G, U, now, of_nodes)
    kept = Standing(p.copy(), q.copy(), V.copy(), T.copy(), look)
    for kick in range(len(draws)):
        if best <= least or n < 2:
            break
        total = 0.0
        for i in range(n):
            total += of_nodes[i] + FLOOR
            ends[i], look[i] = total, False
        count = 2 + int(draws[kick, 0] * 3)  # 2 to 4 nodes
        first = _drawn(ends, draws[kick, 2])
        for c in range(1, count):
            other = _drawn(ends, draws[kick, 2 + c])
            if other != first:
                _exchange(G, H, now, first, p[other])
        if m > n and draws[kick, 1] < 0.3:
            free = int(draws[kick, 1] / 0.3 * m)
            while q[free] >= 0:
                free = (free + 1) % m
            _exchange(G, H, now, first, free)
        improve(G, H, now, least)
        found = misfits(G, U, now, of_nodes)
        if found <= best:
            best = found
            _copy(now, kept)
        else:
            _copy(kept, now)
            misfits(G, U, now, of_nodes)
    return misfit(G, H, U, p)


@compiled_borrowing
def _drawn(ends: Any, draw: float) -> int:
    """The node that a uniform number falls on, if node i has the interval from ends[i - 1] to ends[i]."""
    node = 0
    while node < len(ends) - 1 and ends[node] < draw * ends[-1]:
        node += 1
    return node


@compiled_borrowing
def _copy(one: Standing, other: Standing) -> None:
    n, m = one.V.shape
    for i in range(n):
        other.p[i] = one.p[i]
        for b in range(m):
            other.V[i, b] = one.V[i, b]
    for b in range(m):
        other.q[b], other.T[b] = one.q[b], one.T[b]


@compiled
def changes(G: Any, H: Any, U: Any, now: Standing, out: Any) -> None:
    """Fill out[i, b] with the change of the misfit if i goes to b."""
    stand(G, H, U, now)
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[i, b] = 0.0 if b == now.p[i] else _change(G, H, now, i, b)
