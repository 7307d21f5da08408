"""Step 4 side by side: the plan of truncated Sinkhorn rounds in every lane, rounded to exact marginals (R13).

The rounds are those of ../sinkhorn.py: starting from u = 1, each sets v, then u, on the kernel exp(-(g - min g) / lam).
As soon as the u of a block of rows are known, these rows are added to the sums K^T u, by which the next round divides,
in one loop with the next block's sums K v.
"""

from __future__ import annotations

from typing import Any

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.lane_data import LaneData, Workspace
from rwk.transport.cpu.lanes.products import BLOCK, half_round
from rwk.transport.cpu.simd.vectormath import exp_of
from rwk.transport.cpu.simd.vectors import larger, load, smaller, splat, store, where_larger
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64


@compiled_borrowing
def sinkhorn_lanes(data: LaneData, n: int, m: int, work: Workspace, lam: float, rounds: int) -> None:
    """What `rounds` rounds find for the costs `work.g`: the kernel in `work.delta`, and the factors of the plan."""
    g, low, plan, u, v, sums = work.g, work.low, work.delta, work.u, work.v, work.column_sums
    inverse, lowest, zero = splat(g, 1.0 / lam), load(low, 0), splat(g, 0.0)
    for k in range(m):
        store(sums, k, zero)
    for i in range(n):
        mass = load(data.mu, i)  # u = 1 for nodes, 0 for padding
        for k in range(m):
            entry = exp_of((lowest - load(g, (i, k))) * inverse)
            store(plan, (i, k), entry)
            store(sums, k, load(sums, k) + where_larger(mass, zero, entry))
    _scale(data.mu, data.nu, n, m, plan, u, v, sums, rounds)
    _missing_mass(data.mu, data.nu, n, m, work)


@compiled_borrowing
def _scale(mu: Any, nu: Any, n: int, m: int, kernel: Any, u: Any, v: Any, sums: Any, rounds: int) -> None:
    """So many times v = nu / K^T u, then u = mu / K v; `sums` are K^T u before and after.

    Rounds go up and down in turn, so that each finds the rows that the last one ended with in the first-level cache.
    """
    known = 0, 1, 0  # the block of rows that has its u, but is not in the sums yet; none at first
    for r in range(rounds):
        first, step = (0, 1) if r % 2 else (n - 1, -1)
        i = 0
        while i < n:
            rows = _rows_of_block(n - i)
            wanted = first + step * i, step, rows
            half_round((mu, nu), kernel, u, v, sums, m, known, wanted, i == 0)
            known = wanted
            i += rows
    if rounds:
        half_round((mu, nu), kernel, u, v, sums, m, known, known, False)  # the same u again


@compiled_borrowing
def _rows_of_block(left: int) -> int:
    """How many of the rows that are left the next block has: BLOCK of them or one less, so that none is left over."""
    shorter = (-left) % BLOCK  # blocks with one row less
    if shorter * (BLOCK - 1) >= left:
        return min(left, BLOCK - 1)
    return BLOCK


@compiled_borrowing
def _missing_mass(mu: Any, nu: Any, n: int, m: int, work: Workspace) -> None:
    """How diag(u) K diag(v) is rounded to exact marginals (R13): v shrunk, and `row_shares` and `column_sums`.

    Rows are exact after the last u, and columns carry v K^T u: only columns are shrunk, and the mass that is missing
    then is spread as a rank-one plan. The plan is u K v + row_shares column_sums; `direction_lanes` computes it.
    """
    kernel, u, v, sums, shares = work.delta, work.u, work.v, work.column_sums, work.row_shares
    tiny = splat(kernel, TINY_32 if kernel.itemsize == 4 else TINY_64)
    zero, one = splat(kernel, 0.0), splat(kernel, 1.0)
    for k in range(m):
        share = load(nu, k)
        carried = load(v, k) * load(sums, k)
        store(v, k, load(v, k) * smaller(share / larger(carried, tiny), one))
        store(sums, k, larger(share - carried, zero))  # from now on what the column misses
    missing = zero
    for i in range(n - 1, -1, -1):  # upwards, as after 20 rounds the last rows are in the first-level cache
        row = load(u, i)
        total = zero
        for k in range(m):
            total = total + row * load(kernel, (i, k)) * load(v, k)
        lacks = larger(load(mu, i) - total, zero)
        store(shares, i, lacks)
        missing = missing + lacks
    inverse = one / larger(missing, tiny)
    for i in range(n):
        store(shares, i, load(shares, i) * inverse)
