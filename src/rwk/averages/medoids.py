"""`medoid`: the graph that is nearest to all others; `RWKMedoids`: clusters around such graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from rwk.averages.barycenter import checked_weights
from rwk.convert import as_graphs
from rwk.discrepancy import pairwise_discrepancy
from rwk.graphs import GraphError
from rwk.kernel import RWKernel
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import finite_matrix
from rwk.runtime.parameter_checks import check_count, check_range, check_seed
from rwk.transport.measures import cut

# Colours of more rounds, and path lengths, change with every edge: noisy copies of one graph would be as far from each
# other as from copies of another.
CLUSTERING: Final[Mapping[str, Any]] = {
    "feature_metric": "l2",
    "wl_rounds": 1,
    "structure": "adjacency",
    "debias": True,
}
MOST_EXCHANGES: Final = 100


def medoid(graphs: Any, *, weights: Any = None, discrepancy: Any = None, **parameters: Any) -> int:
    """Find the graph with the least mean discrepancy to all graphs of a list.

    Parameters
    ----------
    graphs : graphs
        Graphs in any form that `as_graphs` accepts.
    weights : array of length n_graphs, optional
        How much each graph counts, 0 or more; by default all count the same.
    discrepancy : array of shape (n_graphs, n_graphs), optional
        The discrepancies of all pairs, if you have them already; nothing is solved then.
    **parameters
        Settings of the model and the solver; see `Parameters`. The defaults are those of `RWKMedoids`.

    Returns
    -------
    int
        The number of the graph in the list.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import medoid
    >>> medoid([nx.star_graph(5), nx.ladder_graph(3), nx.complete_graph(6), nx.path_graph(6)])
    1
    """
    if discrepancy is None:
        members = as_graphs(graphs)
        matrix = pairwise_discrepancy(members, **{**CLUSTERING, **parameters})
    else:
        count = len(graphs) if hasattr(graphs, "__len__") else len(as_graphs(graphs))
        matrix = np.asarray(discrepancy, np.float64)
        if matrix.shape != (count, count):
            raise GraphError(f"discrepancy has shape {matrix.shape}; for {count} graphs it must be ({count}, {count})")
        finite_matrix(matrix)
    return int(np.argmin(checked_weights(weights, len(matrix)) @ matrix))


class CentredClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters around centres; `kernel_` is fitted so that its columns are the centres."""

    kernel: RWKernel | None
    kernel_: RWKernel

    def transform(self, X: Any) -> FloatArray:
        """Discrepancies of graphs (rows) to the centres (columns)."""
        check_is_fitted(self, "kernel_")
        return self.kernel_.discrepancy(X)

    def predict(self, X: Any) -> IntArray:
        """The cluster of the nearest centre, for each graph."""
        return np.asarray(self.transform(X).argmin(axis=1))

    def _new_kernel(self) -> RWKernel:
        kernel: RWKernel = RWKernel(**CLUSTERING) if self.kernel is None else clone(self.kernel)
        return kernel


