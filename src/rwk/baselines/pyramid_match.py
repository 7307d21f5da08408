"""Weisfeiler-Lehman pyramid match (WL-PM): nodes as points in a cube, counted in cells of decreasing size.

The coordinates of a node are its entries, in absolute value, in the eigenvectors of A whose eigenvalues are largest in
magnitude. Eigenvectors of a multiple eigenvalue are not unique; the share of the node in the whole eigenspace,
sqrt(P_vv / multiplicity) with P the projector, then replaces each of them, so that the order of nodes never matters.
For a simple eigenvalue it equals the absolute entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from rwk.baselines.base import NO_ATTRIBUTES, RoundsKernel
from rwk.baselines.histograms import PAIR_SALT, Histograms, join_columns, owners, unary
from rwk.graphs import Graph, GraphSet
from rwk.graphs.colours import Colours, mix, wl_colours
from rwk.runtime.arrays import FloatArray

SAME_EIGENVALUE: Final = 1e-8
TINY: Final = 1e-150  # edge weights this small, or that large, are divided by the largest of their graph
ROUNDING: Final = 9  # decimals, so that rounding errors do not move a coordinate on the edge of a cell to the next cell


class WLPM(RoundsKernel):
    """Pyramid match of spectral embeddings, between nodes of equal Weisfeiler-Lehman colour, summed over rounds.

    Parameters
    ----------
    rounds : int, default 5
        Rounds of colour refinement.
    levels : int, default 4
        How often the cells are halved.
    dimension : int, default 6
        Dimension of the embedding.
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> K = WLPM(rounds=1).fit_transform(as_graphs([nx.path_graph(3), nx.path_graph(4)]))
    >>> K.diagonal().tolist(), bool(K[0, 1] < 1)
    ([1.0, 1.0], True)
    """

    title: ClassVar[str] = "WL-PM"
    reference: ClassVar[str] = (
        "G. Nikolentzos, P. Meladianos, M. Vazirgiannis. Matching node embeddings for graph similarity. AAAI 2017."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "structure")
    sees: ClassVar[str] = "labels"
    note: ClassVar[str] = NO_ATTRIBUTES
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": tuple(range(8))}

    def __init__(self, *, rounds: int = 5, levels: int = 4, dimension: int = 6, normalize: bool = True) -> None:
        self.rounds = rounds
        self.levels = levels
        self.dimension = dimension
        self.normalize = normalize

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        points = np.concatenate([spectral_points(graph, self.dimension) for graph in graphs])
        owner = owners(graphs)
        return [pyramid(owner, points, colours, self.levels) for colours in wl_colours(graphs, self.rounds)]


def spectral_points(graph: Graph, dimension: int) -> FloatArray:
    """Absolute eigenvectors of the eigenvalues of A largest in magnitude, (nodes, dimension), filled up with zeros.

    >>> edge = Graph(2, np.array([[0, 1]]))
    >>> spectral_points(edge, 3).round(3).tolist()
    [[0.707, 0.707, 0.0], [0.707, 0.707, 0.0]]
    """
    matrix = graph.adjacency().toarray()
    largest = matrix.max(initial=0.0)
    if largest > 0 and not TINY < largest < 1.0 / TINY:  # whose squares would be 0 or infinite
        matrix = matrix / largest
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(values))
    values, squares = np.abs(values)[order], vectors[:, order] ** 2
    space = np.concatenate([[0], np.cumsum(values[:-1] - values[1:] > SAME_EIGENVALUE * max(1.0, values[0]))])
    first = np.flatnonzero(np.diff(space, prepend=-1))
    shares = np.add.reduceat(squares, first, axis=1) / np.bincount(space)
    points = np.zeros((graph.n_nodes, dimension))
    kept = min(dimension, graph.n_nodes)
    points[:, :kept] = np.sqrt(shares[:, space[:kept]])
    return points.round(ROUNDING)


def pyramid(owner: Any, points: FloatArray, colours: Colours, levels: int) -> Histograms:
    """Counts in the cells of all levels, weighted so that inner products are pyramid matches.

    With I_l the intersection at level l, the match I_L + Σ_{l<L} (I_l − I_{l+1}) / 2^{L−l} gives I_0 the weight
    2^-L and I_l, l > 0, the weight 2^-(L−l+1). Each coordinate is cut into cells separately.
    """
    n_graphs = int(owner[-1]) + 1
    coordinate = np.arange(points.shape[1], dtype=np.uint64)
    parts = []
    for level in range(levels + 1):
        cells = np.minimum(np.floor(points * 2**level), 2**level - 1).astype(np.uint64)
        place = mix(cells + (coordinate + np.uint64(64 * level)) * PAIR_SALT)
        keys = mix(mix(colours)[:, None] ^ place)  # (nodes, dimension)
        weight = 2.0 ** -(levels if level == 0 else levels - level + 1)
        parts.append(unary(np.repeat(owner, points.shape[1]), keys.ravel(), n_graphs, weight))
    return join_columns(parts)
