"""Problems given as arrays: values agree with POT, laws of the matrix of all pairs, errors that name what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import rwk
from asserts import assert_close, assert_marginals
from rwk import GraphError, Space, pairwise_gw, solve, solve_pairs
from rwk.parameters import ParameterError

EXACT = {"direction": "exact", "max_iter": 200, "tol": 1e-10}


def cloud(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 2)) * [1.0, 3.0]


@pytest.fixture(scope="module")
def problem():
    """Two point clouds: cost, structures, weights."""
    rng = np.random.default_rng(0)
    x, y = cloud(7, 1), cloud(9, 2)
    return cdist(x, y) ** 2, (cdist(x, x), cdist(y, y)), (rng.uniform(0.5, 1, 7), rng.uniform(0.5, 1, 9))


def shares(weights):
    return [side / side.sum() for side in weights]


# ---------------------------------------------------------------- POT's conventions


def test_wasserstein_is_the_emd_of_pot(problem):
    ot = pytest.importorskip("ot")
    cost, _, weights = problem
    solution = solve(cost, weights=weights, **EXACT)
    assert_close(solution.value, ot.emd2(*shares(weights), cost), 1e-9)
    assert_marginals(solution.coupling, *shares(weights))


def test_gw_at_a_coupling_is_the_value_of_pot(problem):
    ot = pytest.importorskip("ot")
    _, structures, weights = problem
    solution = solve(structures=structures, weights=weights, model="gw", **EXACT)
    assert_close(solution.value, four_index_gw(*structures, solution.coupling), 1e-9)
    again = ot.gromov_wasserstein2(*structures, *shares(weights), G0=solution.coupling)
    assert again >= solution.value * (1 - 1e-6)  # METHOD 8: POT restarted from our coupling improves by less than 1e-6


@pytest.mark.parametrize("alpha", [0.2, 0.9])
def test_fgw_has_the_alpha_of_pot(problem, alpha):
    ot = pytest.importorskip("ot")
    cost, structures, weights = problem
    solution = solve(cost, structures, weights, alpha=alpha, **EXACT)
    expected = (1 - alpha) * (cost * solution.coupling).sum()
    expected += alpha * four_index_gw(*structures, solution.coupling)
    assert_close(solution.value, expected, 1e-9)
    again = ot.fused_gromov_wasserstein2(cost, *structures, *shares(weights), alpha=alpha, G0=solution.coupling)
    assert again >= solution.value * (1 - 1e-6)


def test_sinkhorn_lies_between_exact_and_its_bound(problem):
    cost, _, weights = problem
    exact = solve(cost, weights=weights, **EXACT).value
    blurred = solve(cost, weights=weights, entropy=0.01, sinkhorn_iter=2000, max_iter=1).value
    assert exact <= blurred <= exact + 0.01 * np.abs(cost).mean() * np.log(7)


def four_index_gw(first, second, coupling) -> float:
    loss = (first[:, :, None, None] - second[None, None, :, :]) ** 2
    return float(np.einsum("ijkl,ik,jl->", loss, coupling, coupling))


# ---------------------------------------------------------------- models


def test_rw_on_arrays_is_align_on_the_graph():
    import networkx as nx

    sides = [nx.to_numpy_array(graph) for graph in (nx.path_graph(5), nx.star_graph(5))]
    paths = [np.asarray(nx.floyd_warshall_numpy(graph)) for graph in (nx.path_graph(5), nx.star_graph(5))]
    features = [np.arange(5.0)[:, None], np.arange(6.0)[:, None]]
    same = {"feature_metric": "l2", "hops": 1, "scale": "none"}
    wanted = rwk.align((sides[0], features[0]), (sides[1], features[1]), structure="shortest-path", **same)
    spaces = [Space(*arrays) for arrays in zip(paths, features, [None, None], sides, strict=True)]
    found = solve(structures=spaces, hops=1)
    assert_close(found.value, wanted.value, 1e-9)
    assert_close(found.coupling, wanted.coupling, 1e-9)


def test_own_cost_of_the_features_changes_nothing(problem):
    _, structures, weights = problem
    features = cloud(7, 1), cloud(9, 2)
    spaces = [Space(*arrays) for arrays in zip(structures, features, weights, strict=True)]
    own = solve(cdist(*features), structures, weights, alpha=0.3)
    assert_close(own.value, solve(structures=spaces, alpha=0.3).value, 1e-6)


def test_entropy_follows_the_unit_of_the_costs(problem):
    cost, structures, weights = problem
    value = solve(cost, structures, weights).value
    larger = solve(cost * 1e6, [matrix * 1e3 for matrix in structures], weights).value
    assert_close(larger, value * 1e6, 1e-6)


def test_negative_structures_count_by_their_differences(problem):
    _, structures, _ = problem

    def values(shift: float):
        shifted = [matrix - shift for matrix in structures]
        return pairwise_gw(shifted, unit=10.0, tol=0.0, max_iter=5)

    assert_close(values(0.0), values(2.0), 1e-6)


def test_points_without_mass_are_sent_nowhere(problem):
    cost, structures, weights = problem
    dead = weights[0].copy()
    dead[[0, 3]] = 0.0
    solution = solve(cost, structures, (dead, weights[1]))
    assert solution.coupling.shape == cost.shape
    assert (solution.coupling[[0, 3]] == 0).all()
    assert_marginals(solution.coupling, *shares((dead, weights[1])))


# ---------------------------------------------------------------- many pairs


@pytest.fixture(scope="module")
def matrices():
    return [cdist(points, points) for points in (cloud(n, n) for n in (5, 8, 8, 12, 60))]


def test_all_pairs_are_exactly_symmetric_and_equal_to_single_ones(matrices):
    whole = pairwise_gw(matrices, n_jobs=1)
    assert (whole == whole.T).all()
    pairs = np.array([(0, 3), (4, 1), (2, 1), (2, 2)])
    assert (solve_pairs(matrices, pairs).values == whole[pairs[:, 0], pairs[:, 1]]).all()


def test_a_store_resumes_with_the_same_bits(matrices, tmp_path):
    pytest.importorskip("zarr")
    first = pairwise_gw(matrices, unit=5.0, store=tmp_path / "gw")
    assert (pairwise_gw(matrices, unit=5.0, store=tmp_path / "gw") == first).all()
    assert (pairwise_gw(matrices, unit=5.0) == first).all()
    with pytest.raises(rwk.GramError, match="holds other graphs"):
        pairwise_gw([*matrices[:-1], 2 * matrices[-1]], unit=5.0, store=tmp_path / "gw")


def test_own_costs_of_many_pairs_do_not_depend_on_the_order(problem):
    cost, structures, _ = problem
    results = solve_pairs(structures, [(0, 1), (1, 0)], costs=[cost, cost.T], alpha=0.4)
    assert results.values[0] == results.values[1]
    assert_close(results.values[0], solve(cost, structures, alpha=0.4).value, 1e-9)


# ---------------------------------------------------------------- what is wrong, and where

SQUARE = np.ones((3, 3)) - np.eye(3)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (np.ones((3, 2)), r"item 1: structure has shape \(3, 2\); it must be \(3, 3\)"),
        (np.full((2, 2), np.nan), r"item 1: structure has nan at \(0, 0\)"),
        (np.array([[0.0, 1.0], [3.0, 0.0]]), r"item 1: structure is not symmetric: entry \(0, 1\) is 1"),
        (Space(SQUARE, weights=[1, 2]), r"item 1: weights has shape \(2,\); it must be \(3,\)"),
        (Space(SQUARE, weights=[1, -2, 1]), r"item 1: weights has -2 at \(1\); it must be 0 or more"),
        (Space(SQUARE, weights=[0, 0, 0]), "item 1: weights are all 0"),
        (Space(SQUARE, features=[[1, 2]]), r"item 1: features has shape \(1, 2\); it must be \(3, any\)"),
        (Space(SQUARE, adjacency=-SQUARE), r"item 1: adjacency has -1 at \(0, 1\)"),
        (Space(SQUARE, features=SQUARE), "item 0 has no features, but item 1 has"),
        (Space(), "item 1 has no points"),
        ("text", "item 1: structure is not an array of numbers"),
    ],
)
def test_an_error_names_the_item_and_the_array(item, message):
    with pytest.raises(GraphError, match=message):
        pairwise_gw([SQUARE, item])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: solve(), "nothing to solve"),
        (lambda: solve(np.ones((2, 3)), (SQUARE, SQUARE)), r"cost has shape \(2, 3\); it must be \(3, 3\)"),
        (lambda: solve(structures=(SQUARE,)), "structures has 1 entries; give a pair"),
        (lambda: solve(SQUARE, weights=([1, 1], [1, 1, 1])), r"side 0: weights has shape \(2,\); it must be \(3,\)"),
        (lambda: solve(structures=(SQUARE, SQUARE), model="fgw"), "model='fgw' needs a cost matrix or features"),
        (lambda: solve(structures=(SQUARE, SQUARE), model="rw"), "needs structure matrices and adjacency"),
        (lambda: solve(SQUARE, (SQUARE, SQUARE), model="gw"), "model='gw' has no feature cost"),
        (lambda: solve(SQUARE, alpha=2), "alpha=2 is outside its range"),
        (lambda: solve(structures=(SQUARE, SQUARE), loss_fun="kl_loss"), "square loss only"),
        (lambda: solve(structures=(SQUARE, SQUARE), ridge=0.1), "ridge is no parameter of model='gw'"),
        (lambda: solve(structures=(SQUARE, SQUARE), entropy=-1), "entropy=-1 is outside its range"),
        (lambda: solve(SQUARE, backend="gpu"), "solved on the CPU"),
        (lambda: solve_pairs([SQUARE], [(0, 1)]), r"pair 0 is \[0, 1\], but the items are 0 to 0"),
        (lambda: solve_pairs([SQUARE], [(0, 0)], costs=[]), "0 cost matrices were given for 1 pairs"),
        (lambda: pairwise_gw([]), "no items were given"),
        (lambda: pairwise_gw(5), "int is no list of structure matrices or Spaces"),
    ],
)
def test_an_error_says_what_to_do(call, message):
    with pytest.raises((GraphError, ParameterError), match=message):
        call()


def test_no_pairs_have_no_values() -> None:
    assert solve_pairs([np.zeros((2, 2))], []).values.shape == (0,)
