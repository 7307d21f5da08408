"""Comparing graphs under the settings of the page: one pair with its coupling, or one graph with all on the map."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from rwk.discrepancy import aligned
from rwk.explore.settings import Settings
from rwk.gram import cross_discrepancy
from rwk.gram.matrix import self_discrepancy
from rwk.graphs import Graph, GraphSet
from rwk.parameters import Parameters, Scale
from rwk.represent import represent
from rwk.represent.pipeline import learn_scale
from rwk.runtime.arrays import FloatArray
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import PairSolution

KEPT_VIEWS = 2  # representations of all graphs in memory, besides that of the start


class Comparer:
    """Represents and compares graphs, with scales learned on the graphs of the map.

    Graphs whose edge labels can't be compared with those of the set are compared without them (`edges=False`).
    """

    def __init__(self, graphs: GraphSet, parameters: Parameters) -> None:
        self.graphs = graphs
        self.parameters = parameters
        self.start = Settings.of(parameters)
        self.measures, self.scale = represent(graphs, parameters)
        self._scale = lru_cache(maxsize=64)(self._learned)
        self._view = lru_cache(maxsize=KEPT_VIEWS)(self._represented)

    def pair(self, first: Graph, second: Graph, settings: Settings, *, edges: bool) -> PairSolution:
        """Align two graphs in this order."""
        parameters = replace(self._parameters(settings, edges), backend="cpu")
        graphs = GraphSet.from_graphs([_plain(first, edges), _plain(second, edges)])
        measures, _ = represent(graphs, parameters, scale=self._scale_of(settings, edges))
        return aligned(measures, parameters, n_starts=1, certify=False, trace=False)

    def row(self, graph: Graph, settings: Settings, *, edges: bool) -> FloatArray:
        """Discrepancies of a graph with all graphs of the map."""
        mine = self.measure(graph, settings=settings, edges=edges)
        parameters = self._parameters(settings, edges)
        return np.asarray(cross_discrepancy(mine, self.view(settings, edges=edges), parameters)[0][0])

    def between(self, graph: Graph, others: list[Graph], settings: Settings, *, edges: bool) -> FloatArray:
        """Discrepancies of a graph with other graphs."""
        if not others:
            return np.zeros(0)
        mine, theirs = (self.measure(*graphs, settings=settings, edges=edges) for graphs in ([graph], others))
        return np.asarray(cross_discrepancy(mine, theirs, self._parameters(settings, edges))[0][0])

    def own(self, graph: Graph, *, edges: bool) -> float:
        """The discrepancy of a graph with itself at the start settings; 0 if values are debiased."""
        if self.parameters.debias:
            return 0.0
        mine = self.measure(graph, settings=self.start, edges=edges)
        return float(self_discrepancy(mine, self._parameters(self.start, edges))[0])

    def all_own(self) -> FloatArray:
        """The discrepancies of the graphs of the map with themselves at the start settings, without edge labels."""
        if self.parameters.debias:
            return np.zeros(len(self.graphs))
        return np.asarray(self_discrepancy(self.view(self.start, edges=False), self._parameters(self.start, False)))

    def measure(self, *given: Graph, settings: Settings, edges: bool) -> GraphMeasures:
        """What the solver knows of these graphs."""
        graphs = GraphSet.from_graphs([_plain(graph, edges) for graph in given])
        return represent(graphs, self._parameters(settings, edges), scale=self._scale_of(settings, edges))[0]

    def view(self, settings: Settings, *, edges: bool) -> GraphMeasures:
        """What the solver knows of all graphs of the map."""
        if self._is_start(settings, edges):
            return self.measures
        return self._view(settings.representation, edges)

    def _parameters(self, settings: Settings, edges: bool) -> Parameters:
        made = settings.applied_to(self.parameters)
        return made if edges else replace(made, wl_edge_labels=False)

    def _scale_of(self, settings: Settings, edges: bool) -> Scale:
        return self.scale if self._is_start(settings, edges) else self._scale(settings.representation, edges)

    def _is_start(self, settings: Settings, edges: bool) -> bool:
        without = self.graphs.edge_labels is None or not self.parameters.wl_edge_labels
        return settings.representation == self.start.representation and (edges or without)

    def _learned(self, representation: Settings, edges: bool) -> Scale:
        return learn_scale(self.graphs, self._parameters(representation, edges))

    def _represented(self, representation: Settings, edges: bool) -> GraphMeasures:
        scale = self._scale(representation, edges)
        return represent(self.graphs, self._parameters(representation, edges), scale=scale)[0]


def _plain(graph: Graph, edges: bool) -> Graph:
    return graph if edges else replace(graph, edge_labels=None)
