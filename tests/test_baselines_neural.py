"""The neural baselines: layers against PyG; they learn, ignore the order of nodes, and are reproducible."""

from __future__ import annotations

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from baseline_graphs import permuted, random_graph, random_set, without
from rwk import Graph, GraphError, GraphSet, baselines
from rwk.baselines.receptive_fields import receptive_fields

torch = pytest.importorskip("torch", reason="torch is not installed (extra: baselines)")

from rwk.baselines.networks import capsgnn, dgcnn, gin, training  # noqa: E402
from rwk.baselines.networks.batches import (  # noqa: E402
    NodeBatch,
    graph_tensors,
    rows_by_graph,
    spread_over_nodes,
    sum_over_neighbours,
    sum_over_nodes,
)

NEURAL = ["patchy-san", "dgcnn", "capsgnn", "gin"]
GRAPHS = random_set(3, 10, low=5, high=9)


def batch_of(graphs: GraphSet, width: int = 6) -> NodeBatch:
    x = np.random.default_rng(0).normal(size=(int(graphs.node_offsets[-1]), width))
    return graph_tensors(graphs, x, None, "cpu").batch(np.arange(len(graphs)))


def two_kinds(count: int) -> tuple[GraphSet, np.ndarray[Any, Any]]:
    """Cycles and stars with random labels."""
    rng = np.random.default_rng(1)
    graphs = []
    for i in range(count):
        n = 6 + i % 5
        star = np.array([[0, j] for j in range(1, n)])
        ring = np.array(sorted([[j, j + 1] for j in range(n - 1)] + [[0, n - 1]]))
        graphs.append(Graph(n, star if i % 2 else ring, node_labels=rng.integers(0, 2, n)))
    return GraphSet.from_graphs(graphs), np.arange(count) % 2


def test_gin_layer_agrees_with_pyg() -> None:
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed (extra: baselines)")
    batch = batch_of(GRAPHS)
    layer = gin.GINLayer(6, 4).eval()
    theirs = pyg.GINConv(layer.mlp, eps=0.0, train_eps=False)
    wanted = theirs(batch.x, torch.stack([batch.tails, batch.heads]))
    torch.testing.assert_close(layer(batch.x, batch), wanted)


def test_dgcnn_layer_agrees_with_pyg() -> None:
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed (extra: baselines)")
    batch = batch_of(GRAPHS)
    layer = dgcnn.DGCNNLayer(6, 4)
    mean = pyg.SimpleConv(aggr="mean", combine_root="self_loop")
    wanted = mean(layer.linear(batch.x), torch.stack([batch.tails, batch.heads])).tanh()
    torch.testing.assert_close(layer(batch.x, batch), wanted)


def as_on_a_gpu(batch: NodeBatch) -> NodeBatch:
    """The same batch, with sums computed as on a GPU."""
    members = torch.nn.functional.one_hot(batch.owner, batch.n_graphs).T
    return batch._replace(members=members.to(batch.x.dtype))


def test_a_batch_is_the_chosen_graphs_in_their_order() -> None:
    x = np.random.default_rng(0).normal(size=(int(GRAPHS.node_offsets[-1]), 2))
    chosen = np.array([7, 2, 5])
    batch = graph_tensors(GRAPHS, x, None, "cpu").batch(chosen)
    assert batch.numbers.tolist() == chosen.tolist()
    assert batch.sizes.tolist() == GRAPHS.sizes[chosen].tolist()
    assert batch.widest == GRAPHS.sizes[chosen].max()
    wanted, first = set(), 0
    for number in chosen:
        rows = x[GRAPHS.node_offsets[number] : GRAPHS.node_offsets[number + 1]]
        np.testing.assert_allclose(batch.x[first : first + len(rows)], rows, rtol=1e-6)
        wanted |= {(a + first, b + first) for u, v in GRAPHS[int(number)].edges.tolist() for a, b in ((u, v), (v, u))}
        first += len(rows)
    found = list(zip(batch.tails.tolist(), batch.heads.tolist(), strict=True))
    assert len(found) == len(wanted)
    assert set(found) == wanted
    assert batch.heads.tolist() == sorted(batch.heads.tolist())
    assert batch.degrees.tolist() == np.bincount(batch.heads, minlength=first).tolist()


