"""Steps 2 to 4 of the kernels of small graphs: the start with its gradient, and the Sinkhorn direction (Triton).

A program solves step 4 for a few pairs at once. Its arrays have the axes (b, i, h, l): b is the pair, i the row, and
k = h L + l the column. Triton deals l to the threads of a warp first (four numbers each), then b, i and h, so these
numbers decide which sums stay within a thread: with the pairs among the threads, a Sinkhorn round of 16 x 16 takes half
as many exchanges between threads as with one pair per warp, and a warp that holds a whole matrix waits for no other.

Rounds use the scale of batched_sinkhorn.py and run on plain numbers or, in the WIDE variant, on logarithms.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Final

import triton
import triton.language as tl

from rwk.transport.gpu.batched_sinkhorn import PLAIN_SPREAD, TINY
from rwk.transport.gpu.fused_math import LN_2, exp2, log2, logarithms, ratio, total
from rwk.transport.problem import PRIOR_FLOOR

# of g / lam: logarithms of this size still have three digits after the decimal point, and such errors cancel
WIDE_SPREAD: Final = 2000.0
FAR = tl.constexpr(1e30)  # larger than any cost
_PLAIN_SPREAD = tl.constexpr(PLAIN_SPREAD[4])
_WIDE_SPREAD = tl.constexpr(WIDE_SPREAD)
_TINY = tl.constexpr(TINY[4])
_PRIOR_FLOOR = tl.constexpr(PRIOR_FLOOR)
_SMALLEST_DEGREE = tl.constexpr(1e-30)


@triton.jit
def start_kernel(
    gradients, gammas, pairs_a, pairs_b, width_a, width_b, weights_a, weights_b, degrees_a, degrees_b,
    vectors_a, vectors_b, beta_global, w_source, w_target, ridge, kl, N: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """Steps 2 and 3: gamma = mu nu^T and the gradient there; `gradients` holds M before."""
    pair = tl.program_id(0).to(tl.int64)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    i, k = tl.arange(0, N), tl.arange(0, M)
    own_a, own_b = i < width_a, k < width_b
    mu = tl.load(weights_a + a * width_a + i, mask=own_a, other=0.0)
    nu = tl.load(weights_b + b * width_b + k, mask=own_b, other=0.0)
    inside = (mu > 0)[:, None] & (nu > 0)[None, :]
    vectors_a += a * 4 * width_a + i
    vectors_b += b * 4 * width_b + k
    place = pair * N * M + i[:, None] * M + k[None, :]
    g = tl.load(gradients + place)
    moment_a = tl.load(vectors_a, mask=own_a, other=0.0)
    moment_b = tl.load(vectors_b, mask=own_b, other=0.0)
    g += (2.0 * beta_global) * (moment_a[:, None] + moment_b[None, :])
    if kl != 0.0:
        d = tl.load(degrees_a + a * width_a + i, mask=own_a, other=0.0)[:, None]
        e = tl.load(degrees_b + b * width_b + k, mask=own_b, other=0.0)[None, :]
        # R8: 0/0 counts as equal degrees; the difference is 0 then
        likeness = tl.maximum(1.0 - tl.abs(d - e) / tl.maximum(tl.maximum(d, e), _SMALLEST_DEGREE), _PRIOR_FLOOR)
        g -= (kl * LN_2) * (log2(likeness) - log2(total(tl.where(inside, likeness, 0.0))))
    gamma = mu[:, None] * nu[None, :]
    if kl != 0.0:
        g += kl * logarithms(gamma)
    image = ridge * gamma
    for t in range(3):  # outer products: C mu with C nu, L mu with S nu, S mu with L nu
        weight = tl.where(t == 0, -beta_global, tl.where(t == 1, w_source, w_target))
        left = tl.load(vectors_a + (1 + t) * width_a, mask=own_a, other=0.0)
        right = tl.load(vectors_b + (1 + (3 - t) % 3) * width_b, mask=own_b, other=0.0)
        image += (weight * left)[:, None] * right[None, :]
    tl.store(gammas + place, gamma)
    tl.store(gradients + place, tl.where(inside, g + 2.0 * image, FAR))  # padded nodes are far from all others


@triton.jit
def _over_columns(x):
    """Sum over the columns (h, l): (b, i); h lies within a thread and goes first."""
    return tl.sum(tl.sum(x, axis=2), axis=2)


@triton.jit
def _least_column(x):
    return tl.min(tl.min(x, axis=2), axis=2)


@triton.jit
def _largest_column(x):
    return tl.max(tl.max(x, axis=2), axis=2)


@triton.jit
def _plain_rounds(plan, start, mu, nu, scale, rounds):
    """Sinkhorn rounds on plain numbers, for a spread that keeps products normal numbers; rows are exact."""
    plan = exp2(scale * plan)  # 0 for padded nodes
    u = tl.where(mu > 0, exp2(scale * start), 0.0)
    v = nu
    for _ in range(rounds):
        v = ratio(nu, tl.maximum(tl.sum(plan * u[:, :, None, None], axis=1), _TINY))
        u = ratio(mu, tl.maximum(_over_columns(plan * v[:, None, :, :]), _TINY))
    return plan * u[:, :, None, None] * v[:, None, :, :]


@triton.jit
def _wide_rounds(rest, start, mu, nu, scale, rounds):
    """The same rounds on binary logarithms, which do not overflow for any spread."""
    logs = tl.maximum(scale * rest, -FAR)
    p, q = tl.where(mu > 0, scale * start, 0.0), 0.0 * nu
    log_mu, log_nu = log2(tl.where(mu > 0, mu, 1.0)), log2(tl.where(nu > 0, nu, 1.0))
    for _ in range(rounds):
        shifted = logs + p[:, :, None, None]
        top = tl.max(shifted, axis=1)
        q = tl.where(nu > 0, log_nu - top - log2(tl.sum(exp2(shifted - top[:, None, :, :]), axis=1)), 0.0)
        shifted = logs + q[:, None, :, :]
        high = _largest_column(shifted)
        p = tl.where(mu > 0, log_mu - high - log2(_over_columns(exp2(shifted - high[:, :, None, None]))), 0.0)
    plan = exp2(logs + p[:, :, None, None] + q[:, None, :, :])
    # large logarithms lose digits, so rows are made exact again
    return plan * ratio(mu, tl.maximum(_over_columns(plan), _TINY))[:, :, None, None]


@triton.jit
def _sinkhorn_plan(g, mu, nu, lam, rounds, WIDE: tl.constexpr):
    """Step 4: couplings after `rounds` Sinkhorn rounds, rounded, and whether single precision was enough (b,)."""
    a = tl.where(mu > 0, _least_column(g), 0.0)
    rest = g - a[:, :, None, None]
    rest -= tl.where(nu > 0, tl.min(rest, axis=1), 0.0)[:, None, :, :]
    start = tl.where(mu > 0, a - tl.min(tl.where(mu > 0, a, FAR), axis=1)[:, None], 0.0)
    farthest = tl.max(_largest_column(tl.where(rest < FAR / 2, rest, 0.0)), axis=1)
    spread = tl.maximum(farthest, tl.max(start, axis=1))
    scale = -1.0 / (LN_2 * lam)
    if WIDE:
        plan = _wide_rounds(rest, start, mu, nu, scale, rounds)
        carried = spread <= lam * _WIDE_SPREAD
    else:
        plan = _plain_rounds(rest, start, mu, nu, scale, rounds)
        carried = spread <= lam * _PLAIN_SPREAD
    # rounding: rows are exact, so only columns are shrunk
    found = tl.sum(plan, axis=1)
    plan *= tl.minimum(ratio(nu, tl.maximum(found, _TINY)), 1.0)[:, None, :, :]
    missing_b = tl.maximum(nu - found, 0.0)
    missing_a = tl.maximum(mu - _over_columns(plan), 0.0)
    missing = tl.sum(missing_a, axis=1)[:, None, None]
    share = tl.where(missing > 0, ratio(missing_b, tl.maximum(missing, _TINY)), 0.0)
    return plan + missing_a[:, :, None, None] * share[:, None, :, :], carried


@triton.jit(do_not_specialize=["count", "rounds"])
def direction_kernel(
    gradients, plans, listed, count, pairs_a, pairs_b, width_a, width_b, weights_a, weights_b, states, lam, rounds,
    N: tl.constexpr, H: tl.constexpr, L: tl.constexpr, B: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Step 4 for B listed pairs: the plan; a pair whose costs spread too far is given up and gets the state 2."""
    b, i = tl.arange(0, B), tl.arange(0, N)
    there = tl.program_id(0) * B + b < count
    pair = tl.load(listed + tl.program_id(0) * B + b, mask=there, other=0)
    state = tl.load(states + pair, mask=there, other=1)
    if tl.min(state, axis=0) == 0:
        first, second = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
        rows = first[:, None] * width_a + i[None, :]
        mu = tl.load(weights_a + rows, mask=(i < width_a)[None, :] & there[:, None], other=0.0)  # (b, i)
        k = tl.arange(0, H)[:, None] * L + tl.arange(0, L)[None, :]
        columns = second[:, None, None] * width_b + k[None, :, :]
        nu = tl.load(weights_b + columns, mask=(k < width_b)[None, :, :] & there[:, None, None], other=0.0)  # (b, h, l)
        place = (pair[:, None] * N + i[None, :])[:, :, None, None] * (H * L) + k[None, None, :, :]
        if B == 1:
            g = tl.load(gradients + place)
        else:
            g = tl.load(gradients + place, mask=there[:, None, None, None], other=0.0)
        plan, carried = _sinkhorn_plan(g, mu, nu, lam, rounds, WIDE)
        if B == 1:
            tl.store(plans + place, plan)
        else:
            tl.store(plans + place, plan, mask=there[:, None, None, None])
        tl.store(states + pair, 2, mask=there & (state == 0) & (carried == 0))
