"""A support vector classifier for indefinite kernels. It sees matrices only.

spectrum   what is done to the kernel's negative part, and to rows of new graphs
proxy      the treatment that learns kernel and support vectors together
svms   one against one, many C on one kernel
smo        the quadratic program of a single svm
platt      probabilities from decisions
"""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from math import inf, isfinite
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from rwk.learn.one_vs_one import PairwiseSVMs, encode_classes, fit_path, vote, winners
from rwk.learn.platt import couple, fit_sigmoids, sigmoids
from rwk.learn.proxy import Proxy, solve_class_pairs
from rwk.learn.treatment import TREATMENTS, Treatment, diagonal_scale, spectrum, treat
from rwk.runtime.arrays import FloatArray, IntArray

ASYMMETRY = 1e-6
PLATT_FOLDS = 5


class IndefiniteSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classification with a precomputed kernel that need not be positive.

    The kernel is divided by its mean diagonal, then treated: "clip" drops negative eigenvalues, "flip" takes their
    sizes, "shift" lifts all, "none" leaves them, and "proxy" learns a positive kernel together with the support
    vectors, kept near the given one with weight `kappa` (Luss and d'Aspremont 2008; κ = ∞ is clip). New rows are
    treated like training rows. More than two classes: one against one, all on one treated kernel. `tol` is the
    relative duality gap to reach, `max_iter` the most Newton steps of a proxy svm.

    Learned: `negative_share_` and `eigenvalues_` (of the scaled, untreated kernel), `duality_gap_` (relative, the
    largest of all svms), `dual_value_`, `dual_coef_` (y∘α), `row_coef_` (the same, mapped to act on untreated
    rows), `intercept_`, `support_`, `scale_`, `n_iter_` (quadratic programs solved), `classes_`.

    >>> D = np.abs(np.subtract.outer([0.0, 1.0, 5.0, 6.0], [0.0, 1.0, 5.0, 6.0]))
    >>> classifier = IndefiniteSVC(C=10.0, treatment="proxy", kappa=100.0).fit(np.exp(-D), ["a", "a", "b", "b"])
    >>> classifier.predict(np.exp(-D[:2])).tolist()
    ['a', 'a']
    >>> bool(classifier.duality_gap_ <= 1e-4)
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        treatment: Treatment = "clip",
        kappa: float = inf,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        probability: bool = False,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.C = C
        self.treatment = treatment
        self.kappa = kappa
        self.class_weight = class_weight
        self.probability = probability
        self.decision_function_shape = decision_function_shape
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from the square kernel of the training graphs and their targets."""
        self._check_parameters()
        kernel, targets = self._check_training(X, y)
        self.classes_, codes = encode_classes(targets)
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=targets)
        bounds = self.C * np.asarray(weights, np.float64)[codes]
        self.scale_ = diagonal_scale(kernel.diagonal())
        kernel = kernel / self.scale_
        self._solve(kernel, codes, bounds)
        if self.probability:
            self._fit_probabilities(kernel, targets, codes)
        return self

    def _solve(self, kernel: FloatArray, codes: IntArray, bounds: FloatArray) -> None:
        known = spectrum(kernel)
        self.eigenvalues_, self.negative_share_ = known.values, known.negative_share
        treated = treat(kernel, self.treatment, known)
        start = fit_path(treated.kernel, codes, np.ones(1), bounds)[0]
        proxy = Proxy(kernel, known, self.kappa if self.treatment == "proxy" else inf)
        dual, rows, intercepts, values, gaps, steps = [], [], [], [], [], []
        solved = solve_class_pairs(
            proxy, treated, codes, bounds, start.coefficients, tol=self.tol, max_steps=self.max_iter
        )
        for members, svm in solved:
            full = np.zeros(len(codes))
            full[members] = svm.v
            dual.append(full)
            rows.append(svm.coefficients)
            intercepts.append(svm.intercept)
            values.append(svm.value)
            gaps.append(svm.gap)
            steps.append(svm.n_steps)
        self.dual_coef_, self.row_coef_ = np.array(dual), np.array(rows)
        self.intercept_, self.dual_value_ = np.array(intercepts), np.array(values)
        self.support_ = np.flatnonzero((self.dual_coef_ != 0).any(axis=0))
        # the program of the treated kernel, and one for each Newton step
        self.duality_gap_, self.n_iter_ = float(max(gaps)), 1 + int(max(steps))
        if self.duality_gap_ > self.tol:
            warnings.warn(
                f"a relative duality gap of {self.duality_gap_:.2g} is left, more than tol={self.tol:.2g}; "
                "lower C, or raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Decisions on kernel rows of new graphs: (n,) for two classes, else per class ("ovr") or svm ("ovo")."""
        decisions = self._decide(X)
        if len(self.classes_) == 2:
            return decisions[:, 0]
        # scikit-learn's sign: positive for the first class of a pair
        return -decisions if self.decision_function_shape == "ovo" else vote(decisions, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predicted classes of new graphs, from their kernel rows against the training graphs."""
        codes = winners(self._decide(X))
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: bool(self.probability))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class probabilities of new graphs: Platt's sigmoids, coupled when there are more than two classes."""
        decisions = self._decide(X)
        if not hasattr(self, "sigmoids_"):
            raise ValueError("the classifier was fitted with probability=False; set it to True and fit again")
        return couple(sigmoids(decisions, self.sigmoids_), len(self.classes_))

    def _decide(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        return PairwiseSVMs(self.row_coef_, self.intercept_).decide(rows / self.scale_)

    def _fit_probabilities(self, kernel: FloatArray, targets: NDArray[Any], codes: IntArray) -> None:
        """Sigmoids on decisions that held-out graphs got from inner folds."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise ValueError("probability=True needs at least two training graphs of every class; one class has one")
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        folds = StratifiedKFold(min(PLATT_FOLDS, smallest), shuffle=True, random_state=seed)
        decisions = np.empty((len(codes), len(self.intercept_)))
        for train, held_out in folds.split(codes, codes):
            inner = clone(self).set_params(probability=False).fit(kernel[np.ix_(train, train)], targets[train])
            decisions[held_out] = inner._decide(kernel[np.ix_(held_out, train)])
        self.sigmoids_ = fit_sigmoids(decisions, codes)

    def _check_parameters(self) -> None:
        for name in ("C", "kappa", "tol", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not float(value) > 0:
                raise ValueError(f"{name} must be a positive number, not {value!r}")
        if not isfinite(self.C):
            raise ValueError("C must be finite; for a hard margin give a large number")
        if self.treatment not in TREATMENTS:
            near = get_close_matches(str(self.treatment), TREATMENTS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(TREATMENTS)}"
            raise ValueError(f"unknown treatment {self.treatment!r}; {hint}")
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape must be 'ovr' or 'ovo', not {self.decision_function_shape!r}")

    def _check_training(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, NDArray[Any]]:
        if y is None:
            raise ValueError("IndefiniteSVC requires y to be passed, but the target y is None: give one per graph")
        kernel = self._validated(X, reset=True)
        n, m = kernel.shape
        if n != m:
            raise ValueError(f"the kernel has shape {kernel.shape}, but training needs a square one")
        targets = column_or_1d(y, warn=True)
        if len(targets) != n:
            raise ValueError(f"the kernel is of {n} graphs, but there are {len(targets)} targets")
        apart = float(np.abs(kernel - kernel.T).max())
        if apart > ASYMMETRY * float(np.abs(kernel).max()):
            raise ValueError(f"the kernel is not symmetric (entries differ by up to {apart:.3g}); average it with Kᵀ")
        encode_classes(targets)
        check_classification_targets(targets)
        return (kernel + kernel.T) / 2, targets

    def _validated(self, X: ArrayLike, *, reset: bool) -> FloatArray:
        kernel = _finite(X)
        try:
            from sklearn.utils.validation import validate_data
        except ImportError:  # scikit-learn before 1.6
            return np.asarray(self._validate_data(kernel, dtype=np.float64, reset=reset))
        return np.asarray(validate_data(self, kernel, dtype=np.float64, reset=reset))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags

    def _more_tags(self) -> dict[str, bool]:  # scikit-learn before 1.6
        return {"pairwise": True}


def _finite(X: ArrayLike) -> ArrayLike:
    if isinstance(X, np.ndarray) and X.ndim == 2 and np.issubdtype(X.dtype, np.floating):
        bad = ~np.isfinite(X)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            raise ValueError(f"the kernel has {bad.sum()} entries NaN or infinite (inf), the first at ({i}, {j})")
    return X
