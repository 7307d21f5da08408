"""Complete graphs with labels and lengths are seen as bonds and as distances; others of them give a warning."""

from __future__ import annotations

import os
import pickle
import warnings
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from rwk import Graph, GraphSet, RWKClassifier, RWKernel, as_graphs, load_dataset, pairwise_discrepancy
from rwk.datasets.forms import SIGMA, GraphForms
from rwk.graphs import GraphError
from rwk.learn.grids import SETTINGS
from rwk.learn.rarity import with_rare_nodes

FAST = {"max_iter": 3, "sinkhorn_iter": 5}
ONE = {"one": FAST}
BOND, FAR, RARE = 4, 7, 9
COMPLETE = "every two nodes of each graph are joined by an edge"


def molecule(tree: nx.Graph, seed: int, *, shift: int = 0) -> Graph:
    """A tree in space as a complete graph: labels tell its bonds, attributes are distances."""
    rng = np.random.default_rng(seed)
    n = len(tree)
    places = np.array(list(nx.kamada_kawai_layout(tree, dim=3).values()))
    places = places / np.mean([np.linalg.norm(places[a] - places[b]) for a, b in tree.edges])
    places += 0.05 * rng.standard_normal((n, 3))
    pairs = np.array(list(combinations(range(n), 2)))
    labels = np.array([BOND + shift if tree.has_edge(a, b) else FAR + shift for a, b in pairs.tolist()])
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return Graph(n, pairs, edge_labels=labels, edge_attributes=lengths[:, None])


@pytest.fixture(scope="module")
def molecules() -> tuple[GraphSet, np.ndarray]:
    trees = [nx.path_graph(6 + i % 3) if i % 2 else nx.star_graph(5 + i % 3) for i in range(24)]
    made = GraphSet.from_graphs([molecule(tree, seed) for seed, tree in enumerate(trees)])
    return made, np.where(np.arange(24) % 2, "path", "star")


@pytest.fixture(scope="module")
def fitted(molecules) -> RWKClassifier:
    graphs, y = molecules
    return RWKClassifier(grid=ONE, n_inner=3, probability=True).fit(graphs[:16], y[:16])


# what is learned


def test_the_most_common_and_longest_label_is_no_bond(molecules) -> None:
    graphs, _ = molecules
    found = GraphForms.learned(graphs)
    lengths = graphs.edge_attributes[graphs.edge_labels == BOND, 0]
    assert found.no_bond == FAR
    np.testing.assert_allclose(found.sigma, np.sqrt(2) * lengths.mean())
    bonds, distance = found.of(graphs).values()
    assert set(bonds.edge_labels) == {BOND}
    assert (bonds.n_edges == bonds.sizes - 1).all()
    np.testing.assert_allclose(distance.edge_weights, np.exp(-((graphs.edge_attributes[:, 0] / found.sigma) ** 2)))


@pytest.mark.parametrize("name", ["COX2_MD", "BZR_MD"])
def test_the_forms_of_the_benchmark_are_found_again(name: str) -> None:
    data = Path(os.environ.get("RWK_DATA") or Path(__file__).parent.parent.parent / "shared" / "datasets")
    if not (data / f"{name}.zip").exists():
        pytest.skip(f"{name}.zip is not in $RWK_DATA or ../shared/datasets")
    found = GraphForms.learned(load_dataset(name, root=data))
    assert found.no_bond == 1
    assert abs(found.sigma - SIGMA) < 0.04


