"""RWKClassifier: scikit-learn's conventions with graphs as input, and settings chosen on the training graphs alone."""

from __future__ import annotations

import json
import pickle
from functools import partial
from math import inf
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from rwk import Graph, RWKClassifier, RWKernel, as_graphs
from rwk.datasets.synthetic import planted_motif
from rwk.learn.grids import SETTINGS, search_grid
from rwk.learn.search import SUM
from rwk.learn.svc import IndefiniteSVC

FAST = {"max_iter": 3, "sinkhorn_iter": 5}
ONE = {"one": FAST}


@pytest.fixture(scope="module")
def planted():
    graphs, _ = planted_motif(48, n_nodes=8)
    return graphs, np.where(graphs.targets == 1, "motif", "tree")


@pytest.fixture(scope="module")
def fitted(planted):
    graphs, names = planted
    grid = {"weak": {**FAST, "beta_global": 0.1}, "debiased": {**FAST, "debias": True}}
    return RWKClassifier(grid=grid, probability=True).fit(graphs[:36], names[:36])


def test_no_arguments_learn(planted):
    graphs, names = planted
    classifier = RWKClassifier().fit(graphs[:36], names[:36])
    assert classifier.score(graphs[36:], names[36:]) >= 0.75
    assert set(classifier.settings_) == set(SETTINGS["discrete"])
    assert classifier._grid(graphs) == search_grid("discrete").checked()


def test_attributes_take_the_continuous_settings_and_edge_labels_count():
    graphs = as_graphs(
        [Graph(3, np.array([[0, 1], [1, 2]]), node_attributes=np.eye(3)[[i % 3, 1, 2]]) for i in range(8)]
    )
    classifier = RWKClassifier().fit(graphs, [i % 2 for i in range(8)])
    assert set(classifier.settings_) == set(SETTINGS["continuous"])
    assert {made.wl_edge_labels for made in classifier.settings_.values()} == {"auto"}


def test_given_values_of_eta_multiply_the_discrepancy_itself(planted):
    graphs, names = planted
    classifier = RWKClassifier(grid={"one": FAST}, eta=0.5, C=1.0).fit(graphs[:20], names[:20])
    kernel = classifier.kernels_["one"].discrepancy()
    expected = np.exp(-0.5 * kernel)
    made = classifier._kernel({"one": kernel})
    np.testing.assert_allclose(made / made.diagonal().mean(), expected / expected.diagonal().mean(), rtol=1e-12)


def test_what_was_chosen_is_on_the_fitted_object(fitted):
    assert fitted.choice_.setting in ("weak", "debiased", SUM)
    assert fitted.choice_.C == fitted.svc_.C
    assert 0.5 <= fitted.choice_.score <= 1.0
    assert fitted.classes_.tolist() == ["motif", "tree"]
    assert fitted.n_graphs_ == 36
    assert 0.0 <= fitted.negative_share_ < 0.5
    assert fitted.eigenvalues_.shape == (36,)


