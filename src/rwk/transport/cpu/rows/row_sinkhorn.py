"""Steps 4 and 5: the plan of truncated Sinkhorn rounds, rounded to exact marginals (R13), and the direction Delta.

The rounds are those of ../sinkhorn.py: starting from u = 1, each sets v, then u, on the kernel exp(-(g - min g) / lam),
and passes over the kernel once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.summaries import WEIGHT
from rwk.transport.cpu.rows.row_data import MISSING, NU, SUMS, RowMemory, V
from rwk.transport.cpu.simd.vectormath import exp_of, quotient
from rwk.transport.cpu.simd.vectors import (
    WIDTH_32,
    WIDTH_64,
    fma,
    lane_sum,
    larger,
    load,
    no_lanes,
    smaller,
    splat,
    store,
    wide,
)
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64


@compiled_borrowing
def sinkhorn_rows(i0: int, n: int, low: float, lam: float, rounds: int, length: int, memory: RowMemory, g: Any) -> None:
    """Step 4: the kernel of g in `memory.delta`, and the factors u and v that so many rounds find."""
    kernel, columns = memory.delta, memory.columns
    width = WIDTH_32 if g.itemsize == 4 else WIDTH_64
    lowest, inverse, zero = splat(g, low), splat(g, 1.0 / lam), splat(g, 0.0)
    for k in range(0, length, width):
        store(columns, SUMS * length + k, zero)
    for i in range(n):
        for k in range(0, length, width):
            entry = exp_of((lowest - load(g, i * length + k)) * inverse)
            store(kernel, i * length + k, entry)
            store(columns, SUMS * length + k, load(columns, SUMS * length + k) + entry)
    weights = memory.summaries.vectors[WEIGHT]
    tiny = splat(g, TINY_32 if g.itemsize == 4 else TINY_64)
    for _ in range(rounds):
        for k in range(0, length, width):
            total = larger(load(columns, SUMS * length + k), tiny)
            store(columns, V * length + k, quotient(load(columns, NU * length + k), total))
            store(columns, SUMS * length + k, zero)
        i = 0
        while i + 4 <= n:
            _scale_four(weights, i0 + i, i, length, memory)
            i += 4
        while i < n:
            _scale_one(weights, i0 + i, i, length, memory)
            i += 1


@compiled_borrowing
def _scale_four(weights: Any, node: int, i: int, length: int, memory: RowMemory) -> None:
    """u of four rows, which are added to the sums K^T u."""
    kernel, columns, u = memory.delta, memory.columns, memory.u
    width = WIDTH_32 if kernel.itemsize == 4 else WIDTH_64
    real = kernel.dtype.type
    tiny = real(TINY_32 if kernel.itemsize == 4 else TINY_64)
    p = i * length
    a = b = c = d = splat(kernel, 0.0)
    for k in range(0, length, width):
        v = load(columns, V * length + k)
        a, b = fma(load(kernel, p + k), v, a), fma(load(kernel, p + length + k), v, b)
        c, d = fma(load(kernel, p + 2 * length + k), v, c), fma(load(kernel, p + 3 * length + k), v, d)
    u[i] = real(weights[node]) / max(lane_sum(a), tiny)
    u[i + 1] = real(weights[node + 1]) / max(lane_sum(b), tiny)
    u[i + 2] = real(weights[node + 2]) / max(lane_sum(c), tiny)
    u[i + 3] = real(weights[node + 3]) / max(lane_sum(d), tiny)
    a, b, c, d = splat(kernel, u[i]), splat(kernel, u[i + 1]), splat(kernel, u[i + 2]), splat(kernel, u[i + 3])
    for k in range(0, length, width):
        total = fma(b, load(kernel, p + length + k), fma(a, load(kernel, p + k), load(columns, SUMS * length + k)))
        total = fma(d, load(kernel, p + 3 * length + k), fma(c, load(kernel, p + 2 * length + k), total))
        store(columns, SUMS * length + k, total)


@compiled_borrowing
def _scale_one(weights: Any, node: int, i: int, length: int, memory: RowMemory) -> None:
    """The same for one row."""
    kernel, columns, u = memory.delta, memory.columns, memory.u
    width = WIDTH_32 if kernel.itemsize == 4 else WIDTH_64
    real = kernel.dtype.type
    tiny = real(TINY_32 if kernel.itemsize == 4 else TINY_64)
    total = splat(kernel, 0.0)
    for k in range(0, length, width):
        total = fma(load(kernel, i * length + k), load(columns, V * length + k), total)
    u[i] = real(weights[node]) / max(lane_sum(total), tiny)
    mine = splat(kernel, u[i])
    for k in range(0, length, width):
        store(columns, SUMS * length + k, fma(mine, load(kernel, i * length + k), load(columns, SUMS * length + k)))


@compiled_borrowing
def direction_rows(i0: int, n: int, length: int, memory: RowMemory, gamma: Any, g: Any) -> Any:
    """Step 5: Delta = plan - gamma replaces the kernel; returns <Delta, g> and <Delta, 1 + log gamma - log prior>.

    Rows are exact after the last u, and columns carry v K^T u: only columns are shrunk, and what is missing then is
    spread as a rank-one plan.
    """
    kernel, columns, lacks, prior = memory.delta, memory.columns, memory.lacks, memory.prior
    width = WIDTH_32 if g.itemsize == 4 else WIDTH_64
    zero, one = splat(g, 0.0), splat(g, 1.0)
    tiny = splat(g, TINY_32 if g.itemsize == 4 else TINY_64)
    for k in range(0, length, width):
        v, share = load(columns, V * length + k), load(columns, NU * length + k)
        carried = v * load(columns, SUMS * length + k)
        store(columns, V * length + k, v * smaller(share / larger(carried, tiny), one))
        store(columns, MISSING * length + k, larger(share - carried, zero))
    missing = 0.0
    for i in range(n):
        total, scale = no_lanes(wide(zero)), splat(g, memory.u[i])
        for k in range(0, length, width):
            total = total + wide(scale * load(kernel, i * length + k) * load(columns, V * length + k))
        rest = max(memory.summaries.vectors[WEIGHT, i0 + i] - lane_sum(total), 0.0)
        lacks[i] = rest
        missing += rest
    slope, slope_of_kl = no_lanes(wide(zero)), no_lanes(wide(zero))
    for i in range(n):
        scale, same = splat(g, memory.u[i]), memory.scratch.first[i] * length
        share = splat(g, np.float64(lacks[i]) / missing if missing > 0.0 else 0.0)
        for k in range(0, length, width):
            p = i * length + k
            plan = scale * load(kernel, p) * load(columns, V * length + k)
            delta = fma(share, load(columns, MISSING * length + k), plan) - load(gamma, p)
            store(kernel, p, delta)
            slope = fma(wide(delta), wide(load(g, p)), slope)
            slope_of_kl = fma(wide(delta), wide(one + (load(memory.logs, p) - load(prior, same + k))), slope_of_kl)
    return lane_sum(slope), lane_sum(slope_of_kl)
