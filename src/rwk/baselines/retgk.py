"""RetGK: nodes are described by the return probabilities of random walks, graphs by the distribution of their nodes.

The mean node kernel between two graphs is summed over blocks of nodes. The kernel of nodes with different labels is 0,
so the sum goes over one label after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from rwk.baselines.base import BOTH, GraphKernel
from rwk.baselines.histograms import owners
from rwk.baselines.node_features import Standard, check_same_data, standard_of
from rwk.graphs import Graph, GraphSet
from rwk.runtime.arrays import FloatArray, IntArray

NODES_PER_BLOCK: Final = 2048
SAMPLED_NODES: Final = 1500
ROUNDING: Final = 1e-12  # smaller squares are set to 0, because a square root would magnify their rounding errors


class ReturnNodes(NamedTuple):
    """All nodes of a set, in units of the fitted medians."""

    returns: FloatArray  # (V, steps)
    attributes: FloatArray | None  # (V, d)
    labels: IntArray | None
    owner: IntArray
    n_graphs: int
    own: FloatArray  # mean node kernel inside each graph


class RetGK(GraphKernel):
    """RetGK: exp(−MMD / median) with the maximum mean discrepancy (MMD) between the nodes of two graphs.

    The node kernel is exp(−‖f − g‖ / median) of the return probabilities f and g, times 1 or 0 for equal or different
    labels, times exp(−‖x − y‖ / median) of the standardised attributes, if graphs have them. Medians are those of the
    fitted graphs.

    Parameters
    ----------
    steps : int, default 50
        Length of the random walks.
    random_state : int, default 0
        Seed of the sample of nodes that the medians are taken from.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> K = RetGK(steps=5).fit_transform(as_graphs([nx.path_graph(3), nx.path_graph(4), nx.cycle_graph(4)]))
    >>> K.diagonal().tolist()
    [1.0, 1.0, 1.0]
    """

    title: ClassVar[str] = "RetGK"
    reference: ClassVar[str] = (
        "Z. Zhang, M. Wang, Y. Xiang, Y. Huang, A. Nehorai. "
        "RetGK: graph kernels based on return probabilities of random walks. NeurIPS 2018."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = BOTH
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def __init__(self, *, steps: int = 50, random_state: int = 0) -> None:
        self.steps = steps
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Describe the nodes, and learn the medians; y is ignored."""
        graphs = self._checked(X)
        returns = all_returns(graphs, self.steps)
        chosen = _sample(len(returns), self.random_state)
        self.with_labels_ = graphs.node_labels is not None
        self.returns_unit_ = _median_distance(returns[chosen])
        self.standard_: Standard | None = None
        if graphs.node_attributes is not None:
            self.standard_ = standard_of(graphs.node_attributes)
            self.attributes_unit_ = _median_distance(self.standard_.apply(graphs.node_attributes[chosen]))
        self.fitted_ = self._nodes(graphs, returns)
        self.n_graphs_ = len(graphs)
        self.unit_: float | None = None  # the median MMD, computed with the first matrix
        return self

    def _represent(self, graphs: GraphSet) -> ReturnNodes:
        return self._nodes(graphs, all_returns(graphs, self.steps))

    def _nodes(self, graphs: GraphSet, returns: FloatArray) -> ReturnNodes:
        check_same_data(graphs.node_attributes, self.standard_ is not None)
        attributes = None
        if self.standard_ is not None:
            assert graphs.node_attributes is not None
            attributes = self.standard_.apply(graphs.node_attributes) / self.attributes_unit_
        nodes = ReturnNodes(
            returns=returns / self.returns_unit_,
            attributes=attributes,
            labels=graphs.node_labels if self.with_labels_ else None,
            owner=owners(graphs),
            n_graphs=len(graphs),
            own=np.empty(0),
        )
        return nodes._replace(own=_own_means(nodes, graphs.node_offsets))

    def _compare(self, rows: ReturnNodes, columns: ReturnNodes | None) -> FloatArray:
        if self.unit_ is None:
            distances = _mmd(self.fitted_, self.fitted_)
            upper = distances[np.triu_indices(len(distances), 1)]
            upper = upper[upper > 0]
            self.unit_ = float(np.median(upper)) if len(upper) else 1.0
            if columns is None:
                return np.asarray(np.exp(-distances / self.unit_))
        return np.asarray(np.exp(-_mmd(rows, rows if columns is None else columns) / self.unit_))


