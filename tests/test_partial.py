"""Partial transport: oracle, CPU, GPU and exact body agree, couplings carry the given mass, and the laws of a mass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from asserts import assert_close, assert_finite, assert_terms_add_up
from generators import all_settings, dressed, graph_sets, hard_sets, laws
from rwk import Graph, GraphSet, Parameters, RWKernel, align, nearest, pairwise_discrepancy, solve
from rwk.parameters import ParameterError
from rwk.represent import represent
from rwk.transport.cpu import dispatch, partial_run
from rwk.transport.cpu.partial_sinkhorn import partial_plan, stays
from rwk.transport.exact import true_gap
from rwk.transport.pairs import solve_pair, solve_pairs
from rwk.transport.starts import start_costs

pytestmark = pytest.mark.filterwarnings("ignore:the graphs have edge attributes")
MASSES = st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.95])


def measured(graphs: list[Graph], keywords: dict[str, Any]) -> Any:
    p = Parameters.of(keywords)
    return represent(GraphSet.from_graphs(graphs), p)[0], p.cost_weights(), p.scg_options()


def size_of(solution: Any) -> float:
    return max(sum(abs(term) for term in solution.terms.values()), 1e-3)


def sides(measures: Any) -> tuple[Any, Any]:
    mu, nu = (measures.weights[measures.offsets[i] : measures.offsets[i + 1]] for i in (0, 1))
    return mu, nu


def assert_carries(coupling: Any, measures: Any, mass: float) -> None:
    mu, nu = sides(measures)
    assert (coupling >= 0).all()
    assert abs(coupling.sum() - mass) <= 1e-9
    assert (coupling.sum(axis=1) <= mu + 1e-9).all()
    assert (coupling.sum(axis=0) <= nu + 1e-9).all()


# ---------------------------------------------------------------- the bodies agree


@laws(40)
@given(graph_sets(), all_settings(attention=False), MASSES, st.booleans())
def test_agrees_with_the_oracle(graphs: list[Graph], keywords: dict[str, Any], mass: float, started: bool) -> None:
    measures, weights, options = measured(graphs, {**keywords, "mass": mass})
    problem = naive.unpacked_problem(measures, 0, 1)
    costs = start_costs(problem.feature.shape, 1) if started else None
    found = solve_pair(measures, 0, 1, weights, options, **({"start": costs} if started else {}))
    wanted = naive.solve(problem, weights, options, costs)
    assert_close(found.value, wanted.value, 1e-9, scale=size_of(wanted), what="value")
    for name, term in wanted.terms.items():
        assert_close(found.terms[name], term, 1e-6, scale=size_of(wanted), what=name)
    if not started:  # from elsewhere, a flat objective lets rounding errors decide whether a step is made
        assert_close(found.coupling, wanted.coupling, 1e-3, what="coupling")
    assert_carries(found.coupling, measures, mass)
    assert_terms_add_up(found)


@laws(25)
@given(graph_sets(max_nodes=14), all_settings(attention=False), MASSES, st.sampled_from(["cpu", "exact"]))
def test_iterates_descend(graphs: list[Graph], keywords: dict[str, Any], mass: float, backend: str) -> None:
    measures, weights, options = measured(graphs, {**keywords, "mass": mass})
    solution = solve_pair(measures, 0, 1, weights, options, backend=backend, trace=True)
    assert_carries(solution.coupling, measures, mass)
    assert solution.history is not None
    path = np.append(solution.history[:, 0], solution.value)
    assert (np.diff(path) <= 1e-12 * np.abs(path).max() + 1e-14).all(), path


@pytest.mark.parametrize("case", ["all terms", "repel", "attributes and node weights", "global only", "small entropy"])
def test_gpu_agrees_with_the_cpu(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the GPU backend needs PyTorch")
    from gpu_cases import all_pairs
    from gpu_cases import measured as gpu_measured

    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    measures, weights, options = gpu_measured(case, sizes=(1, 5, 14), mass=0.6, max_iter=5, tol=0.0)
    pairs = all_pairs(3)
    found, wanted = (solve_pairs(measures, pairs, weights, options, backend=b) for b in ("gpu", "cpu"))
    assert_close(found.values, wanted.values, 1e-8, what="values")
    one, other = (solve_pair(measures, 1, 2, weights, options, backend=b) for b in ("gpu", "cpu"))
    assert_close(one.coupling, other.coupling, 1e-4, what="coupling")
    for name, term in other.terms.items():
        assert_close(one.terms[name], term, 1e-6, scale=size_of(other), what=name)


def test_starts_agree_between_backends(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the GPU backend needs PyTorch")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    G, H = (dressed(8, [(i, i + 1) for i in range(7)], "labels", seed=seed) for seed in (1, 2))
    found = [align(G, H, preset="matching", n_starts=3, mass=0.5, backend=backend) for backend in ("cpu", "gpu")]
    assert_close(found[1].value, found[0].value, 1e-7, what="value")


def test_value_does_not_depend_on_the_other_pairs() -> None:
    graphs = [dressed(n, [(i, i + 1) for i in range(n - 1)], "labels", seed=n) for n in (3, 6, 6, 9)]
    D = pairwise_discrepancy(graphs, mass=0.5, scale="none", backend="cpu")
    assert (D == D.T).all()
    part = pairwise_discrepancy(graphs[1:3], mass=0.5, scale="none", backend="cpu", n_jobs=1)
    assert (part == D[1:3, 1:3]).all()


# ---------------------------------------------------------------- the linear step


@laws(40)
@given(st.integers(1, 9), st.integers(1, 9), MASSES, st.sampled_from([1e-4, 0.05, 1.0]), st.integers(0, 99))
def test_plan_nears_the_linear_program(n: int, m: int, mass: float, lam: float, seed: int) -> None:
    """With many rounds the plan costs no more than the entropy above the exact one with a dummy node; R14."""
    from rwk.transport.exact import exact_plan

    rng = np.random.default_rng(seed)
    g, mu, nu, plan = rng.normal(size=(n, m)), rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m)), np.empty((n, m))
    partial_plan(g, mu, nu, mass, lam, 500, plan)
    best = exact_plan(g, mu, nu, mass)
    assert abs(best.sum() - mass) <= 1e-9
    assert abs(plan.sum() - mass) <= 1e-9
    assert (plan.sum(axis=1) <= mu + 1e-12).all()
    excess = (plan * g).sum() - (best * g).sum()
    assert excess >= -1e-9
    if lam > 1e-3:  # a smaller entropy needs more rounds
        assert excess <= lam * np.log((n + 1) * (m + 1)) + 1e-3


@laws(30)
@given(st.lists(st.floats(-400, 400), min_size=1, max_size=8), st.floats(1e-3, 0.999))
def test_what_stays_is_what_is_asked_for(logs: list[float], mass: float) -> None:
    weights = np.full(len(logs), 1.0 / len(logs))
    z = stays(np.array(logs), weights, mass)
    moved = (weights / (1.0 + np.exp(np.clip(z - np.array(logs), -700, 700)))).sum()
    assert abs(moved - mass) <= 1e-12
    assert stays(np.array(logs), weights, 1.0) == -np.inf


# ---------------------------------------------------------------- laws of the mass


@pytest.mark.parametrize("backend", ["cpu", "exact"])
def test_a_mass_of_one_is_the_whole_problem(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: no part of the partial body is called, and the oracle takes its old path."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the partial body was called")

    for name in ("run_partial", "run_partial_pairs", "partial_solutions"):
        monkeypatch.setattr(dispatch, name, refuse)
    monkeypatch.setattr(partial_run.partial, "solve_partial", refuse)
    graphs = [dressed(n, [(i, i + 1) for i in range(n - 1)], "labels", seed=n) for n in (4, 9, 60)]
    usual, given_one = (
        Parameters(**keywords, backend="cpu", direction="exact" if backend == "exact" else "sinkhorn")  # type: ignore[arg-type]
        for keywords in ({}, {"mass": 1.0})
    )
    measures, _ = represent(GraphSet.from_graphs(graphs), usual)
    pairs = np.array([[0, 1], [1, 2], [2, 2]])
    first, second = (
        solve_pairs(measures, pairs, p.cost_weights(), p.scg_options(), backend=p.solver()).values
        for p in (usual, given_one)
    )
    assert first.tobytes() == second.tobytes()


def test_nearly_all_the_mass_is_nearly_the_whole_problem() -> None:
    G, H = (dressed(9, [(i, i + 1) for i in range(8)], "labels", seed=seed) for seed in (3, 4))
    keywords = {"sinkhorn_iter": 500, "tol": 1e-7, "max_iter": 200, "backend": "cpu"}
    whole, part = (align(G, H, mass=mass, **keywords).value for mass in (1.0, 1.0 - 1e-7))
    assert abs(whole - part) <= 1e-4 * whole


CONVEX = {"beta_global": 0.0, "direction": "exact", "max_iter": 60, "tol": 1e-6}


@laws(25)
@given(graph_sets(max_nodes=7), st.tuples(MASSES, MASSES), st.sampled_from([0.0, 0.01, 0.1]))
def test_value_does_not_decrease_with_mass(graphs: list[Graph], masses: tuple[float, float], weight: float) -> None:
    """Convex, so the gap bounds how far a value lies above the least one: the law holds for every pair of masses."""
    less, more = sorted(masses)
    keywords = CONVEX | {"laplacian_source": weight, "laplacian_target": weight, "ridge": weight}
    small, large = (align(*graphs, mass=mass, **keywords) for mass in (less, more))
    assert small.value - small.gap <= large.value + 1e-9
    assert align(*graphs, mass=1.0, **keywords).value >= large.value - large.gap - 1e-9


@laws(25)
@given(graph_sets(max_nodes=7), all_settings(attention=False), MASSES, st.sampled_from([0.5, 0.9]))
def test_less_of_a_coupling_costs_less(
    graphs: list[Graph], keywords: dict[str, Any], mass: float, share: float
) -> None:
    """With all terms: a share of any coupling of a mass is a coupling of the smaller mass, and every term falls.

    So the least value does not decrease with the mass. "repel" rewards what the degree prior would cost.
    """
    keywords = {**keywords, "degree_prior": "attract", "mass": mass}
    measures, weights, options = measured(graphs, keywords)
    solution = solve_pair(measures, 0, 1, weights, options)
    less = naive.terms(
        naive.unpacked_problem(measures, 0, 1), weights._replace(mass=share * mass), share * solution.coupling
    )
    for name, term in solution.terms.items():
        assert less[name] <= share * term + 1e-12 * size_of(solution), name


@laws(20)
@given(graph_sets(), all_settings(attention=False), MASSES)
def test_nodes_pay_the_value(graphs: list[Graph], keywords: dict[str, Any], mass: float) -> None:
    solution = align(*graphs, **{**keywords, "mass": mass})
    assert solution.paid is not None
    for paid in solution.paid:
        assert_close(paid.sum(), solution.value, 1e-9, scale=size_of(solution), what="paid")


def test_dummy_has_no_structure() -> None:
    """Half of a graph is the other graph: with half of the mass, nothing is paid for structure or features."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    far = [(6 + i, 6 + j) for i in range(6) for j in range(i)]
    both = Graph(12, np.array(sorted(map(sorted, ring + far))), node_labels=np.repeat([0, 1], 6))
    one = Graph(12, np.array(sorted(map(sorted, ring))), node_labels=np.repeat([0, 2], 6))
    keywords = {"laplacian_source": 0.0, "laplacian_target": 0.0, "ridge": 0.0, "degree_weight": 0.0, "wl_rounds": 0,
                "hops": 0, "beta_local": 0.0, "structure": "adjacency", "entropy": 0.01, "max_iter": 100}  # fmt: skip
    part, whole = (align(both, one, mass=mass, n_starts=10, backend="cpu", **keywords) for mass in (0.5, 1.0))
    assert part.terms["feature"] <= 1e-6
    assert part.value <= 0.05 * whole.value
    assert part.coupling[6:].sum() <= 1e-6


