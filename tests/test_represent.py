"""The representation of a graph: each part against its plain definition, whatever the order of the nodes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import naive
from asserts import assert_close
from generators import (
    SHAPES,
    complete,
    cycle,
    dressed,
    graph_sets,
    graphs,
    laws,
    path,
    plain,
    representations,
)
from rwk import Graph, GraphError, GraphSet, Parameters
from rwk.graphs.colours import wl_colours
from rwk.parameters import ParameterError
from rwk.represent import pipeline, represent, structures
from rwk.represent.embedding import attention_embedding, heat_signature, loss_and_gradient
from rwk.represent.features import block_adjacency, block_laplacian, smooth_attributes
from rwk.represent.spectrum import decompose
from rwk.represent.structure import hop_counts, signs_of, structure_cost
from rwk.represent.walks import return_probabilities
from rwk.transport import measures as measures_module
from rwk.transport.mean_costs import mean_feature_costs, mean_neighbour_costs
from rwk.transport.measures import GraphMeasures

ON = {"beta_local": 1.0, "beta_global": 1.0, "laplacian_source": 0.1, "laplacian_target": 0.1}


def represented(graph_list: list[Graph], **keywords: Any) -> tuple[GraphMeasures, Any]:
    return represent(GraphSet.from_graphs(graph_list), Parameters.of(keywords))


def attention(graph: Graph, dim: int = 6) -> Any:
    A = naive.adjacency(graph)
    return attention_embedding(decompose(naive.laplacian(A)), A, dim=dim, walk_length=3, n_walks=10)


# ---------------------------------------------------------------- the whole


@laws(60)
@given(graph_sets(), representations(attention=False))
def test_costs_agree_with_the_oracle(pair: list[Graph], keywords: dict[str, Any]) -> None:
    """Features, embeddings, structures, priors, Laplacians and learned scales of a pair, from graphs alone."""
    p = Parameters.of(keywords | ON)
    measures, scale = represent(GraphSet.from_graphs(pair), p)
    wanted_scale = naive.scale_of(pair, p)
    for name, value in scale.items():
        used = name != "hamming" or p.feature_metric != "l2"
        if used and name in wanted_scale and name != "feature":
            assert_close(value, wanted_scale[name], 1e-7, what=f"scale {name}")
    found, wanted = naive.unpacked_problem(measures, 0, 1), naive.problem_of(*pair, p, wanted_scale)
    for name in ("mu", "nu", "feature", "neighbour", "misfit", "prior"):
        # nodes of equal features are at distance 0; the square root makes 3e-7 of rounding errors
        assert_close(getattr(found, name), getattr(wanted, name), 1e-6, scale=1.0, what=name)
    for side in (0, 1):
        assert_close(found.laplacians[side], wanted.laplacians[side], 1e-9, scale=1.0, what="laplacian")
        S, T = (E[side] @ E[side].T for E in (found.embeddings, wanted.embeddings))
        assert_close(S, T, 1e-9, scale=1.0, what="embedding")


@laws(30)
@given(graph_sets(min_size=1, max_size=4, max_nodes=12), st.integers(0, 9))
def test_return_probabilities(graph_list: list[Graph], seed: int) -> None:
    """Those of the oracle, whatever stands beside a graph; a renumbered node keeps its own."""
    packed = GraphSet.from_graphs(graph_list)
    found = return_probabilities(block_adjacency(packed), packed.node_offsets)
    wanted = np.concatenate([naive.return_probabilities(naive.adjacency(graph)) for graph in graph_list])
    assert_close(found, wanted, 1e-12, scale=1.0)
    order = np.random.default_rng(seed).permutation(graph_list[0].n_nodes)
    alone = GraphSet.from_graphs([graph_list[0].permuted(order)])
    moved = return_probabilities(block_adjacency(alone), alone.node_offsets)
    assert_close(moved, found[: len(order)][order], 1e-13, scale=1.0)


def test_return_probabilities_of_large_graphs_go_block_by_block() -> None:
    graph = Graph(75, np.array([*path(60), *((i, i + 30) for i in range(0, 45, 2))]))
    packed = GraphSet.from_graphs([graph])
    found = return_probabilities(block_adjacency(packed), packed.node_offsets, n_jobs=1)
    assert_close(found, naive.return_probabilities(naive.adjacency(graph)), 1e-12)


@pytest.mark.parametrize("features", ["none", "labels", "attributes", "both"])
def test_a_product_of_no_factors_is_the_hamming_cost(features: str) -> None:
    """Powers of 0 leave a factor out; what is left is the share of rounds that differ."""
    pair = [dressed(n, path(n), features, seed=n, edge_labels=True) for n in (4, 7)]
    plain, product = (
        represented(pair, feature_metric=metric, scale="none", return_weight=0.0, attribute_weight=0.0)[0]
        for metric in ("hamming", "product")
    )
    found, wanted = (naive.unpacked_problem(measures, 0, 1).feature for measures in (product, plain))
    assert_close(found, wanted, 1e-15)


def test_edge_labels_and_edge_weights_count_in_a_product() -> None:
    edges = np.array(path(6))
    plain = Graph(6, edges, node_labels=np.zeros(6, int), edge_labels=np.arange(5) % 2, edge_weights=np.ones(5))
    heavy = replace(plain, edge_weights=np.array([1.0, 9.0, 1.0, 1.0, 1.0]))
    other = replace(plain, edge_labels=np.array([1, 0, 0, 0, 0]))

    def cost(G: Graph, H: Graph, **keywords: Any) -> Any:
        measures, _ = represented([G, H], feature_metric="product", scale="none", **keywords)
        return naive.unpacked_problem(measures, 0, 1).feature

    assert np.diag(cost(plain, heavy)).max() > 1e-3
    assert np.diag(cost(plain, heavy, return_weight=0.0)).max() == 0.0
    assert np.diag(cost(plain, other, wl_edge_labels=False)).max() == 0.0
    assert np.diag(cost(plain, other)).max() > 0.2


@laws(20)
@given(graph_sets(min_size=3, max_size=5, max_nodes=6), representations(attention=False))
def test_fitted_scales_serve_new_graphs(graph_list: list[Graph], keywords: dict[str, Any]) -> None:
    """With the scales of a fit, graphs get bit-identical measures, alone or among others."""
    p = Parameters.of(keywords)
    all_measures, scale = represent(GraphSet.from_graphs(graph_list), p)
    for i, graph in enumerate(graph_list):
        alone, same = represent(GraphSet.from_graphs([graph]), p, scale=scale)
        assert same == scale
        one, other = naive.unpack(alone, 0), naive.unpack(all_measures, i)
        for name in ("weights", "degrees", "embedding", "structure", "laplacian", "colours"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert one.columns.keys() == other.columns.keys()
        for name in one.columns:
            np.testing.assert_array_equal(one.columns[name], other.columns[name])


@pytest.mark.parametrize("nodes", [1, 20, 10**6])
@pytest.mark.parametrize("metric", ["both", "product"])
def test_chunk_size_agnostic(nodes: int, metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures are bit-identical whatever the number of graphs per chunk, and of threads."""
    graph_list = [dressed(n, path(n), "both", seed=n, zero_weights=True) for n in (1, 7, 3, 12, 7, 30, 1, 7)]
    wanted, scale = represented(graph_list, feature_metric=metric, n_jobs=1)
    monkeypatch.setattr(pipeline, "NODES_PER_CHUNK", nodes)
    monkeypatch.setattr(measures_module, "LARGE", 1)  # all arrays are joined in threads
    monkeypatch.setattr(structures, "ENTRIES_AT_ONCE", 100)  # two graphs of 7 nodes at once, and one of 12 or 30
    found, same = represented(graph_list, feature_metric=metric, n_jobs=3)
    assert same == scale
    for name, array in found._asdict().items():
        np.testing.assert_array_equal(array, getattr(wanted, name), err_msg=name)


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-300, 1e300])
def test_a_laplacian_has_no_unit(weight: float) -> None:
    """Degrees near the smallest and the largest numbers there are: the weights of a graph count by their ratios."""
    adjacency = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]))
    found = block_laplacian(adjacency * weight).toarray()
    np.testing.assert_allclose(found, block_laplacian(adjacency).toarray(), rtol=1e-12)


