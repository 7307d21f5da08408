"""`Explorer`: the graphs, their map, the neighbours of a graph, and solving a pair. It knows nothing of the web."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np

from rwk.explore.upload import fitted_to
from rwk.gram import cross_discrepancy, symmetric_discrepancy
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.parameters import Parameters, Scale
from rwk.report.layout import layout, matched_layout
from rwk.report.maps import dataset_map
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray
from rwk.transport.pairs import solve_pair
from rwk.transport.payments import node_payments
from rwk.transport.problem import PairSolution

MAX_MAPPED: Final = 600  # graphs on the map; other graphs can be chosen by their number
KEPT_UPLOADS: Final = 20
FITTED: Final = 200  # graphs that set the scale for another number of hops


@dataclass(frozen=True, slots=True)
class Settings:
    """The values of the sliders."""

    beta_local: float
    beta_global: float
    entropy: float
    hops: int

    @classmethod
    def of(cls, parameters: Parameters) -> Settings:
        """The sliders' values for these parameters."""
        return cls(parameters.beta_local, parameters.beta_global, parameters.entropy, parameters.hops)


@dataclass(frozen=True, slots=True)
class SolvedPair:
    """A pair of graphs with its solution, the places of the nodes, and the time that solving took."""

    first: Graph
    second: Graph
    solution: PairSolution
    places: tuple[FloatArray, FloatArray]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A graph that is near another: its key, its name, its class and the discrepancy."""

    key: str
    name: str
    target: str
    value: float


class Explorer:
    """A set of graphs to explore. The key of a graph is its number as text, or `u:` and a token for an upload.

    >>> from rwk.datasets.synthetic import planted_motif
    >>> explorer = Explorer(planted_motif(8)[0])
    >>> explorer.solve("0", "1").solution.coupling.shape == (explorer.graph("0").n_nodes, explorer.graph("1").n_nodes)
    True
    """

    def __init__(
        self, graphs: GraphSet, parameters: Parameters | None = None, *, discrepancy: FloatArray | None = None
    ) -> None:
        self.parameters = parameters or Parameters()
        self.without_edge_labels = graphs.edge_labels is not None and self.parameters.wl_edge_labels is not True
        if self.parameters.wl_edge_labels is not True:  # so that uploads need no edge labels
            graphs = replace(graphs, edge_labels=None, edge_attributes=None)
        self.graphs = graphs
        self.mapped = _mapped(len(graphs), self.parameters.random_state)
        self._measures, self._scale = represent(graphs[self.mapped], self.parameters)
        if discrepancy is None:
            self.discrepancy, _ = symmetric_discrepancy(self._measures, self.parameters)
        else:
            self.discrepancy = np.asarray(discrepancy)[np.ix_(self.mapped, self.mapped)]
        self.places, self.likeness = dataset_map(self.discrepancy)
        self._uploads: OrderedDict[str, tuple[str, Graph]] = OrderedDict()
        self._lock = threading.Lock()
        self._scale_of = lru_cache(maxsize=16)(self._fitted_scale)
        self._placed = lru_cache(maxsize=64)(self._laid_out)
        self._near = lru_cache(maxsize=256)(self._row)

    def graph(self, key: str) -> Graph:
        """The graph with this key; raises `GraphError` if there is none."""
        if key.startswith("u:"):
            with self._lock:
                if key not in self._uploads:
                    raise GraphError("this upload is no longer kept; upload the graph again")
                return self._uploads[key][1]
        if not key.isdigit() or int(key) >= len(self.graphs):
            raise GraphError(f"there is no graph {key}; the numbers are 0 to {len(self.graphs) - 1}")
        return self.graphs[int(key)]

    def key_of(self, text: str) -> str:
        """The key that a user means by a name or a number, with or without the word "graph" before it."""
        names = self.graphs.names or ()
        return str(names.index(text)) if text in names else text.removeprefix("graph").strip()

    def name(self, key: str) -> str:
        """The name of a graph on the page."""
        if key.startswith("u:"):
            with self._lock:
                return self._uploads[key][0] if key in self._uploads else "an upload"
        return self.graphs.title(int(key))

    def target(self, key: str) -> str:
        """A graph's class as text, or a dash."""
        if key.startswith("u:") or self.graphs.targets is None:
            return "-"
        return str(self.graphs.targets[int(key)])

    def title(self, key: str) -> str:
        """The name of a graph, with its class if it has one."""
        target = self.target(key)
        return self.name(key) if target == "-" else f"{self.name(key)} ({target})"

    def add(self, name: str, graph: Graph) -> str:
        """Keep an uploaded graph until there are too many newer ones; returns its key."""
        fitted = fitted_to(graph, self.graphs)
        key = f"u:{secrets.token_hex(8)}"
        with self._lock:
            self._uploads[key] = (name[:40], fitted)
            while len(self._uploads) > KEPT_UPLOADS:
                self._uploads.popitem(last=False)
        return key

    def solve(self, first: str, second: str, settings: Settings | None = None) -> SolvedPair:
        """Align two graphs, in this order, with the settings of the sliders."""
        settings = settings or Settings.of(self.parameters)
        G, H = self.graph(first), self.graph(second)
        places = self._placed(first, second)
        start = time.perf_counter()
        solution = self._solution(G, H, settings)
        return SolvedPair(G, H, solution, places, 1000 * (time.perf_counter() - start))

    def neighbours(self, key: str, k: int = 8) -> list[Neighbour]:
        """The k graphs on the map that are nearest to a graph."""
        row = self._near(key)
        order = [int(j) for j in np.argsort(row, kind="stable") if str(self.mapped[j]) != key][:k]
        keys = {j: str(self.mapped[j]) for j in order}
        return [Neighbour(keys[j], self.name(keys[j]), self.target(keys[j]), float(row[j])) for j in order]

    def warm_up(self) -> None:
        """Solve once, so that the first click does not wait for compilation."""
        self.solve("0", str(len(self.graphs) - 1))
        for hops in range(4):
            self._scale_of(hops)

    def _solution(self, G: Graph, H: Graph, settings: Settings) -> PairSolution:
        parameters = replace(self.parameters, **_changes(settings)).checked()
        measures, _ = represent(GraphSet.from_graphs([G, H]), parameters, scale=self._scale_of(settings.hops))
        weights, options = parameters.cost_weights(), parameters.scg_options()
        solution = solve_pair(measures, 0, 1, weights, options, backend="cpu")
        return replace(solution, paid=node_payments(measures, 0, 1, weights, solution.coupling))

    def _fitted_scale(self, hops: int) -> Scale:
        if hops == self.parameters.hops:
            return self._scale
        parameters = replace(self.parameters, hops=hops).checked()
        return represent(self.graphs[self.mapped[:FITTED]], parameters)[1]

    def _laid_out(self, first: str, second: str) -> tuple[FloatArray, FloatArray]:
        """Places of the nodes of both graphs; they do not change while the sliders move."""
        G, H = self.graph(first), self.graph(second)
        places = layout(G)
        coupling = self._solution(G, H, Settings.of(self.parameters)).coupling
        full = np.full((G.n_nodes, H.n_nodes), 1e-9)
        if coupling.shape == full.shape:
            full += coupling
        return places, matched_layout(H, places, full)

    def _row(self, key: str) -> FloatArray:
        at = np.flatnonzero(self.mapped == int(key)) if key.isdigit() else np.zeros(0, int)
        if len(at):
            return np.asarray(self.discrepancy[at[0]])
        measures, _ = represent(GraphSet.from_graphs([self.graph(key)]), self.parameters, scale=self._scale)
        return np.asarray(cross_discrepancy(measures, self._measures, self.parameters)[0][0])


def _mapped(n: int, random_state: int | None) -> Any:
    if n <= MAX_MAPPED:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, MAX_MAPPED, replace=False))


def _changes(settings: Settings) -> dict[str, Any]:
    return {
        "beta_local": settings.beta_local,
        "beta_global": settings.beta_global,
        "entropy": settings.entropy,
        "hops": settings.hops,
        "variant": None,
    }
