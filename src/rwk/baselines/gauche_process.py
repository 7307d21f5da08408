"""GAUCHE's own Gaussian process on molecules, as its tutorial has it; run by `rwk reproduce regression` if installed.

Its Tanimoto kernel on its fragprints (2,048 bits of Morgan fingerprints of radius 3 beside counts of 85 functional
groups), with a constant mean, fitted by marginal likelihood with BoTorch (Griffiths et al. 2023).
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from rwk.runtime.arrays import FloatArray


def has_gauche() -> bool:
    """Whether GAUCHE can be imported."""
    return importlib.util.find_spec("gauche") is not None


class GaucheProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian process of GAUCHE on SMILES: its Tanimoto kernel on its fragprints.

    Attributes
    ----------
    model_ : botorch.models.SingleTaskGP
        The fitted process, on standardised targets.

    Examples
    --------
    >>> from rwk.baselines.gauche_process import GaucheProcess
    >>> GaucheProcess()
    GaucheProcess()
    """

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Choose the hyperparameters on SMILES and their values."""
        torch, gpytorch, fitting = _modules()
        targets = np.asarray(y, np.float64)
        self._mean, self._std = float(targets.mean()), float(targets.std()) or 1.0
        features = torch.from_numpy(_fragprints(X))
        scaled = torch.from_numpy((targets - self._mean) / self._std)
        likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about inputs that are not scaled: Tanimoto wants counts
            self.model_ = _process(gpytorch, features, scaled, likelihood)
        criterion = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, self.model_)
        fitting.fit_gpytorch_mll(criterion)
        self.model_.eval()
        likelihood.eval()
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predicted values of SMILES; with `return_std` also the standard deviations of measurements."""
        check_is_fitted(self, "model_")
        torch, gpytorch, _ = _modules()
        with torch.no_grad(), gpytorch.settings.fast_pred_var(False):
            found = self.model_.likelihood(self.model_(torch.from_numpy(_fragprints(X))))
        mean = self._mean + self._std * found.mean.numpy()
        return (mean, self._std * np.sqrt(found.variance.numpy())) if return_std else mean


def _modules() -> tuple[Any, Any, Any]:
    """torch, gpytorch and the fitting of BoTorch; raises ImportError with the command that installs GAUCHE."""
    if not has_gauche():
        raise ImportError("GAUCHE is not installed: pip install gauche")
    names = ("torch", "gpytorch", "botorch.fit")
    found = [importlib.import_module(name) for name in names]
    return found[0], found[1], found[2]


def _fragprints(smiles: Any) -> FloatArray:
    """What `MolPropLoader.featurize("ecfp_fragprints")` gives."""
    made = importlib.import_module("gauche.representations.fingerprints")
    items = [str(one) for one in smiles]
    return np.hstack([made.ecfp_fingerprints(items), made.fragments(items)]).astype(np.float64)


def _process(gpytorch: Any, features: Any, targets: Any, likelihood: Any) -> Any:
    """The model of GAUCHE's tutorials: a constant mean, and its Tanimoto kernel times an amplitude."""
    kernels = importlib.import_module("gauche.kernels.fingerprint_kernels.tanimoto_kernel")
    models = importlib.import_module("botorch.models")
    return models.SingleTaskGP(
        features,
        targets[:, None],
        likelihood=likelihood,
        covar_module=gpytorch.kernels.ScaleKernel(kernels.TanimotoKernel()),
        mean_module=gpytorch.means.ConstantMean(),
        outcome_transform=None,
    ).double()
