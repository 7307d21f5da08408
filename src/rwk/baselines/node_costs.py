"""Mean costs between nodes, by which the label part and the attribute part of a node cost are divided.

A weight between the two parts then means the same for every dataset. Means go over all pairs of nodes of the fitted
graphs, a node with itself included, so they do not depend on the order of nodes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rwk.graphs.colours import Colours
from rwk.runtime.arrays import FloatArray

NODES_PER_BLOCK: Final = 1024
NOISE: Final = 1e-9  # of features near 1; smaller means are rounding errors


def mean_hamming(colours: Colours) -> FloatArray:
    """Mean share of rounds 0..r in which two nodes differ, for each round r, from colours of shape (rounds, nodes).

    >>> mean_hamming(np.array([[1, 1, 1, 1], [1, 1, 2, 2]], np.uint64)).tolist()
    [0.0, 0.25]
    """
    each = []
    for row in colours:
        _, counts = np.unique(row, return_counts=True)
        each.append(1.0 - float(((counts / len(row)) ** 2).sum()))
    return np.asarray(np.cumsum(each) / np.arange(1, len(each) + 1))


def mean_distances(points: FloatArray, rounds: int) -> FloatArray:
    """Mean Euclidean distance of two nodes in the columns of rounds 0..r, for each round r; columns are in `rounds`
    blocks of equal width.

    >>> mean_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), 2).tolist()
    [1.5, 2.5]
    """
    from scipy.spatial.distance import cdist

    n_nodes, width = len(points), points.shape[1] // rounds
    total = np.zeros(rounds)
    for a in range(0, n_nodes, NODES_PER_BLOCK):
        for b in range(a, n_nodes, NODES_PER_BLOCK):
            x, y = points[a : a + NODES_PER_BLOCK], points[b : b + NODES_PER_BLOCK]
            squares = np.zeros((len(x), len(y)))
            for r in range(rounds):
                columns = slice(r * width, (r + 1) * width)
                squares += cdist(x[:, columns], y[:, columns], "sqeuclidean")
                total[r] += (1.0 if a == b else 2.0) * np.sqrt(squares).sum()
    return total / n_nodes**2


def mean_squares(points: FloatArray) -> float:
    """Mean squared Euclidean distance of two nodes: twice the sum of the variances of the columns.

    >>> mean_squares(np.array([[0.0, 0.0], [3.0, 4.0]]))
    12.5
    """
    return float(2.0 * points.var(axis=0).sum())


def as_units(means: FloatArray) -> FloatArray:
    """Means as numbers to divide by: 1 in place of a mean of 0, as of constant features."""
    return np.where(means > NOISE, means, 1.0)
