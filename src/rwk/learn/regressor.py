"""RWKRegressor: kernel ridge regression on graphs that chooses its own settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from rwk.learn.grids import named_settings
from rwk.learn.search_grid import SUM
from rwk.learn.target_checks import checked_targets
from rwk.learn.term_sources import TermOptions, TermSources
from rwk.learn.treatment import TREATMENTS, TreatedKernel, treat
from rwk.runtime.arrays import FloatArray
from rwk.runtime.finite import finite_rows
from rwk.runtime.parameter_checks import shown

ETAS: Final = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
RIDGES: Final = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)


class RegressionChoice(NamedTuple):
    """What was chosen, and its leave-one-out error on the training graphs."""

    setting: str
    eta: float
    ridge: float
    rmse: float


class RWKRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression on graphs with the regularized Wasserstein kernel.

    Discrepancies are computed once per setting of the grid. Setting, η and ridge are then chosen by the leave-one-out
    error of the training graphs, which one decomposition per kernel gives for every ridge. For error bars use
    `RWKGaussianProcess`.

    Parameters
    ----------
    grid : str or mapping, default "molecules"
        The settings to choose from: the name of a grid (see `RWKClassifier`), or a mapping from names to settings,
        each a mapping of `rwk.Parameters`. With several settings, the mean of their kernels is a candidate as well.
    eta, ridge : float or sequence of float, optional
        Values to try for η in the kernel exp(−η D / mean D), and for the ridge that is added to its diagonal.
    treatment : {"clip", "flip", "shift", "none"}, default "clip"
        What is done about negative eigenvalues; see `IndefiniteSVC`.
    featurizer : str, default "full"
        How SMILES and RDKit molecules are read; see `rwk.molecules`. Other graphs are taken as they are.
    backend : {"auto", "cpu", "gpu"}, default "auto"
        Where discrepancies are computed.
    n_jobs : int, optional
        Number of threads; by default all.
    random_state : int, default 0
        Seed of the pairs that set the scale of the costs.

    Attributes
    ----------
    choice_ : RegressionChoice
        The chosen setting, η and ridge, and their leave-one-out error.
    coef_ : ndarray of shape (n_graphs_,)
        The coefficients of the training graphs.
    negative_share_ : float
        Σ|negative eigenvalues| / Σ|eigenvalues| of the chosen kernel, before the treatment.
    n_graphs_ : int
        Number of training graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> graphs = [nx.path_graph(n) for n in range(3, 11)]
    >>> regressor = RWKRegressor(grid="quick").fit(graphs, [float(n) for n in range(3, 11)])
    >>> regressor.predict([nx.path_graph(6)]).shape, regressor.choice_.setting
    ((1,), 'default')
    """

    def __init__(
        self,
        *,
        grid: str | Mapping[str, Mapping[str, Any]] = "molecules",
        eta: float | Sequence[float] | None = None,
        ridge: float | Sequence[float] | None = None,
        treatment: str = "clip",
        featurizer: str = "full",
        backend: str = "auto",
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.grid = grid
        self.eta = eta
        self.ridge = ridge
        self.treatment = treatment
        self.featurizer = featurizer
        self.backend = backend
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, store: str | os.PathLike[str] | None = None, executor: Any = None) -> Self:
        """Choose the settings and train.

        Parameters
        ----------
        X : SMILES, GraphSet or anything `as_graphs` takes
            The training graphs.
        y : array-like, optional
            Their values; by default the targets of the GraphSet.
        store : path or address, optional
            Where `compute_gram` keeps the matrices, one folder per setting; a fit that was stopped goes on there.
        executor : optional
            Who computes them: "processes", a Dask client, ...; see `compute_gram`.

        Returns
        -------
        RWKRegressor
            The fitted regressor.
        """
        etas, ridges = _values("eta", self.eta, ETAS), _values("ridge", self.ridge, RIDGES)
        if not isinstance(self.treatment, str) or self.treatment not in TREATMENTS or self.treatment == "proxy":
            known = ", ".join(name for name in TREATMENTS if name != "proxy")
            raise ValueError(f"unknown treatment {shown(self.treatment)}; choose from {known}")
        settings = named_settings(self.grid, self.backend, self.n_jobs, self.random_state)
        options = TermOptions(settings, featurizer=self.featurizer)
        graphs = options.read(X)
        targets = checked_targets(graphs, y)
        sources = TermSources.of(options, X, graphs)
        matrices = {name: block.matrix for name, block in sources.training(sources.computed(store, executor)).items()}
        self._units = {name: _unit(matrix) for name, matrix in matrices.items()}
        self._mean, self._std = float(targets.mean()), float(targets.std())
        scaled = (targets - self._mean) / self._std
        self.choice_ = self._search(matrices, scaled, etas, ridges)
        kernel = self._kernel(matrices)
        self._treated: TreatedKernel = treat(kernel, self.treatment)
        values, vectors = np.linalg.eigh(self._treated.kernel)
        own = np.linalg.eigvalsh(kernel)
        self.negative_share_ = float(-own[own < 0].sum() / np.abs(own).sum())
        self.coef_ = vectors @ ((vectors.T @ scaled) / (np.maximum(values, 0.0) + self.choice_.ridge))
        self.sources_, self.n_graphs_ = sources, len(graphs)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict values of graphs.

        Parameters
        ----------
        X : SMILES, GraphSet or anything `as_graphs` takes
            New graphs.

        Returns
        -------
        ndarray of shape (n,)
            The predictions.
        """
        check_is_fitted(self, "coef_")
        graphs = self.sources_.read(X)
        used = self._used(self.sources_.kernels)
        rows = self._kernel({name: self.sources_.kernels[name].discrepancy(graphs) for name in used})
        found = self._mean + self._std * (self._treated.map_rows(rows) @ self.coef_)
        return finite_rows(found, what="the prediction")

    def _search(
        self, matrices: Mapping[str, FloatArray], targets: FloatArray, etas: Sequence[float], ridges: Sequence[float]
    ) -> RegressionChoice:
        found = []
        names = [*matrices, SUM] if len(matrices) > 1 else list(matrices)
        for name in names:
            for eta in etas:
                kernel = self._kernel(matrices, name, eta)
                errors = left_out_errors(treat(kernel, self.treatment).kernel, targets, ridges)
                found += [
                    RegressionChoice(name, eta, ridge, self._std * error)
                    for ridge, error in zip(ridges, errors, strict=True)
                ]
        return min(found, key=lambda choice: choice.rmse)

    def _kernel(self, matrices: Mapping[str, FloatArray], name: str = "", eta: float = 0.0) -> FloatArray:
        """The kernel of a setting, or the mean kernel of all; by default the chosen one."""
        name, eta = name or self.choice_.setting, eta or self.choice_.eta
        used = list(matrices) if name == SUM else [name]
        total = sum(np.exp(-eta * matrices[one] / self._units[one]) for one in used)
        return np.asarray(total) / len(used)

    def _used(self, names: Mapping[str, Any]) -> list[str]:
        return list(names) if self.choice_.setting == SUM else [self.choice_.setting]


def left_out_errors(kernel: FloatArray, targets: FloatArray, ridges: Sequence[float]) -> list[float]:
    """Root mean squared leave-one-out error of kernel ridge regression, for each ridge.

    >>> [round(error, 3) for error in left_out_errors(np.eye(2), np.array([1.0, -1.0]), (1.0,))]
    [1.0]
    """
    values, vectors = np.linalg.eigh(kernel)
    rotated = vectors.T @ targets
    errors = []
    for ridge in ridges:
        inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
        residuals = (vectors @ (inverse * rotated)) / ((vectors**2) @ inverse)
        errors.append(float(np.sqrt(np.mean(residuals**2))))
    return errors


def _unit(matrix: FloatArray) -> float:
    mean = float(matrix.mean())
    return mean if mean > 0 else 1.0


def _values(name: str, given: float | Sequence[float] | None, usual: Sequence[float]) -> tuple[float, ...]:
    try:
        chosen = np.atleast_1d(np.asarray(usual if given is None else given, np.float64))
        values = tuple(float(value) for value in chosen)
    except (TypeError, ValueError, OverflowError):
        values = ()
    if not values or not all(np.isfinite(value) and value > 0 for value in values):
        raise ValueError(f"{name} must be one or more positive numbers, not {shown(given)}")
    return values
