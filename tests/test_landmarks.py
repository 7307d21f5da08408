"""Landmarks: the Nystroem map of an indefinite kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from gram_graphs import QUICK, random_graphs
from rwk import Graph, GraphSet, RWFeatures, RWKernel
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.retrieval.landmarks import HASHED, SELECTIONS, Drawing, hashed_barycentres, nystroem_map

GRAPHS = random_graphs(40)
KERNEL = RWKernel(eta=2.0, **QUICK)


def dense(features: object) -> np.ndarray:
    return features.toarray() if sparse.issparse(features) else np.asarray(features)


def test_all_graphs_as_landmarks_give_the_flip_kernel() -> None:
    features = RWFeatures(40, kernel=KERNEL, barycentres=False, tol=1e-12)
    X = features.fit_transform(GRAPHS)
    K = clone(KERNEL).fit_transform(GRAPHS)
    values, vectors = np.linalg.eigh(K)
    np.testing.assert_allclose(X @ X.T, (vectors * np.abs(values)) @ vectors.T, atol=1e-8)
    np.testing.assert_allclose((X * features.signature_) @ X.T, K, atol=1e-8)


def test_an_indefinite_kernel_keeps_both_signs() -> None:
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(12, 12)))[0]
    values = np.array([5.0, 3.0, -4.0, 1e-9, -1e-9, 2.0, *np.zeros(6)])
    K = (vectors * values) @ vectors.T
    columns, signature = nystroem_map(K, tol=1e-6)
    assert sorted(signature) == [-1, 1, 1, 1]
    X = K @ columns
    np.testing.assert_allclose((X * signature) @ X.T, K, atol=1e-8)


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("barycentres", [True, False])
@pytest.mark.parametrize("debias", [False, True])
def test_fitted_graphs_are_transformed_as_new_ones(selection: str, barycentres: bool, debias: bool) -> None:
    kernel = clone(KERNEL).set_params(debias=debias)
    features = RWFeatures(9, kernel=kernel, selection=selection, barycentres=barycentres)
    X = dense(features.fit_transform(GRAPHS))
    np.testing.assert_allclose(dense(features.transform(GRAPHS)), X, rtol=1e-9, atol=1e-9)
    assert len(set(features.landmarks_.tolist())) == 9
    assert features.n_solved_ == 9 * 40 + 40 * debias
    assert features.get_feature_names_out().shape == (X.shape[1],)
    assert dense(features.fit(GRAPHS).transform(random_graphs(3, seed=5))).shape == (3, X.shape[1])


def test_the_shares_of_colours_stand_beside_a_product() -> None:
    kernel = clone(KERNEL).set_params(feature_metric="product")
    features = RWFeatures(5, kernel=kernel)
    X = dense(features.fit_transform(GRAPHS))
    np.testing.assert_allclose(dense(features.transform(GRAPHS)), X, rtol=1e-9, atol=1e-9)
    columns = X[:, -HASHED:]
    np.testing.assert_allclose((columns**2).sum(axis=1), 1.0)
    assert (columns != 0).sum(axis=1).max() > 5


@pytest.mark.parametrize("selection", SELECTIONS)
def test_more_landmarks_come_nearer(selection: str) -> None:
    K = clone(KERNEL).fit_transform(GRAPHS)
    errors = []
    for m in (3, 12, 40):
        features = RWFeatures(m, kernel=KERNEL, selection=selection, barycentres=False, tol=1e-9)
        X = features.fit_transform(GRAPHS)
        errors.append(np.linalg.norm((X * features.signature_) @ X.T - K))
    assert errors[0] > errors[1] > errors[2]


def test_k_means_draws_far_from_what_it_has() -> None:
    D = np.abs(np.subtract.outer(np.repeat([0.0, 10.0, 20.0], 20), np.repeat([0.0, 10.0, 20.0], 20)))
    for seed in range(5):
        drawing = Drawing(lambda chosen: D[:, chosen], 60, random_state=seed)
        assert {int(i) // 20 for i in drawing.draw("k-means++", 3)} == {0, 1, 2}


def test_barycentres_are_of_unit_length_and_do_not_depend_on_the_other_graphs() -> None:
    settings = Parameters.of(QUICK)
    measures, scale = represent(GRAPHS, settings)
    whole = hashed_barycentres(measures)
    np.testing.assert_allclose(np.sqrt(whole.multiply(whole).sum(axis=1)), 1.0)
    alone = hashed_barycentres(represent(GRAPHS[[7]], settings, scale=scale)[0])
    np.testing.assert_allclose(alone.toarray(), whole[[7]].toarray(), atol=1e-12)


def test_attributes_stay_dense_columns() -> None:
    rng = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2]])
    graphs = GraphSet.from_graphs([Graph(3, edges, node_attributes=rng.normal(size=(3, 2))) for _ in range(8)])
    features = RWFeatures(3, kernel=KERNEL).fit(graphs)
    X = features.transform(graphs)
    assert X.shape == (8, len(features.get_feature_names_out()))
    assert X[:, -4:].nnz == 32  # two attributes and their variation


def test_a_linear_machine_learns_and_a_grid_is_searched() -> None:
    cycles = [Graph(n, np.array([[i, (i + 1) % n] for i in range(n)]).reshape(-1, 2)) for n in range(4, 14)]
    cycles = [Graph(g.n_nodes, np.sort(g.edges, axis=1)) for g in cycles]
    stars = [Graph(n, np.array([[0, i] for i in range(1, n)])) for n in range(4, 14)]
    y = np.repeat([0, 1], 10)
    pipeline = make_pipeline(RWFeatures(4, kernel=KERNEL), LinearSVC())
    search = GridSearchCV(pipeline, {"rwfeatures__kernel__eta": [0.5, 2.0], "rwfeatures__n_landmarks": [2, 4]}, cv=2)
    search.fit(GraphSet.from_graphs([*cycles, *stars]), y)
    assert search.score(GraphSet.from_graphs([*cycles, *stars]), y) == 1.0


def test_more_landmarks_than_graphs() -> None:
    assert len(RWFeatures(500, kernel=KERNEL).fit(GRAPHS[:5]).landmarks_) == 5


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"n_landmarks": 0}, "n_landmarks=0 must be a whole number"),
        ({"n_landmarks": 2.5}, "n_landmarks=2.5 must be a whole number"),
        ({"selection": "best"}, "selection='best' is not known"),
        ({"tol": 1.0}, "tol=1.0 is outside its range"),
    ],
)
def test_bad_settings(keywords: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RWFeatures(**keywords).fit(GRAPHS)  # type: ignore[arg-type]