def test_weights_whose_sum_overflows_are_named() -> None:
    heavy = replace(dressed(3, path(3), "none"), edge_weights=np.full(2, 1.7e308))
    even = replace(heavy, edge_weights=np.ones(2))
    with pytest.raises(GraphError, match="graph 1: its edge weights are too large or too unequal"):
        represented([even, heavy, even], n_jobs=1)


def test_a_chunk_names_its_graphs_by_their_number_in_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_for_four(matrices: Any) -> Any:
        if matrices.shape[-1] == 4:
            raise np.linalg.LinAlgError("did not converge")
        return eigh(matrices)

    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", fails_for_four)
    monkeypatch.setattr(pipeline, "NODES_PER_CHUNK", 5)
    with pytest.raises(GraphError, match="graph 2: its edge weights are too large or too unequal"):
        represented([dressed(n, path(n), "none") for n in (6, 3, 4, 5)], n_jobs=1)
    light = replace(dressed(3, path(3), "none"), node_weights=np.array([1.0, 1.0, 1e-200]))
    even = replace(light, node_weights=np.ones(3))
    with pytest.raises(GraphError, match="graph 3, node 2: its weight is less than"):
        represented([even, even, even, light], n_jobs=1)


def test_scale_is_learned_from_the_fitted_graphs_only() -> None:
    small = [dressed(5, path(5), "attributes", seed=s) for s in range(4)]
    large = [replace(g, node_attributes=100.0 * g.node_attributes) for g in small]
    _, scale = represented(small)
    measures, _ = represent(GraphSet.from_graphs(large), Parameters(), scale=scale)
    assert np.abs(measures.features).max() > 50 * np.abs(represented(small)[0].features).max()


