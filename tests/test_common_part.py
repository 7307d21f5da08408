"""Parts that graphs have in common, and patterns in graphs: planted ones are found, and what is found is there."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators import graphs, laws
from rwk import Graph, GraphError, common_part, find, match
from rwk.matching.common import part_problem, seeds_of
from rwk.matching.find import placed, search_order
from rwk.matching.part_search import best_part
from rwk.parameters import ParameterError

QUICK = {"backend": "cpu", "n_jobs": 1}


def planted(seed: int, common: int = 10, size: int = 25, labels: int = 8) -> tuple[Any, Any, dict[Any, Any]]:
    """Two labelled graphs that have a connected part in common, in another order, and the pairs of that part."""
    rng = np.random.default_rng(seed)
    part = nx.random_labeled_tree(common, seed=seed)
    free = [(i, k) for i in range(common) for k in range(i) if not part.has_edge(i, k)]
    part.add_edges_from(free[at] for at in rng.choice(len(free), 4, replace=False))
    kinds = rng.integers(0, labels, common)
    nx.set_node_attributes(part, dict(enumerate(kinds.tolist())), "label")
    both = []
    for _ in range(2):
        graph = part.copy()
        for node in range(common, size):
            graph.add_node(node, label=int(rng.integers(0, labels)))
            for other in rng.choice(node, min(2, node), replace=False).tolist():
                graph.add_edge(node, other)
        both.append(graph)
    order = rng.permutation(size).tolist()
    second = nx.Graph()
    second.add_nodes_from((node, both[1].nodes[order.index(node)]) for node in range(size))
    second.add_edges_from((order[i], order[k]) for i, k in both[1].edges)
    return both[0], second, {i: order[i] for i in range(common)}


def f1(found: Any, truth: dict[Any, Any]) -> float:
    right = sum(truth.get(i) == k for i, k in found.pairs)
    return 2 * right / (len(found.pairs) + len(truth))


def common_edges(found: Any, G: Any, H: Any) -> int:
    place = dict(found.pairs)
    return sum(i in place and k in place and H.has_edge(place[i], place[k]) for i, k in G.edges)


def test_planted_common_part_is_found() -> None:
    """F1 of at least 0.9 in the mean: ten nodes common to two graphs of 25, with labels.

    By chance some other part may have as many common edges as the planted one; none that is found has fewer.
    """
    scores = []
    for seed in range(8):
        first, second, truth = planted(seed)
        found = match(first, second, mass=0.4, n_starts=1, **QUICK)
        scores.append(f1(found, truth))
        assert common_edges(found, first, second) >= first.subgraph(truth).number_of_edges(), seed
    assert np.mean(scores) >= 0.9, scores


def test_part_says_what_is_left() -> None:
    first, second, _ = planted(3)
    found = match(first, second, mass=0.4, n_starts=1, **QUICK)
    assert len(found) == 10
    assert [len(left) for left in found.unmatched] == [15, 15]
    assert abs(found.coupling.sum() - 0.4) <= 1e-9
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    again = match(first, second, mass=0.4, n_starts=1, **QUICK)
    assert again.pairs == found.pairs


def assert_common(found: Any, G: Any, H: Any) -> None:
    """Labels agree, the pairs are one to one, and common edges connect them."""
    assert len({k for _, k in found.pairs}) == len(found.pairs)
    part = nx.Graph()
    part.add_nodes_from(i for i, _ in found.pairs)
    place = dict(found.pairs)
    assert all(G.nodes[i].get("label") == H.nodes[k].get("label") for i, k in found.pairs)
    part.add_edges_from((i, k) for i, k in G.edges if i in place and k in place and H.has_edge(place[i], place[k]))
    assert nx.is_connected(part)


def test_common_part_is_common_and_connected() -> None:
    for seed in range(3):
        first, second, truth = planted(seed)
        found = common_part(first, second, repairs=100, **QUICK)
        assert_common(found, first, second)
        assert len(found) >= len(truth) - 2


def largest_part(G: Graph, H: Graph) -> int:
    """The number of edges of the largest connected common part, by trying every one-to-one map of every subset."""
    best = 0
    edges = [{tuple(edge) for edge in np.sort(one.edges, axis=1).tolist()} for one in (G, H)]
    assert G.node_labels is not None
    assert H.node_labels is not None
    for places in permutations([*range(H.n_nodes), *[-1] * G.n_nodes], G.n_nodes):
        if any(k >= 0 and G.node_labels[i] != H.node_labels[k] for i, k in enumerate(places)):
            continue
        common = [
            (i, k) for i, k in edges[0] if min(places[i], places[k]) >= 0
            and (min(places[i], places[k]), max(places[i], places[k])) in edges[1]
        ]  # fmt: skip
        pieces = nx.connected_components(nx.Graph(common))
        best = max([best, *(sum(i in piece for i, _ in common) for piece in pieces)])
    return best


@laws(15)
@given(graphs("labels", max_nodes=4), graphs("labels", max_nodes=4))
def test_small_parts_are_the_largest(G: Graph, H: Graph) -> None:
    problem = part_problem(G, H, np.ones((G.n_nodes, H.n_nodes)), largest=4)
    places, seeds = np.full(G.n_nodes, -1, np.int64), seeds_of(problem)
    worth = best_part(problem, seeds, 100, 0, places) if len(seeds) else 0.0
    assert int(worth) == largest_part(G, H)


# ---------------------------------------------------------------- patterns


@laws(25)
@given(graphs("labels", max_nodes=9), st.integers(0, 99))
def test_a_part_of_a_graph_is_found_in_it(G: Graph, seed: int) -> None:
    """Any nodes and any of the edges between them are an exact pattern, whatever the coupling says."""
    rng = np.random.default_rng(seed)
    kept = rng.permutation(G.n_nodes)[: rng.integers(1, G.n_nodes + 1)]
    number = {int(node): at for at, node in enumerate(kept)}
    inside = [(number[i], number[k]) for i, k in G.edges.tolist() if i in number and k in number]
    chosen = [edge for edge in inside if rng.random() < 0.7]
    assert G.node_labels is not None
    pattern = Graph(len(kept), np.array(chosen, np.int64).reshape(-1, 2), node_labels=G.node_labels[kept])
    problem = part_problem(pattern, G, rng.random((len(kept), G.n_nodes)), largest=len(kept))
    places = placed(problem, *search_order(pattern), 0)
    assert (places >= 0).all()
    assert len(set(places.tolist())) == len(places)
    assert (problem.H.weights[places[pattern.edges[:, 0]], places[pattern.edges[:, 1]]] != 0).all()


def test_find_ranks_exact_before_near() -> None:
    ring, tail = nx.cycle_graph(5), nx.path_graph(9)
    tailed = nx.compose(ring, nx.relabel_nodes(nx.path_graph(4), {0: 0, 1: 7, 2: 8, 3: 9}))
    found = find(ring, [tail, nx.cycle_graph(6), tailed, ring], **QUICK)
    assert {one.graph for one in found[:2]} == {2, 3}
    assert [one.exact for one in found] == [True, True, False, False]
    place = dict(found[0].pairs)
    graph = (tail, None, tailed, ring)[found[0].graph]
    assert graph is not None
    assert all(graph.has_edge(place[i], place[k]) for i, k in ring.edges)
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)


def test_find_in_graphs_smaller_than_the_pattern() -> None:
    found = find(nx.path_graph(6), {"short": nx.path_graph(3), "node": nx.empty_graph(1)}, **QUICK)
    assert [one.name for one in found] == ["short", "node"]
    assert found[0].share == 5 / 11
    assert not any(one.exact for one in found)


def test_edge_labels_count() -> None:
    single, double = (nx.Graph([(0, 1, {"label": kind}), (1, 2, {"label": "one"})]) for kind in ("one", "two"))
    found = find(single, [double, single], **QUICK)
    assert [one.graph for one in found] == [1, 0]
    assert found[1].share == 3 / 5


def test_what_find_refuses() -> None:
    for wrong in ({"mass": 0.5}, {"debias": True}, {"backend": "gpu"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            find(nx.path_graph(2), [nx.path_graph(3)], **wrong)
    weighed = Graph(2, np.array([[0, 1]]), node_weights=np.array([1.0, 0.0]))
    with pytest.raises(GraphError, match="weight 0"):
        find(weighed, [weighed])
    with pytest.raises(GraphError, match="empty"):
        find(nx.path_graph(2), [])


@pytest.mark.parametrize("wanted", ["C1CNCCN1", "CC(=O)O"])
def test_agrees_with_rdkit(wanted: str) -> None:
    Chem = pytest.importorskip("rdkit.Chem")
    from rwk import molecules

    smiles = ["C1CNCCN1C", "OC(=O)c1ccccc1", "CC(=O)OC", "CCN1CCN(C)CC1", "CCOCC", "C1COCCN1", "NCCN", "CC(=O)C"]
    holds = [Chem.MolFromSmiles(text).HasSubstructMatch(Chem.MolFromSmiles(wanted)) for text in smiles]
    pattern, rest = (molecules(given, featurizer="element") for given in (wanted, smiles))
    found = find(pattern, rest, **QUICK)
    assert [one.exact for one in found] == sorted(holds, reverse=True)
    assert all(one.exact == holds[one.graph] for one in found)
    shares = [one.share for one in found]
    assert all(first >= second for first, second in pairwise(shares))


def test_errors_name_the_pattern() -> None:
    with pytest.raises(GraphError, match="the pattern: graph 0 has no nodes"):
        find(nx.empty_graph(0), [nx.path_graph(3)])
    with pytest.raises(GraphError, match="the pattern: the argument holds 2 graphs; give a single one"):
        find([nx.path_graph(2), nx.path_graph(3)], [nx.path_graph(3)])
    with pytest.raises(GraphError, match="the first argument holds 2 graphs; give a single one"):
        match([nx.path_graph(2), nx.path_graph(3)], nx.path_graph(3))
