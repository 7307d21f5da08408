"""Exchanges that improve an assignment of the nodes of one graph to those of another that has as many or more.

    misfit  sum over nodes of U(i, p(i))
          + sum over pairs of nodes of w(ij)^2 + w(p(i) p(j))^2 - 2 s(ij, p(i) p(j))

p(i) is the node that i is assigned to, U the cost of nodes, w the weight of an edge (0 if there is none), and s the
product of two weights, halved if the labels of the edges differ. Without weights and labels the second sum counts the
edges, of either graph, without a counterpart among the matched nodes.

An exchange swaps p(i) and p(j), or sends i to a node that is free. `improve` makes the best exchange of one node after
the other until none helps; only nodes near a change are looked at again. `improve_by_kicks` then repeatedly moves a few
nodes that fit badly to wrong places and improves again, and keeps what is no worse.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import Graph
from rwk.runtime.compiling import compiled, compiled_inside

OTHER_LABEL: Final = 0.5  # what is left of the product of two edges whose labels differ
LEAST_GAIN: Final = 1e-9
KICK_DRAWS: Final = 6  # random numbers per kick: how many nodes, whether to a free node, and which nodes
FLOOR: Final = 0.05  # weight of a node that fits perfectly in the choice of nodes to kick


class EdgeLists(NamedTuple):
    """Edges of one graph: by node, and as dense matrices of weights and labels."""

    offsets: NDArray[np.int64]  # (n + 1,)
    neighbours: NDArray[np.int64]
    weights: NDArray[np.float64]  # (n, n)
    labels: NDArray[np.int64]  # (n, n)


def edge_lists(graph: Graph) -> EdgeLists:
    """The edges of a graph as the search reads them."""
    n = graph.n_nodes
    weights, labels = np.zeros((n, n)), np.zeros((n, n), np.int64)
    i, k = graph.edges.T
    weights[i, k] = weights[k, i] = 1.0 if graph.edge_weights is None else graph.edge_weights
    if graph.edge_labels is not None:
        labels[i, k] = labels[k, i] = graph.edge_labels
    rows, neighbours = np.nonzero(weights)
    offsets = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    return EdgeLists(offsets, neighbours.astype(np.int64), weights, labels)


@compiled_inside
def _product(G: Any, H: Any, i: int, j: int, k: int, l: int) -> float:
    """s(ij, kl)."""
    product: float = G.weights[i, j] * H.weights[k, l]
    return product if G.labels[i, j] == H.labels[k, l] else OTHER_LABEL * product


@compiled_inside
def _gain(G: Any, H: Any, p: Any, i: int, leave: int, take: int, other: int) -> float:
    """What the edges of i, but the one to `other`, gain in s if i leaves one node of H for another."""
    total = 0.0
    for at in range(G.offsets[i], G.offsets[i + 1]):
        r = G.neighbours[at]
        if r != other:
            total += _product(G, H, i, r, take, p[r]) - _product(G, H, i, r, leave, p[r])
    return total


@compiled_inside
def _squares(H: Any, q: Any, node: int, without: int) -> float:
    """The sum of w^2 over the edges of a node of H to nodes that are taken, by another than `without`."""
    total = 0.0
    for at in range(H.offsets[node], H.offsets[node + 1]):
        other = H.neighbours[at]
        if q[other] >= 0 and q[other] != without:
            total += H.weights[node, other] ** 2
    return total


@compiled_inside
def change_of(G: Any, H: Any, U: Any, p: Any, q: Any, i: int, b: int) -> float:
    """The change of the misfit if i goes to b; q(b) is the node that is there, which takes i's place, or -1."""
    a, j = p[i], q[b]
    if j >= 0:
        gained = _gain(G, H, p, i, a, b, j) + _gain(G, H, p, j, b, a, i)
        return float(U[i, b] - U[i, a] + U[j, a] - U[j, b] - 2.0 * gained)
    squares = _squares(H, q, b, i) - _squares(H, q, a, i)
    return float(U[i, b] - U[i, a] + squares - 2.0 * _gain(G, H, p, i, a, b, -1))


@compiled_inside
def _exchange(p: Any, q: Any, i: int, b: int) -> None:
    a, j = p[i], q[b]
    p[i], q[b], q[a] = b, i, j
    if j >= 0:
        p[j] = a


