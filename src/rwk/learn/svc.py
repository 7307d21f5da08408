"""A support vector classifier for precomputed kernels that need not be positive (package header: who calls whom)."""

from __future__ import annotations

from math import inf
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

from rwk.learn.one_vs_one import PairwiseSVMs, as_labels, encode_classes, fit_path, vote, winners
from rwk.learn.platt import couple, fit_sigmoids, sigmoids
from rwk.learn.proxy import Proxy, solve_class_pairs
from rwk.learn.svc_checks import check_finite, check_square, check_svc_parameters
from rwk.learn.treatment import Treatment, diagonal_scale, spectrum, treat
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import finite_rows
from rwk.runtime.user_warnings import warn_user

PLATT_FOLDS = 5


class IndefiniteSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector classification with a precomputed kernel that need not be positive.

    The kernel is divided by its mean diagonal, then its negative eigenvalues are treated; rows of new graphs are
    treated like training rows. With more than two classes, one SVM is trained per pair of classes, all on the same
    treated kernel.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a training error; larger values fit the training graphs more closely.
    treatment : {"clip", "proxy", "flip", "shift", "none"}, default "clip"
        What is done about negative eigenvalues: "clip" sets them to 0, "flip" takes their absolute values, "shift"
        raises all eigenvalues until the smallest is 0, "none" leaves them, and "proxy" learns a positive kernel near
        the given one together with the support vectors (Luss and d'Aspremont 2008).
    kappa : float, default inf
        For "proxy", the weight that keeps the learned kernel near the given one; infinity is the same as "clip".
    class_weight : dict or "balanced", optional
        Factors of C for each class; "balanced" makes them inversely proportional to class sizes.
    probability : bool, default False
        Whether to fit what `predict_proba` needs (Platt's sigmoids, by five inner folds).
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        With more than two classes, whether `decision_function` has one column per class or per pair of classes.
    tol : float, default 1e-4
        The relative duality gap to reach.
    max_iter : int, default 100
        The most Newton steps for one SVM with treatment "proxy".
    random_state : int or RandomState, optional
        Seed of the inner folds that `probability=True` needs.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    eigenvalues_ : ndarray of shape (n_train,)
        Eigenvalues of the scaled, untreated kernel.
    negative_share_ : float
        Sum of the absolute negative eigenvalues over the sum of all absolute eigenvalues.
    duality_gap_ : float
        The relative duality gap that was reached, the largest of all SVMs.
    dual_value_ : ndarray of shape (n_pairs,)
        Values of the dual objective, one per pair of classes.
    dual_coef_ : ndarray of shape (n_pairs, n_train)
        y∘α of each SVM.
    row_coef_ : ndarray of shape (n_pairs, n_train)
        The same, mapped so that it applies to untreated kernel rows.
    intercept_ : ndarray of shape (n_pairs,)
        Intercepts of the SVMs.
    support_ : ndarray
        Indices of the training graphs that any SVM uses.
    scale_ : float
        The mean diagonal, by which the kernel was divided.
    n_iter_ : int
        Number of quadratic programs solved for one SVM, the largest of all SVMs.

    Examples
    --------
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
        """Train on a kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n_train, n_train)
            The symmetric kernel matrix of the training graphs.
        y : array-like of shape (n_train,)
            Their classes.

        Returns
        -------
        IndefiniteSVC
            The fitted classifier.
        """
        check_svc_parameters(self.get_params(deep=False))
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
        # one program on the treated kernel, and one for each Newton step
        self.duality_gap_, self.n_iter_ = float(max(gaps)), 1 + int(max(steps))
        if self.duality_gap_ > self.tol:
            warn_user(
                f"the relative duality gap is {self.duality_gap_:.2g}, above tol={self.tol:.2g}; "
                "lower C, or raise max_iter or tol",
                ConvergenceWarning,
            )

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Decision values of new graphs.

        Parameters
        ----------
        X : array-like of shape (n, n_train)
            Kernel values of new graphs (rows) with the training graphs (columns).

        Returns
        -------
        ndarray
            Of shape (n,) for two classes, positive for the second; with more classes one column per class, or per
            pair of classes if `decision_function_shape="ovo"`.
        """
        decisions = self._decide(X)
        if len(self.classes_) == 2:
            return decisions[:, 0]
        # scikit-learn's sign for "ovo": positive for the first class of a pair
        return -decisions if self.decision_function_shape == "ovo" else vote(decisions, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predicted classes of new graphs.

        Parameters
        ----------
        X : array-like of shape (n, n_train)
            Kernel values of new graphs (rows) with the training graphs (columns).

        Returns
        -------
        ndarray of shape (n,)
            The predicted classes.
        """
        codes = winners(self._decide(X))
        return np.asarray(self.classes_[codes])

    @available_if(lambda self: bool(self.probability))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Class probabilities of new graphs; only with `probability=True`.

        Parameters
        ----------
        X : array-like of shape (n, n_train)
            Kernel values of new graphs (rows) with the training graphs (columns).

        Returns
        -------
        ndarray of shape (n, n_classes)
            Probabilities from Platt's sigmoids, combined over pairs if there are more than two classes.
        """
        decisions = self._decide(X)
        if not hasattr(self, "sigmoids_"):
            raise ValueError("the classifier was fitted with probability=False; set it to True and fit again")
        return couple(sigmoids(decisions, self.sigmoids_), len(self.classes_))

    def _decide(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        rows = self._validated(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is an error below
            decisions = PairwiseSVMs(self.row_coef_, self.intercept_).decide(rows / self.scale_)
        return finite_rows(decisions, what="the decision")

    def _fit_probabilities(self, kernel: FloatArray, targets: NDArray[Any], codes: IntArray) -> None:
        """Fit sigmoids to decisions on graphs that were held out in inner folds."""
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

    def _check_training(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, NDArray[Any]]:
        if y is None:
            raise ValueError("IndefiniteSVC requires y to be passed, but the target y is None; give a class per graph")
        kernel = check_square(self._validated(X, reset=True))
        targets = column_or_1d(as_labels(y), warn=True)
        if len(targets) != len(kernel):
            raise ValueError(f"the kernel is of {len(kernel)} graphs, but there are {len(targets)} targets")
        encode_classes(targets)
        check_classification_targets(targets)
        return kernel, targets

    def _validated(self, X: ArrayLike, *, reset: bool) -> FloatArray:
        kernel = check_finite(X)
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
