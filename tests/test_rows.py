"""Large pairs, solved with vectors along their rows: products of matrices, and that bits depend on the pair alone."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

import naive
from asserts import assert_close, tolerance
from generators import laws
from rwk import Graph, GraphSet, Parameters
from rwk.represent import represent
from rwk.transport.cpu import dispatch
from rwk.transport.cpu.rows.panels import PANEL_DEPTH, VECTORS, Rows, multiply
from rwk.transport.cpu.rows.row_data import whole_vectors
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES
from rwk.transport.measures import in_precision
from rwk.transport.pairs import solve_pairs
from rwk.transport.problem import PairResults

PRECISIONS = ["float64", "float32"]


@njit
def product(left: Any, right: Any, scale: float, out: Any, shape: Any, fresh: bool, panel: Any) -> None:
    n, depth, m = shape
    length = len(out) // n
    multiply(Rows(left, 0, depth), Rows(right, 0, m), scale, Rows(out, 0, length), (n, depth, m), fresh, panel)


@laws(40)
@given(st.integers(1, 20), st.integers(1, 11), st.integers(1, 70), st.sampled_from(PRECISIONS), st.integers(0, 99))
@example(9, PANEL_DEPTH + 3, 50, "float64", 0)
@example(8, 2 * PANEL_DEPTH, 49, "float32", 0)
def test_products(n: int, depth: int, m: int, precision: str, seed: int) -> None:
    rng, length = np.random.default_rng(seed), whole_vectors(m, precision)
    left, right = rng.normal(size=(n, depth)).astype(precision), rng.normal(size=(depth, m)).astype(precision)
    base = rng.normal(size=(n, length)).astype(precision)
    base[:, m:] = 0.0
    panel = np.empty(PANEL_DEPTH * VECTORS * REGISTER_BYTES // base.itemsize, precision)
    fresh, added = np.full(n * length, np.nan, precision), base.copy().ravel()
    product(left.ravel(), right.ravel(), 0.5, fresh, (n, depth, m), True, panel)
    product(left.ravel(), right.ravel(), 0.5, added, (n, depth, m), False, panel)
    wanted = np.zeros((n, length))
    wanted[:, :m] = 0.5 * left.astype(float) @ right.astype(float)
    allowed = 1e-13 if precision == "float64" else 1e-4
    assert_close(fresh.reshape(n, length), wanted, allowed, scale=1.0)
    assert_close(added.reshape(n, length), base + wanted, allowed, scale=1.0)
    assert (fresh.reshape(n, length)[:, m:] == 0.0).all()


def large_measures(**keywords: Any) -> Any:
    """Graphs of 3 to 140 nodes, some too large to be solved side by side."""
    rng, graphs = np.random.default_rng(4), []
    for n in (3, 140, 33, 112, 121, 97):
        plain = nx.gnp_random_graph(n, 3.0 / n, seed=n)
        edges = np.array(list(plain.edges), np.int64).reshape(-1, 2)
        graphs.append(Graph(n, edges, node_labels=rng.integers(0, 3, n), node_attributes=rng.random((n, 2))))
    parameters = Parameters.of({"backend": "cpu", **keywords})
    measures, _ = represent(GraphSet.from_graphs(graphs), parameters)
    return measures, parameters.cost_weights(), parameters.scg_options()


@pytest.mark.parametrize(
    "keywords", [{}, {"feature_metric": "product"}, {"beta_global": 0.0}, {"beta_local": 0.0}], ids=str
)
def test_large_pairs_agree_with_the_oracle(keywords: dict[str, Any]) -> None:
    measures, weights, options = large_measures(**keywords)
    pairs, found = np.array([[2, 1], [0, 3], [5, 4]]), PairResults.empty(3)
    dispatch.solve_large(measures, pairs, weights, options, found)
    for p, (a, b) in enumerate(pairs):
        wanted = naive.solve(naive.unpacked_problem(measures, int(a), int(b)), weights, options)
        size = max(sum(abs(term) for term in wanted.terms.values()), 1e-3)
        assert_close(found.values[p], wanted.value, tolerance().value, scale=size)
        assert found.n_iter[p] == wanted.n_iter


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("entropy", [0.1, 0.01, 0.001], ids=["plain", "wide in float32", "wide in float64"])
def test_a_large_pair_is_the_same_alone_and_in_any_company(precision: str, entropy: float) -> None:
    measures, weights, options = large_measures(entropy=entropy)
    measures, pairs = in_precision(measures, precision), np.stack(np.triu_indices(6), axis=1)
    together = solve_pairs(measures, pairs, weights, options, n_jobs=1)
    assert np.isfinite(together.values).all()
    apart = solve_pairs(measures, pairs[::-1], weights, options, n_jobs=2)
    for of_all, again in zip(together, apart, strict=True):
        np.testing.assert_array_equal(of_all[::-1], again)
    for p in range(0, len(pairs), 4):
        alone = solve_pairs(measures, pairs[p : p + 1], weights, options)
        assert alone.values[0] == together.values[p]
