"""Laws of the solver: it agrees with the oracle, its couplings have the right marginals, its values obey METHOD."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.optimize import linear_sum_assignment

import naive
from asserts import (
    assert_close,
    assert_finite,
    assert_marginals,
    assert_terms_add_up,
    tolerance,
)
from generators import all_settings, asymmetric, dressed, graph_sets, hard_sets, large_set, laws
from rwk import Graph, GraphSet, Parameters, align
from rwk.represent import represent
from rwk.transport.cpu.simd.vectormath import exp_of, log_of
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_64, sinkhorn_plan
from rwk.transport.exact import true_gap
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.pairs import solve_pair, solve_pairs
from rwk.transport.problem import CostWeights, PairSolution, ScgOptions

POT = find_spec("ot") is not None
needs_pot = pytest.mark.skipif(not POT, reason="POT is not installed (extra: baselines)")
DIRECTIONS = ["sinkhorn", *(["exact"] if POT else [])]

FEATURES_ONLY = {"beta_local": 0.0, "beta_global": 0.0, "backend": "cpu"}


def measured(graphs: list[Graph], keywords: dict[str, Any]) -> tuple[GraphMeasures, CostWeights, ScgOptions]:
    p = Parameters.of(keywords)
    return represent(GraphSet.from_graphs(graphs), p)[0], p.cost_weights(), p.scg_options()


def size_of(solution: Any) -> float:
    """The size that errors of a value are relative to: terms may cancel, and costs are near 1."""
    return max(sum(abs(term) for term in solution.terms.values()), 1e-3)


def zero_marginal_direction(rng: np.random.Generator, n: int, m: int) -> Any:
    x = rng.normal(size=(n, m))
    return x - x.mean(axis=0, keepdims=True) - x.mean(axis=1, keepdims=True) + x.mean()


# ---------------------------------------------------------------- the oracle


@laws(60)
@given(graph_sets(), all_settings(attention=False))
def test_agrees_with_the_oracle(graphs: list[Graph], keywords: dict[str, Any]) -> None:
    measures, weights, options = measured(graphs, keywords)
    found = solve_pair(measures, 0, 1, weights, options)
    wanted = naive.solve(naive.unpacked_problem(measures, 0, 1), weights, options)
    assert_close(found.value, wanted.value, tolerance().value, scale=size_of(wanted), what="value")
    for name, term in wanted.terms.items():
        assert_close(found.terms[name], term, 1e-6, scale=size_of(wanted), what=name)
    # nodes that are alike make a saddle, where rounding errors grow: they change the coupling, but hardly the value
    assert_close(found.coupling, wanted.coupling, 1e-3, what="coupling")


@laws(40)
@given(graph_sets(), all_settings(attention=False))
def test_float32_is_near_float64(graphs: list[Graph], keywords: dict[str, Any]) -> None:
    measures, weights, options = measured(graphs, keywords)
    wanted = solve_pair(measures, 0, 1, weights, options)
    found = solve_pair(in_precision(measures, "float32"), 0, 1, weights, options)
    assert_close(found.value, wanted.value, tolerance("float32").value, scale=size_of(wanted), what="value")
    assert_marginals(found.coupling, *marginals(measures), "float32")


def marginals(measures: GraphMeasures) -> tuple[Any, Any]:
    return tuple(measures.weights[measures.offsets[i] : measures.offsets[i + 1]] for i in (0, 1))  # type: ignore[return-value]


@laws(40)
@given(graph_sets(max_nodes=14), all_settings(attention=False), st.sampled_from(DIRECTIONS))
def test_iterates_are_couplings_that_descend(graphs: list[Graph], keywords: dict[str, Any], direction: str) -> None:
    """Marginals exact, terms add up to the value, the objective never increases."""
    measures, weights, options = measured(graphs, keywords)
    solution = solve_pair(
        measures, 0, 1, weights, options, backend="exact" if direction == "exact" else "cpu", trace=True
    )
    assert_marginals(solution.coupling, *marginals(measures))
    assert_terms_add_up(solution)
    assert solution.history is not None
    path = np.append(solution.history[:, 0], solution.value)
    slack = 1e-12 * np.abs(path).max() + 1e-14
    assert (np.diff(path) <= slack).all(), path
    assert np.isfinite(solution.gap)


@needs_pot
@laws(25)
@given(graph_sets(), all_settings(attention=False), st.integers(0, 999))
def test_gradient_matches_finite_differences(graphs: list[Graph], keywords: dict[str, Any], seed: int) -> None:
    """Along directions with zero marginals, inside the polytope; the compiled gradient gives the same linear step."""
    import ot

    measures, weights, _ = measured(graphs, keywords)
    problem = naive.unpacked_problem(measures, 0, 1)
    n, m = problem.feature.shape
    rng = np.random.default_rng(seed)
    gamma = naive.rounded(rng.uniform(0.5, 1.5, (n, m)) * np.outer(problem.mu, problem.nu), problem.mu, problem.nu)
    delta = zero_marginal_direction(rng, n, m) * gamma.min()
    stated = float((naive.gradient(problem, weights, gamma) * delta).sum())
    h = 1e-4
    ahead, behind = (naive.objective(problem, weights, gamma + s * h * delta) for s in (1, -1))
    size = np.abs(naive.gradient(problem, weights, gamma)).max() * (np.abs(delta).sum() + 1e-6) + 1e-12
    assert_close((ahead - behind) / (2 * h), stated, 1e-6, scale=size, what="measured")
    g = naive.gradient(problem, weights, gamma)
    gap = float((gamma * g).sum()) - ot.emd2(problem.mu, problem.nu, g)
    assert_close(true_gap(measures, 0, 1, weights, gamma), gap, 1e-9, scale=np.abs(g).max() + 1e-12, what="compiled")


# ---------------------------------------------------------------- the Sinkhorn step


@laws(30)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 999), st.sampled_from([3.0, 100.0, 290.0, 400.0, 3000.0]))
def test_sinkhorn_step_on_both_paths(n: int, m: int, seed: int, spread: float) -> None:
    """The step agrees with the oracle, in plain and in log domain: the same rounds, then rounding to the marginals."""
    rng = np.random.default_rng(seed)
    g, mu, nu = rng.random((n, m)), rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    lam = max(float(np.ptp(g)), 1e-3) / spread
    for rounds in (1, 7, 40):
        found = np.empty((n, m))
        sinkhorn_plan(g, mu, nu, lam, rounds, found)
        wanted = naive.rounded(naive.sinkhorn(g, mu, nu, lam, rounds), mu, nu)
        assert_close(found, wanted, 1e-9, what=f"{rounds} rounds")
        assert_marginals(found, mu, nu)


def test_logarithmic_path_agrees_with_plain_path() -> None:
    """Just below and just above the spread at which the path changes, the step is the same."""
    rng = np.random.default_rng(3)
    g, mu, nu = rng.random((12, 9)), rng.dirichlet(np.ones(12)), rng.dirichlet(np.ones(9))
    edge = float(np.ptp(g)) / PLAIN_SPREAD_64
    below, above = np.empty((12, 9)), np.empty((12, 9))
    sinkhorn_plan(g, mu, nu, edge * (1 + 1e-12), 25, below)
    sinkhorn_plan(g, mu, nu, edge * (1 - 1e-12), 25, above)
    assert_close(above, below, 1e-8)
    assert (above != below).any(), "both took the same path: the test has lost its threshold"


@njit
def mapped(x: Any, out: Any, logarithm: bool) -> None:
    for i in range(len(x)):
        out[i] = log_of(x[i]) if logarithm else exp_of(x[i])


@pytest.mark.parametrize(("real", "allowed", "reach"), [(np.float64, 1e-14, 700.0), (np.float32, 2e-7, 86.0)])
def test_vector_exp_and_log(real: Any, allowed: float, reach: float) -> None:
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-reach, reach, 20_000), rng.uniform(-1, 1, 20_000), [0.0, -0.0, reach, -reach]])
    x = x.astype(real)
    out = np.empty_like(x)
    mapped(x, out, False)
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.abs(out / exact - 1).max()) <= allowed
    positive = np.concatenate([np.exp(x[np.abs(x) < 80]), rng.uniform(0.5, 2.0, 20_000).astype(real)]).astype(real)
    out = np.empty_like(positive)
    mapped(positive, out, True)
    exact = np.log(positive.astype(np.longdouble))
    assert float((np.abs(out - exact) / np.maximum(np.abs(exact), np.finfo(real).tiny)).max()) <= allowed
    mapped(np.ones(1, real), out[:1], True)
    assert out[0] == 0.0


# ---------------------------------------------------------------- never NaN

EXTREMES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "unscaled": {"scale": "none"},
    "little entropy": {"entropy": 1e-4, "sinkhorn_iter": 30},
    "little entropy, unscaled": {"entropy": 1e-6, "scale": "none", "degree_weight": 0.1},
    "much entropy": {"entropy": 1e4},
    "repel": {"degree_prior": "repel", "degree_weight": 0.5, "max_iter": 30},
    "one round, one step": {"sinkhorn_iter": 1, "max_iter": 1},
    "everything on, combinatorial": {
        "beta_local": 1.0, "beta_global": 1.0, "laplacian": "combinatorial", "laplacian_source": 0.1,
        "laplacian_target": 0.1, "ridge": 0.1, "degree_weight": 0.1, "tol": 0.0,
    },
    "features alone": {"beta_local": 0.0, "beta_global": 0.0},
    "l2, 3 hops": {"feature_metric": "l2", "hops": 3, "wl_rounds": 1},
    "hamming": {"feature_metric": "hamming", "wl_rounds": 5},
    "product": {"feature_metric": "product"},
    "product, unscaled": {"feature_metric": "product", "return_weight": 50.0, "scale": "none", "entropy": 1e-3},
    "heat-kernel": {"structure": "heat-kernel"},
    "adjacency": {"structure": "adjacency"},
    "laplacian": {"structure": "laplacian"},
    "embedding": {"structure": "embedding", "embedding_dim": 4},
    "attention": {"embedding": "attention", "embedding_dim": 4, "structure": "embedding", "walk_length": 2},
    "attention, euclidean": {
        "embedding": "attention", "embedding_dim": 4, "structure": "embedding", "structure_metric": "euclidean",
    },
    "debiased": {"debias": True},
}  # fmt: skip


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_hard_pairs_are_finite(extreme: str, precision: str) -> None:
    for name, graphs in hard_sets().items():
        measures, weights, options = measured(graphs, EXTREMES[extreme] | {"backend": "cpu"})
        measures = in_precision(measures, precision)
        pairs = np.stack(np.indices((len(graphs), len(graphs))).reshape(2, -1), axis=1)
        results = solve_pairs(measures, pairs, weights, options, n_jobs=2)
        for values in (results.values, results.gaps):
            bad = np.flatnonzero(~np.isfinite(values))
            assert not len(bad), f"{name}: pairs {pairs[bad].tolist()}"
        last = len(graphs) - 1
        assert_finite(solve_pair(measures, 0, last, weights, options))
        assert_finite(solve_pair(measures, last, last - 1, weights, options))


@pytest.mark.parametrize(
    "keywords", [{}, {"feature_metric": "l2", "scale": "none", "entropy": 1e-3}, {"feature_metric": "product"}]
)
def test_one_against_500_nodes_and_thousands_of_labels(keywords: dict[str, Any]) -> None:
    measures, weights, options = measured(large_set(), keywords | {"backend": "cpu", "max_iter": 3})
    assert keywords.get("feature_metric") != "l2" or len(measures.column_keys) > 5000
    for a, b in ((0, 1), (1, 0), (0, 0), (1, 2)):
        solution = solve_pair(measures, a, b, weights, options)
        assert_finite(solution)
        cut = measures.offsets
        mu, nu = measures.weights[cut[a] : cut[a + 1]], measures.weights[cut[b] : cut[b + 1]]
        assert_marginals(solution.coupling, mu, nu)


# ---------------------------------------------------------------- against exact optimal transport


@needs_pot
@laws(25)
@given(graph_sets(max_nodes=12), st.sampled_from([0.02, 0.1, 0.5]))
def test_exact_transport_bounds_the_value(graphs: list[Graph], entropy: float) -> None:
    """Features alone, Sinkhorn run long: 0 <= RW - OT <= entropy * log min(n, m)."""
    import ot

    keywords = FEATURES_ONLY | {"entropy": entropy, "sinkhorn_iter": 3000, "tol": 0.0, "max_iter": 3}
    measures, weights, options = measured(graphs, keywords)
    problem = naive.unpacked_problem(measures, 0, 1)
    excess = solve_pair(measures, 0, 1, weights, options).value - ot.emd2(problem.mu, problem.nu, problem.feature)
    assert excess >= -1e-9
    assert excess <= entropy * np.log(min(problem.feature.shape)) + 1e-9


@needs_pot
@laws(20)
@given(
    st.integers(2, 9),
    st.integers(2, 9),
    st.integers(0, 999),
    st.sampled_from([0.3, 1.0]),
    st.sampled_from(["shortest-path", "heat-kernel"]),
)
def test_pot_cannot_improve_a_stationary_coupling(n: int, m: int, seed: int, beta: float, structure: str) -> None:
    """POT's fused Gromov-Wasserstein, started from our coupling, improves it by less than 1e-6; values correspond.

    Graphs whose nodes differ: at a saddle (no edges, no features) POT steps along a direction without slope.
    """
    from ot.gromov import fused_gromov_wasserstein2, gwloss, init_matrix

    keywords = {
        "beta_local": 0.0, "beta_global": beta, "degree_weight": 0.0, "structure": structure, "direction": "exact",
        "max_iter": 500, "tol": 1e-10,
    }  # fmt: skip
    measures, weights, options = measured([asymmetric(n, seed), asymmetric(m, seed + 1)], keywords)
    ours = solve_pair(measures, 0, 1, weights, options, backend="exact")
    G, H = naive.unpack(measures, 0), naive.unpack(measures, 1)
    M, share = naive.unpacked_problem(measures, 0, 1).feature, beta / (2 + beta)
    loss = gwloss(*init_matrix(G.structure, H.structure, G.weights, H.weights), ours.coupling)
    same = (1 - share) * (M * ours.coupling).sum() + share * loss
    assert_close(same * (1 + beta / 2), ours.value, 1e-9, what="value of the same coupling")
    better = fused_gromov_wasserstein2(
        M, G.structure, H.structure, G.weights, H.weights, alpha=share, G0=ours.coupling, max_iter=500
    )
    assert better * (1 + beta / 2) >= ours.value * (1 - 1e-6)


@needs_pot
@laws(15)
@given(graph_sets(max_nodes=8), st.sampled_from(["shortest-path", "adjacency", "embedding"]))
def test_frank_wolfe_rate(graphs: list[Graph], structure: str) -> None:
    """Theorem 1: with the exact direction, min gap <= max(2 H(start), L diam^2) / sqrt(k + 1)."""
    keywords = {
        "beta_local": 1.0, "beta_global": 1.0, "laplacian_source": 0.1, "laplacian_target": 0.1, "ridge": 0.1,
        "degree_weight": 0.0, "structure": structure, "direction": "exact", "max_iter": 40, "tol": 0.0,
    }  # fmt: skip
    measures, weights, options = measured(graphs, keywords)
    solution = solve_pair(measures, 0, 1, weights, options, backend="exact", trace=True)
    problem = naive.unpacked_problem(measures, 0, 1)
    n, m = problem.feature.shape
    start = naive.objective(problem, weights, np.outer(problem.mu, problem.nu))
    flat = naive.gradient(problem, weights, np.zeros((n, m)))
    hessian = np.stack(
        [(naive.gradient(problem, weights, e.reshape(n, m)) - flat).ravel() for e in np.eye(n * m)], axis=1
    )
    inside = np.kron(np.eye(n) - 1 / n, np.eye(m) - 1 / m)  # onto directions with zero marginals
    smoothness = np.linalg.norm(inside @ hessian @ inside, 2)
    diameter = 2 * np.minimum.outer(problem.mu, problem.nu).max()  # squared: |gamma|^2 <= max gamma
    assert solution.history is not None
    best = np.minimum.accumulate(solution.history[:, 1])
    bound = max(2 * start, smoothness * diameter) / np.sqrt(np.arange(len(best)) + 1.0)
    assert (best <= bound + 1e-9).all()


@needs_pot
def test_certificate_is_the_true_gap() -> None:
    """Zero for an exact solve that converged; for the entropic direction no larger than entropy allows, and not 0."""
    G, H = asymmetric(9, 1), asymmetric(7, 2)
    exact = align(G, H, direction="exact", max_iter=2000, tol=1e-6, degree_weight=0.0, certify=True, backend="cpu")
    assert exact.converged
    assert exact.certificate is not None
    assert -1e-9 <= exact.certificate <= 1e-6
    smooth = align(G, H, max_iter=200, tol=1e-9, entropy=0.1, sinkhorn_iter=500, certify=True, backend="cpu")
    assert smooth.certificate is not None
    assert 1e-6 < smooth.certificate <= 0.1 * np.log(7) + 1e-6


# ---------------------------------------------------------------- laws of the value


@laws(20)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 999), st.sampled_from([1e-3, 7.0, 1e4]))
def test_scaling(n: int, m: int, seed: int, c: float) -> None:
    """C_V, the betas, entropy and tolerance times c: the value times c."""
    graphs = [asymmetric(n, seed), asymmetric(m, seed + 1)]
    keywords: dict[str, Any] = {"feature_metric": "l2", "scale": "none", "tol": 1e-7}
    measures, weights, options = measured(graphs, keywords)
    one = solve_pair(measures, 0, 1, weights, options)
    more = solve_pair(
        measures._replace(features=c * measures.features),
        0,
        1,
        weights._replace(beta_local=c * weights.beta_local, beta_global=c * weights.beta_global),
        options._replace(entropy=c * options.entropy, tol=c * options.tol),
    )
    assert_close(more.value, c * one.value, 1e-9)
    assert more.n_iter == one.n_iter


@laws(20)
@given(st.integers(3, 12), st.integers(0, 999))
def test_planted_permutation(n: int, seed: int) -> None:
    """Asymmetric graphs with distinct features and little entropy: the coupling finds the permutation."""
    G = asymmetric(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    solution = align(G, G.permuted(order), entropy=0.02, max_iter=50, sinkhorn_iter=100, backend="cpu")
    rows, columns = linear_sum_assignment(-solution.coupling)
    np.testing.assert_array_equal(order[columns], rows)
    np.testing.assert_array_equal(solution.matching(), np.stack([rows, columns], axis=1))


@needs_pot
@laws(20)
@given(graph_sets(max_nodes=10))
def test_identical_graphs(graphs: list[Graph]) -> None:
    """Features alone, exact direction: RW(G, G) = 0 <= RW(G, H)."""
    measures, weights, options = measured(graphs, FEATURES_ONLY | {"direction": "exact", "max_iter": 5, "tol": 0.0})

    def value(a: int, b: int) -> float:
        return solve_pair(measures, a, b, weights, options, backend="exact").value

    assert abs(value(0, 0)) <= 1e-12
    assert value(0, 1) >= -1e-12


@needs_pot
def test_exact_direction_takes_float32_measures() -> None:
    G, H = asymmetric(5, 1), asymmetric(6, 2)
    wanted = align(G, H, direction="exact", backend="cpu")
    found = align(G, H, direction="exact", precision="float32", backend="cpu")
    assert_close(found.value, wanted.value, tolerance("float32").value)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_zero_weights_of_terms_give_terms_of_exactly_zero(direction: str) -> None:
    G, H = dressed(6, [(0, 1), (1, 2), (3, 4)], "both", seed=1), dressed(4, [(0, 1), (0, 2)], "both", seed=2)

    def terms(**keywords: Any) -> dict[str, float]:
        solution: PairSolution = align(G, H, direction=direction, backend="cpu", **keywords)
        return solution.terms

    on = terms(laplacian_source=0.1, laplacian_target=0.1)
    assert all(term != 0.0 for term in on.values())
    for keyword, silent in {
        "beta_local": {"neighbourhood", "laplacian_source", "laplacian_target", "ridge"},
        "beta_global": {"gromov_wasserstein", "degree_prior"},
        "laplacian_source": {"laplacian_source"},
        "laplacian_target": {"laplacian_target"},
        "ridge": {"ridge"},
        "degree_weight": {"degree_prior"},
    }.items():
        off = terms(**{keyword: 0.0})
        assert {name for name, term in off.items() if term == 0.0} == silent, keyword
