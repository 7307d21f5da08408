"""All bodies of the solver on pairs of a few nodes, compared with the oracle.

They also run with NUMBA_DISABLE_JIT=1, as Python (`plain_vectors`): `make coverage` does so, to see the lines of
compiled code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import naive
from asserts import assert_close, assert_marginals, tolerance
from rwk import Graph, GraphSet, Parameters
from rwk.represent import represent
from rwk.transport.cpu import dispatch
from rwk.transport.cpu.lanes.body import MANY_32
from rwk.transport.cpu.lower_bounds import binned_quantiles, linear_bounds
from rwk.transport.measures import in_precision
from rwk.transport.problem import PairResults
from rwk.transport.starts import start_costs

SIZES = (1, 3, 9, 5, 2, 6, 4, 10, 7, 8, 3)  # more pairs than lanes, rows longer than a vector
PAIRS = np.array([[0, 1], [1, 2], [3, 7], [4, 2], [5, 9], [6, 7], [8, 8], [1, 10], [4, 4], [0, 0], [2, 7], [3, 5]])
SETTINGS: dict[str, dict[str, Any]] = {
    "usual": {},
    "product": {"feature_metric": "product"},
    "hamming": {"feature_metric": "hamming", "degree_weight": 5.0},
    "l2 of attributes": {"feature_metric": "l2", "wl_rounds": 0, "attribute_rounds": 1},
    "local alone": {"beta_global": 0.0, "laplacian_target": 0.0},
    "global alone": {"beta_local": 0.0, "structure": "embedding"},
    "one Laplacian": {"laplacian_source": 0.0, "degree_weight": 0.0},
    "features alone": {"beta_local": 0.0, "beta_global": 0.0},
    "ridge alone": {"beta_global": 0.0, "laplacian_source": 0.0, "laplacian_target": 0.0, "ridge": 0.5},
    "repel": {"degree_prior": "repel", "laplacian": "combinatorial"},
    "attention": {"embedding": "attention", "embedding_dim": 4, "walk_length": 2, "structure": "embedding"},
}


def small_measures(**keywords: Any) -> Any:
    """Random trees with a few more edges, with labels, attributes and unequal node weights."""
    rng, graphs = np.random.default_rng(3), []
    for n in SIZES:
        edges = [(int(rng.integers(k)), k) for k in range(1, n)] + ([(0, n - 1)] if n > 3 else [])
        weights = rng.uniform(0.5, 1.5, n) if n % 2 else np.ones(n)
        graphs.append(
            Graph(
                n, np.array(edges, np.int64).reshape(-1, 2), node_labels=rng.integers(0, 3, n),
                node_attributes=rng.random((n, 2)), node_weights=weights / weights.sum(),
            )
        )  # fmt: skip
    parameters = Parameters.of({"backend": "cpu", "max_iter": 4, "sinkhorn_iter": 5, "tol": 1e-7, **keywords})
    measures, _ = represent(GraphSet.from_graphs(graphs), parameters)
    return measures, parameters.cost_weights(), parameters.scg_options()


def wanted_of(measures: Any, pair: Any, weights: Any, options: Any, start: Any = None) -> tuple[Any, float]:
    """What the oracle finds, and the size of its terms."""
    problem = naive.unpacked_problem(measures, int(pair[0]), int(pair[1]))
    found = naive.solve(problem, weights, options, start)
    return found, max(sum(abs(term) for term in found.terms.values()), 1e-3)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("solve", [dispatch.solve_small, dispatch.solve_large], ids=["lanes", "rows"])
def test_bodies_agree_with_the_oracle(name: str, solve: Any) -> None:
    measures, weights, options = small_measures(**SETTINGS[name])
    found = PairResults.empty(len(PAIRS))
    solve(measures, PAIRS, weights, options, found)
    for p, pair in enumerate(PAIRS):
        wanted, size = wanted_of(measures, pair, weights, options)
        assert_close(found.values[p], wanted.value, tolerance().value, scale=size, what=f"pair {pair}")
        assert found.n_iter[p] == wanted.n_iter


@pytest.mark.parametrize("solve", [dispatch.solve_small, dispatch.solve_large], ids=["lanes", "rows"])
@pytest.mark.parametrize("entropy", [0.3, 0.02, 0.0005], ids=["plain", "wide in float32", "wide in float64"])
def test_float32_and_wide_kernels_agree_with_the_oracle(solve: Any, entropy: float) -> None:
    """A kernel that would underflow goes to float64, and then to rounds on logarithms."""
    measures, weights, options = small_measures(entropy=entropy)
    pairs, narrow = PAIRS[1:4], in_precision(measures, "float32")
    for given, near in ((measures, tolerance().value), (narrow, 2e-3)):
        found = PairResults.empty(len(pairs))
        solve(given, pairs, weights, options, found)
        for p, pair in enumerate(pairs):
            wanted, size = wanted_of(measures, pair, weights, options)
            assert_close(found.values[p], wanted.value, near, scale=size, what=f"pair {pair}")


def test_a_pair_of_many_iterations_is_left_to_float64() -> None:
    measures, weights, options = small_measures(max_iter=MANY_32 + 2, tol=1e-12)
    narrow, found = in_precision(measures, "float32"), PairResults.empty(1)
    dispatch.solve_small(narrow, PAIRS[1:2], weights, options, found)
    exact = PairResults.empty(1)
    dispatch.solve_small(in_precision(narrow, "float64"), PAIRS[1:2], weights, options, exact)
    assert found.n_iter[0] == exact.n_iter[0]
    assert_close(found.values, exact.values, 1e-12)


@pytest.mark.parametrize("mass", [1.0, 0.6])
@pytest.mark.parametrize("started", [False, True], ids=["product", "other start"])
@pytest.mark.parametrize("largest", [None, 0], ids=["plain", "compiled"])
def test_single_pairs_with_history(
    mass: float, started: bool, largest: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if largest is not None:  # not in plain NumPy
        monkeypatch.setattr(dispatch, "is_plain", lambda *_: False)
    measures, weights, options = small_measures(mass=mass)
    a, b = 1, 3
    problem = naive.unpacked_problem(measures, a, b)
    costs = start_costs((SIZES[a], SIZES[b]), 1)
    more = {"start": costs} if started else {}
    found = dispatch.run_pair(measures, a, b, weights, options, trace=True, **more)
    wanted = naive.solve(problem, weights, options, costs if started else None)
    assert_close(found.value, wanted.value, tolerance().value)
    assert found.history is not None
    made = found.history[np.isfinite(found.history[:, 0])]
    assert len(made) >= found.n_iter > 0
    assert (np.diff(made[:, 0]) <= 1e-12).all(), "the objective grew"
    if mass == 1.0:
        assert_marginals(found.coupling, problem.mu, problem.nu)
    else:
        assert_close(found.coupling.sum(), mass, 1e-9)


@pytest.mark.parametrize("small", [True, False], ids=["lanes", "one by one"])
@pytest.mark.parametrize("entropy", [0.3, 0.0005], ids=["plain", "wide"])
def test_many_starts_of_one_pair(small: bool, entropy: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """From mu nu^T, whichever place it has in the list, the solver does as it always does."""
    if not small:
        monkeypatch.setattr(dispatch, "is_small", lambda measures, pairs: np.zeros(len(pairs), bool))
    measures, weights, options = small_measures(entropy=entropy)
    a, b = 1, 3
    problem = naive.unpacked_problem(measures, a, b)
    plain, rng = np.outer(problem.mu, problem.nu), np.random.default_rng(0)
    starts = []
    for place in range(dispatch.LEAST_STARTS + 1):
        costs = rng.random(plain.shape)
        plan = naive.rounded(naive.sinkhorn(costs, problem.mu, problem.nu, 0.2, 20), problem.mu, problem.nu)
        starts.append(plain if place == 2 else plan)
    found = dispatch.run_starts(measures, a, b, weights, options, np.array(starts), n_jobs=1)
    wanted, size = wanted_of(measures, (a, b), weights, options)
    assert_close(found[2].value, wanted.value, tolerance().value, scale=size)
    for solution, start in zip(found, starts, strict=True):
        assert solution.value <= naive.objective(problem, weights, start) + 1e-12
        assert_close(solution.value, naive.objective(problem, weights, solution.coupling), 1e-9, scale=size)
        assert_marginals(solution.coupling, problem.mu, problem.nu)


def test_partial_plans_of_wide_kernels_agree_with_the_oracle() -> None:
    measures, weights, options = small_measures(mass=0.6, entropy=0.0005)
    pairs, found = PAIRS[1:4], PairResults.empty(3)
    dispatch.solve_large(measures, pairs, weights, options, found)
    for p, pair in enumerate(pairs):
        wanted, size = wanted_of(measures, pair, weights, options)
        assert_close(found.values[p], wanted.value, tolerance().value, scale=size, what=f"pair {pair}")


def test_own_costs_take_the_place_of_the_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "is_plain", lambda *_: False)
    measures, weights, options = small_measures()
    cost = np.random.default_rng(1).random((SIZES[1], SIZES[3]))
    found = dispatch.run_pair(measures, 1, 3, weights, options, cost=cost)
    problem = naive.unpacked_problem(measures, 1, 3)._replace(feature=cost)
    assert_close(found.value, naive.solve(problem, weights, options).value, tolerance().value)


def test_linear_bounds_lie_below_every_coupling() -> None:
    measures, _, _ = small_measures()
    for beta in (0.0, 0.5):
        bounds = linear_bounds(measures, PAIRS, beta, n_jobs=1)
        for p, (a, b) in enumerate(PAIRS):
            problem = naive.unpacked_problem(measures, int(a), int(b))
            cost = problem.feature + beta * problem.neighbour
            gamma = np.outer(problem.mu, problem.nu)
            assert -1e-12 <= bounds[p] <= (gamma * cost).sum() + 1e-12
        assert bounds[PAIRS[:, 0] != PAIRS[:, 1]].max() > 0


def test_quantiles_keep_the_mean() -> None:
    rng = np.random.default_rng(0)
    rows, mass, offsets = rng.random((7, 2)), rng.uniform(0.5, 2.0, 7), np.array([0, 3, 7])
    bins = binned_quantiles(rows, mass, offsets, 4)
    assert (np.diff(bins, axis=2) >= 0).all()
    for run, part in enumerate((slice(0, 3), slice(3, 7))):
        assert_close(bins[run].mean(axis=1), np.average(rows[part], axis=0, weights=mass[part]), 1e-12)
