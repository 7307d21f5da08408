"""The spectrum of an indefinite kernel, and what is done about its negative eigenvalues.

A treatment changes the training kernel. Rows of new graphs are changed by the same linear map, so that a new graph is
treated like a training graph, independently of other new graphs. Every map here has the form I − f N Nᵀ, with N the
eigenvectors of the negative eigenvalues: f = 1 clips, f = 2 flips.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from rwk.runtime.arrays import FloatArray

Treatment = Literal["clip", "proxy", "flip", "shift", "none"]
TREATMENTS: tuple[str, ...] = get_args(Treatment)


class KernelSpectrum(NamedTuple):
    """The eigenvalues of a symmetric matrix, and the eigenvectors of the negative ones."""

    values: FloatArray  # (n,) increasing
    negative_vectors: FloatArray  # (n, k), those of values[:k]

    @property
    def negative_values(self) -> FloatArray:
        """Eigenvalues that are below zero by more than rounding."""
        return self.values[: self.negative_vectors.shape[1]]

    @property
    def negative_share(self) -> float:
        """Σ|negative eigenvalues| / Σ|all eigenvalues|: 0 for a kernel that needs no treatment."""
        total = float(np.abs(self.values).sum())
        return float(-self.negative_values.sum()) / total if total else 0.0


class TreatedKernel(NamedTuple):
    """A training kernel that an SVM can be trained on, and the map for new rows."""

    kernel: FloatArray  # (n, n)
    removed: FloatArray  # (n, k) eigenvectors that the map acts on
    factor: float

    def map_rows(self, rows: FloatArray) -> FloatArray:
        """Treat rows of new graphs like the training rows."""
        return rows - self.factor * (rows @ self.removed) @ self.removed.T if self.factor else rows

    def map_coefficients(self, coefficients: FloatArray) -> FloatArray:
        """Coefficients (in rows) that decide on untreated rows as `coefficients` decide on treated rows."""
        return self.map_rows(coefficients)


def rounding(values: FloatArray) -> float:
    """The size below which an eigenvalue can't be told from 0."""
    return float(len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0))


def diagonal_scale(diagonal: FloatArray) -> float:
    """The mean diagonal, or 1 if it is not positive; kernels are divided by it so that C and κ mean the same for all.

    >>> diagonal_scale(np.array([1.0, 3.0]))
    2.0
    """
    with np.errstate(over="ignore"):
        mean = float(np.mean(diagonal))
    if np.isinf(mean):  # the sum is not finite, the mean is
        mean = float(np.mean(np.asarray(diagonal) / len(diagonal)) * len(diagonal))
    return mean if mean > 0 else 1.0


def spectrum(kernel: FloatArray) -> KernelSpectrum:
    """Decompose a symmetric matrix.

    >>> spectrum(np.array([[0.0, 1.0], [1.0, 0.0]])).negative_share
    0.5
    """
    values, vectors = eigh(kernel, driver="evd")
    return KernelSpectrum(values, vectors[:, values < -rounding(values)])


def negative_part(kernel: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Negative eigenvalues, increasing, and their eigenvectors; if they are few, twice as fast as `spectrum`.

    >>> negative_part(np.array([[0.0, 1.0], [1.0, 0.0]]))[0].round(6).tolist()
    [-1.0]
    """
    values, vectors = eigh(kernel, driver="evr", subset_by_value=(-np.inf, -slack(kernel)))
    return values, vectors


def slack(kernel: FloatArray) -> float:
    """Like `rounding` without knowing the eigenvalues: none is larger than the largest row sum of absolute values."""
    return float(len(kernel) * np.finfo(np.float64).eps * np.abs(kernel).sum(axis=0).max())


def is_positive(kernel: FloatArray) -> bool:
    """Whether a Cholesky decomposition succeeds, which is far cheaper than the spectrum.

    >>> is_positive(np.eye(3)), is_positive(-np.eye(3))
    (True, False)
    """
    try:
        cholesky(kernel, lower=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def treat(kernel: FloatArray, treatment: str, known: KernelSpectrum | None = None) -> TreatedKernel:
    """Treat a symmetric training kernel; "proxy" is treated like "clip", which it starts from.

    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> treat(swap, "clip").kernel.round(3).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> treat(swap, "clip").map_rows(np.array([[1.0, 0.0]])).round(3).tolist()
    [[0.5, 0.5]]
    """
    nothing = np.empty((len(kernel), 0))
    # a kernel with fewer features than graphs has zero eigenvalues, which rounding may make negative
    if treatment == "none" or (known is None and is_positive(kernel + slack(kernel) * np.eye(len(kernel)))):
        return TreatedKernel(kernel, nothing, 0.0)
    values, vectors = (known.negative_values, known.negative_vectors) if known else negative_part(kernel)
    if not len(values):
        return TreatedKernel(kernel, nothing, 0.0)
    if treatment == "shift":
        return TreatedKernel(kernel - values[0] * np.eye(len(kernel)), nothing, 0.0)
    factor = 2.0 if treatment == "flip" else 1.0
    treated = kernel - (factor * values * vectors) @ vectors.T
    return TreatedKernel((treated + treated.T) / 2, vectors, factor)
