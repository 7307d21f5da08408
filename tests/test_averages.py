"""Averages: planted templates come back, the objective never increases, and couplings have the values they claim."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from asserts import assert_close, assert_marginals
from rwk import Graph, GraphError, as_graphs, barycenter, match
from rwk.averages import descent
from rwk.averages.barycenter import averaging_of, averaging_settings, checked_weights
from rwk.averages.descent import values_at
from rwk.averages.evidence import Members, assignment_plans, averaged_graph, evidence_of
from rwk.averages.resizing import resized
from rwk.parameters import ParameterError

QUICK = {"n_starts": 1, "max_iter": 3}


def copies(template: nx.Graph, count: int, *, moved: int, deleted: int, seed: int) -> list[nx.Graph]:
    """Copies of a graph with some edges moved, up to `deleted` nodes missing, and nodes in another order."""
    rng, found = np.random.default_rng(seed), []
    nodes = list(template)
    for _ in range(count):
        A = nx.to_numpy_array(template, weight=None)
        edges, others = np.argwhere(np.triu(A, 1) > 0), np.argwhere(np.triu(1 - A, 1) > 0)
        for (i, k), (a, b) in zip(rng.permutation(edges)[:moved], rng.permutation(others)[:moved], strict=True):
            A[i, k] = A[k, i] = 0.0
            A[a, b] = A[b, a] = 1.0
        order = rng.permutation(len(A))[: len(A) - rng.integers(0, deleted + 1)]
        copy = nx.from_numpy_array(A[np.ix_(order, order)])
        for place, node in enumerate(order):
            copy.nodes[place].update(template.nodes[nodes[node]])
        found.append(copy)
    return found


def edges_f1(found: Graph, template: nx.Graph) -> float:
    """F1 of the edges, under the best matching that is found."""
    plain, template = nx.from_numpy_array(found.adjacency().toarray()), nx.Graph(template.edges)
    common = match(plain, template).edges_preserved * found.n_edges if found.n_nodes <= len(template) else 0.0
    return 2 * common / (found.n_edges + template.number_of_edges())


@pytest.fixture(scope="module")
def noisy() -> tuple[nx.Graph, list[nx.Graph]]:
    template = nx.barabasi_albert_graph(12, 2, seed=3)
    return template, copies(template, 10, moved=2, deleted=1, seed=5)


def test_planted_template(noisy):
    template, members = noisy
    average = barycenter(members, n_nodes=12, n_starts=1)
    assert edges_f1(average.graph, template) >= 0.9
    assert np.mean([edges_f1(graph, template) for graph in as_graphs(members)[:3]]) < 0.9
    assert (np.diff(average.history) <= 0).all()
    assert average.history[-1] < average.history[0]


def test_couplings_have_the_values_they_claim(noisy):
    _, members = noisy
    average = barycenter(members, n_nodes=12, **QUICK)
    graphs = as_graphs(members)
    problem = averaging_of(graphs, checked_weights(None, len(graphs)), averaging_settings({}))
    assert_close(values_at(problem, average.graph, average.couplings), average.values, 1e-9)
    assert_close(average.values.mean(), average.objective, 1e-12)
    for coupling, pairs, graph in zip(average.couplings, average.matchings, graphs, strict=True):
        assert_marginals(coupling, np.full(12, 1 / 12), np.full(graph.n_nodes, 1 / graph.n_nodes))
        assert len(pairs) == min(12, graph.n_nodes)
        assert len(set(pairs[:, 0])) == len(set(pairs[:, 1])) == len(pairs)


@pytest.mark.parametrize("settings", [{}, {"entropy": 2.0, "sinkhorn_iter": 1}, {"structure": "shortest-path"}])
def test_objective_never_increases(settings):
    """Also with a solver that hardly solves anything, and where no mean is exact: bad steps are rejected."""
    members = [nx.gnp_random_graph(n, 0.4, seed=n) for n in (5, 6, 7, 6)]
    average = barycenter(members, n_starts=1, max_iter=6, **settings)
    assert len(average.history) > 1
    assert (np.diff(average.history) <= 0).all()
    assert average.history[-1] == average.objective


def test_a_step_that_does_not_lower_the_objective_is_rejected(monkeypatch):
    members = as_graphs([nx.path_graph(5), nx.path_graph(5), nx.cycle_graph(5)])
    problem = averaging_of(members, checked_weights(None, 3), averaging_settings({}))
    bad = as_graphs(nx.complete_graph(5))[0]
    monkeypatch.setattr(
        descent,
        "proposals",
        lambda averaging, position: [descent.Proposal(bad, 0.5, position.couplings, position.matchings)],
    )
    position, history = descent.descend(problem, members[0], max_iter=3)
    assert position.graph.edges.tolist() == members[0].edges.tolist()
    assert (np.diff(history) <= 0).all()


def test_labels_by_majority_and_mean_attributes():
    first = Graph(2, np.array([[0, 1]]), node_labels=np.array([1, 2]), node_attributes=np.array([[0.0], [4.0]]))
    second = Graph(2, np.empty((0, 2), int), node_labels=np.array([1, 1]), node_attributes=np.array([[2.0], [0.0]]))
    members = Members([first, second], np.array([0.75, 0.25]))
    plans = assignment_plans(2, [np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]])], [2, 2])
    average = averaged_graph(members, plans, 0.5, first)
    assert average.node_labels.tolist() == [1, 2]
    assert average.node_attributes.tolist() == [[0.0], [3.5]]
    assert average.edges.tolist() == [[0, 1]]
    assert evidence_of(members, plans).shares[0, 1] == 0.75
    assert averaged_graph(members, plans, 0.8, first).n_edges == 0


def test_edge_fields_come_from_the_members_that_have_the_edge():
    edge = np.array([[0, 1]])
    with_edge = [
        Graph(2, edge, edge_weights=np.array([w]), edge_labels=np.array([code]), edge_attributes=np.array([[w]]))
        for w, code in ((1.0, 7), (3.0, 7), (5.0, 4))
    ]
    without = Graph(
        2, np.empty((0, 2)), edge_weights=np.empty(0), edge_labels=np.empty(0), edge_attributes=np.empty((0, 1))
    )
    members = Members([*with_edge, without], np.full(4, 0.25))
    same = [np.array([[0, 0], [1, 1]])] * 4
    average = averaged_graph(members, assignment_plans(2, same, [2] * 4), 0.5, with_edge[0])
    assert average.edge_labels.tolist() == [7]
    assert_close(average.edge_weights, [3.0], 1e-12)
    assert_close(average.edge_attributes, [[3.0]], 1e-12)


def test_labelled_molecules_keep_their_elements():
    ring = nx.cycle_graph(6)
    nx.set_node_attributes(ring, dict(enumerate("CCNCOS")), "label")
    members = copies(ring, 6, moved=1, deleted=0, seed=1)
    average = barycenter(members, n_starts=1)
    names = [average.graph.label_names[label] for label in average.graph.node_labels]
    assert sorted(names) == list("CCCNOS")
    assert edges_f1(average.graph, ring) >= 0.9


def test_a_graph_is_its_own_average():
    graph = nx.barabasi_albert_graph(9, 2, seed=1)
    average = barycenter([graph, graph], **QUICK)
    assert nx.is_isomorphic(nx.from_numpy_array(average.graph.adjacency().toarray()), graph)


def test_weights_decide_whose_average_it_is():
    path, star = nx.path_graph(6), nx.star_graph(5)
    for weights, wanted in (([1.0, 0.0], path), ([0.0, 2.0], star)):
        found = barycenter([path, star], weights=weights, n_starts=2, max_iter=5).graph
        assert nx.is_isomorphic(nx.from_numpy_array(found.adjacency().toarray()), wanted)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_any_number_of_nodes(n):
    average = barycenter([nx.path_graph(5), nx.cycle_graph(6), nx.path_graph(6)], n_nodes=n, **QUICK)
    assert average.graph.n_nodes == n
    assert np.isfinite(average.objective)
    assert resized(average.graph, 5).n_nodes == 5


def test_same_bits_for_any_number_of_threads(noisy):
    _, members = noisy
    one, two = (barycenter(members[:4], n_nodes=11, n_jobs=jobs, **QUICK) for jobs in (1, 2))
    assert one.objective == two.objective
    assert (one.graph.edges == two.graph.edges).all()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"weights": [1.0]}, r"weights have shape \(1,\); give one per graph"),
        ({"weights": [1.0, -1.0]}, "the weight of graph 1 is -1"),
        ({"weights": [0.0, 0.0]}, "all weights are 0"),
        ({"weights": ["a", "b"]}, "not an array of numbers"),
        ({"n_nodes": 0}, "n_nodes=0 is outside its range"),
        ({"threshold": 1.5}, "threshold=1.5 is outside its range"),
        ({"debias": True}, "can't be averaged"),
        ({"entropi": 1.0}, "did you mean 'entropy'"),
        ({"direction": "exact"}, "no entropy to anneal"),
    ],
)
def test_errors_say_what_is_wrong(keywords, message):
    with pytest.raises((GraphError, ParameterError), match=message):
        barycenter([nx.path_graph(3), nx.path_graph(4)], **keywords)


def test_errors_say_which_graph_is_wrong():
    path = np.array([[0, 1]])
    good, bad = Graph(2, path, node_weights=np.ones(2)), Graph(2, path, node_weights=np.array([1.0, 0.0]))
    with pytest.raises(GraphError, match="graph 1 has nodes of weight 0"):
        barycenter([good, bad])
    with pytest.raises(GraphError, match="graph 1 has no nodes"):
        barycenter([nx.path_graph(2), nx.Graph()])
