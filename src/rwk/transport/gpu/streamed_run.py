"""Solve batches of large pairs with the kernels of streamed.py; the products of step 6 are torch's.

The steps are those of `solve_batch`, with fewer passes over memory: there, every operation reads and writes whole
matrices of all pairs.
"""

from __future__ import annotations

from typing import Any

from rwk.transport.gpu.batched import UNSURE_32, BatchResults, inner, logarithms
from rwk.transport.gpu.batched_pairs import PairBatch, quadratic_map
from rwk.transport.gpu.batched_sinkhorn import sinkhorn_plan
from rwk.transport.gpu.device_measures import Stack
from rwk.transport.gpu.streamed import started, stepped, streamed_direction
from rwk.transport.problem import CostWeights, ScgOptions


def solve_streamed(
    cost: Any, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights, options: ScgOptions
) -> BatchResults:
    """Steps 2 to 9 of Algorithm 1 for pairs of two size classes, given M (B, N, M), which is overwritten."""
    import torch

    kl = weights.beta_global * weights.degree_weight
    image, gamma = started(cost, source, target, a, b, weights)  # 2 start
    batch = _loaded(cost, source, target, a, b, weights)
    count, device = len(a), cost.device
    results = BatchResults(
        values=torch.empty(count, dtype=torch.float64, device=device),
        n_iter=torch.zeros(count, dtype=torch.int32, device=device),
        gaps=torch.full((count,), float("inf"), dtype=torch.float64, device=device),
        converged=torch.zeros(count, dtype=torch.bool, device=device),
        unsure=torch.zeros(count, dtype=torch.bool, device=device),
        gamma=None, terms=None, history=[],
    )  # fmt: skip
    held = torch.arange(count, device=device)  # indices of the pairs that are still in the working arrays
    active = torch.ones(count, dtype=torch.bool, device=device)
    for _ in range(options.max_iter):
        delta, slope, size = _direction(batch, image, gamma, kl, options)  # 3 gradient, 4 direction, 5 gap
        if options.tol > 0.0:
            results.unsure[held] |= active & ((slope + options.tol).abs() <= UNSURE_32 * size)
        results.gaps[held] = torch.where(active, -slope, results.gaps[held])
        reached = active & (-slope <= options.tol)
        results.converged[held] |= reached
        active = active & ~reached
        remaining = int(active.sum())
        if 2 * remaining <= len(held):  # store the results of the others and remove them
            results.values[held] = _values(batch, image, gamma, kl)
            held, image, gamma, batch = held[active], image[active], gamma[active], batch.take(active)
            delta, slope, active = delta[active], slope[active], active[active]
        if remaining == 0:
            break
        delta_image = quadratic_map(batch, weights, delta)  # 6 products
        alpha = stepped(gamma, delta, image, delta_image, slope, active, kl)  # 7 line search, 8 step
        active = active & (alpha > 0)
        results.n_iter[held] += active.to(torch.int32)
        if not bool(active.any()):
            break
    if len(held):
        results.values[held] = _values(batch, image, gamma, kl)
    return results


def _loaded(fixed: Any, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights) -> PairBatch:
    """What stays the same through the solve; the start needs no more of M, the degree prior and the images."""
    return PairBatch(
        mu=source.weights[a], nu=target.weights[b], linear=None, neighbour=None, log_prior=None, fixed=fixed,
        constant=weights.beta_global * (source.moments[a] + target.moments[b]),
        structure_mu=source.maps[a, 0], structure_nu=target.maps[b, 0],
        laplacian_mu=source.maps[a, 1], laplacian_nu=target.maps[b, 1],
        factor_mu=source.factors[a], factor_nu=target.factors[b], images_mu=None, images_nu=None,
    )  # fmt: skip


def _direction(batch: PairBatch, image: Any, gamma: Any, kl: float, options: ScgOptions) -> tuple[Any, Any, Any]:
    """Steps 3 to 5: Delta (B, N, M), <g, Delta> and <gamma, |g|> (B,)."""
    delta, slope, size, carried = streamed_direction(batch, image, gamma, kl, options.entropy, options.sinkhorn_iter)
    others = (~carried).nonzero()[:, 0]
    if len(others):  # the spread of these pairs is too large for single precision
        again = _batched_direction(batch.take(others), image[others], gamma[others], kl, options)
        delta[others], slope[others], size[others] = again
    return delta, slope, size


def _batched_direction(
    batch: PairBatch, image: Any, gamma: Any, kl: float, options: ScgOptions
) -> tuple[Any, Any, Any]:
    import torch

    g = torch.add(batch.fixed, image, alpha=2.0)
    if kl != 0.0:
        g.add_(logarithms(gamma), alpha=kl)
    delta = sinkhorn_plan(g, batch.mu, batch.nu, options.entropy, options.sinkhorn_iter).sub_(gamma)
    return delta, inner(delta, g), inner(gamma, g.abs())


def _values(batch: PairBatch, image: Any, gamma: Any, kl: float) -> Any:
    """Step 9: H (B,). The fixed part of the gradient contains kl, and the moments twice; H contains them once."""
    value = inner(gamma, batch.fixed + image) - batch.constant
    return value if kl == 0.0 else value - kl + kl * inner(gamma, logarithms(gamma))
