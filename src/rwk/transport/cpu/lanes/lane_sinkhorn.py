"""Step 4 side by side: the Sinkhorn direction of every lane, rounded to exact marginals.

The same rounds as for one pair: from u = 1, each sets v, then u, on the kernel exp(-(g - min g) / lam). As soon as
the u of a block of rows are known, they are added to the sums K^T u that the next round's v divides by.
"""

from __future__ import annotations

from typing import Any

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.lane_data import LaneData, Workspace
from rwk.transport.cpu.lanes.products import BLOCK, add_rows, row_sums
from rwk.transport.cpu.simd.vectormath import exp_of, quotient
from rwk.transport.cpu.simd.vectors import fma, larger, load, smaller, splat, store, where_larger
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64


@compiled_borrowing
def sinkhorn_lanes(data: LaneData, n: int, m: int, work: Workspace, lam: float, rounds: int) -> None:
    """Fill `delta` with the couplings that `rounds` rounds find for cost g, whose least entries are `low`."""
    g, low, plan, u, v, sums = work.g, work.low, work.delta, work.u, work.v, work.column_sums
    inverse, lowest, zero = splat(g, 1.0 / lam), load(low, 0), splat(g, 0.0)
    for k in range(m):
        store(sums, k, zero)
    for i in range(n):
        here = load(data.mu, i)  # u = 1 where the source has a node
        for k in range(m):
            entry = exp_of((lowest - load(g, (i, k))) * inverse)
            store(plan, (i, k), entry)
            store(sums, k, load(sums, k) + where_larger(here, zero, entry))
    for _ in range(rounds):
        _one_round(data.mu, data.nu, n, m, plan, u, v, sums)
    _round_to_marginals(data.mu, data.nu, n, m, plan, u, v, sums)


@compiled_borrowing
def _one_round(mu: Any, nu: Any, n: int, m: int, kernel: Any, u: Any, v: Any, sums: Any) -> None:
    tiny = splat(kernel, TINY_32 if kernel.itemsize == 4 else TINY_64)
    zero = splat(kernel, 0.0)
    for k in range(m):
        store(v, k, quotient(load(nu, k), larger(load(sums, k), tiny)))
        store(sums, k, zero)
    for i in range(0, n, BLOCK):
        rows = min(BLOCK, n - i)
        row_sums(kernel, v, u, i, m, rows)
        for j in range(i, i + rows):
            store(u, j, quotient(load(mu, j), larger(load(u, j), tiny)))
        add_rows(u, kernel, sums, i, m, rows)


@compiled_borrowing
def _round_to_marginals(mu: Any, nu: Any, n: int, m: int, kernel: Any, u: Any, v: Any, sums: Any) -> None:
    """Overwrite K by diag(u) K diag(v) with exact marginals.

    Rows are exact after the last u, and columns carry v K^T u: only columns are shrunk, and what is then missing is
    spread as a rank-one plan.
    """
    tiny = splat(kernel, TINY_32 if kernel.itemsize == 4 else TINY_64)
    zero, one = splat(kernel, 0.0), splat(kernel, 1.0)
    for k in range(m):
        share = load(nu, k)
        carried = load(v, k) * load(sums, k)
        store(v, k, load(v, k) * smaller(share / larger(carried, tiny), one))
        store(sums, k, larger(share - carried, zero))  # from now on what the column misses
    missing = zero
    for i in range(n):
        row = load(u, i)
        total = zero
        for k in range(m):
            entry = row * load(kernel, (i, k)) * load(v, k)
            store(kernel, (i, k), entry)
            total = total + entry
        lacks = larger(load(mu, i) - total, zero)
        store(u, i, lacks)  # from now on what the row misses
        missing = missing + lacks
    inverse = one / larger(missing, tiny)
    for i in range(n):
        share = load(u, i) * inverse
        for k in range(m):
            store(kernel, (i, k), fma(share, load(sums, k), load(kernel, (i, k))))