@laws(20)
@given(graph_sets(max_nodes=6), representations(attention=False))
def test_given_scale(pair: list[Graph], keywords: dict[str, Any]) -> None:
    """Each given entry divides its own cost, and nothing is learned."""
    unit = Parameters.of(keywords | ON | {"scale": "none"})
    given_scale = {"feature": 2.0, "hamming": 4.0, "neighbourhood": 8.0, "structure": 16.0}
    scaled = Parameters.of(keywords | ON | {"scale": given_scale})
    one = naive.problem_of(*pair, unit, naive.scale_of(pair, unit))
    measures, learned = represent(GraphSet.from_graphs(pair), scaled)
    found = naive.unpacked_problem(measures, 0, 1)
    assert {name: learned[name] for name in given_scale} == given_scale
    assert_close(found.neighbour, one.neighbour / 8, 1e-9, scale=1.0)
    assert_close(found.misfit, one.misfit / 256, 1e-9, scale=1.0)
    wanted = naive.problem_of(*pair, scaled, naive.scale_of(pair, scaled))
    assert_close(found.feature, wanted.feature, 1e-6, scale=1.0)


@pytest.mark.parametrize("bad", [{"feature": 0.0}, {"structure": -1.0}, {"hamming": float("nan")}, {"features": 1.0}])
def test_scales_that_cannot_divide_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match="scale: "):
        represented([plain("path")], scale=bad)


def test_rounding_errors_are_no_scale() -> None:
    """Vertex-transitive graphs and constant attributes: costs that are 0 up to rounding errors are not scaled up."""
    n = 12
    ring = Graph(n, np.array(sorted(tuple(sorted(edge)) for edge in cycle(n))))
    order = np.random.default_rng(0).permutation(n)
    measures, _ = represented([ring, ring.permuted(order)], structure="embedding", embedding_dim=6, **ON)
    problem = naive.unpacked_problem(measures, 0, 1)
    assert problem.neighbour.max() < 1e-9
    assert problem.misfit.max() < 1e-9
    constant = [replace(plain(name), node_attributes=np.full((plain(name).n_nodes, 2), 0.1)) for name in SHAPES]
    measures, _ = represented(constant, feature_metric="l2")
    assert np.abs(measures.features).max() < 1e-9


