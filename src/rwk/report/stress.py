"""Layouts by stress: positions in the plane whose distances follow given ones.

Called by `layout` with the path lengths of a graph, and by `maps` with the discrepancies of a dataset.
"""

from __future__ import annotations

import numpy as np

from rwk.graphs import Graph
from rwk.runtime.arrays import FloatArray

SWEEPS = 150  # of stress majorisation at most
LARGE = 400  # with more points the layout is left as it starts


def path_distances(graph: Graph) -> FloatArray:
    """Numbers of edges between nodes; nodes that are not connected are one edge farther than the farthest."""
    from scipy.sparse.csgraph import shortest_path

    distances = np.asarray(shortest_path(graph.adjacency(), directed=False, unweighted=True))
    reached = np.isfinite(distances)
    farthest = distances[reached].max() if reached.any() else 0.0
    return np.where(reached, distances, farthest + 1.0)


def stress_layout(
    distances: FloatArray, start: FloatArray, *, anchor: FloatArray | None = None, pull: float = 0.15
) -> FloatArray:
    """Positions whose distances follow the given ones, with weights 1/d², by stress majorisation from `start`.

    If `anchor` is given, each point is pulled to its place there with `pull` times its weight in the stress.
    """
    n = len(distances)
    if n < 2 or n > LARGE:
        return start
    weights = np.where(distances > 0, 1.0 / np.maximum(distances, 1e-9) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    held = pull * weights.sum(axis=1) if anchor is not None else np.full(n, 1e-6 * weights.sum() / n)
    inverse = np.linalg.inv(laplacian + np.diag(held))
    places, target = start, start if anchor is None else anchor
    for _ in range(SWEEPS):
        away = places[:, None] - places[None, :]
        apart = np.maximum(np.sqrt((away**2).sum(axis=2)), 1e-9)
        ratio = weights * distances / apart
        moved = inverse @ (ratio.sum(axis=1)[:, None] * places - ratio @ places + held[:, None] * target)
        done = float(np.abs(moved - places).max()) < 1e-4
        places = moved
        if done:
            break
    return places


def classical_start(distances: FloatArray) -> FloatArray:
    """A deterministic start: the two leading directions of classical scaling, with equal points slightly separated."""
    n = len(distances)
    centred = distances**2 - (distances**2).mean(axis=0) - (distances**2).mean(axis=1)[:, None] + (distances**2).mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    places = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    if places.shape[1] < 2:
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    angle = 2.399963 * np.arange(n)
    scale = max(float(np.abs(places).max()), 1.0)
    return np.asarray(places + 0.02 * scale * np.stack([np.cos(angle), np.sin(angle)], axis=1))
