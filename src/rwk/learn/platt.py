"""Probabilities from decisions: Platt's sigmoid per pair of classes, and class probabilities from those of pairs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from rwk.learn.one_vs_one import pairs_of
from rwk.runtime.arrays import FloatArray, IntArray

# keeps the probabilities of pairs away from 0 and 1, as LIBSVM does
SMALLEST = 1e-7


def fit_sigmoids(decisions: FloatArray, codes: IntArray) -> FloatArray:
    """Slope and offset of P(second class | decision), one row per SVM, fitted to Platt's softened targets.

    >>> slopes = fit_sigmoids(np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]))[:, 0]
    >>> bool(slopes[0] > 0)
    True
    """
    fitted = []
    for m, (a, b) in enumerate(pairs_of(int(codes.max()) + 1)):
        members = (codes == a) | (codes == b)
        second = codes[members] == b
        n_first, n_second = int((~second).sum()), int(second.sum())
        wanted = np.where(second, (n_second + 1) / (n_second + 2), 1 / (n_first + 2))
        fitted.append(_fit_sigmoid(decisions[members, m], wanted, np.log((n_second + 1) / (n_first + 1))))
    return np.array(fitted)


def _fit_sigmoid(decisions: FloatArray, wanted: FloatArray, offset: float) -> FloatArray:
    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        z = parameters[0] * decisions + parameters[1]
        error = expit(z) - wanted
        return float(np.sum(np.logaddexp(0, z) - wanted * z)), np.array([error @ decisions, error.sum()])

    return np.asarray(minimize(loss, np.array([0.0, offset]), jac=True, method="BFGS").x)


def sigmoids(decisions: FloatArray, fitted: FloatArray) -> FloatArray:
    """Probability of the second class of every pair of classes.

    >>> sigmoids(np.array([[0.0]]), np.array([[1.0, 0.0]])).tolist()
    [[0.5]]
    """
    chances: FloatArray = np.clip(expit(decisions * fitted[:, 0] + fitted[:, 1]), SMALLEST, 1 - SMALLEST)
    return chances


def couple(second: FloatArray, n_classes: int) -> FloatArray:
    """Class probabilities from those of pairs of classes (the second method of Wu, Lin and Weng 2004).

    >>> couple(np.array([[0.25]]), 2).tolist()
    [[0.75, 0.25]]
    """
    if n_classes == 2:
        return np.column_stack([1 - second, second])
    # minimise Σ over pairs of (r_ba p_a − r_ab p_b)² with Σ p = 1: one bordered linear system per row
    system = np.zeros((len(second), n_classes + 1, n_classes + 1))
    for m, (a, b) in enumerate(pairs_of(n_classes)):
        r_b, r_a = second[:, m], 1 - second[:, m]
        system[:, a, a] += r_b**2
        system[:, b, b] += r_a**2
        system[:, a, b] = system[:, b, a] = -r_a * r_b
    system[:, -1, :-1] = system[:, :-1, -1] = 1.0
    border = np.zeros((len(second), n_classes + 1, 1))
    border[:, -1] = 1.0
    shares = np.maximum(np.linalg.solve(system, border)[:, :-1, 0], 0.0)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
