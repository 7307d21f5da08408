"""RWKGaussianProcess: numbers with error bars for graphs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from rwk.graphs import GraphSet
from rwk.learn.exact_gp import FittedGP, GpOptions, Prediction, fit_gp, sample
from rwk.learn.feature_ridge import FeatureRidge, fit_feature_ridge
from rwk.learn.grids import named_settings
from rwk.learn.landmark_gp import LandmarkGP, fit_landmark_gp
from rwk.learn.likelihood import CRITERIA, GP_TREATMENTS, Criterion
from rwk.learn.target_checks import checked_alpha, checked_targets
from rwk.learn.term_sources import TermOptions, TermSources
from rwk.runtime.arrays import FloatArray
from rwk.runtime.finite import finite_rows
from rwk.runtime.log import LOG
from rwk.runtime.parameter_checks import check_range, check_seed, shown

METHODS: Final = ("auto", "exact", "landmarks", "features")
MOST_EXACT: Final = 5000  # graphs; more are fitted with landmarks


class RWKGaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression on graphs with error bars: a Gaussian process on a sum of RW kernels.

    The kernel is Σ w exp(−η D / mean D) over the settings, with discrepancies D, and optionally kernels on
    fingerprints and three on the composition of the graphs. Weights, η and the noise are chosen together, by marginal
    likelihood with gradients or by leave-one-out density. Discrepancies are computed once per setting. Targets are
    standardised inside. Error bars are those of a measurement: they include the noise.

    Parameters
    ----------
    settings : str or mapping, default "molecules"
        The terms of the sum: the name of a grid (see `RWKClassifier`), or a mapping from names to settings, each a
        mapping of `rwk.Parameters`.
    fingerprints : {None, "morgan", "fragments", "both"}, default None
        Add the Tanimoto kernel on counts of substructures: of circular ones (Morgan), of functional groups, or one
        kernel on each. Graphs must then be given as SMILES, as RDKit molecules, or as a GraphSet whose names are
        SMILES.
    extensive : bool, default True
        Add kernels on the numbers of nodes and edges of each kind: two linear ones, for quantities that grow with the
        graph, and the min-max kernel.
    featurizer : str, default "full"
        How SMILES and RDKit molecules are read; see `rwk.molecules`. Other graphs are taken as they are.
    criterion : {"likelihood", "leave-one-out"}, default "likelihood"
        What chooses weights, η and noise.
    treatment : {"clip", "shift"}, default "clip"
        What is done about negative eigenvalues of the kernel: set to 0, or all raised until none is negative.
    alpha : float or array of shape (n_graphs,), default 0.0
        Variances of the measurements that are known beforehand, in squared units of the targets; a common noise is
        learned on top.
    method : {"auto", "exact", "landmarks", "features"}, default "auto"
        "exact" uses all pairs of training graphs; "landmarks" is a subset of regressors; "features" is Bayesian ridge
        regression on `RWFeatures`. "auto" is exact up to 5,000 graphs, then uses landmarks.
    n_landmarks : int, default 500
        Number of landmarks.
    n_starts : int, default 2
        Number of starts of the optimiser.
    backend : {"auto", "cpu", "gpu"}, default "auto"
        Where discrepancies are computed.
    n_jobs : int, optional
        Number of threads; by default all.
    random_state : int, default 0
        Seed of everything that is random.

    Attributes
    ----------
    model_ : FittedGP, LandmarkGP or FeatureRidge
        The fitted model; `model_.record()` has the chosen weights, η (in units of 1 / mean D) and noise.
    sources_ : TermSources
        What computes the matrices between new graphs and training graphs.
    negative_share_ : float
        Σ|negative eigenvalues| / Σ|eigenvalues| of the chosen kernel, before the treatment.
    method_ : str
        The method that was used.
    landmarks_ : ndarray
        Numbers of the training graphs that are landmarks, with method "landmarks".
    n_graphs_ : int
        Number of training graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.path_graph(n) for n in range(3, 11)]
    >>> process = RWKGaussianProcess(settings="quick").fit(graphs, [float(n) for n in range(3, 11)])
    >>> mean, std = process.predict([nx.path_graph(12)], return_std=True)
    >>> mean.shape, bool(std[0] > 0)
    ((1,), True)
    """

    def __init__(
        self,
        *,
        settings: str | Mapping[str, Mapping[str, Any]] = "molecules",
        fingerprints: str | None = None,
        extensive: bool = True,
        featurizer: str = "full",
        criterion: str = "likelihood",
        treatment: str = "clip",
        alpha: Any = 0.0,
        method: str = "auto",
        n_landmarks: int = 500,
        n_starts: int = 2,
        backend: str = "auto",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.settings = settings
        self.fingerprints = fingerprints
        self.extensive = extensive
        self.featurizer = featurizer
        self.criterion = criterion
        self.treatment = treatment
        self.alpha = alpha
        self.method = method
        self.n_landmarks = n_landmarks
        self.n_starts = n_starts
        self.backend = backend
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        discrepancies: Mapping[str, Any] | None = None,
        store: str | os.PathLike[str] | None = None,
        executor: Any = None,
    ) -> Self:
        """Choose the hyperparameters and learn from measured values.

        Parameters
        ----------
        X : SMILES, GraphSet or anything `as_graphs` takes
            The training graphs.
        y : array-like, optional
            Their values; by default the targets of the GraphSet.
        discrepancies : mapping from names of settings to square matrices, optional
            Matrices of these graphs that are known already, for example parts of larger ones.
        store : path or address, optional
            Where `compute_gram` keeps the matrices, one folder per setting; a fit that was stopped goes on there. Used
            by method "exact".
        executor : optional
            Who computes them: "processes", a Dask client, ...; see `compute_gram`.

        Returns
        -------
        RWKGaussianProcess
            The fitted process.
        """
        options = self._options()
        terms = self._terms()
        graphs = terms.read(X)
        targets = checked_targets(graphs, y)
        alpha = checked_alpha(self.alpha, len(graphs))
        self.method_ = self._method(len(graphs))
        self.model_: FittedGP | LandmarkGP | FeatureRidge
        seed = self.random_state or 0
        if self.method_ == "exact":
            self.sources_ = TermSources.of(terms, X, graphs)
            known = discrepancies or self.sources_.computed(store, executor)
            self.model_ = fit_gp(self.sources_.training(known), targets, alpha, options)
        elif self.method_ == "landmarks":
            chosen = np.sort(np.random.default_rng(seed).permutation(len(graphs))[: self.n_landmarks])
            self.landmarks_, part = chosen, graphs[chosen]
            self.sources_ = TermSources.of(terms, _selected(X, chosen, part), part)
            rows = self.sources_.rows(X, graphs)
            self.model_ = fit_landmark_gp(self.sources_.training(), rows, chosen, targets, alpha, options)
        else:
            self.sources_ = TermSources.of(replace(terms, fingerprints=None, extensive=False), X, graphs[:3])
            self.model_ = fit_feature_ridge(graphs, targets, dict(terms.settings), self.n_landmarks, seed)
        self.negative_share_, self.n_graphs_ = self.model_.negative_share, len(graphs)
        self.targets_ = targets
        LOG.info("%d graphs, %s: %s", len(graphs), self.method_, in_words(self.model_.record()))
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Predict values of graphs.

        Parameters
        ----------
        X : SMILES, GraphSet or anything `as_graphs` takes
            New graphs.
        return_std, return_cov : bool, default False
            Whether to return also the standard deviation of each value, or the covariance of all; not both.

        Returns
        -------
        ndarray of shape (n,), or a pair of it and the standard deviations or the covariance
            The predictions. A standard deviation is that of a new measurement, so it includes the noise.
        """
        if return_std and return_cov:
            raise ValueError("ask for return_std or return_cov, not both; the variances are the diagonal of the latter")
        found = self._prediction(X, covariance=return_cov)
        if return_cov:
            return found.mean, found.covariance
        return (found.mean, np.sqrt(found.variance)) if return_std else found.mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: int | None = 0) -> FloatArray:
        """Draw values of graphs from their joint distribution.

        Parameters
        ----------
        X : SMILES, GraphSet or anything `as_graphs` takes
            New graphs.
        n_samples : int, default 1
            Number of draws.
        random_state : int, optional
            Seed of the draws.

        Returns
        -------
        ndarray of shape (n, n_samples)
            One column per draw.
        """
        check_seed(random_state)
        check_range("n_samples", n_samples, low=1, high=inf, strict=False, whole=True)
        return sample(self._prediction(X, covariance=True), int(n_samples), random_state)

    def log_marginal_likelihood(self) -> float:
        """The log density of the training targets under the fitted process; with landmarks, under its approximation."""
        check_is_fitted(self, "model_")
        return self.model_.log_marginal_likelihood(self.targets_)

    def _prediction(self, X: Any, *, covariance: bool) -> Prediction:
        check_is_fitted(self, "model_")
        graphs = self.sources_.read(X)
        if isinstance(self.model_, FeatureRidge):
            found = self.model_.predict(graphs, covariance=covariance)
        else:
            rows, own = self.sources_.rows(X, graphs), self.sources_.own(X, graphs)
            found = self.model_.predict(rows, own, self.sources_.among(X, graphs) if covariance else None)
        finite_rows(found.mean, what="the prediction")
        finite_rows(found.variance, what="the variance")
        return found

    def _options(self) -> GpOptions:
        for name, known in (("criterion", CRITERIA), ("treatment", GP_TREATMENTS), ("method", METHODS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                raise ValueError(f"{name}={shown(value)} is unknown; it is one of {', '.join(known)}")
        for name in ("n_starts", "n_landmarks"):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, not {shown(value)}")
        return GpOptions(cast(Criterion, self.criterion), self.treatment, self.n_starts, self.random_state or 0)

    def _terms(self) -> TermOptions:
        settings = named_settings(self.settings, self.backend, self.n_jobs, self.random_state)
        return TermOptions(settings, self.fingerprints, bool(self.extensive), self.featurizer)

    def _method(self, n_graphs: int) -> str:
        return ("exact" if n_graphs <= MOST_EXACT else "landmarks") if self.method == "auto" else self.method


def _selected(X: Any, chosen: Any, part: GraphSet) -> Any:
    """The molecules of some graphs, or the graphs if they are not molecules."""
    from rwk.learn.term_sources import is_molecules

    return [X[int(i)] for i in chosen] if isinstance(X, list) and is_molecules(X) else part


def in_words(record: Mapping[str, Any]) -> str:
    """The terms that take part, heaviest first, and the noise.

    >>> in_words({"weights": {"atoms": 0.25, "colours": 0.0001, "composition": 2.0}, "noise": 0.0151})
    'weights composition 2, atoms 0.25; noise 0.0151'
    """
    heaviest = sorted(record.get("weights", {}).items(), key=lambda item: -float(item[1]))
    shown = ", ".join(f"{name} {weight:.2g}" for name, weight in heaviest if weight >= 0.001)
    return f"weights {shown}; noise {record['noise']:.3g}" if shown else f"noise {record['noise']:.3g}"
