"""The largest common part of two graphs near a coupling: grown pair by pair from seeds, then repaired.

A part is a one-to-one matching of some nodes whose labels agree. An edge is common if it joins two matched nodes in
both graphs, with the same label. The worth of a part is

    common edges - penalty * edges between matched nodes without a counterpart + TIE * (nodes + coupling)

`grow` adds the pair next to the part that adds the most worth, until none adds any or the part has its largest size;
with `jumps` it may go on elsewhere, at the pair with the most coupling. `best_part` grows parts from many seeds and
repairs the best ones: it takes out a node with those around it, keeps the largest connected rest, and grows again with
a little noise.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.matching.listed_edges import EdgeLists
from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside

TIE: Final = 1e-3  # what a node, or the largest coupling, is worth beside a common edge
NOISE: Final = 0.6  # of the gains while a part is repaired, one time in two,
LOUD: Final = 1.8  # or else so much that an edge more does not decide
KEPT: Final = 8  # parts that are repaired in turn
REACH: Final = 4  # a repair takes out what is fewer than this many edges away, by chance fewer


class PartProblem(NamedTuple):
    """Two graphs, which of their nodes may be matched, and how much speaks for each pair."""

    G: EdgeLists
    H: EdgeLists
    allowed: NDArray[np.bool_]  # (n, m)
    scores: NDArray[np.float64]  # (n, m), at most 1
    largest: int  # number of nodes of a part
    penalty: float
    jumps: bool


@compiled_borrowing
def _random(state: Any) -> float:
    """A number in [0, 1) from a linear congruential generator, whose state moves on."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return float((state[0] >> np.uint64(11)) * 2.0**-53)


@compiled_borrowing
def _gain(problem: Any, p: Any, i: int, k: int) -> float:
    """What the pair (i, k) adds to the worth of the part p, but for the noise."""
    G, H = problem.G, problem.H
    gain: float = TIE * (1.0 + problem.scores[i, k])
    for at in range(G.offsets[i], G.offsets[i + 1]):
        other = p[G.neighbours[at]]
        if other >= 0:
            if H.weights[k, other] != 0.0 and G.labels[i, G.neighbours[at]] == H.labels[k, other]:
                gain += 1.0
            else:
                gain -= problem.penalty
    return gain


@compiled_borrowing
def _missed(problem: Any, p: Any, q: Any, i: int, k: int) -> float:
    """The penalty of the edges of k to matched nodes that i does not have."""
    if problem.penalty == 0.0:
        return 0.0
    missed = 0.0
    for at in range(problem.H.offsets[k], problem.H.offsets[k + 1]):
        other = q[problem.H.neighbours[at]]
        if other >= 0 and problem.G.weights[i, other] == 0.0:
            missed += problem.penalty
    return missed


@compiled_borrowing
def _jump(problem: Any, p: Any, q: Any) -> tuple[int, int]:
    """The free pair with the highest score that may be matched and adds worth; (-1, -1) if there is none."""
    best, at_i, at_k = 0.0, -1, -1
    for i in range(len(p)):
        if p[i] < 0:
            for k in range(len(q)):
                if q[k] >= 0 or not problem.allowed[i, k] or problem.scores[i, k] <= best:
                    continue
                if _gain(problem, p, i, k) - _missed(problem, p, q, i, k) > 0.0:
                    best, at_i, at_k = problem.scores[i, k], i, k
    return at_i, at_k


@compiled
def grow(problem: Any, p: Any, q: Any, worth: float, size: int, noise: float, state: Any) -> float:
    """Grow the part p, with its inverse q, in place; returns its worth."""
    G, H = problem.G, problem.H
    while size < problem.largest:
        best, best_gain, at_i, at_k = 0.0, 0.0, -1, -1
        for i in range(len(p)):
            if p[i] < 0:
                continue
            for at in range(G.offsets[i], G.offsets[i + 1]):
                j = G.neighbours[at]
                if p[j] >= 0:
                    continue
                for place in range(H.offsets[p[i]], H.offsets[p[i] + 1]):
                    l = H.neighbours[place]
                    if q[l] >= 0 or not problem.allowed[j, l] or G.labels[i, j] != H.labels[p[i], l]:
                        continue
                    gain = _gain(problem, p, j, l) - _missed(problem, p, q, j, l)
                    drawn = gain + (noise * _random(state) if noise > 0.0 else 0.0)
                    if gain > 0.0 and drawn > best:
                        best, best_gain, at_i, at_k = drawn, gain, j, l
        if at_i < 0 and problem.jumps:
            at_i, at_k = _jump(problem, p, q)
            if at_i >= 0:
                best_gain = _gain(problem, p, at_i, at_k) - _missed(problem, p, q, at_i, at_k)
        if at_i < 0:
            break
        p[at_i], q[at_k] = at_k, at_i
        worth += best_gain
        size += 1
    return worth


