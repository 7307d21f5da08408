"""The algorithm for one pair in plain vectorised NumPy, as one would first write it; one of the contenders."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.transport.problem import CostWeights, ScgOptions


class Node(NamedTuple):
    """What is known of the nodes of one graph."""

    features: Any  # (n, d)
    labels: Any  # sparse (n, D)
    norms: Any  # (n,) squared, of the sparse rows
    colours: Any  # (rounds, n)
    embedding: Any  # (n, k)
    degrees: Any  # (n,)


def plain_costs(source: Node, target: Node, weights: CostWeights, scales: tuple[float, float]) -> Any:
    """M and the logarithm of the degree prior; `scales`: the cost of a colour mismatch, and of a unit of embedding."""
    from scipy.spatial.distance import cdist

    hamming, neighbour = scales
    inner = (source.labels @ target.labels.T).toarray()
    squares = np.maximum(source.norms[:, None] + target.norms[None, :] - 2 * inner, 0.0)
    if source.features.shape[1]:
        squares += cdist(source.features, target.features, "sqeuclidean")
    linear = np.sqrt(squares)
    if len(source.colours):
        linear += hamming * (source.colours[:, :, None] != target.colours[:, None, :]).mean(axis=0)
    linear += weights.beta_local * neighbour * cdist(source.embedding, target.embedding)
    d, e = source.degrees[:, None], target.degrees[None, :]
    prior = np.maximum(1 - np.abs(d - e) / np.maximum(np.maximum(d, e), 1e-300), 1e-6)
    return linear, np.log(prior / prior.sum())


def plain_scg(costs: Any, sides: Any, weights: CostWeights, options: ScgOptions) -> float:
    """RW of one pair: `costs` are (M, log prior), `sides` (weights, C_P, L, S) of source and target, all dense."""
    linear, log_prior = costs
    (mu, C, L, S), (nu, D, K, T) = sides
    bl, bg = weights.beta_local, weights.beta_global
    kl = bg * weights.degree_weight
    moment = 0.5 * ((C**2 @ mu)[:, None] + (D**2 @ nu)[None, :])

    def quadratic(x: Any) -> Any:
        smooth = weights.laplacian_source * (L @ x @ T) + weights.laplacian_target * (S @ x @ K)
        return bl * (smooth + 0.5 * weights.ridge * x) - bg * (C @ x @ D)

    def objective(x: Any) -> float:
        logs = np.log(np.maximum(x, 1e-300)) - log_prior
        return float((linear * x).sum() + bg * (moment * x).sum() + (quadratic(x) * x).sum() + kl * (x * logs).sum())

    gamma = np.outer(mu, nu)
    value = objective(gamma)
    for _ in range(options.max_iter):
        g = linear + 2 * bg * moment + 2 * quadratic(gamma)
        g += kl * (1 + np.log(np.maximum(gamma, 1e-300)) - log_prior)
        delta = _rounded(_sinkhorn(g, mu, nu, options), mu, nu) - gamma
        slope = float((delta * g).sum())
        if -slope <= options.tol:
            break
        curvature = float((delta * quadratic(delta)).sum())
        largest = 0.99 if kl else 1.0
        alpha = min(max(-slope / (2 * curvature), 0.0), largest) if curvature > 0 else largest
        for _ in range(31):
            trial = gamma + alpha * delta
            new = objective(trial)
            if new <= value + 1e-4 * alpha * slope:
                break
            alpha *= 0.5
        else:
            break
        gamma, value = trial, new
    return value


def _sinkhorn(g: Any, mu: Any, nu: Any, options: ScgOptions) -> Any:
    kernel = np.exp(-(g - g.min()) / options.entropy)
    u = np.ones_like(mu)
    v = np.ones_like(nu)
    for _ in range(options.sinkhorn_iter):
        v = nu / (kernel.T @ u)
        u = mu / (kernel @ v)
    return u[:, None] * kernel * v[None, :]


def _rounded(plan: Any, mu: Any, nu: Any) -> Any:
    plan = plan * np.minimum(1, mu / plan.sum(axis=1))[:, None]
    plan = plan * np.minimum(1, nu / plan.sum(axis=0))[None, :]
    rows, columns = mu - plan.sum(axis=1), nu - plan.sum(axis=0)
    missing = np.abs(rows).sum()
    return plan + np.outer(rows, columns) / missing if missing > 0 else plan