@pytest.mark.parametrize("place", [lambda batch: batch, as_on_a_gpu])
def test_gradient_of_the_sum_over_neighbours(place: Any) -> None:
    batch = place(batch_of(GRAPHS))
    x = batch.x.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: sum_over_neighbours(x, batch), x)


def test_sums_of_a_gpu_are_those_of_a_processor() -> None:
    lonely = Graph(3, np.empty((0, 2), np.int64))
    here = batch_of(GraphSet.from_graphs([lonely, *without(GRAPHS, "node_labels", "node_attributes"), lonely]))
    there = as_on_a_gpu(here)
    torch.testing.assert_close(sum_over_neighbours(here.x, there), sum_over_neighbours(here.x, here))
    sums = sum_over_nodes(here.x, here)
    torch.testing.assert_close(sum_over_nodes(here.x, there), sums)
    assert torch.equal(spread_over_nodes(sums, there), spread_over_nodes(sums, here))


@pytest.mark.parametrize("width", [1, 4, 6, 9])
@pytest.mark.parametrize("reverse", [False, True])
def test_rows_by_graph_and_their_gradient(width: int, reverse: bool) -> None:
    batch = batch_of(GRAPHS[:4], width=2)
    rows = batch.x.double().requires_grad_()
    bounds = zip(batch.starts.tolist(), batch.sizes.tolist(), strict=True)
    nodes = [list(range(first, first + size))[:: -1 if reverse else 1] for first, size in bounds]
    order = torch.tensor([node for own in nodes for node in own]) if reverse else None
    found = rows_by_graph(rows, batch, width, order)
    for number, own in enumerate(nodes):
        kept = own[:width]
        assert torch.equal(found[number, : len(kept)], rows[kept])
        assert not found[number, len(kept) :].any()
    assert torch.autograd.gradcheck(lambda rows: rows_by_graph(rows, batch, width, order), rows)


@pytest.mark.parametrize("k", [3, 7, 12])
def test_sort_pooling_agrees_with_pyg(k: int) -> None:
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed (extra: baselines)")
    batch = batch_of(GRAPHS)
    wanted = pyg.SortAggregation(k)(batch.x, batch.owner).reshape(batch.n_graphs, k, -1)
    torch.testing.assert_close(dgcnn.sort_pool(batch.x, batch, k), wanted)


def test_capsule_convolution_agrees_with_pyg() -> None:
    pyg = pytest.importorskip("torch_geometric.nn", reason="PyG is not installed (extra: baselines)")
    batch = batch_of(GRAPHS)
    network = capsgnn.CapsGNNNetwork(6, 2, hidden=4, shape=(1, 2), graph_capsules=3, rounds=3)
    torch.nn.init.zeros_(network.convolutions[0].bias)
    theirs = pyg.GCNConv(6, 8, bias=False)
    theirs.lin.weight.data = network.convolutions[0].weight.data
    wanted = theirs(batch.x, torch.stack([batch.tails, batch.heads])).tanh().reshape(-1, 2, 4)
    torch.testing.assert_close(network._node_capsules(batch), wanted)


def test_squash_by_hand() -> None:
    # length 5 becomes 25/26, the direction stays
    torch.testing.assert_close(
        capsgnn.squash(torch.tensor([[3.0, 4.0]])), torch.tensor([[0.6, 0.8]]) * 25 / 26, atol=1e-6, rtol=0
    )


def test_routing_by_its_definition() -> None:
    generator = torch.Generator().manual_seed(0)
    children = torch.randn((2, 3, 5, 4), generator=generator)  # graphs, channels, nodes, in
    weights = torch.randn((2, 3, 4, 6), generator=generator)  # parents, channels, in, out
    sizes = [3, 5]
    children[0, :, sizes[0] :] = 0.0
    found = capsgnn.route(children, weights, 3)
    for graph, size in enumerate(sizes):
        votes = torch.stack([
            torch.stack([children[graph, c, n] @ weights[p, c] for p in range(2)])
            for n in range(size) for c in range(3)
        ])  # fmt: skip
        logits = torch.zeros(len(votes), 2)
        for _ in range(3):
            shares = torch.exp(logits) / torch.exp(logits).sum(dim=1, keepdim=True)
            parents = torch.stack([capsgnn.squash((shares[:, p, None] * votes[:, p]).sum(dim=0)) for p in range(2)])
            logits = logits + torch.stack([(votes[:, p] * parents[p]).sum(dim=1) for p in range(2)], dim=1)
        torch.testing.assert_close(found[graph], parents)


