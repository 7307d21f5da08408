"""B pairs as one batch, in torch: what stays the same through the solve (step 1), and its map Q (steps 2 and 6).

Matrices are (B, N, M), padded with nodes without mass. Notation: problem.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from rwk.transport.gpu.batched_costs import log_degree_prior
from rwk.transport.gpu.batched_sinkhorn import FAR
from rwk.transport.gpu.device_measures import Stack, Store
from rwk.transport.gpu.partial_batch import moments
from rwk.transport.problem import CostWeights


class PairBatch(NamedTuple):
    """Everything about B pairs that stays the same through the solve."""

    mu: Any  # (B, N)
    nu: Any  # (B, M)
    linear: Any  # M (B, N, M)
    neighbour: Any | None  # C_N, if terms are asked for
    log_prior: Any | None  # (B, N, M)
    fixed: Any  # the part of the gradient that does not depend on gamma; FAR for padded nodes
    constant: Any  # (B,) beta_global <c, gamma>, c = (C_mu^2 mu + C_nu^2 nu) / 2
    structure_mu: Any  # C_P (B, N, N)
    structure_nu: Any  # C_P (B, M, M)
    laplacian_mu: Any
    laplacian_nu: Any
    factor_mu: Any  # F (B, N, r)
    factor_nu: Any  # F (B, M, s)
    images_mu: Any  # C w, L w and S w (B, 3, N)
    images_nu: Any

    def take(self, chosen: Any) -> PairBatch:
        return PairBatch(*(None if part is None else part[chosen] for part in self))


def load_batch(
    store: Store, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights, costs: tuple[Any, Any | None]
) -> PairBatch:
    """Step 1: everything else that stays the same, given `costs`: M and, if terms are asked for, C_N."""
    mu, nu = source.weights[a], target.weights[b]
    valid = (mu > 0)[:, :, None] & (nu > 0)[:, None, :]
    linear: Any = (costs[0] * valid).to(store.real)
    neighbour = None if costs[1] is None else (costs[1] * valid).to(store.real)
    fixed, log_prior = linear, None
    kl = weights.beta_global * weights.degree_weight
    whole = weights.mass == 1.0
    if weights.beta_global != 0.0 and whole:
        moment_mu, moment_nu = source.vectors[a, 0], target.vectors[b, 0]
        fixed = fixed + 2.0 * weights.beta_global * (moment_mu[:, :, None] + moment_nu[:, None, :])
    if kl != 0.0:
        log_prior = log_degree_prior(source, target, a, b, valid)
        log_prior = log_prior if whole else log_prior + math.log(weights.mass)
        fixed = fixed + kl * (1.0 - log_prior)
    return PairBatch(
        mu=mu, nu=nu, linear=linear, neighbour=neighbour, log_prior=log_prior,
        fixed=fixed.masked_fill(~valid, FAR[fixed.element_size()]),
        constant=(weights.beta_global if whole else 0.0) * (source.moments[a] + target.moments[b]),
        structure_mu=source.maps[a, 0], structure_nu=target.maps[b, 0],
        laplacian_mu=source.maps[a, 1], laplacian_nu=target.maps[b, 1],
        factor_mu=source.factors[a], factor_nu=target.factors[b],
        images_mu=source.vectors[a, 1:], images_nu=target.vectors[b, 1:],
    )  # fmt: skip


def source_image(batch: PairBatch, x: Any) -> Any:
    """L_mu X S_nu."""
    return batch.laplacian_mu.bmm(x.bmm(batch.factor_nu)).bmm(batch.factor_nu.transpose(1, 2))


def target_image(batch: PairBatch, x: Any) -> Any:
    """S_mu X L_nu."""
    return batch.factor_mu.bmm(batch.laplacian_nu.bmm(x.transpose(1, 2).bmm(batch.factor_mu)).transpose(1, 2))


def start_image(batch: PairBatch, weights: CostWeights, start: Any) -> Any:
    """Step 2: Q(mu nu^T), (B, N, M), as a sum of outer products."""
    (carried_mu, rough_mu, smooth_mu), (carried_nu, rough_nu, smooth_nu) = (
        images.unbind(dim=1) for images in (batch.images_mu, batch.images_nu)
    )
    out = (0.5 * weights.beta_local * weights.ridge) * start
    for factor, left, right in (
        (-weights.beta_global, carried_mu, carried_nu),
        (weights.beta_local * weights.laplacian_source, rough_mu, smooth_nu),
        (weights.beta_local * weights.laplacian_target, smooth_mu, rough_nu),
    ):
        if factor != 0.0:
            out.addcmul_(left[:, :, None], right[:, None, :], value=factor)
    return out


def quadratic_map(batch: PairBatch, weights: CostWeights, x: Any) -> Any:
    """Step 6: Q(X), (B, N, M)."""
    out = (0.5 * weights.beta_local * weights.ridge) * x
    if weights.beta_global != 0.0:
        out.baddbmm_(batch.structure_mu.bmm(x), batch.structure_nu, alpha=-weights.beta_global)
        if weights.mass != 1.0:
            out.add_(moments(batch, x), alpha=weights.beta_global)
    if weights.beta_local * weights.laplacian_source != 0.0:
        out.add_(source_image(batch, x), alpha=weights.beta_local * weights.laplacian_source)
    if weights.beta_local * weights.laplacian_target != 0.0:
        out.add_(target_image(batch, x), alpha=weights.beta_local * weights.laplacian_target)
    return out
