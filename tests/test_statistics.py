"""Tests of differences: values by hand, from scipy, and from the printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from rwk.experiment.records import Score
from rwk.experiment.statistics import (
    average_ranks,
    compare_methods,
    complete_part,
    corrected_t_test,
    critical_difference,
)
from score_records import score_of


def score(method: str, seed: int, fold: int, value: float, dataset: str = "MUTAG", folds: str = "f") -> Score:
    return score_of(dataset, method, value, seed=seed, fold=fold, protocol={"folds": folds})


def test_corrected_t_by_hand() -> None:
    # differences 1, 2, 3: mean 2, variance 1; (1/3 + 1/2) · 1 = 5/6
    found = corrected_t_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], n_train=2, n_test=1)
    assert found.statistic == pytest.approx(2 / math.sqrt(5 / 6))
    assert found.p_value == pytest.approx(2 * stats.t.sf(2 / math.sqrt(5 / 6), 2))
    assert (found.difference, found.n_folds) == (2.0, 3)


def test_without_correction_it_is_scipys_paired_test() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 12))
    found = corrected_t_test(a, b, n_train=1e12, n_test=1e-6)
    wanted = stats.ttest_rel(a, b)
    assert found.statistic == pytest.approx(wanted.statistic)
    assert found.p_value == pytest.approx(wanted.pvalue)


def test_the_correction_makes_it_less_sure() -> None:
    a, b = np.random.default_rng(1).random((2, 100)) + np.array([[0.1], [0.0]])
    assert corrected_t_test(a, b, n_train=90, n_test=10).p_value > stats.ttest_rel(a, b).pvalue


def test_order_of_methods_flips_the_sign() -> None:
    a, b = np.random.default_rng(2).random((2, 10))
    one, other = (corrected_t_test(*pair, n_train=9, n_test=1) for pair in ((a, b), (b, a)))
    assert one.statistic == -other.statistic
    assert one.p_value == other.p_value


def test_scores_all_alike() -> None:
    same = corrected_t_test([0.5, 0.6], [0.5, 0.6], n_train=9, n_test=1)
    assert (same.statistic, same.p_value) == (0.0, 1.0)
    always = corrected_t_test([0.6, 0.7], [0.5, 0.6], n_train=9, n_test=1)
    assert always.p_value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [([1.0], [1.0], "at least two folds"), ([1.0, 2.0], [1.0], "can't be paired"), ([[1.0]], [[1.0]], "paired")],
)
def test_what_can_not_be_tested(first: list[float], second: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        corrected_t_test(first, second, n_train=9, n_test=1)


def test_records_are_paired_by_fold() -> None:
    values = np.random.default_rng(3).random((2, 4))
    records = [score("A", 0, f, values[0, f]) for f in range(4)]
    records += [score("B", 0, f, values[1, f]) for f in reversed(range(4))]
    records += [score("A", 1, 0, 0.0), score("B", 9, 9, 1.0, dataset="PTC_MR"), score("B", 1, 0, 1.0, folds="others")]
    found = compare_methods(records, "MUTAG", "A", "B")
    assert found == corrected_t_test(values[0], values[1], n_train=90, n_test=10)
    with pytest.raises(ValueError, match="share 0 folds of MUTAG"):
        compare_methods(records, "MUTAG", "A", "C")


def test_friedman_is_scipys_with_ties() -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(0, 5, (9, 4)) / 4
    scores = {f"d{i}": dict(zip("abcd", row, strict=True)) for i, row in enumerate(table)}
    found = average_ranks(scores)
    wanted = stats.friedmanchisquare(*table.T)
    assert found.statistic == pytest.approx(wanted.statistic)
    assert found.p_value == pytest.approx(wanted.pvalue)
    assert found.ranks.sum() == pytest.approx(10)


def test_ranks_by_hand() -> None:
    found = average_ranks({"d1": {"a": 0.9, "b": 0.9, "c": 0.1}, "d2": {"a": 0.5, "b": 0.6, "c": 0.4}})
    assert found.methods == ("b", "a", "c")
    assert found.ranks.tolist() == [1.25, 1.75, 3.0]


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_of_printed_tables(k: int, q: float) -> None:
    # q at 5 % in Demšar (2006), table 5
    assert critical_difference(k, 14) == pytest.approx(q * math.sqrt(k * (k + 1) / (6 * 14)), rel=1e-3)


def test_groups_are_the_largest_runs_that_hang_together() -> None:
    scores = {f"d{i}": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for i in range(12)}
    found = average_ranks(scores)  # ranks 1, 2, 3, 4; critical difference 1.35
    assert found.groups() == [("a", "b"), ("b", "c"), ("c", "d")]
    many = average_ranks({f"{name}{i}": row for i in range(40) for name, row in scores.items()})
    assert many.groups() == []


def test_ranks_need_every_score() -> None:
    with pytest.raises(ValueError, match="d2 has no score of b"):
        average_ranks({"d1": {"a": 1.0, "b": 2.0}, "d2": {"a": 1.0}})
    with pytest.raises(ValueError, match="at least two datasets"):
        average_ranks({"d1": {"a": 1.0, "b": 2.0}})


def test_methods_that_every_dataset_has_are_kept() -> None:
    assert complete_part({"d1": {"a": 0.6, "b": 0.9}, "d2": {"a": 1.0}}) == {"d1": {"a": 0.6}, "d2": {"a": 1.0}}
    assert complete_part({}) == {}


def test_the_picture_shows_every_method_and_takes_axes() -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="matplotlib is not installed (extra: plot)")
    from rwk.report import plot_ranks

    rng = np.random.default_rng(5)
    names = ["RWK", "WL", "WWL", "FGW", "GIN"]
    found = average_ranks({f"d{i}": dict(zip(names, rng.random(5), strict=True)) for i in range(6)})
    ax = figure.Figure().subplots()
    assert plot_ranks(found, ax=ax) is ax
    texts = " ".join(text.get_text() for text in ax.texts)
    assert all(name in texts for name in names)
    assert plot_ranks(found) is not ax