def test_fields_follow_betweenness() -> None:
    graph = random_graph(np.random.default_rng(5), 9, 0.4)
    graphs = GraphSet.from_graphs([graph])
    network = nx.Graph(graph.edges.tolist())
    network.add_nodes_from(range(9))
    centrality = nx.betweenness_centrality(network, normalized=False)
    fields = receptive_fields(graphs, 9, 4).reshape(9, 4)
    ranked = [next(v for v in row if v >= 0) for row in receptive_fields(graphs, 9, 1).reshape(9, 1).tolist()]
    values = [centrality[v] for v in ranked]
    assert values == sorted(values, reverse=True)
    rank = {v: r for r, v in enumerate(ranked)}
    for centre, row in zip(ranked, fields.tolist(), strict=True):
        apart = nx.single_source_shortest_path_length(network, centre)
        nearest = sorted(apart, key=lambda v: (apart[v], rank[v]))[:4]
        assert [v for v in row if v >= 0] == nearest  # the centre first, then ring by ring


def test_fields_do_not_depend_on_the_order_of_nodes() -> None:
    rng = np.random.default_rng(6)
    graph = random_graph(rng, 8, 0.5, n_labels=8)
    order = rng.permutation(8)
    one = receptive_fields(GraphSet.from_graphs([graph]), 5, 4)
    other = receptive_fields(GraphSet.from_graphs([graph.permuted(order)]), 5, 4)
    np.testing.assert_array_equal(np.where(other >= 0, order[other], -1), one)


@pytest.mark.parametrize("name", NEURAL)
def test_overfits_a_tiny_set(name: str) -> None:
    graphs, targets = two_kinds(10)
    method = baselines.get(name, epochs=60, validation=0.0, learning_rate=1e-2, batch_size=10)
    if "dropout" in method.get_params():
        method.set_params(dropout=0.0)
    method.fit(graphs, targets)
    assert (method.predict(graphs) == targets).all()


@pytest.mark.parametrize("name", NEURAL)
def test_node_permutation(name: str) -> None:
    rng = np.random.default_rng(7)
    # attributes make the order of nodes unique that PATCHY-SAN reads them in
    graphs = GraphSet.from_graphs([random_graph(rng, 7, 0.5) for _ in range(8)])
    method = baselines.get(name, epochs=2, validation=0.0).fit(graphs, np.arange(8) % 2)
    np.testing.assert_allclose(method.predict_proba(permuted(graphs)), method.predict_proba(graphs), atol=1e-5)


@pytest.mark.parametrize("name", NEURAL)
def test_same_seed_same_network(name: str) -> None:
    graphs, targets = two_kinds(12)
    state = torch.random.get_rng_state()
    first, second = (baselines.get(name, epochs=3, validation=0.25).fit(graphs, targets) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(graphs), second.predict_proba(graphs))
    other = baselines.get(name, epochs=3, validation=0.25, random_state=1).fit(graphs, targets)
    assert not np.array_equal(first.predict_proba(graphs), other.predict_proba(graphs))
    assert torch.equal(state, torch.random.get_rng_state()), "the caller's random state was touched"


@pytest.mark.parametrize("chosen", [True, False])
def test_training_on_a_gpu_leaves_the_callers_choices(chosen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # put back when the test is over
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", chosen)
    torch.use_deterministic_algorithms(chosen)
    try:
        with training.same_every_time(torch.device("cuda")):
            assert torch.are_deterministic_algorithms_enabled()
            assert not torch.utils.deterministic.fill_uninitialized_memory
        assert torch.are_deterministic_algorithms_enabled() is chosen
        assert torch.utils.deterministic.fill_uninitialized_memory is chosen
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("name", NEURAL)
@pytest.mark.parametrize("fields", [(), ("node_labels",), ("node_attributes",), ("node_labels", "node_attributes")])
def test_runs_on_labels_attributes_or_neither(name: str, fields: tuple[str, ...]) -> None:
    graphs = without(GRAPHS, *fields)
    targets = np.array(["a", "b"] * 5)
    method = baselines.get(name, epochs=2, validation=0.2).fit(graphs, targets)
    assert 1 <= method.chosen_["epoch"] <= 2
    assert 0.0 <= method.validation_score_ <= 1.0
    proba = method.predict_proba(graphs[:3])
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-5)
    assert set(method.predict(graphs)) <= {"a", "b"}


