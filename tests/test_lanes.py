"""Pairs solved side by side: the vector instructions, and that the bits of a pair depend on the pair alone (R16)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

import naive
from asserts import assert_close, tolerance
from generators import all_settings, graph_sets, laws
from rwk import Graph, GraphSet, Parameters
from rwk.represent import represent
from rwk.transport.cpu import dispatch as threads
from rwk.transport.cpu.costs import padded
from rwk.transport.cpu.lanes.lane_sinkhorn import _scale
from rwk.transport.cpu.lanes.products import View, multiply, multiply_onto
from rwk.transport.cpu.lanes.sparse_lanes import empty_sparse, enter_sparse, sparse_multiply
from rwk.transport.cpu.reductions import inner, total_of
from rwk.transport.cpu.simd.vectormath import exp_of, log_of, quotient, root_of
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, load, store
from rwk.transport.cpu.sparse import add_products, empty_entries, no_entries
from rwk.transport.measures import in_precision
from rwk.transport.pairs import planned, solve_pair, solve_pairs
from rwk.transport.problem import PairResults

PRECISIONS = ["float64", "float32"]


def width(precision: str) -> int:
    return REGISTER_BYTES // np.dtype(precision).itemsize


def random_measures(count: int, seed: int, **keywords: Any) -> Any:
    """Random graphs of 1 to 25 nodes, and the pairs to solve."""
    import networkx as nx

    rng = np.random.default_rng(seed)
    graphs = []
    for _ in range(count):
        n = int(rng.integers(1, 26))
        plain = nx.gnp_random_graph(n, min(1.0, 2.5 / n), seed=int(rng.integers(1 << 30)))
        edges = np.array(list(plain.edges), np.int64).reshape(-1, 2)
        graphs.append(Graph(n, edges, node_labels=rng.integers(0, 3, n), node_attributes=rng.random((n, 2))))
    parameters = Parameters.of({"backend": "cpu", **keywords})
    measures, _ = represent(GraphSet.from_graphs(graphs), parameters)
    return measures, parameters.cost_weights(), parameters.scg_options()


def all_pairs(count: int) -> Any:
    return np.stack(np.triu_indices(count), axis=1)


@njit
def by_vectors(x: Any, out: Any, logarithm: bool) -> None:
    for i in range(len(x)):
        store(out, i, log_of(load(x, i)) if logarithm else exp_of(load(x, i)))


@njit
def by_numbers(x: Any, out: Any, logarithm: bool) -> None:
    for i in range(len(x)):
        out[i] = log_of(x[i]) if logarithm else exp_of(x[i])


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("logarithm", [False, True])
def test_vectors_and_numbers_have_the_same_bits(precision: str, logarithm: bool) -> None:
    x = np.random.default_rng(0).uniform(-60, 60, (200, width(precision))).astype(precision)
    x = np.abs(x) if logarithm else x
    vectors, numbers = np.empty_like(x), np.empty(x.size, precision)
    by_vectors(x, vectors, logarithm)
    by_numbers(x.ravel(), numbers, logarithm)
    np.testing.assert_array_equal(vectors.ravel(), numbers)


@njit
def products(left: Any, right: Any, base: Any, out: Any, turned: Any, n: int, depth: int, m: int) -> None:
    plain = View(left, 0, left.shape[1], 1), View(right, 0, right.shape[1], 1)
    multiply_onto(View(base, 0, m, 1), 0.5, plain[0], plain[1], View(out, 0, m, 1), n, depth, m)
    transposed = View(right, 0, 1, right.shape[1]), View(left, 0, 1, left.shape[1])
    multiply(transposed[0], transposed[1], View(turned, 0, n, 1), m, depth, n)


@laws(40)
@given(st.integers(1, 11), st.integers(1, 11), st.integers(1, 11), st.sampled_from(PRECISIONS), st.integers(0, 99))
def test_products(n: int, depth: int, m: int, precision: str, seed: int) -> None:
    rng, lanes = np.random.default_rng(seed), width(precision)
    left, right = rng.normal(size=(n, depth, lanes)), rng.normal(size=(depth, m, lanes))
    base = rng.normal(size=(n, m, lanes)).astype(precision)
    left, right = left.astype(precision), right.astype(precision)
    wanted = np.einsum("ijl,jkl->ikl", left, right)
    shorter, longer, turned = np.empty_like(base), np.empty_like(base), np.empty((m, n, lanes), precision)
    products(left, right, base, shorter, turned, n, depth, m)
    allowed = 1e-14 if precision == "float64" else 1e-5
    assert_close(shorter, 0.5 * base + wanted, allowed)
    assert_close(turned, wanted.transpose(1, 0, 2), allowed)
    padded = np.zeros((n, depth + 2, lanes), precision), np.zeros((depth + 2, m, lanes), precision)
    padded[0][:, :depth], padded[1][:depth] = left, right
    products(*padded, base, longer, turned, n, depth + 2, m)
    np.testing.assert_array_equal(longer, shorter)


@njit
def sparse_products(entries: Any, bounds: Any, visits: Any, matrix: Any, dense: Any, out: Any) -> None:
    """Enter graph after graph into lane after lane, then multiply."""
    for old, new, lane in visits:
        before = (bounds[old], bounds[old + 1]) if old >= 0 else (0, 0)
        enter_sparse(matrix, entries, before, (bounds[new], bounds[new + 1]), 2.0, lane)
    sparse_multiply(matrix, dense, View(out, 0, dense.shape[1], 1), len(out), dense.shape[1])


@laws(20)
@given(st.integers(1, 70), st.integers(1, 11), st.integers(0, 99))
def test_sparse_products(n: int, columns: int, seed: int) -> None:
    """Lanes have graphs of different sizes, each the second in its lane; beyond a graph's own rows its lane has 0."""
    rng, lanes = np.random.default_rng(seed), width("float64")
    sizes = rng.integers(1, n + 1, 2 * lanes)
    sizes[-1] = n
    dense_graphs = [np.where(rng.random((k, k)) < 0.2, rng.normal(size=(k, k)), 0.0) for k in sizes]
    rows = np.concatenate([[0], np.cumsum([np.count_nonzero(row) for graph in dense_graphs for row in graph])])
    where = np.concatenate([np.nonzero(row)[0] for graph in dense_graphs for row in graph])
    values = np.concatenate([row[row != 0] for graph in dense_graphs for row in graph])
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    visits = [(-1, lane, lane) for lane in range(lanes)] + [(lane, lanes + lane, lane) for lane in range(lanes)]
    matrix, dense = empty_sparse(np.zeros((n, n, lanes))), rng.normal(size=(n, columns, lanes))
    out, wanted = np.empty((n, columns, lanes)), np.zeros((n, columns, lanes))
    entries = rows.astype(np.int64), where.astype(np.int64), values
    sparse_products(entries, bounds, np.array(visits), matrix, dense, out)
    for lane, graph in enumerate(dense_graphs[lanes:]):
        wanted[: len(graph), :, lane] = 2.0 * graph @ dense[: len(graph), :, lane]
    assert_close(out, wanted, 1e-13, scale=max(1.0, np.abs(wanted).max()))


