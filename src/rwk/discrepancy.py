"""The public functions: align two graphs, compare many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.convert import as_graphs
from rwk.convert.label_coding import in_form_of, same_kind_of_labels
from rwk.datasets.forms import warn_complete
from rwk.gram.matrix import cross_discrepancy, symmetric_discrepancy
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.graphs.checks import is_plain
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.parameter_checks import ParameterError, check_choice, check_starts
from rwk.runtime.threads import Ticker
from rwk.runtime.user_warnings import warn_user
from rwk.runtime.watched import watched
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.pairs import check_solution
from rwk.transport.payments import node_payments
from rwk.transport.problem import PairSolution
from rwk.transport.starts import FINALISTS, annealed_solutions, best_solution

Matrix = NDArray[np.float64]

# the settings of preset="matching": the structure counts most, and the coupling is sharp and solved further
MATCHING: Final[Mapping[str, Any]] = {
    "feature_metric": "l2",
    "beta_global": 5.0,
    "entropy": 0.02,
    "max_iter": 30,
    "sinkhorn_iter": 30,
}
PRESETS: Final = {"matching": MATCHING}
MATCHING_STARTS: Final = 10
ANNEALING: Final = (5.0, 2.5, 1.0)  # entropies of the stages, in units of the last


def align(
    G: Any,
    H: Any,
    *,
    n_starts: int = 1,
    preset: str | None = None,
    certify: bool = False,
    trace: bool = False,
    **parameters: Any,
) -> PairSolution:
    """Find the coupling of the nodes of G and H that best preserves features, neighbourhoods and structure.

    The problem is not convex, so the solver finds a local optimum. The two graphs themselves set the scale of the
    costs, and are solved in the order given (R15).

    Parameters
    ----------
    G, H : graph
        Two graphs, each in any form that `as_graphs` accepts.
    n_starts : int, default 1
        Number of starts; the best solution is returned. All starts but the first are random couplings. With a preset, 1
        means 10, and after one iteration only the first two and the best of the others go on.
    preset : str, optional
        "matching" sets what suits a matching of nodes better than a kernel: more weight on the structure, several
        starts, and a low entropy that is reached in stages. Other keywords still count.
    certify : bool, default False
        Also compute the true Frank-Wolfe gap of the solution (needs POT).
    trace : bool, default False
        Keep the objective and the gap of every iteration in `history`.
    **parameters
        Settings of the model and the solver; see `Parameters`.

    Returns
    -------
    PairSolution
        The value, its terms, the coupling, and how the solver ended.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import align
    >>> solution = align(nx.path_graph(4), nx.path_graph(4), entropy=0.02)
    >>> solution.coupling.shape, bool(solution.converged)
    ((4, 4), True)

    All nodes of a ring are alike, so from the first start the mass spreads over all of them. Other starts find a
    rotation of the ring:

    >>> ring = nx.cycle_graph(6)
    >>> spread, rotated = (align(ring, ring, n_starts=n, entropy=0.01).value for n in (1, 5))
    >>> bool(rotated < spread)
    True
    """
    if preset is not None:
        check_choice("preset", preset, tuple(PRESETS))
        if trace:
            raise ParameterError("trace=True is for a single solve; leave out preset=")
    settings = Parameters.of({**PRESETS.get(preset or "", {}), **parameters})
    check_starts(n_starts)
    n_starts = MATCHING_STARTS if preset is not None and n_starts == 1 else int(n_starts)
    first, second = single_graph(G, "the first"), single_graph(H, "the second")
    settings = with_comparable_edges(settings, first, second)
    graphs = joined_graphs(first, second)
    warn_unused(graphs, settings)
    measures, _ = represent(graphs, settings)
    annealed = preset is not None
    solution = aligned(measures, settings, n_starts=n_starts, certify=certify, trace=trace, annealed=annealed)
    return named(solution, graphs)


def pairwise_discrepancy(
    X: Any, Y: Any = None, *, tick: Ticker | None = None, verbose: bool | None = None, **parameters: Any
) -> Matrix:
    """Compute the RW discrepancies between all graphs of X and all of Y.

    All graphs given set the scale of the costs together. The discrepancy is not a metric: RW(G, G) is positive unless
    `debias=True` (R17), and there is no triangle inequality.

    Parameters
    ----------
    X : graphs
        Graphs in any form that `as_graphs` accepts.
    Y : graphs, optional
        The graphs to compare with; by default X itself, and the matrix is then exactly symmetric (R15).
    tick : callable, optional
        Called with the number of pairs solved since its last call, in place of a progress bar.
    verbose : bool, optional
        Whether to show a progress bar; by default after five seconds, in a terminal or a notebook.
    **parameters
        Settings of the model and the solver; see `Parameters`.

    Returns
    -------
    ndarray of shape (len(X), len(Y))
        The discrepancies.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import pairwise_discrepancy
    >>> D = pairwise_discrepancy([nx.path_graph(3), nx.star_graph(3), nx.cycle_graph(5)], debias=True)
    >>> D.shape, bool((D == D.T).all()), D.diagonal().tolist()
    ((3, 3), True, [0.0, 0.0, 0.0])
    """
    settings = Parameters.of(parameters)
    first = as_graphs(X)
    warn_unused(first, settings)
    warn_complete(first, settings.structure)
    if Y is None:
        measures = represent(first, settings)[0]
        with watched(tick, verbose, "discrepancies", len(first) * (len(first) + 1) // 2) as ticker:
            return symmetric_discrepancy(measures, settings, tick=ticker)[0]
    second = in_form_of(as_graphs(Y), first)
    settings = with_comparable_edges(settings, first, second)
    _, scale = represent(joined_graphs(first, second), settings)
    rows, columns = (represent(graphs, settings, scale=scale)[0] for graphs in (first, second))
    with watched(tick, verbose, "discrepancies", len(first) * len(second)) as ticker:
        return cross_discrepancy(rows, columns, settings, tick=ticker)[0]


def aligned(
    measures: GraphMeasures,
    settings: Parameters,
    *,
    n_starts: int,
    certify: bool,
    trace: bool,
    annealed: bool = False,
) -> PairSolution:
    """Solve graphs 0 and 1 of these measures in that order; anneal, debias, certify and trace as asked."""
    check_starts(n_starts)
    weights, options, backend = settings.cost_weights(), settings.scg_options(), settings.solver()
    solved = in_precision(measures, settings.precision)

    def solve(a: int, b: int) -> PairSolution:
        if annealed:
            return min(annealing_of(solved, a, b, settings, n_starts)[-1], key=lambda one: one.value)
        return best_solution(
            solved, a, b, weights, options, n_starts=n_starts, seed=settings.random_state, backend=backend, trace=trace
        )

    solution = solve(0, 1)
    check_solution(solution)
    solution = replace(solution, paid=node_payments(solved, 0, 1, weights, solution.coupling))
    if settings.debias:
        own = [solve(i, i).value for i in (0, 1)]
        bias = -0.5 * (own[0] + own[1])
        solution = replace(solution, value=solution.value + bias, terms={**solution.terms, "debias": bias})
    if certify:
        from rwk.transport.exact import true_gap

        solution = replace(solution, certificate=true_gap(measures, 0, 1, weights, solution.coupling))
    return solution


def named(solution: PairSolution, graphs: GraphSet) -> PairSolution:
    """The solution of graphs 0 and 1, with the names of their nodes."""
    return replace(solution, node_names=(_coupled_names(graphs[0]), _coupled_names(graphs[1])))


def _coupled_names(graph: Graph) -> tuple[Any, ...]:
    """Names (or numbers) of the nodes with mass: one per row or column of a coupling."""
    names = graph.node_names or tuple(range(graph.n_nodes))
    return names if graph.node_weights is None else tuple(names[i] for i in np.flatnonzero(graph.node_weights))


def annealing_of(
    measures: GraphMeasures,
    a: int,
    b: int,
    settings: Parameters,
    n_starts: int,
    stages: Sequence[float] = ANNEALING,
    finalists: int | None = FINALISTS,
) -> list[list[PairSolution]]:
    """The solutions at each stage of the starts that go on; stages are entropies in units of that of the settings."""
    if settings.solver() == "exact":
        raise ParameterError("direction='exact' has no entropy to anneal; use the default direction, 'sinkhorn'")
    return annealed_solutions(
        measures,
        a,
        b,
        settings.cost_weights(),
        settings.scg_options(),
        n_starts=n_starts,
        entropies=[factor * settings.entropy for factor in stages],
        seed=settings.random_state,
        backend=settings.backend,
        n_jobs=settings.n_jobs,
        finalists=finalists,
    )


def with_comparable_edges(settings: Parameters, first: GraphSet, second: GraphSet) -> Parameters:
    """The settings, without edge labels if those of the two sets can't be compared; a warning says so."""
    if settings.wl_edge_labels != "auto" or same_kind_of_labels(first.edge_labels, second.edge_labels):
        return settings
    warn_user("edge labels are not used: one side has words, the other numbers, so they can't be compared")
    return replace(settings, wl_edge_labels=False)


