"""Kernels on counts: Tanimoto for substructures of molecules, min-max for nodes and edges of each kind."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.spatial.distance import cdist

from rwk.runtime.arrays import FloatArray
from rwk.runtime.threads import in_threads

ROWS_AT_ONCE: Final = 64


def tanimoto_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
    """⟨x, y⟩ / (|x|² + |y|² − ⟨x, y⟩) between rows of counts; 1 between two rows of zeros.

    >>> tanimoto_kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])).round(2).tolist()
    [[1.0, 0.67, 0.0]]
    """
    common = first @ second.T
    total = np.einsum("ij,ij->i", first, first)[:, None] + np.einsum("ij,ij->i", second, second)[None, :] - common
    return np.asarray(np.where(total > 0, common / np.where(total > 0, total, 1.0), 1.0))


def min_max_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
    """Σ min(x, y) / Σ max(x, y) between rows of counts: what two multisets share.

    >>> min_max_kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 0.0]])).round(2).tolist()
    [[1.0, 0.5, 0.0]]
    """
    used = (first.any(axis=0)) | (second.any(axis=0))
    first, second = first[:, used], second[:, used]
    kernel = np.empty((len(first), len(second)))

    def work(chunk: int) -> int:
        rows = slice(chunk * ROWS_AT_ONCE, (chunk + 1) * ROWS_AT_ONCE)
        both = first[rows].sum(axis=1)[:, None] + second.sum(axis=1)[None, :]
        apart = cdist(first[rows], second, "cityblock") if second.shape[1] else np.zeros_like(both)
        total = both + apart
        kernel[rows] = np.where(total > 0, (both - apart) / np.where(total > 0, total, 1.0), 1.0)
        return len(both)

    in_threads(work, -(-len(first) // ROWS_AT_ONCE), n_jobs=None, tick=None)
    return kernel
