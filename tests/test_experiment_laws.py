"""Experiments: scores by their definitions, groups of ranks, splits, and what is predicted again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics

from gram_graphs import QUICK, random_graphs
from rwk.experiment import Grid, make_folds, nested_cv
from rwk.experiment.json_lines import append_line
from rwk.experiment.methods import RwkMethod
from rwk.experiment.predictions import save_predictions
from rwk.experiment.regression import mean_and_error, regression_scores
from rwk.experiment.regression_splits import scaffold_split
from rwk.experiment.run import RunOptions
from rwk.experiment.statistics import AverageRanks
from rwk.experiment.tables import Experiment
from rwk.experiment.timing import time_method
from rwk.learn.exact_gp import Prediction
from rwk.learn.search import Matrices
from rwk.parameters import Parameters
from score_records import score_of

RNG = np.random.default_rng(0)


def test_scores_of_values_by_their_definitions() -> None:
    targets, mean, variance = RNG.normal(3, 2, 40), RNG.normal(3, 2, 40), RNG.uniform(0.5, 4.0, 40)
    found = regression_scores(targets, Prediction(mean, variance))
    inside = np.abs(targets - mean) <= norm.ppf(0.975) * np.sqrt(variance)
    assert found == {
        "rmse": pytest.approx(metrics.root_mean_squared_error(targets, mean), abs=1e-6),
        "mae": pytest.approx(metrics.mean_absolute_error(targets, mean), abs=1e-6),
        "r2": pytest.approx(metrics.r2_score(targets, mean), abs=1e-6),
        "nlpd": pytest.approx(-norm(mean, np.sqrt(variance)).logpdf(targets).mean(), abs=1e-6),
        "coverage": pytest.approx(inside.mean(), abs=1e-6),
    }
    assert mean_and_error([1.0, 3.0]) == "2.000 ± 1.000"
    assert mean_and_error([1.5]) == "1.500 ± 0.000"


@pytest.mark.parametrize(
    ("ranks", "difference", "groups"),
    [
        ([1.0, 2.0, 3.0], 2.0, [("a", "b", "c")]),
        ([1.0, 2.0, 3.0], 1.5, [("a", "b"), ("b", "c")]),
        ([1.0, 2.0, 2.5], 1.2, [("a", "b"), ("b", "c")]),
        ([1.0, 3.0, 3.5], 1.0, [("b", "c")]),
        ([1.0, 3.0, 5.0], 1.0, []),
    ],
)
def test_groups_inside_groups_are_left_out(ranks: list[float], difference: float, groups: list[Any]) -> None:
    assert AverageRanks(("a", "b", "c"), np.array(ranks), 9, 0.0, 1.0, difference, 0.05).groups() == groups


@pytest.mark.parametrize(
    ("scaffolds", "test"),
    [("aaaaabbbcc", [8, 9]), ("aaaaabbbbc", [5, 6, 7, 8]), ("aaaaaaaaaa", []), ("aaaaaaaabb", [8, 9])],
)
def test_a_scaffold_that_just_fits_is_learned(scaffolds: str, test: list[int]) -> None:
    """Of ten molecules eight are learned, unless a scaffold would have to be cut."""
    split = scaffold_split(list(scaffolds))
    assert split.test.tolist() == test
    assert sorted([*split.train, *split.test]) == list(range(10))


def test_two_folds_have_a_spread_and_one_has_none() -> None:
    two = Experiment(tuple(score_of("D", "m", value, seed=0, fold=f) for f, value in enumerate((0.4, 0.6))))
    assert two.std_folds == pytest.approx(np.std([0.4, 0.6], ddof=1))
    assert np.isnan(Experiment(two.scores[:1]).std_folds)
    assert np.isnan(two.std_repeats)
    both = Experiment((*two.scores, replace(two.scores[0], seed=1), replace(two.scores[0], seed=1, fold=1)))
    assert both.std_repeats == pytest.approx(np.std([0.5, 0.4], ddof=1))
    assert (both.n_repeats, both.n_splits, both.n_missing) == (2, 2, 0)
    assert Experiment(both.scores[:3]).n_missing == 1


@pytest.mark.parametrize("per_class", [3, 6])
def test_two_training_graphs_of_each_class_are_enough_for_probabilities(per_class: int, tmp_path: Path) -> None:
    n = 2 * per_class
    targets = np.arange(n) % 2
    D = np.abs(np.subtract.outer(targets, targets)) + 0.1 * np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    folds = make_folds(targets, n_splits=3, n_repeats=2)
    grid = Grid(eta=(1.0,), C=(1.0,), n_inner=2)
    found = nested_cv({"line": D}, targets, folds=folds, grid=grid, verbose=False)
    save_predictions(tmp_path / "p.npz", Matrices({"line": D}, "discrepancy", grid), targets, folds, found.scores)
    with np.load(tmp_path / "p.npz") as file:
        first = [score for score in found.scores if score.seed == 0]
        assert (file["predicted"] == targets).sum() == sum(score.n_correct for score in first)
        np.testing.assert_allclose(file["probability"].sum(axis=1), 1.0)


def test_the_bar_of_a_matrix_counts_its_pairs() -> None:
    graphs = replace(random_graphs(9), name="NINE")
    shown: list[tuple[str, int]] = []
    ticks: list[int] = []

    @contextmanager
    def bar(title: str, total: int, unit: str = "pairs", *, done: int = 0) -> Iterator[Any]:
        shown.append((title, total))
        yield ticks.append

    method = RwkMethod("RWK", {"quick": Parameters(**QUICK)}, Grid())
    matrix = method.matrices({"": graphs}, RunOptions(bar=bar))["quick"]()
    assert matrix.shape == (9, 9)
    assert [total for _, total in shown] == [45]
    assert sum(ticks) == 45


@pytest.mark.parametrize("method", ["RWK", "WL"])
def test_times_are_those_of_the_work(method: str) -> None:
    found = time_method(random_graphs(6), method, Parameters(**QUICK), n_runs=2)
    assert (found.n_graphs, found.n_pairs, len(found.solve)) == (6, 21, 2)
    assert all(0 <= seconds < 60 for seconds in (*found.represent, *found.solve))


def test_old_records_are_converted_from_the_command_line(tmp_path: Path) -> None:
    old = '{"dataset":"D","method":"m","seed":0,"fold":0,"score":0.5,"n_correct":1,"n_train":8,"n_test":2,'
    old += '"majority":0.5,"chosen":{},"inner_score":null,"seconds":0.1,"protocol":{"folds":"f"},"versions":{}}\n'
    path = tmp_path / "D-m.jsonl"
    path.write_text(old)
    subprocess.run([sys.executable, "-m", "rwk.experiment.convert_records", str(tmp_path)], check=True)
    assert '"format":2' in path.read_text()


def test_a_torn_line_is_cut_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    append_line(path, {"a": "é"}, {})
    whole = path.read_bytes()
    assert "é".encode() in whole  # readable, not escaped
    for torn in (b"", b'{"a":', b"x" * 50):
        path.write_bytes(whole + torn)
        append_line(path, {"b": 2}, {})
        assert path.read_bytes() == whole + b'{"b":2}\n'
        path.write_bytes(whole)
