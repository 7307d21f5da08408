"""The search for the best graphs of a pool: it needs fewer measurements than chance, and solves no pair again."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import norm

from rwk import RWKGaussianProcess, as_graphs
from rwk.kernel import RWKernel
from rwk.learn.active import ActiveSearch, expected_improvement

ONE = {"one": {"wl_rounds": 0, "beta_local": 0.0, "beta_global": 0.0, "debias": True}}
PROCESS = RWKGaussianProcess(settings=ONE, n_starts=1)


@pytest.fixture(scope="module")
def pool():
    """Chains of three kinds of nodes; the value is the number of nodes of the first kind minus that of the second."""
    draw = np.random.default_rng(0)
    graphs, values = [], []
    for _ in range(80):
        labels = draw.choice(list("abc"), 8)
        chain = nx.path_graph(8)
        nx.set_node_attributes(chain, dict(enumerate(labels)), "label")
        graphs.append(chain)
        values.append(float((labels == "a").sum() - (labels == "b").sum()) + 0.01 * draw.normal())
    return as_graphs(graphs), np.array(values)


@pytest.fixture(scope="module")
def matrix(pool):
    return RWKernel(**ONE["one"]).fit(pool[0]).discrepancy()


def evaluations(pool, matrix, acquisition, sign=1.0, seed=0):
    """How many measurements find the five best."""
    graphs, values = pool
    search = ActiveSearch(
        graphs, process=PROCESS, acquisition=acquisition, maximize=sign > 0, n_first=8,
        discrepancies={"one": matrix}, random_state=seed,
    )  # fmt: skip
    best = set(np.argsort(-sign * values)[:5].tolist())
    while not best <= set(search.measured):
        numbers = search.ask(4)
        search.tell(numbers, values[numbers])
    return len(search.measured)


@pytest.mark.parametrize("acquisition", ["improvement", "thompson"])
def test_half_of_the_measurements_of_chance_are_enough(pool, matrix, acquisition):
    chance = np.mean([evaluations(pool, matrix, "random", seed=seed) for seed in range(10)])
    assert evaluations(pool, matrix, acquisition) <= 0.5 * chance
    assert evaluations(pool, matrix, acquisition, sign=-1.0) <= 0.5 * chance


def test_no_pair_is_solved_again(pool, matrix, monkeypatch):
    graphs, values = pool
    search = ActiveSearch(graphs, process=PROCESS, discrepancies={"one": matrix})
    monkeypatch.setattr(RWKernel, "discrepancy", lambda *given, **named: pytest.fail("a pair was solved again"))
    for _ in range(3):
        numbers = search.ask(6)
        search.tell(numbers, values[numbers])
    assert len(set(search.measured)) == 18


def test_a_search_is_the_same_with_the_same_seed(pool, matrix):
    for acquisition in ("improvement", "thompson", "random"):
        runs = []
        for _ in range(2):
            search = ActiveSearch(pool[0], process=PROCESS, acquisition=acquisition, discrepancies={"one": matrix})
            for _ in range(3):
                numbers = search.ask(5)
                search.tell(numbers, pool[1][numbers])
            runs.append(search.measured)
        assert runs[0] == runs[1]


def test_expected_improvement_is_the_mean_of_the_improvement():
    draws = norm(1.0, 2.0).rvs(200_000, random_state=0)
    expected = np.maximum(draws - 1.5, 0.0).mean()
    assert expected_improvement(np.array([1.0]), np.array([2.0]), 1.5)[0] == pytest.approx(expected, rel=0.02)


def test_the_whole_pool_can_be_measured(pool, matrix):
    search = ActiveSearch(pool[0][:10], process=PROCESS, discrepancies={"one": matrix[:10, :10]}, n_first=4)
    for expected in (6, 4, 0):
        numbers = search.ask(6)
        assert len(numbers) == expected
        search.tell(numbers, pool[1][numbers])


@pytest.mark.parametrize(
    ("numbers", "values", "words"),
    [
        ([0], [], "1 graphs and 0 values were given"),
        ([99], [1.0], "there is no graph 99"),
        ([1], [1.0], "graph 1 was measured before"),
        ([2], [float("nan")], "the value of graph 2 is nan"),
    ],
)
def test_wrong_measurements_are_one_sentence(pool, matrix, numbers, values, words):
    search = ActiveSearch(pool[0], process=PROCESS, discrepancies={"one": matrix})
    search.tell([1], [0.5])
    with pytest.raises(ValueError, match=words):
        search.tell(numbers, values)
    assert search.measured == [1]


def test_an_unknown_acquisition_is_one_sentence(pool):
    with pytest.raises(ValueError, match="acquisition='ucb' is unknown; it is one of improvement"):
        ActiveSearch(pool[0], acquisition="ucb")
