"""Results that are not finite become an error that names the pair, wherever results come from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.baselines import get
from rwk.gram import matrix as gram_matrix
from rwk.retrieval import neighbours
from rwk.runtime.finite import NotFiniteError, finite_matrix
from rwk.transport import pairs as transport_pairs
from rwk.transport.problem import PairResults

GRAPHS = [nx.path_graph(3), nx.star_graph(3), nx.cycle_graph(5)]


def broken(measures: Any, pairs: Any, *_: Any, **__: Any) -> PairResults:
    """A solver whose last pair is NaN."""
    results = PairResults.empty(len(pairs))
    results.values[:] = 1.0
    results.values[-1] = np.nan
    results.n_iter[:], results.gaps[:], results.converged[:] = 1, 0.0, True
    return results


@pytest.fixture
def broken_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram_matrix, "solve_pairs", broken)
    monkeypatch.setattr(neighbours, "solve_pairs", broken)
    monkeypatch.setattr("rwk.gram.executors.solve_pairs", broken)


@pytest.mark.usefixtures("broken_solver")
def test_matrices_name_the_pair() -> None:
    with pytest.raises(NotFiniteError, match="graphs 2 and 2 is nan"):
        rwk.pairwise_discrepancy(GRAPHS)
    with pytest.raises(NotFiniteError, match="new graph 1 and fitted graph 2 is nan"):
        rwk.pairwise_discrepancy(GRAPHS[:2], GRAPHS)
    with pytest.raises(NotFiniteError, match="graphs 2 and 2 is nan"):
        rwk.RWKernel().fit_transform(GRAPHS)


@pytest.mark.usefixtures("broken_solver")
def test_tiles_name_the_pair_and_are_not_kept(tmp_path: Any) -> None:
    # tiles hold graphs by size: the last pair of the tile is the largest graph with itself, whatever its number
    graphs = [GRAPHS[2], GRAPHS[0], GRAPHS[1]]
    with pytest.raises(NotFiniteError, match="graphs 0 and 0 is nan"):
        rwk.compute_gram(graphs, store=tmp_path / "store", n_jobs=1)
    assert not list((tmp_path / "store").rglob("0.0*"))


@pytest.mark.usefixtures("broken_solver")
def test_search_and_landmarks_name_the_pair() -> None:
    with pytest.raises(NotFiniteError, match="query 0 and graph"):
        rwk.nearest(GRAPHS[0], GRAPHS, k=1)
    with pytest.raises(NotFiniteError, match="graphs 2 and"):
        rwk.RWFeatures(n_landmarks=2).fit(GRAPHS)


def test_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = rwk.align(GRAPHS[0], GRAPHS[1])
    for change in (
        {"value": float("inf")},
        {"gap": float("nan")},
        {"terms": {"feature": float("nan")}},
        {"coupling": np.zeros_like(solved.coupling)},
        {"coupling": np.full_like(solved.coupling, np.nan)},
    ):
        with pytest.raises(NotFiniteError, match="two graphs"):
            transport_pairs.check_solution(replace(solved, **change))
    transport_pairs.check_solution(solved)
    monkeypatch.setattr("rwk.discrepancy.best_solution", lambda *_, **__: replace(solved, value=float("nan")))
    with pytest.raises(NotFiniteError, match="two graphs"):
        rwk.align(GRAPHS[0], GRAPHS[1])


def test_kernel_that_overflows() -> None:
    with pytest.raises(NotFiniteError, match="the kernel of graphs 0 and 1 is inf"):
        rwk.RWKernel()._kernel(np.array([[0.0, -1e4]]))


def test_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    method = get("WL")
    monkeypatch.setattr(type(method), "_compare", lambda *_: np.array([[1.0, np.inf], [np.inf, 1.0]]))
    with pytest.raises(NotFiniteError, match="the kernel of graphs 0 and 1 is inf"):
        method.fit_transform(GRAPHS[:2])
    with pytest.raises(NotFiniteError, match="the kernel of graphs 0 and 1 is inf"):
        method.fit(GRAPHS[:2]).transform(GRAPHS[:2])


def test_finite_numbers_pass() -> None:
    matrix = np.array([[0.0, -1e308]])
    assert finite_matrix(matrix) is matrix


def test_exact_direction_never_gives_infinite_costs_to_the_linear_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.transport import exact

    def gradient(pair: Any, kl: float, image: Any, logs: Any, g: Any) -> None:
        g[:] = np.inf

    def crash(*_: Any) -> Any:
        pytest.fail("the linear program was called")

    monkeypatch.setattr(exact.scalar, "gradient", gradient)
    monkeypatch.setattr(exact, "exact_plan", crash)
    with pytest.raises(NotFiniteError, match="the two graphs is nan"):
        rwk.align(GRAPHS[0], GRAPHS[1], direction="exact")


def test_probabilities_of_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network whose weights have become NaN names the graph, in place of a class that means nothing."""
    pytest.importorskip("torch")
    from rwk.baselines.networks import training

    network = get("GIN", epochs=1, hidden=4, layers=1).fit(GRAPHS * 4, [0, 1, 0] * 4)
    assert np.isfinite(network.predict_proba(GRAPHS)).all()
    monkeypatch.setattr(training, "class_scores", lambda *_: np.array([[0.5, 0.5], [np.nan, 1.0], [0.5, 0.5]]))
    for ask in (network.predict_proba, network.predict):
        with pytest.raises(NotFiniteError, match="GIN: the probabilities of graph 1 is nan"):
            ask(GRAPHS)


def test_decisions() -> None:
    svc = rwk.IndefiniteSVC().fit(np.eye(4) + 0.1, [0, 1, 0, 1])
    with pytest.raises(NotFiniteError, match="the decision of graph 0 is"):
        svc.decision_function(np.array([[1.7e308, -1.7e308, 1.7e308, -1.7e308]]))
    with pytest.raises(ValueError, match=r"entries of 1e\+300, but its mean diagonal is 1; correct them"):
        rwk.IndefiniteSVC().fit(np.array([[1.0, 1e300], [1e300, 1.0]]), [0, 1])
