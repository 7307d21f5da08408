"""Wasserstein Weisfeiler-Lehman (WWL): graphs as point clouds of node features, compared by exact optimal transport.

Colours refine from round to round, so the share of rounds in which two nodes differ is a tree metric, and transport on
a tree has a closed form: with p_r, q_r the shares of each colour in round r,

    W = 1/(h + 1) Σ_r (1 − Σ_c min(p_r(c), q_r(c))).

For attributes, smoothed and concatenated, a transport problem is solved for each pair (`network_simplex`). For labels
and attributes together, the cost of two nodes is a weighted sum of both costs, each divided by its mean over all pairs
of nodes of the fitted graphs (`node_costs`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rwk.baselines.base import EITHER, DiscrepancyKernel, kept, setting_name
from rwk.baselines.histograms import histograms, owners
from rwk.baselines.network_simplex import first_tree, flows, improve
from rwk.baselines.node_costs import as_units, mean_distances, mean_hamming
from rwk.baselines.node_features import learn_vectors
from rwk.baselines.pair_matrix import pair_matrix
from rwk.graphs import GraphSet
from rwk.graphs.colours import Colours, wl_colours
from rwk.represent.features import smooth_attributes
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled_loosely


class Clouds(NamedTuple):
    """Features of all nodes, the rounds side by side."""

    points: FloatArray  # (V, (rounds + 1) d)
    offsets: IntArray


class ColouredClouds(NamedTuple):
    """Features of all nodes, and their colours."""

    points: FloatArray  # (V, (rounds + 1) d)
    colours: Colours  # (rounds + 1, V)
    offsets: IntArray


class ColourShares(NamedTuple):
    """Share of every colour in every graph: one graph after the other, colours ascending."""

    keys: Any  # (entries,) uint64
    shares: FloatArray  # (entries,)
    offsets: IntArray


class WWL(DiscrepancyKernel):
    """exp(−γ W) with the Wasserstein distance W between Weisfeiler-Lehman features of nodes.

    Parameters
    ----------
    rounds : int, default 3
        Rounds of colour refinement, or of smoothing attributes.
    gamma : float, default 1.0
        γ of the kernel.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        "labels" compares nodes by the share of rounds in which their colours differ. "attributes" compares attributes,
        or one-hot labels if there are none, by Euclidean distance; each round moves them half-way to the weighted
        mean of the neighbours. "both" is a weighted sum of the two costs, each divided by its mean over the fitted
        graphs. "auto" is "attributes" if there are attributes or edge weights, otherwise "labels".
    label_weight : float, default 0.5
        Share of the labels in the cost with features="both", from 0 (attributes only) to 1 (labels only).
    standardize : bool, default True
        Whether to scale attributes to mean 0 and deviation 1 over the fitted graphs.
    n_jobs : int, optional
        Number of threads; by default all.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> kernel = WWL(rounds=1)
    >>> K = kernel.fit_transform(as_graphs([nx.path_graph(3), nx.path_graph(4)]))
    >>> kernel.discrepancy().round(4).tolist()  # 1/6 of the mass has another degree, 1/2 other neighbours
    [[0.0, 0.3333], [0.3333, 0.0]]
    """

    title: ClassVar[str] = "WWL"
    reference: ClassVar[str] = (
        "M. Togninalli, E. Ghisu, F. Llinares-López, B. Rieck, K. Borgwardt. "
        "Wasserstein Weisfeiler-Lehman graph kernels. NeurIPS 2019."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = EITHER
    together: ClassVar[tuple[str, ...]] = ("rounds",)
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": tuple(range(5))}
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {"features": ("both",), "label_weight": (0.2, 0.5, 0.8)}
    gammas: ClassVar[Sequence[float]] = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)

    def __init__(
        self,
        *,
        rounds: int = 3,
        gamma: float = 1.0,
        features: str = "auto",
        label_weight: float = 0.5,
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.rounds = rounds
        self.gamma = gamma
        self.features = features
        self.label_weight = label_weight
        self.standardize = standardize
        self.n_jobs = n_jobs

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Name and Wasserstein distances of a group; those of all numbers of rounds are computed in one pass."""
        graphs = self._graphs(X)
        wanted = self.grid_for(graphs, fair=fair)["rounds"]
        deepest = self._variant({"rounds": max(wanted), **shared}).fit(graphs)
        for rounds, distances in enumerate(deepest._distances(deepest.fitted_, None, every=True)):
            if rounds in wanted:
                yield setting_name({"rounds": rounds, **shared}), kept(distances)

    def _seen(self, graphs: GraphSet) -> GraphSet:
        if self.features == "attributes" and graphs.node_attributes is None:
            return graphs  # their one-hot labels are smoothed
        return super()._seen(graphs)

    def _learn(self, graphs: GraphSet) -> None:
        has = graphs.node_attributes is not None
        weighted = graphs.edge_weights is not None and graphs.node_labels is not None
        self.continuous_ = self.features == "attributes" or (self.features == "auto" and (has or weighted))
        self.vectors_ = learn_vectors(graphs, standardize=self.standardize)
        if self.features == "both":
            nodes: Any = self._represent(graphs)
            means = mean_hamming(nodes.colours), mean_distances(nodes.points, self.rounds + 1)
            self.units_ = as_units(np.stack(means))  # (2, rounds + 1)

    def _represent(self, graphs: GraphSet) -> Clouds | ColouredClouds | list[ColourShares]:
        if not (self.continuous_ or self.features == "both"):
            return [colour_shares(graphs, colours) for colours in wl_colours(graphs, self.rounds)]
        points = smooth_attributes(graphs, self.vectors_.of(graphs), self.rounds)
        if self.features == "both":
            return ColouredClouds(points, wl_colours(graphs, self.rounds), graphs.node_offsets)
        return Clouds(points, graphs.node_offsets)

    def _discrepancies(self, rows: Any, columns: Any) -> FloatArray:
        return np.asarray(self._distances(rows, columns, every=False)[-1])

    def _distances(self, rows: Any, columns: Any, *, every: bool) -> FloatArray:
        """Distances after each number of rounds; without `every`, attributes give only those after the last round."""
        same = columns is None
        columns = rows if same else columns
        rounds = (self.rounds + 1, self.rounds + 1 if every else 1)
        if isinstance(rows, ColouredClouds):
            weights = np.array([[self.label_weight], [1.0 - self.label_weight]]) / self.units_
            weights[0] /= np.arange(1, self.rounds + 2)  # of one round
            return _coloured_distances(rows, columns, weights, rounds[1], same, self.n_jobs)
        if isinstance(rows, Clouds):
            return _cloud_distances(rows, columns, rounds, same, self.n_jobs)
        each = [_share_distances(a, b, same, self.n_jobs) for a, b in zip(rows, columns, strict=True)]
        return np.cumsum(each, axis=0) / np.arange(1, len(each) + 1)[:, None, None]


