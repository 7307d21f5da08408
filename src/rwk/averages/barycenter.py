"""`barycenter`: the average of several graphs, from several starts, of a given size or of the size that fits best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from rwk.averages.averaged import AverageGraph
from rwk.averages.descent import THRESHOLDS, Averaging, Position, descend
from rwk.averages.evidence import Members, assignment_plans, evidence_of
from rwk.averages.resizing import resized
from rwk.convert import as_graphs
from rwk.discrepancy import MATCHING, warn_unused
from rwk.gram.matrix import column_discrepancy
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray
from rwk.runtime.parameter_checks import ParameterError, check_range, check_starts
from rwk.transport.measures import in_precision

# As for matchings, but structures are compared by their edges: distances along paths change too much with each edge
# for their mean to be near those of any graph.
AVERAGING: Final[Mapping[str, Any]] = {**MATCHING, "structure": "adjacency", "wl_rounds": 0}
CANDIDATES: Final = 16  # members of which the most central ones become starts


def barycenter(
    graphs: Any,
    *,
    n_nodes: int | None = None,
    weights: Any = None,
    n_starts: int = 3,
    max_iter: int = 20,
    threshold: float | None = None,
    **parameters: Any,
) -> AverageGraph:
    """Average several graphs: the graph with the least mean discrepancy to all of them.

    Members are aligned with the average and averaged, in turns, as long as the mean discrepancy falls. The problem is
    not convex, so the result is a local minimum.

    Parameters
    ----------
    graphs : graphs
        Graphs in any form that `as_graphs` accepts.
    n_nodes : int, optional
        Number of nodes of the average; by default whatever fits best.
    weights : array of length n_graphs, optional
        How much each graph counts, 0 or more; by default all count the same.
    n_starts : int, default 3
        Number of descents, each from another central graph of the list; the best one is returned.
    max_iter : int, default 20
        Largest number of rounds of each descent.
    threshold : float, optional
        The share of the graphs from which on an edge is part of the average; by default the best of several.
    **parameters
        Settings of the model and the solver; see `Parameters`. The defaults are those of `align(preset="matching")`
        with `structure="adjacency"` and `wl_rounds=0`.

    Returns
    -------
    AverageGraph
        The average graph, the objective after every round, and the couplings and matchings with all graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import barycenter, to_networkx
    >>> tree = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6)])
    >>> noisy = [nx.Graph([*tree.edges, edge]) for edge in ((0, 3), (1, 5), (0, 6), (4, 6))]
    >>> for graph in noisy:
    ...     nx.set_node_attributes(graph, dict(enumerate("ABCDEFG")), "label")
    >>> average = barycenter(noisy)
    >>> nx.is_isomorphic(to_networkx(average.graph)[0], tree)
    True
    """
    check_starts(n_starts)
    check_range("max_iter", max_iter, low=0, high=10_000, strict=False, whole=True)
    settings = averaging_settings(parameters)
    members = as_graphs(graphs)
    warn_unused(members, settings)
    averaging = averaging_of(members, checked_weights(weights, len(members)), settings, threshold)
    if n_nodes is not None:
        check_range("n_nodes", n_nodes, low=1, high=100_000, strict=False, whole=True)
        n_nodes = int(n_nodes)
    starts = _central(averaging, n_nodes, int(n_starts))
    found = [descend(averaging, start, max_iter=int(max_iter)) for start in starts]
    position, history = min(found, key=lambda one: one[0].objective)
    if n_nodes is None:
        position, history = _of_best_size(averaging, position, history, int(max_iter))
    return barycenter_at(averaging, position, history)


def averaging_settings(parameters: Mapping[str, Any]) -> Parameters:
    """The settings of an average, with its defaults."""
    settings = Parameters.of({**AVERAGING, **parameters})
    if settings.mass < 1.0:
        raise ParameterError(
            f"mass={settings.mass} has no meaning for an average: every node of it counts; leave it out"
        )
    if settings.debias:
        raise ParameterError("debias=True can't be averaged: graphs unlike themselves would win; leave it out")
    return settings


def averaging_of(
    graphs: GraphSet, weights: FloatArray, settings: Parameters, threshold: float | None = None
) -> Averaging:
    """The problem of averaging these graphs; raises if one of them can't be part of an average."""
    if threshold is not None:
        check_range("threshold", threshold, low=0, high=1, strict=True, whole=False)
    check_averaged(graphs)
    measures, scale = represent(graphs, settings)
    thresholds = THRESHOLDS if threshold is None else (float(threshold),)
    plain = [replace(graph, node_distances=None) for graph in graphs]
    return Averaging(Members(plain, weights), in_precision(measures, "float64"), scale, settings, thresholds)


