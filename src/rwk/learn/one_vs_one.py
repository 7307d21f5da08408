"""One SVM per pair of classes on one treated kernel, for many C at once.

Classes are codes 0..k−1. SVM m separates the m-th pair (a, b), a < b, of `pairs_of`; its decision is positive for b.
The spectrum of a kernel does not depend on C, so a kernel is treated once and `fit_path` trains for every C.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwk.learn.smo import FIRST_VIOLATION, MAX_UPDATES, svm_path
from rwk.runtime.arrays import FloatArray, IntArray


class PairwiseSVMs(NamedTuple):
    """Fitted SVMs, one per pair of classes: decisions are rows @ coefficientsᵀ + intercepts."""

    coefficients: FloatArray  # (n_svms, n_train)
    intercepts: FloatArray  # (n_svms,)

    def decide(self, rows: FloatArray) -> FloatArray:
        """Decisions of every SVM on (treated) rows, (rows, SVMs)."""
        return rows @ self.coefficients.T + self.intercepts


def as_labels(targets: ArrayLike | None) -> NDArray[Any]:
    """Targets as an array; raises ValueError if they are not a list of single values."""
    try:
        labels = np.asarray(targets)
    except ValueError:
        raise ValueError("the targets are not one value per graph; give a list of numbers or texts") from None
    if labels.dtype.kind == "c":
        raise ValueError("Complex data not supported: targets are numbers or texts; give their real part")
    return labels


def encode_classes(targets: ArrayLike | None) -> tuple[NDArray[Any], IntArray]:
    """The classes, and every target as a code 0..k−1; raises ValueError for targets that can't be learned.

    >>> encode_classes(["no", "yes", "no"])[1].tolist()
    [0, 1, 0]
    """
    if targets is None:
        raise ValueError("the dataset has no labels to learn; give targets, one per graph")
    values = as_labels(targets)
    if values.ndim != 1:
        raise ValueError(f"targets have shape {values.shape}; give one label per graph")
    missing = [value is None or (isinstance(value, float) and value != value) for value in values.tolist()]
    if any(missing):
        raise ValueError(f"target {missing.index(True)} is missing (NaN); remove that graph or label it")
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError("the targets are of different types that can't be compared; give numbers or texts") from None
    if len(classes) < 2:
        found = f"all {len(values)} targets are of one class, {classes[0]}" if len(classes) else "there are no targets"
        raise ValueError(f"{found}; learning needs at least two classes")
    return classes, np.asarray(codes, np.int64)


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Pairs of classes, in the order of their SVMs.

    >>> pairs_of(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(n_classes), 2))


def fit_path(
    kernel: FloatArray, codes: IntArray, Cs: FloatArray, bounds: FloatArray | None = None
) -> list[PairwiseSVMs]:
    """Train on one treated kernel for every C of an increasing sequence; `bounds` multiply C row by row.

    >>> kernel = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> cheap, dear = fit_path(kernel, np.array([0, 0, 1]), np.array([0.1, 10.0]))
    >>> (dear.decide(kernel)[:, 0] > 0).tolist()
    [False, False, True]
    """
    pairs = pairs_of(int(codes.max()) + 1)
    bounds = np.ones(len(codes)) if bounds is None else bounds
    coefficients = np.zeros((len(Cs), len(pairs), len(codes)))
    intercepts = np.zeros((len(Cs), len(pairs)))
    for m, (a, b) in enumerate(pairs):
        members = np.flatnonzero((codes == a) | (codes == b))
        part = kernel if len(members) == len(codes) else kernel[np.ix_(members, members)]
        signs = np.where(codes[members] == b, 1.0, -1.0)
        path = svm_path(np.ascontiguousarray(part), signs, bounds[members], Cs, FIRST_VIOLATION, MAX_UPDATES)
        coefficients[:, m, members], intercepts[:, m] = path
    return [PairwiseSVMs(*svms) for svms in zip(coefficients, intercepts, strict=True)]


def vote(decisions: FloatArray, n_classes: int) -> FloatArray:
    """Votes per class from the decisions of all pairs; summed decisions, scaled below half a vote, break ties.

    >>> vote(np.array([[-1.0, -2.0, 0.5]]), 3).argmax(axis=1).tolist()
    [0]
    """
    votes = np.zeros((len(decisions), n_classes))
    confidences = np.zeros_like(votes)
    for m, (a, b) in enumerate(pairs_of(n_classes)):
        second = decisions[:, m] > 0
        votes[:, a] += ~second
        votes[:, b] += second
        confidences[:, a] -= decisions[:, m]
        confidences[:, b] += decisions[:, m]
    return np.asarray(votes + confidences / (3 * (np.abs(confidences) + 1)))


def winners(decisions: FloatArray) -> IntArray:
    """Codes of the predicted classes.

    >>> winners(np.array([[-1.0], [2.0]])).tolist()
    [0, 1]
    """
    n_svms = decisions.shape[1]
    if n_svms == 1:
        return (decisions[:, 0] > 0).astype(np.int64)
    n_classes = round((1 + (1 + 8 * n_svms) ** 0.5) / 2)
    return np.asarray(vote(decisions, n_classes).argmax(axis=1), dtype=np.int64)
