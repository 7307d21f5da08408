"""The kernel as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rwk.convert import as_graphs
from rwk.convert.label_coding import in_codes_of, same_kind_of_labels
from rwk.datasets.forms import warn_complete
from rwk.discrepancy import Matrix, aligned, joined_graphs, named, single_graph, warn_unused
from rwk.gram.compute import compute_gram
from rwk.gram.matrix import cross_discrepancy, self_discrepancy, symmetric_discrepancy
from rwk.graphs import GraphError, GraphSet
from rwk.parameters import Parameters, Scale
from rwk.represent import represent
from rwk.runtime.finite import kernel_of
from rwk.runtime.threads import Ticker
from rwk.runtime.watched import watched
from rwk.transport.measures import GraphMeasures, in_precision, joined
from rwk.transport.payments import payments_of_first
from rwk.transport.problem import PairSolution


class RWKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The regularized Wasserstein kernel K = exp(-eta RW) between graphs, as a scikit-learn transformer.

    `fit` learns the scales of costs and attributes from its graphs. `transform` returns the kernel between new graphs
    (rows) and the fitted ones (columns), ready for an estimator with a precomputed kernel. K is indefinite, so use
    `IndefiniteSVC` rather than a plain `SVC`.

    The keywords are those of `Parameters`, which describes all of them. The ones most often set:

    Parameters
    ----------
    hops : int, default 2
        Reach of the local variation: 2 is RWK, 1 is RWK-1, 0 is RWK-0.
    wl_rounds : int, default 3
        Rounds of Weisfeiler-Lehman refinement of the node labels.
    feature_metric : str, default "both"
        How node features are compared: "l2", "hamming", "both" or "product".
    beta_local : float, default 0.5
        Weight of the local part of the model.
    beta_global : float, default 0.5
        Weight of the global part of the model.
    entropy : float, default 0.1
        Entropy of the Sinkhorn step: larger values blur the coupling.
    debias : bool, default False
        Subtract half of each graph's discrepancy with itself.
    eta : float, default 1.0
        Width of the kernel.
    backend : str, default "auto"
        "cpu", "gpu", or "auto": the GPU if there is one.
    n_jobs : int or None, default None
        Number of threads; None and -1 use all cores.
    verbose : bool or None, default None
        Whether to show a progress bar; None shows one after five seconds, in a terminal or a notebook. It is the only
        keyword that `Parameters` does not have.

    Attributes
    ----------
    measures_ : GraphMeasures
        What the solver knows about the fitted graphs.
    scale_ : Scale
        The scales learned from them.
    n_graphs_ : int
        Number of fitted graphs.
    names_ : tuple of str or None
        Names of the fitted graphs, if they have names.
    health_ : GramHealth
        How many pairs of the last matrix did not converge.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import RWKernel
    >>> kernel = RWKernel(eta=2.0)
    >>> kernel.fit_transform([nx.path_graph(4), nx.star_graph(4)]).shape
    (2, 2)
    >>> kernel.transform([nx.cycle_graph(4)]).shape
    (1, 2)
    """

    def __init__(
        self,
        *,
        hops: int = 2,
        wl_rounds: int = 3,
        wl_edge_labels: bool | str = "auto",
        feature_metric: str = "both",
        hamming_weight: float = 0.5,
        label_weight: float = 0.5,
        return_weight: float = 1.0,
        attribute_weight: float = 1.0,
        attribute_rounds: int = 0,
        embedding: str = "heat-signature",
        embedding_dim: int | None = None,
        walk_length: int = 5,
        n_walks: int = 10,
        structure: str = "shortest-path",
        structure_metric: str = "auto",
        laplacian: str = "normalized",
        scale: str | Scale = "fit",
        beta_local: float = 0.5,
        beta_global: float = 0.5,
        laplacian_source: float = 0.01,
        laplacian_target: float = 0.01,
        ridge: float = 0.01,
        degree_weight: float = 0.01,
        degree_prior: str = "attract",
        mass: float = 1.0,
        entropy: float = 0.1,
        direction: str = "sinkhorn",
        max_iter: int = 10,
        sinkhorn_iter: int = 20,
        tol: float = 1e-3,
        precision: str = "float64",
        debias: bool = False,
        eta: float = 1.0,
        backend: str = "auto",
        n_jobs: int | None = None,
        random_state: int | None = 0,
        variant: str | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.hops = hops
        self.wl_rounds = wl_rounds
        self.wl_edge_labels = wl_edge_labels
        self.feature_metric = feature_metric
        self.hamming_weight = hamming_weight
        self.label_weight = label_weight
        self.return_weight = return_weight
        self.attribute_weight = attribute_weight
        self.attribute_rounds = attribute_rounds
        self.embedding = embedding
        self.embedding_dim = embedding_dim
        self.walk_length = walk_length
        self.n_walks = n_walks
        self.structure = structure
        self.structure_metric = structure_metric
        self.laplacian = laplacian
        self.scale = scale
        self.beta_local = beta_local
        self.beta_global = beta_global
        self.laplacian_source = laplacian_source
        self.laplacian_target = laplacian_target
        self.ridge = ridge
        self.degree_weight = degree_weight
        self.degree_prior = degree_prior
        self.mass = mass
        self.entropy = entropy
        self.direction = direction
        self.max_iter = max_iter
        self.sinkhorn_iter = sinkhorn_iter
        self.tol = tol
        self.precision = precision
        self.debias = debias
        self.eta = eta
        self.backend = backend
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.variant = variant
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Represent the graphs and learn the scales of their costs.

        Parameters
        ----------
        X : graphs
            Graphs in any form that `as_graphs` accepts.
        y
            Ignored.

        Returns
        -------
        RWKernel
            The fitted kernel itself.
        """
        settings = self.parameters()
        graphs = as_graphs(X)
        warn_unused(graphs, settings)
        warn_complete(graphs, settings.structure)
        return self._fit_silently(graphs)

    def _fit_silently(self, graphs: GraphSet) -> Self:
        """`fit` without warnings about what no term uses, for callers that give them once for many kernels."""
        settings = self.parameters()
        self.measures_, self.scale_ = represent(graphs, settings)
        self.n_graphs_ = len(graphs)
        self._features, self._label_names = _node_features(graphs), graphs.label_names
        self._has_attributes = graphs.node_attributes is not None
        self._edge_labels = None if graphs.edge_labels is None else np.unique(graphs.edge_labels)
        self.names_ = graphs.names
        self._self_discrepancy: Matrix | None = None
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Matrix:
        """Fit, and return the Gram matrix of the fitted graphs.

        Parameters
        ----------
        X : graphs
            Graphs in any form that `as_graphs` accepts.
        y
            Ignored.
        **fit_params
            Ignored.

        Returns
        -------
        ndarray of shape (n, n)
            The kernel, exactly symmetric.
        """
        return self._kernel(self.fit(X).discrepancy())

    def transform(self, X: Any) -> Matrix:
        """Return the kernel between new graphs (rows) and the fitted graphs (columns).

        Parameters
        ----------
        X : graphs
            Graphs in any form that `as_graphs` accepts, with the same kinds of features as the fitted ones.

        Returns
        -------
        ndarray of shape (len(X), n_graphs_)
            The kernel values.
        """
        return self._kernel(self.discrepancy(X))

    def discrepancy(self, X: Any = None, *, tick: Ticker | None = None) -> Matrix:
        """Return RW discrepancies between new graphs and the fitted ones.

        Parameters
        ----------
        X : graphs, optional
            New graphs; by default the fitted graphs are compared with each other.
        tick : callable, optional
            Called with the number of pairs solved since its last call, in place of a progress bar.

        Returns
        -------
        ndarray of shape (len(X), n_graphs_)
            The discrepancies.
        """
        check_is_fitted(self, "measures_")
        settings = self.parameters()
        if X is None:
            n_pairs = self.n_graphs_ * (self.n_graphs_ + 1) // 2
            with watched(tick, self.verbose, "discrepancies", n_pairs) as ticker:
                matrix, self.health_ = symmetric_discrepancy(self.measures_, settings, tick=ticker)
            return matrix
        if settings.debias and self._self_discrepancy is None:
            self._self_discrepancy = self_discrepancy(self.measures_, settings)
        new = self.measures_of(X)
        with watched(tick, self.verbose, "discrepancies", new.n_graphs * self.n_graphs_) as ticker:
            matrix, self.health_ = cross_discrepancy(
                new, self.measures_, settings, fitted_self=self._self_discrepancy, tick=ticker
            )
        return matrix

    def tiled_discrepancy(self, X: Any, *, store: str | None = None, executor: Any = None) -> Matrix:
        """Return RW discrepancies of graphs with each other, computed by `compute_gram` with these parameters.

        Parameters
        ----------
        X : graphs
            Graphs in any form that `as_graphs` accepts. Scales are learned from them, as `fit` does.
        store : path or address, optional
            Where tiles are kept; a run that was stopped goes on there.
        executor : optional
            Who computes the tiles; see `compute_gram`.

        Returns
        -------
        ndarray of shape (len(X), len(X))
            The discrepancies.
        """
        return compute_gram(X, store=store, executor=executor, **self.parameters().asdict()).discrepancy()

    def discrepancy_among(self, X: Any, *, diagonal: bool = False, tick: Ticker | None = None) -> Matrix:
        """Return RW discrepancies of new graphs with each other, with the scales that were fitted.

        Parameters
        ----------
        X : graphs
            New graphs.
        diagonal : bool, default False
            Whether to compare each graph with itself only.
        tick : callable, optional
            Called with the number of pairs solved since its last call, to show progress.

        Returns
        -------
        ndarray of shape (len(X), len(X)), or (len(X),) with `diagonal`
            The discrepancies; the diagonal is 0 if the kernel is debiased.
        """
        settings = self.parameters()
        new = self.measures_of(X)
        if diagonal:
            return np.zeros(new.n_graphs) if settings.debias else self_discrepancy(new, settings)
        return symmetric_discrepancy(new, settings, tick=tick)[0]

    def align(self, G: Any, H: Any, *, n_starts: int = 1, certify: bool = False, trace: bool = False) -> PairSolution:
        """Align two graphs, with the scales that were fitted.

        Parameters
        ----------
        G, H : graph
            Two graphs, each in any form that `as_graphs` accepts.
        n_starts : int, default 1
            Number of starts; the best solution is returned.
        certify : bool, default False
            Also compute the true Frank-Wolfe gap (needs POT).
        trace : bool, default False
            Keep the objective and the gap of every iteration.

        Returns
        -------
        PairSolution
            The value, its terms, the coupling, and how the solver ended.
        """
        check_is_fitted(self, "measures_")
        settings = self.parameters()
        graphs = joined_graphs(single_graph(G, "the first"), single_graph(H, "the second"))
        solution = aligned(self.measures_of(graphs), settings, n_starts=n_starts, certify=certify, trace=trace)
        return named(solution, graphs)

    def payments(self, G: Any) -> Matrix:
        """Return what each node of a graph pays when the graph is aligned with the fitted ones.

        Parameters
        ----------
        G : graph
            One graph in any form that `as_graphs` accepts.

        Returns
        -------
        ndarray of shape (n_graphs_, n_nodes)
            Row j sums to the discrepancy from fitted graph j. If the kernel is debiased, nodes are refunded half of
            what they pay when the graph is aligned with itself, and evenly half of what graph j pays to itself.
        """
        check_is_fitted(self, "measures_")
        settings = self.parameters()
        new = self.measures_of(single_graph(G, "the"))
        measures = in_precision(joined(new, self.measures_), settings.precision)
        paid = payments_of_first(measures, settings.cost_weights(), settings.scg_options())
        if not settings.debias:
            return paid[1:]
        if self._self_discrepancy is None:
            self._self_discrepancy = self_discrepancy(self.measures_, settings)
        refunds = self._self_discrepancy[:, None] / paid.shape[1]
        return np.asarray(paid[1:] - 0.5 * (paid[:1] + refunds))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of `transform`: those of the fitted graphs, or their numbers."""
        check_is_fitted(self, "measures_")
        return np.array(self.names_ or [f"graph{i}" for i in range(self.n_graphs_)], dtype=object)

    def measures_of(self, X: Any) -> GraphMeasures:
        """What the solver knows about new graphs, with the label codes and scales of the fitted ones."""
        check_is_fitted(self, "measures_")
        graphs = in_codes_of(
            as_graphs(X), self._label_names, attributes=self._has_attributes, edge_labels=self._edge_labels
        )
        if (has := _node_features(graphs)) != self._features:
            raise GraphError(
                f"the fitted graphs have {self._features}, these have {has}; give the same kinds of features"
            )
        return represent(self._with_edge_labels(graphs), self.parameters(), scale=self.scale_)[0]

    def _with_edge_labels(self, graphs: GraphSet) -> GraphSet:
        """New graphs with edge labels only if the fitted ones have them; raises if theirs can't be compared."""
        if self._edge_labels is None or not self.wl_edge_labels:
            return replace(graphs, edge_labels=None)
        way = "give the edges of all graphs labels of one kind, or pass wl_edge_labels=False"
        if graphs.edge_labels is None and len(graphs.edges):
            raise GraphError(f"the fitted graphs have edge labels and these have none; {way}")
        if not same_kind_of_labels(graphs.edge_labels, self._edge_labels):
            raise GraphError(f"the edge labels of these graphs can't be compared with those of the fitted ones; {way}")
        return graphs

    def parameters(self) -> Parameters:
        """The parameters of this kernel, checked."""
        keywords = self.get_params(deep=False)
        del keywords["verbose"]
        return Parameters.of(keywords)

    def _kernel(self, matrix: Matrix) -> Matrix:
        return np.asarray(kernel_of(matrix, self.eta))


def _node_features(graphs: GraphSet) -> str:
    """What the nodes of these graphs carry, in words."""
    width = 0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]
    labels = "no node labels" if graphs.node_labels is None else "node labels"
    return f"{labels} and {width or 'no'} node attributes"
