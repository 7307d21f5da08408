"""Kernels on what graphs are made of: counts are right, and each node has its part in them."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

from rwk import GraphSet, RWKGaussianProcess, as_graphs
from rwk.learn.composition import (
    CompositionTerms,
    composition_counts,
    composition_parts,
    edge_kind_counts,
    edge_kind_parts,
)

TERMS = ["composition", "edge-kinds", "overlap"]


def chain(labels: str, bonds: str, attributes: list[float]) -> nx.Graph:
    """A path with a letter per node, a letter per edge, and one attribute."""
    graph = nx.Graph()
    for i, (label, attribute) in enumerate(zip(labels, attributes, strict=True)):
        graph.add_node(i, label=label, attributes=[attribute])
    for i, bond in enumerate(bonds):
        graph.add_edge(i, i + 1, label=bond)
    return graph


@pytest.fixture
def graphs() -> GraphSet:
    return as_graphs(
        [
            chain("aab", "ss", [1.0, -2.0, 0.5]),
            chain("aab", "ds", [0.0, 1.0, 1.0]),
            chain("aba", "ss", [3.0, -1.0, 0.0]),
            chain("cb", "s", [1.0, 1.0]),
            chain("a", "", [2.0]),
        ]
    )


def test_composition_doubles_with_the_graph() -> None:
    one = chain("aab", "sd", [1.0, 2.0, 3.0])
    both = as_graphs([one, nx.disjoint_union(one, one)])
    counts = composition_counts(both, CompositionTerms.of(both).kinds)
    np.testing.assert_allclose(counts[1], 2 * counts[0])


def test_edges_are_counted_with_their_ends(graphs: GraphSet) -> None:
    kinds = CompositionTerms.of(graphs[:3]).kinds
    counts = edge_kind_counts(graphs, kinds)
    names = [tuple(graphs.label_names[code] for code in kind) for kind in kinds.edges.tolist()]
    found = [
        {(name[0], *sorted(name[1:])): int(number) for name, number in zip(names, row, strict=True) if number}
        for row in counts
    ]
    assert found == [
        {("s", "a", "a"): 1, ("s", "a", "b"): 1},
        {("d", "a", "a"): 1, ("s", "a", "b"): 1},
        {("s", "a", "b"): 2},
        {},  # no fitted graph has an edge between b and c
        {},
    ]


def test_counts_are_sums_over_nodes(graphs: GraphSet) -> None:
    kinds = CompositionTerms.of(graphs).kinds
    for absolute in (False, True):
        counts = composition_counts(graphs, kinds, absolute=absolute)
        for i in range(len(graphs)):
            parts = composition_parts(graphs[i], kinds, absolute=absolute)
            np.testing.assert_allclose(parts.sum(axis=0), counts[i])
    of_edges = edge_kind_counts(graphs, kinds)
    for i in range(len(graphs)):
        np.testing.assert_allclose(edge_kind_parts(graphs[i], kinds).sum(axis=0), of_edges[i])


@pytest.mark.parametrize("name", TERMS)
def test_node_parts_add_up_to_the_kernel(graphs: GraphSet, name: str) -> None:
    fitted, coefficients = graphs[:3], np.array([0.5, -2.0, 1.5])
    terms = CompositionTerms.of(fitted)
    rows = terms.blocks(graphs, fitted)[name].matrix
    for i in range(len(graphs)):
        parts, rest = terms.node_parts(name, graphs[i], fitted, coefficients)
        assert len(parts) == graphs[i].n_nodes
        assert parts.sum() + rest == pytest.approx(float(rows[i] @ coefficients))


@pytest.mark.parametrize("name", TERMS)
def test_kernels_are_symmetric_and_positive(graphs: GraphSet, name: str) -> None:
    terms = CompositionTerms.of(graphs)
    kernel = terms.blocks(graphs, graphs)[name].matrix
    np.testing.assert_allclose(kernel, kernel.T)
    assert np.linalg.eigvalsh(kernel)[0] > -1e-12
    np.testing.assert_allclose(np.diag(kernel), terms.own(graphs)[name].matrix)


def test_graphs_without_labels_have_no_kinds_of_edges() -> None:
    graphs = as_graphs([nx.cycle_graph(n) for n in range(3, 7)])
    assert graphs.node_labels is None
    blocks = CompositionTerms.of(graphs).blocks(graphs, graphs)
    assert list(blocks) == ["composition", "overlap"]
    assert not any(block.has_eta for block in blocks.values())  # they are kernels, not discrepancies


def test_values_of_bonds_are_learned_from_kinds_of_edges() -> None:
    """The value is the number of edges between a and b; nodes and edges alone do not tell it."""
    draw = np.random.default_rng(0)
    words = ["".join(draw.choice(list("ab"), 8)) for _ in range(60)]
    graphs = as_graphs([chain(word, "s" * 7, [0.0] * 8) for word in words])
    values = np.array([sum(x != y for x, y in pairwise(word)) for word in words], float)
    settings = {"one": {"wl_rounds": 0, "beta_local": 0.0, "beta_global": 0.0, "debias": True}}
    process = RWKGaussianProcess(settings=settings).fit(graphs[:40], values[:40])
    assert np.abs(process.predict(graphs[40:]) - values[40:]).max() < 0.2
