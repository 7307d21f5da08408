"""What nodes cost by their surroundings: degrees, chances of walks to return, labels of edges; neighbours likewise."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_borrowing, compiled_inside

STEPS: Final = 6  # of lazy random walks, whose chances to return are compared
DEGREE_COST: Final = 0.25  # of nodes whose degrees differ by the mean degree
EDGE_LABEL_COST: Final = 0.25  # of an edge label that one of two nodes has more often than the other


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
