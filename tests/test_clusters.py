"""Clusters of graphs: planted mixtures are found, the inertia never increases, estimators behave as scikit-learn's."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from rwk import Graph, GraphError, RWKernel, RWKMeans, RWKMedoids, as_graphs, medoid, pairwise_discrepancy
from rwk.averages.medoids import CLUSTERING, exchanged, seeds
from rwk.parameters import ParameterError
from test_averages import copies


def kind(seed: int) -> nx.Graph:
    """A graph of twelve nodes with letters as labels."""
    graph = nx.connected_watts_strogatz_graph(12, 4, 0.3, seed=seed)
    letters = np.random.default_rng(seed).choice(list("CNOS"), 12)
    nx.set_node_attributes(graph, dict(enumerate(map(str, letters))), "label")
    return graph


@pytest.fixture(scope="module")
def mixture() -> tuple[list[nx.Graph], list[int]]:
    """Noisy copies of three graphs, in mixed order."""
    graphs = [copies(kind(i), 5, moved=2, deleted=0, seed=i) for i in range(3)]
    return [graph for one in zip(*graphs, strict=True) for graph in one], [0, 1, 2] * 5


@pytest.fixture(scope="module")
def fitted(mixture) -> RWKMeans:
    return RWKMeans(3).fit(mixture[0])


def test_k_means_finds_a_planted_mixture(mixture, fitted):
    assert adjusted_rand_score(mixture[1], fitted.labels_) >= 0.9
    assert len(fitted.cluster_centers_) == 3
    assert fitted.inertia_ == pytest.approx(fitted.history_[-1])


def test_k_medoids_finds_a_planted_mixture(mixture):
    clusters = RWKMedoids(3)
    found = clusters.fit_predict(mixture[0])
    assert adjusted_rand_score(mixture[1], found) >= 0.9
    assert (clusters.labels_[clusters.medoids_] == np.arange(3)).all()
    assert (clusters.predict(mixture[0]) == found).all()


def test_inertia_never_increases(fitted):
    assert len(fitted.history_) == fitted.n_iter_ + 1 > 1
    assert (np.diff(fitted.history_) <= 0).all()


def test_predictions_of_the_fitted_graphs_are_their_labels(mixture, fitted):
    away = fitted.transform(mixture[0])
    assert away.shape == (15, 3)
    assert (fitted.predict(mixture[0]) == fitted.labels_).all()
    assert away.min(axis=1).sum() == pytest.approx(fitted.inertia_)


def test_estimators_are_cloned_and_pickled(mixture, fitted):
    for estimator in (fitted, RWKMedoids(2, kernel=RWKernel(entropy=0.2)).fit(mixture[0][:6])):
        again = pickle.loads(pickle.dumps(estimator))
        assert (again.predict(mixture[0][:3]) == estimator.predict(mixture[0][:3])).all()
        fresh = clone(estimator)
        assert fresh.get_params()["n_clusters"] == estimator.n_clusters
        assert not hasattr(fresh, "labels_")


def test_same_seed_same_clusters(mixture):
    first, second = (RWKMeans(2, max_iter=1, random_state=4).fit(mixture[0][:6]) for _ in range(2))
    assert (first.labels_ == second.labels_).all()
    assert first.inertia_ == second.inertia_


def test_centres_of_a_given_size_and_an_own_kernel(mixture):
    found = RWKMeans(2, n_nodes=6, max_iter=1, n_init=1, kernel=RWKernel(debias=True)).fit(mixture[0][:6])
    assert found.cluster_centers_.sizes.tolist() == [6, 6]


def test_labels_of_centres_keep_their_names():
    ring = nx.cycle_graph(5)
    nx.set_node_attributes(ring, dict(enumerate("CCNCO")), "label")
    graphs = copies(ring, 3, moved=1, deleted=0, seed=2)
    centres = RWKMeans(1, max_iter=1).fit(graphs).cluster_centers_
    assert sorted(centres.label_names[code] for code in centres.node_labels) == list("CCCNO")


def test_exchanges_find_the_best_medoids():
    points = np.random.default_rng(3).normal(size=(12, 2))
    matrix = np.linalg.norm(points[:, None] - points[None], axis=2)
    rng = np.random.default_rng(0)
    found = min(matrix[:, exchanged(matrix, seeds(matrix, 3, rng), 50)[0]].min(axis=1).sum() for _ in range(5))
    best = min(matrix[:, list(chosen)].min(axis=1).sum() for chosen in itertools.combinations(range(12), 3))
    assert found == pytest.approx(best)


def test_medoid():
    graphs = [nx.star_graph(6), nx.path_graph(6), nx.path_graph(7), nx.path_graph(8)]
    matrix = pairwise_discrepancy(graphs, **CLUSTERING)
    assert medoid(graphs) == int(matrix.sum(axis=0).argmin()) == medoid(graphs, discrepancy=matrix)
    assert medoid(graphs, weights=[1, 0, 0, 0], discrepancy=matrix) == 0


def test_as_many_clusters_as_graphs():
    graphs = [nx.path_graph(4), nx.star_graph(4), nx.cycle_graph(5)]
    assert RWKMedoids(3).fit_predict(graphs).tolist() == [0, 1, 2]
    assert len(RWKMeans(3, max_iter=1).fit(graphs).cluster_centers_) == 3


@pytest.mark.parametrize(
    ("clusterer", "message"),
    [
        (RWKMeans(4), "n_clusters=4 is outside its range: there are 3 graphs to cluster"),
        (RWKMedoids(0), "n_clusters=0 is outside its range"),
        (RWKMedoids(2, n_init=0), "n_init=0 is outside its range"),
        (RWKMeans(2, max_iter=1.5), "max_iter=1.5 is not a whole number"),
        (RWKMeans(2, n_nodes=0), "n_nodes=0 is outside its range"),
        (RWKMeans(2, random_state=-1), "random_state=-1 is not a seed"),
    ],
)
def test_errors_say_what_is_wrong(clusterer, message):
    with pytest.raises(ParameterError, match=message):
        clusterer.fit([nx.path_graph(3), nx.path_graph(4), nx.path_graph(5)])


def test_errors_say_which_graph_is_wrong(fitted):
    path = np.array([[0, 1]])
    good, bad = Graph(2, path, node_weights=np.ones(2)), Graph(2, path, node_weights=np.array([1.0, 0.0]))
    with pytest.raises(GraphError, match="graph 1 has nodes of weight 0"):
        RWKMeans(1).fit([good, bad])
    with pytest.raises(GraphError, match="graph 1 has no nodes"):
        RWKMedoids(1).fit([nx.path_graph(3), nx.Graph()])
    with pytest.raises(GraphError, match="give the same kinds of features"):
        fitted.predict([np.ones((2, 2))])
    with pytest.raises(GraphError, match=r"discrepancy has shape \(2, 2\)"):
        medoid(as_graphs([nx.path_graph(3)] * 3), discrepancy=np.zeros((2, 2)))