@njit
def divide(x: Any, y: Any, out: Any) -> None:
    for i in range(len(x)):
        store(out, i, quotient(load(x, i), load(y, i)))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_quotients_are_exact_but_for_the_last_bit(precision: str) -> None:
    rng, shape = np.random.default_rng(0), (400, width(precision))
    widest = 30 if precision == "float32" else 290
    x, y = (
        rng.uniform(1, 2, shape) * 10.0 ** rng.uniform(low, high, shape) for low, high in ((-9, 0), (-widest, widest))
    )
    x, y = x.astype(precision), y.astype(precision)
    found = np.empty_like(x)
    divide(x, y, found)
    np.testing.assert_array_max_ulp(found, x / y, maxulp=1)
    divide(np.zeros_like(x), y, found)
    assert (found == 0).all()


@njit
def take_roots(x: Any, out: Any) -> None:
    for i in range(len(x)):
        store(out, i, root_of(load(x, i)))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_roots_are_exact_but_for_the_last_bit_and_zero_stays_zero(precision: str) -> None:
    widest = 35 if precision == "float32" else 289
    x = (10.0 ** np.random.default_rng(0).uniform(-widest, widest, (400, width(precision)))).astype(precision)
    found = np.empty_like(x)
    take_roots(x, found)
    np.testing.assert_array_max_ulp(found, np.sqrt(x), maxulp=1)
    take_roots(np.zeros_like(x), found)
    assert (found == 0).all()