# ---------------------------------------------------------------- colours and signals


@laws(40)
@given(graph_sets(max_nodes=8), st.integers(0, 4), st.booleans())
def test_wl_colours_tell_apart_what_the_oracle_does(pair: list[Graph], rounds: int, edge_labels: bool) -> None:
    """Colours are equal, in one graph or in two that were coloured separately, exactly if the oracle's texts are."""
    found = [wl_colours(GraphSet.from_graphs([graph]), rounds, edge_labels=edge_labels) for graph in pair]
    wanted = [naive.wl_colours(graph, rounds, edge_labels=edge_labels) for graph in pair]
    for r in range(rounds + 1):
        hashes = [int(c) for colours in found for c in colours[r]]
        texts = [c for colours in wanted for c in colours[r]]
        assert len(set(hashes)) == len(set(texts)) == len(set(zip(hashes, texts, strict=True)))


def test_edge_labels_enter_the_refinement_only_when_asked() -> None:
    one = Graph(3, np.array(path(3)), node_labels=np.zeros(3, int), edge_labels=np.array([0, 1]))
    for asked in (False, True):
        first = wl_colours(GraphSet.from_graphs([one]), 1, edge_labels=asked)[1]
        assert (first[0] != first[2]) == asked


@laws(20)
@given(graphs("attributes", edge_weights=True), st.integers(0, 3))
def test_smoothing_of_attributes(graph: Graph, rounds: int) -> None:
    found = smooth_attributes(GraphSet.from_graphs([graph]), graph.node_attributes, rounds)
    wanted = naive.smoothed(graph.node_attributes, naive.adjacency(graph), rounds)
    assert_close(found, np.concatenate(wanted, axis=1), 1e-12)


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_local_variation_without_edges_is_the_signal(hops: int) -> None:
    """lambda_max = 0 gives |X|, not a division by 0 (R2)."""
    graph = dressed(4, [], "attributes", seed=5)
    measures, _ = represented([graph], hops=hops, feature_metric="l2", scale="none")
    np.testing.assert_array_equal(measures.features[:, 2:], np.abs(graph.node_attributes))


@laws(20)
@given(graphs("none", edge_weights=True), st.sampled_from(["normalized", "combinatorial"]))
def test_laplacian(graph: Graph, kind: str) -> None:
    found = block_laplacian(block_adjacency(GraphSet.from_graphs([graph])), normalized=kind == "normalized")
    assert_close(found.toarray(), naive.laplacian(naive.adjacency(graph), kind), 1e-14, scale=1.0)


def test_weightless_nodes_shape_the_rest_and_leave() -> None:
    """A node of weight 0 still counts in its neighbours' colours, degrees and paths, and gets no mass (R11)."""
    whole = Graph(4, np.array(path(4)), node_labels=np.array([0, 0, 1, 0]))
    part = replace(whole, node_weights=np.array([1.0, 2.0, 0.0, 1.0]))
    full, _ = represented([whole], scale="none", **ON)
    kept, _ = represented([part], scale="none", **ON)
    np.testing.assert_array_equal(kept.weights, [0.25, 0.5, 0.25])
    rest = [0, 1, 3]
    one, other = naive.unpack(full, 0), naive.unpack(kept, 0)
    np.testing.assert_array_equal(other.degrees, one.degrees[rest])
    np.testing.assert_array_equal(other.structure, one.structure[np.ix_(rest, rest)])
    np.testing.assert_array_equal(other.embedding, one.embedding[rest])
    assert_close(other.laplacian, one.laplacian[np.ix_(rest, rest)], 1e-14)
    assert [[row[i] for i in rest] for row in one.colours] == other.colours


# ---------------------------------------------------------------- structure


