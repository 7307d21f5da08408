"""Baselines against plain and slow implementations of their definitions, and against values computed by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest

from baseline_graphs import as_networkx, colours_of, dense, random_set, without
from rwk import Graph, GraphSet, baselines
from rwk.baselines.graph_hopper import path_counts
from rwk.baselines.network_simplex import first_tree, flows, improve, uniform_plan
from rwk.baselines.pyramid_match import spectral_points
from rwk.baselines.retgk import return_probabilities

GRAPHS = random_set(2, 7, low=3, high=8)
LABELLED = without(GRAPHS, "node_attributes")


def test_wl_oa_is_the_best_assignment() -> None:
    from scipy.optimize import linear_sum_assignment

    found = baselines.get("wl-oa", rounds=2, normalize=False).fit_transform(LABELLED)
    for i, j in product(range(4), repeat=2):
        a, b = colours_of(LABELLED[i], 2), colours_of(LABELLED[j], 2)
        shared = np.zeros((len(a[0]), len(b[0])))
        for x, y in zip(a, b, strict=True):
            shared += [[c == d for d in y] for c in x]
        rows, columns = linear_sum_assignment(-shared)
        assert found[i, j] == shared[rows, columns].sum()


def test_hopper_counts_are_those_of_enumerated_paths() -> None:
    for graph in GRAPHS:
        network = as_networkx(graph)
        counts = path_counts(graph)
        wanted = np.zeros_like(counts)
        for source, target in product(network, repeat=2):
            if nx.has_path(network, source, target):
                for path in nx.all_shortest_paths(network, source, target):
                    j = len(path) - 1
                    for i, v in enumerate(path):
                        wanted[v, j * (j + 1) // 2 + i] += 1
        np.testing.assert_array_equal(counts, wanted)


def test_return_probabilities_are_powers_of_the_walk() -> None:
    for graph in GRAPHS:
        lazy = dense(graph) + np.eye(graph.n_nodes)
        walk = lazy / lazy.sum(axis=1, keepdims=True)
        wanted = [np.diag(np.linalg.matrix_power(walk, s)) for s in range(1, 8)]
        np.testing.assert_allclose(return_probabilities(graph, 7).T, wanted, atol=1e-12)


@pytest.mark.parametrize("with_attributes", [False, True])
def test_retgk_by_its_definition(with_attributes: bool) -> None:
    graphs = GRAPHS if with_attributes else LABELLED
    kernel = baselines.get("retgk", steps=6)
    found = kernel.fit_transform(graphs)
    returns = [return_probabilities(graph, 6) for graph in graphs]
    deviation, mean = (GRAPHS.node_attributes.std(axis=0), GRAPHS.node_attributes.mean(axis=0))

    def median(rows: Any) -> float:
        distances = np.array([np.linalg.norm(x - y) for k, x in enumerate(rows) for y in rows[k + 1 :]])
        return float(np.median(distances[distances > 1e-8]))

    unit = median(np.concatenate(returns))
    attribute_unit = median((GRAPHS.node_attributes - mean) / deviation)

    def node_kernel(i: int, v: int, j: int, w: int) -> float:
        value = np.exp(-np.linalg.norm(returns[i][v] - returns[j][w]) / unit)
        value *= graphs[i].node_labels[v] == graphs[j].node_labels[w]
        if with_attributes:
            apart = (graphs[i].node_attributes[v] - graphs[j].node_attributes[w]) / deviation
            value *= np.exp(-np.linalg.norm(apart) / attribute_unit)
        return float(value)

    mean_kernel = np.empty((len(graphs), len(graphs)))
    for i, j in product(range(len(graphs)), repeat=2):
        pairs = product(range(graphs.sizes[i]), range(graphs.sizes[j]))
        mean_kernel[i, j] = np.mean([node_kernel(i, v, j, w) for v, w in pairs])
    own = mean_kernel.diagonal()
    mmd = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * mean_kernel, 0))
    upper = mmd[np.triu_indices(len(graphs), 1)]
    np.testing.assert_allclose(found, np.exp(-mmd / np.median(upper)), atol=1e-6)


@pytest.mark.parametrize("name", ["hgk-wl", "hgk-sp"])
def test_hash_kernels_by_their_definition(name: str) -> None:
    kernel = baselines.get(name, n_hashes=4, normalize=False)
    found = kernel.fit_transform(GRAPHS)
    x = (GRAPHS.node_attributes - GRAPHS.node_attributes.mean(axis=0)) / GRAPHS.node_attributes.std(axis=0)
    labels = np.floor(x @ kernel.directions_ + kernel.shifts_).astype(int)
    wanted = np.zeros_like(found)
    for h in range(4):
        counts = []
        for i, graph in enumerate(GRAPHS):
            mine = labels[GRAPHS.node_offsets[i] : GRAPHS.node_offsets[i + 1], h]
            counts.append(_wl_counts(graph, mine) if name == "hgk-wl" else _path_triples(graph, mine))
        wanted += [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]
    np.testing.assert_allclose(found, wanted / 4, rtol=1e-12)


def _wl_counts(graph: Graph, labels: Any) -> Counter[Any]:
    relabelled = Graph(graph.n_nodes, graph.edges, node_labels=labels)
    return Counter((t, repr(c)) for t, row in enumerate(colours_of(relabelled, 3)) for c in row)


def _path_triples(graph: Graph, labels: Any) -> Counter[Any]:
    lengths = dict(nx.all_pairs_shortest_path_length(as_networkx(graph)))
    return Counter(
        (*sorted((int(labels[v]), int(labels[w]))), length)
        for v, row in lengths.items()
        for w, length in row.items()
        if v < w
    )


@pytest.mark.parametrize("cycles", [False, True])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_persistence_by_its_definition(cycles: bool, power: float) -> None:
    """Components are sets of nodes; when two merge, the one whose smallest colour is larger ends.

    The order of colours is the library's choice, so only the total persistence is compared, which does not depend on
    it.
    """
    from rwk.baselines.persistent_wl import PWL

    kernel = PWL(rounds=2, power=power, cycles=cycles, normalize=False)
    terms = kernel.fit(LABELLED).fitted_
    for i, graph in enumerate(LABELLED):
        colours = colours_of(graph, 2)
        network = as_networkx(graph)
        for t in range(3):
            old = colours[max(t - 1, 0)]
            weight = {}
            for v, w in network.edges:
                around = [Counter(repr(old[x]) for x in network[node]) for node in (v, w)]
                apart = sum(((around[0] - around[1]) + (around[1] - around[0])).values()) if t else 0
                weight[v, w] = (old[v] != old[w]) + apart + 1.0
            component = {v: {v} for v in network}
            total = 0.0
            for v, w in sorted(network.edges, key=lambda edge: weight[edge]):
                if component[v] is component[w]:
                    total += 2 * weight[v, w] ** power if cycles else 0.0
                    continue
                total += weight[v, w] ** power
                both = component[v] | component[w]
                for x in both:
                    component[x] = both
            survivors = nx.number_connected_components(network)
            total += survivors * max(weight.values(), default=1.0) ** power
            np.testing.assert_allclose(terms[t].counts.sum(axis=1)[i], total)


def test_persistence_of_a_triangle_with_a_tail() -> None:
    # labels 0 0 1 - 1: edges 01 weighs 1, 02 and 12 weigh 2, 23 weighs 1; two unions at 1, one at 2, one cycle at 2
    edges = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    graph = GraphSet.from_graphs([Graph(4, edges, node_labels=np.array([0, 0, 1, 1]))])
    kernel = baselines.get("p-wl", rounds=0, normalize=False).fit(graph)
    counts = sorted(kernel.fitted_[0].counts.toarray().ravel().tolist())
    # the colour that survives has 1 + 2 (its survivor gets the largest weight), the other 1 + 2; the cycle 2 at each
    assert counts == [2.0, 2.0, 3.0, 3.0]


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("scale", ["uniform", "degree"])
@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_gntk_by_its_definition(
    layers: int, scale: str, jumping: bool, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "gpu":
        pytest.importorskip("torch")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    given = {"blocks": 3, "layers": layers, "scale": scale, "jumping": jumping, "backend": backend}
    found = baselines.get("gntk", normalize=False, **given).fit_transform(LABELLED)
    for i, j in product(range(len(LABELLED)), repeat=2):
        wanted = _tangent(LABELLED[i], LABELLED[j], 3, layers, scale, jumping)
        np.testing.assert_allclose(found[i, j], wanted, rtol=1e-6)


@pytest.mark.parametrize("entries", [1, 300, 2**26])
def test_gntk_on_the_gpu_does_not_depend_on_its_tiles(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from rwk.baselines import gntk_gpu

    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    monkeypatch.setattr(gntk_gpu, "TILE", entries)
    ragged = without(random_set(4, 9, low=1, high=9), "node_attributes")
    ragged = replace(ragged, node_labels=ragged.node_labels - 1)  # a label may be any number
    mine, theirs = baselines.get("gntk", backend="gpu"), baselines.get("gntk")
    for (name, found), (same, wanted) in zip(mine.settings(ragged), theirs.settings(ragged), strict=True):
        assert name == same
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8)
    for blocks in (1, 4):
        both = (kernel.set_params(blocks=blocks).fit(ragged[2:]) for kernel in (mine, theirs))
        found, wanted = (kernel.transform(ragged[:2]) for kernel in both)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7)


def _tangent(g: Graph, h: Graph, blocks: int, layers: int, scale: str, jumping: bool) -> float:
    """Both graphs as one, which has the whole diagonal of Σ."""
    n, total = g.n_nodes, g.n_nodes + h.n_nodes
    closed = np.zeros((total, total))
    closed[:n, :n], closed[n:, n:] = dense(g) + np.eye(n), dense(h) + np.eye(h.n_nodes)
    if scale == "degree":
        closed /= closed.sum(axis=1, keepdims=True)
    labels = np.concatenate([g.node_labels, h.node_labels])
    sigma = (labels[:, None] == labels[None, :]).astype(float)
    theta = sigma.copy()
    results = [theta[:n, n:].sum()]
    for _ in range(blocks):
        sigma, theta = closed @ sigma @ closed.T, closed @ theta @ closed.T
        for _ in range(layers):
            norm = np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
            angle = np.arccos(np.clip(sigma / norm, -1, 1))
            sigma = norm * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
            theta = theta * (np.pi - angle) / np.pi + sigma
        results.append(theta[:n, n:].sum())
    return float(sum(results) if jumping else results[-1])


def test_pyramid_match_by_its_definition() -> None:
    found = baselines.get("wl-pm", rounds=0, levels=3, dimension=3, normalize=False).fit_transform(LABELLED)
    points = [spectral_points(graph, 3) for graph in LABELLED]

    def intersection(i: int, j: int, level: int) -> int:
        counts = [
            Counter(
                (d, min(int(x * 2**level), 2**level - 1), int(label))
                for row, label in zip(points[k], LABELLED[k].node_labels, strict=True)
                for d, x in enumerate(row)
            )
            for k in (i, j)
        ]
        return sum((counts[0] & counts[1]).values())

    for i, j in product(range(len(LABELLED)), repeat=2):
        at = [intersection(i, j, level) for level in range(4)]
        wanted = at[3] + sum((at[level] - at[level + 1]) / 2 ** (3 - level) for level in range(3))
        np.testing.assert_allclose(found[i, j], wanted, rtol=1e-12)


def test_spectral_points_are_absolute_eigenvectors() -> None:
    rng = np.random.default_rng(4)
    weights = np.triu(rng.random((6, 6)), 1)
    edges = np.array(np.nonzero(weights)).T
    graph = Graph(6, edges, edge_weights=weights[weights > 0])
    values, vectors = np.linalg.eigh(weights + weights.T)
    order = np.argsort(-np.abs(values))[:4]
    np.testing.assert_allclose(spectral_points(graph, 4), np.abs(vectors[:, order]), atol=1e-8)


def test_spectral_points_of_a_cycle_do_not_depend_on_the_order_of_nodes() -> None:
    # every eigenvalue but the largest is double (or ±): each node has an equal share of each space
    points = spectral_points(Graph(6, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 5]])), 6)
    np.testing.assert_allclose(points, np.sqrt(1 / 6), atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_transport_between_equally_many_is_the_best_assignment(seed: int) -> None:
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    cost = rng.integers(0, 3, (n, n)).astype(float) if seed % 2 else rng.normal(size=(n, n))
    rows, columns = linear_sum_assignment(cost)
    np.testing.assert_allclose((uniform_plan(cost) * cost).sum(), cost[rows, columns].mean(), atol=1e-12)


@pytest.mark.parametrize(("n", "m"), [(1, 7), (7, 1), (6, 4), (12, 18), (31, 30), (5, 20)])
def test_transport_is_the_linear_program(n: int, m: int) -> None:
    from scipy.optimize import linprog

    cost = np.random.default_rng(n * m).random((n, m))
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    wanted = linprog(cost.ravel(), A_eq=sums, b_eq=masses).fun
    np.testing.assert_allclose((uniform_plan(cost) * cost).sum(), wanted, rtol=1e-9)


def test_transport_from_the_basis_of_another_problem() -> None:
    rng = np.random.default_rng(8)
    tree = first_tree(rng.random((20, 14)))
    for scale in (0.0, 1.0, 5.0):
        cost = rng.integers(0, 4, (20, 14)) + scale * rng.random((20, 14))
        improve(cost, tree)
        flow = flows(tree, 20, 14)
        assert (flow.sum(axis=1) == 7).all()
        assert (flow.sum(axis=0) == 10).all()
        np.testing.assert_allclose((flow * cost).sum() / 140, (uniform_plan(cost) * cost).sum(), rtol=1e-12)


def test_fgw_of_two_edges_by_hand() -> None:
    # same structure, labels (0, 0) against (0, 1): half the mass changes its label; structure matches exactly
    edge = np.array([[0, 1]])
    pair = GraphSet.from_graphs([Graph(2, edge, node_labels=np.array(labels)) for labels in ([0, 0], [0, 1])])
    kernel = baselines.get("fgw", alpha=0.5, rounds=0).fit(pair)
    np.testing.assert_allclose(kernel.discrepancy(), [[0.0, 0.25], [0.25, 0.0]], atol=1e-12)


def test_propagation_keeps_isolated_nodes() -> None:
    alone = GraphSet.from_graphs([Graph(2, np.empty((0, 2), np.int64), node_labels=np.array([0, 1]))] * 2)
    np.testing.assert_array_equal(baselines.get("pk", rounds=3, normalize=False).fit_transform(alone), 8.0)
