"""Checks of what is to be learned: classes; and what a regressor is given: values, known variances, enough graphs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import GraphSet
from rwk.learn.one_vs_one import as_labels, encode_classes
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.parameter_checks import shown
from rwk.runtime.words import counted

LEAST_GRAPHS: Final = 3
LARGEST_TARGET: Final = 1e150


def has_fractions(targets: Any) -> bool:
    """Whether targets are numbers that are not all whole: values to predict, not classes.

    >>> has_fractions(np.array([0.5, 2.0])), has_fractions(np.array([1.0, 2.0])), has_fractions(None)
    (True, False, False)
    """
    values = np.asarray(targets)
    return values.dtype.kind == "f" and bool(np.isfinite(values).all()) and bool((values != np.round(values)).any())


def classes_of(graphs: GraphSet, y: Any) -> tuple[NDArray[Any], IntArray]:
    """The classes, and each graph's class as a code; raises ValueError if they can't be learned."""
    targets = graphs.targets if y is None else y
    values = as_labels(targets)
    _check_discrete(values)
    if values.ndim == 1:
        _check_count(graphs, len(values))
    classes, codes = encode_classes(targets)
    counts = np.bincount(codes)
    if counts.min() < 2:
        name = classes[int(counts.argmin())]
        raise ValueError(f"class {name} has a single graph, too few to choose settings by inner folds; add graphs")
    return classes, codes


def _check_count(graphs: GraphSet, n_targets: int) -> None:
    if n_targets != len(graphs):
        found = counted(n_targets, "target")
        raise ValueError(f"there are {len(graphs)} graphs, but {found}; give one per graph")


def _check_discrete(targets: NDArray[Any]) -> None:
    """Reject numbers that are not whole: they are values to predict, not classes."""
    if has_fractions(targets):
        raise ValueError(
            "RWKClassifier predicts classes, but the targets are continuous; for numbers use RWKRegressor, or "
            "RWKGaussianProcess for error bars"
        )


def checked_targets(graphs: GraphSet, y: Any) -> FloatArray:
    """One number per graph; raises ValueError, in one sentence, if they can't be learned.

    >>> from rwk import as_graphs
    >>> checked_targets(as_graphs([np.ones((2, 2))] * 3), [1.0, 1.0, 1.0])
    Traceback (most recent call last):
    ...
    ValueError: all targets are 1.0, so there is nothing to learn; give targets that differ
    """
    given = graphs.targets if y is None else y
    if given is None:
        raise ValueError("a regressor requires y to be passed, but the target y is None; give a number per graph")
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("the targets are not numbers; for classes use RWKClassifier") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"the targets have shape {values.shape}; give one number per graph")
    _check_count(graphs, len(values))
    if len(graphs) < LEAST_GRAPHS:
        raise ValueError(f"there are {len(graphs)} graphs, too few to learn from; give at least {LEAST_GRAPHS}")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"{len(bad)} targets are NaN or infinite, the first is that of {graphs.title(int(bad[0]))}; "
            "leave these graphs out"
        )
    if np.abs(values).max() > LARGEST_TARGET:
        raise ValueError(f"a target is beyond {LARGEST_TARGET:g}, so squares are not finite; give them in another unit")
    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        raise ValueError(f"all targets are {float(values[0])}, so there is nothing to learn; give targets that differ")
    return values


def checked_alpha(alpha: Any, n_graphs: int) -> FloatArray:
    """Known variances, one per graph; raises ValueError if they can't be variances."""
    try:
        values = np.asarray(alpha, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"alpha must be one number, or one per graph ({n_graphs}), not {shown(alpha)}") from None
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n_graphs):
        raise ValueError(f"alpha must be one number, or one per graph ({n_graphs}), not of shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("alpha are variances of the targets, so they must be finite and not negative")
    return np.broadcast_to(values, (n_graphs,)).copy()
