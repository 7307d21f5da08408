"""Scores of candidates on the inner folds of one training fold, and which score is the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rwk.learn.one_vs_one import PairwiseSVMs, winners
from rwk.runtime.arrays import FloatArray, IntArray

Splits = list[tuple[IntArray, IntArray]]  # training and validation rows of each inner fold


def inner_splits(codes: IntArray, *, n_inner: int, repeats: int, seed: int) -> Splits:
    """The inner stratified folds of one training fold, the same for every candidate and every method."""
    n_inner = min(n_inner, int(np.bincount(codes).min()))
    if n_inner < 2:
        raise ValueError("a class has a single graph in a training fold, too few for inner folds; use fewer folds")
    splits: Splits = []
    for repeat in range(repeats):
        folds = StratifiedKFold(n_inner, shuffle=True, random_state=1000 * seed + repeat)
        splits += list(folds.split(codes, codes))
    return splits


def n_validated(splits: Splits) -> int:
    """Number of validation graphs of all inner folds."""
    return sum(len(validation) for _, validation in splits)


def count_right(
    kernel: FloatArray,
    codes: IntArray,
    splits: Splits,
    fit: Callable[[FloatArray, IntArray], Iterable[PairwiseSVMs]],
) -> FloatArray:
    """Number of validation graphs predicted correctly, summed over inner folds, for each SVM that `fit` yields."""
    counts = []
    for train, validation in splits:
        rows = kernel[np.ix_(validation, train)]
        fitted = fit(kernel[np.ix_(train, train)], codes[train])
        counts.append([int((winners(svms.decide(rows)) == codes[validation]).sum()) for svms in fitted])
    return np.asarray(np.sum(counts, axis=0, dtype=np.float64))


def best_of(right: FloatArray) -> tuple[int, int, int, int]:
    """Index of the best count by (setting, treatment, η, C), with ties broken as `search` says.

    >>> plateau = np.array([1.0, 3.0, 3.0, 3.0, 1.0]).reshape(1, 1, 1, 5)
    >>> best_of(plateau)
    (0, 0, 0, 2)
    """
    tied = np.argwhere(right == right.max())

    def rank(at: IntArray) -> tuple[float, int, int, int, int]:
        s, t, e, c = (int(i) for i in at)
        around = right[s, t, max(e - 1, 0) : e + 2, max(c - 1, 0) : c + 2]
        return -float(around.mean()), c, e, t, s

    s, t, e, c = min(tied, key=rank)
    return int(s), int(t), int(e), int(c)
