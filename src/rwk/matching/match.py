"""`match`: assignments from soft starts and annealed solves, refined by exchanges, as far as the effort allows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.discrepancy import MATCHING, annealing_of, two_graphs
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.matching.common import IN_PART, part_matching
from rwk.matching.later import SoftSide, turned
from rwk.matching.matched import Matching
from rwk.matching.refinement import (
    Candidate,
    distinct,
    first_candidate,
    from_couplings,
    from_soft_starts,
    kicked,
    misfit_of,
    rounded,
    search_of,
)
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import IntArray
from rwk.runtime.parameter_checks import ParameterError, check_choice, check_range


class Effort(NamedTuple):
    """How long to look for the best assignment."""

    soft_starts: int
    n_starts: int  # of transport
    part_starts: int  # of transport, where there are no soft starts: a part is matched, or nothing is refined
    kicks: int


EFFORTS: Final[Mapping[str, Effort]] = {
    "quick": Effort(1, 0, 1, 0),
    "fast": Effort(10, 0, 3, 100),
    "normal": Effort(50, 1, 10, 500),
    "thorough": Effort(200, 10, 20, 2000),
}
PLAIN: Final = frozenset({"backend", "n_jobs", "random_state"})  # settings that are no arrays and change no other


def match(
    G: Any,
    H: Any,
    *,
    effort: str = "normal",
    n_starts: int | None = None,
    kicks: int | None = None,
    refine: bool = True,
    **parameters: Any,
) -> Matching:
    """Match the nodes of two graphs one to one.

    Soft assignments and transport plans from several starts, made sharper step by step, are rounded to assignments;
    these are improved by exchanges of nodes until no exchange preserves more edges and labels. Every node of the
    smaller graph is matched.

    With `mass` below 1 only a part is matched: that share of the nodes of the smaller graph, grown from the pairs that
    carry the most of the partial coupling, so that labels agree and as many edges as possible do.

    Parameters
    ----------
    G, H : graph
        Two graphs, each in any form that `as_graphs` accepts; nodes keep the names they have there.
    effort : str, default "normal"
        "quick" is a single soft start: a seventh of a millisecond for 30 nodes. "fast" has 10 of them and 100 kicks;
        "normal" 50, a start of transport and 500 kicks; "thorough" 200, 10 starts of transport and 2,000 kicks. A
        matching that preserves every edge and label ends the search.
    n_starts : int, optional
        Number of starts of transport, in place of that of the effort. After one iteration, the first two and the best
        of the others go on.
    kicks : int, optional
        How often each of the three best assignments is disturbed and improved again, in place of the number of the
        effort; more find better ones in difficult cases.
    refine : bool, default True
        Whether to improve assignments by exchanges; else the result is the one that carries the most mass of the best
        transport plan.
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
    check_choice("effort", effort, tuple(EFFORTS))
    chosen = EFFORTS[effort]
    if n_starts is not None:
        check_range("n_starts", n_starts, low=0, high=10_000, strict=False, whole=True)
        chosen = chosen._replace(n_starts=int(n_starts), part_starts=max(int(n_starts), 1))
    if kicks is not None:
        check_range("kicks", kicks, low=0, high=1_000_000, strict=False, whole=True)
        chosen = chosen._replace(kicks=int(kicks))
    first, second, settings = two_graphs(G, H, _settings_of(parameters))
    weights = [graph.node_weights for graph in (first, second) if graph.node_weights is not None]
    if any((some <= 0).any() for some in weights):
        raise GraphError("match needs nodes that all have a weight; remove those of weight 0, or use align")
    if settings.solver() == "exact":
        raise ParameterError("direction='exact' has no entropy to anneal; use the default direction, 'sinkhorn'")
    if refine and settings.mass == 1.0:
        return _refined((first, second), settings, chosen)
    graphs = GraphSet.from_graphs([first, second])
    if settings.mass == 1.0:
        return _rounded(graphs, settings, chosen.part_starts)
    measures, repairs = represent(graphs, settings)[0], chosen.kicks if refine else 0
    return part_matching(graphs, measures, settings, n_starts=chosen.part_starts, repairs=repairs)


def _settings_of(parameters: Mapping[str, Any]) -> Parameters:
    """The settings of the caller, and those of matchings where he gives none."""
    if not parameters.keys() - PLAIN:  # checked once
        return _checked_settings(tuple(sorted(parameters.items())))
    settings = Parameters.of({**MATCHING, **parameters})
    return settings if settings.mass == 1.0 else Parameters.of({**IN_PART, **parameters})


@lru_cache(maxsize=32)
def _checked_settings(parameters: tuple[tuple[str, Any], ...]) -> Parameters:
    return Parameters.of({**MATCHING, **dict(parameters)})


def _refined(pair: tuple[Graph, Graph], settings: Parameters, effort: Effort) -> Matching:
    """The matching with the least misfit that the effort finds."""
    small, large = (0, 1) if pair[0].n_nodes <= pair[1].n_nodes else (1, 0)
    first = first_candidate(pair[small], pair[large])
    if first.misfit == 0 or effort == EFFORTS["quick"]:
        numbers = _numbers(first.places, small)
        return Matching(numbers, first.misfit, SoftSide(pair, settings, numbers, found=(first,)))
    seed, soft = settings.random_state, SoftSide(pair, settings, np.empty((0, 2), np.int64))
    search = search_of(pair[small], pair[large])
    found = from_soft_starts(search, first, effort.soft_starts, seed)
    if found[0].misfit > 0 and effort.n_starts:
        stages = annealing_of(soft.measured(), small, large, settings, effort.n_starts)
        blurred = stages[0][0].coupling
        soft.blurred = blurred if small == 0 else blurred.T
        found = distinct([*found, *from_couplings(search, [one.coupling for one in stages[-1]])])
    if found[0].misfit > 0 and effort.kicks:
        found = kicked(search, found, effort.kicks, seed)
    soft.search, soft.found = search, tuple(found)
    soft.numbers = _numbers(found[0].places, small)
    return Matching(soft.numbers, found[0].misfit, soft)


def _rounded(graphs: GraphSet, settings: Parameters, n_starts: int) -> Matching:
    """The matching that carries the most mass of the coupling with the least value."""
    small, large = (0, 1) if graphs.sizes[0] <= graphs.sizes[1] else (1, 0)
    measures, pair = represent(graphs, settings)[0], (graphs[0], graphs[1])
    stages = annealing_of(measures, small, large, settings, n_starts)
    solution, blurred = min(stages[-1], key=lambda one: one.value), stages[0][0].coupling
    search, places = search_of(pair[small], pair[large]), rounded(solution.coupling)
    found = Candidate(misfit_of(search, places), places)
    if small == 1:
        blurred, solution = blurred.T, turned(solution)
    numbers = _numbers(places, small)
    soft = SoftSide(pair, settings, numbers, search, (found,), measures, solution, blurred)
    return Matching(numbers, found.misfit, soft)


def _numbers(places: IntArray, small: int) -> IntArray:
    """The pairs in the order of the first graph; `small` is the graph that `places` belong to."""
    numbers = np.empty((len(places), 2), np.int64)
    if small == 0:
        numbers[:, 0], numbers[:, 1] = np.arange(len(places)), places
    else:
        numbers[:, 1] = np.argsort(places)
        numbers[:, 0] = places[numbers[:, 1]]
    return numbers
