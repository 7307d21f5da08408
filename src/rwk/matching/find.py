"""`find`: where a pattern lies in each of many graphs, best first.

Transport places the pattern: every node of the pattern has mass 1/p and sends all of it, every node of a graph takes
at most 1/p, so the p nodes of an exact occurrence can take the pattern node by node, and the rest of the graph takes
nothing. The placement is then rounded: backtracking tries places in the order of the mass they take; if the pattern is
not there as a whole, the largest common part is grown.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rwk.convert import as_graphs
from rwk.discrepancy import joined_graphs, single_graph, with_comparable_edges
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.matching.backtracking import embed
from rwk.matching.common import IN_PART, part_problem, seeds_of
from rwk.matching.part_search import PartProblem, best_part
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import IntArray
from rwk.runtime.parameter_checks import ParameterError, check_range
from rwk.runtime.threads import in_threads, one_blas_thread
from rwk.transport.cpu.partial_run import run_partial
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.problem import PairSolution

BUDGET: Final = 100_000  # places tried by the backtracking per graph
REPAIRS: Final = 50  # of a common part, where there is no exact occurrence

FINDING: Final = {**IN_PART, "max_iter": 10}


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """Where a pattern lies in one graph: an entry of the answer of `find`.

    Attributes
    ----------
    graph : int
        Position of the graph among those that were searched.
    name : str or None
        Its name, if the graphs have names.
    pairs : list of (node, node)
        Nodes of the pattern and the nodes of the graph they lie on, by their names.
    share : float
        Share of the nodes and edges of the pattern that were found; 1 if all were.
    value : float
        The transport cost of placing the pattern, which decides between graphs with equal shares.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import find
    >>> best = find(nx.cycle_graph(3), [nx.path_graph(4), nx.complete_graph(4)])[0]
    >>> best.graph, best.exact, len(best.pairs)
    (1, True, 3)
    """

    graph: int
    name: str | None
    pairs: list[tuple[Hashable, Hashable]]
    share: float
    value: float

    @property
    def exact(self) -> bool:
        """Whether all nodes and edges of the pattern were found, with their labels."""
        return self.share == 1.0

    def __repr__(self) -> str:
        where = self.graph if self.name is None else f"{self.graph} ({self.name})"
        return f"Occurrence(graph {where}, {self.share:.0%} of the pattern, value={self.value:.4g})"


def find(pattern: Any, graphs: Any, **parameters: Any) -> list[Occurrence]:
    """Find where a pattern, such as a functional group or a motif, lies in each of many graphs.

    Labels of nodes and edges have to agree; a graph may have more edges between the nodes of an occurrence than the
    pattern. Graphs that hold the whole pattern come first, then those that hold most of it.

    Parameters
    ----------
    pattern : graph
        One graph, in any form that `as_graphs` accepts.
    graphs : graphs
        The graphs to search.
    **parameters
        Settings of the model and the solver; see `Parameters`. `mass` and `debias` have no use here.

    Returns
    -------
    list of Occurrence
        One per graph, best first.

    Examples
    --------
    >>> from rwk import find, molecules
    >>> acid = molecules("CC(=O)O", featurizer="element")
    >>> drugs = molecules(["CCOCC", "OC(=O)c1ccccc1", "CCCC"], featurizer="element")
    >>> [(one.graph, round(one.share, 2)) for one in find(acid, drugs)]
    [(1, 1.0), (0, 0.71), (2, 0.43)]
    """
    for name in ("mass", "debias", "direction"):
        if name in parameters:
            raise ParameterError(f"find takes no {name}: all of the pattern moves, and each graph keeps the rest")
    settings = Parameters.of({**FINDING, **parameters})
    if settings.backend == "gpu":
        raise ParameterError("find solves on the CPU; leave out backend='gpu'")
    try:
        small = single_graph(pattern, "the")
    except GraphError as error:
        raise GraphError(f"the pattern: {error}") from None
    many = as_graphs(graphs)
    settings = with_comparable_edges(settings, small, many)
    both = joined_graphs(small, many)
    measures = in_precision(represent(both, settings)[0], "float64")
    if (measures.sizes != both.sizes).any():
        raise GraphError("find needs nodes that all have a weight; remove those of weight 0")
    found = _search(both, _with_room(measures), settings)
    names = many.names
    occurrences = [
        Occurrence(at, None if names is None else names[at], pairs, share, solution.value)
        for at, (pairs, share, solution) in enumerate(found)
    ]
    return sorted(occurrences, key=lambda one: (-one.share, one.value, one.graph))


def _with_room(measures: GraphMeasures) -> GraphMeasures:
    """The measures with weight 1/p on every node: what a node of the pattern sends, and a node of a graph may take."""
    return measures._replace(weights=np.full_like(measures.weights, 1.0 / measures.sizes[0]))


def _search(graphs: GraphSet, measures: GraphMeasures, settings: Parameters) -> list[tuple[Any, float, PairSolution]]:
    """Pairs of nodes, share and placement of graph 0 in each of the others."""
    pattern, weights, options = graphs[0], settings.cost_weights(), settings.scg_options()
    check_range("nodes of the pattern", pattern.n_nodes, low=1, high=10_000, strict=False, whole=True)
    order, parents = search_order(pattern)
    found: dict[int, tuple[Any, float, PairSolution]] = {}

    def work(at: int) -> int:
        graph, mass = graphs[at + 1], min(1.0, graphs.sizes[at + 1] / pattern.n_nodes)
        solution = run_partial(measures, 0, at + 1, weights._replace(mass=float(mass)), options)
        problem = part_problem(pattern, graph, solution.coupling, largest=pattern.n_nodes)
        places = placed(problem, order, parents, settings.random_state or 0)
        found[at] = (*_described(pattern, graph, problem, places), solution)
        return 1

    with one_blas_thread():
        in_threads(work, len(graphs) - 1, n_jobs=settings.n_jobs, tick=None)
    return [found[at] for at in range(len(found))]


def placed(problem: PartProblem, order: IntArray, parents: IntArray, seed: int) -> IntArray:
    """The node of the graph that each node of the pattern lies on, -1 for those that have none."""
    n, m = problem.allowed.shape
    places = np.full(n, -1, np.int64)
    if n <= m:
        candidates = np.argsort(-problem.scores, axis=1, kind="stable")
        if embed(problem, order, parents, candidates, BUDGET, places) == 1:
            return places
    seeds = seeds_of(problem)
    places[:] = -1
    if len(seeds):
        best_part(problem, seeds, REPAIRS, seed, places)
    return places


def search_order(pattern: Graph) -> tuple[IntArray, IntArray]:
    """Nodes of the pattern so that each is joined to one before it if it can be, and that one (or -1).

    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> [part.tolist() for part in search_order(as_graphs(nx.path_graph(3))[0])]
    [[1, 0, 2], [-1, 1, 1]]
    """
    n = pattern.n_nodes
    joined = np.zeros((n, n), np.bool_)
    joined[pattern.edges[:, 0], pattern.edges[:, 1]] = True
    joined |= joined.T
    order: list[int] = []
    parents: list[int] = []
    left = np.ones(n, np.bool_)
    links = np.zeros(n, np.int64)  # edges to the nodes so far
    for _ in range(n):
        node = int(np.lexsort((-joined.sum(axis=1), -links, ~left))[0])
        known = [earlier for earlier in order if joined[node, earlier]]
        order.append(node)
        parents.append(known[0] if known else -1)
        left[node] = False
        links += joined[node]
    return np.array(order, np.int64), np.array(parents, np.int64)


def _described(pattern: Graph, graph: Graph, problem: PartProblem, places: IntArray) -> tuple[Any, float]:
    """The pairs by name, and the share of the nodes and edges of the pattern that they hold."""
    rows = np.flatnonzero(places >= 0)
    ends = places[pattern.edges]
    i, k = pattern.edges[(ends >= 0).all(axis=1)].T
    a, b = places[i], places[k]
    common = (problem.H.weights[a, b] != 0) & (problem.G.labels[i, k] == problem.H.labels[a, b])
    share = (len(rows) + int(common.sum())) / (pattern.n_nodes + len(pattern.edges))
    own, other = (one.node_names or range(one.n_nodes) for one in (pattern, graph))
    return [(own[row], other[places[row]]) for row in rows.tolist()], share
