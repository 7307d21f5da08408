"""C_P, the pairwise structure of a graph that the Gromov-Wasserstein term compares; distances of embedded nodes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.graphs import Graph, GraphError
from rwk.represent.spectrum import HEAT_KERNEL_TIME, Spectrum
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled

LARGEST_PLAIN: Final = 64  # nodes of a graph whose paths NumPy counts


def structure_cost(
    kind: str, graph: Graph, laplacian: FloatArray, spectrum: Spectrum | None, embedded: FloatArray | None
) -> FloatArray:
    """C_P (n, n) of one graph; `embedded` are the distances of embedded nodes, for kind "embedding"."""
    if kind == "embedding":
        assert embedded is not None
        return embedded
    if kind == "shortest-path":
        return path_lengths(graph, None)
    if kind == "edge-distance":
        if graph.node_distances is not None:
            return 0.5 * (graph.node_distances + graph.node_distances.T)
        if graph.n_edges and graph.edge_attributes is None:
            raise GraphError("structure='edge-distance' needs edge attributes, of which the first is the distance")
        lengths = None if graph.edge_attributes is None else graph.edge_attributes[:, 0]
        if lengths is not None and (lengths < 0).any():
            worst = int(lengths.argmin())
            a, b = graph.edges[worst]
            raise GraphError(
                f"structure='edge-distance': the edge of nodes {a} and {b} has length {lengths[worst]:g}; lengths "
                "(the first edge attribute) must be 0 or more"
            )
        return path_lengths(graph, lengths)
    if kind == "adjacency":
        return np.asarray(graph.adjacency().toarray(), np.float64)
    if kind == "laplacian":
        return laplacian
    assert spectrum is not None
    return spectrum.heat_distance(HEAT_KERNEL_TIME)


def path_lengths(graph: Graph, lengths: FloatArray | None) -> FloatArray:
    """Shortest paths, in edges or in given lengths; R6: unreachable pairs get the largest finite length plus 1."""
    if lengths is None:
        return hop_counts(graph.n_nodes, graph.edges)
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = graph.n_nodes
    rows, columns = graph.edges.reshape(-1, 2).T.astype(np.int32)  # SciPy 1.12 takes no others
    # scipy takes a stored 0 for "no edge": keep lengths positive
    edges: Any = csr_array((np.maximum(lengths, 1e-12), (rows, columns)), shape=(n, n))
    paths = np.asarray(shortest_path(edges, method="D", directed=False))
    paths = np.minimum(paths, paths.T)  # the two directions can differ in the last bit of a sum
    finite = np.isfinite(paths)
    filled: FloatArray = np.where(finite, paths, paths[finite].max() + 1.0)
    return filled


def hop_counts(n: int, edges: IntArray, *, plain: bool = False) -> FloatArray:
    """Shortest paths in edges between n nodes; R6: unreachable pairs get the largest length plus 1.

    With `plain`, NumPy counts them if there are few nodes, so that nothing is compiled: the same whole numbers.

    >>> hop_counts(4, np.array([[0, 1], [1, 2]])).tolist()
    [[0.0, 1.0, 2.0, 3.0], [1.0, 0.0, 1.0, 3.0], [2.0, 1.0, 0.0, 3.0], [3.0, 3.0, 3.0, 0.0]]
    """
    ends = np.ascontiguousarray(edges, np.int64).reshape(-1, 2)
    if plain and n <= LARGEST_PLAIN:
        return _count_hops_plainly(n, ends)
    hops, lists = np.full((n, n), -1.0), np.zeros(2 * (n + 1) + 2 * len(ends), np.int64)
    _count_hops(ends, lists[: n + 2], lists[n + 2 : 2 * n + 2], lists[2 * n + 2 :], hops)
    return hops


def _count_hops_plainly(n: int, edges: IntArray) -> FloatArray:
    """`hop_counts` in NumPy: all nodes take one step at a time."""
    adjacent, paths = np.zeros((n, n), np.bool_), np.full((n, n), -1.0)
    adjacent[edges[:, 0], edges[:, 1]] = adjacent[edges[:, 1], edges[:, 0]] = True
    new, hops = np.eye(n, dtype=np.bool_), 0.0
    while new.any():
        paths[new] = hops
        hops += 1.0
        new = (new @ adjacent) & (paths < 0.0)
    paths[paths < 0.0] = hops
    return paths


@compiled
def _count_hops(edges: Any, starts: Any, waiting: Any, neighbours: Any, paths: Any) -> None:
    """Number of edges between every two nodes, by breadth-first search; unreachable pairs: the largest plus 1 (R6).

    The caller asks for memory, so that this compiles quickly: `starts` (n + 2,) zeros, `waiting` (n,), `neighbours`
    (2 e,), and `paths` (n, n), all of them -1.
    """
    n, largest = len(paths), 0.0
    for e in range(len(edges)):
        starts[edges[e, 0] + 2] += 1
        starts[edges[e, 1] + 2] += 1
    for i in range(2, n + 2):
        starts[i] += starts[i - 1]
    for e in range(len(edges)):
        for side in range(2):
            node = edges[e, side]
            neighbours[starts[node + 1]] = edges[e, 1 - side]
            starts[node + 1] += 1
    for source in range(n):
        row = paths[source]
        row[source], waiting[0], first, last = 0.0, source, 0, 1
        while first < last < n:  # once all nodes are found, no neighbour can be new
            node = waiting[first]
            first += 1
            for at in range(starts[node], starts[node + 1]):
                if row[neighbours[at]] < 0.0:
                    row[neighbours[at]] = row[node] + 1.0
                    waiting[last] = neighbours[at]
                    last += 1
        largest = max(largest, row[waiting[last - 1]])
    for i in range(n):
        for k in range(n):
            if paths[i, k] < 0.0:
                paths[i, k] = largest + 1.0


def row_distances(embedding: FloatArray, signs: Any) -> FloatArray:
    """Distances between the rows of one graph's embedding: Hamming if there are signs (R5), else Euclidean."""
    if signs.shape[1]:
        return np.asarray((signs[:, None, :] != signs[None, :, :]).mean(axis=2))
    distances = np.zeros((len(embedding), len(embedding)))
    for column in embedding.T:
        distances += (column[:, None] - column[None, :]) ** 2
    return np.sqrt(distances)


def signs_of(embedding: FloatArray) -> Any:
    """Three-valued signs of the centred coordinates (R5); Hamming of the real values would be 1 almost everywhere."""
    centred = embedding - embedding.mean(axis=0)
    return np.where(np.abs(centred) < 1e-9, 0, np.sign(centred)).astype(np.int8)


def narrow_factors(embeddings: FloatArray) -> list[FloatArray]:
    """F with F F^T = E E^T and few columns for each embedding E of a stack (g, n, k).

    Singular values below 1e-6 of the largest are left out, which changes E E^T by 1e-12 of its norm.
    """
    left, sizes, _ = np.linalg.svd(embeddings, full_matrices=False)
    kept = np.maximum((sizes > 1e-6 * sizes[:, :1]).sum(axis=1), min(1, sizes.shape[1]))
    return [np.ascontiguousarray(u[:, :r] * s[:r]) for u, s, r in zip(left, sizes, kept.tolist(), strict=True)]
