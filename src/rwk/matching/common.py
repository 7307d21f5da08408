"""`common_part`: the largest connected part that two graphs have in common, found near a partial coupling."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.discrepancy import MATCHING, annealing_of, joined_graphs, single_graph, with_comparable_edges
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.matching.later import SoftSide
from rwk.matching.listed_edges import edge_lists
from rwk.matching.matched import Matching
from rwk.matching.part_search import PartProblem, best_part
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.parameter_checks import check_range
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import check_solution

PENALTY: Final = 0.5  # of an edge between matched nodes without a counterpart, where such edges count
LARGEST_SEEDS: Final = 1000  # pairs that parts are grown from, those with the most mass first

# a node at the border of a part has other neighbours in each graph, so features are labels alone
IN_PART: Final = {**MATCHING, "wl_rounds": 0, "hops": 0, "feature_metric": "hamming", "beta_local": 0.1}
SHARE: Final = 0.6  # of the mass that moves, where no other is given


def common_part(G: Any, H: Any, *, repairs: int = 300, **parameters: Any) -> Matching:
    """Find the largest connected part that two graphs have in common, such as the common substructure of molecules.

    Labels of matched nodes and of common edges agree; edges that only one of the graphs has are allowed. Parts grow
    from the pairs that carry the most mass of a partial coupling, the largest one (in edges) is then taken apart and
    grown again in places. The search is quick and not exhaustive: a larger part may exist.

    Parameters
    ----------
    G, H : graph
        Two graphs, each in any form that `as_graphs` accepts; nodes keep the names they have there.
    repairs : int, default 300
        How often a place of the best part is grown again.
    **parameters
        Settings of the model and the solver; see `Parameters`. `mass`, 0.6 by default, is the share of the mass that
        the coupling moves; the part may be larger or smaller.

    Returns
    -------
    Matching
        The pairs of the part, what is left on either side, and the partial coupling.

    Examples
    --------
    >>> from rwk import common_part, molecules
    >>> aspirin, benzoic_acid = molecules(["CC(=O)Oc1ccccc1C(=O)O", "OC(=O)c1ccccc1"])
    >>> found = common_part(aspirin, benzoic_acid)
    >>> len(found), found.unmatched[1]
    (9, [])
    """
    check_range("repairs", repairs, low=0, high=1_000_000, strict=False, whole=True)
    settings = Parameters.of({**IN_PART, "mass": SHARE, **parameters})
    first, second = single_graph(G, "the first"), single_graph(H, "the second")
    settings = with_comparable_edges(settings, first, second)
    graphs = joined_graphs(first, second)
    measures, _ = represent(graphs, settings)
    if (measures.sizes != graphs.sizes).any():
        raise GraphError("common_part needs nodes that all have a weight; remove those of weight 0")
    return part_matching(graphs, measures, settings, n_starts=1, repairs=repairs, whole=True)


def part_matching(
    graphs: GraphSet, measures: GraphMeasures, settings: Parameters, *, n_starts: int, repairs: int, whole: bool = False
) -> Matching:
    """The matching of a part of graphs 0 and 1.

    If `whole`, the part is connected and as large as it can be; else it has the share of nodes that the mass says.
    """
    stages = annealing_of(measures, 0, 1, settings, n_starts)
    solution = min(stages[-1], key=lambda one: one.value)
    check_solution(solution)
    G, H = graphs[0], graphs[1]
    share = 1.0 if whole else settings.mass
    largest = max(1, round(share * min(G.n_nodes, H.n_nodes)))
    problem = part_problem(G, H, solution.coupling, largest=largest, penalty=0.0 if whole else PENALTY, jumps=not whole)
    places = np.full(G.n_nodes, -1, np.int64)
    best_part(problem, seeds_of(problem), repairs, settings.random_state or 0, places)
    rows = np.flatnonzero(places >= 0)
    numbers = np.stack([rows, places[rows]], axis=1)
    gamma = solution.coupling
    moved = np.maximum(gamma.sum(axis=1)[numbers[:, 0]], gamma.sum(axis=0)[numbers[:, 1]])
    confidence = gamma[numbers[:, 0], numbers[:, 1]] / np.maximum(moved, 1e-300)
    soft = SoftSide((G, H), settings, numbers, None, (), measures, solution, stages[0][0].coupling, confidence)
    return Matching(numbers, float(_uncommon(problem, numbers)), soft)


def part_problem(
    G: Graph, H: Graph, coupling: FloatArray, *, largest: int, penalty: float = 0.0, jumps: bool = False
) -> PartProblem:
    """The search for a common part of two graphs, guided by a coupling."""
    scores = np.ascontiguousarray(coupling / max(float(coupling.max()), 1e-300))
    return PartProblem(edge_lists(G), edge_lists(H), same_labels(G, H), scores, largest, penalty, jumps)


def same_labels(G: Graph, H: Graph) -> NDArray[np.bool_]:
    """Which nodes of G and H have the same label (n, m); all, if one of the graphs has none."""
    if G.node_labels is None or H.node_labels is None:
        return np.ones((G.n_nodes, H.n_nodes), np.bool_)
    return np.asarray(G.node_labels[:, None] == H.node_labels[None, :])


def seeds_of(problem: PartProblem) -> IntArray:
    """The pairs (i, k) that parts may grow from, those with the highest scores first."""
    pairs = np.argwhere(problem.allowed)
    order = np.argsort(-problem.scores[problem.allowed], kind="stable")[:LARGEST_SEEDS]
    return np.ascontiguousarray(pairs[order], np.int64)


def _uncommon(problem: PartProblem, numbers: IntArray) -> int:
    """How many edges between matched nodes, of either graph, have no counterpart of the same label."""
    rows, columns = (np.ix_(numbers[:, side], numbers[:, side]) for side in (0, 1))
    own, other = problem.G.weights[rows] != 0, problem.H.weights[columns] != 0
    common = own & other & (problem.G.labels[rows] == problem.H.labels[columns])
    return int(((own & ~common).sum() + (other & ~common).sum()) // 2)
