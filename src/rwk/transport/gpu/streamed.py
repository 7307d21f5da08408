"""Steps 3 to 5 of the batched body for large graphs: one program per pair reads its matrices tile by tile (Triton).

A tile has whole rows, so u of its rows follows from v at once, and the sums over columns for the next v grow from tile
to tile: a Sinkhorn round reads the kernel once. The kernels of the pairs that are solved at the same time stay in the
second-level cache. Scale and rounds are those of batched_sinkhorn.py, in single precision.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Any, Final

import triton
import triton.language as tl

from rwk.runtime.device import announce_compiling
from rwk.transport.gpu.batched_sinkhorn import PLAIN_SPREAD, TINY
from rwk.transport.gpu.fused_math import LN_2, exp2, logarithms, ratio

TILE: Final = 2**13  # entries
FAR = tl.constexpr(1e30)  # larger than any cost, smaller than the costs of padded nodes
_PLAIN_SPREAD = tl.constexpr(PLAIN_SPREAD[4])
_TINY = tl.constexpr(TINY[4])


@triton.jit
def _tile(first, n, m, R: tl.constexpr, M: tl.constexpr):
    """Rows of a tile, places of its entries in a matrix, and which of them exist."""
    i, k = first + tl.arange(0, R), tl.arange(0, M)
    return i, i[:, None] * m + k[None, :], (i < n)[:, None] & (k < m)[None, :]


@triton.jit(do_not_specialize=["rounds"])
def _direction(
    fixed, images, gammas, kernels, deltas, weights_a, weights_b, slopes, sums_of_g, carried,
    n, m, kl, lam, rounds, R: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """`deltas` holds the gradient between the passes, and Delta at the end."""
    pair = tl.program_id(0).to(tl.int64)
    fixed, images, gammas = fixed + pair * n * m, images + pair * n * m, gammas + pair * n * m
    kernels, deltas, weights_a = kernels + pair * n * m, deltas + pair * n * m, weights_a + pair * n
    k = tl.arange(0, M)
    nu = tl.load(weights_b + pair * m + k, mask=k < m, other=0.0)
    scale = -1.0 / (LN_2 * lam)

    least, lowest = tl.full((M,), FAR, tl.float32), FAR
    for first in range(0, n, R):  # 3 gradient, the least of each row, and of each column of the rest
        i, place, inside = _tile(first, n, m, R, M)
        mu = tl.load(weights_a + i, mask=i < n, other=0.0)
        g = tl.load(fixed + place, mask=inside, other=FAR) + 2.0 * tl.load(images + place, mask=inside, other=0.0)
        if kl != 0.0:
            g += kl * logarithms(tl.load(gammas + place, mask=inside, other=0.0))
        tl.store(deltas + place, g, mask=inside)
        a = tl.where(mu > 0, tl.min(g, axis=1), 0.0)
        least = tl.minimum(least, tl.min(g - a[:, None], axis=0))
        lowest = tl.minimum(lowest, tl.min(tl.where(mu > 0, a, FAR), axis=0))
    least = tl.where(nu > 0, least, 0.0)
    tl.debug_barrier()

    spread, sums = 0.0 * lowest, tl.zeros((M,), tl.float32)
    for first in range(0, n, R):  # the kernel, and the first sums over columns
        i, place, inside = _tile(first, n, m, R, M)
        mu = tl.load(weights_a + i, mask=i < n, other=0.0)
        g = tl.load(deltas + place, mask=inside, other=FAR)
        a = tl.where(mu > 0, tl.min(g, axis=1), 0.0)
        rest = g - a[:, None] - least[None, :]
        start = tl.where(mu > 0, a - lowest, 0.0)
        farthest = tl.max(tl.max(tl.where(inside & (rest < 0.5 * FAR), rest, 0.0), axis=1), axis=0)
        spread = tl.maximum(spread, tl.maximum(farthest, tl.max(start, axis=0)))
        kernel = tl.where(inside, exp2(scale * rest), 0.0)  # 0 for padded nodes
        tl.store(kernels + place, kernel, mask=inside)
        sums += tl.sum(kernel * tl.where(mu > 0, exp2(scale * start), 0.0)[:, None], axis=0)
    tl.debug_barrier()

    v = nu
    for _ in range(rounds):  # 4 direction
        v = ratio(nu, tl.maximum(sums, _TINY))
        parts = tl.zeros((R, M), tl.float32)  # sums over every R-th row: threads exchange them once per round
        for first in range(0, n, R):
            i, place, inside = _tile(first, n, m, R, M)
            mu = tl.load(weights_a + i, mask=i < n, other=0.0)
            kernel = tl.load(kernels + place, mask=inside, other=0.0)
            u = ratio(mu, tl.maximum(tl.sum(kernel * v[None, :], axis=1), _TINY))
            parts += kernel * u[:, None]
        sums = tl.sum(parts, axis=0)
    # rounding: rows are exact, so only columns are shrunk
    found = v * sums
    w = v * tl.minimum(ratio(nu, tl.maximum(found, _TINY)), 1.0)
    missing = 0.0 * lowest
    for first in range(0, n, R):
        i, place, inside = _tile(first, n, m, R, M)
        mu = tl.load(weights_a + i, mask=i < n, other=0.0)
        kernel = tl.load(kernels + place, mask=inside, other=0.0)
        u = ratio(mu, tl.maximum(tl.sum(kernel * v[None, :], axis=1), _TINY))
        missing += tl.sum(tl.maximum(mu - u * tl.sum(kernel * w[None, :], axis=1), 0.0), axis=0)
    share = tl.where(missing > 0, ratio(tl.maximum(nu - found, 0.0), tl.maximum(missing, _TINY)), 0.0)

    slope, sum_of_g = (0.0 * lowest).to(tl.float64), (0.0 * lowest).to(tl.float64)
    for first in range(0, n, R):  # 5 gap
        i, place, inside = _tile(first, n, m, R, M)
        mu = tl.load(weights_a + i, mask=i < n, other=0.0)
        kernel = tl.load(kernels + place, mask=inside, other=0.0)
        u = ratio(mu, tl.maximum(tl.sum(kernel * v[None, :], axis=1), _TINY))
        plan = kernel * u[:, None] * w[None, :]
        missing_a = tl.maximum(mu - tl.sum(plan, axis=1), 0.0)
        gamma = tl.load(gammas + place, mask=inside, other=0.0)
        g = tl.load(deltas + place, mask=inside, other=0.0)
        delta = plan + missing_a[:, None] * share[None, :] - gamma
        tl.store(deltas + place, delta, mask=inside)
        slope += tl.sum(tl.sum(delta * g, axis=1), axis=0)
        sum_of_g += tl.sum(tl.sum(gamma * tl.abs(g), axis=1), axis=0)
    tl.store(slopes + pair, slope)
    tl.store(sums_of_g + pair, sum_of_g)
    tl.store(carried + pair, (spread <= lam * _PLAIN_SPREAD).to(tl.int32))


def streamed_direction(batch: Any, image: Any, gamma: Any, kl: float, lam: float, rounds: int) -> tuple[Any, ...]:
    """Delta (B, N, M), <g, Delta> and <gamma, |g|> (B,), and whether single precision was enough for a pair."""
    import torch

    count, n, m = gamma.shape
    width = 1 << (m - 1).bit_length()
    kernels, deltas = torch.empty_like(gamma), torch.empty_like(gamma)
    slopes, sums_of_g = (torch.empty(count, dtype=torch.float64, device=gamma.device) for _ in range(2))
    carried = torch.empty(count, dtype=torch.int32, device=gamma.device)
    announce_compiling(f"direction {width}", gamma.device)
    _direction[(count,)](
        batch.fixed, image, gamma, kernels, deltas, batch.mu, batch.nu, slopes, sums_of_g, carried,
        n, m, kl, lam, rounds, R=max(TILE // width, 8), M=width, num_warps=8,
    )  # fmt: skip
    return deltas, slopes, sums_of_g, carried != 0