@pytest.mark.parametrize(
    "change",
    [
        {"edge_labels": None},
        {"edge_attributes": None},
        {"edge_attributes": "two columns"},
        {"edge_attributes": "zero"},
        {"edge_labels": "all alike"},
        {"edge_labels": "bonds are the longest"},
    ],
    ids=str,
)
def test_other_graphs_are_seen_as_they_are(molecules, change) -> None:
    graphs, _ = molecules
    made = {
        None: None,
        "two columns": np.tile(graphs.edge_attributes, 2),
        "zero": np.where(graphs.edge_labels[:, None] == BOND, 0.0, graphs.edge_attributes),
        "all alike": np.zeros_like(graphs.edge_labels),
        "bonds are the longest": np.where(graphs.edge_attributes[:, 0] > graphs.edge_attributes.mean(), 2, 1),
    }
    graphs = replace(graphs, **{field: made[value] for field, value in change.items()})
    if change.get("edge_labels") == "bonds are the longest":  # the short pairs are more, and must not be taken away
        labels = np.where(graphs.edge_attributes[:, 0] > np.quantile(graphs.edge_attributes, 0.7), 2, 1)
        graphs = replace(graphs, edge_labels=labels)
    assert GraphForms.learned(graphs) == GraphForms()
    assert list(GraphForms.learned(graphs).of(graphs)) == [""]


def test_triangles_are_no_molecules_in_space() -> None:
    pairs, labels = np.array([[0, 1], [0, 2], [1, 2]]), np.array([BOND, FAR, FAR])
    triangle = Graph(3, pairs, edge_labels=labels, edge_attributes=np.array([[1.0], [2.0], [2.5]]))
    assert GraphForms.learned(GraphSet.from_graphs([triangle] * 4)) == GraphForms()


# the classifier


def test_the_classifier_sees_bonds_and_distances(fitted: RWKClassifier, molecules) -> None:
    graphs, y = molecules
    assert list(fitted.settings_) == ["bonds: one", "bonds: rare nodes: one", "distance: one"]
    assert fitted.forms_.no_bond == FAR
    assert fitted.score(graphs[16:], y[16:]) == 1.0
    probabilities = fitted.predict_proba(graphs[16:])
    assert (fitted.classes_[probabilities.argmax(axis=1)] == y[16:]).all()


def test_the_chosen_form_is_as_good_as_given(molecules) -> None:
    graphs, y = molecules
    classifier = RWKClassifier(grid=ONE, eta=1.0, C=1.0, n_inner=3).fit(graphs[:16], y[:16])
    seen = with_rare_nodes(classifier.forms_.of(graphs), classifier.rarity_)
    total = 0.0
    for title, kernel in classifier.kernels_.items():
        form = title.rpartition(": ")[0]
        own = RWKernel(**FAST).fit(replace(seen[form][:16], edge_attributes=None))  # which no term uses
        np.testing.assert_array_equal(own.discrepancy(seen[form][16:]), kernel.discrepancy(seen[form][16:]))
        total = total + classifier._transforms[title](own.discrepancy(seen[form][16:]))
    expected = classifier.svc_.decision_function(total / len(classifier.kernels_))
    np.testing.assert_array_equal(classifier.decision_function(graphs[16:]), expected)


def test_without_arguments_the_settings_of_the_results_page_in_both_forms(molecules) -> None:
    graphs, y = molecules
    classifier = RWKClassifier().fit(graphs[:12], y[:12])
    names = [
        f"{form}: {name}" for form in ("bonds", "bonds: rare nodes", "distance") for name in SETTINGS["continuous"]
    ]
    assert list(classifier.settings_) == names
    assert classifier.score(graphs[12:], y[12:]) == 1.0


def test_what_no_bond_is_stays_as_it_was_learned(fitted: RWKClassifier) -> None:
    """In a tetrahedron around an atom, bonds are as many as other pairs; in one of four nodes they are more."""
    tiny = GraphSet.from_graphs([molecule(nx.path_graph(4), 0), molecule(nx.path_graph(5), 1)])
    labels = np.where(tiny.edge_labels == FAR, FAR, np.where(np.arange(len(tiny.edges)) % 2, BOND, RARE))
    seen = fitted.forms_.of(replace(tiny, edge_labels=labels))
    assert (seen["bonds"].n_edges == tiny.sizes - 1).all()
    assert fitted.predict(tiny).shape == (2,)