@njit
def scale_rounds(mu: Any, nu: Any, kernel: Any, u: Any, v: Any, sums: Any, rounds: int) -> None:
    _scale(mu, nu, kernel.shape[0], kernel.shape[1], kernel, u, v, sums, rounds)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("n", range(1, 14))
def test_sinkhorn_rounds_of_any_number_of_rows_read_nothing_else(n: int, precision: str) -> None:
    rng, m = np.random.default_rng(n), 5
    around = np.full((n + 2, m, width(precision)), np.nan, precision)
    kernel = around[1:-1]
    kernel[:] = rng.uniform(0.1, 1.0, kernel.shape)
    mu, nu = (rng.uniform(0.1, 1.0, (size, 1, width(precision))).astype(precision) for size in (n, m))
    u, v, sums = np.full_like(mu, np.nan), np.full_like(nu, np.nan), kernel.sum(axis=0)[:, None].copy()
    scale_rounds(mu, nu, kernel, u, v, sums, 3)
    row, column = np.ones_like(mu[:, 0]), nu[:, 0]
    for _ in range(3):
        column = nu[:, 0] / np.einsum("ikl,il->kl", kernel, row)
        row = mu[:, 0] / np.einsum("ikl,kl->il", kernel, column)
    tolerance = 1e-12 if precision == "float64" else 1e-5
    np.testing.assert_allclose(u[:, 0], row, rtol=tolerance)
    np.testing.assert_allclose(v[:, 0], column, rtol=tolerance)
    np.testing.assert_allclose(sums[:, 0], np.einsum("ikl,il->kl", kernel, row), rtol=tolerance)


@njit
def products_of_columns(graphs: Any, pairs: Any, entries: Any, out: Any) -> None:
    longest = padded(np.diff(graphs.offsets).max())
    column = np.zeros(longest)
    for p in range(len(pairs)):
        add_products(graphs, pairs[p, 0], pairs[p, 1], entries, column, longest, out[p])


def test_columns_looked_up_and_merged_give_the_same_bits() -> None:
    measures, _, _ = random_measures(12, seed=3, wl_rounds=3)
    pairs = np.random.default_rng(0).permutation(all_pairs(12))  # targets come and go
    found, wanted = np.zeros((2, len(pairs), measures.sizes.max() * padded(measures.sizes.max())))
    products_of_columns(measures, pairs, empty_entries(measures, int(measures.sizes.max())), found)
    products_of_columns(measures, pairs, no_entries(), wanted)
    assert found.any()
    np.testing.assert_array_equal(found, wanted)


@laws(40)
@given(st.integers(0, 70), st.sampled_from(PRECISIONS), st.integers(0, 99))
def test_sums(count: int, precision: str, seed: int) -> None:
    x, y = np.random.default_rng(seed).normal(size=(2, count)).astype(precision)
    assert_close(inner(x, y), np.dot(x.astype(float), y.astype(float)), 1e-12, scale=10.0)
    assert_close(total_of(x, 0, count), x.astype(float).sum(), 1e-12, scale=10.0)


@laws(40)
@given(graph_sets(), all_settings(attention=False))
def test_both_bodies_agree_with_the_oracle(graphs: list[Graph], keywords: dict[str, Any]) -> None:
    parameters = Parameters.of(keywords)
    measures, _ = represent(GraphSet.from_graphs(graphs), parameters)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    wanted = naive.solve(naive.unpacked_problem(measures, 0, 1), weights, options)
    size = max(sum(abs(term) for term in wanted.terms.values()), 1e-3)
    for solve in (threads.solve_small, threads.solve_large):
        found = PairResults.empty(1)
        solve(measures, np.array([[0, 1]]), weights, options, found)
        assert_close(found.values[0], wanted.value, tolerance().value, scale=size)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("entropy", [0.1, 0.01, 0.001], ids=["plain", "wide in float32", "wide in float64"])