def warn_unused(graphs: GraphSet, *settings: Parameters) -> None:
    """Warn of edge attributes or weights that no term of any setting uses."""
    structures = {setting.structure for setting in settings}
    if graphs.edge_attributes is not None and "edge-distance" not in structures:
        warn_user(
            "the graphs have edge attributes, which no term uses; structure='edge-distance' uses the first of them as "
            "the length of an edge"
        )
    if "adjacency" not in structures and _weights_cancel(graphs):
        warn_user(
            "all edges of a graph have the same weight here, and only ratios of weights within a graph count, so these "
            "weights are not used; structure='adjacency' uses the weights themselves"
        )


def _weights_cancel(graphs: GraphSet) -> bool:
    """Whether weights differ between graphs, but not inside any of them."""
    if graphs.edge_weights is None or not len(graphs.edge_weights):
        return False
    first = graphs.edge_weights[np.minimum(graphs.edge_offsets[:-1], len(graphs.edge_weights) - 1)]
    constant = bool((graphs.edge_weights == np.repeat(first, graphs.n_edges)).all())
    return constant and len(np.unique(first[graphs.n_edges > 0])) > 1


def single_graph(graph: Any, which: str) -> GraphSet:
    """One graph as a set of one; `which` names the argument in the error."""
    graphs = as_graphs(graph)
    if len(graphs) != 1:
        raise GraphError(f"{which} argument holds {len(graphs)} graphs; give a single one")
    return graphs


def two_graphs(G: Any, H: Any, settings: Parameters) -> tuple[Graph, Graph, Parameters]:
    """Two single graphs in one form, and the settings for them (`with_comparable_edges`)."""
    plain = isinstance(G, Graph) and isinstance(H, Graph) and (G.node_labels is None) == (H.node_labels is None)
    if plain and is_plain(G) and is_plain(H):  # nothing has to be made alike
        return G, H, settings
    first, second = single_graph(G, "the first"), single_graph(H, "the second")
    settings = with_comparable_edges(settings, first, second)
    graphs = joined_graphs(first, second)
    return graphs[0], graphs[1], settings


def joined_graphs(first: GraphSet, second: GraphSet) -> GraphSet:
    """Both sets as one; labels of the second get the codes of the first."""
    names = None if first.names is None or second.names is None else first.names + second.names
    return GraphSet.from_graphs([*first, *in_form_of(second, first)], names=names)