def check_averaged(graphs: GraphSet) -> None:
    """Reject graphs with nodes of weight 0: the solver does not see them, so nothing is known of their place."""
    if graphs.node_weights is not None and (graphs.node_weights == 0).any():
        first = int(np.searchsorted(graphs.node_offsets, np.argmin(graphs.node_weights), side="right")) - 1
        raise GraphError(f"{graphs.title(first)} has nodes of weight 0, which can't be averaged; remove them")


def checked_weights(weights: Any, count: int) -> FloatArray:
    """Weights of graphs that add up to 1; raises a sentence that names the first one that is wrong."""
    if weights is None:
        return np.full(count, 1.0 / count)
    try:
        given = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise GraphError("weights are not an array of numbers; give one per graph") from None
    if given.shape != (count,):
        raise GraphError(f"weights have shape {given.shape}; give one per graph, so shape ({count},)")
    wrong = ~(np.isfinite(given) & (given >= 0))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise GraphError(f"the weight of graph {first} is {given[first]:g}; weights must be finite and 0 or more")
    if not given.sum() > 0:
        raise GraphError("all weights are 0; make at least one positive")
    return np.asarray(given / given.max() / (given / given.max()).sum())


def plain_start(graph: Graph, n_nodes: int | None) -> Graph:
    """A member as a start: without names and weights of nodes, and of the wanted size."""
    start = replace(graph, node_names=None, node_weights=None)
    return start if n_nodes is None else resized(start, n_nodes)


def _central(averaging: Averaging, n_nodes: int | None, n_starts: int) -> list[Graph]:
    """The members with the least mean discrepancy to all, among some of about the wanted size."""
    graphs, rng = averaging.members.graphs, np.random.default_rng(averaging.settings.random_state)
    order = rng.permutation(len(graphs))
    if n_nodes is not None:
        away = np.array([abs(graphs[i].n_nodes - n_nodes) for i in order])
        order = order[np.argsort(away, kind="stable")]
    chosen = np.sort(order[: max(CANDIDATES, n_starts)])
    if len(chosen) > n_starts:
        means = averaging.members.weights @ column_discrepancy(averaging.measures, chosen, averaging.settings)
        chosen = chosen[np.argsort(means, kind="stable")[:n_starts]]
    return [plain_start(graphs[i], n_nodes) for i in chosen]


def _of_best_size(
    averaging: Averaging, position: Position, history: list[float], max_iter: int
) -> tuple[Position, list[float]]:
    """Try one node more and one node less, as long as that lowers the objective."""
    low, high = min(averaging.members.sizes), max(averaging.members.sizes)
    for step in (1, -1):
        while low <= position.graph.n_nodes + step <= high:
            start = resized(position.graph, position.graph.n_nodes + step)
            new, _ = descend(averaging, start, max_iter=max_iter)
            if new.objective >= position.objective:
                break
            position, history = new, [*history, new.objective]
    return position, history


def barycenter_at(averaging: Averaging, position: Position, history: list[float]) -> AverageGraph:
    """The result that a descent ended with."""
    plans = assignment_plans(position.graph.n_nodes, position.matchings, averaging.members.sizes)
    return AverageGraph(
        graph=position.graph,
        objective=position.objective,
        history=np.array(history),
        values=position.values,
        couplings=position.couplings,
        matchings=position.matchings,
        edge_shares=evidence_of(averaging.members, plans).shares,
        threshold=position.threshold,
    )
