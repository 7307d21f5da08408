"""The solver body of the partial problem: a given mass moves, the rest stays.

    minimise H(gamma) over gamma >= 0 with row sums at most mu, column sums at most nu, and sum gamma = mass

H is the objective of problem.py at gamma alone: what stays has no features, no structure and no neighbours, and pays
nothing. Three things differ from the whole problem. The marginals p, q of gamma are not known, so the Gromov-
Wasserstein term has C^2 p / 2 + C^2 q / 2 in place of c, as part of Q:

    Q'(X) = Q(X) + beta_global (C_mu^2 p / 2 + C_nu^2 q / 2),   p, q the row and column sums of X

The degree prior has the mass of the coupling, so its KL is mass times that of the shares. And the plan of step 4 is
that of partial_sinkhorn.py. Numbered steps as in problem.py, always in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.loading import PairMatrices, load_pair
from rwk.transport.cpu.partial_sinkhorn import partial_plan
from rwk.transport.cpu.quadratic import add_multiple, quadratic_map
from rwk.transport.cpu.reductions import inner
from rwk.transport.cpu.scalar import gradient, line_search, logarithms, terms_at
from rwk.transport.problem import GROMOV_WASSERSTEIN, START_ENTROPY, START_SHARE


@compiled
def load_partial(graphs: Any, a: int, b: int, weights: Any) -> PairMatrices:
    """Step 1: the matrices of a pair, with the prior of this mass and without c in the gradient."""
    pair = load_pair(graphs, a, b, weights)
    n, m = pair.fixed.shape
    kl = weights.beta_global * weights.degree_weight
    if kl != 0.0:
        for i in range(n):
            for k in range(m):
                pair.log_prior[i, k] += np.log(weights.mass)
    for i in range(n):
        for k in range(m):
            linear = pair.feature[i, k] + weights.beta_local * pair.neighbour[i, k]
            pair.fixed[i, k] = linear + kl * (1.0 - pair.log_prior[i, k])
    return pair


@compiled_inside
def _moments(pair: PairMatrices, x: Any) -> tuple[Any, Any, float]:
    """C_mu^2 p / 2, C_nu^2 q / 2, and <C_mu^2 p / 2 + C_nu^2 q / 2, x>."""
    n, m = x.shape
    rows, columns, total = np.zeros(n), np.zeros(m), 0.0
    p, q = np.zeros(n), np.zeros(m)
    for i in range(n):
        for k in range(m):
            p[i] += x[i, k]
            q[k] += x[i, k]
    for i in range(n):
        for j in range(n):
            rows[i] += 0.5 * pair.structure_mu[i, j] * pair.structure_mu[i, j] * p[j]
        total += rows[i] * p[i]
    for k in range(m):
        for j in range(m):
            columns[k] += 0.5 * pair.structure_nu[k, j] * pair.structure_nu[k, j] * q[j]
        total += columns[k] * q[k]
    return rows, columns, total


@compiled
def partial_map(graphs: Any, pair: PairMatrices, weights: Any, x: Any, out: Any) -> None:
    """Step 6: fill `out` with Q'(x)."""
    quadratic_map(graphs, pair, weights, x, out)
    if weights.beta_global != 0.0:
        rows, columns, _ = _moments(pair, x)
        for i in range(x.shape[0]):
            for k in range(x.shape[1]):
                out[i, k] += weights.beta_global * (rows[i] + columns[k])


@compiled
def partial_terms(graphs: Any, pair: PairMatrices, weights: Any, gamma: Any, divergence: float, terms: Any) -> float:
    """Step 9: the terms of H at a coupling of any mass; returns their sum."""
    terms_at(graphs, pair, weights, gamma, divergence, terms)
    if weights.beta_global != 0.0:
        product = inner(np.dot(pair.structure_mu, gamma), np.dot(gamma, pair.structure_nu))
        terms[GROMOV_WASSERSTEIN] = weights.beta_global * (_moments(pair, gamma)[2] - product)
    total = 0.0
    for t in range(len(terms)):
        total += terms[t]
    return total


@compiled
def partial_start(pair: PairMatrices, mass: float, costs: Any, rounds: int, gamma: Any) -> None:
    """Step 2: fill `gamma` with a multiple of mu nu^T or, if there are costs, with a mixture of it and their plan."""
    share = mass / (pair.mu.sum() * pair.nu.sum())
    for i in range(len(pair.mu)):
        for k in range(len(pair.nu)):
            gamma[i, k] = share * pair.mu[i] * pair.nu[k]
    if costs.size:
        plan = np.empty_like(gamma)
        partial_plan(costs, pair.mu, pair.nu, mass, START_ENTROPY, rounds, plan)
        add_multiple(plan, -1.0, gamma, plan)
        add_multiple(gamma, START_SHARE, plan, gamma)


@compiled
def solve_partial(
    graphs: Any, pair: PairMatrices, weights: Any, options: Any, gamma: Any, terms: Any, trace: Any
) -> tuple[Any, float, int, float, bool]:
    """Steps 3 to 9 from a coupling of the right mass, which is overwritten; returns what `scalar.solve_one` does."""
    n, m = pair.fixed.shape
    kl = weights.beta_global * weights.degree_weight
    trial, delta, g = np.empty((n, m)), np.empty((n, m)), np.empty((n, m))
    image, delta_image = np.empty((n, m)), np.empty((n, m))
    logs, trial_logs = np.zeros((n, m)), np.zeros((n, m))
    partial_map(graphs, pair, weights, gamma, image)
    divergence = logarithms(gamma, pair.log_prior, logs) if kl != 0.0 else 0.0
    objective = partial_terms(graphs, pair, weights, gamma, divergence, terms)
    gap, converged, n_iter = np.inf, False, 0
    for iteration in range(options.max_iter):
        gradient(pair, kl, image, logs, g)  # 3 gradient
        partial_plan(g, pair.mu, pair.nu, weights.mass, options.entropy, options.sinkhorn_iter, delta)  # 4 direction
        add_multiple(delta, -1.0, gamma, delta)
        slope = inner(delta, g)  # 5 gap
        gap = -slope
        if iteration < len(trace):
            trace[iteration, 0], trace[iteration, 1] = objective, gap
        if gap <= options.tol:
            converged = True
            break
        partial_map(graphs, pair, weights, delta, delta_image)  # 6 products
        curvature = inner(delta, delta_image)
        alpha, change, divergence = line_search(  # 7 line search
            pair, kl, (gamma, logs, divergence), delta, slope, curvature, (trial, trial_logs)
        )
        if alpha == 0.0:
            break
        gamma, trial = trial, gamma  # 8 step
        logs, trial_logs = trial_logs, logs
        add_multiple(image, alpha, delta_image, image)
        objective += change
        n_iter = iteration + 1
    value = partial_terms(graphs, pair, weights, gamma, divergence, terms)  # 9 value
    return gamma, value, n_iter, gap, converged
