"""What each node pays: the value of a pair, split over the nodes of either graph.

The costs of a large pair come from the compiled step 1. The rest of the objective is written in plain NumPy, since it
is wanted for single pairs only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.threads import one_blas_thread
from rwk.transport.cpu.dispatch import is_plain
from rwk.transport.cpu.loading import load_pair
from rwk.transport.cpu.plain_costs import load_plainly
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import solve_pair
from rwk.transport.problem import LEAST_MASS_64, CostWeights, ScgOptions

Payments = tuple[NDArray[np.float64], NDArray[np.float64]]


def node_payments(
    measures: GraphMeasures, a: int, b: int, weights: CostWeights, coupling: NDArray[np.float64]
) -> Payments:
    """What the nodes of a and of b pay at a coupling; either sums to the value.

    H(gamma) = <gamma, P> with P = C_V + beta_local C_N + Q(gamma) + beta_global c + kl log(gamma / prior): row sums
    of gamma * P are the source's payments, column sums the target's.
    """
    gamma = np.asarray(coupling, np.float64)
    with one_blas_thread():
        load = load_plainly if is_plain(measures, a, b) else load_pair
        pair = load(measures, a, b, weights)
        price = pair.feature + weights.beta_local * pair.neighbour
        if weights.beta_local:
            price = price + weights.beta_local * _local_price(measures, (a, b), pair, weights, gamma)
        if weights.beta_global:
            price = price + weights.beta_global * _global_price(pair, weights, gamma)
    paid = gamma * price
    return paid.sum(axis=1), paid.sum(axis=0)


def payments_of_first(measures: GraphMeasures, weights: CostWeights, options: ScgOptions) -> NDArray[np.float64]:
    """What each node of the first graph pays to every graph of the set, itself included; shape (graphs, nodes)."""
    found = np.empty((measures.n_graphs, int(measures.sizes[0])))
    for other in range(measures.n_graphs):
        solution = solve_pair(measures, 0, other, weights, options)
        found[other] = node_payments(measures, 0, other, weights, solution.coupling)[0]
    return found


def _local_price(
    measures: GraphMeasures, graphs: tuple[int, int], pair: Any, weights: CostWeights, gamma: NDArray[np.float64]
) -> Any:
    """lam_mu L_mu gamma S_nu + lam_nu S_mu gamma L_nu + rho/2 gamma."""
    price: Any = 0.5 * weights.ridge * gamma
    if weights.laplacian_source:
        narrow = gamma @ pair.factor_nu
        price = price + weights.laplacian_source * (_laplacian(measures, graphs[0]) @ narrow) @ pair.factor_nu.T
    if weights.laplacian_target:
        narrow = gamma.T @ pair.factor_mu
        price = price + weights.laplacian_target * pair.factor_mu @ (_laplacian(measures, graphs[1]) @ narrow).T
    return price


def _global_price(pair: Any, weights: CostWeights, gamma: NDArray[np.float64]) -> Any:
    """c - C_mu gamma C_nu + lam_g log(gamma / prior); c has the half of R10, lam_g the sign of R9."""
    mu, nu = (pair.mu, pair.nu) if weights.mass == 1.0 else (gamma.sum(axis=1), gamma.sum(axis=0))
    rows = 0.5 * (pair.structure_mu.astype(np.float64) ** 2 @ mu)
    columns = 0.5 * (pair.structure_nu.astype(np.float64) ** 2 @ nu)
    price = rows[:, None] + columns[None, :] - pair.structure_mu @ gamma @ pair.structure_nu
    if weights.degree_weight:
        price = price + weights.degree_weight * (np.log(np.maximum(gamma, LEAST_MASS_64)) - pair.log_prior)
        if weights.mass != 1.0:
            price = price - weights.degree_weight * np.log(weights.mass)
    return price


def _laplacian(measures: GraphMeasures, graph: int) -> Any:
    """L of one graph as a sparse matrix."""
    from scipy.sparse import csr_array

    first, last = measures.offsets[graph], measures.offsets[graph + 1]
    bounds = measures.laplacian_offsets[first : last + 1]
    kept = slice(bounds[0], bounds[-1])
    parts = (measures.laplacian_values[kept], measures.laplacian_columns[kept], bounds - bounds[0])
    return csr_array(parts, shape=(last - first, last - first))
