"""Matchings, common parts and patterns of graphs so small that every assignment can be tried.

Like test_plain_bodies.py, these run with NUMBA_DISABLE_JIT=1 as well.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest

from rwk import Graph, as_graphs, common_part, find, match
from rwk.matching.refinement import misfit_of, search_of

QUICK: dict[str, Any] = {"backend": "cpu", "n_jobs": 1, "max_iter": 3, "sinkhorn_iter": 5}


def dressed_pair(n: int, m: int, seed: int, *, labels: bool = False, weights: bool = False) -> list[Graph]:
    """Two connected random graphs."""
    rng, pair = np.random.default_rng(seed), []
    for size in (n, m):
        graph = nx.Graph()
        graph.add_nodes_from(range(size))
        graph.add_edges_from((int(rng.integers(k)), k) for k in range(1, size))
        graph.add_edges_from((i, k) for i in range(size) for k in range(i) if rng.random() < 0.3)
        if labels:
            nx.set_node_attributes(graph, {i: "ab"[rng.integers(2)] for i in graph}, "label")
            nx.set_edge_attributes(graph, {edge: "xy"[rng.integers(2)] for edge in graph.edges}, "label")
        if weights:
            nx.set_edge_attributes(graph, {edge: float(rng.uniform(0.5, 2)) for edge in graph.edges}, "weight")
        pair.append(graph)
    return list(as_graphs(pair))


def least_misfit(G: Graph, H: Graph) -> float:
    """By trying every one-to-one map of the nodes of G, the smaller one."""
    search = search_of(G, H)
    return min(misfit_of(search, np.array(places)) for places in permutations(range(H.n_nodes), G.n_nodes))


@pytest.mark.parametrize(("n", "m"), [(5, 5), (3, 5), (1, 4)])
@pytest.mark.parametrize("dress", [{}, {"labels": True}, {"weights": True}], ids=["plain", "labels", "weights"])
def test_no_assignment_is_better(n: int, m: int, dress: dict[str, bool]) -> None:
    for seed in (1, 2):
        G, H = dressed_pair(n, m, seed, **dress)
        found = match(G, H, effort="fast", kicks=5, **QUICK)
        assert abs(found.misfit - least_misfit(G, H)) <= 1e-9
        back = match(H, G, effort="fast", kicks=5, **QUICK)
        assert abs(back.misfit - found.misfit) <= 1e-9


def test_a_single_soft_start_gives_an_assignment() -> None:
    G, H = dressed_pair(5, 33, 3)  # rows of the soft assignment are longer than four vectors
    found = match(G, H, effort="quick", **QUICK)
    places = dict(found)
    assert len(set(places.values())) == len(places) == 5
    assert found.misfit >= match(G, H, effort="fast", kicks=10, **QUICK).misfit


def test_transport_alone_matches_what_labels_tell_apart() -> None:
    G, H = dressed_pair(4, 4, 0)
    G, H = (
        Graph(4, graph.edges, node_labels=np.array(order)) for graph, order in ((G, [0, 1, 2, 3]), (H, [2, 0, 3, 1]))
    )
    found = match(G, H, refine=False, n_starts=1, entropy=0.05, max_iter=5, backend="cpu")
    assert dict(found) == {0: 1, 1: 3, 2: 0, 3: 2}


@pytest.mark.parametrize("kind", ["ring", "labelled tree", "two rings"])
def test_copies_are_laid_on_each_other(kind: str) -> None:
    graph = {
        "ring": nx.cycle_graph(6), "labelled tree": nx.balanced_tree(2, 2),
        "two rings": nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(4)),
    }[kind]  # fmt: skip
    if kind == "labelled tree":
        nx.set_node_attributes(graph, {i: "ab"[i % 2] for i in graph}, "label")
    order = np.random.default_rng(5).permutation(len(graph)).tolist()
    copy = nx.relabel_nodes(graph, dict(enumerate(order)))
    found = match(graph, copy, effort="quick", **QUICK)
    assert found.misfit == 0.0
    assert found.edges_preserved == 1.0
    places = dict(found)
    assert all(copy.has_edge(places[i], places[k]) for i, k in graph.edges)
    assert all(graph.nodes[i].get("label") == copy.nodes[places[i]].get("label") for i in graph)


def test_graphs_of_equal_degrees_that_differ_are_told_apart() -> None:
    ring, rings = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    assert match(ring, rings, effort="quick", **QUICK).misfit > 0


@pytest.mark.parametrize("mass", [0.5, 1.0])
def test_a_part_of_the_nodes_is_matched(mass: float) -> None:
    ring = nx.cycle_graph(4)
    first, second = nx.compose(ring, nx.path_graph([0, 4, 5, 6, 7])), nx.disjoint_union(ring, nx.star_graph(3))
    found = match(first, second, mass=mass, effort="quick", **QUICK)
    assert len(found) == mass * 8
    assert len(set(dict(found).values())) == len(found)
    if mass < 1.0:
        assert found.edges_preserved == 1.0


def test_the_common_part_is_connected_and_in_both() -> None:
    ring = nx.cycle_graph(4)
    nx.set_node_attributes(ring, {0: "a", 1: "b", 2: "c", 3: "d"}, "label")
    first, second = ring.copy(), nx.relabel_nodes(ring, {0: 7, 1: 5, 2: 6, 3: 4})
    first.add_edge(3, 4)
    first.nodes[4]["label"] = "e"
    second.add_edge(5, 9)
    second.nodes[9]["label"] = "f"
    found = common_part(first, second, repairs=20, **QUICK)
    assert dict(found) == {0: 7, 1: 5, 2: 6, 3: 4}


def test_a_pattern_is_found_exactly_or_nearly() -> None:
    path, ring, star = nx.path_graph(3), nx.cycle_graph(3), nx.star_graph(2)
    for graph in (path, ring, star):
        nx.set_node_attributes(graph, dict.fromkeys(graph, "C"), "label")
    found = find(ring, [path, ring, star], **QUICK)
    assert [place.graph for place in found if place.exact] == [1]
    assert found[0].exact, "the exact one comes first"
    assert {place.graph for place in find(path, [path, ring, star], **QUICK) if place.exact} == {0, 1, 2}
