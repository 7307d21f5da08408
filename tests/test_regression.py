"""RWKRegressor and RWKGaussianProcess: scikit-learn's conventions with graphs as input, and error bars that hold."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline

from rwk import RWKernel, RWKGaussianProcess, RWKRegressor, as_graphs
from rwk.learn import exact_gp
from rwk.learn.exact_gp import Block, GpOptions, blocks_of, fit_gp, own_of, rescaled
from rwk.learn.likelihood import Hyperparameters, Term, leave_one_out, total_kernel, treated_kernel

FAST = {"max_iter": 3, "sinkhorn_iter": 5, "debias": True}
ONE = {"one": FAST}
TWO = {"one": FAST, "deep": {**FAST, "wl_rounds": 1, "beta_global": 1.0}}


def rings_with_tails(n: int, seed: int = 0):
    """Graphs whose value is the number of leaves, with labels that say which nodes are leaves."""
    draw = np.random.default_rng(seed)
    graphs, values = [], []
    for _ in range(n):
        ring = nx.cycle_graph(int(draw.integers(3, 7)))
        tails = int(draw.integers(0, 5))
        for tail in range(tails):
            ring.add_edge(int(draw.integers(0, 3)), f"leaf{tail}")
        nx.set_node_attributes(ring, {node: "leaf" if isinstance(node, str) else "ring" for node in ring}, "label")
        graphs.append(ring)
        values.append(float(tails))
    return as_graphs(graphs), np.array(values)


@pytest.fixture(scope="module")
def data():
    return rings_with_tails(48)


@pytest.fixture(scope="module")
def process(data):
    graphs, values = data
    return RWKGaussianProcess(settings=TWO, extensive=False).fit(graphs[:36], values[:36])


# --- the Gaussian process


def test_predictions_are_better_than_the_mean_and_covered(process, data):
    graphs, values = data
    mean, std = process.predict(graphs[36:], return_std=True)
    rmse = np.sqrt(np.mean((mean - values[36:]) ** 2))
    assert rmse < 0.5 * values[36:].std()
    assert (std > 0).all()
    assert (np.abs(mean - values[36:]) < 3 * std).mean() >= 0.8


def test_the_covariance_has_the_variances_on_its_diagonal(process, data):
    graphs, _ = data
    mean, std = process.predict(graphs[36:], return_std=True)
    again, covariance = process.predict(graphs[36:], return_cov=True)
    np.testing.assert_allclose(again, mean)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std)
    np.testing.assert_allclose(covariance, covariance.T)


def test_draws_have_the_mean_and_the_spread_of_the_prediction(process, data):
    graphs, _ = data
    mean, std = process.predict(graphs[36:42], return_std=True)
    draws = process.sample_y(graphs[36:42], n_samples=4000, random_state=1)
    assert draws.shape == (6, 4000)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=4 * std.max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1)


def test_predictions_follow_the_textbook(data):
    """With one term, and the hyperparameters that were chosen (Rasmussen and Williams 2006, equation 2.23)."""
    graphs, values = data
    ours = RWKGaussianProcess(settings=ONE, extensive=False).fit(graphs[:30], values[:30])
    chosen, unit = ours.model_.chosen, ours.model_.units[0]
    kernel = RWKernel(**FAST, eta=chosen.etas[0] / unit)
    training, rows = kernel.fit_transform(graphs[:30]), kernel.transform(graphs[30:])
    assert np.linalg.eigvalsh(training)[0] > -1e-12  # nothing is clipped; some graphs are equal
    scaled = (values[:30] - values[:30].mean()) / values[:30].std()
    covariance = chosen.weights[0] * training + (chosen.noise + 1e-9) * np.eye(30)
    solved = np.linalg.solve(covariance, scaled)
    mean, std = ours.predict(graphs[30:], return_std=True)
    expected = values[:30].mean() + values[:30].std() * chosen.weights[0] * rows @ solved
    np.testing.assert_allclose(mean, expected, rtol=1e-6)
    prior = chosen.weights[0] + chosen.noise
    explained = chosen.weights[0] ** 2 * np.einsum("ij,ji->i", rows, np.linalg.solve(covariance, rows.T))
    np.testing.assert_allclose(std, values[:30].std() * np.sqrt(prior - explained), rtol=1e-6)


def test_the_likelihood_is_that_of_the_targets(process, data):
    _, values = data
    model = process.model_
    blocks = process.sources_.training()
    covariance = model.target_std**2 * (
        sum(
            w * np.exp(-eta * block.matrix / unit)
            for w, eta, unit, block in zip(
                model.chosen.weights, model.chosen.etas, model.units, blocks.values(), strict=True
            )
        )
        + (model.chosen.noise + 1e-9) * np.eye(36)
    )
    residual = values[:36] - values[:36].mean()
    _, determinant = np.linalg.slogdet(covariance)
    expected = -0.5 * (residual @ np.linalg.solve(covariance, residual) + determinant + 36 * np.log(2 * np.pi))
    assert process.log_marginal_likelihood() == pytest.approx(expected, rel=1e-4)


def test_leaving_out_is_predicting_without(data):
    graphs, values = data
    matrix = RWKernel(**FAST).fit(graphs[:20]).discrepancy()
    blocks = {"one": Block(matrix, True)}
    model = fit_gp(blocks, values[:20], 0.0, GpOptions())
    left = model.left_out(values[:20])
    kernel = model.chosen.weights[0] * np.exp(-model.chosen.etas[0] * matrix / model.units[0])
    covariance = kernel + (model.chosen.noise + 1e-9) * np.eye(20)
    others = np.arange(1, 20)
    scaled = (values[:20] - model.target_mean) / model.target_std
    expected = kernel[0, others] @ np.linalg.solve(covariance[np.ix_(others, others)], scaled[others])
    assert left.mean[0] == pytest.approx(model.target_mean + model.target_std * expected, rel=1e-5)


def test_one_matrix_serves_every_fold(data):
    """A block of the whole matrix gives what a fit on the block alone gives."""
    graphs, values = data
    matrix = RWKernel(**FAST).fit(graphs).discrepancy()
    whole = {"one": Block(matrix, True)}
    train, test = np.arange(0, 40), np.arange(40, 48)
    model = fit_gp(blocks_of(whole, train, train), values[train], 0.0, GpOptions())
    found = model.predict(blocks_of(whole, test, train), own_of(whole, test))
    alone = fit_gp({"one": Block(matrix[:40, :40].copy(), True)}, values[:40], 0.0, GpOptions())
    again = alone.predict({"one": Block(matrix[40:, :40], True)}, {"one": Block(np.zeros(8), True)})
    np.testing.assert_allclose(found.mean, again.mean)
    np.testing.assert_allclose(found.variance, again.variance)


def test_given_matrices_are_not_computed_again(data, monkeypatch):
    graphs, values = data
    matrix = RWKernel(**FAST).fit(graphs[:20]).discrepancy()
    expected = RWKGaussianProcess(settings=ONE, extensive=False).fit(graphs[:20], values[:20]).predict(graphs[20:24])
    monkeypatch.setattr(RWKernel, "discrepancy", _only_rows(RWKernel.discrepancy))
    given = RWKGaussianProcess(settings=ONE, extensive=False).fit(
        graphs[:20], values[:20], discrepancies={"one": matrix}
    )
    np.testing.assert_allclose(given.predict(graphs[20:24]), expected)
    with pytest.raises(ValueError, match="no setting 'other'"):
        RWKGaussianProcess(settings=ONE, extensive=False).fit(
            graphs[:20], values[:20], discrepancies={"one": matrix, "other": matrix}
        )
    with pytest.raises(ValueError, match=r"has shape \(5, 5\)"):
        RWKGaussianProcess(settings=ONE, extensive=False).fit(
            graphs[:20], values[:20], discrepancies={"one": matrix[:5, :5]}
        )


@pytest.mark.parametrize("kind", [RWKGaussianProcess, RWKRegressor])
def test_a_fit_with_a_store_goes_on_there(data, tmp_path, monkeypatch, kind):
    pytest.importorskip("zarr", reason="stores are in the extra 'distributed'")
    graphs, values = data
    options = {"settings": ONE} if kind is RWKGaussianProcess else {"grid": ONE}
    expected = kind(**options).fit(graphs[:20], values[:20]).predict(graphs[20:24])
    first = kind(**options).fit(graphs[:20], values[:20], store=tmp_path / "store", executor="threads")
    np.testing.assert_allclose(first.predict(graphs[20:24]), expected, rtol=1e-6)
    for module in ("executors", "matrix"):
        monkeypatch.setattr(f"rwk.gram.{module}.solve_pairs", lambda *given, **named: pytest.fail("a pair was solved"))
    again = kind(**options).fit(graphs[:20], values[:20], store=tmp_path / "store")
    monkeypatch.undo()
    np.testing.assert_array_equal(again.predict(graphs[20:24]), first.predict(graphs[20:24]))


def _only_rows(original):
    def discrepancy(self, X=None, **keywords):
        assert X is not None, "a square matrix was computed"
        return original(self, X, **keywords)

    return discrepancy


def test_known_variances_pull_less(data):
    """A measurement with a large known variance hardly moves the predictions."""
    graphs, values = data
    wrong = values[:30].copy()
    wrong[4] += 50.0
    alpha = np.zeros(30)
    alpha[4] = 1e4
    told = RWKGaussianProcess(settings=ONE, extensive=False, alpha=alpha).fit(graphs[:30], wrong)
    untold = RWKGaussianProcess(settings=ONE, extensive=False).fit(graphs[:30], wrong)
    error, worse = (np.abs(model.predict(graphs[30:]) - values[30:]).mean() for model in (told, untold))
    assert error < 0.6 * worse


def test_leave_one_out_criterion_and_shift_learn_too(data):
    graphs, values = data
    for options in ({"criterion": "leave-one-out"}, {"treatment": "shift"}):
        model = RWKGaussianProcess(settings=ONE, **options).fit(graphs[:36], values[:36])
        assert model.score(graphs[36:], values[36:]) > 0.6


def test_an_indefinite_kernel_is_treated_and_reported(data):
    graphs, values = data
    matrix = RWKernel(**FAST).fit(graphs[:30]).discrepancy()
    draw = np.random.default_rng(0).normal(size=(30, 30)) * 0.2 * matrix.mean()
    rough = matrix + draw + draw.T
    np.fill_diagonal(rough, 0.0)
    model = RWKGaussianProcess(settings=ONE, extensive=False).fit(
        graphs[:30], values[:30], discrepancies={"one": rough}
    )
    assert model.negative_share_ > 0
    assert (model.predict(graphs[30:], return_std=True)[1] > 0).all()


def test_extensive_values_need_the_composition():
    """Rings of one kind of node have nearly the same shares of everything, whatever their size."""
    graphs = as_graphs([nx.cycle_graph(n) for n in range(3, 27)])
    values = graphs.sizes.astype(float)
    train, test = np.arange(0, 24, 2), np.arange(1, 24, 2)
    model = RWKGaussianProcess(settings=ONE, extensive=True).fit(graphs[train], values[train])
    assert np.abs(model.predict(graphs[test]) - values[test]).max() < 1.0


# --- for many graphs


def noisy_curve(n=240):
    """Discrepancies of places on a line, and values there with a noise of half their spread."""
    draw = np.random.default_rng(0)
    places = draw.uniform(0, 6, n)
    values = np.sin(3 * places) + 0.4 * draw.normal(size=n)
    return {"RW": Block(np.abs(places[:, None] - places[None, :]), True)}, values


def test_amplitude_and_noise_of_all_graphs_maximise_the_leave_one_out_density():
    blocks, values = noisy_curve()
    scaled, term = (values - values.mean()) / values.std(), Term(blocks["RW"].matrix, True)
    rough = Hyperparameters((0.3,), (1.0,), 0.003)
    found, amplitude = rescaled(rough, treated_kernel(total_kernel([term], rough), "clip"), scaled)
    assert found.weights[0] == pytest.approx(amplitude * 0.3)

    def density(weight, noise):
        covariance = weight * term.kernel(1.0) + noise * np.eye(len(values))
        return leave_one_out(covariance, scaled).value

    best = density(found.weights[0], found.noise)
    assert best > density(0.3, 0.003) + 100
    for up in (0.9, 1.1):
        assert best > density(up * found.weights[0], found.noise)
        assert best > density(found.weights[0], up * found.noise)


def test_a_part_that_chooses_does_not_choose_the_noise(monkeypatch):
    """Weights and η come from ten graphs here; error bars are right all the same."""
    monkeypatch.setattr(exact_gp, "FIRST_GRAPHS", 10)
    monkeypatch.setattr(exact_gp, "MOST_GRAPHS", 10)
    blocks, values = noisy_curve()
    train, test = np.arange(0, 160), np.arange(160, 240)
    model = fit_gp(blocks_of(blocks, train, train), values[train], 0.0, GpOptions())
    found = model.predict(blocks_of(blocks, test, train), own_of(blocks, test))
    inside = np.abs(found.mean - values[test]) <= 1.96 * np.sqrt(found.variance)
    assert 0.88 <= inside.mean() <= 1.0
    assert model.chosen.noise * model.target_std**2 == pytest.approx(0.16, rel=0.3)


@pytest.mark.parametrize("method", ["landmarks", "features"])
def test_landmarks_predict_with_error_bars(data, method):
    graphs, values = data
    model = RWKGaussianProcess(settings=ONE, extensive=False, method=method, n_landmarks=24).fit(
        graphs[:40], values[:40]
    )
    mean, std = model.predict(graphs[40:], return_std=True)
    assert np.sqrt(np.mean((mean - values[40:]) ** 2)) < 0.6 * values.std()
    assert (std > 0).all()
    _, covariance = model.predict(graphs[40:], return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), std)
    assert model.sample_y(graphs[40:], 3).shape == (8, 3)
    assert np.isfinite(model.log_marginal_likelihood())
    assert model.method_ == method


def test_all_graphs_as_landmarks_are_nearly_exact(data):
    graphs, values = data
    exact, sparse = (
        RWKGaussianProcess(settings=ONE, extensive=False, method=method, n_landmarks=100).fit(graphs[:40], values[:40])
        for method in ("exact", "landmarks")
    )
    np.testing.assert_allclose(sparse.predict(graphs[40:]), exact.predict(graphs[40:]), atol=0.1 * values.std())


def test_the_method_is_chosen_by_size(data, monkeypatch):
    graphs, values = data
    monkeypatch.setattr("rwk.learn.gaussian_process.MOST_EXACT", 20)
    assert RWKGaussianProcess(settings=ONE, extensive=False).fit(graphs[:20], values[:20]).method_ == "exact"
    assert RWKGaussianProcess(settings=ONE, n_landmarks=10).fit(graphs[:21], values[:21]).method_ == "landmarks"


# --- kernel ridge


def test_the_regressor_is_kernel_ridge_with_the_choice(data):
    graphs, values = data
    model = RWKRegressor(grid=ONE, eta=1.0, ridge=0.1).fit(graphs[:36], values[:36])
    kernel = RWKernel(**FAST)
    matrix = kernel.fit(graphs[:36]).discrepancy()
    training = np.exp(-matrix / matrix.mean())
    assert np.linalg.eigvalsh(training)[0] > -1e-12
    rows = np.exp(-kernel.discrepancy(graphs[36:]) / matrix.mean())
    mean = values[:36].mean()
    reference = KernelRidge(alpha=0.1, kernel="precomputed").fit(training, values[:36] - mean)
    np.testing.assert_allclose(model.predict(graphs[36:]), mean + reference.predict(rows), rtol=1e-6)


def test_the_choice_has_the_least_leave_one_out_error(data):
    graphs, values = data
    chosen = RWKRegressor(grid=TWO).fit(graphs[:36], values[:36]).choice_
    one = RWKRegressor(grid=ONE, eta=(0.5, 1.0), ridge=(0.1, 1.0)).fit(graphs[:36], values[:36]).choice_
    assert chosen.rmse <= one.rmse
    model = RWKRegressor(grid=ONE, eta=one.eta, ridge=one.ridge)
    others = np.delete(np.arange(36), 7)
    assert RWKRegressor(grid=TWO).fit(graphs[:36], values[:36]).score(graphs[36:], values[36:]) > 0.6
    assert abs(model.fit(graphs[others], values[others]).predict(graphs[7:8])[0] - values[7]) < 5 * one.rmse + 1.0


# --- both


BOTH = [RWKRegressor(grid=ONE), RWKGaussianProcess(settings=ONE, extensive=False)]


@pytest.mark.parametrize("model", BOTH, ids=["ridge", "process"])
def test_pickle_and_clone(model, data):
    graphs, values = data
    fitted = clone(model).fit(graphs[:20], values[:20])
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(graphs[20:]), fitted.predict(graphs[20:]))
    with pytest.raises(NotFittedError):
        clone(fitted).predict(graphs[:2])


@pytest.mark.parametrize("model", BOTH, ids=["ridge", "process"])
def test_in_pipelines_and_cross_validation(model, data):
    graphs, values = data
    pipeline = make_pipeline("passthrough", clone(model))
    predicted = cross_val_predict(pipeline, graphs[:30], values[:30], cv=3)
    assert np.corrcoef(predicted, values[:30])[0, 1] > 0.5


def test_in_a_grid_search(data):
    graphs, values = data
    search = GridSearchCV(RWKGaussianProcess(settings=ONE, extensive=False), {"extensive": [False, True]}, cv=2)
    assert search.fit(graphs[:24], values[:24]).best_params_["extensive"] in (False, True)


@pytest.mark.parametrize("model", BOTH, ids=["ridge", "process"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda y: np.where(np.arange(len(y)) == 2, np.nan, y), "NaN or infinite, the first is that of graph 2"),
        (np.ones_like, "all targets are 1.0, so there is nothing to learn"),
        (lambda y: y[:-1], "10 graphs, but 9 targets"),
        (lambda y: np.stack([y, y], axis=1), "one number per graph"),
        (lambda y: [str(v) + "a" for v in y], "not numbers; for classes use RWKClassifier"),
        (lambda y: None, "target y is None"),
    ],
)
def test_bad_targets_are_one_sentence(model, data, change, sentence):
    graphs, values = data
    with pytest.raises(ValueError, match=sentence) as error:
        clone(model).fit(graphs[:10], change(values[:10]))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("model", BOTH, ids=["ridge", "process"])
def test_too_few_graphs_and_none_to_predict(model, data):
    graphs, values = data
    with pytest.raises(ValueError, match="2 graphs, too few to learn from"):
        clone(model).fit(graphs[:2], values[:2])
    fitted = clone(model).fit(graphs[:10], values[:10])
    for nothing in ([], graphs[:0]):
        with pytest.raises(ValueError, match="no graphs to predict"):
            fitted.predict(nothing)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"criterion": "bic"}, "criterion='bic' is unknown"),
        ({"treatment": "flip"}, "treatment='flip' is unknown"),
        ({"method": "magic"}, "method='magic' is unknown"),
        ({"n_starts": 0}, "n_starts must be"),
        ({"alpha": -1.0}, "must be finite and not negative"),
        ({"alpha": np.ones(3)}, "one per graph"),
        ({"settings": "huge"}, "there is no grid 'huge'"),
    ],
)
def test_bad_parameters_are_one_sentence(data, parameters, sentence):
    graphs, values = data
    with pytest.raises(ValueError, match=sentence):
        RWKGaussianProcess(**{"settings": ONE, **parameters}).fit(graphs[:10], values[:10])


def test_a_choice_of_std_or_covariance(process, data):
    with pytest.raises(ValueError, match="not both"):
        process.predict(data[0][:2], return_std=True, return_cov=True)


def test_labels_mean_the_same_in_new_graphs():
    """A set may number its labels in its own way; the composition must not mistake one for another."""
    chains = [
        (np.eye(n, k=1) + np.eye(n, k=-1), ["abc"[(n * k + i) % 3] for i in range(n)])
        for n in range(3, 9)
        for k in (1, 2)
    ]
    values = [3.0 * labels.count("c") - labels.count("a") + 0.1 * len(labels) for _, labels in chains]
    named = as_graphs(chains)
    codes = np.array(["abc".index(named.label_names[code]) for code in named.node_labels.tolist()])
    numbered = replace(named, node_labels=codes, label_names=dict(enumerate("abc")))
    expected = RWKGaussianProcess(settings=ONE).fit(named, values).predict(named[:3])
    process = RWKGaussianProcess(settings=ONE).fit(numbered, values)
    np.testing.assert_allclose(process.predict(named[:3]), process.predict(numbered[:3]))
    np.testing.assert_allclose(process.predict(named[:3]), expected, rtol=1e-3)


# --- molecules


ALCOHOLS = ["C" * n + "O" for n in range(1, 9)] + ["C" * n for n in range(1, 9)]
LENGTHS = np.array([float(s.count("C")) - 3.0 * s.count("O") for s in ALCOHOLS])


def test_smiles_are_read_with_attributes_and_fingerprints():
    pytest.importorskip("rdkit")
    model = RWKGaussianProcess(settings=ONE, fingerprints="both", extensive=True).fit(ALCOHOLS, LENGTHS)
    assert model.sources_.graphs.node_attributes is not None
    assert set(model.model_.names) == {"one", "morgan", "fragments", "composition", "edge-kinds", "overlap"}
    assert np.abs(model.predict(["CCCCCCCCCC"]) - 10).max() < 4
    array = RWKGaussianProcess(settings=ONE, fingerprints="both", extensive=True).fit(np.array(ALCOHOLS), LENGTHS)
    np.testing.assert_allclose(array.predict(["CCCN"[:3]]), model.predict(["CCC"]))


def test_fingerprints_need_molecules(data):
    pytest.importorskip("rdkit")
    graphs, values = data
    with pytest.raises(ValueError, match="not named by their SMILES"):
        RWKGaussianProcess(settings=ONE, fingerprints="both").fit(graphs[:10], values[:10])
    with pytest.raises(ValueError, match="'maccs' are unknown"):
        RWKGaussianProcess(settings=ONE, fingerprints="maccs").fit(ALCOHOLS, LENGTHS)


def test_an_unseen_element_is_one_warning():
    pytest.importorskip("rdkit")
    model = RWKRegressor(grid=ONE).fit(ALCOHOLS, LENGTHS)
    with pytest.warns(UserWarning, match=r"1 of 2 graphs have node labels that no training graph has \(Si\)"):
        model.predict(["CCO", "C[SiH3]"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(["CCO"])


@pytest.mark.parametrize("model", [RWKRegressor(), RWKGaussianProcess()], ids=["ridge", "process"])
def test_scikit_learn_conventions_of_parameters(model):
    """The checks of scikit-learn that need no table of numbers as input."""
    from sklearn.utils import estimator_checks as checks

    name = type(model).__name__
    checks.check_no_attributes_set_in_init(name, clone(model))
    checks.check_get_params_invariance(name, clone(model))
    checks.check_set_params(name, clone(model))
    checks.check_parameters_default_constructible(name, clone(model))
