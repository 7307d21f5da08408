"""Many graphs as one packed record: `GraphSet`.

The nodes of all graphs are in one array and the edges in another; offsets say which slice belongs to which graph. A
`GraphSet` holds arrays and knows how to select from them and join them; `convert` and `datasets` make them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rwk.graphs.graph import EDGE_FIELDS, NODE_FIELDS, Graph, GraphError, rows_of
from rwk.runtime.arrays import FloatArray, IntArray, offsets_of
from rwk.runtime.display import card_of


@dataclass(frozen=True, slots=True, eq=False)
class GraphSet:
    """Many graphs in packed arrays.

    Make one with `as_graphs`, `load_dataset` or `GraphSet.from_graphs`. Indexing with an integer gives a `Graph`;
    indexing with a slice, a mask or a list of integers gives a `GraphSet`. Fields that the graphs do not have are None;
    the fields of nodes and edges mean what they mean in `Graph`.

    Parameters
    ----------
    node_offsets : int array of shape (n_graphs + 1,)
        Graph i owns the nodes `node_offsets[i]:node_offsets[i + 1]`.
    edge_offsets : int array of shape (n_graphs + 1,)
        Graph i owns the edges `edge_offsets[i]:edge_offsets[i + 1]`.
    edges : int array of shape (n_edges, 2)
        The two nodes of each edge, numbered from 0 inside each graph.
    node_labels, node_attributes, node_weights : arrays, optional
        One row per node, over all graphs.
    edge_weights, edge_labels, edge_attributes : arrays, optional
        One row per edge, over all graphs.
    node_distances : float array, optional
        The distance matrices of the graphs, flattened, one after the other; `pair_offsets` says where each begins.
    targets : array of length n_graphs, optional
        Class or value of each graph.
    n_self_loops : int array of shape (n_graphs,), optional
        How many self-loops were dropped from each graph on loading.
    label_names : mapping of int to str, optional
        The text behind each label code.
    name : str
        Name of the set, used in tables and reports.
    names : tuple of n_graphs str, optional
        Name of each graph, shown in place of its number. `graphs["aspirin"]` is the graph of that name.
    node_names : tuple of n_graphs tuples or None, optional
        Names of the nodes of each graph; None for graphs whose nodes are numbered.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph, GraphSet
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
    names: tuple[str, ...] | None = None
    node_names: tuple[tuple[Any, ...] | None, ...] | None = None

    @classmethod
    def from_graphs(
        cls,
        graphs: Iterable[Graph],
        *,
        targets: NDArray[Any] | None = None,
        name: str = "graphs",
        names: Iterable[str] | None = None,
    ) -> GraphSet:
        """Pack single graphs into one set.

        Parameters
        ----------
        graphs : iterable of Graph
            The graphs; if one has labels, attributes or weights of some kind, all must have them. Edge weights are an
            exception: graphs without them get weights 1.
        targets : array of length n_graphs, optional
            Class or value of each graph.
        name : str
            Name of the set.
        names : iterable of n_graphs str, optional
            Name of each graph.

        Returns
        -------
        GraphSet
        """
        graphs = list(graphs)
        if any(graph.edge_weights is not None for graph in graphs):
            graphs = [replace(g, edge_weights=np.ones(g.n_edges)) if g.edge_weights is None else g for g in graphs]
        packed = {field: _packed_field(graphs, field) for field in NODE_FIELDS + EDGE_FIELDS + ("node_distances",)}
        label_names: dict[int, str] = {}
        for graph in graphs:
            label_names.update(graph.label_names or {})
        return cls(
            node_offsets=offsets_of(graph.n_nodes for graph in graphs),
            edge_offsets=offsets_of(graph.n_edges for graph in graphs),
            edges=np.concatenate([np.empty((0, 2), np.int64), *(g.edges.reshape(-1, 2) for g in graphs)]),
            targets=targets,
            label_names=label_names or None,
            name=name,
            names=None if names is None else tuple(names),
            node_names=tuple(g.node_names for g in graphs) if any(g.node_names for g in graphs) else None,
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
        return offsets_of(self.sizes**2)

    @property
    def packed_edges(self) -> IntArray:
        """The edges with nodes numbered over all graphs: indices into the arrays of nodes."""
        return np.asarray(self.edges + np.repeat(self.node_offsets[:-1], self.n_edges)[:, None])

    def title(self, i: int) -> str:
        """The name of graph i, or "graph i" if the graphs have no names."""
        return graph_title(self.names, i)

    def __len__(self) -> int:
        return len(self.node_offsets) - 1

    def __iter__(self) -> Iterator[Graph]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int | str | np.integer[Any]) -> Graph: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> GraphSet: ...
    def __getitem__(self, key: Any) -> Graph | GraphSet:
        if isinstance(key, int | np.integer):
            return self._one(int(key))
        if isinstance(key, str):
            return self._one(self._number(key))
        chosen = np.arange(len(self))[key]
        return self._many(chosen)

    def _number(self, name: str) -> int:
        """The number of the graph with this name."""
        if name not in (self.names or ()):
            known = ", ".join(map(repr, (self.names or ())[:6])) or "the graphs have none"
            raise KeyError(f"no graph is named {name!r}; the names are: {known}")
        return (self.names or ()).index(name)

    def _one(self, i: int) -> Graph:
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i} is out of range: there are {len(self)} graphs")
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
            node_names=None if self.node_names is None else self.node_names[i],
            **{name: rows_of(getattr(self, name), nodes) for name in NODE_FIELDS},
            **{name: rows_of(getattr(self, name), edges) for name in EDGE_FIELDS},
        )

    def _many(self, chosen: IntArray) -> GraphSet:
        nodes = _members(self.node_offsets, chosen)
        edges = _members(self.edge_offsets, chosen)
        pairs = None if self.node_distances is None else _members(self.pair_offsets, chosen)
        return replace(
            self,
            node_offsets=offsets_of(self.sizes[chosen]),
            edge_offsets=offsets_of(self.n_edges[chosen]),
            edges=self.edges[edges],
            node_distances=rows_of(self.node_distances, pairs),
            targets=rows_of(self.targets, chosen),
            n_self_loops=rows_of(self.n_self_loops, chosen),
            names=None if self.names is None else tuple(self.names[i] for i in chosen),
            node_names=None if self.node_names is None else tuple(self.node_names[i] for i in chosen),
            **{name: rows_of(getattr(self, name), nodes) for name in NODE_FIELDS},
            **{name: rows_of(getattr(self, name), edges) for name in EDGE_FIELDS},
        )

    def __repr__(self) -> str:
        optional = (*NODE_FIELDS, *EDGE_FIELDS, "node_distances", "targets", "names")
        has = [name for name in optional if getattr(self, name) is not None]
        sizes = f"{self.sizes.min()}-{self.sizes.max()} nodes" if len(self) else "empty"
        return f"GraphSet({self.name!r}, {len(self)} graphs, {sizes}; {', '.join(has) or 'structure only'})"

    def _repr_html_(self) -> str | None:
        return card_of("set", self)