class RWKMedoids(CentredClusterer):
    """Cluster graphs around medoids: members with the least total discrepancy to their cluster.

    A scikit-learn clusterer. `fit` solves all pairs; then a medoid is exchanged for another graph as long as that
    lowers the total discrepancy (PAM).

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters; at most the number of graphs.
    kernel : RWKernel, optional
        A kernel with the parameters to use; by default `RWKernel(feature_metric="l2", wl_rounds=1,
        structure="adjacency", debias=True)`, which suits noisy copies of a few graphs.
    n_init : int, default 5
        Number of seedings, from each of which medoids are exchanged; the best result is kept.
    max_iter : int, default 100
        Largest number of exchanges per seeding.
    random_state : int or None, default 0
        Seed of the seedings.

    Attributes
    ----------
    labels_ : ndarray of shape (n_graphs,)
        The cluster of each fitted graph.
    medoids_ : ndarray of shape (n_clusters,)
        Numbers of the medoids among the fitted graphs.
    cluster_centers_ : GraphSet
        The medoids themselves.
    inertia_ : float
        Total discrepancy of all graphs to the medoids of their clusters.
    n_iter_ : int
        Number of exchanges that were made.
    kernel_ : RWKernel
        The fitted kernel; its columns are the medoids.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import RWKMedoids
    >>> graphs = [nx.path_graph(n) for n in (6, 7, 8)] + [nx.star_graph(n) for n in (5, 6, 7)]
    >>> RWKMedoids(2).fit_predict(graphs).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: RWKernel | None = None,
        n_init: int = 5,
        max_iter: int = MOST_EXCHANGES,
        random_state: int | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster graphs; y is ignored."""
        graphs = as_graphs(X)
        k = check_clusterer(self, len(graphs))
        kernel = self._new_kernel()
        matrix = kernel.fit(graphs).discrepancy()
        rng = np.random.default_rng(self.random_state)
        found = [exchanged(matrix, seeds(matrix, k, rng), int(self.max_iter)) for _ in range(int(self.n_init))]
        medoids, self.n_iter_ = min(found, key=lambda one: _inertia(matrix, one[0]))
        self.medoids_ = np.sort(medoids)
        self.labels_ = labels_of(matrix[:, self.medoids_], self.medoids_)
        self.inertia_ = float(matrix[np.arange(len(matrix)), self.medoids_[self.labels_]].sum())
        self.cluster_centers_ = graphs[self.medoids_]
        kernel.measures_, kernel.n_graphs_ = cut(kernel.measures_, self.medoids_), k
        kernel.names_ = None if kernel.names_ is None else tuple(kernel.names_[i] for i in self.medoids_)
        self.kernel_ = kernel
        return self


def check_clusterer(clusterer: Any, n_graphs: int) -> int:
    """The number of clusters; raises a sentence if a setting of the clusterer is not valid for so many graphs."""
    check_seed(clusterer.random_state)
    for name, least in (("n_init", 1), ("max_iter", 1)):
        check_range(name, getattr(clusterer, name), low=least, high=1_000_000, strict=False, whole=True)
    return check_count("n_clusters", clusterer.n_clusters, n_graphs, "graphs to cluster")


def seeds(matrix: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """k graphs far apart (k-means++): each one is drawn with a chance in proportion to its distance from the others."""
    chosen = [int(rng.integers(len(matrix)))]
    while len(chosen) < k:
        away = matrix[:, chosen].min(axis=1)
        away = np.maximum(away - min(float(away.min()), 0.0), 0.0) + 1e-12
        away[chosen] = 0.0
        chosen.append(int(rng.choice(len(matrix), p=away / away.sum())))
    return np.array(chosen)


def exchanged(matrix: FloatArray, medoids: IntArray, max_iter: int) -> tuple[IntArray, int]:
    """The best exchange of one medoid for another graph, again and again until none lowers the total discrepancy."""
    medoids = medoids.copy()
    for iteration in range(max_iter):
        total, best = _inertia(matrix, medoids), (np.inf, 0, 0)
        for place in range(len(medoids)):
            others = np.delete(medoids, place)
            near = matrix[:, others].min(axis=1) if len(others) else np.full(len(matrix), np.inf)
            totals = np.minimum(near[:, None], matrix).sum(axis=0)
            totals[medoids] = np.inf
            graph = int(totals.argmin())
            best = min(best, (float(totals[graph]), place, graph))
        if not best[0] < total - 1e-12 * max(abs(total), 1e-300):
            return medoids, iteration
        medoids[best[1]] = best[2]
    return medoids, max_iter


def labels_of(columns: FloatArray, medoids: IntArray) -> IntArray:
    """The nearest medoid of each graph; a medoid belongs to its own cluster."""
    labels = np.asarray(columns.argmin(axis=1))
    labels[medoids] = np.arange(len(medoids))
    return labels


def _inertia(matrix: FloatArray, medoids: IntArray) -> float:
    return float(matrix[:, medoids].min(axis=1).sum())
