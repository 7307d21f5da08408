"""Step 4 for one pair: the plan of truncated Sinkhorn rounds, rounded to exact marginals (R13).

Starting from u = 1, each round sets v, then u, on the kernel exp(-(g - min g) / lam). If that kernel would underflow,
the same rounds run on logarithms (R14).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.reductions import total_of
from rwk.transport.cpu.simd.vectormath import exp_of, log_of
from rwk.transport.cpu.simd.vectors import WIDTH_32, WIDTH_64, fma, lane_sum, load, splat

# Largest spread (max g - min g) / lam for rounds on plain numbers. The logarithms of u and of v spread no more than
# those of the kernel, so a column sum is at least exp(-spread) / n, and what underflows is less than 1e-9 of it.
PLAIN_SPREAD_64: Final = 300.0
PLAIN_SPREAD_32: Final = 60.0
TINY_64: Final = 1e-300  # no division by less than this
TINY_32: Final = 1e-36


@compiled
def sinkhorn_plan(g: Any, mu: Any, nu: Any, lam: float, rounds: int, plan: Any) -> None:
    """Fill `plan` with the coupling that `rounds` Sinkhorn rounds find for the costs g, with exact marginals."""
    n, m = g.shape
    costs, flat_plan = g.ravel(), plan.ravel()
    low, high = costs[0], costs[0]
    for p in range(len(costs)):
        low = min(low, costs[p])
        high = max(high, costs[p])
    spread = (high - low) / lam
    if spread <= (PLAIN_SPREAD_32 if g.itemsize == 4 else PLAIN_SPREAD_64):
        inverse = g.dtype.type(1.0 / lam)
        for p in range(len(costs)):
            flat_plan[p] = exp_of((low - costs[p]) * inverse)
        plan_of_kernel(plan, mu, nu, rounds)
    elif spread <= PLAIN_SPREAD_64:  # too wide for float32: these rounds run in float64
        doubles = np.empty((n, m))
        flat_wide = doubles.ravel()
        for p in range(len(costs)):
            flat_wide[p] = exp_of(np.float64(low - costs[p]) / lam)
        plan_of_kernel(doubles, mu.astype(np.float64), nu.astype(np.float64), rounds)
        for p in range(len(costs)):
            flat_plan[p] = flat_wide[p]
    else:
        _scale_logarithms(g, mu, nu, lam, rounds, plan)
        round_to_marginals(plan, mu, nu)


@compiled_inside
def plan_of_kernel(kernel: Any, mu: Any, nu: Any, rounds: int) -> None:
    """Overwrite a kernel K with diag(u) K diag(v), rounded to its marginals.

    Each round passes over K once: as soon as the u of four rows are known, these rows are added to the sums K^T u that
    the next round's v divides by.
    """
    n, m = kernel.shape
    zero = kernel.dtype.type(0)
    tiny = kernel.dtype.type(TINY_32 if kernel.itemsize == 4 else TINY_64)
    u, v, sums = np.empty(n, kernel.dtype), np.empty(m, kernel.dtype), np.zeros(m, kernel.dtype)  # sums: K^T u
    flat = kernel.reshape(n * m)
    for i in range(n):
        for k in range(m):
            sums[k] += kernel[i, k]
    for _ in range(rounds):
        for k in range(m):
            v[k] = nu[k] / max(sums[k], tiny)
            sums[k] = zero
        i = 0
        while i + 4 <= n:
            s0, s1, s2, s3 = _four_products(flat, i * m, v)
            s0, s1 = mu[i] / max(s0, tiny), mu[i + 1] / max(s1, tiny)
            s2, s3 = mu[i + 2] / max(s2, tiny), mu[i + 3] / max(s3, tiny)
            u[i], u[i + 1], u[i + 2], u[i + 3] = s0, s1, s2, s3
            for k in range(m):
                two = fma(s1, kernel[i + 1, k], fma(s0, kernel[i, k], sums[k]))
                sums[k] = fma(s3, kernel[i + 3, k], fma(s2, kernel[i + 2, k], two))
            i += 4
        while i < n:
            s0 = zero
            for k in range(m):
                s0 = fma(kernel[i, k], v[k], s0)
            s0 = mu[i] / max(s0, tiny)
            u[i] = s0
            for k in range(m):
                sums[k] = fma(s0, kernel[i, k], sums[k])
            i += 1
    # R13: rows are exact after the last u, and columns carry v K^T u, so only columns are shrunk.
    missing_columns, missing_rows = np.empty(m), np.empty(n)
    for k in range(m):
        carried = v[k] * sums[k]
        if carried > nu[k]:
            v[k] *= nu[k] / carried
            carried = nu[k]
        missing_columns[k] = nu[k] - carried
    for i in range(n):
        for k in range(m):
            kernel[i, k] = u[i] * kernel[i, k] * v[k]
        missing_rows[i] = max(mu[i] - total_of(flat, i * m, m), 0.0)
    _add_missing(kernel, missing_rows, missing_columns)


@compiled_inside
def _four_products(flat: Any, first: int, v: Any) -> Any:
    """Four rows of a flat matrix, the first of them at place `first`, times v."""
    m = len(v)
    width = WIDTH_32 if flat.itemsize == 4 else WIDTH_64
    s0 = s1 = s2 = s3 = flat.dtype.type(0)
    k = 0
    if m >= width:
        t0 = t1 = t2 = t3 = splat(flat, 0.0)
        while k + width <= m:
            x, p = load(v, k), first + k
            t0, t1 = fma(load(flat, p), x, t0), fma(load(flat, p + m), x, t1)
            t2, t3 = fma(load(flat, p + 2 * m), x, t2), fma(load(flat, p + 3 * m), x, t3)
            k += width
        s0, s1, s2, s3 = lane_sum(t0), lane_sum(t1), lane_sum(t2), lane_sum(t3)
    while k < m:
        x, p = v[k], first + k
        s0, s1 = fma(flat[p], x, s0), fma(flat[p + m], x, s1)
        s2, s3 = fma(flat[p + 2 * m], x, s2), fma(flat[p + 3 * m], x, s3)
        k += 1
    return s0, s1, s2, s3


@compiled_inside
def _scale_logarithms(g: Any, mu: Any, nu: Any, lam: float, rounds: int, plan: Any) -> None:
    """The same rounds on log u and log v, in float64 (R14)."""
    n, m = g.shape
    log_u, log_v, logs = np.zeros(n), np.empty(m), np.empty((n, m))
    for i in range(n):
        for k in range(m):
            logs[i, k] = -np.float64(g[i, k]) / lam
    peaks, sums = np.empty(m), np.empty(m)
    for _ in range(rounds):
        peaks[:] = -np.inf
        sums[:] = 0.0
        for i in range(n):
            for k in range(m):
                peaks[k] = max(peaks[k], logs[i, k] + log_u[i])
        for i in range(n):
            for k in range(m):
                sums[k] += exp_of(logs[i, k] + log_u[i] - peaks[k])
        for k in range(m):
            log_v[k] = np.log(np.float64(nu[k])) - peaks[k] - log_of(sums[k])
        for i in range(n):
            peak = -np.inf
            for k in range(m):
                peak = max(peak, logs[i, k] + log_v[k])
            total = 0.0
            for k in range(m):
                total += exp_of(logs[i, k] + log_v[k] - peak)
            log_u[i] = np.log(np.float64(mu[i])) - peak - np.log(total)
    for i in range(n):
        for k in range(m):
            plan[i, k] = np.exp(log_u[i] + logs[i, k] + log_v[k])


@compiled_inside
def round_to_marginals(plan: Any, mu: Any, nu: Any) -> None:
    """R13: shrink rows, then columns, that carry too much, and spread what is missing as a rank-one plan."""
    n, m = plan.shape
    missing_rows, missing_columns, columns = np.empty(n), np.zeros(m), np.zeros(m)
    flat = plan.reshape(n * m)
    for i in range(n):
        total = total_of(flat, i * m, m)
        shrink = plan.dtype.type(mu[i] / total) if total > mu[i] else plan.dtype.type(1.0)
        for k in range(m):
            plan[i, k] *= shrink
            columns[k] += plan[i, k]
    for k in range(m):
        columns[k] = nu[k] / columns[k] if columns[k] > nu[k] else 1.0
    for i in range(n):
        for k in range(m):
            plan[i, k] *= columns[k]
            missing_columns[k] += plan[i, k]
        missing_rows[i] = max(mu[i] - total_of(flat, i * m, m), 0.0)
    for k in range(m):
        missing_columns[k] = max(nu[k] - missing_columns[k], 0.0)
    _add_missing(plan, missing_rows, missing_columns)


@compiled_inside
def _add_missing(plan: Any, missing_rows: Any, missing_columns: Any) -> None:
    """Spread missing mass as the rank-one plan e_r e_c^T / |e_r|."""
    n, m = plan.shape
    missing = missing_rows.sum()
    if missing <= 0.0:
        return
    for i in range(n):
        share = missing_rows[i] / missing
        for k in range(m):
            plan[i, k] += share * missing_columns[k]
