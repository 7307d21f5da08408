"""One graph as a plain record: `Graph`, the names of its fields, and the error for graphs that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.parameter_checks import shown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NODE_FIELDS = ("node_labels", "node_attributes", "node_weights")
EDGE_FIELDS = ("edge_weights", "edge_labels", "edge_attributes")
MOST_NODES = 2**31  # a pair of nodes must fit one 64-bit integer

_KINDS = {"edges": np.dtype(np.int64), "node_labels": np.dtype(np.int64), "edge_labels": np.dtype(np.int64)} | {
    name: np.dtype(np.float64)
    for name in ("node_attributes", "node_weights", "edge_weights", "edge_attributes", "node_distances")
}
_DIMENSIONS = {"attributes": (2,), "distances": (1, 2)}  # of an array; others have one


class GraphError(ValueError):
    """Raised for graphs that cannot be used; the message says what is wrong, in which graph, and what to do.

    Examples
    --------
    >>> import rwk
    >>> rwk.as_graphs([[[0, 1], [1, 0]], None])
    Traceback (most recent call last):
    rwk.graphs.graph.GraphError: graph 1 is None, which is not a graph; see the help of as_graphs
    """


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """One undirected graph without self-loops.

    Nodes are numbered from 0. Fields that a graph does not have are None.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : int array of shape (n_edges, 2)
        The two nodes of each edge, the smaller one first; each edge is listed once.
    node_labels : int array of shape (n_nodes,), optional
        Discrete labels. `as_graphs` turns other labels, such as strings, into integers.
    node_attributes : float array of shape (n_nodes, d), optional
        Continuous attributes, one row per node.
    node_weights : float array of shape (n_nodes,), optional
        Mass of each node, 0 or more; normalised to sum 1 when the graph is compared. Uniform if None.
    edge_weights : float array of shape (n_edges,), optional
        Weights of the adjacency matrix, 0 or more. All 1 if None.
    edge_labels : int array of shape (n_edges,), optional
        Discrete labels of the edges.
    edge_attributes : float array of shape (n_edges, d), optional
        Continuous attributes, one row per edge.
    node_distances : float array of shape (n_nodes, n_nodes), optional
        Known distances between nodes, such as those between atoms in space.
    label_names : mapping of int to str, optional
        The text behind each label code.
    node_names : tuple of length n_nodes, optional
        What the nodes are called where the graph comes from, such as the nodes of a networkx graph. None if they are
        numbered from 0 there too.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph
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
    node_names: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_nodes, Integral) or not 0 <= self.n_nodes < MOST_NODES:
            raise GraphError(
                f"n_nodes={shown(self.n_nodes)} is not a number of nodes; it must be whole and below 2**31"
            )
        for name, kind in _KINDS.items():
            given = getattr(self, name)
            if given is not None and not (isinstance(given, np.ndarray) and given.dtype == kind):
                object.__setattr__(self, name, _numbers(given, kind, name.replace("_", " ")))
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            if self.edges.size:
                raise GraphError(f"edges must have two columns, not shape {self.edges.shape}; give one row per edge")
            object.__setattr__(self, "edges", self.edges.reshape(0, 2))
        for name in ("node_attributes", "edge_attributes"):
            column = getattr(self, name)
            if column is not None and column.ndim == 1:
                object.__setattr__(self, name, column[:, None])
        for name in (*NODE_FIELDS, *EDGE_FIELDS, "node_distances"):
            values = getattr(self, name)
            if values is not None and values.ndim not in _DIMENSIONS.get(name.partition("_")[2], (1,)):
                what = name.partition("_")[0]
                raise GraphError(f"{name.replace('_', ' ')} can't have shape {values.shape}; give one row per {what}")

    @property
    def n_edges(self) -> int:
        """Number of edges."""
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
        rows, columns = self.edges.reshape(-1, 2).T.astype(np.int32)  # the paths of SciPy 1.12 take no others
        ends = (np.concatenate([rows, columns]), np.concatenate([columns, rows]))
        return csr_array((np.concatenate([weights, weights]), ends), shape=(self.n_nodes, self.n_nodes))

    def permuted(self, order: Sequence[int] | IntArray) -> Graph:
        """The same graph with its nodes listed in another order: new node i is old node `order[i]`."""
        order = np.asarray(order, dtype=np.int64)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        node = {name: rows_of(getattr(self, name), order) for name in NODE_FIELDS}
        edges = np.sort(place[self.edges.reshape(-1, 2)], axis=1)
        by_ends = np.lexsort((edges[:, 1], edges[:, 0]))
        edge = {name: rows_of(getattr(self, name), by_ends) for name in EDGE_FIELDS}
        distances = rows_of(self.node_distances, np.ix_(order, order))
        names = None if self.node_names is None else tuple(self.node_names[i] for i in order)
        return replace(self, edges=edges[by_ends], node_distances=distances, node_names=names, **node, **edge)


def rows_of(values: Any, chosen: Any) -> Any:
    """The chosen rows of an array, or None if there is no array."""
    return None if values is None else values[chosen]


def _numbers(given: Any, kind: np.dtype[Any], title: str) -> NDArray[Any]:
    """The given values converted to this dtype; raises if the conversion would change a value."""
    try:
        values = np.asarray(given)
        if values.dtype.kind in "mMc":  # times and complex numbers
            raise TypeError
        with np.errstate(invalid="ignore"):
            numbers = values.astype(kind)
    except OverflowError:
        raise GraphError(f"{title} must be numbers that fit 64 bits; give smaller numbers, or labels as text") from None
    except (TypeError, ValueError):
        raise GraphError(f"{title} must be an array of numbers; rwk.as_graphs converts other forms") from None
    if kind == np.int64:
        different = numbers.ravel() != values.ravel()
        if different.any():
            wrong = values.ravel().tolist()[int(np.argmax(different))]
            raise GraphError(f"{title} must be whole numbers, not {wrong!r}; rwk.as_graphs converts other labels")
    return numbers
