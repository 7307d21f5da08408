"""Matchings: planted ones are found, names survive, exchanges lower the misfit, joint starts equal single solves."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from asserts import assert_close, assert_marginals
from rwk import GraphError, align, as_graphs, match
from rwk.matching.local_search import KICK_DRAWS, change_of, improve_by_kicks, misfit
from rwk.matching.refinement import search_of
from rwk.parameters import ParameterError, Parameters
from rwk.represent import represent
from rwk.transport.cpu.dispatch import run_starts
from rwk.transport.pairs import solve_pair


def planted(n: int, seed: int, deleted: int = 0) -> tuple[nx.Graph, nx.Graph]:
    """A graph with nodes named by text, and an induced part of it in another order, with upper-case names."""
    graph = nx.connected_watts_strogatz_graph(n, 4, 0.3, seed=seed)
    graph = nx.relabel_nodes(graph, {i: f"n{i}" for i in range(n)})
    order = np.random.default_rng(seed).permutation(n)[: n - deleted]
    part = nx.Graph()
    part.add_nodes_from(f"N{i}" for i in order)
    part.add_edges_from((a.upper(), b.upper()) for a, b in graph.subgraph([f"n{i}" for i in order]).edges)
    return graph, part


@pytest.mark.parametrize("deleted", [0, 3])
def test_planted_matching(deleted):
    graph, part = planted(24, 1, deleted)
    found = match(graph, part)
    assert len(found) == 24 - deleted
    assert np.mean([a.upper() == b for a, b in found]) >= 0.9
    assert found.edges_preserved == 1.0
    assert found.misfit == 0.0
    assert len(found.unmatched[0]) == deleted
    assert found.unmatched[1] == []
    assert_marginals(found.coupling, np.full(24, 1 / 24), np.full(24 - deleted, 1 / (24 - deleted)))


def test_order_of_the_graphs():
    graph, part = planted(24, 1, 3)
    forth, back = match(graph, part), match(part, graph)
    assert sorted(forth.pairs) == sorted((a, b) for b, a in back)
    assert forth.unmatched == back.unmatched[::-1]
    assert_close(forth.solution.value, back.solution.value, 1e-9)
    assert abs(sum(back.solution.terms.values()) - back.solution.value) < 1e-9


def test_labels_decide_between_nodes_that_are_alike():
    star = nx.star_graph(4)
    nx.set_node_attributes(star, {0: "C", 1: "H", 2: "H", 3: "O", 4: "N"}, "label")
    other = nx.relabel_nodes(star, {3: 4, 4: 3})
    found = match(star, other)
    assert dict(found)[3] == 4
    assert dict(found)[4] == 3
    assert [1, 2] in found.interchangeable[0]
    sure = dict(zip([a for a, _ in found], found.confidence, strict=True))
    assert sure[1] < 0.6 < 0.9 < sure[3]


def test_confidence_tells_right_pairs_from_wrong_ones():
    right, wrong = [], []
    for seed in range(6):
        graph, part = planted(20, seed, 4)
        part.remove_edges_from(list(part.edges)[:2])
        found = match(graph, part)
        for (a, b), sure in zip(found, found.confidence, strict=True):
            (right if a.upper() == b else wrong).append(sure)
    assert len(wrong) > 5
    assert np.mean(right) > np.mean(wrong) + 0.2


def test_edge_labels_count():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(0, 1): "double", (1, 2): "single", (2, 3): "single"}, "label")
    turned = nx.relabel_nodes(graph, {0: 3, 1: 2, 2: 1, 3: 0})
    assert sorted(match(graph, turned)) == [(0, 3), (1, 2), (2, 1), (3, 0)]


def test_without_refinement_the_pairs_carry_the_most_mass():
    graph, part = planted(20, 2)
    found = match(graph, part, refine=False)
    numbers = align(graph, part, preset="matching").matching()
    assert found.numbers.tolist() == numbers.tolist()


def test_misfit_counts_edges_without_counterpart():
    graph, other = as_graphs([nx.path_graph(4), nx.cycle_graph(4)])
    search, places = search_of(graph, other), np.arange(4)
    assert misfit(*search, places, np.zeros(4)) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_change_the_misfit_as_they_say(seed):
    rng = np.random.default_rng(seed)
    graphs = []
    for n in (8, 11):
        graph = nx.gnp_random_graph(n, 0.4, seed=seed)
        nx.set_edge_attributes(graph, {edge: float(rng.uniform(0.5, 2)) for edge in graph.edges}, "weight")
        nx.set_edge_attributes(graph, {edge: "ab"[rng.integers(2)] for edge in graph.edges}, "label")
        graphs.append(graph)
    search = search_of(*as_graphs(graphs))
    search = search._replace(costs=rng.random(search.costs.shape))
    places = rng.permutation(11)[:8].astype(np.int64)
    before = misfit(*search, places, np.zeros(8))
    for i in range(8):
        for b in range(11):
            inverse = np.full(11, -1)
            inverse[places] = np.arange(8)
            moved = places.copy()
            if inverse[b] >= 0:
                moved[inverse[b]] = places[i]
            moved[i] = b
            change = change_of(*search, places, inverse, i, b) if b != places[i] else 0.0
            assert abs(misfit(*search, moved, np.zeros(8)) - before - change) < 1e-9


def test_refinement_never_raises_the_misfit():
    graph, part = planted(16, 3, 2)
    search = search_of(*as_graphs([part, graph]))
    rng = np.random.default_rng(0)
    for kicks in (0, 20):
        places = rng.permutation(16)[:14].astype(np.int64)
        before, inverse = misfit(*search, places, np.zeros(14)), np.full(16, -1)
        inverse[places] = np.arange(14)
        after = improve_by_kicks(*search, places, inverse, rng.random((kicks, KICK_DRAWS)))
        assert after <= before
        assert after == misfit(*search, places, np.zeros(14))
        assert sorted(inverse[places]) == list(range(14))


@pytest.mark.parametrize("n", [20, 60])  # side by side, and one by one
def test_starts_solved_together_equal_single_solves(n):
    graph, part = planted(n, 4, 2)
    settings = Parameters(beta_global=2.0, entropy=0.05)
    measures, _ = represent(as_graphs([graph, part]), settings)
    weights, options = settings.cost_weights(), settings.scg_options()
    mu, nu = np.full(n, 1 / n), np.full(n - 2, 1 / (n - 2))
    single = solve_pair(measures, 0, 1, weights, options)
    for solution in run_starts(measures, 0, 1, weights, options, np.repeat(np.outer(mu, nu)[None], 3, axis=0)):
        assert_close(solution.value, single.value, 1e-9)
        assert_close(solution.coupling, single.coupling, 1e-9)


def test_more_starts_find_no_worse_value():
    graph, part = planted(20, 5, 2)
    ten, two = (align(graph, part, preset="matching", n_starts=n_starts) for n_starts in (1, 2))
    assert ten.value <= two.value  # with a preset, 1 means 10


def test_what_cannot_be_matched():
    with pytest.raises(ParameterError, match="preset='kernel' is not known"):
        align(nx.path_graph(3), nx.path_graph(3), preset="kernel")
    with pytest.raises(ParameterError, match="has no entropy to anneal"):
        match(nx.path_graph(3), nx.path_graph(3), direction="exact")
    from rwk import Graph

    weighted = Graph(2, np.array([[0, 1]]), node_weights=np.array([1.0, 0.0]))
    with pytest.raises(GraphError, match="remove those of weight 0"):
        match(weighted, weighted)


def test_single_nodes_and_graphs_without_edges():
    assert match(nx.empty_graph(1), nx.path_graph(3)).numbers.shape == (1, 2)
    assert len(match(nx.empty_graph(3), nx.empty_graph(3))) == 3
