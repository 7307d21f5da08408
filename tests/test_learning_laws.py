"""Laws of the learners' parts: what a change of unit does, what sums to what, and formulas written again plainly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from rwk import RWKGaussianProcess, RWKRegressor, as_graphs
from rwk.experiment import Grid, make_folds, nested_cv
from rwk.experiment import regress_run as regressing
from rwk.experiment.folds import fingerprint_of
from rwk.experiment.regress_run import calibration
from rwk.experiment.statistics import corrected_t_test
from rwk.learn.count_kernels import min_max_kernel
from rwk.learn.exact_gp import Block, GpOptions, Prediction, fit_gp, sample
from rwk.learn.landmark_gp import _condition, fit_landmark_gp
from rwk.learn.likelihood import total_kernel, treated_kernel
from rwk.learn.platt import couple, fit_sigmoids
from rwk.learn.search import LARGE_FOLD
from rwk.learn.smo import Program, _polished, duality_gap
from rwk.learn.svc_checks import check_square
from rwk.learn.target_checks import checked_targets
from rwk.learn.term_sources import TermSources
from rwk.learn.treatment import diagonal_scale, negative_part

FAST = {"one": {"max_iter": 2, "sinkhorn_iter": 4, "backend": "cpu", "n_jobs": 1}}
RNG = np.random.default_rng(0)


def trees(n: int) -> tuple[Any, np.ndarray]:
    """Labelled trees, and their numbers of leaves."""
    graphs = [nx.random_labeled_tree(int(RNG.integers(4, 9)), seed=i) for i in range(n)]
    for i, graph in enumerate(graphs):
        nx.set_node_attributes(graph, {node: int(node) % 2 + i % 2 for node in graph}, "label")
    return as_graphs(graphs), np.array([sum(d == 1 for _, d in g.degree()) for g in graphs], float)


# ---------------------------------------------------------------- classes and their probabilities


@pytest.mark.parametrize("shares", [[0.2, 0.3, 0.5], [0.7, 0.1, 0.1, 0.1], [0.05, 0.15, 0.2, 0.25, 0.35]])
def test_probabilities_of_pairs_give_back_those_of_classes(shares: list[float]) -> None:
    pairs = list(combinations(range(len(shares)), 2))
    second = np.array([[shares[b] / (shares[a] + shares[b]) for a, b in pairs]] * 2)
    np.testing.assert_allclose(couple(second, len(shares)), [shares] * 2, atol=1e-12)


@pytest.mark.parametrize(("n_first", "n_second"), [(1, 1), (1, 6), (6, 1)])
def test_sigmoids_of_few_graphs_meet_their_targets(n_first: int, n_second: int) -> None:
    decisions, codes = np.r_[-np.ones(n_first), np.ones(n_second)][:, None], np.r_[np.zeros(n_first), np.ones(n_second)]
    slope, offset = fit_sigmoids(decisions, codes.astype(np.int64))[0]
    found = 1 / (1 + np.exp(-np.array([offset - slope, offset + slope])))
    np.testing.assert_allclose(found, [1 / (n_first + 2), (n_second + 1) / (n_second + 2)], atol=1e-4)


def test_a_nearly_symmetric_kernel_is_averaged() -> None:
    kernel = np.array([[2.0, 1.0], [1.0 + 1e-7, 3.0]])
    np.testing.assert_allclose(check_square(kernel), [[2.0, 1.0 + 0.5e-7], [1.0 + 0.5e-7, 3.0]], rtol=1e-14)
    for wrong, words in ((np.ones((2, 3)), "square"), (np.array([[2.0, 1.0], [1.1, 3.0]]), "not symmetric")):
        with pytest.raises(ValueError, match=words):
            check_square(wrong)


def test_a_diagonal_without_a_positive_mean_is_no_unit() -> None:
    assert diagonal_scale(np.array([1.0, 5.0])) == 3.0
    assert diagonal_scale(np.zeros(3)) == diagonal_scale(np.array([-1.0, -2.0])) == 1.0
    assert diagonal_scale(np.full(4, 1e308)) == pytest.approx(1e308)


def test_the_negative_part_is_that_of_the_spectrum() -> None:
    vectors = np.linalg.qr(RNG.normal(size=(6, 6)))[0]
    kernel = (vectors * [-2.0, -0.5, 0.0, 1.0, 2.0, 3.0]) @ vectors.T
    values, found = negative_part(0.5 * (kernel + kernel.T))
    np.testing.assert_allclose(values, [-2.0, -0.5], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.T @ vectors[:, :2]), np.eye(2), atol=1e-7)
    shifted = treated_kernel(0.5 * (kernel + kernel.T), "shift")
    np.testing.assert_allclose(np.linalg.eigvalsh(shifted.kernel), [0.0, 1.5, 2.0, 3.0, 4.0, 5.0], atol=1e-12)
    assert shifted.negative_share == pytest.approx(2.5 / 8.5)


def test_polishing_stays_feasible_and_never_makes_the_gap_larger() -> None:
    """Unbounded variables move together until one meets its bound; their sum does not change."""
    moved = 0
    for seed in range(60):
        draw = np.random.default_rng(seed)
        rows, signs = draw.normal(size=(8, 5)), np.where(np.arange(8) % 2, 1.0, -1.0)
        program = Program.svm(rows @ rows.T + 0.1 * np.eye(8), signs, np.full(8, 0.5))
        v = signs * draw.uniform(0.0, 0.5, 8)
        v[signs > 0] *= -v[signs < 0].sum() / v[signs > 0].sum()
        v *= min(1.0, 0.499 / np.abs(v).max())
        residual = program.linear - program.kernel @ v
        before = duality_gap(program, v, residual)
        after, left, gap = _polished(program, v, residual, before)
        assert gap <= before
        assert abs(after.sum()) < 1e-12
        assert ((after >= program.lower) & (after <= program.upper)).all()
        np.testing.assert_allclose(left, program.linear - program.kernel @ after, atol=1e-12)
        moved += gap < before
    assert moved > 30


def test_the_usual_grid_is_the_one_of_the_documentation() -> None:
    grid = Grid()
    assert tuple(grid.C) == tuple(10.0**k for k in range(-2, 4))
    assert tuple(grid.eta) == (0.125, 0.5, 1.0, 2.0, 8.0)
    assert (grid.n_inner, grid.inner_repeats, tuple(grid.spread)) == (5, 1, (1.0,))


@pytest.mark.parametrize(
    ("inner", "small", "large"), [("treated", True, True), ("raw", False, False), ("auto", True, False)]
)
def test_which_inner_folds_are_treated(inner: Any, small: bool, large: bool) -> None:
    grid = Grid(inner=inner)
    assert (grid.searches_treated(LARGE_FOLD), grid.searches_treated(LARGE_FOLD + 1)) == (small, large)


def test_a_positive_kernel_has_no_negative_share() -> None:
    assert treated_kernel(np.eye(3), "clip").negative_share == 0.0


# ---------------------------------------------------------------- kernels on counts


@pytest.mark.parametrize("rows", [1, 64, 65, 130])
def test_min_max_by_its_definition(rows: int) -> None:
    first, second = RNG.integers(0, 4, (rows, 7)).astype(float), RNG.integers(0, 4, (5, 7)).astype(float)
    first[:, 2] = second[:, 3] = first[:, 4] = second[:, 4] = 0.0  # unused in one of them, and in both
    first[0], second[0] = 0.0, 0.0
    wanted = np.ones((rows, 5))
    for i, j in np.ndindex(rows, 5):
        largest = np.maximum(first[i], second[j]).sum()
        wanted[i, j] = np.minimum(first[i], second[j]).sum() / largest if largest else 1.0
    np.testing.assert_allclose(min_max_kernel(first, second), wanted)
    assert min_max_kernel(np.zeros((2, 3)), np.zeros((1, 3))).tolist() == [[1.0], [1.0]]


# ---------------------------------------------------------------- values and their error bars


def test_a_linear_model_is_conditioned_as_a_normal_distribution() -> None:
    features, noise, targets = RNG.normal(size=(12, 4)), RNG.uniform(0.1, 0.5, 12), RNG.normal(size=12)
    value, coefficients, factor = _condition(features, targets, noise)
    covariance = features @ features.T + np.diag(noise)
    assert value == pytest.approx(multivariate_normal(np.zeros(12), covariance).logpdf(targets))
    np.testing.assert_allclose(coefficients, features.T @ np.linalg.solve(covariance, targets))
    np.testing.assert_allclose(factor @ factor.T, features.T @ (features / noise[:, None]) + np.eye(4))
    np.testing.assert_array_equal(factor, np.tril(factor))


def test_landmarks_predict_as_a_linear_model_and_add_what_they_do_not_explain() -> None:
    """k(x, x) - |f|^2 + f (F' F / noise + I)^-1 f' + noise, with f and F the features of new and training graphs."""
    places, new = np.sort(RNG.uniform(0, 4, 15)), np.array([0.3, 2.2, 9.0])
    landmarks = np.arange(0, 15, 3)

    def apart(a: np.ndarray, b: np.ndarray) -> dict[str, Block]:
        return {"RW": Block(np.abs(a[:, None] - b[None, :]), True)}

    square, rows = apart(places[landmarks], places[landmarks]), apart(places, places[landmarks])
    targets = np.sin(places) + 0.1 * RNG.normal(size=15)
    model = fit_landmark_gp(square, rows, landmarks, targets, 0.0, GpOptions())
    own = {"RW": Block(np.zeros(3), True)}
    found = model.predict(apart(new, places[landmarks]), own, apart(new, new))

    def features(blocks: dict[str, Block]) -> np.ndarray:
        return total_kernel(model.exact.terms(blocks), model.exact.chosen) @ model.map

    F, f = features(rows), features(apart(new, places[landmarks]))
    inverse = np.linalg.inv(F.T @ F / model.noise + np.eye(F.shape[1]))
    prior = total_kernel(model.exact.terms(apart(new, new)), model.exact.chosen)
    covariance = prior - f @ f.T + f @ inverse @ f.T
    variance = np.maximum(np.diag(prior) - (f**2).sum(axis=1), 0) + np.diag(f @ inverse @ f.T) + model.noise
    np.fill_diagonal(covariance, variance)
    scaled = (targets - targets.mean()) / targets.std()
    np.testing.assert_allclose(found.mean, targets.mean() + targets.std() * f @ inverse @ F.T @ scaled / model.noise)
    np.testing.assert_allclose(found.variance, targets.var() * variance)
    np.testing.assert_allclose(found.covariance, targets.var() * covariance, atol=1e-12)
    assert found.variance[2] > found.variance[1]  # far from all graphs


@pytest.mark.parametrize("method", ["exact", "landmarks", "features"])
def test_units_of_the_targets_change_nothing_but_units(method: str) -> None:
    graphs, values = trees(24)
    new, _ = trees(5)

    def fitted(targets: np.ndarray) -> Any:
        process = RWKGaussianProcess(settings=FAST, method=method, n_landmarks=10, extensive=False, n_starts=1)
        return process.fit(graphs, targets)

    one, other = fitted(values), fitted(5.0 * values - 7.0)
    mean, spread = one.predict(new, return_cov=True)
    scaled_mean, scaled_spread = other.predict(new, return_cov=True)
    np.testing.assert_allclose(scaled_mean, 5.0 * mean - 7.0, rtol=1e-6)
    np.testing.assert_allclose(scaled_spread, 25.0 * spread, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(other.predict(new, return_std=True)[1] ** 2, np.diag(scaled_spread), rtol=1e-9)
    lower = one.model_.log_marginal_likelihood(values) - 24 * np.log(5.0)
    assert other.model_.log_marginal_likelihood(5.0 * values - 7.0) == pytest.approx(lower, rel=1e-6)
    np.testing.assert_allclose(spread, spread.T, rtol=1e-9)


def test_draws_of_a_singular_covariance_lie_where_it_allows() -> None:
    covariance = np.ones((2, 2))  # both values are the same
    draws = sample(Prediction(np.array([1.0, 3.0]), np.ones(2), covariance), 4000, seed=0)
    np.testing.assert_allclose(draws[1] - draws[0], 2.0, atol=1e-7)
    assert draws[0].mean() == pytest.approx(1.0, abs=0.05)
    assert draws[0].std() == pytest.approx(1.0, abs=0.05)


def test_the_regressor_reports_the_negative_share_of_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of discrepancies that are no distances at all."""
    graphs, values = trees(16)
    apart = RNG.random((16, 16)) * (1 - np.eye(16))
    apart = apart + apart.T
    monkeypatch.setattr(TermSources, "training", lambda *_: {"one": Block(apart, True)})
    model = RWKRegressor(grid=FAST, eta=1.0, ridge=0.1).fit(graphs, values)
    own = np.linalg.eigvalsh(np.exp(-apart / apart.mean()))
    assert model.negative_share_ == pytest.approx(-own[own < 0].sum() / np.abs(own).sum())
    assert model.negative_share_ > 0.01


@pytest.mark.parametrize(("n", "enough"), [(2, False), (3, True)])
def test_three_graphs_are_enough_to_learn_from(n: int, enough: bool) -> None:
    graphs = as_graphs([nx.path_graph(3 + i) for i in range(n)])
    if enough:
        assert checked_targets(graphs, np.arange(n)).tolist() == list(range(n))
    else:
        with pytest.raises(ValueError, match="too few to learn from; give at least 3"):
            checked_targets(graphs, np.arange(n))


def test_nearly_equal_targets_are_equal_in_their_own_size() -> None:
    graphs = as_graphs([nx.path_graph(3)] * 3)
    for values, fine in (
        ([0.0, 0.0, 1.5e-12], True),
        ([0.0, 0.0, 1e-12], False),
        ([0.0, 0.0, 0.9e-12], False),
        ([1e6, 1e6, 1e6 + 2e-6], True),
    ):
        if fine:
            checked_targets(graphs, values)
        else:
            with pytest.raises(ValueError, match="nothing to learn"):
                checked_targets(graphs, values)
    with pytest.raises(ValueError, match="nothing to learn"):
        checked_targets(graphs, [1e9, 1e9, 1e9 + 1e-4])


# ---------------------------------------------------------------- experiments


def test_the_share_inside_an_interval_is_counted() -> None:
    """Targets at every percentile of the predicted distribution: a level of p covers the share p."""
    places = norm.ppf((np.arange(2000) + 0.5) / 2000)
    found = Prediction(np.full(2000, 3.0), np.full(2000, 4.0))
    np.testing.assert_allclose(calibration(3.0 + 2.0 * places, found), regressing.LEVELS, atol=1e-3)


def test_outliers_are_those_with_the_largest_surprise() -> None:
    n = regressing.N_OUTLIERS + 4
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    variance, error = RNG.uniform(0.5, 2.0, n), RNG.normal(size=n)
    targets, mean = RNG.normal(size=n), np.zeros(n)
    mean[:] = targets - error
    blocks = {"a": Block(apart, True), "b": Block(2.0 * apart, True), "kernel": Block(np.eye(n), False)}
    found = regressing._outliers(blocks, targets, Prediction(mean, variance))
    surprise = error / np.sqrt(variance)
    order = np.argsort(-np.abs(surprise))
    assert len(found) == regressing.N_OUTLIERS == 10
    for outlier, number in zip(found, order, strict=False):
        number_, value, nearest = outlier
        assert (number_, value) == (number, pytest.approx(surprise[number]))
        assert number not in nearest
        assert [abs(int(number) - other) for other in nearest] == sorted(abs(int(number) - other) for other in nearest)
        assert abs(int(number) - nearest[0]) == 1


def test_fingerprints_of_classes_have_twelve_digits() -> None:
    first, other = fingerprint_of(np.array([0, 1, 1])), fingerprint_of(np.array([0, 1, 0]))
    assert len(first) == len(other) == 12
    assert first != other
    int(first, 16)


@pytest.mark.parametrize(("n_train", "n_test"), [(0, 1), (1, 0), (-1, 1)])
def test_a_test_needs_graphs_on_both_sides(n_train: int, n_test: int) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        corrected_t_test([0.1, 0.2], [0.2, 0.2], n_train=n_train, n_test=n_test)
    always = corrected_t_test([0.5, 0.5], [0.25, 0.25], n_train=1, n_test=1)
    assert (always.statistic, always.p_value) == (np.inf, 0.0)
    assert corrected_t_test([0.25, 0.25], [0.5, 0.5], n_train=1, n_test=1).statistic == -np.inf


@pytest.mark.parametrize("kept", [0, 3])
def test_progress_counts_every_fold_once(kept: int, tmp_path: Path) -> None:
    """A run that goes on begins at the folds that it has."""
    targets = np.arange(20) % 2
    folds = make_folds(targets, n_splits=5, n_repeats=2)
    records, left, ticks = tmp_path / "records.jsonl", [kept], list[int]()
    shown: list[tuple[str, int, str, int]] = []

    @contextmanager
    def bar(title: str, total: int, unit: str = "pairs", *, done: int = 0) -> Iterator[Any]:
        shown.append((title, total, unit, done))
        yield ticks.append

    def guess(train: Any, test: Any, seed: int) -> Any:
        if left == [0] and not shown:
            raise KeyboardInterrupt
        left[0] -= 1
        return targets[test]

    if kept:
        with pytest.raises(KeyboardInterrupt):
            nested_cv(guess, targets, folds=folds, records=records, verbose=False)
    found = nested_cv(guess, targets, folds=folds, records=records, verbose=bar)
    assert shown == [("rwk on data", 10, "folds", kept)]
    assert ticks == [1] * (10 - kept)
    assert {score.score for score in found.scores} == {1.0}
    assert {score.majority for score in found.scores} == {0.5}
    assert [(s.n_train, s.n_test, s.n_correct) for s in found.scores] == [(16, 4, 4)] * 10


def test_rows_of_the_training_graphs_are_those_of_the_treated_kernel() -> None:
    """New graphs are projected off the eigenvectors whose eigenvalues were clipped, as training graphs were."""
    draw = np.random.default_rng(3)
    matrix = draw.normal(size=(20, 20))
    blocks = {"one": Block(matrix + matrix.T, False)}
    fitted = fit_gp(blocks, draw.normal(size=20), 0.0, GpOptions())
    kernel = total_kernel(fitted.terms(blocks), fitted.chosen)
    values, vectors = np.linalg.eigh(kernel)
    assert values[0] < -0.1 * values[-1]
    np.testing.assert_allclose(fitted.rows(blocks), (vectors * np.maximum(values, 0.0)) @ vectors.T, atol=1e-10)
