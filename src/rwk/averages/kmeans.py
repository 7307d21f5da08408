"""`RWKMeans`: clusters of graphs around average graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple, Self

import numpy as np

from rwk.averages.barycenter import averaging_of, averaging_settings, check_averaged, checked_weights, plain_start
from rwk.averages.descent import LEAST_GAIN, descend
from rwk.averages.evidence import Members
from rwk.averages.medoids import MOST_EXCHANGES, CentredClusterer, check_clusterer, exchanged, seeds
from rwk.convert import as_graphs
from rwk.gram.matrix import cross_discrepancy, self_discrepancy, symmetric_discrepancy
from rwk.graphs import Graph, GraphSet
from rwk.kernel import RWKernel
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.parameter_checks import check_range
from rwk.transport.measures import cut

SAMPLED: Final = 200  # graphs among which the first centres are found
ROUNDS: Final = 4  # of the descent to a new centre: the centre moves on in the next iteration


class RWKMeans(CentredClusterer):
    """Cluster graphs around average graphs: k-means with barycentres.

    A scikit-learn clusterer. Graphs go to the nearest centre, and centres move to the averages of their graphs, in
    turns. The first centres are medoids, and a centre only moves if that lowers the total discrepancy to its graphs, so
    the inertia never increases.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters; at most the number of graphs.
    n_nodes : int, optional
        Number of nodes of the centres; by default each has as many as the medoid that it started from.
    kernel : RWKernel, optional
        A kernel with the parameters to compare graphs with; by default that of `RWKMedoids`. Averages are found with
        the defaults of `barycenter`.
    n_init : int, default 5
        Number of seedings of the medoids; the best ones are used.
    max_iter : int, default 10
        Largest number of iterations.
    random_state : int or None, default 0
        Seed of the seedings.

    Attributes
    ----------
    labels_ : ndarray of shape (n_graphs,)
        The cluster of each fitted graph.
    cluster_centers_ : GraphSet
        The average graph of each cluster.
    inertia_ : float
        Total discrepancy of all graphs to the centres of their clusters.
    history_ : ndarray
        The inertia of the seeds and after every iteration; it never increases.
    n_iter_ : int
        Number of iterations.
    kernel_ : RWKernel
        The fitted kernel; its columns are the centres.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import RWKMeans
    >>> graphs = [nx.path_graph(n) for n in (6, 7, 8)] + [nx.star_graph(n) for n in (5, 6, 7)]
    >>> clusters = RWKMeans(2).fit(graphs)
    >>> clusters.labels_.tolist(), clusters.predict([nx.star_graph(8)]).tolist() == [clusters.labels_[3]]
    ([0, 0, 0, 1, 1, 1], True)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_nodes: int | None = None,
        kernel: RWKernel | None = None,
        n_init: int = 5,
        max_iter: int = 10,
        random_state: int | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_nodes = n_nodes
        self.kernel = kernel
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster graphs; y is ignored."""
        graphs = as_graphs(X)
        k = check_clusterer(self, len(graphs))
        check_averaged(graphs)
        if self.n_nodes is not None:
            check_range("n_nodes", self.n_nodes, low=1, high=100_000, strict=False, whole=True)
        kernel = self._new_kernel()
        kernel.fit(graphs)
        lloyd = Lloyd(graphs, kernel, None if self.n_nodes is None else int(self.n_nodes))
        state = lloyd.seeded(k, int(self.n_init), np.random.default_rng(self.random_state))
        history = [state.inertia]
        for _ in range(int(self.max_iter)):
            new = lloyd.step(state)
            if new is None:
                break
            state = new
            history.append(state.inertia)
        state = state.renumbered()
        self.labels_, self.inertia_ = state.labels, state.inertia
        self.history_, self.n_iter_ = np.array(history), len(history) - 1
        self.cluster_centers_ = GraphSet.from_graphs(state.centres)
        kernel.measures_, kernel.n_graphs_, kernel.names_ = kernel.measures_of(self.cluster_centers_), k, None
        self.kernel_ = kernel
        return self


class Clustering(NamedTuple):
    """Centres, and the discrepancies of all graphs to them."""

    centres: list[Graph]
    columns: FloatArray  # (n_graphs, k)

    @property
    def labels(self) -> IntArray:
        return np.asarray(self.columns.argmin(axis=1))

    @property
    def inertia(self) -> float:
        return float(self.columns.min(axis=1).sum())

    def renumbered(self) -> Clustering:
        """The same clusters, numbered in the order in which they appear in the list of graphs."""
        first = [int(np.argmax(self.labels == c)) if (self.labels == c).any() else len(self.labels) for c in self.range]
        order = np.argsort(first, kind="stable")
        return Clustering([self.centres[c] for c in order], np.ascontiguousarray(self.columns[:, order]))

    @property
    def range(self) -> range:
        return range(len(self.centres))


class Lloyd:
    """The iterations of k-means on the graphs that a kernel was fitted on."""

    def __init__(self, graphs: GraphSet, kernel: RWKernel, n_nodes: int | None) -> None:
        self.kernel, self.measures, self.settings = kernel, kernel.measures_, kernel.parameters()
        self.own = self_discrepancy(self.measures, self.settings) if self.settings.debias else None
        chosen = {name: getattr(self.settings, name) for name in ("backend", "n_jobs", "random_state")}
        weights = checked_weights(None, len(graphs))
        self.averaging = averaging_of(graphs, weights, averaging_settings(chosen))
        self.graphs, self.n_nodes = self.averaging.members.graphs, n_nodes
        self.tried: set[bytes] = set()  # clusters whose average is known already

    def columns(self, centres: Sequence[Graph]) -> FloatArray:
        """Discrepancies of all graphs (rows) to some centres."""
        new = self.kernel.measures_of(GraphSet.from_graphs(centres))
        return cross_discrepancy(new, self.measures, self.settings, fitted_self=self.own)[0].T

    def seeded(self, k: int, n_init: int, rng: np.random.Generator) -> Clustering:
        """Medoids as the first centres; of many graphs, those of a sample."""
        sample = np.sort(rng.permutation(len(self.graphs))[: max(SAMPLED, k)])
        matrix, _ = symmetric_discrepancy(cut(self.measures, sample), self.settings)
        found = [exchanged(matrix, seeds(matrix, k, rng), MOST_EXCHANGES)[0] for _ in range(n_init)]
        best = min(found, key=lambda medoids: float(matrix[:, medoids].min(axis=1).sum()))
        centres = [plain_start(self.graphs[i], self.n_nodes) for i in sample[best]]
        return Clustering(centres, self.columns(centres))

    def step(self, state: Clustering) -> Clustering | None:
        """Move the centres of all clusters that have a better one; None if that does not lower the inertia."""
        centres, columns, labels = list(state.centres), state.columns.copy(), state.labels
        for c in state.range:
            members = np.flatnonzero(labels == c)
            if not len(members):  # the graph that is farthest from its centre begins the cluster anew
                far = int(columns.min(axis=1).argmax())
                centres[c] = plain_start(self.graphs[far], self.n_nodes)
                columns[:, c] = self.columns([centres[c]])[:, 0]
                continue
            for centre in self.candidates(members, centres[c]):
                column = self.columns([centre])[:, 0]
                if column[members].sum() < columns[members, c].sum():
                    centres[c], columns[:, c] = centre, column
        new = Clustering(centres, columns)
        return new if new.inertia < state.inertia - LEAST_GAIN * abs(state.inertia) else None

    def candidates(self, members: IntArray, centre: Graph) -> list[Graph]:
        """The average of a cluster, found from its centre, and the member nearest to it; none if known already."""
        key = members.tobytes() + centre.edges.tobytes()
        if key in self.tried:
            return []
        self.tried.add(key)
        averaging = replace(
            self.averaging,
            members=Members([self.graphs[i] for i in members], checked_weights(None, len(members))),
            measures=cut(self.averaging.measures, members),
            looks=0,
        )
        average = descend(averaging, centre, max_iter=ROUNDS)[0].graph
        nearest = members[self.columns([average])[members, 0].argmin()]
        return [average, plain_start(self.graphs[nearest], self.n_nodes)]