@laws(40)
@given(
    graphs("none", edge_weights=True, edge_attributes=True),
    st.sampled_from(["shortest-path", "adjacency", "laplacian", "heat-kernel", "edge-distance"]),
)
def test_structure_costs(graph: Graph, kind: str) -> None:
    L = naive.laplacian(naive.adjacency(graph))
    found = structure_cost(kind, graph, L, decompose(L), None)
    assert_close(found, naive.structure_cost(kind, graph, L, None, None), 1e-7, scale=1.0, what=kind)
    np.testing.assert_array_equal(found, found.T)


def test_unreachable_pairs_are_one_step_further_than_the_furthest() -> None:
    graph = Graph(5, np.array([[0, 1], [1, 2]]))
    found = structure_cost("shortest-path", graph, np.zeros((5, 5)), None, None)
    assert found[0, 2] == 2.0
    assert (found[[0, 0, 3], [3, 4, 4]] == 3.0).all()
    alone = structure_cost("shortest-path", Graph(2, np.zeros((0, 2), int)), np.zeros((2, 2)), None, None)
    np.testing.assert_array_equal(alone, [[0, 1], [1, 0]])


def test_given_distances_are_the_structure() -> None:
    distances = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
    graph = Graph(3, np.array(path(3)), node_distances=distances)
    found = structure_cost("edge-distance", graph, np.zeros((3, 3)), None, None)
    np.testing.assert_array_equal(found, [[0.0, 1.5, 4.0], [1.5, 0.0, 1.0], [4.0, 1.0, 0.0]])


def test_negative_lengths_are_refused() -> None:
    graph = Graph(3, np.array([[0, 1], [1, 2]]), edge_attributes=np.array([[1.0], [-2.5]]))
    with pytest.raises(GraphError, match=r"the edge of nodes 1 and 2 has length -2\.5; lengths .* 0 or more"):
        represent(GraphSet.from_graphs([graph]), Parameters(structure="edge-distance"))


def test_edge_distances_need_edge_attributes() -> None:
    with pytest.raises(GraphError, match="needs edge attributes"):
        represented([plain("path")], structure="edge-distance")


# ---------------------------------------------------------------- embeddings


@laws(25)
@given(graphs("none", max_nodes=12, edge_weights=True), st.integers(1, 20))
def test_heat_signature(graph: Graph, dim: int) -> None:
    L = naive.laplacian(naive.adjacency(graph))
    assert_close(heat_signature(decompose(L), dim), naive.heat_signature(L, dim), 1e-11)


@laws(15)
@given(graphs("none", max_nodes=6, edge_weights=True), st.integers(0, 999))
def test_attention_loss_and_gradient(graph: Graph, seed: int) -> None:
    """The loss is as defined, and the gradient agrees with finite differences."""
    rng = np.random.default_rng(seed)
    n, k, length = graph.n_nodes, 2, 3
    A = naive.adjacency(graph)
    heats = [naive.heat(naive.laplacian(A), t) for t in range(1, length + 1)]
    F, R, logits = rng.normal(size=(n, k)), rng.normal(size=(n, k)), rng.normal(size=length)
    found = np.empty((n, k)), np.empty((n, k)), np.empty(length)
    apart = (A == 0).astype(float)
    loss = loss_and_gradient(np.stack(heats), apart, F, R, logits, 10.0, *found)
    assert_close(loss, naive.attention_loss(F, R, logits, A, heats, 10.0), 1e-12, what="loss")
    stated = naive.attention_gradient(F, R, logits, A, heats, 10.0)
    measured = (
        naive.finite_differences(lambda x: naive.attention_loss(x, R, logits, A, heats, 10.0), F),
        naive.finite_differences(lambda x: naive.attention_loss(F, x, logits, A, heats, 10.0), R),
        naive.finite_differences(lambda x: naive.attention_loss(F, R, x, A, heats, 10.0), logits),
    )
    size = max(abs(loss), 1.0)
    for compiled, plainly, by_steps in zip(found, stated, measured, strict=True):
        assert_close(compiled, plainly, 1e-11, scale=size, what="gradient")
        assert_close(compiled, by_steps, 1e-7, scale=size, what="finite differences")