def colour_shares(graphs: GraphSet, colours: Any) -> ColourShares:
    """The share of each graph's nodes that has each colour."""
    counted = histograms(owners(graphs), colours, len(graphs), np.repeat(1.0 / graphs.sizes, graphs.sizes))
    counted.counts.sort_indices()
    return ColourShares(
        counted.keys[counted.counts.indices], counted.counts.data, counted.counts.indptr.astype(np.int64)
    )


def _share_distances(rows: ColourShares, columns: ColourShares, same: bool, n_jobs: int | None) -> FloatArray:
    def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
        _unshared(rows, columns, i, j, out)

    sizes = (np.diff(rows.offsets), np.diff(columns.offsets))
    return np.asarray(pair_matrix(solve, sizes, 1, symmetric=same, n_jobs=n_jobs)[0])


@compiled_loosely
def _unshared(rows: Any, columns: Any, i: Any, j: Any, out: Any) -> None:
    """1 − Σ min of the shares, for pairs of graphs, by merging two ascending lists of colours."""
    for k in range(len(i)):
        a, a_end = rows.offsets[i[k]], rows.offsets[i[k] + 1]
        b, b_end = columns.offsets[j[k]], columns.offsets[j[k] + 1]
        apart = 2.0  # Σ |p − q| = 2 − 2 Σ min
        while a < a_end and b < b_end:
            if rows.keys[a] == columns.keys[b]:
                apart -= 2.0 * min(rows.shares[a], columns.shares[b])
                a += 1
                b += 1
            elif rows.keys[a] < columns.keys[b]:
                a += 1
            else:
                b += 1
        out[k, 0] = 0.5 * apart if apart > 1e-14 else 0.0


