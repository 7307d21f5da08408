"""Names of nodes: kept from networkx, igraph and files to matchings and back; and weights that cancel are said to."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk import Graph, GraphError, as_graphs
from rwk.report.drawing import node_texts
from rwk.report.matching_table import matching_rows

KITE = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 4), (4, 5)])
PEOPLE = ["Ann", "Bob", "Cem", "Dua", "Eve", "Fay"]
NAMED = nx.relabel_nodes(KITE, dict(enumerate(PEOPLE)))
SHARP = {"entropy": 0.02}


def test_a_matching_has_the_names_of_both_graphs() -> None:
    towns = nx.relabel_nodes(KITE, {i: ("town", i) for i in KITE})
    found = rwk.align(NAMED, towns, **SHARP)
    assert found.matching(names=True) == [(name, ("town", i)) for i, name in enumerate(PEOPLE)]
    assert found.matching().tolist() == [[i, i] for i in range(6)]
    assert rwk.RWKernel(**SHARP).fit([NAMED, towns]).align(NAMED, KITE).matching(names=True)[1] == ("Bob", 1)


def test_the_order_of_nodes_does_not_matter() -> None:
    """Names follow the nodes when the second graph lists its nodes backwards."""
    backwards = nx.Graph()
    backwards.add_nodes_from(reversed(PEOPLE))
    backwards.add_edges_from(NAMED.edges)
    found = rwk.align(NAMED, backwards, **SHARP)
    assert all(one == other for one, other in found.matching(names=True))
    assert found.matching()[0].tolist() == [0, 5]


def test_arbitrary_pairs_are_named_in_the_warning() -> None:
    ring = nx.relabel_nodes(nx.cycle_graph(4), dict(enumerate("abcd")))
    with pytest.warns(UserWarning, match="nodes a, b, c, d of the first graph and 0, 1, 2, 3 of the second"):
        rwk.align(ring, nx.cycle_graph(4)).matching(names=True)


def test_nodes_without_mass_are_in_no_pair() -> None:
    graph = replace(as_graphs(NAMED)[0], node_weights=np.array([0.0, 1, 1, 1, 1, 1]))
    found = rwk.align(graph, graph, **SHARP)
    assert found.node_names == (tuple(PEOPLE[1:]), tuple(PEOPLE[1:]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = found.matching(names=True)
    assert {name for pair in pairs for name in pair} == set(PEOPLE[1:])
    rows = matching_rows(graph, graph, found)
    assert [(row.source_name, row.target_name) for row in rows] == pairs
    assert [row.source for row in rows] == [1, 2, 3, 4, 5]


def test_sets_keep_names_of_nodes() -> None:
    graphs = as_graphs([NAMED, KITE, NAMED])
    assert graphs.node_names == (tuple(PEOPLE), None, tuple(PEOPLE))
    assert graphs[[2, 1]].node_names == (tuple(PEOPLE), None)
    assert graphs[0].permuted([5, 4, 3, 2, 1, 0]).node_names == tuple(reversed(PEOPLE))
    assert as_graphs([KITE, KITE]).node_names is None
    assert [list(network) for network in rwk.to_networkx(graphs[:2])] == [PEOPLE, list(range(6))]
    with pytest.raises(GraphError, match="graph 0: 1 node names given for 2 nodes"):
        as_graphs(Graph(2, np.array([[0, 1]]), node_names=("a",)))


def test_values_do_not_depend_on_names() -> None:
    np.testing.assert_array_equal(rwk.pairwise_discrepancy([NAMED, KITE]), rwk.pairwise_discrepancy([KITE, KITE]))


def test_igraph_names() -> None:
    igraph = pytest.importorskip("igraph")
    network = igraph.Graph.Ring(3)
    assert as_graphs(network).node_names is None
    network.vs["name"] = ["x", "y", "z"]
    assert as_graphs(network, node_attributes=[])[0].node_names == ("x", "y", "z")


def test_files_keep_names_of_nodes(tmp_path: Path) -> None:
    nx.write_graphml(NAMED, tmp_path / "a.graphml")
    nx.write_gml(NAMED, tmp_path / "b.gml")
    graphs = as_graphs([tmp_path / "a.graphml", tmp_path / "b.gml"])
    assert graphs.node_names == (tuple(PEOPLE), tuple(PEOPLE))


def test_short_names_are_drawn() -> None:
    assert node_texts(as_graphs(NAMED)[0]) == PEOPLE
    long = nx.relabel_nodes(NAMED, {"Ann": "Annabella"})
    assert node_texts(as_graphs(long)[0]) == list("012345")


def test_weights_that_cancel_are_said_to() -> None:
    def ring(weight: float) -> nx.Graph:
        network = nx.cycle_graph(5)
        nx.set_edge_attributes(network, weight, "weight")
        return network

    with pytest.warns(UserWarning, match="structure='adjacency' uses the weights themselves"):
        assert rwk.pairwise_discrepancy([ring(1.0), ring(5.0)], debias=True)[0, 1] < 1e-9
    uneven = ring(1.0)
    uneven[0][1]["weight"] = 5.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for graphs, more in (([ring(1.0), ring(5.0)], {"structure": "adjacency"}), ([ring(1.0), uneven], {})):
            assert rwk.pairwise_discrepancy(graphs, debias=True, **more)[0, 1] > 1e-3
        rwk.pairwise_discrepancy([ring(2.0), ring(2.0)])