@pytest.mark.parametrize("name", hard_sets())
def test_hard_graphs(name: str) -> None:
    graphs = hard_sets()[name]
    assert_finite(align(graphs[0], graphs[-1], mass=0.4, backend="cpu"))
    assert_finite(align(graphs[0], graphs[-1], mass=0.4, entropy=1e-5, backend="cpu"))


def test_certificate_and_own_costs() -> None:
    G, H = (dressed(6, [(i, i + 1) for i in range(5)], "labels", seed=seed) for seed in (1, 2))
    measures, weights, options = measured([G, H], {"mass": 0.5, "direction": "exact", "max_iter": 300, "tol": 1e-9})
    solution = solve_pair(measures, 0, 1, weights, options, backend="exact")
    assert true_gap(measures, 0, 1, weights, solution.coupling) <= 1e-3
    found = solve(cost=np.array([[0.0, 1.0], [2.0, 3.0]]), mass=0.5)
    assert_close(found.coupling, [[0.5, 0.0], [0.0, 0.0]], 1e-2)


@pytest.mark.parametrize("mass", [0.2, 0.6, 0.95])
def test_agrees_with_partial_wasserstein_of_pot(mass: float) -> None:
    partial = pytest.importorskip("ot", reason="POT is in the extra 'baselines'").partial
    rng = np.random.default_rng(3)
    cost, weights = rng.random((6, 8)), (rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(8)))
    found = solve(cost=cost, weights=weights, mass=mass, direction="exact")
    assert_close(found.value, partial.partial_wasserstein2(*weights, cost, m=mass), 1e-9)
    near = solve(cost=cost, weights=weights, mass=mass, entropy=0.005, sinkhorn_iter=3000)
    assert found.value - 1e-9 <= near.value <= found.value + 0.02


def test_nearest_solves_every_pair_if_part_may_stay() -> None:
    graphs = [dressed(n, [(i, i + 1) for i in range(n - 1)], "labels", seed=n) for n in range(4, 9)]
    found = nearest(graphs[0], graphs, k=2, mass=0.5, backend="cpu")
    kernel = RWKernel(mass=0.5, backend="cpu").fit(graphs)
    wanted = kernel.discrepancy([graphs[0]])[0]
    assert found.indices.tolist() == np.argsort(wanted, kind="stable")[:2].tolist()


@pytest.mark.parametrize("mass", [0.0, 1.2, -0.5])
def test_masses_outside_the_range(mass: float) -> None:
    with pytest.raises(ParameterError, match="mass"):
        Parameters.of({"mass": mass})