def return_probabilities(graph: Graph, steps: int) -> FloatArray:
    """Probabilities that lazy random walks are back after 1..`steps` steps, shape (nodes, steps).

    >>> return_probabilities(Graph(2, np.array([[0, 1]])), 2).round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    # D^-1 (A + I) has the spectrum of the symmetric D^-1/2 (A + I) D^-1/2, and the same diagonal of powers
    adjacency = graph.adjacency().toarray() + np.eye(graph.n_nodes)
    root = np.sqrt(adjacency.sum(axis=1))
    values, vectors = np.linalg.eigh(adjacency / np.outer(root, root))
    powers = values[:, None] ** np.arange(1, steps + 1)
    return np.asarray(vectors**2 @ powers)


def all_returns(graphs: GraphSet, steps: int) -> FloatArray:
    """Return probabilities of the nodes of all graphs, shape (nodes, steps)."""
    return np.concatenate([return_probabilities(graph, steps) for graph in graphs])


def _mmd(rows: ReturnNodes, columns: ReturnNodes) -> FloatArray:
    """Maximum mean discrepancy of all pairs of graphs; exactly symmetric if rows and columns are the same."""
    means = _sums(rows, columns) / np.outer(_sizes(rows), _sizes(columns))
    if rows is columns:
        means = np.triu(means) + np.triu(means, 1).T
    squares = rows.own[:, None] + columns.own[None, :] - 2.0 * means
    if rows is columns:
        np.fill_diagonal(squares, 0.0)
    return np.asarray(np.sqrt(np.where(squares > ROUNDING, squares, 0.0)))


def _sums(rows: ReturnNodes, columns: ReturnNodes) -> FloatArray:
    """Sum of the node kernel over all pairs of nodes, for each pair of graphs."""
    total = np.zeros((rows.n_graphs, columns.n_graphs))
    if rows.labels is None or columns.labels is None:
        _add_blocks(total, rows, columns, same=rows is columns)
        return total
    for label in np.intersect1d(rows.labels, columns.labels):
        left = _chosen(rows, rows.labels == label)
        right = left if rows is columns else _chosen(columns, columns.labels == label)
        _add_blocks(total, left, right, same=rows is columns)
    return total


def _add_blocks(total: FloatArray, rows: ReturnNodes, columns: ReturnNodes, *, same: bool) -> None:
    """Add the node kernel of all pairs of nodes to `total`; for equal sets, only the upper triangle is complete."""
    for a in range(0, len(rows.owner), NODES_PER_BLOCK):
        left = _chosen(rows, slice(a, a + NODES_PER_BLOCK))
        for c in range(a if same else 0, len(columns.owner), NODES_PER_BLOCK):
            right = _chosen(columns, slice(c, c + NODES_PER_BLOCK))
            kernel = _node_kernel(left, right)
            starts, ends = (np.flatnonzero(np.diff(nodes.owner, prepend=-1)) for nodes in (left, right))
            sums = np.add.reduceat(np.add.reduceat(kernel, ends, axis=1), starts, axis=0)
            total[np.ix_(left.owner[starts], right.owner[ends])] += sums


def _node_kernel(rows: ReturnNodes, columns: ReturnNodes) -> FloatArray:
    exponent = _distances(rows.returns, columns.returns)
    if rows.attributes is not None and columns.attributes is not None:
        exponent += _distances(rows.attributes, columns.attributes)
    return np.asarray(np.exp(np.negative(exponent, out=exponent), out=exponent))


def _own_means(nodes: ReturnNodes, offsets: IntArray) -> FloatArray:
    means = np.empty(nodes.n_graphs)
    for i in range(nodes.n_graphs):
        mine = _chosen(nodes, slice(offsets[i], offsets[i + 1]))
        kernel = _node_kernel(mine, mine)
        if mine.labels is not None:
            kernel *= mine.labels[:, None] == mine.labels[None, :]
        means[i] = kernel.mean()
    return means


def _distances(x: FloatArray, y: FloatArray) -> FloatArray:
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2.0 * (x @ y.T)
    squares[squares < ROUNDING * max(1.0, float(squares.max(initial=0.0)))] = 0.0
    return np.asarray(np.sqrt(squares, out=squares))


def _median_distance(rows: FloatArray) -> float:
    distances = _distances(rows, rows)[np.triu_indices(len(rows), 1)]
    distances = distances[distances > 1e-8]
    return float(np.median(distances)) if len(distances) else 1.0


def _sample(n_nodes: int, seed: int) -> IntArray:
    """A sample of the nodes, or all if they are few."""
    size = min(n_nodes, SAMPLED_NODES)
    return np.sort(np.random.default_rng(seed).choice(n_nodes, size, replace=False))


def _chosen(nodes: ReturnNodes, at: Any) -> ReturnNodes:
    return nodes._replace(
        returns=nodes.returns[at],
        attributes=None if nodes.attributes is None else nodes.attributes[at],
        labels=None if nodes.labels is None else nodes.labels[at],
        owner=nodes.owner[at],
    )


def _sizes(nodes: ReturnNodes) -> FloatArray:
    return np.bincount(nodes.owner, minlength=nodes.n_graphs).astype(np.float64)
