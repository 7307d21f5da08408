"""Graphs as plain packed records.

A `GraphSet` keeps all nodes of all graphs in one array and all edges in another; offsets say which slice
belongs to which graph. A `Graph` is one such slice. Both are records: they hold arrays and know how to cut and
join them. Where they come from is the business of `convert` and `datasets`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.display import card_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NODE_FIELDS = ("node_labels", "node_attributes", "node_weights")
EDGE_FIELDS = ("edge_weights", "edge_labels", "edge_attributes")

_KINDS = {"edges": np.dtype(np.int64), "node_labels": np.dtype(np.int64), "edge_labels": np.dtype(np.int64)} | {
    name: np.dtype(np.float64)
    for name in ("node_attributes", "node_weights", "edge_weights", "edge_attributes", "node_distances")
}


class GraphError(ValueError):
    """Graphs that can't be used, with a sentence that says what, where and what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """One undirected graph without self-loops.

    `edges` has shape (n_edges, 2); every edge stands once, smaller node first. Labels are integers (other labels
    are coded by `as_graphs`, `label_names` says what a code means); attributes are rows of floats; an edge without
    weight weighs 1; `node_distances` (n_nodes, n_nodes) are distances known from elsewhere, such as between atoms in
    space. What a graph does not have is None.

    >>> path = Graph(3, np.array([[0, 1], [1, 2]]), node_labels=np.array([6, 6, 8]))
    >>> path.n_edges, path.degrees.tolist()
    (2, [1.0, 2.0, 1.0])
    """

    n_nodes: int
    edges: IntArray
    node_labels: IntArray | None = None
    node_attributes: FloatArray | None = None
    node_weights: FloatArray | None = None
    edge_weights: FloatArray | None = None
    edge_labels: IntArray | None = None
    edge_attributes: FloatArray | None = None
    node_distances: FloatArray | None = None
    label_names: Mapping[int, str] | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            given = getattr(self, name)
            if given is not None and not (isinstance(given, np.ndarray) and given.dtype == kind):
                object.__setattr__(self, name, _numbers(given, kind, name.replace("_", " ")))
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            if self.edges.size:
                raise GraphError(f"edges must have two columns, not the shape {self.edges.shape}; give a row an edge")
            object.__setattr__(self, "edges", self.edges.reshape(0, 2))
        for name in ("node_attributes", "edge_attributes"):
            column = getattr(self, name)
            if column is not None and column.ndim == 1:
                object.__setattr__(self, name, column[:, None])

    @property
    def n_edges(self) -> int:
        return len(self.edges)

    @property
    def degrees(self) -> FloatArray:
        """Row sums of the (weighted) adjacency matrix."""
        weights = np.ones(self.n_edges) if self.edge_weights is None else self.edge_weights
        return np.bincount(self.edges.ravel(), weights=np.repeat(weights, 2), minlength=self.n_nodes).astype(np.float64)

    def adjacency(self) -> csr_array:
        """The symmetric, weighted adjacency matrix as a scipy sparse array."""
        from scipy.sparse import csr_array

        weights = np.ones(self.n_edges) if self.edge_weights is None else self.edge_weights
        rows, columns = self.edges.reshape(-1, 2).T
        ends = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
        return csr_array((np.concatenate([weights, weights]), ends), shape=(self.n_nodes, self.n_nodes))

    def permuted(self, order: Sequence[int] | IntArray) -> Graph:
        """The same graph with its nodes listed in another order: new node i is old node `order[i]`."""
        order = np.asarray(order, dtype=np.int64)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        node = {name: _rows(getattr(self, name), order) for name in NODE_FIELDS}
        edges = np.sort(place[self.edges.reshape(-1, 2)], axis=1)
        by_ends = np.lexsort((edges[:, 1], edges[:, 0]))
        edge = {name: _rows(getattr(self, name), by_ends) for name in EDGE_FIELDS}
        distances = _rows(self.node_distances, np.ix_(order, order))
        return replace(self, edges=edges[by_ends], node_distances=distances, **node, **edge)


@dataclass(frozen=True, slots=True, eq=False)
class GraphSet:
    """Many graphs in packed arrays; graph i owns nodes `node_offsets[i]:node_offsets[i + 1]`, likewise edges.

    Edge ends count from 0 inside each graph; `node_distances` are the graphs' distance matrices, flat, one after the
    other (`pair_offsets`); `n_self_loops` says how many loops were dropped from each graph on loading. Indexing with
    an integer gives a `Graph`, with a slice, mask or list of integers a `GraphSet`.

    >>> graphs = GraphSet.from_graphs([Graph(2, np.array([[0, 1]])), Graph(1, np.empty((0, 2), int))])
    >>> len(graphs), graphs.sizes.tolist(), graphs[0].n_edges
    (2, [2, 1], 1)
    """

    node_offsets: IntArray
    edge_offsets: IntArray
    edges: IntArray
    node_labels: IntArray | None = None
    node_attributes: FloatArray | None = None
    node_weights: FloatArray | None = None
    edge_weights: FloatArray | None = None
    edge_labels: IntArray | None = None
    edge_attributes: FloatArray | None = None
    node_distances: FloatArray | None = None
    targets: NDArray[Any] | None = None
    n_self_loops: IntArray | None = None
    label_names: Mapping[int, str] | None = None
    name: str = "graphs"

    @classmethod
    def from_graphs(
        cls, graphs: Iterable[Graph], *, targets: NDArray[Any] | None = None, name: str = "graphs"
    ) -> GraphSet:
        """Pack single graphs; what one graph has (labels, attributes ...) all must have."""
        graphs = list(graphs)
        if any(graph.edge_weights is not None for graph in graphs):
            graphs = [replace(g, edge_weights=np.ones(g.n_edges)) if g.edge_weights is None else g for g in graphs]
        packed = {field: _packed_field(graphs, field) for field in NODE_FIELDS + EDGE_FIELDS + ("node_distances",)}
        names: dict[int, str] = {}
        for graph in graphs:
            names.update(graph.label_names or {})
        return cls(
            node_offsets=_offsets(graph.n_nodes for graph in graphs),
            edge_offsets=_offsets(graph.n_edges for graph in graphs),
            edges=np.concatenate([np.empty((0, 2), np.int64), *(g.edges.reshape(-1, 2) for g in graphs)]),
            targets=targets,
            label_names=names or None,
            name=name,
            **packed,
        )

    @property
    def sizes(self) -> IntArray:
        """Number of nodes of each graph."""
        return np.diff(self.node_offsets)

    @property
    def n_edges(self) -> IntArray:
        """Number of edges of each graph."""
        return np.diff(self.edge_offsets)

    @property
    def pair_offsets(self) -> IntArray:
        """Where each graph's matrix begins in `node_distances`."""
        return _offsets(self.sizes**2)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Graph: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> GraphSet: ...
    def __getitem__(self, key: Any) -> Graph | GraphSet:
        if isinstance(key, int | np.integer):
            return self._one(int(key))
        chosen = np.arange(len(self))[key]
        return self._many(chosen)

    def _one(self, i: int) -> Graph:
        if not -len(self) <= i < len(self):
            raise IndexError(f"graph {i} was asked for, but there are {len(self)} graphs")
        i %= len(self)
        nodes = slice(self.node_offsets[i], self.node_offsets[i + 1])
        edges = slice(self.edge_offsets[i], self.edge_offsets[i + 1])
        n_nodes = int(nodes.stop - nodes.start)
        distances = self.node_distances
        if distances is not None:
            start = int((self.sizes[:i] ** 2).sum())
            distances = distances[start : start + n_nodes**2].reshape(n_nodes, n_nodes)
        return Graph(
            n_nodes=n_nodes,
            edges=self.edges[edges],
            node_distances=distances,
            label_names=self.label_names,
            **{name: _rows(getattr(self, name), nodes) for name in NODE_FIELDS},
            **{name: _rows(getattr(self, name), edges) for name in EDGE_FIELDS},
        )

    def _many(self, chosen: IntArray) -> GraphSet:
        nodes = _members(self.node_offsets, chosen)
        edges = _members(self.edge_offsets, chosen)
        pairs = None if self.node_distances is None else _members(self.pair_offsets, chosen)
        return replace(
            self,
            node_offsets=_offsets(self.sizes[chosen]),
            edge_offsets=_offsets(self.n_edges[chosen]),
            edges=self.edges[edges],
            node_distances=_rows(self.node_distances, pairs),
            targets=_rows(self.targets, chosen),
            n_self_loops=_rows(self.n_self_loops, chosen),
            **{name: _rows(getattr(self, name), nodes) for name in NODE_FIELDS},
            **{name: _rows(getattr(self, name), edges) for name in EDGE_FIELDS},
        )

    def __repr__(self) -> str:
        optional = (*NODE_FIELDS, *EDGE_FIELDS, "node_distances", "targets")
        has = [name for name in optional if getattr(self, name) is not None]
        sizes = f"{self.sizes.min()}-{self.sizes.max()} nodes" if len(self) else "empty"
        return f"GraphSet({self.name!r}, {len(self)} graphs, {sizes}; {', '.join(has) or 'structure only'})"

    def _repr_html_(self) -> str | None:
        return card_of("set", self)


