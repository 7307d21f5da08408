"""`PairSolution.interchangeable`, and the warning of `matching` about pairs that the coupling does not decide."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest

from rwk import align
from rwk.transport.problem import PairSolution


def solution(coupling: list[list[float]]) -> PairSolution:
    return PairSolution(0.0, {}, np.array(coupling), n_iter=1, gap=0.0, converged=True)


def test_rings_of_different_sizes_are_one_group_each() -> None:
    found = align(nx.cycle_graph(6), nx.cycle_graph(7))
    assert found.interchangeable() == ([list(range(6))], [list(range(7))])
    with pytest.warns(UserWarning, match=r"6 of 6 pairs .* arbitrary.*interchangeable\(\)"):
        assert found.matching().shape == (6, 2)


def test_no_warning_if_every_node_is_told_apart() -> None:
    kite = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 4), (4, 5)])
    found = align(kite, kite, entropy=0.02)
    assert found.interchangeable() == ([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(found.matching(), np.repeat(np.arange(6)[:, None], 2, axis=1))


def test_another_start_tells_symmetric_nodes_apart() -> None:
    ring = nx.cycle_graph(6)
    assert align(ring, ring, n_starts=5, entropy=0.01).interchangeable() == ([], [])


def test_rows_are_compared_as_shares() -> None:
    """A node of twice the weight that goes to the same nodes in the same shares is not told apart."""
    assert solution([[0.1, 0.2, 0.0], [0.2, 0.4, 0.0], [0.0, 0.0, 0.1]]).interchangeable() == ([[0, 1]], [[0, 1]])


def test_nodes_without_mass_are_in_no_group() -> None:
    assert solution([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]]).interchangeable() == ([], [])


def test_tolerance() -> None:
    nearly = solution([[0.25, 0.26], [0.25, 0.24]])
    assert nearly.interchangeable() == ([], [])
    assert nearly.interchangeable(tolerance=0.1) == ([[0, 1]], [[0, 1]])


def test_only_pairs_of_a_group_count_as_arbitrary() -> None:
    with pytest.warns(UserWarning, match="2 of 3 pairs .* nodes 1, 2 of the first graph and 1, 2 of the second graph;"):
        solution([[0.3, 0.0, 0.0], [0.0, 0.2, 0.2], [0.0, 0.1, 0.1]]).matching()
