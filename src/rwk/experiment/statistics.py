"""Significance tests: of two methods on the folds of one dataset, and of many methods by their ranks over datasets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwk.experiment.records import Score


class PairedTest(NamedTuple):
    """The result of a test of two methods on the same folds."""

    difference: float  # mean score of the first minus that of the second
    statistic: float
    p_value: float  # two-sided
    n_folds: int


class AverageRanks(NamedTuple):
    """Mean ranks of methods over datasets (1 is best), and the tests of their differences."""

    methods: tuple[str, ...]  # from best to worst
    ranks: NDArray[np.float64]
    n_datasets: int
    statistic: float  # Friedman's chi-square
    p_value: float  # of the hypothesis that all methods are equally good
    critical_difference: float  # Nemenyi's: ranks that differ by less can't be told apart
    alpha: float

    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of two or more methods, next to each other in rank, that can't be told apart."""
        runs: list[tuple[int, int]] = []
        for start in range(len(self.ranks)):
            near = np.flatnonzero(self.ranks <= self.ranks[start] + self.critical_difference)
            end = int(near[-1])
            if end > start and (not runs or end > runs[-1][1]):
                runs.append((start, end))
        return [self.methods[a : b + 1] for a, b in runs]


def corrected_t_test(first: ArrayLike, second: ArrayLike, *, n_train: float, n_test: float) -> PairedTest:
    """Corrected resampled t-test (Nadeau and Bengio 2003) of the scores of two methods on the same folds.

    Folds share training graphs, so their scores are correlated and a plain t-test finds too many differences. With k
    folds, the variance of the mean is therefore taken as (1/k + n_test/n_train) times that of the differences.

    Parameters
    ----------
    first, second
        Scores of the two methods, one per fold, in the same order.
    n_train, n_test
        Number of graphs in a training and in a test fold.

    Returns
    -------
    PairedTest
        Mean of first − second, t statistic and two-sided p-value; p is 1 if all scores are equal.

    Examples
    --------
    >>> test = corrected_t_test([0.8, 0.9, 0.85, 0.95], [0.7, 0.8, 0.8, 0.8], n_train=90, n_test=10)
    >>> round(test.difference, 3), round(test.p_value, 3)
    (0.1, 0.027)
    """
    from scipy.stats import t

    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"scores of shapes {a.shape} and {b.shape} can't be paired; give one score per fold")
    k = len(a)
    if k < 2:
        raise ValueError(f"a test needs at least two folds, not {k}")
    if not (n_train > 0 and n_test > 0):
        raise ValueError(f"n_train={n_train} and n_test={n_test} must be positive")
    differences = a - b
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    if variance <= (1e-12 * max(1.0, abs(mean))) ** 2:
        if abs(mean) <= 1e-12:
            return PairedTest(mean, 0.0, 1.0, k)
        return PairedTest(mean, math.copysign(math.inf, mean), 0.0, k)
    statistic = mean / math.sqrt((1.0 / k + n_test / n_train) * variance)
    return PairedTest(mean, statistic, float(2.0 * t.sf(abs(statistic), k - 1)), k)


def compare_methods(scores: Iterable[Score], dataset: str, first: str, second: str) -> PairedTest:
    """The corrected t-test of two methods on a dataset, from records, on the folds that both have."""
    by_method: dict[str, dict[tuple[int, int, str], Score]] = {first: {}, second: {}}
    for score in scores:
        if score.dataset == dataset and score.method in by_method:
            folds = str(score.protocol.get("folds", ""))
            by_method[score.method][score.seed, score.fold, folds] = score
    shared = sorted(set(by_method[first]) & set(by_method[second]))
    if len(shared) < 2:
        raise ValueError(f"{first} and {second} share {len(shared)} folds of {dataset}; run both on the same folds")
    pairs = [(by_method[first][key], by_method[second][key]) for key in shared]
    return corrected_t_test(
        [one.score for one, _ in pairs],
        [other.score for _, other in pairs],
        n_train=float(np.mean([one.n_train for one, _ in pairs])),
        n_test=float(np.mean([one.n_test for one, _ in pairs])),
    )


def average_ranks(scores: Mapping[str, Mapping[str, float]], *, alpha: float = 0.05) -> AverageRanks:
    """Friedman's test and Nemenyi's critical difference (Demšar 2006) of accuracies by dataset and method.

    Parameters
    ----------
    scores
        `scores[dataset][method]` is an accuracy. Every dataset must have the same methods; see `complete_part`.
    alpha
        Level of Nemenyi's test.

    Returns
    -------
    AverageRanks
        Methods and mean ranks, best first; equal accuracies share the mean of their ranks.

    Examples
    --------
    >>> found = average_ranks({"a": {"x": 0.9, "y": 0.8, "z": 0.7}, "b": {"x": 0.9, "y": 0.7, "z": 0.8}})
    >>> found.methods, found.ranks.tolist(), round(found.critical_difference, 2)
    (('x', 'y', 'z'), [1.0, 2.5, 2.5], 2.34)
    """
    from scipy.stats import chi2, rankdata

    methods = sorted(set[str]().union(*(row for row in scores.values())))
    for dataset, row in scores.items():
        missing = [method for method in methods if method not in row or not math.isfinite(row[method])]
        if missing:
            raise ValueError(f"{dataset} has no score of {', '.join(missing)}; leave out the dataset or the methods")
    n, k = len(scores), len(methods)
    if n < 2 or k < 2:
        raise ValueError(f"ranks need at least two datasets and two methods, not {n} and {k}")
    table = np.array([[row[method] for method in methods] for row in scores.values()])
    each = rankdata(-table, axis=1)
    means = each.mean(axis=0)
    # Friedman's statistic, corrected for ties: the spread of rank sums over the spread inside datasets
    inside = float((each**2).sum() - n * k * (k + 1) ** 2 / 4)
    between = float(n * ((means - (k + 1) / 2) ** 2).sum())
    statistic = (k - 1) * n * between / inside if inside > 0 else 0.0
    order = np.argsort(means, kind="stable")
    return AverageRanks(
        methods=tuple(methods[i] for i in order),
        ranks=means[order],
        n_datasets=n,
        statistic=statistic,
        p_value=float(chi2.sf(statistic, k - 1)),
        critical_difference=critical_difference(k, n, alpha=alpha),
        alpha=alpha,
    )


def critical_difference(n_methods: int, n_datasets: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: average ranks that differ by less can't be told apart.

    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - alpha, n_methods, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_datasets))


def complete_part(scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The scores of the methods that every dataset has.

    >>> complete_part({"a": {"x": 0.9, "y": 0.8, "z": 0.7}, "b": {"x": 0.9, "z": 0.8}})
    {'a': {'x': 0.9, 'z': 0.7}, 'b': {'x': 0.9, 'z': 0.8}}
    """
    shared = set.intersection(*(set(row) for row in scores.values())) if scores else set()
    return {dataset: {name: row[name] for name in row if name in shared} for dataset, row in scores.items()}