def graph_title(names: Sequence[str] | None, i: int) -> str:
    """The name of graph i, or "graph i" if there are no names.

    >>> graph_title(None, 3), graph_title(("aspirin", "ibuprofen"), 1)
    ('graph 3', 'ibuprofen')
    """
    return f"graph {i}" if names is None else names[i]


def _members(offsets: IntArray, chosen: IntArray) -> IntArray:
    """Packed rows of the chosen graphs, in the order of `chosen`."""
    lengths = np.diff(offsets)[chosen]
    starts = np.repeat(offsets[:-1][chosen] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    return np.asarray(starts + np.arange(lengths.sum()), dtype=np.int64)


def _packed_field(graphs: list[Graph], name: str) -> Any:
    """The field of all graphs in one array; None if no graph has it, an error if only some have."""
    title = name.replace("_", " ")
    # a graph without edges needs no edge fields
    concerned = [i for i, graph in enumerate(graphs) if name not in EDGE_FIELDS or graph.n_edges]
    values = {i: getattr(graphs[i], name) for i in concerned}
    missing = [i for i, value in values.items() if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        has = next(i for i, value in values.items() if value is not None)
        raise GraphError(f"graph {has} has {title} and graph {missing[0]} has none; give them to all graphs or to none")
    if name == "node_distances":
        return np.concatenate([value.ravel() for value in values.values()])
    first = concerned[0]
    for i, value in values.items():
        if value.shape[1:] != values[first].shape[1:]:
            raise GraphError(
                f"{title}: graph {first} has {values[first].shape[1]} columns and graph {i} has "
                f"{value.shape[1]}; make them alike"
            )
    return np.concatenate(list(values.values()))
