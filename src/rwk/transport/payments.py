"""What each node pays: the value of a pair, split over the nodes of either graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rwk.transport import cpu
from rwk.transport.chunks import one_blas_thread
from rwk.transport.problem import CostWeights, GraphMeasures

Payments = tuple[NDArray[np.float64], NDArray[np.float64]]


def node_payments(
    measures: GraphMeasures, a: int, b: int, weights: CostWeights, coupling: NDArray[np.float64]
) -> Payments:
    """What the nodes of a and of b pay at a coupling; either sums to the value.

    H(gamma) = <gamma, P> with P = C_V + beta_local C_N + Q(gamma) + beta_global c + kl log(gamma / prior): row sums
    of gamma * P are the source's payments, column sums the target's.
    """
    kl = weights.beta_global * weights.degree_weight
    with one_blas_thread():
        pair = cpu.load_pair(measures, a, b, weights)
        gamma = np.ascontiguousarray(coupling, measures.structure.dtype)
        logs, image = np.zeros_like(gamma), np.empty_like(gamma)
        cpu.quadratic_map(measures, pair, weights, gamma, np.empty((3, *gamma.shape), gamma.dtype), image)
        if kl:
            cpu.logarithms(gamma, pair.log_prior, logs)
    price = pair.feature + weights.beta_local * pair.neighbour + image
    if weights.beta_global:
        price = price + weights.beta_global * _moments(pair)
    if kl:
        price = price + kl * (logs - pair.log_prior)
    paid = coupling * price
    return paid.sum(axis=1), paid.sum(axis=0)


def _moments(pair: cpu.Pair) -> NDArray[np.float64]:
    """c = (C_mu^2 mu + C_nu^2 nu) / 2, (n, m)."""
    rows = 0.5 * (np.asarray(pair.structure_mu, np.float64) ** 2 @ pair.mu)
    columns = 0.5 * (np.asarray(pair.structure_nu, np.float64) ** 2 @ pair.nu)
    return np.asarray(rows[:, None] + columns[None, :])
