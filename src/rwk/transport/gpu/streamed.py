"""Kernels for large graphs: one program per pair reads its matrices tile by tile (Triton).

    _start       steps 2 and 3: gamma = mu nu^T, Q(gamma), and the part of the gradient that stays the same
    _direction   steps 3 to 5
    _step        steps 7 and 8, given the products of step 6

In `_direction`, a tile has whole rows, so u of its rows follows from v at once, and the sums over columns for the next
v grow from tile to tile: a Sinkhorn round reads the kernel once. The kernels of the pairs that are solved at the same
time stay in the second-level cache. Scale and rounds are those of batched_sinkhorn.py, in single precision.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Any, Final

import triton
import triton.language as tl

from rwk.runtime.device import announce_compiling
from rwk.transport.gpu.batched_sinkhorn import FAR as PADDED_COST
from rwk.transport.gpu.batched_sinkhorn import PLAIN_SPREAD, TINY
from rwk.transport.gpu.device_measures import Stack
from rwk.transport.gpu.fused_math import LN_2, exp2, log2, logarithms, ratio
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, PRIOR_FLOOR, CostWeights

TILE: Final = 2**13  # entries
FLAT_TILE: Final = 2**12
FAR = tl.constexpr(1e30)  # larger than any cost, smaller than the costs of padded nodes:
PADDED = tl.constexpr(PADDED_COST[4])
_ARMIJO = tl.constexpr(ARMIJO)
_HALVINGS = tl.constexpr(HALVINGS)
_LARGEST_STEP_WITH_KL = tl.constexpr(LARGEST_STEP_WITH_KL)
_PRIOR_FLOOR = tl.constexpr(PRIOR_FLOOR)
_SMALLEST_DEGREE = tl.constexpr(1e-30)
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
    """Steps 3 to 5; `deltas` holds the gradient between the passes, and Delta at the end."""
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


@triton.jit
def _at(pointer, place, inside):
    return tl.load(pointer + place, mask=inside, other=0.0)


@triton.jit
def _likeness(degrees_a, degrees_b, i, k, inside):
    """Similarity of the degrees of nodes i and k; R8: 0/0 counts as equal degrees, whose difference is 0."""
    d, e = _at(degrees_a, i, inside), _at(degrees_b, k, inside)
    return tl.maximum(1.0 - tl.abs(d - e) / tl.maximum(tl.maximum(d, e), _SMALLEST_DEGREE), _PRIOR_FLOOR)


@triton.jit
def _start(
    fixed, images, gammas, pairs_a, pairs_b, n, m, weights_a, weights_b, degrees_a, degrees_b, vectors_a, vectors_b,
    beta_global, w_source, w_target, ridge, kl, TILE: tl.constexpr,
):  # fmt: skip
    """Steps 2 and 3: `fixed` holds M before, and the part of the gradient that does not depend on gamma afterwards."""
    pair = tl.program_id(0).to(tl.int64)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    fixed, images, gammas = fixed + pair * n * m, images + pair * n * m, gammas + pair * n * m
    weights_a, degrees_a, vectors_a = weights_a + a * n, degrees_a + a * n, vectors_a + a * 4 * n
    weights_b, degrees_b, vectors_b = weights_b + b * m, degrees_b + b * m, vectors_b + b * 4 * m
    sum_of_likeness = tl.zeros((), tl.float32)
    if kl != 0.0:
        for first in range(0, n * m, TILE):
            place = first + tl.arange(0, TILE)
            i, k, inside = place // m, place % m, place < n * m
            gamma = _at(weights_a, i, inside) * _at(weights_b, k, inside)
            likeness = _likeness(degrees_a, degrees_b, i, k, inside)
            sum_of_likeness += tl.sum(tl.where(gamma > 0, likeness, 0.0), axis=0)
    for first in range(0, n * m, TILE):
        place = first + tl.arange(0, TILE)
        i, k, inside = place // m, place % m, place < n * m
        gamma = _at(weights_a, i, inside) * _at(weights_b, k, inside)
        g = _at(fixed, place, inside) + 2.0 * beta_global * (_at(vectors_a, i, inside) + _at(vectors_b, k, inside))
        if kl != 0.0:
            log_likeness = log2(_likeness(degrees_a, degrees_b, i, k, inside)) - log2(sum_of_likeness)
            g += kl * (1.0 - LN_2 * log_likeness)
        image = ridge * gamma - beta_global * _at(vectors_a + n, i, inside) * _at(vectors_b + m, k, inside)
        image += w_source * _at(vectors_a + 2 * n, i, inside) * _at(vectors_b + 3 * m, k, inside)
        image += w_target * _at(vectors_a + 3 * n, i, inside) * _at(vectors_b + 2 * m, k, inside)
        tl.store(gammas + place, gamma, mask=inside)
        tl.store(images + place, image, mask=inside)
        tl.store(fixed + place, tl.where(gamma > 0, g, PADDED), mask=inside)


@triton.jit(do_not_specialize=["size"])
def _step(gammas, deltas, images, delta_images, slopes, active, alphas, size, kl, TILE: tl.constexpr):
    """Steps 7 and 8 for a pair that is active; the step alpha is 0 if no step descends."""
    pair = tl.program_id(0).to(tl.int64)
    slope = tl.load(slopes + pair)
    alpha = 0.0 * slope
    if tl.load(active + pair) != 0:
        gammas, deltas = gammas + pair * size, deltas + pair * size
        images, delta_images = images + pair * size, delta_images + pair * size
        curvature, smooth, entropy = alpha, slope, alpha
        for first in range(0, size, TILE):
            place = first + tl.arange(0, TILE)
            delta = _at(deltas, place, place < size)
            curvature += tl.sum(delta * _at(delta_images, place, place < size), axis=0)
            if kl != 0.0:
                gamma = _at(gammas, place, place < size)
                logs = logarithms(gamma)
                smooth -= kl * tl.sum(delta * logs, axis=0)
                entropy += tl.sum(gamma * logs, axis=0)
        largest = tl.where(kl != 0.0, _LARGEST_STEP_WITH_KL, 1.0)
        newton = tl.minimum(tl.maximum(-slope / (2.0 * tl.where(curvature > 0, curvature, 1.0)), 0.0), largest)
        alpha = tl.where(curvature > 0, newton, largest)
        halvings, searching = 0, 1
        while searching == 1:
            change = alpha * smooth + alpha * alpha * curvature
            if kl != 0.0:
                change -= kl * entropy
                for first in range(0, size, TILE):
                    place = first + tl.arange(0, TILE)
                    moved = alpha.to(tl.float32) * _at(deltas, place, place < size)
                    trial = tl.maximum(_at(gammas, place, place < size) + moved, 0.0)
                    change += kl * tl.sum(trial * logarithms(trial), axis=0)
            if change <= _ARMIJO * alpha * slope:
                searching = 0
            else:
                alpha = tl.where(halvings < _HALVINGS, 0.5 * alpha, 0.0)
                searching = tl.where(halvings < _HALVINGS, 1, 0)
                halvings += 1
        step = alpha.to(tl.float32)
        for first in range(0, size, TILE):
            place = first + tl.arange(0, TILE)
            inside = place < size
            trial = tl.maximum(_at(gammas, place, inside) + step * _at(deltas, place, inside), 0.0)
            image = _at(images, place, inside) + step * _at(delta_images, place, inside)
            tl.store(gammas + place, trial, mask=inside)
            tl.store(images + place, image, mask=inside)
    tl.store(alphas + pair, alpha)


def started(fixed: Any, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights) -> tuple[Any, Any]:
    """Steps 2 and 3: Q(gamma) and gamma of the start; `fixed` holds M (B, N, M) and is changed in place."""
    import torch

    images, gammas = torch.empty_like(fixed), torch.empty_like(fixed)
    announce_compiling("start of large pairs", fixed.device)
    _start[(len(a),)](
        fixed, images, gammas, a, b, source.width, target.width, source.weights, target.weights, source.degrees,
        target.degrees, source.vectors, target.vectors, weights.beta_global,
        weights.beta_local * weights.laplacian_source, weights.beta_local * weights.laplacian_target,
        0.5 * weights.beta_local * weights.ridge, weights.beta_global * weights.degree_weight,
        TILE=FLAT_TILE, num_warps=8,
    )  # fmt: skip
    return images, gammas


def stepped(gamma: Any, delta: Any, image: Any, delta_image: Any, slope: Any, active: Any, kl: float) -> Any:
    """Steps 7 and 8: changes gamma and Q(gamma) of the active pairs in place; returns the steps alpha (B,)."""
    import torch

    alphas = torch.empty_like(slope)
    announce_compiling("step of large pairs", gamma.device)
    _step[(len(slope),)](
        gamma, delta, image, delta_image, slope, active.to(torch.int32), alphas, gamma[0].numel(), kl,
        TILE=FLAT_TILE, num_warps=8,
    )  # fmt: skip
    return alphas


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
