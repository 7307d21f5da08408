"""One eigendecomposition per graph, and what follows from it: lambda_max, heat signatures, heat-kernel distances."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

import numpy as np

from rwk.runtime.arrays import FloatArray

# Log-spaced times: at the shortest, heat has reached the neighbours; at the longest, nearly the whole graph.
SHORTEST_TIME: Final = 0.1
LONGEST_TIME: Final = 50.0
HEAT_KERNEL_TIME: Final = 1.0


class Spectrum(NamedTuple):
    """Eigenvalues (ascending) and eigenvectors (columns) of a normalised Laplacian."""

    values: FloatArray  # (n,)
    vectors: FloatArray  # (n, n)

    @property
    def lambda_max(self) -> float:
        """The largest eigenvalue; exactly 0 for a graph without edges (R2)."""
        return float(self.values[-1]) if self.values[-1] > 1e-9 else 0.0

    def heat_signature(self, times: FloatArray) -> FloatArray:
        """(exp(-t L))_ii for every node i (rows) and time t (columns)."""
        return (self.vectors**2) @ np.exp(-np.outer(self.values, times))

    def heat_kernel(self, time: float) -> FloatArray:
        """exp(-t L)."""
        return (self.vectors * np.exp(-time * self.values)) @ self.vectors.T

    def heat_distance(self, time: float) -> FloatArray:
        """Euclidean distances between the rows of exp(-t L)."""
        rows = self.vectors * np.exp(-time * self.values)
        squares = (rows**2).sum(axis=1)
        apart = squares[:, None] + squares[None, :] - 2.0 * (rows @ rows.T)
        distances = np.sqrt(np.maximum(apart, 0.0))
        distances[apart <= 1e-13 * (squares[:, None] + squares[None, :])] = 0.0
        return np.asarray(0.5 * (distances + distances.T))


def decompose(laplacian: FloatArray) -> Spectrum:
    """The spectrum of one dense normalised Laplacian."""
    return decompose_all(laplacian[None])[0]


def decompose_all(laplacians: FloatArray) -> list[Spectrum]:
    """The spectra of dense normalised Laplacians of one size (g, n, n)."""
    values, vectors = np.linalg.eigh(laplacians)
    return list(map(Spectrum, np.maximum(values, 0.0), vectors))


@functools.cache
def time_ladder(length: int) -> FloatArray:
    """`length` log-spaced times."""
    times = np.geomspace(SHORTEST_TIME, LONGEST_TIME, length)
    times.flags.writeable = False  # the array is kept for the next call
    return times