@compiled_inside
def _keep_connected(problem: Any, p: Any, q: Any, mark: Any) -> None:
    """Keep the largest connected piece of a part, connected by common edges; `mark` is overwritten."""
    G, H = problem.G, problem.H
    mark[:] = -1
    queue = np.empty(len(p), np.int64)
    pieces, largest, kept = 0, 0, -1
    for first in range(len(p)):
        if p[first] < 0 or mark[first] >= 0:
            continue
        head, tail = 0, 1
        queue[0], mark[first] = first, pieces
        while head < tail:
            i = queue[head]
            head += 1
            for at in range(G.offsets[i], G.offsets[i + 1]):
                j = G.neighbours[at]
                if p[j] < 0 or mark[j] >= 0 or H.weights[p[i], p[j]] == 0.0:
                    continue
                if G.labels[i, j] == H.labels[p[i], p[j]]:
                    mark[j] = pieces
                    queue[tail] = j
                    tail += 1
        if tail > largest:
            largest, kept = tail, pieces
        pieces += 1
    for i in range(len(p)):
        if p[i] >= 0 and mark[i] != kept:
            q[p[i]] = -1
            p[i] = -1


@compiled_inside
def _worth(problem: Any, p: Any, q: Any) -> tuple[float, int]:
    """The worth of a part and its number of nodes."""
    worth, size = 0.0, 0
    known = np.full(len(p), -1, np.int64)
    back = np.full(len(q), -1, np.int64)
    for i in range(len(p)):
        if p[i] >= 0:
            worth += _gain(problem, known, i, p[i]) - _missed(problem, known, back, i, p[i])
            known[i], back[p[i]] = p[i], i
            size += 1
    return worth, size


@compiled_inside
def _take_out(problem: Any, p: Any, q: Any, mark: Any, state: Any) -> None:
    """Take a random matched node out of a part, with the matched nodes around it."""
    G = problem.G
    matched = np.flatnonzero(p >= 0)
    reach = int(_random(state) * REACH)
    queue = np.empty(len(p), np.int64)
    mark[:] = -1
    queue[0] = matched[int(_random(state) * len(matched))]
    mark[queue[0]] = 0
    head, tail = 0, 1
    while head < tail:
        i = queue[head]
        head += 1
        if mark[i] < reach:
            for at in range(G.offsets[i], G.offsets[i + 1]):
                j = G.neighbours[at]
                if p[j] >= 0 and mark[j] < 0:
                    mark[j] = mark[i] + 1
                    queue[tail] = j
                    tail += 1
    for at in range(tail):
        q[p[queue[at]]] = -1
        p[queue[at]] = -1


@compiled_inside
def _regrown(problem: Any, p: Any, q: Any, mark: Any, seeds: Any, state: Any) -> float:
    """Take out a place of the part p, grow again with noise, and return the worth."""
    _take_out(problem, p, q, mark, state)
    if not problem.jumps:
        _keep_connected(problem, p, q, mark)
    worth, size = _worth(problem, p, q)
    if size == 0:
        i, k = seeds[int(_random(state) * len(seeds))]
        p[i], q[k] = k, i
        worth, size = TIE * (1.0 + problem.scores[i, k]), 1
    noise = NOISE if _random(state) < 0.5 else LOUD
    return grow(problem, p, q, worth, size, noise, state)


@compiled
def best_part(problem: Any, seeds: Any, repairs: int, seed: int, best_p: Any) -> float:
    """Fill `best_p` with the worthiest part found: grown from each seed (rows i, k), the best ones then repaired."""
    n, m = problem.allowed.shape
    state = np.array([seed], np.uint64)
    p, q, mark = np.empty(n, np.int64), np.empty(m, np.int64), np.empty(n, np.int64)
    parts, worths = np.full((KEPT, n), -1, np.int64), np.full(KEPT, -1.0)
    for s in range(len(seeds)):
        p[:], q[:] = -1, -1
        i, k = seeds[s]
        p[i], q[k] = k, i
        worth = grow(problem, p, q, TIE * (1.0 + problem.scores[i, k]), 1, 0.0, state)
        _keep(parts, worths, p, worth)
    for r in range(repairs):
        at = r % KEPT
        if worths[at] < 0.0:
            continue
        p[:], q[:] = parts[at], -1
        for i in range(n):
            if p[i] >= 0:
                q[p[i]] = i
        worth = _regrown(problem, p, q, mark, seeds, state)
        if worth >= worths[at]:
            worths[at] = worth
            parts[at] = p
    best = np.argmax(worths)
    best_p[:] = parts[best]
    return float(worths[best])


@compiled_inside
def _keep(parts: Any, worths: Any, p: Any, worth: float) -> None:
    """Keep a part in place of the least worthy one, if it is worthier and not kept already."""
    least = np.argmin(worths)
    if worth <= worths[least]:
        return
    for at in range(len(parts)):
        if worths[at] >= 0.0 and (parts[at] == p).all():
            return
    parts[least], worths[least] = p, worth
