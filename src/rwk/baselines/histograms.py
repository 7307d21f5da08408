"""Counts of substructures of graphs, as sparse rows whose columns are named by 64-bit keys.

A key is a hash of what is counted, so counts of different sets of graphs, fitted or new, are matched by key. Most
baselines are inner products of such rows; sums of minima become inner products too if a count c is written as c ones
(`unary`).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import GraphSet
from rwk.graphs.colours import mix
from rwk.runtime.arrays import FloatArray, IntArray

Keys = NDArray[np.uint64]

TIMES_SALT: Final = np.uint64(0x8CB92BA72F3D8DD7)
PAIR_SALT: Final = np.uint64(0x2545F4914F6CDD1D)
# a column present in more than this share of all pairs of graphs is multiplied densely
DENSE_SHARE: Final = 1 / 32
DENSE_COLUMNS: Final = 1024


class Histograms(NamedTuple):
    """Weighted counts, one row per graph."""

    counts: Any  # scipy csr_array (graphs, keys)
    keys: Keys  # sorted


def owners(graphs: GraphSet) -> IntArray:
    """For every node, the index of its graph."""
    return np.repeat(np.arange(len(graphs)), graphs.sizes)


def histograms(owner: IntArray, keys: Keys, n_graphs: int, weights: FloatArray | None = None) -> Histograms:
    """Sum the weights of equal keys in each graph; without weights, count them.

    >>> histograms(np.array([0, 0, 1]), np.array([7, 7, 9], np.uint64), 2).counts.toarray().tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_array

    names, columns = np.unique(keys, return_inverse=True)
    values = np.ones(len(keys)) if weights is None else weights
    counts = csr_array((values, (owner, columns.ravel())), shape=(n_graphs, len(names)))
    counts.sum_duplicates()
    return Histograms(counts, names)


def unary(owner: IntArray, keys: Keys, n_graphs: int, weight: float = 1.0) -> Histograms:
    """Histograms whose inner products are `weight` times the histogram intersection Σ min(count, other count).

    >>> two = unary(np.array([0, 0, 0, 1, 1]), np.array([7, 7, 9, 7, 9], np.uint64), 2)
    >>> inner_products(two).tolist()
    [[3.0, 2.0], [2.0, 2.0]]
    """
    both = mix(keys + owner.astype(np.uint64) * PAIR_SALT)
    order = np.argsort(both)
    owner, keys, both = owner[order], keys[order], both[order]
    begin = np.flatnonzero(np.append(True, both[1:] != both[:-1]))
    times = np.arange(len(keys)) - np.repeat(begin, np.diff(np.append(begin, len(keys))))
    repeated = mix(keys + times.astype(np.uint64) * TIMES_SALT)
    return histograms(owner, repeated, n_graphs, np.full(len(keys), np.sqrt(weight)))


def join_columns(parts: list[Histograms]) -> Histograms:
    """Histograms side by side; keys of different parts must differ."""
    from scipy.sparse import csr_array, hstack

    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")
    counts = csr_array(hstack([part.counts for part in parts], format="csc")[:, order])
    return Histograms(counts, keys[order])


def inner_products(rows: Histograms, columns: Histograms | None = None) -> FloatArray:
    """Inner products of all rows with all columns; without columns, of the rows with each other."""
    if columns is None:
        return _product(rows.counts.tocsc(), rows.counts.tocsc())
    _, at_rows, at_columns = np.intersect1d(rows.keys, columns.keys, assume_unique=True, return_indices=True)
    return _product(rows.counts.tocsc()[:, at_rows], columns.counts.tocsc()[:, at_columns])


def square_norms(rows: Histograms) -> FloatArray:
    """Inner product of every row with itself."""
    return np.asarray(rows.counts.multiply(rows.counts).sum(axis=1)).ravel()


def _product(a: Any, b: Any) -> FloatArray:
    """a bᵀ of two csc arrays: frequent columns by a dense product, rare ones by a sparse product."""
    shared = np.diff(a.indptr) * np.diff(b.indptr)
    frequent = shared > DENSE_SHARE * a.shape[0] * b.shape[0]
    rare = np.flatnonzero(~frequent & (shared > 0))
    product = np.asarray((a[:, rare].tocsr() @ b[:, rare].T.tocsr()).toarray(), np.float64)
    chosen = np.flatnonzero(frequent)
    for start in range(0, len(chosen), DENSE_COLUMNS):
        part = chosen[start : start + DENSE_COLUMNS]
        product += a[:, part].toarray() @ b[:, part].toarray().T
    return product