@compiled_inside
def _look_near(G: Any, H: Any, q: Any, i: int, b: int, look: Any) -> None:
    """Mark i, its neighbours, and the nodes that are at the neighbours of b."""
    look[i] = True
    for at in range(G.offsets[i], G.offsets[i + 1]):
        look[G.neighbours[at]] = True
    for at in range(H.offsets[b], H.offsets[b + 1]):
        if q[H.neighbours[at]] >= 0:
            look[q[H.neighbours[at]]] = True


@compiled
def misfit(G: Any, H: Any, U: Any, p: Any, of_nodes: Any) -> float:
    """The misfit of an assignment; fills `of_nodes` with what each node has part in."""
    total, n = 0.0, len(p)
    for i in range(n):
        of_nodes[i] = U[i, p[i]]
        total += U[i, p[i]]
        for j in range(n):
            if j != i:
                own, other = G.weights[i, j], H.weights[p[i], p[j]]
                if own != 0.0 or other != 0.0:
                    cost = own * own + other * other - 2.0 * _product(G, H, i, j, p[i], p[j])
                    of_nodes[i] += cost
                    total += 0.5 * cost
    return total


@compiled
def improve(G: Any, H: Any, U: Any, p: Any, q: Any, look: Any) -> float:
    """Make the best exchange of every marked node until none helps; returns the change of the misfit."""
    total = 0.0
    again = True
    while again:
        again = False
        for i in range(len(p)):
            if not look[i]:
                continue
            look[i] = False
            best, to = -LEAST_GAIN, -1
            for b in range(len(q)):
                if b != p[i]:
                    change = change_of(G, H, U, p, q, i, b)
                    if change < best:
                        best, to = change, b
            if to >= 0:
                a, j = p[i], q[to]
                _exchange(p, q, i, to)
                total += best
                again = True
                _look_near(G, H, q, i, to, look)
                _look_near(G, H, q, i, a, look)
                if j >= 0:
                    _look_near(G, H, q, j, a, look)
    return total


@compiled
def improve_by_kicks(G: Any, H: Any, U: Any, p: Any, q: Any, draws: Any) -> float:
    """Improve p, and its inverse q, by kicks, one per row of `draws` (uniform numbers); returns the misfit."""
    n, m = len(p), len(q)
    of_nodes, look = np.zeros(n), np.ones(n, np.bool_)
    improve(G, H, U, p, q, look)
    best = misfit(G, H, U, p, of_nodes)
    old_p, old_q = p.copy(), q.copy()
    for kick in range(len(draws)):
        if best <= LEAST_GAIN or n < 2:
            break
        ends = np.cumsum(of_nodes + FLOOR)
        look[:] = False
        count = 2 + int(draws[kick, 0] * 3)  # 2 to 4 nodes
        first = min(np.searchsorted(ends, draws[kick, 2] * ends[-1]), n - 1)
        for c in range(1, count):
            other = min(np.searchsorted(ends, draws[kick, 2 + c] * ends[-1]), n - 1)
            if other != first:
                _kick(G, H, p, q, first, p[other], look)
        if m > n and draws[kick, 1] < 0.3:
            free = int(draws[kick, 1] / 0.3 * m)
            while q[free] >= 0:
                free = (free + 1) % m
            _kick(G, H, p, q, first, free, look)
        improve(G, H, U, p, q, look)
        found = misfit(G, H, U, p, of_nodes)
        if found <= best:
            best = found
            old_p[:], old_q[:] = p, q
        else:
            p[:], q[:] = old_p, old_q
            misfit(G, H, U, p, of_nodes)
    return best


@compiled_inside
def _kick(G: Any, H: Any, p: Any, q: Any, i: int, b: int, look: Any) -> None:
    """Send i to b whatever it costs, and mark what is near."""
    a, j = p[i], q[b]
    _exchange(p, q, i, b)
    _look_near(G, H, q, i, b, look)
    _look_near(G, H, q, i, a, look)
    if j >= 0:
        _look_near(G, H, q, j, a, look)


@compiled
def changes(G: Any, H: Any, U: Any, p: Any, q: Any, out: Any) -> None:
    """Fill out[i, b] with the change of the misfit if i goes to b."""
    for i in range(out.shape[0]):
        for b in range(out.shape[1]):
            out[i, b] = 0.0 if b == p[i] else change_of(G, H, U, p, q, i, b)