def test_decisions_probabilities_and_classes_agree(fitted, planted):
    graphs, _ = planted
    predicted = fitted.predict(graphs[36:])
    decisions = fitted.decision_function(graphs[36:])
    assert ((decisions > 0) == (predicted == "tree")).all()
    probabilities = fitted.predict_proba(graphs[36:])
    assert probabilities.shape == (12, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_probabilities_only_when_asked_for():
    assert not hasattr(RWKClassifier(), "predict_proba")


@pytest.fixture
def solved_exactly(monkeypatch):
    """SVMs whose solution does not depend on the last bits of the kernel; with the usual duality gap it does."""
    exact = partial(IndefiniteSVC, tol=1e-10)
    monkeypatch.setattr("rwk.learn.classifier.IndefiniteSVC", exact)
    return exact


def test_one_setting_is_kernel_and_svc(planted, solved_exactly):
    graphs, names = planted
    classifier = RWKClassifier(grid=ONE, eta=2.0, C=10.0).fit(graphs[:30], names[:30])
    kernel = RWKernel(**FAST, eta=2.0)
    svc = solved_exactly(C=10.0).fit(kernel.fit_transform(graphs[:30]), names[:30])
    expected = svc.decision_function(kernel.transform(graphs[30:]))
    np.testing.assert_allclose(classifier.decision_function(graphs[30:]), expected, rtol=1e-9, atol=1e-11)


def test_sum_of_all_is_the_mean_kernel(planted, monkeypatch, solved_exactly):
    graphs, names = planted
    grid = {"a": FAST, "b": {**FAST, "debias": True}}

    def always_all(matrices, task):
        from rwk.learn.search import search

        return search(matrices, task)._replace(setting=SUM)

    monkeypatch.setattr("rwk.learn.classifier.search", always_all)
    classifier = RWKClassifier(grid=grid, eta=1.0, C=1.0).fit(graphs[:30], names[:30])
    kernels = [RWKernel(**setting) for setting in grid.values()]
    training = [kernel.fit_transform(graphs[:30]) for kernel in kernels]
    rows = [kernel.transform(graphs[30:]) / k.diagonal().mean() for kernel, k in zip(kernels, training, strict=True)]
    scaled = [k / k.diagonal().mean() for k in training]
    svc = solved_exactly(C=1.0).fit(sum(scaled) / 2, names[:30])
    assert list(classifier.kernels_) == ["a", "b"]
    np.testing.assert_allclose(
        classifier.decision_function(graphs[30:]), svc.decision_function(sum(rows) / 2), rtol=1e-9, atol=1e-11
    )


def test_each_setting_is_solved_once(planted, monkeypatch):
    graphs, names = planted
    solved = []
    whole = RWKernel.discrepancy

    def counted(self, X=None, **rest):
        solved.append(X is None)
        return whole(self, X, **rest)

    monkeypatch.setattr(RWKernel, "discrepancy", counted)
    RWKClassifier(grid={"a": FAST, "b": {**FAST, "hops": 1}}).fit(graphs[:24], names[:24])
    assert solved == [True, True]


def test_proxy_is_tried_against_clip(planted):
    graphs, names = planted
    classifier = RWKClassifier(grid=ONE, eta=1.0, C=(1.0, 10.0), treatment="proxy", kappa=1.0, n_inner=3)
    classifier.fit(graphs[:24], names[:24])
    assert (classifier.choice_.treatment, classifier.choice_.kappa) in (("clip", inf), ("proxy", 1.0))
    assert classifier.svc_.treatment == classifier.choice_.treatment


def test_more_than_two_classes():
    graphs = [make(n) for n in range(5, 15) for make in (nx.path_graph, nx.cycle_graph, nx.complete_graph)]
    y = ["path", "cycle", "complete"] * 10
    classifier = RWKClassifier(grid=ONE, n_inner=3).fit(graphs[:24], y[:24])
    assert classifier.score(graphs[24:], y[24:]) >= 5 / 6
    assert classifier.decision_function(graphs[24:]).shape == (6, 3)


def test_the_record_has_the_accuracy_of_the_harness_within_a_point() -> None:
    """Of `python benchmarks/classifier.py`, on at least five datasets."""
    rows = json.loads((Path(__file__).parent.parent / "results" / "classifier.json").read_text())["rows"]
    assert len(rows) >= 5
    apart = {row["dataset"]: row["classifier"] - row["harness"] for row in rows}
    assert max(map(abs, apart.values())) <= 0.01, apart


# scikit-learn's conventions


def test_clone_and_pickle(fitted, planted):
    graphs, _ = planted
    assert clone(fitted).get_params() == fitted.get_params()
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(graphs[36:]) == fitted.decision_function(graphs[36:])).all()


def test_pipeline_and_cross_validation(planted):
    graphs, names = planted
    pipeline = make_pipeline("passthrough", RWKClassifier(grid=ONE, eta=(0.5, 2.0), C=(1.0, 100.0), n_inner=3))
    assert cross_val_score(pipeline, list(graphs), names, cv=3).mean() > 0.6
    assert cross_val_score(pipeline, graphs, names, cv=2).mean() > 0.6


def test_targets_of_a_set_serve_without_y(planted):
    graphs, _ = planted
    assert RWKClassifier(grid=ONE, eta=1.0, C=1.0).fit(graphs).classes_.tolist() == [0, 1]


def test_the_same_twice(planted):
    graphs, names = planted
    made = [RWKClassifier(grid=ONE).fit(graphs[:24], names[:24]).decision_function(graphs[24:]) for _ in range(2)]
    assert (made[0] == made[1]).all()


# bad input, one sentence each


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "no labels to learn"),
        (["a"] * 6, "all 6 targets are of one class, a"),
        ([0.0, 1.0, np.nan, 0.0, 1.0, 0.0], "target 2 is missing"),
        ([0, 1, 0], "there are 6 graphs, but 3 targets"),
        (["a"], "there are 6 graphs, but 1 target;"),
        (["a"] * 5 + ["b"], "class b has a single graph"),
    ],
)
def test_bad_targets(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        RWKClassifier(grid=ONE).fit([nx.path_graph(n) for n in range(3, 9)], y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"grid": "qick"}, "there is no grid 'qick'; the grids are quick"),
        ({"grid": {}}, "grid must be a name or a mapping from names to settings"),
        ({"grid": {"a": {"hop": 1}}}, "there is no parameter 'hop'; did you mean 'hops'"),
        ({"eta": -1.0}, "eta must be a list of positive numbers"),
        ({"C": []}, "C must be a list of positive numbers"),
        ({"treatment": "klip"}, "treatments are clip, flip, shift, none"),
        ({"n_inner": 1}, "at least two inner folds"),
        ({"backend": "tpu"}, "backend='tpu' is not known"),
    ],
)
def test_bad_parameters(parameters, sentence, planted):
    graphs, names = planted
    with pytest.raises(ValueError, match=sentence):
        RWKClassifier(**parameters).fit(graphs, names)


def test_not_fitted(planted):
    with pytest.raises(NotFittedError):
        RWKClassifier().predict(planted[0])


def test_continuous_targets_are_rejected() -> None:
    graphs = [nx.path_graph(n) for n in range(3, 9)]
    with pytest.raises(ValueError, match=r"predicts classes, but the targets are continuous; .*RWKRegressor"):
        RWKClassifier(grid="quick").fit(graphs, [0.1, 0.5, 0.7, 1.2, 1.3, 2.0])
