"""Step 4 from given couplings: Sinkhorn rounds whose kernel has taken in the potentials of the first round.

    K(i, k) = exp(-g(i, k) / lam + log u_i + log v_k)

The rounds of sinkhorn.py begin at u = 1 with the kernel exp(-g / lam), which underflows if g spreads widely; on
logarithms they take five times as long. Here only the first round is on logarithms. After it, rows of K sum to mu, and
the rounds that are left are those on plain numbers, from u = v = 1: the plan is the same but for rounding.

How far plain numbers carry: a plan of mass 1 has rows of at most 1, so u_i falls in a round by no more than a factor
mu_i, and rises by no more than 1 / min nu; v likewise. After r rounds log u_i + log v_k has moved by at most
r (log 1/min mu + log 1/min nu), and an entry that underflowed is negligible while that is below FARTHEST.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.simd.vectormath import exp_of, log_of
from rwk.transport.cpu.sinkhorn import PLAIN_SPREAD_64, plan_of_kernel, sinkhorn_plan

FARTHEST: Final = 600.0  # exp(-708) is the least normal number


@compiled
def absorbed_plan(g: Any, mu: Any, nu: Any, lam: float, rounds: int, plan: Any) -> None:
    """`sinkhorn_plan` in float64, without logarithms after the first round."""
    costs = g.ravel()
    low, high = costs[0], costs[0]
    for p in range(len(costs)):
        low, high = min(low, costs[p]), max(high, costs[p])
    farthest = -(rounds - 1) * (np.log(mu.min()) + np.log(nu.min()))
    if high - low <= PLAIN_SPREAD_64 * lam or rounds < 2 or not farthest <= FARTHEST:
        sinkhorn_plan(g, mu, nu, lam, rounds, plan)
        return
    _first_round(g, mu, nu, lam, plan)
    plan_of_kernel(plan, mu, nu, rounds - 1)


@compiled_inside
def _first_round(g: Any, mu: Any, nu: Any, lam: float, kernel: Any) -> None:
    """Fill the kernel with exp(-g / lam + log u + log v) after one round from u = 1."""
    n, m = g.shape
    peaks, sums, inverse = np.full(m, -np.inf), np.zeros(m), 1.0 / lam
    for i in range(n):
        for k in range(m):
            kernel[i, k] = -g[i, k] * inverse
            peaks[k] = max(peaks[k], kernel[i, k])
    for i in range(n):
        for k in range(m):
            sums[k] += exp_of(kernel[i, k] - peaks[k])
    for k in range(m):
        sums[k] = np.log(nu[k]) - peaks[k] - log_of(sums[k])  # log v from now on
    for i in range(n):
        peak = -np.inf
        for k in range(m):
            kernel[i, k] += sums[k]
            peak = max(peak, kernel[i, k])
        total = 0.0
        for k in range(m):
            kernel[i, k] = exp_of(kernel[i, k] - peak)
            total += kernel[i, k]
        scale = mu[i] / total
        for k in range(m):
            kernel[i, k] *= scale