def test_a_single_node_is_a_molecule(fitted: RWKClassifier) -> None:
    assert fitted.predict([Graph(1, np.zeros((0, 2), np.int64))]).shape == (1,)


def test_forms_survive_clone_and_pickle(fitted: RWKClassifier, molecules) -> None:
    graphs, _ = molecules
    assert clone(fitted).get_params()["forms"] == "auto"
    again = pickle.loads(pickle.dumps(fitted))
    assert again.forms_ == fitted.forms_
    np.testing.assert_array_equal(again.decision_function(graphs[16:]), fitted.decision_function(graphs[16:]))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"edge_labels": None}, "but these have no edge labels; give graphs of the same kind"),
        ({"edge_attributes": None}, "but these have no lengths of edges; give graphs of the same kind"),
    ],
)
def test_new_graphs_must_be_of_the_same_kind(fitted: RWKClassifier, molecules, change, sentence) -> None:
    graphs, _ = molecules
    with pytest.raises(GraphError, match=sentence):
        fitted.predict(replace(graphs[16:], **change))


def test_new_graphs_must_be_complete(fitted: RWKClassifier, molecules) -> None:
    graphs, _ = molecules
    with pytest.raises(GraphError, match=r"but these are not all of this kind; .*forms='given'"):
        fitted.predict(fitted.forms_.of(graphs[16:])["bonds"])


def test_forms_can_be_switched_off(molecules) -> None:
    graphs, y = molecules
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        classifier = RWKClassifier(grid={"a": FAST, "b": FAST}, forms="given", n_inner=3).fit(graphs[:12], y[:12])
    assert list(classifier.settings_) == ["a", "b"]
    assert [str(one.message)[:49] for one in caught].count(COMPLETE[:49]) == 1
    assert caught[0].filename == __file__
    assert classifier.predict(replace(graphs[12:], edge_attributes=None)).shape == (12,)
    with pytest.raises(ValueError, match="forms='off' is not known: it must be one of 'auto', 'given'"):
        RWKClassifier(forms="off").fit(graphs, y)


def test_seen_in_both_forms_nothing_is_left_unused(molecules) -> None:
    graphs, y = molecules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RWKClassifier(grid=ONE, n_inner=3).fit(graphs[:12], y[:12]).predict(graphs[12:])


# complete graphs with nothing on their edges


CLIQUES = [nx.complete_graph(n) for n in (4, 5, 6, 3)]


@pytest.mark.parametrize("call", [lambda given: RWKernel(**FAST).fit(given), lambda given: pairwise_discrepancy(given)])
def test_complete_graphs_give_one_warning(call) -> None:
    with pytest.warns(UserWarning, match=f"{COMPLETE}.*bonds_only.*distance_graph") as caught:
        call(CLIQUES)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def weighted(n: int) -> nx.Graph:
    graph = nx.complete_graph(n)
    for a, b in graph.edges:
        graph.edges[a, b]["weight"] = 1.0 + a + b
    return graph


@pytest.mark.parametrize(
    "given",
    [
        [nx.complete_graph(3), nx.complete_graph(2), nx.complete_graph(3)],
        [nx.complete_graph(3), nx.complete_graph(4), nx.complete_graph(3)],
        [*CLIQUES, nx.path_graph(4)],
        [weighted(n) for n in (4, 5, 6)],
        [nx.empty_graph(4), nx.empty_graph(5)],
    ],
    ids=["triangles", "one clique among triangles", "a path among cliques", "weighted", "no edges"],
)
def test_graphs_with_a_structure_give_none(given) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RWKernel(**FAST).fit(as_graphs(given))


def test_lengths_are_a_structure_if_they_are_used(molecules) -> None:
    graphs, _ = molecules
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RWKernel(**FAST, structure="edge-distance").fit(graphs)
