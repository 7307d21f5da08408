"""One form for edges and labels, wherever they come from.

Edges are undirected and sorted, without loops, each listed once with the smaller node first. Labels are integers that
mean the same in every set of graphs.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.graphs.graph import rows_of
from rwk.runtime.arrays import FloatArray, IntArray


class CanonicalEdges(NamedTuple):
    """Edges in canonical form, and what was changed to get there."""

    edges: IntArray  # (m, 2), smaller node first, sorted
    weights: FloatArray | None
    labels: IntArray | None
    attributes: FloatArray | None
    loops: IntArray  # the node of every self-loop that was dropped
    one_way: int  # edges listed in one direction only
    uneven: int  # edges whose two directions carry different values


def canonical_edges(
    ends: NDArray[Any],
    n_nodes: int,
    *,
    weights: FloatArray | None = None,
    labels: IntArray | None = None,
    attributes: FloatArray | None = None,
) -> CanonicalEdges:
    """Bring a list of (from, to) pairs into canonical form.

    The weights of parallel edges are added; the weights of the two directions are averaged, and an edge listed in one
    direction keeps its weight. Attributes are averaged, and if labels differ the smallest is kept. So the order of the
    list changes the result by rounding errors at most.

    >>> form = canonical_edges(np.array([[2, 0], [0, 2], [1, 1], [0, 1]]), 3)
    >>> form.edges.tolist(), form.loops.tolist(), form.one_way
    ([[0, 1], [0, 2]], [1], 1)
    """
    ends = ends.reshape(-1, 2)
    is_loop = ends[:, 0] == ends[:, 1]
    loops = np.asarray(ends[is_loop, 0], dtype=np.int64)
    if len(loops):
        ends = ends[~is_loop]
        weights, labels, attributes = (rows_of(v, ~is_loop) for v in (weights, labels, attributes))
    backward = ends[:, 0] > ends[:, 1]
    keys = np.minimum(ends[:, 0], ends[:, 1]).astype(np.int64)
    keys *= n_nodes
    keys += np.maximum(ends[:, 0], ends[:, 1])
    if weights is None and labels is None and attributes is None:
        there, back = _distinct(keys[~backward]), _distinct(keys[backward])
        if np.array_equal(there, back):  # the usual case, and the cheapest for millions of edges
            return CanonicalEdges(_decode(there, n_nodes), None, None, None, loops, 0, 0)
        both = _distinct(np.concatenate([there, back]))
        one_way = 2 * len(both) - len(there) - len(back)
        return CanonicalEdges(_decode(both, n_nodes), None, None, None, loops, one_way, 0)
    return _merged(keys, backward, n_nodes, (weights, labels, attributes), loops)


def _merged(
    keys: IntArray,
    backward: NDArray[np.bool_],
    n_nodes: int,
    values: tuple[FloatArray | None, IntArray | None, FloatArray | None],
    loops: IntArray,
) -> CanonicalEdges:
    """The canonical form of edges that carry values; a "way" below is one direction of one edge."""
    order = np.lexsort((backward, keys))
    keys, backward = keys[order], backward[order]
    weights, labels, attributes = (rows_of(v, order) for v in values)
    new_edge = np.ones(len(keys), dtype=bool)
    new_edge[1:] = keys[1:] != keys[:-1]
    new_way = new_edge.copy()
    new_way[1:] |= backward[1:] != backward[:-1]
    edge_starts, way_starts = np.flatnonzero(new_edge), np.flatnonzero(new_way)
    edge_of_way = np.flatnonzero(new_edge[way_starts])  # position in the list of ways at which an edge begins
    n_ways = np.diff(np.append(edge_of_way, len(way_starts)))
    n_rows = np.diff(np.append(edge_starts, len(keys)))
    uneven = np.zeros(len(edge_starts), dtype=bool)
    if weights is not None and len(keys):
        by_way = np.add.reduceat(weights, way_starts)
        uneven |= np.minimum.reduceat(by_way, edge_of_way) != np.maximum.reduceat(by_way, edge_of_way)
        weights = np.add.reduceat(by_way, edge_of_way) / n_ways
    if labels is not None and len(keys):
        smallest = np.minimum.reduceat(labels, edge_starts)
        uneven |= smallest != np.maximum.reduceat(labels, edge_starts)
        labels = smallest
    if attributes is not None and len(keys):
        smallest_row = np.minimum.reduceat(attributes, edge_starts)
        uneven |= (smallest_row != np.maximum.reduceat(attributes, edge_starts)).any(axis=1)
        attributes = np.add.reduceat(attributes, edge_starts) / n_rows[:, None]
    edges = _decode(keys[edge_starts], n_nodes)
    return CanonicalEdges(edges, weights, labels, attributes, loops, int((n_ways == 1).sum()), int(uneven.sum()))


def _distinct(keys: IntArray) -> IntArray:
    """Sorted distinct keys, like `np.unique`, but fast if they are already sorted."""
    if not len(keys):
        return keys
    if not (keys[1:] > keys[:-1]).all():
        keys = np.sort(keys)
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
    return keys


def _decode(keys: IntArray, n_nodes: int) -> IntArray:
    """Edges from their keys, low * n_nodes + high."""
    edges = np.empty((len(keys), 2), dtype=np.int64)
    np.floor_divide(keys, max(n_nodes, 1), out=edges[:, 0])
    np.subtract(keys, edges[:, 0] * n_nodes, out=edges[:, 1])
    return edges


def label_codes(values: Iterable[Any]) -> tuple[IntArray, dict[int, str]]:
    """Integer codes for labels, and the text behind each code that stands for a text.

    An integer is its own code. Anything else is coded by a hash of its text, so equal labels get equal codes even in
    graphs that are converted at different times.

    >>> codes, names = label_codes(["C", "O", "C", 7])
    >>> [names.get(code, code) for code in codes.tolist()]
    ['C', 'O', 'C', 7]
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        return values.astype(np.int64), {}
    names: dict[int, str] = {}
    codes = [_code(value, names) for value in values]
    return np.array(codes, dtype=np.int64), names


def _code(label: Any, names: dict[int, str]) -> int:
    if isinstance(label, np.generic | np.ndarray):
        label = label.tolist()
    if isinstance(label, int) and abs(label) < 2**63:
        return int(label)
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return int(label)
    text = label if isinstance(label, str) else str(tuple(label) if isinstance(label, list) else label)
    code = int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "big") >> 1
    names[code] = text
    return code