@pytest.mark.parametrize("name", NEURAL)
def test_unseen_labels_and_lonely_nodes(name: str) -> None:
    graphs, targets = two_kinds(8)
    method = baselines.get(name, epochs=1, validation=0.0).fit(graphs, targets)
    lonely = [Graph(n, np.empty((0, 2), np.int64), node_labels=np.full(n, 99)) for n in (1, 3)]
    assert np.isfinite(method.predict_proba(GraphSet.from_graphs(lonely))).all()


@pytest.mark.parametrize("name", ["gin", "dgcnn"])
def test_the_grid_is_searched_unless_a_value_is_given(name: str) -> None:
    graphs, targets = two_kinds(12)
    method = baselines.get(name, epochs=2, validation=0.25).fit(graphs, targets)
    ((parameter, values),) = method.grid.items()
    assert method.chosen_[parameter] in values
    scores = []
    for value in values:
        one = baselines.get(name, epochs=2, validation=0.25, **{parameter: value}).fit(graphs, targets)
        assert one.chosen_[parameter] == value
        scores.append((one.validation_score_, -one.validation_loss_))
    assert (method.validation_score_, -method.validation_loss_) == max(scores)


def test_wrong_number_of_classes() -> None:
    graphs, targets = two_kinds(8)
    with pytest.raises(ValueError, match="7 classes were given for 8 graphs"):
        baselines.get("gin").fit(graphs, targets[:7])
    method = baselines.get("gin", epochs=1).fit(graphs, targets)
    with pytest.raises(GraphError, match="attributes"):
        method.predict(GRAPHS)


@pytest.mark.parametrize(
    ("parameters", "targets", "sentence"),
    [
        ({"device": "gpu"}, [0, 1] * 4, "device='gpu' is not there; use 'cpu'"),
        ({"validation": 0.9}, [0, 1] * 4, "validation=0.9 leaves too few of 8 graphs"),
        ({}, [0] * 7 + [1], "class 1 has a single graph, which can't be set aside; use validation=0"),
        ({}, [0] * 8, "of one class"),
    ],
)
def test_what_can_not_be_learned_is_said(parameters: dict[str, Any], targets: list[int], sentence: str) -> None:
    graphs, _ = two_kinds(8)
    with pytest.raises(ValueError, match=sentence):
        baselines.get("gin", **parameters).fit(graphs, targets)


@pytest.mark.parametrize("name", NEURAL)
def test_predicting_before_fitting(name: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        baselines.get(name).predict(GRAPHS)


def test_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    graphs, targets = two_kinds(4)
    with pytest.raises(ImportError, match=r"GIN needs torch; install it with: pip install 'rwk\[baselines\]'"):
        baselines.get("gin").fit(graphs, targets)


def test_gin_learns_numbers() -> None:
    from rwk.baselines.neural_regressor import GINRegressor

    graphs, kinds = two_kinds(60)
    values = 3.0 * kinds + 0.2 * graphs.sizes
    network = GINRegressor(hidden=16, epochs=60).fit(graphs[:50], values[:50])
    errors = network.predict(graphs[50:]) - values[50:]
    assert np.sqrt(np.mean(errors**2)) < 0.7 * values[50:].std()
    assert 0 < network.std_ < values.std()
    again = GINRegressor(hidden=16, epochs=60).fit(graphs[:50], values[:50])
    np.testing.assert_array_equal(network.predict(graphs[50:]), again.predict(graphs[50:]))
    with pytest.raises(ValueError, match="31 values were given for 32 graphs"):
        GINRegressor().fit(graphs[:32], values[:31])
