"""Node weights by rarity: the formula, new graphs, renumbered nodes, and where the weights are used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gram_graphs import random_graphs
from naive import node_rarity
from rwk import Graph, GraphSet
from rwk.learn.rarity import FLOOR, RARE_BONDS, NodeRarity, learned_rarity, with_rare_nodes

GRAPHS = random_graphs(14)
FITTED, NEW = GRAPHS[:9], GRAPHS[9:]


def plain_weights(fitted: GraphSet, graphs: GraphSet) -> np.ndarray:
    mean = np.mean([rarity for graph in fitted for rarity in node_rarity(list(fitted), graph)])
    return np.array([rarity / mean + FLOOR for graph in graphs for rarity in node_rarity(list(fitted), graph)])


@pytest.mark.parametrize("labels", [FITTED.node_labels, None], ids=["labels", "degrees"])
def test_weights_are_those_of_the_formula(labels: object) -> None:
    """Of fitted graphs, and of new ones, some of whose colours nobody has."""
    fitted, new = (FITTED, NEW) if labels is not None else (replace(part, node_labels=None) for part in (FITTED, NEW))
    rarity = NodeRarity.learned(fitted)
    for graphs in (fitted, new):
        np.testing.assert_allclose(rarity.of(graphs).node_weights, plain_weights(fitted, graphs), rtol=1e-12)


def test_new_graphs_do_not_change_what_was_learned() -> None:
    rarity = NodeRarity.learned(FITTED)
    alone = rarity.of(NEW[:1]).node_weights
    np.testing.assert_array_equal(rarity.of(NEW).node_weights[: len(alone)], alone)


def test_numbering_does_not_matter() -> None:
    graph = GRAPHS[0]
    order = np.random.default_rng(0).permutation(graph.n_nodes)  # new number of each node
    labels = None if graph.node_labels is None else graph.node_labels[np.argsort(order)]
    other = Graph(graph.n_nodes, order[graph.edges], node_labels=labels)
    rarity = NodeRarity.learned(FITTED)
    there = rarity.of(GraphSet.from_graphs([other])).node_weights
    here = rarity.of(GraphSet.from_graphs([Graph(graph.n_nodes, graph.edges, node_labels=graph.node_labels)]))
    np.testing.assert_array_equal(there[order], here.node_weights)


def test_weights_that_graphs_have_count_too() -> None:
    given = np.random.default_rng(0).random(len(FITTED.node_labels)) + 0.5
    rarity = NodeRarity.learned(FITTED)
    found = rarity.of(replace(FITTED, node_weights=given)).node_weights
    np.testing.assert_array_equal(found, given * rarity.of(FITTED).node_weights)


def test_where_all_graphs_are_alike_all_nodes_are() -> None:
    triangle = Graph(3, np.array([[0, 1], [1, 2], [0, 2]]))
    together = GraphSet.from_graphs([triangle] * 4)
    np.testing.assert_array_equal(NodeRarity.learned(together).of(together).node_weights, np.full(12, FLOOR))


def test_only_bonds_of_molecules_in_space_have_rare_nodes() -> None:
    for forms in ({"": FITTED}, {"bonds": FITTED}):
        assert learned_rarity(forms) is None
        assert with_rare_nodes(forms, None) == forms
    forms = {"bonds": FITTED, "distance": FITTED}
    seen = with_rare_nodes(forms, learned_rarity(forms))
    assert list(seen) == ["bonds", RARE_BONDS, "distance"]
    assert seen["bonds"].node_weights is None
    assert seen[RARE_BONDS].node_weights is not None
