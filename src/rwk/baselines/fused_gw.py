"""Fused Gromov-Wasserstein (FGW): one coupling matches both node features and distances inside graphs.

    FGW = min over couplings T of  (1 − α) Σ M_ij T_ij + α Σ (C_ik − D_jl)² T_ij T_kl

found by conditional gradients with exact line search, from the product coupling; each direction is an exact transport
plan (`network_simplex`). Masses are uniform. As C and D are symmetric, the quadratic part is const − 2 <C T D, T>.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from rwk.baselines.base import EITHER, DiscrepancyKernel
from rwk.baselines.network_simplex import first_tree, flows, improve
from rwk.baselines.node_costs import as_units, mean_hamming, mean_squares
from rwk.baselines.node_features import Standard, check_same_data, standard_of
from rwk.baselines.pair_matrix import pair_matrix
from rwk.graphs import GraphSet
from rwk.represent.features import Colours, wl_colours
from rwk.represent.structure import path_lengths, structure_cost
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled

MAX_ITER: Final = 1000
TOLERANCE: Final = 1e-9  # of the objective, relative and absolute
STRUCTURES: Final = ("auto", "shortest-path", "edge-distance")


class FusedGraphs(NamedTuple):
    """Distances and features of all graphs."""

    distances: FloatArray  # the matrices of all graphs, flattened and concatenated
    distance_offsets: IntArray
    points: FloatArray  # (V, d); d = 0 if only colours are compared
    colours: Colours  # (rounds, V); no rounds if only points are compared
    colour_cost: float  # of one round in which colours differ
    offsets: IntArray
    place: FloatArray  # of two graphs, the one with the smaller place is the source


class FGW(DiscrepancyKernel):
    """exp(−γ FGW) with the fused Gromov-Wasserstein discrepancy of node features and shortest-path distances.

    Features are standardised attributes (squared Euclidean distance, divided by twice their number), Weisfeiler-Lehman
    colours (share of rounds in which they differ), or both. Distances inside graphs are divided by the largest one of
    the fitted graphs.

    Parameters
    ----------
    alpha : float, default 0.5
        Weight of the structure, from 0 (features only) to 1 (structure only).
    gamma : float, default 1.0
        γ of the kernel.
    rounds : int, default 2
        Rounds of colour refinement; not used if only attributes are compared.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What the features are. "both" is a weighted sum of the two costs, each divided by its mean over all pairs of
        nodes of the fitted graphs. "auto" is "attributes" if there are any, otherwise "labels".
    label_weight : float, default 0.5
        Share of the labels in the cost with features="both", from 0 (attributes only) to 1 (labels only).
    structure : {"auto", "shortest-path", "edge-distance"}, default "auto"
        "shortest-path" counts edges, "edge-distance" takes their lengths from the first edge attribute; "auto" is the
        latter if there is exactly one edge attribute.
    n_jobs : int, optional
        Number of threads; by default all.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> kernel = FGW(alpha=0.5, rounds=0)
    >>> kernel.fit_transform(as_graphs([nx.path_graph(2), nx.path_graph(3)])).diagonal().tolist()
    [1.0, 1.0]
    """

    title: ClassVar[str] = "FGW"
    reference: ClassVar[str] = (
        "T. Vayer, L. Chapel, R. Flamary, R. Tavenard, N. Courty. "
        "Optimal transport for structured data with application on graphs. ICML 2019."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = EITHER
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)}
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {
        "alpha": (0.1, 0.5, 0.9),  # few, because rounds and weights are searched too
        "rounds": tuple(range(5)),
        "features": ("both",),
        "label_weight": (0.2, 0.5, 0.8),
    }
    gammas: ClassVar[Sequence[float]] = tuple(2.0**k for k in range(-10, 11, 2))

    def __init__(
        self,
        *,
        alpha: float = 0.5,
        gamma: float = 1.0,
        rounds: int = 2,
        features: str = "auto",
        label_weight: float = 0.5,
        structure: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.rounds = rounds
        self.features = features
        self.label_weight = label_weight
        self.structure = structure
        self.n_jobs = n_jobs

    def _learn(self, graphs: GraphSet) -> None:
        if self.structure not in STRUCTURES:
            raise ValueError(f"structure={self.structure!r} is not known: it must be one of {STRUCTURES}")
        lengths = graphs.edge_attributes is not None and graphs.edge_attributes.shape[1] == 1
        best = "edge-distance" if lengths else "shortest-path"
        self.structure_ = best if self.structure == "auto" else self.structure
        attributes = graphs.node_attributes
        self.standard_: Standard | None = None if attributes is None else standard_of(attributes)
        self.unit_ = max(float(_distances(graph, self.structure_).max()) for graph in graphs) or 1.0
        self.weights_ = (1.0, 1.0)  # of labels and attributes
        if self.features == "both":
            means = [mean_hamming(wl_colours(graphs, self.rounds))[-1], mean_squares(self._points(graphs))]
            units = as_units(np.array(means)).tolist()
            self.weights_ = self.label_weight / units[0], (1.0 - self.label_weight) / units[1]

    def _represent(self, graphs: GraphSet) -> FusedGraphs:
        check_same_data(graphs.node_attributes, self.standard_ is not None)
        n_nodes = int(graphs.node_offsets[-1])
        points, colours = np.zeros((n_nodes, 0)), np.zeros((0, n_nodes), np.uint64)
        if self.standard_ is not None:
            points = self._points(graphs)
        if self.standard_ is None or self.features == "both":
            colours = wl_colours(graphs, self.rounds)
        if self.features == "both":
            points = points * np.sqrt(self.weights_[1])
        flat = [_distances(graph, self.structure_).ravel() / self.unit_ for graph in graphs]
        place = graphs.sizes + np.array([0.5 * block.mean() for block in flat])
        return FusedGraphs(
            np.concatenate(flat),
            graphs.pair_offsets,
            points,
            colours,
            self.weights_[0] / max(1, len(colours)),
            graphs.node_offsets,
            place,
        )

    def _points(self, graphs: GraphSet) -> FloatArray:
        """Standardised attributes, scaled so that their squared Euclidean distance is the cost."""
        assert graphs.node_attributes is not None
        assert self.standard_ is not None
        points = self.standard_.apply(graphs.node_attributes)
        return np.ascontiguousarray(points / np.sqrt(2.0 * points.shape[1]))

    def _discrepancies(self, rows: FusedGraphs, columns: FusedGraphs | None) -> FloatArray:
        same, alpha = columns is None, float(self.alpha)
        other = rows if columns is None else columns

        def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
            _solve_pairs(rows, other, i, j, same, alpha, out)

        sizes = (np.diff(rows.offsets), np.diff(other.offsets))
        return np.asarray(pair_matrix(solve, sizes, 1, symmetric=same, n_jobs=self.n_jobs)[0])


def _distances(graph: Any, structure: str) -> FloatArray:
    if structure == "shortest-path":
        return path_lengths(graph, None)
    return structure_cost(structure, graph, np.empty((0, 0)), None, None)


@compiled
def _solve_pairs(rows: Any, columns: Any, i: Any, j: Any, same: Any, alpha: Any, out: Any) -> None:
    for k in range(len(i)):
        if same and i[k] == j[k]:
            out[k, 0] = 0.0  # the identity is optimal
            continue
        if rows.place[i[k]] <= columns.place[j[k]]:
            out[k, 0] = _solve_pair(rows, columns, i[k], j[k], alpha)
        else:
            out[k, 0] = _solve_pair(columns, rows, j[k], i[k], alpha)


@compiled
def _solve_pair(rows: Any, columns: Any, i: int, j: int, alpha: float) -> float:
    n, m = rows.offsets[i + 1] - rows.offsets[i], columns.offsets[j + 1] - columns.offsets[j]
    at, to = rows.distance_offsets[i], columns.distance_offsets[j]
    c = rows.distances[at : at + n * n].reshape(n, n)
    d = columns.distances[to : to + m * m].reshape(m, m)
    cost = _feature_costs(rows, columns, rows.offsets[i], columns.offsets[j], n, m)
    return fused_cost(cost, c, d, alpha)


@compiled
def _feature_costs(rows: Any, columns: Any, at: int, to: int, n: int, m: int) -> Any:
    cost = np.zeros((n, m))
    width, rounds = rows.points.shape[1], len(rows.colours)
    for a in range(n):
        for b in range(m):
            total = 0.0
            for f in range(width):
                total += (rows.points[at + a, f] - columns.points[to + b, f]) ** 2
            for r in range(rounds):
                total += (rows.colours[r, at + a] != columns.colours[r, to + b]) * rows.colour_cost
            cost[a, b] = total
    return cost


@compiled
def fused_cost(cost: Any, c: Any, d: Any, alpha: float) -> float:
    """The FGW objective at the coupling found by conditional gradients."""
    n, m = cost.shape
    plan = np.full((n, m), 1.0 / (n * m))
    fixed = np.empty((n, m))  # the part of the gradient that does not change
    for a in range(n):
        own = 0.0
        for k in range(n):
            own += c[a, k] ** 2
        for b in range(m):
            fixed[a, b] = (1.0 - alpha) * cost[a, b] + alpha * own / n
    for b in range(m):
        own = 0.0
        for k in range(m):
            own += d[b, k] ** 2
        fixed[:, b] += alpha * own / m
    image = np.dot(np.dot(c, plan), d)
    objective = _inner(fixed, plan) - 2.0 * alpha * _inner(image, plan)
    gradient, delta = np.empty((n, m)), np.empty((n, m))
    for iteration in range(MAX_ITER):
        for a in range(n):
            for b in range(m):
                gradient[a, b] = fixed[a, b] - 4.0 * alpha * image[a, b]
        if iteration == 0:
            tree = first_tree(gradient)
        improve(gradient, tree)  # from the last iteration's basis
        flow = flows(tree, n, m)
        unit = 1.0 / flow.sum()
        for a in range(n):
            for b in range(m):
                delta[a, b] = flow[a, b] * unit - plan[a, b]
        delta_image = np.dot(np.dot(c, delta), d)
        curvature = -2.0 * alpha * _inner(delta_image, delta)
        slope = _inner(gradient, delta)
        step = 1.0
        if curvature > 0.0:
            step = min(1.0, -slope / (2.0 * curvature))
        change = step * slope + step * step * curvature
        if step <= 0.0 or change >= 0.0:
            break
        plan += step * delta
        image += step * delta_image
        objective += change
        if -change <= TOLERANCE * max(1.0, abs(objective)):
            break
    return max(_inner(fixed, plan) - 2.0 * alpha * _inner(image, plan), 0.0)


@compiled
def _inner(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * b[i, j]
    return total
