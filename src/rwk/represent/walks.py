"""Return probabilities of random walks: what the product cost (R18) knows of a node's place in its graph.

The walk is lazy: P = D^-1/2 (A + I) D^-1/2 with D the row sums of A + I, and (P^k)_ii is the probability that a walk
from i is back after k steps. P^j is symmetric, so (P^2j)_ii and (P^(2j+1))_ii are column sums of P^j * P^j and of
P^j * P^(j+1): 25 products with the sparse P give 50 steps. On sparse graphs that takes less time than a decomposition
of P; it only ever adds positive numbers, so rounding errors stay small, and it calls no BLAS.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled, compiled_inside
from rwk.runtime.threads import in_threads

STEPS: Final = 50
COLUMNS_AT_ONCE: Final = 32
NODES_PER_CHUNK: Final = 2048


def return_probabilities(adjacency: Any, offsets: IntArray, *, n_jobs: int | None = None) -> FloatArray:
    """Return probabilities of 1..50 steps, (V, 50), in a block-diagonal adjacency matrix; graph by graph in threads.

    >>> from scipy.sparse import csr_array
    >>> edge = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> return_probabilities(edge, np.array([0, 2]))[:, :3].tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    """
    out = np.empty((int(offsets[-1]), STEPS))
    degrees = 1.0 + np.asarray(adjacency.sum(axis=1)).ravel()
    entries = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64), adjacency.data.astype(np.float64)
    chunks = np.unique(
        np.append(np.searchsorted(offsets, np.arange(0, offsets[-1], NODES_PER_CHUNK)), len(offsets) - 1)
    )

    def work(chunk: int) -> int:
        for graph in range(chunks[chunk], chunks[chunk + 1]):
            _walk(*entries, degrees, int(offsets[graph]), int(offsets[graph + 1]), out)
        return 1

    in_threads(work, len(chunks) - 1, n_jobs=n_jobs, tick=None)
    return out


@compiled
def _walk(starts: Any, columns: Any, values: Any, degrees: Any, first: int, last: int, out: Any) -> None:
    """Fill the rows of one graph's nodes, some columns of P^j at a time."""
    n, begin = last - first, starts[first]
    weights = np.empty(starts[last] - begin)
    for i in range(first, last):
        for p in range(starts[i], starts[i + 1]):
            weights[p - begin] = values[p] / np.sqrt(degrees[i] * degrees[columns[p]])
    width = min(n, COLUMNS_AT_ONCE)
    here, there = np.empty((n, width)), np.empty((n, width))
    odd, even = np.empty(width), np.empty(width)
    for left in range(0, n, width):
        here[:] = 0.0
        for c in range(min(width, n - left)):
            here[left + c, c] = 1.0
        for step in range(0, STEPS, 2):
            _step(starts, columns, weights, degrees, first, here, there)
            odd[:], even[:] = 0.0, 0.0
            for i in range(n):
                for c in range(width):
                    odd[c] += here[i, c] * there[i, c]
                    even[c] += there[i, c] * there[i, c]
            for c in range(min(width, n - left)):
                out[first + left + c, step], out[first + left + c, step + 1] = odd[c], even[c]
            here, there = there, here


@compiled_inside
def _step(starts: Any, columns: Any, weights: Any, degrees: Any, first: int, x: Any, out: Any) -> None:
    """out = P x for the nodes of one graph."""
    begin = starts[first]
    for i in range(len(x)):
        own = 1.0 / degrees[first + i]
        for c in range(x.shape[1]):
            out[i, c] = own * x[i, c]
        for p in range(starts[first + i], starts[first + i + 1]):
            j, weight = columns[p] - first, weights[p - begin]
            for c in range(x.shape[1]):
                out[i, c] += weight * x[j, c]
