"""Two graphs that are the same but for the order of their nodes: colour refinement, then colours laid on colours.

Nodes get colours from their degree and node costs, and again and again from the colours of their neighbours, until no
colour is divided any more. Nodes whose colour is their own are matched; others follow from neighbours that are matched.
There is no way back from a wrong choice, so an isomorphism can be missed, though seldom. What is no isomorphism is
usually known after one round.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled_borrowing, compiled_inside

FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)  # the constants of splitmix64
SECOND: Final = np.uint64(0x94D049BB133111EB)
ODD: Final = np.uint64(0x9E3779B97F4A7C15)


@compiled_inside
def isomorphism(G: Any, H: Any, U: Any, p: Any, q: Any) -> bool:
    """Fill p with an isomorphism of G and H that costs no node anything, and q with its inverse; whether one is found.

    If none is, p and q hold anything.
    """
    n, m = U.shape
    if n != m or len(G.neighbours) != len(H.neighbours):
        return False
    one, other, new = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.empty(n, np.uint64)
    for i in range(n):
        for k in range(n):
            if U[i, k] == 0.0:
                one[i] += ODD
                other[k] += ODD
    order, orders, count = np.zeros(n, np.int64), np.zeros(n, np.int64), 0
    for _ in range(n):
        one, new = _refined(G, one, new), one
        other, new = _refined(H, other, new), other
        order, orders, before, count = np.argsort(one), np.argsort(other), count, 0
        for at in range(n):
            if one[order[at]] != other[orders[at]]:
                return False
            count += at == 0 or one[order[at]] != one[order[at - 1]]
        if count in (before, n):
            break
    queue = np.empty(n, np.int64)
    return _laid(G, H, U, p, q, one, other, order, orders, queue)


@compiled_borrowing
def _mixed(x: Any) -> Any:
    """The bits of a number, well shuffled."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))


@compiled_inside
def _refined(G: Any, colours: Any, out: Any) -> Any:
    """Fill `out` with colours that tell the colours of neighbours, and the labels of the edges to them, apart."""
    for i in range(len(colours)):
        total = np.uint64(0)
        for at in range(G.offsets[i], G.offsets[i + 1]):
            r = G.neighbours[at]
            total += _mixed(colours[r] + ODD * np.uint64(G.labels[i, r] + 1))
        out[i] = _mixed(_mixed(colours[i]) + total)
    return out


@compiled_borrowing
def _laid(
    G: Any, H: Any, U: Any, p: Any, q: Any, one: Any, other: Any, order: Any, orders: Any, queue: Any
) -> bool:  # fmt: skip
    """Match nodes of equal colours; `order` and `orders` sort them, and `queue` is scratch."""
    n, last = len(one), 0
    for i in range(n):
        p[i], q[i] = -1, -1
    for at in range(n):
        i = order[at]
        alone = (at == 0 or one[order[at - 1]] != one[i]) and (at == n - 1 or one[order[at + 1]] != one[i])
        if alone:
            p[i], q[orders[at]], queue[last] = orders[at], i, i
            last += 1
    done, start = 0, 0
    while done < n:
        if done == last:  # nothing follows: match any nodes of the next colour
            while p[order[start]] >= 0:
                start += 1
            i, at = order[start], 0
            while q[orders[at]] >= 0 or other[orders[at]] != one[i]:
                at += 1
                if at == n:
                    return False
            p[i], q[orders[at]], queue[last] = orders[at], i, i
            last += 1
        i = queue[done]
        done += 1
        for at in range(G.offsets[i], G.offsets[i + 1]):
            r = G.neighbours[at]
            if p[r] >= 0:
                continue
            k = _partner(G, H, U, p, q, one, other, r, p[i])
            if k < 0:
                return False
            p[r], q[k], queue[last] = k, r, r
            last += 1
    return True


@compiled_borrowing
def _partner(G: Any, H: Any, U: Any, p: Any, q: Any, one: Any, other: Any, r: int, near: int) -> int:
    """A free neighbour of the node `near` of H that r can be matched with, as far as r's neighbours are; or -1."""
    for place in range(H.offsets[near], H.offsets[near + 1]):
        k = H.neighbours[place]
        fits = q[k] < 0 and other[k] == one[r] and U[r, k] == 0.0
        for at in range(G.offsets[r], G.offsets[r + 1]):
            t = G.neighbours[at]
            if fits and p[t] >= 0:
                fits = G.weights[r, t] == H.weights[k, p[t]] and G.labels[r, t] == H.labels[k, p[t]]
        if fits:
            return int(k)
    return -1
