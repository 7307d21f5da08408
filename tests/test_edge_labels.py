"""Edge labels take part by default, if graphs have them; what can't take part is said to be left out."""

from __future__ import annotations

import warnings
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk import GraphError, Parameters, as_graphs
from rwk.gram.kept import described, fingerprint
from rwk.learn.grids import SETTINGS
from rwk.parameters import ParameterError


def ring(*bonds: str) -> nx.Graph:
    graph = nx.cycle_graph(len(bonds))
    nx.set_node_attributes(graph, "C", "element")
    for (u, v), bond in zip(graph.edges, bonds, strict=True):
        graph.edges[u, v]["bond_type"] = bond
    return graph


SINGLE, DOUBLE, MIXED = ring(*"------"), ring(*"======"), ring(*"-=-=-=")


def test_graphs_that_differ_in_edge_labels_differ_in_value() -> None:
    for one, other in ((SINGLE, DOUBLE), (SINGLE, MIXED), (DOUBLE, MIXED)):
        assert rwk.align(one, other, debias=True).value > 1e-3
        assert abs(rwk.align(one, other, debias=True, wl_edge_labels=False).value) < 1e-9


def test_auto_is_true_with_edge_labels_and_false_without() -> None:
    labelled = [SINGLE, DOUBLE, MIXED]
    plain = [nx.path_graph(4), nx.star_graph(4)]
    for graphs in (labelled, plain):
        auto, given = (rwk.pairwise_discrepancy(graphs, **p) for p in ({}, {"wl_edge_labels": graphs is labelled}))
        np.testing.assert_array_equal(auto, given)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C1CCCCC1", "C1=CCCCC1"), ("C1CCCCC1", "c1ccccc1"), ("CC", "C=C"), ("C=C", "C#C"), ("CC(=O)O", "CC(=O)[O-]")],
)
def test_molecules_are_told_apart(one: str, other: str) -> None:
    pytest.importorskip("rdkit")
    assert rwk.align(one, other, debias=True).value > 1e-3


def test_words_and_numbers_are_not_compared() -> None:
    numbered = nx.cycle_graph(6)
    nx.set_node_attributes(numbered, "C", "element")
    nx.set_edge_attributes(numbered, 1, "bond_type")
    with pytest.warns(UserWarning, match="edge labels are not used"):
        solution = rwk.align(SINGLE, numbered, debias=True)
    assert abs(solution.value) < 1e-9
    with pytest.warns(UserWarning, match="edge labels are not used"):
        assert rwk.nearest(SINGLE, [numbered, numbered], k=1, debias=True).values[0] < 1e-9
    with pytest.raises(GraphError, match=r"can't be compared.*wl_edge_labels=False"):
        rwk.RWKernel().fit([numbered]).transform([SINGLE])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rwk.align(SINGLE, numbered, wl_edge_labels=False)


def test_new_graphs_follow_the_fitted_ones() -> None:
    graphs = as_graphs([SINGLE, MIXED])
    bare = replace(graphs, edge_labels=None)
    np.testing.assert_array_equal(
        rwk.RWKernel().fit(bare).transform(graphs), rwk.RWKernel(wl_edge_labels=False).fit(graphs).transform(graphs)
    )
    with pytest.raises(GraphError, match="the fitted graphs have edge labels and these have none"):
        rwk.RWKernel().fit(graphs).transform(bare)
    assert rwk.RWKernel(wl_edge_labels=False).fit(graphs).transform(bare).shape == (2, 2)


def test_unused_edge_attributes_are_named() -> None:
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, 1.5, "attr")
    for call in (
        lambda **p: rwk.align(graph, graph, **p),
        lambda **p: rwk.pairwise_discrepancy([graph, graph], **p),
        lambda **p: rwk.RWKernel(**p).fit([graph, graph]),
    ):
        with pytest.warns(UserWarning, match="structure='edge-distance'"):
            call()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(structure="edge-distance")


def test_other_values_are_rejected() -> None:
    with pytest.raises(ParameterError, match="wl_edge_labels='yes' is not known: it must be 'auto', True or False"):
        Parameters(wl_edge_labels="yes").checked()


@pytest.mark.parametrize("grid", ["paper", "discrete", "continuous"])
def test_benchmark_grids_say_that_they_leave_edge_labels_out(grid: str) -> None:
    for values in SETTINGS[grid].values():
        assert values["wl_edge_labels"] is False
        assert "wl_edge_labels" not in described(Parameters(**values))


def test_descriptions_of_records_do_not_depend_on_the_default() -> None:
    assert described(Parameters(wl_edge_labels=False)) == "@" + fingerprint(Parameters(wl_edge_labels=False))
    assert described(Parameters()).startswith("wl_edge_labels=auto @")
