"""Step 4 of the partial problem: the plan that moves a given mass, with at most mu from each row and nu to each column.

Without rounding, it is the plan of Sinkhorn rounds with a dummy node on either side: what stays of row i goes to the
dummy column, what column k lacks comes from the dummy row, both at a constant cost, and nothing goes from dummy to
dummy. The plan is U_i K_ik V_k, what stays of row i is x U_i, what column k lacks is y V_k. A round sets (V, y), then
(U, x), each pair of unknowns exactly:

    V_k = nu_k / (y + (K^T U)_k),   y such that the columns receive the mass, and U, x alike

With x as part of the update a round moves exactly the given mass. Plain rounds over the padded matrix need as many
rounds as there are factors of two between the costs of what goes and of what stays.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.simd.vectormath import exp_of
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_64

NEWTON_STEPS: Final = 100  # at most; five are usual
WHOLE: Final = 1e-13  # a side of which less than this share stays is moved entirely


@compiled
def partial_plan(g: Any, mu: Any, nu: Any, mass: float, lam: float, rounds: int, plan: Any) -> None:
    """Fill `plan` with the coupling of the given mass that `rounds` rounds find for the costs g; all in float64."""
    low, high = g.min(), g.max()
    if (high - low) / lam <= PLAIN_SPREAD_64:
        _plain_rounds(g, low, mu, nu, mass, lam, rounds, plan)
    else:
        _rounds_on_logarithms(g, mu, nu, mass, lam, rounds, plan)
    round_to_mass(plan, mu, nu, mass)


@compiled_inside
def _plain_rounds(g: Any, low: float, mu: Any, nu: Any, mass: float, lam: float, rounds: int, plan: Any) -> None:
    n, m = g.shape
    kernel, u, v = np.empty((n, m)), np.ones(n), np.empty(m)
    for i in range(n):
        for k in range(m):
            kernel[i, k] = exp_of((low - g[i, k]) / lam)
    received, sent = np.empty(m), np.empty(n)  # K^T u, K v
    for _ in range(rounds):
        received[:] = 0.0
        for i in range(n):
            for k in range(m):
                received[k] += u[i] * kernel[i, k]
        y = np.exp(stays(np.log(received), nu, mass))
        for k in range(m):
            v[k] = nu[k] / (y + received[k])
        for i in range(n):
            total = 0.0
            for k in range(m):
                total += kernel[i, k] * v[k]
            sent[i] = total
        x = np.exp(stays(np.log(sent), mu, mass))
        for i in range(n):
            u[i] = mu[i] / (x + sent[i])
    for i in range(n):
        for k in range(m):
            plan[i, k] = u[i] * kernel[i, k] * v[k]


@compiled_inside
def _rounds_on_logarithms(g: Any, mu: Any, nu: Any, mass: float, lam: float, rounds: int, plan: Any) -> None:
    """The same rounds on log u and log v (R14)."""
    n, m = g.shape
    log_u, log_v, received, sent = np.zeros(n), np.empty(m), np.empty(m), np.empty(n)
    for _ in range(rounds):
        for k in range(m):
            received[k] = _log_sum(log_u - g[:, k] / lam)
        y = stays(received, nu, mass)
        for k in range(m):
            log_v[k] = np.log(nu[k]) - np.logaddexp(y, received[k])
        for i in range(n):
            sent[i] = _log_sum(log_v - g[i] / lam)
        x = stays(sent, mu, mass)
        for i in range(n):
            log_u[i] = np.log(mu[i]) - np.logaddexp(x, sent[i])
    for i in range(n):
        for k in range(m):
            plan[i, k] = np.exp(log_u[i] - g[i, k] / lam + log_v[k])


@compiled_inside
def _log_sum(x: Any) -> float:
    peak = x.max()
    total = 0.0
    for p in range(len(x)):
        total += np.exp(x[p] - peak)
    return float(peak + np.log(total))


@compiled
def stays(logs: Any, weights: Any, mass: float) -> float:
    """The z with sum_i w_i / (1 + exp(z - l_i)) = mass; -inf if the weights are no more than the mass.

    Newton steps on the logarithm of (what moves / what stays), which is -z plus a constant if all l_i are equal. A
    bracket of the solution guards them: for equal l_i it is l - log(mass / (total - mass)).
    """
    total = weights.sum()
    if total - mass <= WHOLE * total:
        return -np.inf
    wanted = np.log(mass / (total - mass))
    low, high = logs.min() - wanted, logs.max() - wanted
    z = 0.5 * (low + high)
    for _ in range(NEWTON_STEPS):
        moved, stayed, slope = 0.0, 0.0, 0.0
        for i in range(len(logs)):
            share = 1.0 / (1.0 + np.exp(z - logs[i]))
            rest = 1.0 / (1.0 + np.exp(logs[i] - z))
            moved += weights[i] * share
            stayed += weights[i] * rest
            slope += weights[i] * share * rest
        height = np.log(moved / stayed) - wanted
        if height > 0.0:
            low = z
        else:
            high = z
        if abs(height) <= 1e-14 or high - low <= 1e-14 * max(abs(low), abs(high)):
            break
        step = height * moved * stayed / (slope * total) if slope > 0.0 else np.inf
        z = z + step if low < z + step < high else 0.5 * (low + high)
    return float(z)


@compiled_inside
def round_to_mass(plan: Any, mu: Any, nu: Any, mass: float) -> None:
    """R13 for a given mass: shrink rows, then columns, that carry too much, and spread what is missing over the rest.

    What is missing is spread as a multiple of e_r e_c^T, e_r and e_c what rows and columns may still carry.
    """
    n, m = plan.shape
    columns, rows = np.zeros(m), np.zeros(n)
    for i in range(n):
        total = plan[i].sum()
        shrink = mu[i] / total if total > mu[i] else 1.0
        for k in range(m):
            plan[i, k] *= shrink
            columns[k] += plan[i, k]
    for k in range(m):
        columns[k] = nu[k] / columns[k] if columns[k] > nu[k] else 1.0
    for i in range(n):
        for k in range(m):
            plan[i, k] *= columns[k]
    moved = plan.sum()
    if moved >= mass:
        plan *= mass / moved
        return
    columns[:] = nu
    for i in range(n):
        rows[i] = max(mu[i] - plan[i].sum(), 0.0)
        for k in range(m):
            columns[k] -= plan[i, k]
    columns = np.maximum(columns, 0.0)
    room = rows.sum() * columns.sum()
    if room > 0.0:
        for i in range(n):
            for k in range(m):
                plan[i, k] += (mass - moved) * rows[i] * columns[k] / room