@laws(6)
@given(graphs("none", max_nodes=9, edge_weights=True))
def test_attention_embedding_agrees_with_the_oracle(graph: Graph) -> None:
    wanted = naive.attention_embedding(naive.adjacency(graph), dim=6, walk_length=3, n_walks=10)
    assert_close(attention(graph), wanted, 1e-6, scale=1.0)


@pytest.mark.parametrize("name", SHAPES)
def test_attention_embedding_of_symmetric_graphs(name: str) -> None:
    """Nodes that cannot be told apart get the same row; 200 steps do not magnify rounding errors."""
    graph = plain(name)
    wanted = naive.attention_embedding(naive.adjacency(graph), dim=6, walk_length=3, n_walks=10)
    found = attention(graph)
    assert_close(found, wanted, 1e-6, scale=1.0)
    mean = naive.alike(naive.laplacian(naive.adjacency(graph)))
    assert_close(mean @ found, found, 1e-12, scale=1.0)


@laws(25)
@given(graphs("none", max_nodes=12, edge_weights=True), st.integers(0, 999))
def test_node_order_of_heat_signatures(graph: Graph, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(graph.n_nodes)

    def rows(g: Graph) -> Any:
        return heat_signature(decompose(naive.laplacian(naive.adjacency(g))), 16)

    assert_close(rows(graph.permuted(order)), rows(graph)[order], 1e-6)


@laws(25)
@given(graphs("none", max_nodes=12), st.booleans(), st.sampled_from([6, 64]), st.integers(0, 999))
def test_node_order_of_attention_embeddings(graph: Graph, weighted: bool, dim: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    if weighted:
        graph = replace(graph, edge_weights=rng.choice([0.5, 1.0, 2.0], graph.n_edges))
    order = rng.permutation(graph.n_nodes)
    assert_close(attention(graph.permuted(order), dim), attention(graph, dim)[order], 1e-6, scale=1.0)


@pytest.mark.parametrize("name", SHAPES)
def test_node_order_of_symmetric_graphs(name: str) -> None:
    graph = plain(name)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(graph.n_nodes)
        assert_close(attention(graph.permuted(order), 16), attention(graph, 16)[order], 1e-6, scale=1.0)


def test_complete_graphs_of_any_size_embed_at_the_centre() -> None:
    for n in (2, 5, 30):
        assert not attention(Graph(n, np.array(complete(n)))).any()


def test_signs_have_three_values() -> None:
    E = np.array([[1.0, 2.0, 0.3], [1.0 + 1e-12, 0.0, 0.3], [1.0, -2.0, 0.3]])
    np.testing.assert_array_equal(signs_of(E), [[0, 1, 0], [0, 0, 0], [0, -1, 0]])
    np.testing.assert_array_equal(signs_of(E), naive.signs(E))


# ---------------------------------------------------------------- without compiled code


@laws(60)
@given(graphs())
def test_paths_are_the_same_with_and_without_compiled_code(graph: Graph) -> None:
    counted = hop_counts(graph.n_nodes, graph.edges)
    np.testing.assert_array_equal(counted, hop_counts(graph.n_nodes, graph.edges, plain=True))


@laws(40)
@given(graph_sets(), representations(attention=False))
def test_mean_costs_are_the_same_with_and_without_compiled_code(pair: list[Graph], keywords: dict[str, Any]) -> None:
    measures, _ = represented(pair, **keywords)
    for means in (mean_feature_costs, mean_neighbour_costs):
        alone, twice = means(measures, np.array([[0, 1]])), means(measures, np.array([[0, 1], [0, 1]]))
        assert_close(alone[0], twice[0], 1e-12, scale=1.0)


def test_a_first_alignment_compiles_nothing(tmp_path: Path) -> None:
    code = "import networkx as nx, rwk; print(rwk.align(nx.path_graph(20), nx.cycle_graph(21)).value)"
    fresh = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], check=True, env=fresh, capture_output=True, text=True)
    assert float(found.stdout) > 0.0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