def _cloud_distances(
    rows: Clouds, columns: Clouds, rounds: tuple[int, int], same: bool, n_jobs: int | None
) -> FloatArray:
    """Distances after each of the last rounds[1] of rounds[0] rounds, shape (rounds[1], rows, columns)."""

    def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
        _transport_costs(rows, columns, i, j, same, rounds[0], out)

    sizes = (np.diff(rows.offsets), np.diff(columns.offsets))
    return pair_matrix(solve, sizes, rounds[1], symmetric=same, n_jobs=n_jobs)


@compiled_loosely
def _transport_costs(rows: Any, columns: Any, i: Any, j: Any, same: Any, rounds: int, out: Any) -> None:
    """Optimal transport costs of pairs of clouds with the features of rounds 0..r, for the last values of r."""
    first = rounds - out.shape[1]
    width = rows.points.shape[1] // rounds
    for k in range(len(i)):
        if same and i[k] == j[k]:
            out[k] = 0.0
            continue
        x = rows.points[rows.offsets[i[k]] : rows.offsets[i[k] + 1]]
        y = columns.points[columns.offsets[j[k]] : columns.offsets[j[k] + 1]].T.copy()  # (features, nodes)
        squares = np.zeros((len(x), y.shape[1]))
        for r in range(rounds):
            for a in range(len(x)):
                for f in range(r * width, (r + 1) * width):
                    for b in range(y.shape[1]):
                        squares[a, b] += (x[a, f] - y[f, b]) ** 2
            if r < first:
                continue
            cost = np.sqrt(squares)
            if r == first:
                tree = first_tree(cost)
            improve(cost, tree)  # from the last round's basis
            flow = flows(tree, len(x), y.shape[1])
            total = 0.0
            for a in range(len(x)):
                for b in range(y.shape[1]):
                    total += flow[a, b] * cost[a, b]
            out[k, r - first] = total / flow.sum()


def _coloured_distances(
    rows: ColouredClouds, columns: ColouredClouds, weights: FloatArray, depth: int, same: bool, n_jobs: int | None
) -> FloatArray:
    """Distances after each of the last `depth` rounds; `weights` are those of a colour and of a distance by round."""

    def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
        _coloured_costs(rows, columns, i, j, same, weights, out)

    sizes = (np.diff(rows.offsets), np.diff(columns.offsets))
    return pair_matrix(solve, sizes, depth, symmetric=same, n_jobs=n_jobs)


@compiled_loosely
def _coloured_costs(rows: Any, columns: Any, i: Any, j: Any, same: Any, weights: Any, out: Any) -> None:
    """Like `_transport_costs`, with the cost weights[0, r] × (rounds 0..r that differ) + weights[1, r] × distance."""
    rounds = weights.shape[1]
    first = rounds - out.shape[1]
    width = rows.points.shape[1] // rounds
    for k in range(len(i)):
        if same and i[k] == j[k]:
            out[k] = 0.0
            continue
        at, to = rows.offsets[i[k]], columns.offsets[j[k]]
        n, m = rows.offsets[i[k] + 1] - at, columns.offsets[j[k] + 1] - to
        squares, differ = np.zeros((n, m)), np.zeros((n, m))
        for r in range(rounds):
            for a in range(n):
                for b in range(m):
                    differ[a, b] += rows.colours[r, at + a] != columns.colours[r, to + b]
                    for f in range(r * width, (r + 1) * width):
                        squares[a, b] += (rows.points[at + a, f] - columns.points[to + b, f]) ** 2
            if r < first:
                continue
            cost = weights[0, r] * differ + weights[1, r] * np.sqrt(squares)
            if r == first:
                tree = first_tree(cost)
            improve(cost, tree)  # from the last round's basis
            flow = flows(tree, n, m)
            total = 0.0
            for a in range(n):
                for b in range(m):
                    total += flow[a, b] * cost[a, b]
            out[k, r - first] = total / flow.sum()
