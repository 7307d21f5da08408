"""Many indefinite kernels treated at once on a GPU: the maps of `treatment`, without eigendecompositions.

A GPU is best at matrix products, so the negative part comes from the matrix sign U of K, which is +1 on the
eigenvectors of positive and −1 on those of negative eigenvalues, by the Newton-Schulz iteration X ← X (3 − X²) / 2:

    clip  K₊ = (K + UK) / 2,  rows → rows (I + U) / 2        flip  |K| = UK,  rows → rows U
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch

# an eigenvalue as small as rounding, 1e-13 of the largest one, grows by half in each step
MAX_STEPS: Final = 90
CHECKED_EVERY: Final = 6
SETTLED: Final = 1e-9


class TreatedKernels(NamedTuple):
    """Training kernels that SVMs can be trained on, and their maps for new rows (None if nothing was done)."""

    kernels: Any  # (k, n, n)
    maps: Any | None  # (k, n, n)

    def map_rows(self, which: int, rows: Any) -> Any:
        """Treat rows of new graphs like the training rows of kernel number `which`."""
        return rows if self.maps is None else rows @ self.maps[which]


def treat_many(kernels: Any, treatment: str) -> TreatedKernels:
    """Treat symmetric kernels (k, n, n), in double precision."""
    if treatment == "none":
        return TreatedKernels(kernels, None)
    slack = _slack(kernels)
    identity = torch.eye(kernels.shape[1], dtype=kernels.dtype, device=kernels.device)
    lifted = kernels + slack * identity
    if bool((torch.linalg.cholesky_ex(lifted)[1] == 0).all()):
        return TreatedKernels(kernels, None)
    if treatment == "shift":
        lowest = torch.linalg.eigvalsh(kernels)[:, :1, None]
        return TreatedKernels(kernels - torch.where(lowest < -slack, lowest, 0.0) * identity, None)
    signs = matrix_sign(lifted)
    maps = signs if treatment == "flip" else (signs + identity) / 2
    treated = maps @ kernels
    return TreatedKernels((treated + treated.mT) / 2, maps)


def matrix_sign(kernels: Any) -> Any:
    """The matrix sign U of each symmetric kernel: its eigenvectors, with the signs of its eigenvalues."""
    X = kernels / _norm(kernels)
    for step in range(MAX_STEPS):
        square = X @ X
        if step % CHECKED_EVERY == CHECKED_EVERY - 1:
            square.diagonal(dim1=1, dim2=2).sub_(1.0)
            if float(square.abs().max()) < SETTLED:
                break
            square.diagonal(dim1=1, dim2=2).add_(1.0)
        X = torch.baddbmm(X, X, square, beta=1.5, alpha=-0.5)
        X = (X + X.mT) / 2
    return X


def _norm(kernels: Any) -> Any:
    """An upper bound of the largest absolute eigenvalue, (k, 1, 1)."""
    return kernels.abs().sum(dim=2).amax(dim=1)[:, None, None]


def _slack(kernels: Any) -> Any:
    """The size below which an eigenvalue can't be told from 0, as in `treatment.slack`."""
    return kernels.shape[1] * torch.finfo(torch.float64).eps * _norm(kernels)
