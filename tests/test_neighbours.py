"""Nearest graphs: the bounds hold, and graphs that they exclude are not among the nearest."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from gram_graphs import QUICK, random_graphs
from rwk import Graph, GraphSet, RWKernel, as_graphs, nearest
from rwk.gram.matrix import cross_discrepancy
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.retrieval.bounds import lower_bounds, quadratic_bounds, signatures
from rwk.transport.cpu.lower_bounds import binned_quantiles, linear_bounds
from rwk.transport.measures import cut, joined

GRAPHS = random_graphs(60)
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "l2": {"feature_metric": "l2"},
    "hamming": {"feature_metric": "hamming", "hops": 0},
    "product": {"feature_metric": "product", "return_weight": 0.5},
    "attention": {"embedding": "attention", "structure": "embedding"},
    "euclidean attention": {"embedding": "attention", "structure_metric": "euclidean"},
    "local": {"variant": "RWK-LW"},
    "global": {"variant": "RWK-GW"},
    "repel": {"degree_prior": "repel", "degree_weight": 0.1},
    "sharp": {"entropy": 0.01, "max_iter": 20, "sinkhorn_iter": 100},
    "unequal": {"laplacian_source": 0.1, "laplacian_target": 0.0},
    "float32": {"precision": "float32"},
}


def dressed(kind: str, count: int) -> GraphSet:
    """Graphs with attributes and node weights, for which the bounds must hold too."""
    graphs = []
    for i, graph in enumerate(random_graphs(count)):
        rng = np.random.default_rng(i)
        weights = rng.uniform(0.1, 1.0, graph.n_nodes)
        attributes = rng.normal(size=(graph.n_nodes, 2))
        labels = graph.node_labels if kind == "both" else None
        graphs.append(
            Graph(graph.n_nodes, graph.edges, node_labels=labels, node_attributes=attributes, node_weights=weights)
        )
    return GraphSet.from_graphs(graphs)


def check_bounds(graphs: GraphSet, settings: Parameters) -> None:
    measures, _ = represent(graphs, settings)
    weights, marks = settings.cost_weights(), signatures(measures)
    for q in (0, 1):
        query = cut(measures, np.array([q]))
        values = cross_discrepancy(query, measures, settings)[0][0]
        slack = 1e-4 if settings.precision == "float32" else 1e-9
        assert (lower_bounds(signatures(query), marks, weights) <= values + slack).all()
        pairs = np.stack([np.zeros(len(graphs), np.int64), 1 + np.arange(len(graphs))], axis=1)
        tight = linear_bounds(joined(query, measures), pairs, weights.beta_local)
        tight += quadratic_bounds(signatures(query), marks, weights)
        assert (tight <= values + slack).all()


@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_lie_below(name: str) -> None:
    check_bounds(GRAPHS[:30], Parameters.of({**QUICK, **SETTINGS[name]}))


@pytest.mark.parametrize("kind", ["attributes", "both"])
def test_bounds_lie_below_with_attributes_and_weights(kind: str) -> None:
    check_bounds(dressed(kind, 20), Parameters.of(QUICK))


def test_quantiles_of_a_step() -> None:
    values, mass = np.array([[2.0], [0.0], [1.0]]), np.array([0.5, 0.25, 0.25])
    np.testing.assert_allclose(binned_quantiles(values, mass, np.array([0, 3]), 2)[0, 0], [0.5, 2.0])


def test_quantile_distance_never_grows_by_averaging() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 1))
    exact = np.mean((np.sort(values[:30, 0]) - np.sort(values[30:, 0])) ** 2)
    for bins in (1, 3, 7, 30):
        both = binned_quantiles(values, np.full(60, 0.1), np.array([0, 30, 60]), bins)
        assert np.mean((both[0] - both[1]) ** 2) <= exact + 1e-12
    assert np.mean((both[0] - both[1]) ** 2) == pytest.approx(exact)


@pytest.mark.parametrize("name", ["default", "l2", "hamming", "product", "global", "repel", "float32"])
@pytest.mark.parametrize("debias", [False, True])
def test_the_answer_is_that_of_the_full_scan(name: str, debias: bool) -> None:
    kernel = RWKernel(**{**QUICK, **SETTINGS[name]}, debias=debias).fit(GRAPHS)
    queries = random_graphs(5, seed=3)
    D = kernel.discrepancy(queries)
    found = nearest(queries, kernel, k=4)
    order = np.argsort(D, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.values, np.take_along_axis(D, order, axis=1))
    assert found.n_solved <= found.n_candidates


def test_candidates_that_can_not_win_are_not_solved() -> None:
    paths = [nx.path_graph(n) for n in range(5, 45)]
    cliques = [nx.complete_graph(n) for n in range(5, 45)]
    found = nearest(nx.path_graph(20), [*paths, *cliques], k=3, **QUICK)
    assert (found.indices < 40).all()
    assert found.share_solved < 0.6


def test_a_share_is_not_exceeded() -> None:
    found = nearest(random_graphs(4, seed=3), GRAPHS, k=3, max_share=0.1, **QUICK)
    assert found.indices.shape == (4, 3)
    assert found.n_solved <= 4 * 6
    assert found.n_candidates == 240


def test_a_graph_is_nearest_to_itself_when_debiased() -> None:
    found = nearest(GRAPHS[[17]], GRAPHS, k=1, debias=True, **QUICK)
    assert found.indices.tolist() == [17]
    assert found.values[0] == 0.0


def test_bad_requests() -> None:
    with pytest.raises(ValueError, match="k=61 is outside its range: there are 60 graphs"):
        nearest(GRAPHS[[0]], GRAPHS, k=61)
    with pytest.raises(ValueError, match=r"max_share=2 is outside its range"):
        nearest(GRAPHS[[0]], GRAPHS, k=1, max_share=2)
    with pytest.raises(ValueError, match="a fitted kernel has its own parameters"):
        nearest(GRAPHS[[0]], RWKernel().fit(GRAPHS), k=1, entropy=0.3)


def test_a_candidate_can_be_left_out() -> None:
    """The answer is that of a search without the candidate, in the numbers of the whole set."""
    graphs = as_graphs([nx.cycle_graph(n) for n in (4, 5, 6, 7)] + [nx.star_graph(n) for n in (3, 4, 5)])
    kernel = RWKernel(debias=True).fit(graphs)
    D = kernel.discrepancy()
    found = nearest(graphs[2], kernel, k=3, leave_out=2)
    others = np.delete(np.arange(len(graphs)), 2)
    np.testing.assert_array_equal(found.indices, others[np.argsort(D[2, others], kind="stable")[:3]])
    assert found.n_candidates == len(graphs) - 1 + len(graphs) + 1  # and what debiasing solves
    each = nearest(graphs, kernel, k=len(graphs) - 1, leave_out=range(len(graphs)))
    assert not (each.indices == np.arange(len(graphs))[:, None]).any()
    for wrong in (9, -1, [0, 1]):
        with pytest.raises(ValueError, match="one number from 0 to 6 per query"):
            nearest(graphs[2], kernel, leave_out=wrong, k=1)
    with pytest.raises(ValueError, match="there are 6 graphs to choose from"):
        nearest(graphs[2], kernel, leave_out=2, k=7)
