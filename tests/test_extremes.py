"""Numbers at the ends of their ranges: rescaled where that changes nothing, else refused in one sentence."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.graphs import Graph, GraphError
from rwk.parameters import Parameters
from rwk.represent.packing import LEAST_SHARE, shares
from rwk.represent.scaling import attribute_standard, standardised
from rwk.runtime.parameter_checks import ParameterError

PATH = np.array([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hops", 10**400),
        ("max_iter", np.float32(1e38)),
        ("sinkhorn_iter", 10**30),
        ("n_walks", 2**63),
        ("random_state", 0.5),
        pytest.param("random_state", 10**5000, id="5000 digits"),
        ("beta_local", 1e308),
        ("laplacian_source", 10**400),
        ("entropy", 5e-324),
        ("eta", 1e308),
    ],
)
def test_parameters_without_a_finite_answer_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"^{name}=.* it must be ") as caught:
        Parameters.of({name: value})
    assert len(str(caught.value)) < 200


def test_the_ends_of_the_ranges_are_computed_with() -> None:
    graphs = [nx.path_graph(3), nx.star_graph(3)]
    for name, value in (("beta_local", 1e300), ("ridge", 1e300), ("entropy", 1e-300), ("entropy", 1e300)):
        assert np.isfinite(rwk.pairwise_discrepancy(graphs, **{name: value})).all(), name


def test_whole_numbers_of_any_type_become_integers() -> None:
    settings = Parameters.of({"hops": 2.0, "max_iter": np.float32(10), "random_state": np.int64(3)})
    assert [(type(value), value) for value in (settings.hops, settings.max_iter, settings.random_state)] == [
        (int, 2),
        (int, 10),
        (int, 3),
    ]


def test_number_of_neighbours_is_whole() -> None:
    graphs = [nx.path_graph(3), nx.path_graph(4)]
    for k in (2.5, 0, 3, "1", True):
        with pytest.raises(ValueError, match=r"k=.* is outside its range: there are 2 graphs"):
            rwk.nearest(graphs[0], graphs, k=k)  # type: ignore[arg-type]


def test_seed_of_landmarks_is_whole() -> None:
    for seed in (0.5, -1, 2**32, "0"):
        with pytest.raises(ValueError, match="is not a seed"):
            rwk.RWFeatures(random_state=seed).fit([nx.path_graph(3)])  # type: ignore[arg-type]


@pytest.mark.parametrize("factor", [1e-320, 1e-200, 1.0, 1e307])
def test_scale_of_node_weights_does_not_matter(factor: float) -> None:
    parts = shares(np.array([1.0, 1.0, 2.0, 3.0]) * factor, np.array([0, 3, 4]))
    np.testing.assert_allclose(parts, [0.25, 0.25, 0.5, 1.0], rtol=1e-3 if factor == 1e-320 else 1e-15)


def test_shares_are_those_of_a_plain_division() -> None:
    weights = np.random.default_rng(0).random(50)
    np.testing.assert_array_equal(shares(weights, np.array([0, 50])), weights / np.add.reduceat(weights, [0]))


def test_node_weights_too_unequal_to_compute_with() -> None:
    for small in (1e-320, 0.1 * LEAST_SHARE):
        graph = Graph(3, PATH, node_weights=np.array([1.0, small, 1.0]))
        with pytest.raises(GraphError, match="graph 0, node 1: its weight is less than 1e-100 of the graph's total"):
            rwk.align(graph, graph)


def test_least_share_still_has_a_finite_answer() -> None:
    graph = Graph(3, PATH, node_weights=np.array([1.0, 10.0 * LEAST_SHARE, 1.0]))
    assert np.isfinite(rwk.align(graph, graph).value)


def test_very_large_and_small_attributes_are_standardised() -> None:
    column = np.array([1.0, -1.0, 0.5, 0.25])
    for factor in (1e-310, 1e-200, 1e200, 1.7e308):
        graphs = rwk.as_graphs([Graph(4, PATH, node_attributes=column * factor)])
        mean, deviation = attribute_standard(graphs, None)
        assert graphs.node_attributes is not None
        found = standardised(graphs.node_attributes, mean, deviation)
        np.testing.assert_allclose(found[:, 0], (column - column.mean()) / column.std(), rtol=1e-9)


@pytest.mark.parametrize("n_nodes", [2**40, 2**300, 2.5, -1])
def test_number_of_nodes_is_checked_before_anything_is_allocated(n_nodes: Any) -> None:
    with pytest.raises(GraphError, match="is not a number of nodes"):
        Graph(n_nodes, PATH)


def test_integers_beyond_64_bits() -> None:
    with pytest.raises(GraphError, match="fit 64 bits"):
        Graph(3, [[0, 10**30]])  # type: ignore[arg-type]
    with pytest.raises(GraphError, match=r"fit 64 bits|whole numbers"):
        Graph(3, PATH, node_labels=[0, 1, 2**70])  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="attributes must be numbers"):
        rwk.as_graphs([(np.ones((2, 2)) - np.eye(2), [[10.0**300, 10**400], [1, 2]])])


def test_times_are_not_numbers() -> None:
    times = np.array(["2020-01-01", "2021-01-01", "2022-01-01"], dtype="datetime64[D]")
    with pytest.raises(GraphError, match="node weights must be an array of numbers"):
        Graph(3, PATH, node_weights=times)  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="not a table of numbers"):
        rwk.as_graphs([np.array([times, times, times])])


def test_half_precision_attributes_are_numbers() -> None:
    graph = Graph(3, PATH, node_attributes=np.array([[1.0], [2.0], [3.0]], np.float16))
    assert graph.node_attributes is not None
    assert graph.node_attributes.dtype == np.float64
