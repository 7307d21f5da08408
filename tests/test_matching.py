"""Matchings: planted ones are found, names survive, exchanges lower the misfit, joint starts equal single solves."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest

from asserts import assert_close, assert_marginals
from rwk import Graph, GraphError, align, as_graphs, match
from rwk.matching.assignment import least_cost
from rwk.matching.local_search import KICK_DRAWS, changes, fresh_standing, improve_by_kicks, misfit
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
    for seed in range(12):
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


def test_labels_of_edges_may_be_any_numbers():
    ends = np.array([[0, 1], [1, 2], [2, 3]])
    graph = Graph(4, ends, edge_labels=np.array([2**40, -7, -7]))
    turned = Graph(4, ends, edge_labels=np.array([-7, -7, 2**40]))
    assert match(graph, turned).numbers.tolist() == [[0, 3], [1, 2], [2, 1], [3, 0]]


def test_more_effort_finds_no_worse_matching():
    misfits = []
    for seed in range(4):
        graph, part = planted(24, seed, 3)
        part.remove_edges_from(list(part.edges)[:3])
        misfits.append([match(graph, part, effort=effort).misfit for effort in ("quick", "fast", "normal")])
    quick, fast, normal = np.mean(misfits, axis=0)
    assert normal <= fast <= quick
    assert normal < quick


@pytest.mark.parametrize("turn", [False, True])
def test_a_matching_without_transport_has_a_soft_side(turn):
    graph, part = planted(20, 3, 2)
    found = match(part, graph, effort="quick") if turn else match(graph, part, effort="quick")
    shape = (18, 20) if turn else (20, 18)
    assert found.solution.coupling.shape == found.as_coupling().shape == shape
    assert found.coupling[found.numbers[:, 0], found.numbers[:, 1]].sum() > 0.5
    assert found.confidence.shape == (18,)
    assert sum(map(sum, found.solution.paid)) == pytest.approx(2 * found.solution.value)
    copied = pickle.loads(pickle.dumps(found))
    assert copied.pairs == found.pairs
    assert copied.confidence.tolist() == found.confidence.tolist()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 4), (6, 11), (30, 30), (40, 55)])
@pytest.mark.parametrize("kind", ["any", "ties", "few features"])
def test_assignment_has_the_least_cost(n, m, kind):
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(n + m)
    for _ in range(5):
        cost = {"any": rng.normal(size=(n, m)), "ties": rng.integers(0, 3, (n, m)).astype(float)}.get(
            kind, -rng.random((n, 2)) @ rng.random((2, m))
        )
        places = least_cost(cost)
        assert len(set(places.tolist())) == n
        rows, columns = linear_sum_assignment(cost)
        assert cost[np.arange(n), places].sum() == pytest.approx(cost[rows, columns].sum())


def test_weights_of_any_size_are_matched():
    graph, part = planted(20, 6)
    for size in (1e-6, 1.0, 1e6):
        sides = []
        for side, seed in ((graph, 0), (part, 1)):
            side = side.copy()
            rng = np.random.default_rng(seed)
            weights = {edge: size * (1 + 0.01 * rng.random()) for edge in side.edges}
            nx.set_edge_attributes(side, weights, "weight")
            sides.append(side)
        assert np.mean([a.upper() == b for a, b in match(*sides)]) >= 0.9


def test_without_refinement_the_pairs_carry_the_most_mass():
    graph, part = planted(20, 2)
    found = match(graph, part, refine=False)
    numbers = align(graph, part, preset="matching").matching()
    assert found.numbers.tolist() == numbers.tolist()


SAME = {
    "petersen": nx.petersen_graph(),
    "regular": nx.random_regular_graph(3, 24, seed=1),
    "tree": nx.balanced_tree(2, 4),
    "grid": nx.grid_2d_graph(4, 5),
    "two rings and a node": nx.disjoint_union_all([nx.cycle_graph(5), nx.cycle_graph(5), nx.empty_graph(1)]),
    "hub": nx.barabasi_albert_graph(40, 2, seed=2),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("dressed", [False, True])
def test_graphs_that_are_the_same_are_laid_on_each_other(name, dressed):
    graph = nx.convert_node_labels_to_integers(SAME[name])
    rng = np.random.default_rng(0)
    if dressed:
        nx.set_node_attributes(graph, {node: "ab"[rng.integers(2)] for node in graph}, "label")
        nx.set_edge_attributes(graph, {edge: "xyz"[rng.integers(3)] for edge in graph.edges}, "label")
        nx.set_edge_attributes(graph, {edge: float(rng.integers(1, 3)) for edge in graph.edges}, "weight")
    order = rng.permutation(len(graph))
    copy = nx.Graph()
    copy.add_nodes_from((f"n{i}", graph.nodes[i]) for i in order)
    copy.add_edges_from((f"n{i}", f"n{k}", data) for i, k, data in graph.edges(data=True))
    found = match(graph, copy, effort="quick")
    assert found.misfit == 0.0
    assert found.edges_preserved == 1.0
    places = dict(found)
    assert sorted(places.values()) == sorted(copy)
    assert all(copy.has_edge(places[i], places[k]) for i, k in graph.edges)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (nx.cycle_graph(12), nx.disjoint_union(nx.cycle_graph(6), nx.cycle_graph(6))),  # refinement sees no difference
        (nx.path_graph(6), nx.star_graph(5)),
        (nx.empty_graph(3), nx.path_graph(3)),
    ],
)
def test_graphs_that_differ_are_not_taken_for_the_same(one, other):
    found = match(one, other, effort="quick")
    assert found.misfit > 0
    assert len(set(found.numbers[:, 1].tolist())) == len(one)


def test_misfit_counts_edges_without_counterpart():
    graph, other = as_graphs([nx.path_graph(4), nx.cycle_graph(4)])
    search, places = search_of(graph, other), np.arange(4)
    assert misfit(*search, places) == 1.0


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
    before, found, now = misfit(*search, places), np.empty((8, 11)), fresh_standing(8, 11)
    now.p[:] = places
    changes(*search, now, found)
    for i in range(8):
        for b in range(11):
            inverse = np.full(11, -1)
            inverse[places] = np.arange(8)
            moved = places.copy()
            if inverse[b] >= 0:
                moved[inverse[b]] = places[i]
            moved[i] = b
            assert abs(misfit(*search, moved) - before - found[i, b]) < 1e-9


def test_refinement_never_raises_the_misfit():
    graph, part = planted(16, 3, 2)
    search = search_of(*as_graphs([part, graph]))
    rng = np.random.default_rng(0)
    for kicks in (0, 20):
        now = fresh_standing(14, 16)
        now.p[:] = rng.permutation(16)[:14]
        before = misfit(*search, now.p)
        after = improve_by_kicks(*search, now, rng.random((kicks, KICK_DRAWS)))
        assert after <= before
        assert after == misfit(*search, now.p)
        assert now.q[now.p].tolist() == list(range(14))
        assert (now.q >= 0).sum() == 14


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
    with pytest.raises(ParameterError, match="effort='slow' is not known"):
        match(nx.path_graph(3), nx.path_graph(3), effort="slow")
    with pytest.raises(ParameterError, match="n_starts"):
        match(nx.path_graph(3), nx.path_graph(3), n_starts=-1)
    with pytest.raises(ParameterError, match="has no entropy to anneal"):
        match(nx.path_graph(3), nx.path_graph(3), direction="exact")
    weighted = Graph(2, np.array([[0, 1]]), node_weights=np.array([1.0, 0.0]))
    with pytest.raises(GraphError, match="remove those of weight 0"):
        match(weighted, weighted)


def test_whole_numbers_of_any_type_are_numbers_of_starts_and_kicks():
    star, ring = nx.star_graph(4), nx.cycle_graph(5)
    assert match(star, ring, n_starts=np.float16(2), kicks=np.float32(3)).misfit > 0
    assert align(star, ring, n_starts=np.float16(2)).coupling.shape == (5, 5)


def test_single_nodes_and_graphs_without_edges():
    assert match(nx.empty_graph(1), nx.path_graph(3)).numbers.shape == (1, 2)
    assert len(match(nx.empty_graph(3), nx.empty_graph(3))) == 3


def test_confidence_knows_symmetries_that_no_single_exchange_shows() -> None:
    """A path laid on itself fits at once, and so does its mirror image; the middle of an odd one is sure."""
    found = match(nx.path_graph(5), nx.path_graph(5))
    assert found.misfit == 0
    sure = dict(zip([source for source, _ in found.pairs], found.confidence, strict=True))
    assert max(sure[0], sure[1], sure[3], sure[4]) <= 0.5
    assert sure[2] > 0.9
