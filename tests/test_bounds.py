"""The bounds of a search and the landmarks are the formulas of their headers, written again slowly and plainly."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gram_graphs import QUICK, random_graphs
from rwk import Graph, GraphSet, RWFeatures, RWKernel, nearest
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.retrieval import neighbours
from rwk.retrieval.bounds import EMBEDDING_BINS, STRUCTURE_BINS, lower_bounds, quadratic_bounds, signatures
from rwk.retrieval.landmarks import HASHED, LENGTH, RIDGE, Drawing, hashed_barycentres
from rwk.transport.measures import GraphMeasures, cut
from rwk.transport.problem import PRIOR_FLOOR, CostWeights

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "l2": {"feature_metric": "l2"},
    "product": {"feature_metric": "product", "return_weight": 0.5},
    "euclidean attention": {"embedding": "attention", "structure_metric": "euclidean", "beta_local": 0.7},
    "global of weight 1": {"beta_global": 1.0},
    "global alone": {"variant": "RWK-GW", "beta_global": 0.4},
    "repel": {"degree_prior": "repel", "degree_weight": 0.1, "beta_global": 0.6},
    "ridge alone": {"beta_global": 0.0, "beta_local": 0.3, "ridge": 2.0},
}


def dressed(count: int, *, labels: bool = True, attributes: bool = True) -> GraphSet:
    """Graphs of unequal sizes with node weights."""
    graphs = []
    for i, graph in enumerate(random_graphs(count, seed=5, low=2)):
        rng = np.random.default_rng(i)
        graphs.append(
            Graph(
                graph.n_nodes,
                graph.edges,
                node_labels=graph.node_labels if labels else None,
                node_attributes=rng.normal(size=(graph.n_nodes, 2)) if attributes else None,
                node_weights=rng.uniform(0.1, 1.0, graph.n_nodes),
            )
        )
    return GraphSet.from_graphs(graphs)


def quantiles(values: Any, mass: Any, bins: int) -> Any:
    """The quantile function of weighted values, averaged over bins: 'value' from one cumulated mass to the next."""
    order = np.argsort(values)
    ends = np.cumsum(mass[order]) / mass.sum()
    starts = np.concatenate([[0.0], ends[:-1]])
    edges = np.linspace(0.0, 1.0, bins + 1)
    overlap = [np.clip(np.minimum(ends, b) - np.maximum(starts, a), 0, None) for a, b in pairwise(edges)]
    return np.array([(share * values[order]).sum() * bins for share in overlap])


def mean_features(one: GraphMeasures) -> dict[Any, float]:
    """The mean feature vector of one graph: sparse columns by key, dense ones by number."""
    found: dict[Any, float] = {}
    for column, key in enumerate(one.column_keys.tolist()):
        entries = slice(one.entry_offsets[column], one.entry_offsets[column + 1])
        found[key] = float((one.entry_values[entries] * one.weights[one.entry_rows[entries]]).sum())
    return found | {("dense", j): float(one.weights @ one.features[:, j]) for j in range(one.features.shape[1])}


def naive_quadratic(one: GraphMeasures, other: GraphMeasures, weights: CostWeights) -> float:
    n, m = len(one.weights), len(other.weights)
    bound = 0.5 * weights.beta_local * weights.ridge / (n * m)
    spread = [
        quantiles(g.structure, np.outer(g.weights, g.weights).ravel(), STRUCTURE_BINS) for g in (one, other)
    ]  # fmt: skip
    bound += 0.5 * weights.beta_global * np.mean((spread[0] - spread[1]) ** 2)
    if weights.degree_weight < 0:
        bound += weights.beta_global * weights.degree_weight * np.log(n * m / PRIOR_FLOOR)
    return float(bound)


def naive_bound(one: GraphMeasures, other: GraphMeasures, weights: CostWeights) -> float:
    """The sum of the bounds of all terms, one pair of graphs."""
    bound = naive_quadratic(one, other, weights)
    for mine, theirs in zip(one.colours, other.colours, strict=True):
        shared = sum(
            min(one.weights[mine == colour].sum(), other.weights[theirs == colour].sum())
            for colour in set(mine.tolist()) | set(theirs.tolist())
        )
        bound += (one.product_cost or one.hamming_cost) * (1 - shared) / len(one.colours)
    if not one.product_cost:
        a, b = mean_features(one), mean_features(other)
        bound += np.sqrt(sum((a.get(key, 0.0) - b.get(key, 0.0)) ** 2 for key in a.keys() | b.keys()))
    k = one.embedding.shape[1]
    if k and weights.beta_local:
        means = np.linalg.norm(one.weights @ one.embedding - other.weights @ other.embedding)
        lines = sum(
            np.abs(
                quantiles(one.embedding[:, c], one.weights, EMBEDDING_BINS)
                - quantiles(other.embedding[:, c], other.weights, EMBEDDING_BINS)
            ).mean()
            for c in range(k)
        )
        bound += weights.beta_local * one.neighbour_cost * max(means, lines / np.sqrt(k))
    return float(bound)


@pytest.mark.parametrize("dress", [{}, {"attributes": False}, {"labels": False}], ids=str)
@pytest.mark.parametrize("name", SETTINGS)
def test_bounds_are_the_sum_of_the_bounds_of_the_terms(name: str, dress: dict[str, bool]) -> None:
    settings = Parameters.of({**QUICK, **SETTINGS[name]})
    measures, _ = represent(dressed(9, **dress), settings)
    weights, marks = settings.cost_weights(), signatures(measures)
    parts = [cut(measures, np.array([i])) for i in range(9)]
    for q in (0, 3, 8):
        query = signatures(parts[q])
        wanted = [naive_bound(parts[q], part, weights) for part in parts]
        # the distance of equal means is the root of a rounding error
        np.testing.assert_allclose(lower_bounds(query, marks, weights), wanted, rtol=1e-9, atol=2e-8)
        wanted = [naive_quadratic(parts[q], part, weights) for part in parts]
        np.testing.assert_allclose(quadratic_bounds(query, marks, weights), wanted, rtol=1e-9, atol=1e-12)


def test_a_query_with_several_graphs_is_bounded_by_its_first() -> None:
    settings = Parameters.of(QUICK)
    measures, _ = represent(dressed(6), settings)
    whole, first = signatures(measures), signatures(cut(measures, np.array([0])))
    weights = settings.cost_weights()
    np.testing.assert_allclose(lower_bounds(whole, whole, weights), lower_bounds(first, whole, weights), rtol=1e-12)


# ---------------------------------------------------------------- the search


class Listed(neighbours._Scan):
    """A scan whose bounds and values are given, and which writes down what is solved."""

    bounds: Any
    answers: Any
    solved: Any

    def _debiased(self, q: int, values: Any, chosen: Any = None) -> Any:
        return values

    def _tight_bounds(self, q: int, chosen: Any) -> Any:
        return Listed.bounds[chosen]

    def _solve(self, q: int, chosen: Any) -> Any:
        Listed.solved += chosen.tolist()
        return Listed.answers[chosen]


def scan_of(bounds: Any, answers: Any, monkeypatch: pytest.MonkeyPatch, precision: str = "float64") -> Any:
    Listed.bounds, Listed.answers, Listed.solved = np.asarray(bounds), np.asarray(answers), []
    monkeypatch.setattr(neighbours, "lower_bounds", lambda *_: np.asarray(bounds, float).copy())
    settings: Any = SimpleNamespace(cost_weights=lambda: SimpleNamespace(mass=1.0), precision=precision)
    return Listed(None, [None], None, settings, None)  # type: ignore[arg-type, list-item]


@pytest.mark.parametrize(("precision", "slack"), [("float64", 1e-6), ("float32", 1e-4)])
def test_a_bound_within_rounding_of_the_best_value_is_solved(
    precision: str, slack: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 candidates of value 2 are solved first; of the rest, those whose bound is 2 up to rounding errors."""
    above = np.array([2.0, 2.0 * (1 + 0.5 * slack), 2.0 * (1 + 2.0 * slack), 3.0])
    scan = scan_of([1.0] * 16 + above.tolist(), [2.0] * 20, monkeypatch, precision)
    indices, values, n_solved = scan.nearest(0, 1, 20, None)
    assert (indices.tolist(), values.tolist(), n_solved) == ([0], [2.0], 18)
    assert sorted(Listed.solved) == list(range(18))


