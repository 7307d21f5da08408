"""Block-coordinate descent to an average graph: align the members, average them, keep what lowers the objective.

    F(B) = sum over members of w_s H(gamma_s; B, G_s)

H is the objective of transport.problem, and gamma_s the coupling of the average B with member s. A round has two
blocks. Given couplings and matchings, new averages are proposed: the one that majorities lead to, and the one with the
least F among averages by several thresholds. Given a new average, the couplings are solved again, from the last ones
and from the best assignments. Neither block is solved exactly, so an average that does not lower F is rejected: F never
increases. A descent that is stuck aligns all members anew, from random starts, and goes on with what is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.averages.evidence import Members, assignment_plans, averaged_graph, evidence_of, usual_threshold
from rwk.discrepancy import annealing_of
from rwk.graphs import Graph, GraphSet
from rwk.matching.refinement import best_assignments, search_of
from rwk.parameters import Parameters, Scale
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import finite_values
from rwk.runtime.threads import in_threads
from rwk.transport.measures import GraphMeasures, in_precision, joined
from rwk.transport.pairs import backend_named
from rwk.transport.problem import START_SHARE

THRESHOLDS: Final = (0.5, 0.4, 0.3, 0.6)
LEAST_GAIN: Final = 1e-9  # relative: a smaller decrease of F does not count
VOTING_ROUNDS: Final = 10
KICKS: Final = 20  # of every assignment, per round
FRESH_KICKS: Final = 100  # of assignments when nothing is known yet
ANNEALED: Final = 8  # starts of couplings when nothing is known yet; solved together
FRESH_LOOKS: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class Averaging:
    """What stays the same during a descent: the members, as graphs and as measures, the settings, the thresholds."""

    members: Members
    measures: GraphMeasures
    scale: Scale
    settings: Parameters
    thresholds: Sequence[float] = THRESHOLDS
    looks: int = FRESH_LOOKS  # how often a descent that is stuck aligns the members anew

    def measures_with(self, graph: Graph) -> GraphMeasures:
        """Measures of an average, as graph 0, and of the members."""
        own, _ = represent(GraphSet.from_graphs([graph]), self.settings, scale=self.scale)
        return in_precision(joined(own, self.measures), "float64")

    def mean(self, values: Any) -> float:
        """The weighted mean over the members."""
        return float(self.members.weights @ np.asarray(values))


class Proposal(NamedTuple):
    """A graph to try, and the plans from which its couplings may start."""

    graph: Graph
    threshold: float
    couplings: Sequence[FloatArray]
    matchings: Sequence[IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """A graph with its couplings and matchings to all members, and the objective there."""

    graph: Graph
    couplings: list[FloatArray]  # (n, m_s)
    matchings: list[IntArray]  # (pairs, 2): node of the average, node of the member
    values: FloatArray  # H of every member
    misfits: FloatArray  # of the matchings
    objective: float
    threshold: float


def descend(averaging: Averaging, start: Graph, *, max_iter: int) -> tuple[Position, list[float]]:
    """The last position of a descent from a graph, and the objective at its start and after every round."""
    position = fresh_position(averaging, start, 0)
    history, looks = [position.objective], 1
    while len(history) <= max_iter:
        new = _better(averaging, position)
        if new is None and looks <= averaging.looks:  # align the members again, as if nothing were known
            new = _merged(averaging, position, fresh_position(averaging, position.graph, looks))
            looks += 1
        if new is None:
            break
        position = new
        history.append(position.objective)
    return position, history


def _better(averaging: Averaging, position: Position) -> Position | None:
    """The first of the proposed averages that lowers the objective; None if none does."""
    for proposal in proposals(averaging, position):
        new = _position(averaging, proposal)
        if _is_lower(new, position):
            return new
    return None


def _is_lower(new: Position, old: Position) -> bool:
    return new.objective < old.objective - LEAST_GAIN * abs(old.objective)


def _merged(averaging: Averaging, old: Position, fresh: Position) -> Position | None:
    """The better couplings and matchings of two positions at one graph; None if none of the fresh ones is better."""
    better = fresh.values < old.values - LEAST_GAIN * np.abs(old.values)
    fewer = fresh.misfits < old.misfits - LEAST_GAIN
    if not better.any() and not fewer.any():
        return None
    values = np.where(better, fresh.values, old.values)
    return replace(
        old,
        couplings=[
            new if take else kept for take, new, kept in zip(better, fresh.couplings, old.couplings, strict=True)
        ],
        matchings=[
            new if take else kept for take, new, kept in zip(fewer, fresh.matchings, old.matchings, strict=True)
        ],
        values=values,
        misfits=np.where(fewer, fresh.misfits, old.misfits),
        objective=averaging.mean(values),
    )


def fresh_position(averaging: Averaging, graph: Graph, look: int) -> Position:
    """The position at a graph of which nothing is known: couplings are annealed from several starts."""
    measures, settings = averaging.measures_with(graph), averaging.settings
    if look and settings.random_state is not None:  # another look has other starts
        settings = replace(settings, random_state=settings.random_state + look)
    count = len(averaging.members.graphs)
    stages: list[Any] = [None] * count

    def work(s: int) -> int:
        stages[s] = annealing_of(measures, 0, s + 1, replace(settings, n_jobs=1), ANNEALED, finalists=None)
        return 1

    in_threads(work, count, n_jobs=settings.n_jobs, tick=None)
    couplings = [min(stage[-1], key=lambda one: one.value).coupling for stage in stages]
    rough = [[stage[0][0].coupling, *(one.coupling for one in stage[-1])] for stage in stages]
    found = _assigned(averaging, graph, rough, FRESH_KICKS)
    return _position(averaging, Proposal(graph, 0.5, couplings, [pairs for pairs, _ in found]))


def _position(averaging: Averaging, proposal: Proposal) -> Position:
    """Solve the couplings of a proposed graph with all members, each from two starts, and keep the better ones."""
    graph = proposal.graph
    measures, settings = averaging.measures_with(graph), averaging.settings
    weights, options = settings.cost_weights(), settings.scg_options()
    backend = backend_named(settings.backend)
    plans = assignment_plans(graph.n_nodes, proposal.matchings, averaging.members.sizes)
    assigned = _assigned(averaging, graph, [[*both] for both in zip(proposal.couplings, plans, strict=True)])
    found: list[Any] = [None] * len(assigned)

    def work(s: int) -> int:
        product = np.outer(_masses(measures, 0), _masses(measures, s + 1))
        near = START_SHARE * _coupling_of(assigned[s][0], product) + (1.0 - START_SHARE) * product
        starts = np.stack([near, proposal.couplings[s]])
        solved = backend.run_starts(measures, 0, s + 1, weights, options, starts, n_jobs=1)
        found[s] = min(solved, key=lambda one: one.value)
        return 1

    in_threads(work, len(found), n_jobs=settings.n_jobs, tick=None)
    values = finite_values(np.array([one.value for one in found]), "the average and graph {}".format)
    return Position(
        graph=graph,
        couplings=[one.coupling for one in found],
        matchings=[pairs for pairs, _ in assigned],
        values=values,
        misfits=np.array([misfit for _, misfit in assigned]),
        objective=averaging.mean(values),
        threshold=proposal.threshold,
    )


def proposals(averaging: Averaging, position: Position) -> Iterator[Proposal]:
    """Averages to try from a position, the most promising first."""
    agreed = _agreed(averaging, position)
    if agreed is not None:
        yield agreed
    tried = _averages(averaging, position)
    if tried:
        bounds = [averaging.mean(values_at(averaging, graph, position.couplings)) for graph, _ in tried]
        graph, threshold = tried[int(np.argmin(bounds))]
        yield Proposal(graph, threshold, position.couplings, position.matchings)


def values_at(averaging: Averaging, graph: Graph, couplings: Sequence[FloatArray]) -> FloatArray:
    """H of every member at given couplings: the solver stops before its first step."""
    measures, settings = averaging.measures_with(graph), averaging.settings
    options = settings.scg_options()._replace(max_iter=1, tol=np.inf)
    run = backend_named(settings.backend).run_starts
    arguments = (settings.cost_weights(), options)
    return np.array([run(measures, 0, s + 1, *arguments, plan[None])[0].value for s, plan in enumerate(couplings)])


def _averages(averaging: Averaging, position: Position) -> list[tuple[Graph, float]]:
    """Averages by the present matchings and couplings, each with its threshold; no two alike."""
    members = averaging.members
    sharp = assignment_plans(position.graph.n_nodes, position.matchings, members.sizes)
    soft = [coupling / coupling.sum(axis=1, keepdims=True) for coupling in position.couplings]
    found: dict[bytes, tuple[Graph, float]] = {}
    for plans in (sharp, soft):
        evidence = evidence_of(members, plans)
        usual = usual_threshold(members, evidence) if len(averaging.thresholds) > 1 else None
        for threshold in (*averaging.thresholds, *([] if usual is None else [usual])):
            graph = averaged_graph(members, plans, threshold, position.graph, evidence)
            found.setdefault(_content(graph), (graph, threshold))
    found.pop(_content(position.graph), None)
    return list(found.values())


def _agreed(averaging: Averaging, position: Position) -> Proposal | None:
    """Where majorities lead: average by one-to-one matchings and match again, while fewer edges lack a counterpart.

    None if that is where the position is already.
    """
    members, threshold = averaging.members, averaging.thresholds[0]
    graph, matchings, least = position.graph, position.matchings, np.inf
    for _ in range(VOTING_ROUNDS):
        plans = assignment_plans(graph.n_nodes, matchings, members.sizes)
        new = averaged_graph(members, plans, threshold, graph)
        found = _assigned(averaging, new, [[*both] for both in zip(plans, position.couplings, strict=True)])
        misfit = averaging.mean([misfit for _, misfit in found])
        if misfit >= least - LEAST_GAIN:
            break
        graph, matchings, least = new, [pairs for pairs, _ in found], misfit
    if _content(graph) == _content(position.graph):
        return None
    return Proposal(graph, threshold, position.couplings, matchings)


def _assigned(
    averaging: Averaging, graph: Graph, rough: Sequence[Sequence[FloatArray]], kicks: int = KICKS
) -> list[tuple[IntArray, float]]:
    """The best one-to-one matching with every member that is found near some plans, and its misfit."""
    found: list[Any] = [None] * len(rough)

    def work(s: int) -> int:
        member = averaging.members.graphs[s]
        turned = graph.n_nodes > member.n_nodes
        search = search_of(member, graph) if turned else search_of(graph, member)
        plans = [plan.T if turned else plan for plan in rough[s]]
        best = best_assignments(search, plans, kicks=kicks, seed=averaging.settings.random_state)[0]
        pairs = np.stack([np.arange(len(best.places)), best.places], axis=1)
        found[s] = np.ascontiguousarray(pairs[:, ::-1] if turned else pairs), best.misfit
        return 1

    in_threads(work, len(rough), n_jobs=averaging.settings.n_jobs, tick=None)
    return found


def _coupling_of(pairs: IntArray, product: FloatArray) -> FloatArray:
    """A coupling with as much mass as possible on the pairs; the rest is spread over what is left."""
    mu, nu = product.sum(axis=1), product.sum(axis=0)
    plan = np.zeros(product.shape)
    plan[pairs[:, 0], pairs[:, 1]] = np.minimum(mu[pairs[:, 0]], nu[pairs[:, 1]])
    rows, columns = mu - plan.sum(axis=1), nu - plan.sum(axis=0)
    return np.asarray(plan + np.outer(rows, columns) / max(rows.sum(), 1e-300))


def _masses(measures: GraphMeasures, g: int) -> FloatArray:
    return np.asarray(measures.weights[measures.offsets[g] : measures.offsets[g + 1]])


def _content(graph: Graph) -> bytes:
    """Everything that tells two averages of one descent apart."""
    names = ("edges", "node_labels", "node_attributes", "edge_labels", "edge_weights", "edge_attributes")
    return b"|".join(getattr(graph, name).tobytes() for name in names if getattr(graph, name) is not None)