def _rows(values: Any, chosen: Any) -> Any:
    return None if values is None else values[chosen]


def _offsets(lengths: Iterable[int] | IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))]).astype(np.int64)


def _members(offsets: IntArray, chosen: IntArray) -> IntArray:
    """Packed rows of the chosen graphs, in their order."""
    lengths = np.diff(offsets)[chosen]
    starts = np.repeat(offsets[:-1][chosen] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return np.asarray(starts + np.arange(lengths.sum()), dtype=np.int64)


def _numbers(given: Any, kind: np.dtype[Any], title: str) -> NDArray[Any]:
    """What was given as numbers of this kind, if it loses nothing by that."""
    try:
        values = np.asarray(given)
        with np.errstate(invalid="ignore"):
            numbers = values.astype(kind)
    except (TypeError, ValueError):
        raise GraphError(f"{title} must be an array of numbers; see rwk.as_graphs for what else there is") from None
    if kind == np.int64:
        different = numbers.ravel() != values.ravel()
        if different.any():
            wrong = values.ravel().tolist()[int(np.argmax(different))]
            raise GraphError(f"{title} must be whole numbers, not {wrong!r}; see rwk.as_graphs for what else there is")
    return numbers


def _packed_field(graphs: list[Graph], name: str) -> Any:
    title = name.replace("_", " ")
    # a graph without edges says nothing about its edges
    speaking = [i for i, graph in enumerate(graphs) if name not in EDGE_FIELDS or graph.n_edges]
    values = {i: getattr(graphs[i], name) for i in speaking}
    missing = [i for i, value in values.items() if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        has = next(i for i, value in values.items() if value is not None)
        raise GraphError(f"graph {has} has {title} and graph {missing[0]} has none; give them to all graphs or to none")
    if name == "node_distances":
        return np.concatenate([value.ravel() for value in values.values()])
    first = speaking[0]
    for i, value in values.items():
        if value.shape[1:] != values[first].shape[1:]:
            raise GraphError(
                f"{title}: graph {first} has {values[first].shape[1]} columns and graph {i} has "
                f"{value.shape[1]}; make them alike"
            )
    return np.concatenate(list(values.values()))
