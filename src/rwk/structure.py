"""C_P: the pairwise structure inside one graph that the Gromov-Wasserstein term compares."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.graphs import FloatArray, Graph, GraphError
from rwk.spectrum import HEAT_KERNEL_TIME, Spectrum


def structure_cost(
    kind: str, graph: Graph, laplacian: FloatArray, spectrum: Spectrum | None, embedded: FloatArray | None
) -> FloatArray:
    """The (n, n) matrix of one graph; `embedded` are distances of embedded nodes, for kind "embedding"."""
    if kind == "embedding":
        assert embedded is not None
        return embedded
    if kind == "shortest-path":
        return path_lengths(graph, None)
    if kind == "edge-distance":
        if graph.node_distances is not None:
            return 0.5 * (graph.node_distances + graph.node_distances.T)
        if graph.n_edges and graph.edge_attributes is None:
            raise GraphError("structure='edge-distance' needs edge attributes, the first being the distance")
        lengths = None if graph.edge_attributes is None else graph.edge_attributes[:, 0]
        if lengths is not None and (lengths < 0).any():
            worst = int(lengths.argmin())
            a, b = graph.edges[worst]
            raise GraphError(
                f"structure='edge-distance': the edge of nodes {a} and {b} has the length {lengths[worst]:g}; lengths, "
                "the first edge attribute, must be 0 or more"
            )
        return path_lengths(graph, lengths)
    if kind == "adjacency":
        return np.asarray(graph.adjacency().toarray(), np.float64)
    if kind == "laplacian":
        return laplacian
    assert spectrum is not None
    return spectrum.heat_distance(HEAT_KERNEL_TIME)


def path_lengths(graph: Graph, lengths: FloatArray | None) -> FloatArray:
    """Shortest paths, in edges or in given lengths; unreachable pairs get the largest finite one plus 1."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    n = graph.n_nodes
    rows, columns = graph.edges.reshape(-1, 2).T
    # a stored zero counts as an edge of length 0 nowhere in scipy: keep it positive
    values = np.ones(graph.n_edges) if lengths is None else np.maximum(lengths, 1e-12)
    edges: Any = csr_array((values, (rows, columns)), shape=(n, n))
    paths = np.asarray(shortest_path(edges, method="D", directed=False, unweighted=lengths is None))
    paths = np.minimum(paths, paths.T)  # there and back a sum of lengths can differ in its last bit
    finite = np.isfinite(paths)
    filled: FloatArray = np.where(finite, paths, paths[finite].max() + 1.0)
    return filled


def row_distances(embedding: FloatArray, signs: Any) -> FloatArray:
    """Distances of the rows of one graph's embedding: Hamming on signs where there are signs, else Euclidean."""
    if signs.shape[1]:
        return np.asarray((signs[:, None, :] != signs[None, :, :]).mean(axis=2))
    distances = np.zeros((len(embedding), len(embedding)))
    for column in embedding.T:
        distances += (column[:, None] - column[None, :]) ** 2
    return np.sqrt(distances)


def signs_of(embedding: FloatArray) -> Any:
    """Three-valued signs of the centred coordinates."""
    centred = embedding - embedding.mean(axis=0)
    return np.where(np.abs(centred) < 1e-9, 0, np.sign(centred)).astype(np.int8)


def narrow_factor(embedding: FloatArray) -> FloatArray:
    """F with F F^T = E E^T and few columns.

    Singular values under 1e-6 of the largest are left out: that changes E E^T by 1e-12 of its size.
    """
    left, sizes, _ = np.linalg.svd(embedding, full_matrices=False)
    keep = max(int((sizes > 1e-6 * sizes[0]).sum()), 1) if len(sizes) else 0
    return np.ascontiguousarray(left[:, :keep] * sizes[:keep])