def test_a_pair_is_the_same_alone_and_in_any_company(precision: str, entropy: float) -> None:
    measures, weights, options = random_measures(14, 1, entropy=entropy)
    measures, pairs = in_precision(measures, precision), all_pairs(14)
    together = solve_pairs(measures, pairs, weights, options, n_jobs=1)
    assert np.isfinite(together.values).all()
    shuffled = np.random.default_rng(0).permutation(len(pairs))
    apart = solve_pairs(measures, pairs[shuffled], weights, options, n_jobs=2)
    for of_all, again in zip(together, apart, strict=True):
        np.testing.assert_array_equal(of_all[shuffled], again)
    for p in range(0, len(pairs), 9):
        alone = solve_pairs(measures, pairs[p : p + 1], weights, options)
        assert alone.values[0] == together.values[p]
        a, b = sorted(pairs[p], key=lambda g: measures.sizes[g])
        ways = [(a, b)] if measures.sizes[a] < measures.sizes[b] else [(a, b), (b, a)]
        single = np.mean([solve_pair(measures, *way, weights, options).value for way in ways])
        # of a graph with itself little is left over, and float32 keeps fewer digits of it
        narrow = 1e-4 if len(ways) == 2 else 1e-5
        assert_close(single, together.values[p], 1e-12 if precision == "float64" else narrow)


def test_a_second_try_leaves_nothing_of_the_first_in_the_history() -> None:
    """A pair that spreads too widely for float32 is solved again, and the results of the first attempt are replaced."""
    measures, weights, options = random_measures(2, 1, entropy=0.03)
    found, history = PairResults.empty(1), np.full((options.max_iter, 2), 7.0)
    coupling = np.empty((1, *measures.sizes))
    narrow = in_precision(measures, "float32")
    assert not len(threads.solve_small(narrow, np.array([[0, 1]]), weights, options, found, coupling, history))
    made = min(found.n_iter[0] + found.converged[0], options.max_iter)
    assert np.isfinite(history[:made]).all()
    assert np.isnan(history[made:]).all()


@pytest.mark.parametrize(("rounded", "near"), [(True, 1e-7), (False, 3e-5)], ids=["same numbers", "given numbers"])
def test_float32_stops_where_float64_does(rounded: bool, near: float) -> None:
    """Also where the gap of an iteration is the tolerance itself: to the last bits where float64 gets the numbers
    that float32 has, and up to what rounding these moves the gap where it gets them as they were."""
    measures, weights, options = random_measures(12, 5, tol=1e-9)
    narrow, pairs = in_precision(measures, "float32"), planned(measures, all_pairs(12), weights).once
    wide = in_precision(narrow, "float64") if rounded else measures
    assert wide.structure.dtype == np.float64
    for p in range(0, len(pairs), 11):
        history = threads.run_pair(wide, *pairs[p], weights, options, trace=True).history
        assert history is not None
        for gap in history[:3, 1]:
            for tol in (gap * (1 - near), gap * (1 + near)):
                there = options._replace(tol=float(tol))
                wanted, found = (threads.run_pair(given, *pairs[p], weights, there) for given in (wide, narrow))
                assert wanted.n_iter == found.n_iter
                assert_close(found.value, wanted.value, 1e-4)


def test_bodies_agree_on_either_side_of_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    measures, weights, options = random_measures(12, 2)
    pairs = all_pairs(12)
    small = solve_pairs(measures, pairs, weights, options)
    monkeypatch.setattr(threads, "LARGEST_SMALL", {8: 0, 4: 0})
    large = solve_pairs(measures, pairs, weights, options)
    assert_close(small.values, large.values, 1e-9)
    assert (small.values != large.values).any(), "one body solved both"


def test_freshly_compiled_code_gives_the_same_bits(tmp_path: Path) -> None:
    """A process that compiles and one that loads compiled code from disk give bit-identical results."""
    measures, weights, options = random_measures(9, 3)
    wanted = solve_pairs(measures, all_pairs(9), weights, options).values
    code = (
        "import sys, numpy as np\n"
        "from test_lanes import all_pairs, random_measures\n"
        "from rwk.transport.pairs import solve_pairs\n"
        "measures, weights, options = random_measures(9, 3)\n"
        "np.save(sys.argv[1], solve_pairs(measures, all_pairs(9), weights, options).values)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    fresh = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    made = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "k.npy")], check=True, env=fresh, capture_output=True, text=True
    )
    assert "compiling, once" in made.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "k.npy"), wanted)
