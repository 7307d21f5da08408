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

from rwk.explore.comparing import Comparer
from rwk.explore.map_places import MapPlaces
from rwk.explore.settings import Settings
from rwk.explore.upload import Upload, fitted_to, has_comparable_edges
from rwk.gram import symmetric_discrepancy
from rwk.graphs import EDGE_FIELDS, NODE_FIELDS, Graph, GraphError, GraphSet
from rwk.graphs.checks import check_graphs
from rwk.parameters import Parameters
from rwk.report.layout import layout, matched_layout
from rwk.report.palette import is_continuous
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.problem import PairSolution

MAX_MAPPED: Final = 600  # graphs on the map; other graphs can be chosen by their number
KEPT_UPLOADS: Final = 100
LEAST_PREDICTED: Final = 5  # values, if one is to be predicted from the others
SLOW_ROW: Final = 2.0  # seconds; if comparing one graph with all takes longer, neighbours do not follow the sliders


@dataclass(frozen=True, slots=True)
class SolvedPair:
    """A pair of graphs with its solution, the places of the nodes, and the time that solving took."""

    first: Graph
    second: Graph
    solution: PairSolution
    places: tuple[FloatArray, FloatArray]
    milliseconds: float
    note: str  # what was left out of the comparison


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A graph that is near another: its key, its name, its class or value, the discrepancy, and a note."""

    key: str
    name: str
    target: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An uploaded graph, coded like the set, and whether its edge labels can be compared with those of the set."""

    upload: Upload
    edges: bool
    place: FloatArray


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
        check_graphs(graphs)
        self.graphs = _needed(graphs, self.parameters)
        self.start = Settings.of(self.parameters)
        self.continuous = graphs.targets is not None and is_continuous(graphs.targets)
        self.mapped = _mapped(len(graphs), self.parameters.random_state)
        self._comparer = Comparer(self.graphs[self.mapped], self.parameters)
        if discrepancy is None:
            self.discrepancy, _ = symmetric_discrepancy(self._comparer.measures, self.parameters)
        else:
            self.discrepancy = np.asarray(discrepancy)[np.ix_(self.mapped, self.mapped)]
        self.map = MapPlaces(self.discrepancy)
        self.follows = True
        self._uploads: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = threading.Lock()
        self._placed = lru_cache(maxsize=64)(self._laid_out)
        self._near = lru_cache(maxsize=256)(self._row)
        self._left_out = lru_cache(maxsize=1)(self._predicted)

    # ------------------------------------------------------------ graphs and their names

    def graph(self, key: str) -> Graph:
        """The graph with this key; raises `GraphError` if there is none."""
        if key.startswith("u:"):
            return self._kept(key).upload.graph
        if not (key.isascii() and key.isdigit()) or len(key) > 18 or int(key) >= len(self.graphs):
            what = "the numbers are" if self.graphs.names is None else "give a name or a number,"
            raise GraphError(f"there is no graph {key[:60]}; {what} 0 to {len(self.graphs) - 1}")
        return self.graphs[int(key)]

    def key_of(self, text: str) -> str:
        """The key that a user means by a name or a number, with or without the word "graph" before it."""
        names = self.graphs.names or ()
        if text in names:
            return str(names.index(text))
        mine = next((key for key in reversed(self.uploads) if self.name(key) == text), "")
        return mine or text.removeprefix("graph").strip()

    def name(self, key: str) -> str:
        """The name of a graph on the page."""
        if key.startswith("u:"):
            with self._lock:
                return self._uploads[key].upload.name if key in self._uploads else "an upload"
        return self.graphs.title(int(key))

    def target(self, key: str) -> str:
        """A graph's class or value as text; empty if it has none."""
        if key.startswith("u:") or self.graphs.targets is None:
            return ""
        value = self.graphs.targets[int(key)]
        return f"{value:.4g}" if self.continuous else str(value)

    def left_out(self) -> tuple[IntArray, FloatArray, FloatArray] | None:
        """Numbers of the graphs on the map with a value, each value predicted from the others, and its deviation.

        None if targets are not values, or too few to predict one from the others.
        """
        with self._lock:
            return self._left_out()

    def _predicted(self) -> tuple[IntArray, FloatArray, FloatArray] | None:
        from rwk.learn.exact_gp import left_out_values

        if not self.continuous:
            return None
        values = np.asarray(self.graphs.targets, np.float64)[self.mapped]
        known = np.flatnonzero(np.isfinite(values))
        if len(known) < LEAST_PREDICTED or float(np.ptp(values[known])) == 0.0:
            return None
        found = left_out_values(np.asarray(self.discrepancy, np.float64)[np.ix_(known, known)], values[known])
        return self.mapped[known], found.mean, np.sqrt(found.variance)

    def title(self, key: str) -> str:
        """The name of a graph, with its class or value if it has one."""
        target = self.target(key)
        return f"{self.name(key)} ({target})" if target else self.name(key)

    # ------------------------------------------------------------ uploads

    @property
    def uploads(self) -> tuple[str, ...]:
        """The keys of the uploaded graphs, oldest first."""
        with self._lock:
            return tuple(self._uploads)

    def add(self, name: str, graph: Graph) -> str:
        """Keep an uploaded graph until there are too many newer ones; returns its key."""
        fitted = fitted_to(graph, self.graphs)
        known = self._known(name[:40], fitted)
        if known:
            return known
        edges = has_comparable_edges(fitted, self.graphs) if self.graphs.edge_labels is not None else True
        if not edges and self.parameters.wl_edge_labels is True:
            raise GraphError(
                "the edge labels of your graph can't be compared with those of the set; leave out --wl-edge-labels"
            )
        row = self._comparer.row(fitted, self.start, edges=edges)
        own = self._comparer.own(fitted, edges=edges)
        place = self.map.place(row, own, None if edges else self._comparer.all_own())
        key = f"u:{secrets.token_hex(8)}"
        with self._lock:
            self._uploads[key] = _Kept(Upload(name[:40], fitted), edges, place)
            while len(self._uploads) > KEPT_UPLOADS:
                self._uploads.popitem(last=False)
        return key

    def _known(self, name: str, graph: Graph) -> str:
        """The key of an upload with this name and content, which becomes the newest; empty if there is none."""
        with self._lock:
            for key, kept in self._uploads.items():
                if kept.upload.name == name and _same(kept.upload.graph, graph):
                    self._uploads.move_to_end(key)
                    return key
        return ""

    def place(self, key: str) -> FloatArray | None:
        """Where a graph is on the map; None if it is not there."""
        if key.startswith("u:"):
            with self._lock:
                return self._uploads[key].place if key in self._uploads else None
        at = self._position(key)
        return None if at is None else np.asarray(self.map.places[at])

    def _kept(self, key: str) -> _Kept:
        with self._lock:
            if key not in self._uploads:
                raise GraphError("this upload is no longer kept; upload the graph again")
            return self._uploads[key]

    def _edges(self, *keys: str) -> bool:
        """Whether edge labels take part in comparing these graphs."""
        return all(self._kept(key).edges for key in keys if key.startswith("u:"))

    # ------------------------------------------------------------ comparing

    def solve(self, first: str, second: str, settings: Settings | None = None) -> SolvedPair:
        """Align two graphs, in this order, with the settings of the sliders."""
        settings = settings or self.start
        G, H = self.graph(first), self.graph(second)
        places = self._placed(first, second)
        edges = self._edges(first, second)
        start = time.perf_counter()
        solution = self._comparer.pair(G, H, settings, edges=edges)
        took = 1000 * (time.perf_counter() - start)
        note = "" if edges else "compared without edge labels, which your graph does not have in the set's form"
        return SolvedPair(G, H, solution, places, took, note)

    def neighbours(self, key: str, k: int = 8, settings: Settings | None = None) -> list[Neighbour]:
        """The k graphs nearest to a graph, among those of the map and the uploads, with the settings of the sliders."""
        self.graph(key)
        keys, values = self._near(key, settings or self.start, self.uploads)
        order = np.argsort(values, kind="stable")[:k]
        return [self._neighbour(key, keys[j], float(values[j])) for j in order.tolist()]

    def _neighbour(self, key: str, other: str, value: float) -> Neighbour:
        note = "" if self._edges(key) == self._edges(key, other) else "without edge labels"
        return Neighbour(other, self.name(other), self.target(other), value, note)

    def warm_up(self) -> None:
        """Solve once, so that the first click does not wait for compilation, and see how long a row takes."""
        last = str(self.mapped[-1])
        self.solve("0", last)
        taken = []
        for step in (0.05, 0.1):  # the first may wait for compilation
            start = time.perf_counter()
            self.neighbours(last, 1, replace(self.start, beta_local=self.start.beta_local + step))
            taken.append(time.perf_counter() - start)
            if taken[-1] < SLOW_ROW:
                break
        self.follows = min(taken) < SLOW_ROW

    def _position(self, key: str) -> int | None:
        at = np.flatnonzero(self.mapped == int(key)) if key.isdigit() else np.zeros(0, int)
        return int(at[0]) if len(at) else None

    def _row(self, key: str, settings: Settings, uploads: tuple[str, ...]) -> tuple[list[str], FloatArray]:
        """The other graphs, and their discrepancies to one."""
        graph, at, edges = self.graph(key), self._position(key), self._edges(key)
        if at is not None and settings == self.start:
            values = self.discrepancy[at]
        else:
            values = self._comparer.row(graph, settings, edges=edges)
        others: list[str] = []
        for with_labels in (True, False):
            same = [other for other in uploads if other != key and self._edges(key, other) is with_labels]
            graphs = [self.graph(other) for other in same]
            values = np.append(values, self._comparer.between(graph, graphs, settings, edges=with_labels))
            others += same
        kept = [j for j in range(len(self.mapped)) if j != at]
        return [*(str(self.mapped[j]) for j in kept), *others], np.delete(values, [] if at is None else [at])

    def _laid_out(self, first: str, second: str) -> tuple[FloatArray, FloatArray]:
        """Places of the nodes of both graphs; they do not change while the sliders move."""
        G, H = self.graph(first), self.graph(second)
        places = layout(G)
        coupling = self._comparer.pair(G, H, self.start, edges=self._edges(first, second)).coupling
        full = np.full((G.n_nodes, H.n_nodes), 1e-9)
        if coupling.shape == full.shape:
            full += coupling
        return places, matched_layout(H, places, full)


def _same(first: Graph, second: Graph) -> bool:
    """Whether two graphs are equal node by node and edge by edge."""
    names = ("edges", *NODE_FIELDS, *EDGE_FIELDS)
    return first.n_nodes == second.n_nodes and all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in names
    )


def _needed(graphs: GraphSet, parameters: Parameters) -> GraphSet:
    """The graphs without fields that no comparison uses, so that uploads need not have them."""
    labels = graphs.edge_labels if parameters.wl_edge_labels else None
    attributes = graphs.edge_attributes if parameters.structure == "edge-distance" else None
    return replace(graphs, edge_labels=labels, edge_attributes=attributes)


def _mapped(n: int, random_state: int | None) -> Any:
    if n <= MAX_MAPPED:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, MAX_MAPPED, replace=False))
