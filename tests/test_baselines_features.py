"""Baselines that see labels and attributes together: plain and slow definitions, laws, and their fair grids."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from baseline_graphs import as_networkx, colours_of, dense, permuted, random_set, without
from rwk import Graph, GraphSet, baselines
from rwk.baselines import NotApplicable
from rwk.baselines.fused_gw_exact import fused_cost
from rwk.baselines.graph_hopper import path_counts
from rwk.experiment.paper import BASELINES

GRAPHS = random_set(5, 6, low=3, high=7)
LABELLED, ATTRIBUTED = without(GRAPHS, "node_attributes"), without(GRAPHS, "node_labels")
STANDARD = (GRAPHS.node_attributes - GRAPHS.node_attributes.mean(axis=0)) / GRAPHS.node_attributes.std(axis=0)
LABELS = np.split(GRAPHS.node_labels, GRAPHS.node_offsets[1:-1])
VECTORS = np.split(STANDARD, GRAPHS.node_offsets[1:-1])
PAIRS = list(product(range(len(GRAPHS)), repeat=2))
CHOOSING = [name for name in baselines.names() if "features" in baselines.get(name).get_params()]
# every kernel of labels and attributes together
CASES = [*((name, {}) for name in CHOOSING), ("ghk", {"node_kernel": "gaussian"})]


def transport(cost: Any) -> float:
    """The lowest cost of moving uniform masses, as a linear program."""
    from scipy.optimize import linprog

    n, m = cost.shape
    sums = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    masses = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return float(linprog(cost.ravel(), A_eq=sums, b_eq=masses).fun)


def hamming(rounds: int) -> dict[tuple[int, int], Any]:
    """Share of rounds in which colours differ, by pair of graphs."""
    colours = [colours_of(graph, rounds) for graph in GRAPHS]
    return {
        (i, j): np.mean([[[a != b for b in y] for a in x] for x, y in zip(colours[i], colours[j], strict=True)], axis=0)
        for i, j in PAIRS
    }


def smoothed(rounds: int) -> list[Any]:
    """Standardised attributes of all rounds, side by side, by graph."""
    result = []
    for graph, x in zip(GRAPHS, VECTORS, strict=True):
        network, blocks = as_networkx(graph), [x]
        for _ in range(rounds):
            last = blocks[-1]
            mean = [np.mean(last[list(network[v])], axis=0) if len(network[v]) else last[v] for v in network]
            blocks.append((last + np.array(mean)) / 2)
        result.append(np.concatenate(blocks, axis=1))
    return result


def apart(points: list[Any]) -> dict[tuple[int, int], Any]:
    """Euclidean distances of nodes, by pair of graphs."""
    return {(i, j): np.array([[np.linalg.norm(a - b) for b in points[j]] for a in points[i]]) for i, j in PAIRS}


def mixed(label_part: Any, attribute_part: Any, weight: float) -> dict[tuple[int, int], Any]:
    """Both costs, each divided by its mean over all pairs of nodes."""
    means = [np.concatenate([cost.ravel() for cost in part.values()]).mean() for part in (label_part, attribute_part)]
    return {
        pair: weight * label_part[pair] / means[0] + (1 - weight) * attribute_part[pair] / means[1] for pair in PAIRS
    }


@pytest.mark.parametrize("rounds", [0, 2])
@pytest.mark.parametrize("weight", [0.3, 0.8])
def test_wwl_of_both_by_its_definition(rounds: int, weight: float) -> None:
    found = baselines.get("wwl", rounds=rounds, features="both", label_weight=weight).fit(GRAPHS).discrepancy()
    cost = mixed(hamming(rounds), apart(smoothed(rounds)), weight)
    for i, j in PAIRS:
        np.testing.assert_allclose(found[i, j], transport(cost[i, j]) if i != j else 0.0, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.4])
@pytest.mark.parametrize("weight", [0.3, 0.8])
def test_fgw_of_both_by_its_definition(alpha: float, weight: float) -> None:
    found = baselines.get("fgw", rounds=1, alpha=alpha, features="both", label_weight=weight)
    found = found.fit(GRAPHS).discrepancy()
    squares = {pair: distances**2 for pair, distances in apart(VECTORS).items()}
    cost = mixed(hamming(1), squares, weight)
    inside = [_path_lengths(graph) for graph in GRAPHS]
    largest = max(lengths.max() for lengths in inside)
    for i, j in PAIRS:
        if GRAPHS.sizes[i] < GRAPHS.sizes[j]:  # the smaller graph is the source
            wanted = fused_cost(cost[i, j], inside[i] / largest, inside[j] / largest, alpha)
            np.testing.assert_allclose(found[i, j], wanted, rtol=1e-6)
            assert alpha or found[i, j] == pytest.approx(transport(cost[i, j]), rel=1e-8)


def _path_lengths(graph: Graph) -> Any:
    """Numbers of edges; nodes without a path are one edge farther apart than any others."""
    import networkx as nx

    found = np.full((graph.n_nodes, graph.n_nodes), np.inf)
    for v, row in nx.all_pairs_shortest_path_length(as_networkx(graph)):
        for w, length in row.items():
            found[v, w] = length
    return np.where(np.isfinite(found), found, found[np.isfinite(found)].max() + 1)


@pytest.mark.parametrize("name", ["hgk-wl", "hgk-sp"])
def test_hash_kernels_of_pairs_of_hash_and_label(name: str) -> None:
    import networkx as nx

    kernel = baselines.get(name, n_hashes=3, features="both", normalize=False)
    found = kernel.fit_transform(GRAPHS)
    wanted = np.zeros_like(found)
    for h in range(3):
        counts = []
        for graph, x in zip(GRAPHS, VECTORS, strict=True):
            hashes = np.floor(x @ kernel.directions_[:, h] + kernel.shifts_[h]).astype(int).tolist()
            pairs = list(zip(hashes, graph.node_labels.tolist(), strict=True))
            if name == "hgk-sp":
                lengths = dict(nx.all_pairs_shortest_path_length(as_networkx(graph)))
                triples = [(v, w, d) for v, row in lengths.items() for w, d in row.items() if v < w]
                counts.append(Counter((*sorted((pairs[v], pairs[w])), d) for v, w, d in triples))
                continue
            known = {pair: k for k, pair in enumerate(_all_pairs(kernel, h))}
            coded = Graph(graph.n_nodes, graph.edges, node_labels=np.array([known[pair] for pair in pairs]))
            counts.append(Counter((t, repr(c)) for t, row in enumerate(colours_of(coded, 3)) for c in row))
        wanted += [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]
    np.testing.assert_allclose(found, wanted / 3, rtol=1e-12)


def _all_pairs(kernel: Any, h: int) -> list[Any]:
    hashes = np.floor(STANDARD @ kernel.directions_[:, h] + kernel.shifts_[h]).astype(int).tolist()
    return sorted(set(zip(hashes, GRAPHS.node_labels.tolist(), strict=True)))


@pytest.mark.parametrize("node_kernel", ["linear", "gaussian"])
def test_ghk_of_both_by_its_definition(node_kernel: str) -> None:
    found = baselines.get("ghk", node_kernel=node_kernel, features="both", normalize=False).fit_transform(GRAPHS)
    paths = [path_counts(graph) for graph in GRAPHS]
    for i, j in PAIRS:
        wanted, places = 0.0, min(paths[i].shape[1], paths[j].shape[1])
        for v, w in product(range(GRAPHS.sizes[i]), range(GRAPHS.sizes[j])):
            x, y = VECTORS[i][v], VECTORS[j][w]
            value = x @ y if node_kernel == "linear" else np.exp(-((x - y) ** 2).sum() / len(x))
            wanted += paths[i][v, :places] @ paths[j][w, :places] * value * (LABELS[i][v] == LABELS[j][w])
        np.testing.assert_allclose(found[i, j], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("distance", ["l1", "l2"])
def test_pk_of_both_by_its_definition(distance: str) -> None:
    kernel = baselines.get("pk", rounds=2, distance=distance, features="both", normalize=False)
    found = kernel.fit_transform(GRAPHS)
    known = np.unique(GRAPHS.node_labels)
    of_labels, of_attributes = kernel._label_draws(known), kernel._attribute_draws()
    counts: list[Counter[Any]] = [Counter() for _ in GRAPHS]
    for i, graph in enumerate(GRAPHS):
        walk = dense(graph)
        walk += np.diag(walk.sum(axis=1) == 0)
        walk /= walk.sum(axis=1, keepdims=True)
        spread, x = (LABELS[i][:, None] == known).astype(float), graph.node_attributes
        for t in range(3):
            form = np.sqrt(spread) if distance == "l2" else spread
            first = np.floor((form @ of_labels[0][t] + of_labels[1][t]) / 0.01)
            second = np.floor((x * of_attributes[0][t] + of_attributes[1][t]) / 4.0)
            counts[i].update((t, first[v], *second[v]) for v in range(graph.n_nodes))
            spread, x = walk @ spread, walk @ x
    wanted = [[sum(a[key] * b[key] for key in a) for b in counts] for a in counts]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("features", ["attributes", "both"])
@pytest.mark.parametrize("jumping", [False, True])
@pytest.mark.parametrize("backend", ["cpu", "gpu"])
def test_gntk_with_attributes_by_its_definition(
    features: str, jumping: bool, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if backend == "gpu":
        pytest.importorskip("torch")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    given = {"blocks": 2, "layers": 2, "jumping": jumping, "backend": backend, "normalize": False}
    found = baselines.get("gntk", features=features, label_weight=0.3, **given).fit_transform(GRAPHS)
    weight = 0.3 if features == "both" else 0.0
    unit = (STANDARD**2).sum(axis=1).mean()
    for i, j in PAIRS:
        labels, x = np.concatenate([LABELS[i], LABELS[j]]), np.concatenate([VECTORS[i], VECTORS[j]])
        sigma = weight * (labels[:, None] == labels[None, :]) + (1 - weight) * (x @ x.T) / unit
        wanted = _tangent(sigma, [dense(GRAPHS[i]), dense(GRAPHS[j])], jumping)
        np.testing.assert_allclose(found[i, j], wanted, rtol=1e-6, atol=1e-8)


def _tangent(sigma: Any, adjacencies: list[Any], jumping: bool) -> float:
    """Two blocks of two layers, both graphs as one, which has the whole diagonal of Σ."""
    n, total = len(adjacencies[0]), len(sigma)
    closed = np.eye(total)
    closed[:n, :n] += adjacencies[0]
    closed[n:, n:] += adjacencies[1]
    theta = sigma.copy()
    results = [theta[:n, n:].sum()]
    for _ in range(2):
        sigma, theta = closed @ sigma @ closed.T, closed @ theta @ closed.T
        for _ in range(2):
            norm = np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
            angle = np.arccos(np.clip(sigma / norm, -1, 1))
            sigma = norm * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi
            theta = theta * (np.pi - angle) / np.pi + sigma
        results.append(theta[:n, n:].sum())
    return float(sum(results) if jumping else results[-1])


# laws


@pytest.mark.parametrize("name", CHOOSING)
@pytest.mark.parametrize(("features", "rest"), [("labels", LABELLED), ("attributes", ATTRIBUTED)])
def test_one_kind_of_features_hides_the_other(name: str, features: str, rest: GraphSet) -> None:
    kernel = baselines.get(name, features=features)
    found = kernel.fit_transform(GRAPHS)
    np.testing.assert_array_equal(found, baselines.get(name, features=features).fit_transform(rest))
    if name != "gntk" or features == "labels":  # GNTK compares labels (or degrees) unless told otherwise
        np.testing.assert_array_equal(found, baselines.get(name).fit_transform(rest))
    np.testing.assert_array_equal(kernel.transform(GRAPHS), kernel.transform(rest))


@pytest.mark.parametrize("name", CHOOSING)
def test_both_differs_from_either(name: str) -> None:
    made = [baselines.get(name, features=features).fit_transform(GRAPHS) for features in ("labels", "attributes")]
    both = baselines.get(name, features="both").fit_transform(GRAPHS)
    assert all(np.abs(both - other).max() > 1e-3 for other in made)


@pytest.mark.parametrize(("name", "given"), CASES)
def test_both_is_symmetric_with_unit_diagonal(name: str, given: dict[str, Any]) -> None:
    gram = baselines.get(name, features="both", **given).fit_transform(GRAPHS)
    assert np.isfinite(gram).all()
    np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), 1.0, atol=1e-9)
    if name not in ("wwl", "fgw"):  # for which theory promises nothing
        assert np.linalg.eigvalsh(gram)[0] > -1e-8


@pytest.mark.parametrize(("name", "given"), CASES)
def test_both_does_not_depend_on_the_order_of_nodes(name: str, given: dict[str, Any]) -> None:
    kernel = baselines.get(name, features="both", **given)
    found, again = (kernel.fit_transform(graphs) for graphs in (GRAPHS, permuted(GRAPHS)))
    np.testing.assert_allclose(again, found, atol=2e-3 if name == "fgw" else 1e-7)


@pytest.mark.parametrize(("name", "given"), CASES)
def test_new_graphs_are_compared_as_fitted_ones(name: str, given: dict[str, Any]) -> None:
    kernel = baselines.get(name, features="both", **given)
    gram = kernel.fit_transform(GRAPHS)
    different = ~np.eye(len(GRAPHS), dtype=bool) if name == "fgw" else np.ones_like(gram, dtype=bool)
    np.testing.assert_allclose(kernel.transform(GRAPHS)[different], gram[different], atol=1e-7)
    np.testing.assert_allclose(kernel.transform(GRAPHS[2:4])[:, 4:], gram[2:4, 4:], atol=1e-7)


@pytest.mark.parametrize(("name", "given"), CASES)
def test_labels_never_seen_and_lonely_nodes(name: str, given: dict[str, Any]) -> None:
    nodes = {"node_labels": np.array([77, -3]), "node_attributes": np.array([[9.0, 9.0], [1.0, 0.0]])}
    new = GraphSet.from_graphs([Graph(2, np.empty((0, 2), np.int64), **nodes)])
    kernel = baselines.get(name, features="both", **given).fit(GRAPHS)
    assert np.isfinite(kernel.transform(new)).all()
    assert np.isfinite(kernel.fit_transform(GraphSet.from_graphs([*GRAPHS, *new]))).all()


@pytest.mark.parametrize("name", CHOOSING)
def test_constant_features_are_no_trouble(name: str) -> None:
    graphs = [Graph(g.n_nodes, g.edges, node_labels=g.node_labels * 0, node_attributes=g.node_attributes * 0 + 4.0)
              for g in GRAPHS]  # fmt: skip
    assert np.isfinite(baselines.get(name, features="both").fit_transform(GraphSet.from_graphs(graphs))).all()


@pytest.mark.parametrize("name", ["wwl", "fgw"])
def test_a_weight_of_one_is_labels_and_of_zero_attributes(name: str) -> None:
    """Up to the mean costs, by which each part is divided."""
    given = {"alpha": 0.0} if name == "fgw" else {}
    for weight, features in ((1.0, "labels"), (0.0, "attributes")):
        one = baselines.get(name, features=features, **given).fit(GRAPHS).discrepancy()
        both = baselines.get(name, features="both", label_weight=weight, **given).fit(GRAPHS).discrepancy()
        np.testing.assert_allclose(both / both.sum(), one / one.sum(), atol=1e-9)


def test_gntk_weighs_from_attributes_to_labels() -> None:
    for weight, features in ((1.0, "labels"), (0.0, "attributes")):
        one = baselines.get("gntk", features=features).fit_transform(GRAPHS)
        both = baselines.get("gntk", features="both", label_weight=weight).fit_transform(GRAPHS)
        np.testing.assert_allclose(both, one, atol=1e-12)


@pytest.mark.parametrize("name", CHOOSING)
def test_features_that_are_missing_are_named(name: str) -> None:
    for graphs, missing in ((LABELLED, "attributes"), (ATTRIBUTED, "labels")):
        with pytest.raises(NotApplicable, match=f"features='both' does not apply .* these graphs have no {missing}"):
            baselines.get(name, features="both").fit(graphs)
        with pytest.raises(NotApplicable, match=f"have no {missing}"):
            baselines.get(name, features="both").fit(GRAPHS).transform(graphs)
    if name != "wwl":  # which then smooths one-hot labels
        with pytest.raises(NotApplicable, match="it needs node attributes, and these graphs have no attributes"):
            baselines.get(name, features="attributes").fit(LABELLED)
    with pytest.raises(ValueError, match="features='all' is not known: it must be one of"):
        baselines.get(name, features="all").fit(GRAPHS)


def test_the_dirac_kernel_compares_labels_only() -> None:
    with pytest.raises(ValueError, match="node_kernel='dirac' compares labels only; use another with features='both'"):
        baselines.get("ghk", node_kernel="dirac", features="both").fit(GRAPHS)


# grids


def test_settings_leave_no_distances_of_another_structure_behind() -> None:
    """Distances inside graphs are kept for all settings, but another structure has its own."""
    rng = np.random.default_rng(0)
    graphs = replace(GRAPHS[:4], edge_attributes=rng.uniform(1, 2, (len(GRAPHS[:4].packed_edges), 1)))
    kernel = baselines.get("fgw", structure="shortest-path")
    dict(kernel.settings(graphs))
    wanted = baselines.get("fgw", structure="edge-distance").fit(graphs).discrepancy()
    np.testing.assert_array_equal(kernel.set_params(structure="edge-distance").fit(graphs).discrepancy(), wanted)


@pytest.mark.parametrize("name", CHOOSING)
def test_fair_settings_are_those_of_the_fair_grid(name: str) -> None:
    kernel = baselines.get(name)
    graphs = GRAPHS[:4]
    found = dict(kernel.settings(graphs, fair=True))
    sizes = int(np.prod([len(values) for values in kernel.fair_grid().values()]))
    assert len(found) == (10 if name == "ghk" else sizes)  # GHK compares labels alone with one node kernel
    assert any("features=both" in setting for setting in found)
    for setting, matrix in list(found.items())[:: max(1, len(found) // 3)]:
        one = clone(kernel).set_params(**_parameters(setting))
        wanted = one.fit(graphs).discrepancy() if kernel.kind == "discrepancy" else one.fit_transform(graphs)
        np.testing.assert_allclose(matrix, wanted, atol=1e-9)


@pytest.mark.parametrize("name", baselines.names())
def test_a_fair_grid_combines_only_what_graphs_have(name: str) -> None:
    method = baselines.get(name)
    for graphs in (LABELLED, ATTRIBUTED):
        assert not {"features", "label_weight"} & set(method.grid_for(graphs, fair=True))
    assert method.grid_for(GRAPHS, fair=True) == method.fair_grid()
    assert method.grid_for(GRAPHS) == method.grid
    assert set(method.grid) <= set(method.fair_grid()) <= set(method.get_params())
    assert set(baselines.get("fgw").grid_for(LABELLED, fair=True)) == {"alpha", "rounds"}


def test_methods_say_what_they_see() -> None:
    rows = {row.name: row for row in baselines.describe()}
    only_labels = {"wl", "wl-oa", "p-wl", "wl-pm"}
    for name, row in rows.items():
        assert row.sees in ("labels", "attributes", "labels or attributes", "labels and attributes")
        assert (row.fair_sees, bool(row.note)) == (
            ("labels", True) if name in only_labels else ("labels and attributes", False)
        )
    assert (rows["gntk"].sees, rows["wwl"].sees, rows["gin"].sees) == (
        "labels", "labels or attributes", "labels and attributes",
    )  # fmt: skip
    assert rows["wwl"].fair_grid["label_weight"] == (0.2, 0.5, 0.8)


def test_stored_records_still_belong_to_their_methods() -> None:
    """The estimator and the grid in the header of a record are those of today, so that it can be resumed."""
    files = [
        file
        for file in (Path(__file__).parents[1] / "results").glob("*.jsonl")
        if file.stem.split("-", 1)[-1] in BASELINES
    ]
    if not files:
        pytest.skip("there are no records of baselines")
    for file in files:
        with file.open() as lines:
            header = json.loads(next(lines))
        method, protocol = baselines.get(header["method"]), header["protocol"]
        assert protocol["estimator"] == repr(method)
        if protocol.get("grid", {}).get("combine") != "sum":
            assert protocol["searched"] == {key: list(values) for key, values in method.grid.items()}, file


def _parameters(setting: str) -> dict[str, Any]:
    """The parameters that a setting is named after."""
    named = dict(part.split("=") for part in setting.split(", "))
    numbers = {"rounds": int, "blocks": int, "layers": int, "alpha": float, "label_weight": float}
    return {key: numbers[key](value) if key in numbers else {"True": True, "False": False}.get(value, value)
            for key, value in named.items()}  # fmt: skip
