"""What IndefiniteSVC checks: its parameters, and the kernel it is given."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from math import isfinite
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from rwk.learn.treatment import TREATMENTS, diagonal_scale
from rwk.runtime.arrays import FloatArray
from rwk.runtime.parameter_checks import shown

ASYMMETRY: Final = 1e-6  # allowed, relative to the largest entry
LARGEST: Final = 1e100  # entry, relative to the mean diagonal: beyond this, eigenvalues can't be computed


def check_svc_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise ValueError unless all parameters of IndefiniteSVC are valid.

    >>> check_svc_parameters({"C": 1.0, "kappa": 1.0, "tol": 1e-4, "max_iter": 9, "treatment": "clap"})
    Traceback (most recent call last):
    ...
    ValueError: unknown treatment 'clap'; did you mean 'clip'?
    """
    for name in ("C", "kappa", "tol", "max_iter"):
        value = parameters[name]
        if not _is_positive(value):
            raise ValueError(f"{name} must be a positive number, not {shown(value)}")
    if not isfinite(parameters["C"]):
        raise ValueError("C must be finite; for a hard margin, give a large number")
    treatment = parameters["treatment"]
    if not isinstance(treatment, str) or treatment not in TREATMENTS:
        near = get_close_matches(str(treatment), TREATMENTS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(TREATMENTS)}"
        raise ValueError(f"unknown treatment {shown(treatment)}; {hint}")
    shape = parameters["decision_function_shape"]
    if not isinstance(shape, str) or shape not in ("ovr", "ovo"):
        raise ValueError(f"decision_function_shape must be 'ovr' or 'ovo', not {shown(shape)}")


def _is_positive(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and float(value) > 0
    except OverflowError:  # an integer that no float can hold
        return False


def check_finite(X: ArrayLike) -> ArrayLike:
    """The kernel as it is; raises ValueError if an entry is complex or not finite, and names the first."""
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise ValueError("Complex data not supported: a kernel has real numbers; give its real part")
    if isinstance(X, np.ndarray) and X.ndim == 2 and np.issubdtype(X.dtype, np.floating):
        bad = ~np.isfinite(X)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise ValueError(f"the kernel has {bad.sum()} entries NaN or infinite (inf), the first at ({i}, {j})")
    return X


def check_square(kernel: FloatArray) -> FloatArray:
    """A training kernel, made exactly symmetric; raises ValueError unless it is square and nearly symmetric.

    >>> check_square(np.array([[1.0, 0.5], [0.5, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    if kernel.shape[0] != kernel.shape[1]:
        raise ValueError(f"the kernel has shape {kernel.shape}, but training needs a square one")
    largest = float(np.abs(kernel).max())
    mean = diagonal_scale(kernel.diagonal())
    if largest > LARGEST * mean:
        raise ValueError(f"the kernel has entries of {largest:.3g}, but its mean diagonal is {mean:.3g}; correct them")
    apart = 2.0 * float(np.abs(kernel / 2 - kernel.T / 2).max())
    if apart > ASYMMETRY * largest:
        raise ValueError(f"the kernel is not symmetric (entries differ by up to {apart:.3g}); average it with Kᵀ")
    return np.asarray(kernel / 2 + kernel.T / 2)