def test_ticks_add_up_to_the_candidates_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[int] = []
    scan = scan_of([1.0] * 16 + [5.0] * 14, [2.0] * 30, monkeypatch)
    found = scan.nearest(0, 2, 30, 4, tick=ticks.append)
    assert found[0].tolist() == [0, 1]
    assert 4 not in Listed.solved
    assert sum(ticks) == 29
    assert ticks[0] == 16 - 1 + 1  # a batch of sixteen, of which the left-out one is none
    assert found[2] == 16


def test_no_more_than_asked_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = scan_of(np.arange(40) / 100, [2.0] * 40, monkeypatch)
    assert scan.nearest(0, 3, 20, None)[2] == 20
    assert sorted(Listed.solved) == list(range(20))


def test_queries_are_counted_one_by_one() -> None:
    graphs = random_graphs(7)
    one, two = nearest(graphs[0], graphs, k=2, **QUICK), nearest(graphs[:2], graphs, k=2, **QUICK)
    assert (one.indices.shape, two.indices.shape) == ((2,), (2, 2))
    assert (one.n_candidates, two.n_candidates) == (7, 14)
    both = nearest(graphs[:2], graphs, k=2, debias=True, **QUICK)
    assert both.n_candidates == 2 * 7 + 2 + 7
    np.testing.assert_array_equal(two.indices[0], one.indices)
    for wrong in ([0, True and 1.5], ["0", "1"], [0, 7]):
        with pytest.raises(ValueError, match="one number from 0 to 6 per query"):
            nearest(graphs[:2], graphs, k=1, leave_out=wrong, **QUICK)  # type: ignore[arg-type]


