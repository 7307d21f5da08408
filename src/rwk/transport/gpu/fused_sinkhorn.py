"""Step 4 of the fused body: the Sinkhorn plan of one pair, on chip, rounded to exact marginals.

Rounds use the scale of batched_sinkhorn.py and run on plain numbers or, in the WIDE variant, on logarithms.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Final

import triton
import triton.language as tl

from rwk.transport.gpu.batched_sinkhorn import PLAIN_SPREAD, TINY
from rwk.transport.gpu.fused_math import LN_2, exp2, largest, log2, ratio

# of g / lam: logarithms of this size still have three digits after the decimal point, and such errors cancel
WIDE_SPREAD: Final = 2000.0
FAR = tl.constexpr(1e30)  # larger than any cost
_PLAIN_SPREAD = tl.constexpr(PLAIN_SPREAD[4])
_WIDE_SPREAD = tl.constexpr(WIDE_SPREAD)
_TINY = tl.constexpr(TINY[4])


@triton.jit
def _plain_rounds(plan, start, mu, nu, scale, rounds):
    """Sinkhorn rounds on plain numbers, for a spread that keeps products normal numbers; rows are exact."""
    plan = exp2(scale * plan)  # 0 for padded nodes
    u = tl.where(mu > 0, exp2(scale * start), 0.0)
    v = nu
    for _ in range(rounds):
        v = ratio(nu, tl.maximum(tl.sum(plan * u[:, None], axis=0), _TINY))
        u = ratio(mu, tl.maximum(tl.sum(plan * v[None, :], axis=1), _TINY))
    return plan * u[:, None] * v[None, :]


@triton.jit
def _wide_rounds(rest, start, mu, nu, scale, rounds):
    """The same rounds on binary logarithms, which do not overflow for any spread."""
    logs = tl.maximum(scale * rest, -FAR)
    p, q = tl.where(mu > 0, scale * start, 0.0), 0.0 * nu
    log_mu, log_nu = log2(tl.where(mu > 0, mu, 1.0)), log2(tl.where(nu > 0, nu, 1.0))
    for _ in range(rounds):
        top = tl.max(logs + p[:, None], axis=0)
        total = tl.sum(exp2(logs + p[:, None] - top[None, :]), axis=0)
        q = tl.where(nu > 0, log_nu - top - log2(total), 0.0)
        top = tl.max(logs + q[None, :], axis=1)
        total = tl.sum(exp2(logs + q[None, :] - top[:, None]), axis=1)
        p = tl.where(mu > 0, log_mu - top - log2(total), 0.0)
    plan = exp2(logs + p[:, None] + q[None, :])
    # large logarithms lose digits, so rows are made exact again
    return plan * ratio(mu, tl.maximum(tl.sum(plan, axis=1), _TINY))[:, None]


@triton.jit
def sinkhorn_plan(g, mu, nu, lam, rounds, WIDE: tl.constexpr):
    """Step 4: the coupling after `rounds` Sinkhorn rounds, rounded, and whether single precision was enough."""
    a = tl.where(mu > 0, tl.min(g, axis=1), 0.0)
    rest = g - a[:, None]
    b = tl.where(nu > 0, tl.min(rest, axis=0), 0.0)
    rest -= b[None, :]
    start = tl.where(mu > 0, a - tl.min(tl.where(mu > 0, a, FAR), axis=0), 0.0)
    spread = tl.maximum(largest(tl.where(rest < FAR / 2, rest, 0.0)), tl.max(start, axis=0))
    scale = -1.0 / (LN_2 * lam)
    if WIDE:
        plan = _wide_rounds(rest, start, mu, nu, scale, rounds)
        carried = spread <= lam * _WIDE_SPREAD
    else:
        plan = _plain_rounds(rest, start, mu, nu, scale, rounds)
        carried = spread <= lam * _PLAIN_SPREAD
    # rounding: rows are exact, so only columns are shrunk
    found = tl.sum(plan, axis=0)
    plan *= tl.minimum(ratio(nu, tl.maximum(found, _TINY)), 1.0)[None, :]
    missing_b = tl.maximum(nu - found, 0.0)
    missing_a = tl.maximum(mu - tl.sum(plan, axis=1), 0.0)
    missing = tl.sum(missing_a, axis=0)
    share = tl.where(missing > 0, ratio(missing_b, tl.maximum(missing, _TINY)), 0.0)
    return plan + missing_a[:, None] * share[None, :], carried
