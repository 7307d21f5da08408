"""GraphHopper kernel (GHK): nodes at the same position of shortest paths of equal length are compared.

M(v)[i, j] counts the shortest paths with j edges that have v at position i. The matrix is stored as one row, entry
(i, j) at j(j + 1)/2 + i, so that a graph of smaller diameter fills only the beginning of a longer row.

With a linear or Dirac node kernel, Σ <M(v), M(w)> <x, y> is the inner product of Σ_v M(v) ⊗ x of the two graphs: one
sparse row per graph. With a Gaussian node kernel every pair of nodes is compared, in dense blocks. For attributes and
labels together, either is multiplied by 1 or 0 for equal or different labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from rwk.baselines.base import EITHER, GraphKernel, cosine, kept, setting_name
from rwk.baselines.histograms import PAIR_SALT, Histograms, histograms, inner_products, join_columns, square_norms
from rwk.baselines.node_features import Standard, check_same_data, labels_or_degrees, standard_of
from rwk.baselines.paths import neighbour_lists, search_from
from rwk.graphs import Graph, GraphSet
from rwk.graphs.colours import mix
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled_loosely

NODE_KERNELS: Final = ("linear", "gaussian", "dirac")
NODES_PER_BLOCK: Final = 2048


class HopperNodes(NamedTuple):
    """Path counts and attributes of all nodes, graphs in order of their diameter."""

    paths: list[FloatArray]  # (nodes, positions) of each graph
    attributes: list[FloatArray]
    labels: list[IntArray] | None  # None if nodes are compared whatever their labels
    order: IntArray  # order[k] is the number of the k-th graph


class GHK(GraphKernel):
    """GraphHopper kernel: Σ over pairs of nodes of <M(v), M(w)> k(v, w), M(v) counting shortest paths through v.

    Graphs without attributes are compared by their labels, or degrees if they have no labels.

    Parameters
    ----------
    node_kernel : {"linear", "gaussian", "dirac"}, default "linear"
        The kernel k of two nodes: "linear" and "gaussian" (exp(−‖x−y‖² / d) for d attributes) compare attributes,
        "dirac" compares labels.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What nodes are compared by. "both" multiplies the kernel of attributes by 1 or 0 for equal or different labels.
        "labels" is the node kernel "dirac". "auto" is "attributes" if there are any, otherwise "labels".
    standardize : bool, default True
        Whether to scale attributes to mean 0 and deviation 1 over the fitted graphs.
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> graphs = as_graphs([nx.path_graph(2), nx.path_graph(3)])
    >>> GHK(normalize=False).fit_transform(graphs).tolist()  # degrees 1, 1 and 1, 2, 1
    [[12.0, 12.0], [12.0, 33.0]]
    """

    title: ClassVar[str] = "GHK"
    reference: ClassVar[str] = (
        "A. Feragen, N. Kasenburg, J. Petersen, M. de Bruijne, K. Borgwardt. "
        "Scalable kernels for graphs with continuous attributes. NIPS 2013."
    )
    accepts: ClassVar[tuple[str, ...]] = ("attributes", "labels", "structure")
    sees: ClassVar[str] = EITHER
    together: ClassVar[tuple[str, ...]] = ("node_kernel", "normalize")
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"node_kernel": ("linear", "gaussian"), "normalize": (True, False)}
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {"features": ("labels", "attributes", "both")}

    def __init__(
        self, *, node_kernel: str = "linear", features: str = "auto", standardize: bool = True, normalize: bool = True
    ) -> None:
        self.node_kernel = node_kernel
        self.features = features
        self.standardize = standardize
        self.normalize = normalize

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings_of`; labels alone are compared by the Dirac kernel only."""
        graphs = self._graphs(X)
        tried = self.grid_for(graphs, fair=fair)
        of_labels = graphs.node_attributes is None or shared.get("features") == "labels"
        for node_kernel in ("dirac",) if of_labels else tried["node_kernel"]:
            plain = self._variant({"node_kernel": node_kernel, "normalize": False, **shared})
            gram = plain.fit_transform(graphs)
            own = gram.diagonal()
            for normalize in tried["normalize"]:
                name = setting_name({"node_kernel": node_kernel, "normalize": normalize, **shared})
                yield name, kept(cosine(gram, own, own) if normalize else gram)

    def _learn(self, graphs: GraphSet) -> None:
        if self.node_kernel not in NODE_KERNELS:
            raise ValueError(f"node_kernel={self.node_kernel!r} is not known: it must be one of {NODE_KERNELS}")
        if self.node_kernel == "dirac" and self.features in ("attributes", "both"):
            raise ValueError(f"node_kernel='dirac' compares labels only; use another with features={self.features!r}")
        self.standard_: Standard | None = None
        if graphs.node_attributes is not None and self.node_kernel != "dirac":
            self.standard_ = standard_of(graphs.node_attributes, standardize=self.standardize)

    def _represent(self, graphs: GraphSet) -> Histograms | HopperNodes:
        paths = [path_counts(graph) for graph in graphs]
        if self.standard_ is None:
            return _label_counts(paths, labels_or_degrees(graphs))
        check_same_data(graphs.node_attributes, fitted=True)
        assert graphs.node_attributes is not None
        attributes = np.split(self.standard_.apply(graphs.node_attributes), graphs.node_offsets[1:-1])
        labels: list[IntArray] | None = None
        if self.features == "both":
            labels = np.split(labels_or_degrees(graphs), graphs.node_offsets[1:-1])
        if self.node_kernel == "gaussian":
            order = np.argsort([block.shape[1] for block in paths], kind="stable")
            sorted_labels = None if labels is None else [labels[i] for i in order]
            return HopperNodes([paths[i] for i in order], [attributes[i] for i in order], sorted_labels, order)
        return _attribute_counts(paths, attributes) if labels is None else _both_counts(paths, attributes, labels)

    def _compare(self, rows: Any, columns: Any) -> FloatArray:
        if isinstance(rows, Histograms):
            gram = inner_products(rows, columns)
            own = [square_norms(rows), square_norms(rows if columns is None else columns)]
        else:
            gram = _gaussian(rows, rows if columns is None else columns)
            own = [_own_gaussian(rows), _own_gaussian(rows if columns is None else columns)]
        return cosine(gram, *own) if self.normalize else gram


