"""What a matching knows beside its pairs, computed when it is first asked for: how sure it is, and its soft side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rwk.discrepancy import ANNEALING, annealing_of, named
from rwk.graphs import Graph, GraphSet
from rwk.matching.refinement import Candidate, Search, confidences, search_of, with_alternatives
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import backend_named, check_solution
from rwk.transport.payments import node_payments
from rwk.transport.problem import START_SHARE, PairSolution


@dataclass(slots=True)
class SoftSide:
    """Two graphs, a coupling, and the one that nodes are told apart by; what is None is computed on demand."""

    pair: tuple[Graph, Graph]
    settings: Parameters
    numbers: IntArray  # (n_pairs, 2)
    search: Search | None = None
    found: tuple[Candidate, ...] = ()
    measures: GraphMeasures | None = None
    solution: PairSolution | None = None
    blurred: FloatArray | None = None
    confidence: FloatArray | None = None

    def certain(self) -> FloatArray:
        """How sure each pair is."""
        if self.confidence is None:
            turned = self.pair[0].n_nodes > self.pair[1].n_nodes
            search = self.search or search_of(*(self.pair[::-1] if turned else self.pair))
            best, found = self.found[0], self.found
            if best.misfit == 0 and len(found) == 1:  # nothing else was looked for
                found = tuple(with_alternatives(search, best, self.settings.random_state))
            confidence = confidences(search, found)  # in the order of the smaller graph
            self.confidence = confidence[np.argsort(best.places)] if turned else confidence
        return self.confidence

    def solved(self) -> PairSolution:
        """The soft matching near the pairs, with what each node pays."""
        if self.solution is None or self.solution.paid is None:
            measures, weights = self.measured(), self.settings.cost_weights()
            solution = self.solution or self._near(measures)
            check_solution(solution)
            paid = node_payments(measures, 0, 1, weights, solution.coupling)
            self.solution = named(replace(solution, paid=paid), GraphSet.from_graphs(self.pair))
        return self.solution

    def blurry(self) -> FloatArray:
        """A coupling from mu nu^T at a high entropy: nodes that are alike have equal rows."""
        if self.blurred is None:
            small, large = _by_size(self.measured())
            first = replace(self.settings, entropy=ANNEALING[0] * self.settings.entropy)
            found = annealing_of(self.measured(), small, large, first, 1, stages=(1.0,))[0][0].coupling
            self.blurred = found if small == 0 else found.T
        return self.blurred

    def measured(self) -> GraphMeasures:
        """What the solver knows of both graphs."""
        if self.measures is None:
            self.measures = represent(GraphSet.from_graphs(self.pair), self.settings)[0]
        return self.measures

    def _near(self, measures: GraphMeasures) -> PairSolution:
        """Solved from a coupling that has most of its mass on the pairs."""
        small, large = _by_size(measures)
        mu, nu = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (small, large))
        rows, columns = self.numbers[:, small], self.numbers[:, large]
        plan = np.zeros((len(mu), len(nu)))
        plan[rows, columns] = np.minimum(mu[rows], nu[columns])
        left_rows, left_columns = mu - plan.sum(axis=1), nu - plan.sum(axis=0)
        plan += np.outer(left_rows, left_columns) / max(left_rows.sum(), 1e-300)
        start = START_SHARE * plan + (1.0 - START_SHARE) * np.outer(mu, nu)
        weights, options = self.settings.cost_weights(), self.settings.scg_options()
        solve: Any = backend_named(self.settings.backend).run_starts
        solution: PairSolution = solve(measures, small, large, weights, options, start[None])[0]
        return solution if small == 0 else turned(solution)


def turned(solution: PairSolution) -> PairSolution:
    """The solution of a pair in the other order."""
    terms = dict(solution.terms)
    terms["laplacian_source"], terms["laplacian_target"] = terms["laplacian_target"], terms["laplacian_source"]
    return replace(solution, coupling=np.ascontiguousarray(solution.coupling.T), terms=terms)


def _by_size(measures: GraphMeasures) -> tuple[int, int]:
    return (0, 1) if measures.sizes[0] <= measures.sizes[1] else (1, 0)


def edges_preserved(G: Graph, H: Graph, numbers: IntArray) -> float:
    """The share of the edges between matched nodes of G that are edges of H too; 1 if there are none.

    >>> import networkx as nx
    >>> from rwk import as_graphs
    >>> path, star = as_graphs([nx.path_graph(3), nx.star_graph(2)])
    >>> edges_preserved(path, star, np.array([[0, 0], [1, 1], [2, 2]]))
    0.5
    """
    place = np.full(G.n_nodes, -1, np.int64)
    place[numbers[:, 0]] = numbers[:, 1]
    ends = place[G.edges]
    ends = np.sort(ends[(ends >= 0).all(axis=1)], axis=1)
    if not len(ends):
        return 1.0
    known = np.isin(ends @ [H.n_nodes, 1], np.sort(H.edges, axis=1) @ [H.n_nodes, 1])
    return float(known.mean())