# ---------------------------------------------------------------- landmarks


@pytest.mark.parametrize("metric", ["l2", "product"])
def test_barycentres_are_hashed_square_roots_of_mean_features(metric: str) -> None:
    settings = Parameters.of({**QUICK, "feature_metric": metric})
    measures, _ = represent(dressed(6), settings)
    found = hashed_barycentres(measures).toarray()
    for i in range(6):
        one = cut(measures, np.array([i]))
        if metric == "product":
            columns: dict[int, float] = {}
            for number, colours in enumerate(one.colours.tolist(), start=1):
                for colour, mass in zip(colours, one.weights.tolist(), strict=True):
                    key = colour * (2 * number + 1) % 2**64
                    columns[key] = columns.get(key, 0.0) + mass
        else:
            columns = {key: mean for key, mean in mean_features(one).items() if not isinstance(key, tuple)}
        row = np.zeros(HASHED)
        for key, mean in columns.items():
            row[key % HASHED] += -mean if key >= 2**63 else mean
        row = np.concatenate([np.sign(row) * np.sqrt(np.abs(row)), one.weights @ one.features])
        np.testing.assert_allclose(found[i], row / np.linalg.norm(row), atol=1e-12)


def test_the_number_of_features_is_known_before_they_are_made() -> None:
    for graphs in (dressed(8), dressed(8, labels=False)):
        for barycentres in (True, False):
            features = RWFeatures(4, kernel=RWKernel(**QUICK), barycentres=barycentres).fit(graphs)
            assert len(features.get_feature_names_out()) == features.transform(graphs).shape[1]


def test_nystroem_features_are_centred_and_of_a_stated_mean_length() -> None:
    features = RWFeatures(6, kernel=RWKernel(**QUICK))
    left = features.fit_transform(random_graphs(20)).toarray()[:, : features.map_.shape[1]]
    np.testing.assert_allclose(left.mean(axis=0), 0.0, atol=1e-12)
    assert np.sqrt((left**2).sum(axis=1).mean()) == pytest.approx(LENGTH)


def test_equal_graphs_leave_the_features_of_others_unscaled() -> None:
    features = RWFeatures(2, kernel=RWKernel(**QUICK))
    graph = random_graphs(1)[0]
    features.fit(GraphSet.from_graphs([graph] * 4))
    others = random_graphs(3, seed=2)
    left = features.transform(others).toarray()[:, : features.map_.shape[1]]
    assert np.abs(left).max() > 1e-3
    np.testing.assert_allclose(left, LENGTH * (features.kernel_.transform(others) @ features.map_ - features.centre_))


def line(points: Any) -> Any:
    return np.abs(np.subtract.outer(points, points)).astype(float)


