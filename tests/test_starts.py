"""Several starts: the same solver from other couplings, and the best result, for one pair and for many."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import naive
from asserts import assert_close, assert_marginals, tolerance
from generators import all_settings, graph_sets, laws
from rwk import Graph, GraphSet, Parameters, RWKernel, align, as_graphs
from rwk.gram.matrices import matrix_of_starts
from rwk.parameters import ParameterError
from rwk.represent import represent
from rwk.transport.cpu.absorbed import absorbed_plan
from rwk.transport.cpu.dispatch import LEAST_STARTS, run_starts
from rwk.transport.pairs import planned, solve_pair
from rwk.transport.starts import FINALISTS, annealed_solutions, best_solution, best_values, start_costs


@laws(40)
@given(graph_sets(), all_settings(attention=False))
def test_another_start_agrees_with_the_oracle(graphs: list[Graph], keywords: dict[str, Any]) -> None:
    parameters = Parameters.of(keywords)
    measures, _ = represent(GraphSet.from_graphs(graphs), parameters)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    problem = naive.unpacked_problem(measures, 0, 1)
    costs = start_costs((len(problem.mu), len(problem.nu)), 1)
    wanted = naive.solve(problem, weights, options, costs)
    found = solve_pair(measures, 0, 1, weights, options, start=costs)
    size = max(sum(abs(term) for term in wanted.terms.values()), 1e-3)
    assert_close(found.value, wanted.value, tolerance().value, scale=size)
    assert np.abs(found.coupling.sum(axis=1) - problem.mu).max() < 1e-9
    assert np.abs(found.coupling.sum(axis=0) - problem.nu).max() < 1e-9


def ring_and_others() -> list[nx.Graph]:
    return [
        nx.cycle_graph(7),
        nx.cycle_graph(7),
        nx.path_graph(7),
        nx.star_graph(4),
        nx.empty_graph(1),
        nx.wheel_graph(6),
    ]


def test_a_ring_is_laid_on_itself_only_from_another_start() -> None:
    ring = nx.cycle_graph(7)
    spread, laid = (align(ring, ring, n_starts=n, entropy=0.01, max_iter=50) for n in (1, 6))
    assert np.allclose(spread.coupling, 1 / 49)
    assert laid.value < spread.value
    image = laid.coupling.argmax(axis=1)
    assert sorted(image) == list(range(7))
    steps = {int((image[(i + 1) % 7] - image[i]) % 7) for i in range(7)}
    assert steps in ({1}, {6})


def test_one_start_is_the_solver_itself_and_more_are_never_worse() -> None:
    graphs = ring_and_others()
    kernel = RWKernel(entropy=0.02).fit(graphs)
    for i in range(len(graphs)):
        for j in range(len(graphs)):
            one, many = (kernel.align(graphs[i], graphs[j], n_starts=n) for n in (1, 4))
            assert one.value == kernel.align(graphs[i], graphs[j]).value
            assert many.value <= one.value


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_many_pairs_find_what_single_pairs_find(precision: str) -> None:
    parameters = Parameters(entropy=0.02, precision=precision)
    graphs = as_graphs(ring_and_others())
    measures, _ = represent(graphs, parameters)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    pairs = np.stack(np.triu_indices(len(graphs)), axis=1)
    found = best_values(measures, pairs, weights, options, n_starts=4)
    for value, pair in zip(found, pairs, strict=True):
        ways = planned(measures, pair[None], weights).solves
        single = [best_solution(measures, int(a), int(b), weights, options, n_starts=4).value for a, b in ways]
        assert value == pytest.approx(np.mean(single), rel=1e-9)
    shuffled = np.random.default_rng(0).permutation(len(pairs))
    assert np.array_equal(
        best_values(measures, pairs[shuffled], weights, options, n_starts=4, n_jobs=1), found[shuffled]
    )
    matrix = matrix_of_starts(graphs, parameters, 4)
    assert np.array_equal(matrix, matrix.T)
    assert np.array_equal(matrix[np.triu_indices(len(graphs))], found.astype(np.float32))


@pytest.mark.parametrize("spread", [20.0, 400.0, 5e3, 1e6])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 6), (5, 3), (12, 17), (40, 33)])
def test_absorbed_rounds_are_sinkhorn_rounds(n: int, m: int, spread: float) -> None:
    """Also where few columns are cheap for all rows, so that potentials move far, and where rounds are many."""
    rng = np.random.default_rng(n + m)
    g, mu, nu = rng.random((n, m)), rng.dirichlet(np.ones(n)) + 1e-3, rng.dirichlet(np.ones(m)) + 1e-3
    mu, nu = mu / mu.sum(), nu / nu.sum()
    g[:, : m // 3] *= 1e-2
    lam = max(float(np.ptp(g)), 1e-3) / spread
    for rounds in (1, 2, 9, 30, 200):
        found = np.empty((n, m))
        absorbed_plan(g, mu, nu, lam, rounds, found)
        wanted = naive.rounded(naive.sinkhorn(g, mu, nu, lam, rounds), mu, nu)
        assert_close(found, wanted, 1e-8, what=f"{rounds} rounds")
        assert_marginals(found, mu, nu)


def annealed(n_starts: int, finalists: int | None, n: int = 12) -> Any:
    settings = Parameters(beta_global=5.0, entropy=0.02, max_iter=30, sinkhorn_iter=30)
    rng = np.random.default_rng(n)
    graphs = as_graphs([nx.gnp_random_graph(size, 0.3, seed=int(rng.integers(100))) for size in (n, n + 2)])
    measures, _ = represent(graphs, settings)
    return annealed_solutions(
        measures, 0, 1, settings.cost_weights(), settings.scg_options(),
        n_starts=n_starts, entropies=[0.1, 0.02], finalists=finalists,
    )  # fmt: skip


def test_the_first_starts_and_the_best_of_the_others_go_on() -> None:
    few, many, all_of_them = annealed(FINALISTS - 1, None), annealed(10, FINALISTS), annealed(10, None)
    assert [len(stage) for stage in (*few, *many, *all_of_them)] == [2, 2, 3, 3, 10, 10]
    for stage, first in zip(many, few, strict=True):
        for one, other in zip(stage, first, strict=False):
            assert_close(one.coupling, other.coupling, 1e-12)
    final = min(np.abs(many[-1][-1].coupling - one.coupling).max() for one in all_of_them[-1][FINALISTS - 1 :])
    assert final < 1e-9
    assert min(one.value for one in many[-1]) <= min(one.value for one in few[-1])


def test_starts_side_by_side_equal_starts_one_by_one() -> None:
    """At an entropy at which kernels underflow in some lanes too."""
    settings = Parameters(beta_global=5.0, entropy=0.004, max_iter=20, sinkhorn_iter=20)
    measures, _ = represent(as_graphs([nx.gnp_random_graph(size, 0.3, seed=size) for size in (9, 14)]), settings)
    weights, options = settings.cost_weights(), settings.scg_options()
    starts = np.full((LEAST_STARTS, 9, 14), 1 / (9 * 14))
    together = run_starts(measures, 0, 1, weights, options, starts)
    for one in together:
        alone = run_starts(measures, 0, 1, weights, options, starts[:1])[0]
        assert_close(one.value, alone.value, 1e-7)
        assert_close(one.value, solve_pair(measures, 0, 1, weights, options).value, 1e-7)


def test_starts_follow_the_seed() -> None:
    assert not np.array_equal(start_costs((3, 4), 1, 0), start_costs((3, 4), 2, 0))
    assert not np.array_equal(start_costs((3, 4), 1, 0), start_costs((3, 4), 1, 1))
    assert not np.array_equal(start_costs((3, 4), 1, None), start_costs((3, 4), 1, None))


def test_other_starts_with_the_exact_direction() -> None:
    pytest.importorskip("ot")
    ring = nx.cycle_graph(6)
    one, many = (align(ring, ring, n_starts=n, direction="exact", max_iter=50, certify=True) for n in (1, 5))
    assert many.value < one.value
    assert many.certificate is not None
    assert many.certificate < 1e-2


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "many", None, float("nan")])
def test_a_number_of_starts_that_is_none(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="n_starts="):
        align(nx.path_graph(3), nx.path_graph(3), n_starts=wrong)
