"""`match`: several annealed solves of one pair, all starts at once, then one assignment refined by exchanges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rwk.discrepancy import MATCHING, annealing_of, joined_graphs, named, single_graph, with_comparable_edges
from rwk.graphs import GraphError
from rwk.matching.common import IN_PART, part_matching
from rwk.matching.matched import Matching
from rwk.matching.naming import Details, named_matching
from rwk.matching.refinement import Candidate, best_assignments, confidences, misfit_of, rounded, search_of
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import IntArray
from rwk.runtime.parameter_checks import check_range, check_starts
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import backend_named, check_solution
from rwk.transport.payments import node_payments
from rwk.transport.problem import START_SHARE, PairSolution


def match(G: Any, H: Any, *, n_starts: int = 10, refine: bool = True, kicks: int = 100, **parameters: Any) -> Matching:
    """Match the nodes of two graphs one to one.

    Transport plans from several starts, made sharper step by step, are rounded to assignments; these are improved by
    exchanges of nodes until no exchange preserves more edges and labels. Every node of the smaller graph is matched.

    With `mass` below 1 only a part is matched: that share of the nodes of the smaller graph, grown from the pairs that
    carry the most of the partial coupling, so that labels agree and as many edges as possible do.

    Parameters
    ----------
    G, H : graph
        Two graphs, each in any form that `as_graphs` accepts; nodes keep the names they have there.
    n_starts : int, default 10
        Number of starts, solved together; the first alone if it preserves every edge and label.
    refine : bool, default True
        Whether to improve the rounded assignment by exchanges; else it is the one that carries the most mass.
    kicks : int, default 100
        How often the best assignments are disturbed and improved again; more find better ones in difficult cases.
    **parameters
        Settings of the model and the solver; see `Parameters`. The defaults are those of `align(preset="matching")`;
        with a `mass` below 1, nodes are compared by their labels alone.

    Returns
    -------
    Matching
        The pairs with their confidence, what stays unmatched, and the soft matching.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import match
    >>> tree = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (6, 7)])
    >>> found = match(tree, nx.relabel_nodes(tree.subgraph([0, 1, 2, 3, 5, 6, 7]), {0: "zero"}))
    >>> dict(found)[0], found.unmatched
    ('zero', ([4], []))

    Half of this graph is a ring, and so is half of the other:

    >>> ring = nx.cycle_graph(5)
    >>> found = match(nx.compose(ring, nx.star_graph([0, 5, 6, 7, 8, 9])), nx.disjoint_union(ring, ring), mass=0.5)
    >>> sorted(dict(found)), found.edges_preserved
    ([0, 1, 2, 3, 4], 1.0)
    """
    check_starts(n_starts)
    check_range("kicks", kicks, low=0, high=1_000_000, strict=False, whole=True)
    settings = Parameters.of({**MATCHING, **parameters})
    if settings.mass < 1.0:
        settings = Parameters.of({**IN_PART, **parameters})
    first, second = single_graph(G, "the first"), single_graph(H, "the second")
    settings = with_comparable_edges(settings, first, second)
    graphs = joined_graphs(first, second)
    measures, _ = represent(graphs, settings)
    if (measures.sizes != graphs.sizes).any():
        raise GraphError("match needs nodes that all have a weight; remove those of weight 0, or use align")
    if settings.mass < 1.0:
        return part_matching(graphs, measures, settings, n_starts=n_starts, repairs=kicks if refine else 0)
    small, large = (0, 1) if measures.sizes[0] <= measures.sizes[1] else (1, 0)
    search = search_of(graphs[small], graphs[large])
    stages = annealing_of(measures, small, large, settings, 1 if refine else n_starts)
    if refine:
        found = best_assignments(search, [stages[-1][0].coupling], kicks=0, seed=settings.random_state)
        if found[0].misfit > 0 and (n_starts > 1 or kicks):  # the first start alone has not preserved everything
            stages = annealing_of(measures, small, large, settings, n_starts) if n_starts > 1 else stages
            couplings = [one.coupling for one in stages[-1]]
            found = best_assignments(search, couplings, kicks=kicks, seed=settings.random_state)
        solution = _near(measures, (small, large), found[0].places, settings)
    else:
        solution = min(stages[-1], key=lambda one: one.value)
        places = rounded(solution.coupling)
        found = [Candidate(misfit_of(search, places), places)]
    check_solution(solution)
    places, confidence = found[0].places, confidences(search, found)
    blurred = stages[0][0].coupling  # from mu nu^T: nodes that are alike still have equal rows
    numbers = np.stack([np.arange(len(places)), places], axis=1)
    if small == 1:
        order = np.argsort(places)
        numbers, confidence = numbers[order, ::-1], confidence[order]
        blurred, solution = blurred.T, _turned(solution)
    paid = node_payments(measures, 0, 1, settings.cost_weights(), solution.coupling)
    return named_matching(
        (graphs[0], graphs[1]),
        numbers,
        Details(confidence, blurred, named(replace(solution, paid=paid), graphs), found[0].misfit),
    )


def _near(measures: GraphMeasures, pair: tuple[int, int], places: IntArray, settings: Parameters) -> PairSolution:
    """The soft matching near an assignment: solved from a coupling that has most of its mass on the pairs."""
    mu, nu = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in pair)
    plan = np.zeros((len(mu), len(nu)))
    plan[np.arange(len(mu)), places] = np.minimum(mu, nu[places])
    rows, columns = mu - plan.sum(axis=1), nu - plan.sum(axis=0)
    plan += np.outer(rows, columns) / max(rows.sum(), 1e-300)
    start = START_SHARE * plan + (1.0 - START_SHARE) * np.outer(mu, nu)
    backend = backend_named(settings.backend)
    solutions: list[PairSolution] = backend.run_starts(
        measures, *pair, settings.cost_weights(), settings.scg_options(), start[None]
    )
    return solutions[0]


def _turned(solution: PairSolution) -> PairSolution:
    """The solution of a pair in the other order."""
    terms = dict(solution.terms)
    terms["laplacian_source"], terms["laplacian_target"] = terms["laplacian_target"], terms["laplacian_source"]
    return replace(solution, coupling=np.ascontiguousarray(solution.coupling.T), terms=terms)