def path_counts(graph: Graph) -> FloatArray:
    """M of every node, one row each, shape (nodes, positions).

    >>> path_counts(Graph(2, np.array([[0, 1]]))).tolist()  # itself; first and last of a path of one edge
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    return np.asarray(_path_counts(*neighbour_lists(graph)))


@compiled_loosely
def _path_counts(first: Any, neighbours: Any) -> Any:
    n = len(first) - 1
    depth, ways, queue = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
    below = np.zeros((n, n))  # below[v, l]: continuations of shortest paths from the source by l edges after v
    counts = np.zeros((n, n * (n + 1) // 2 if n < 64 else 2080))
    longest = 0
    for source in range(n):
        reached = search_from(source, first, neighbours, depth, ways, queue)
        deepest = depth[queue[reached - 1]]
        longest = max(longest, deepest)
        places = (deepest + 1) * (deepest + 2) // 2
        if places > counts.shape[1]:
            wider = np.zeros((n, places))
            wider[:, : counts.shape[1]] = counts
            counts = wider
        for k in range(reached - 1, -1, -1):  # from the far end back
            v = queue[k]
            reach = deepest - depth[v] + 1
            below[v, :reach] = 0.0
            below[v, 0] = 1.0
            for at in range(first[v], first[v + 1]):
                w = neighbours[at]
                if depth[w] == depth[v] + 1:
                    for l in range(1, reach):
                        below[v, l] += below[w, l - 1]
            for l in range(reach):
                j = depth[v] + l
                counts[v, j * (j + 1) // 2 + depth[v]] += ways[v] * below[v, l]
    return counts[:, : (longest + 1) * (longest + 2) // 2].copy()


def _label_counts(paths: list[FloatArray], labels: IntArray) -> Histograms:
    """Σ of M(v) over the nodes of each label."""
    owner, keys, weights, start = [], [], [], 0
    for i, block in enumerate(paths):
        present, at = np.unique(labels[start : start + len(block)], return_inverse=True)
        sums = np.zeros((len(present), block.shape[1]))
        np.add.at(sums, at, block)
        named = mix(present.astype(np.uint64))[:, None] + np.arange(block.shape[1], dtype=np.uint64) * PAIR_SALT
        filled = sums > 0
        keys.append(mix(named[filled]))
        weights.append(sums[filled])
        owner.append(np.full(len(weights[-1]), i))
        start += len(block)
    return histograms(np.concatenate(owner), np.concatenate(keys), len(paths), np.concatenate(weights))


def _attribute_counts(paths: list[FloatArray], attributes: list[FloatArray]) -> Histograms:
    """Σ of M(v) ⊗ x(v) over the nodes; columns are the positions of the graph with the longest paths."""
    from scipy.sparse import csr_array

    width = attributes[0].shape[1]
    rows = np.zeros((len(paths), max(block.shape[1] for block in paths) * width))
    for i, (block, x) in enumerate(zip(paths, attributes, strict=True)):
        rows[i, : block.shape[1] * width] = (block.T @ x).ravel()
    return Histograms(csr_array(rows), np.arange(rows.shape[1], dtype=np.uint64))


def _both_counts(paths: list[FloatArray], attributes: list[FloatArray], labels: list[IntArray]) -> Histograms:
    """Σ of M(v) ⊗ x(v) over the nodes of each label."""
    present = np.unique(np.concatenate(labels))
    parts = []
    for label, named in zip(present, mix(present.astype(np.int64).view(np.uint64)), strict=True):
        chosen = [x * (own == label)[:, None] for x, own in zip(attributes, labels, strict=True)]
        counts = _attribute_counts(paths, chosen)
        parts.append(counts._replace(keys=mix(named + counts.keys * PAIR_SALT)))
    return join_columns(parts)


def _gaussian(rows: HopperNodes, columns: HopperNodes) -> FloatArray:
    """Σ <M(v), M(w)> exp(−‖x−y‖²/d), by pairs of blocks of graphs."""
    gram = np.zeros((len(rows.order), len(columns.order)))
    for a, b in _blocks(rows):
        left = _padded(rows, a, b)
        for c, d in _blocks(columns):
            if rows is columns and d <= a:
                continue  # the mirror image is there already
            block = _block_sums(left, _padded(columns, c, d))
            gram[np.ix_(rows.order[a:b], columns.order[c:d])] = block
            if rows is columns and c >= b:
                gram[np.ix_(columns.order[c:d], rows.order[a:b])] = block.T
    return gram


def _own_gaussian(nodes: HopperNodes) -> FloatArray:
    own = np.empty(len(nodes.order))
    for k, i in enumerate(nodes.order):
        block = _padded(nodes, k, k + 1)
        own[i] = _block_sums(block, block)[0, 0]
    return own


def _blocks(nodes: HopperNodes) -> list[tuple[int, int]]:
    """First and last graph of blocks with about NODES_PER_BLOCK nodes each."""
    filled = np.cumsum([len(block) for block in nodes.paths]) // NODES_PER_BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(filled)) + 1), len(filled)]
    return [(int(a), int(b)) for a, b in pairwise(bounds)]


def _padded(nodes: HopperNodes, a: int, b: int) -> tuple[FloatArray, FloatArray, IntArray | None, IntArray]:
    """Path counts filled up to equal width, attributes, labels, and first nodes of the graphs a..b−1."""
    blocks = nodes.paths[a:b]
    sizes = [len(block) for block in blocks]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    paths = np.zeros((sum(sizes), max(block.shape[1] for block in blocks)))
    for start, block in zip(starts, blocks, strict=True):
        paths[start : start + len(block), : block.shape[1]] = block
    labels = None if nodes.labels is None else np.concatenate(nodes.labels[a:b])
    return paths, np.concatenate(nodes.attributes[a:b]), labels, starts


def _block_sums(left: Any, right: Any) -> FloatArray:
    (m, x, own, starts), (n, y, other, ends) = left, right
    places = min(m.shape[1], n.shape[1])
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2.0 * (x @ y.T)
    products = (m[:, :places] @ n[:, :places].T) * np.exp(-np.maximum(squares, 0.0) / x.shape[1])
    if own is not None:
        products *= own[:, None] == other[None, :]
    return np.asarray(np.add.reduceat(np.add.reduceat(products, starts, axis=0), ends, axis=1))