def test_leverage_is_the_diagonal_of_the_ridge_projection() -> None:
    """Of the kernel K = K_Nm |K_mm|^-1 K_mN: diag(K (K + r I)^-1), with r a share of its largest eigenvalue."""
    D = line(np.random.default_rng(0).normal(size=30))
    drawing = Drawing(lambda chosen: D[:, chosen], 30, eta=1.5)
    drawing._add(np.ones(30), 6)
    usual = Drawing(lambda chosen: D[:, chosen] * 1.5, 30)  # of exp(-D)
    usual._add(np.ones(30), 6)
    np.testing.assert_allclose(drawing._leverage(), usual._leverage())
    kernel = np.exp(-1.5 * D[:, drawing.chosen])
    values, vectors = np.linalg.eigh(kernel[drawing.chosen])
    whole = kernel @ (vectors / np.maximum(np.abs(values), 1e-6 * np.abs(values).max())) @ vectors.T @ kernel.T
    whole = 0.5 * (whole + whole.T)
    ridge = RIDGE * np.linalg.eigvalsh(whole)[-1]
    wanted = np.diag(whole @ np.linalg.inv(whole + ridge * np.eye(30)))
    np.testing.assert_allclose(drawing._leverage(), wanted, rtol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5, 6])
def test_every_selection_draws_as_many_as_asked(m: int) -> None:
    D = line(np.random.default_rng(0).normal(size=30))
    for selection in ("uniform", "leverage", "k-means++"):
        solved: list[int] = []
        drawing = Drawing(lambda chosen, solved=solved: (solved.extend(chosen), D[:, chosen])[1], 30)  # type: ignore[misc]
        chosen = drawing.draw(selection, m)
        assert len(set(chosen.tolist())) == len(chosen) == m
        assert solved == chosen.tolist()
        np.testing.assert_array_equal(drawing.columns, D[:, chosen])


def test_half_of_the_landmarks_are_drawn_uniformly_before_leverage_counts() -> None:
    D = line(np.random.default_rng(0).normal(size=30))
    for m, first in ((4, 2), (5, 3), (1, 1)):
        calls: list[int] = []
        drawing = Drawing(lambda chosen, calls=calls: (calls.append(len(chosen)), D[:, chosen])[1], 30)  # type: ignore[misc]
        drawing.draw("leverage", m)
        assert calls[0] == first
        assert sum(calls) == m


def test_a_round_of_k_means_draws_a_twentieth() -> None:
    D = line(np.arange(100))
    calls: list[int] = []
    drawing = Drawing(lambda chosen: (calls.append(len(chosen)), D[:, chosen])[1], 100)  # type: ignore[func-returns-value]
    drawing.draw("k-means++", 50)
    assert calls == [1, *[3] * 16, 1]


@pytest.mark.parametrize("tol", [0.0, 0, 0.999])
def test_tolerances_inside_their_range(tol: float) -> None:
    RWFeatures(2, kernel=RWKernel(**QUICK), tol=tol).fit(random_graphs(4))
    with pytest.raises(ValueError, match="tol=-1e-09 is outside its range"):
        RWFeatures(2, tol=-1e-9).fit(random_graphs(4))


def test_the_same_landmarks_are_drawn_every_time() -> None:
    graphs = random_graphs(20)
    first, again = (RWFeatures(5, kernel=RWKernel(**QUICK)).fit(graphs).landmarks_ for _ in range(2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(RWFeatures(5, kernel=RWKernel(**QUICK), random_state=0).fit(graphs).landmarks_, first)


@pytest.mark.parametrize("equal", [1.0, 0.0])
def test_eigenvalues_at_the_tolerance_are_left_out(equal: float) -> None:
    from rwk.retrieval.landmarks import nystroem_map

    columns, signs = nystroem_map(np.diag([4.0, -2.0, 1.0, 0.0]), 0.25 if equal else 0.0)
    assert sorted(signs.tolist()) == ([-1, 1] if equal else [-1, 1, 1])
    np.testing.assert_allclose(np.sort(np.abs(columns).max(axis=0)), [0.5, 2**-0.5] if equal else [0.5, 2**-0.5, 1.0])
    skew = np.array([[2.0, 1.0], [0.0, 2.0]])  # rounding makes a matrix slightly asymmetric: its symmetric part counts
    mapped, _ = nystroem_map(skew, 0.0)
    np.testing.assert_allclose(mapped @ mapped.T, np.linalg.inv([[2.0, 0.5], [0.5, 2.0]]))
