"""The batched solver body: Sinkhorn conditional gradient for B pairs of two size classes at once, in torch.

    1  costs, of all pairs                      5  gap, and which pairs stop
    2  start: gamma = mu nu^T and Q(gamma)      6  products: Q(Delta), the only ones of an iteration
    3  gradient                                 7  line search, without products
    4  direction: Sinkhorn, rounded             8  step; at the end 9 value, and its terms if asked for

It solves graphs that do not fit on chip, pairs in double precision, and all pairs if there is no Triton. Every
matrix is (B, N, M), padded with nodes without mass. A pair that has stopped keeps its state while the others continue;
once half of the pairs have stopped, they are removed from the batch. Notation and numbers: problem.py.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rwk.transport.gpu.batched_costs import linear_cost
from rwk.transport.gpu.batched_pairs import (
    PairBatch,
    load_batch,
    quadratic_map,
    source_image,
    start_image,
    target_image,
)
from rwk.transport.gpu.batched_sinkhorn import sinkhorn_plan
from rwk.transport.gpu.device_measures import Stack, Store
from rwk.transport.gpu.partial_batch import moments, partial_plan
from rwk.transport.problem import (
    ARMIJO,
    HALVINGS,
    LARGEST_STEP_WITH_KL,
    LEAST_MASS_32,
    LEAST_MASS_64,
    TERM_NAMES,
    CostWeights,
    ScgOptions,
)

# If a gap in single precision is nearer to the tolerance than this, relative to the mean of |gradient|, the pair is
# solved again in double precision: one iteration more or less changes a value by far more than rounding does.
UNSURE_32: Final = 1e-6
LEAST_MASS: Final = {4: LEAST_MASS_32, 8: LEAST_MASS_64}  # by bytes per number


class BatchResults(NamedTuple):
    """Results of B pairs, on the device."""

    values: Any  # (B,) float64
    n_iter: Any  # (B,) int32
    gaps: Any  # (B,) float64
    converged: Any  # (B,) bool
    unsure: Any  # (B,) bool: a gap came so near the tolerance that rounding decides whether the pair stops
    gamma: Any  # (B, N, M), if asked for
    terms: Any  # (B, 7) float64, if asked for; their sum is the value
    history: list[tuple[Any, Any]]  # (objective, gap) before each iteration, if asked for


def inner(x: Any, y: Any) -> Any:
    """<x, y> of each pair, summed in float64."""
    import torch

    return (x * y).sum(dim=(1, 2), dtype=torch.float64)


def logarithms(gamma: Any) -> Any:
    return gamma.clamp_min(LEAST_MASS[gamma.element_size()]).log_()


class BatchPoint(NamedTuple):
    """The current couplings of a batch, with what the line search needs to know about them."""

    gamma: Any  # (B, N, M)
    logs: Any  # log gamma; without the degree prior it is not used and is gamma itself
    entropy: Any  # (B,) <gamma, log gamma>, or 0

    @classmethod
    def at(cls, gamma: Any, kl: float) -> BatchPoint:
        logs = logarithms(gamma) if kl != 0.0 else gamma
        return cls(gamma, logs, inner(gamma, logs) if kl != 0.0 else gamma.new_zeros(()))

    def take(self, chosen: Any) -> BatchPoint:
        return BatchPoint(*(part[chosen] if part.dim() else part for part in self))


def line_search(
    weights: CostWeights, point: BatchPoint, delta: Any, slope: Any, curvature: Any, active: Any
) -> tuple[Any, Any, BatchPoint]:
    """Step 7: the steps, the changes of H and the accepted points.

    H(gamma + alpha Delta) - H(gamma) = alpha <g - kl log gamma, Delta> + alpha^2 <Q(Delta), Delta>
    + kl <gamma_new log gamma_new - gamma log gamma, 1>; the term of the prior is linear in gamma, so it is already part
    of the slope. The step is 0 for a pair that is not active, and for a pair for which no step descends.
    """
    import torch

    kl = weights.beta_global * weights.degree_weight
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    newton = (-slope / (2.0 * torch.where(curvature > 0, curvature, 1.0))).clamp(0.0, largest)
    alpha = torch.where(curvature > 0, newton, largest) * active
    smooth_slope = slope - kl * inner(delta, point.logs) if kl != 0.0 else slope
    for halving in range(HALVINGS + 2):
        trial = BatchPoint.at(
            torch.addcmul(point.gamma, alpha.to(delta.dtype)[:, None, None], delta).clamp_min_(0.0), kl
        )
        change = alpha * smooth_slope + alpha * alpha * curvature + kl * (trial.entropy - point.entropy)
        pending = (change > ARMIJO * alpha * slope) & (alpha > 0)
        if not bool(pending.any()):
            break
        alpha = torch.where(pending, 0.5 * alpha if halving < HALVINGS else 0.0, alpha)
    return alpha, change, trial


def terms_at(batch: PairBatch, weights: CostWeights, gamma: Any) -> Any:
    """Step 9: the seven terms of H (B, 7), recomputed from gamma; without C_N, the first includes the second."""
    import torch

    terms = torch.zeros((len(gamma), len(TERM_NAMES)), dtype=torch.float64, device=gamma.device)
    local, kl = weights.beta_local, weights.beta_global * weights.degree_weight
    terms[:, 0] = inner(gamma, batch.linear)
    if batch.neighbour is not None:
        terms[:, 1] = local * inner(gamma, batch.neighbour)
        terms[:, 0] -= terms[:, 1]
    if local * weights.laplacian_source != 0.0:
        terms[:, 2] = local * weights.laplacian_source * inner(source_image(batch, gamma), gamma)
    if local * weights.laplacian_target != 0.0:
        terms[:, 3] = local * weights.laplacian_target * inner(target_image(batch, gamma), gamma)
    terms[:, 4] = 0.5 * local * weights.ridge * inner(gamma, gamma)
    if weights.beta_global != 0.0:
        image = batch.structure_mu.bmm(gamma).bmm(batch.structure_nu)
        terms[:, 5] = batch.constant - weights.beta_global * inner(image, gamma)
        if weights.mass != 1.0:
            terms[:, 5] += weights.beta_global * inner(moments(batch, gamma), gamma)
    if kl != 0.0:
        terms[:, 6] = kl * inner(gamma, logarithms(gamma) - batch.log_prior)
    return terms


def value_at(batch: PairBatch, weights: CostWeights, point: BatchPoint, image: Any) -> Any:
    """Step 9 without products: H (B,), from Q(gamma)."""
    kl = weights.beta_global * weights.degree_weight
    value = inner(point.gamma, batch.linear) + inner(point.gamma, image) + batch.constant
    return value if kl == 0.0 else value + kl * (point.entropy - inner(point.gamma, batch.log_prior))


def _direction(
    batch: PairBatch, image: Any, point: BatchPoint, weights: CostWeights, options: ScgOptions
) -> tuple[Any, Any, Any]:
    """Steps 3 to 5: Delta (B, N, M), <g, Delta> and <gamma, |g|> (B,)."""
    import torch

    kl = weights.beta_global * weights.degree_weight
    g = torch.add(batch.fixed, image, alpha=2.0)  # 3 gradient
    if kl != 0.0:
        g.add_(point.logs, alpha=kl)
    if weights.mass == 1.0:  # 4 direction
        plan = sinkhorn_plan(g, batch.mu, batch.nu, options.entropy, options.sinkhorn_iter)
    else:
        plan = partial_plan(g, batch.mu, batch.nu, weights.mass, options.entropy, options.sinkhorn_iter)
    delta = plan.sub_(point.gamma)
    return delta, inner(delta, g), inner(point.gamma, g.abs())


def solve_batch(
    batch: PairBatch,
    weights: CostWeights,
    options: ScgOptions,
    *,
    couplings: bool = False,
    trace: bool = False,
    start: Any = None,
) -> BatchResults:
    """Steps 2 to 9 of Algorithm 1 for every pair of a batch, from mu nu^T or the couplings `start` (B, N, M).

    With `couplings`, the values are sums of the terms; without, they come from Q(gamma), carried from step to step.
    """
    import torch

    kl = weights.beta_global * weights.degree_weight
    narrow = options.tol > 0.0 and batch.mu.element_size() == 4
    everything, count, device = batch, len(batch.mu), batch.mu.device
    if start is None and weights.mass != 1.0:
        start = weights.mass * batch.mu[:, :, None] * batch.nu[:, None, :]
    point = BatchPoint.at(batch.mu[:, :, None] * batch.nu[:, None, :] if start is None else start, kl)  # 2 start
    image = start_image(batch, weights, point.gamma) if start is None else quadratic_map(batch, weights, start)
    objective = terms_at(batch, weights, point.gamma).sum(dim=1) if trace else None
    results = BatchResults(
        values=torch.empty(count, dtype=torch.float64, device=device),
        n_iter=torch.zeros(count, dtype=torch.int32, device=device),
        gaps=torch.full((count,), float("inf"), dtype=torch.float64, device=device),
        converged=torch.zeros(count, dtype=torch.bool, device=device),
        unsure=torch.zeros(count, dtype=torch.bool, device=device),
        gamma=torch.empty_like(point.gamma) if couplings else None,
        terms=None,
        history=[],
    )

    def leave() -> None:  # 9 value
        results.values[held] = value_at(batch, weights, point, image)
        if couplings:
            results.gamma[held] = point.gamma

    held = torch.arange(count, device=device)  # indices of the pairs that are still in the working arrays
    active = torch.ones(count, dtype=torch.bool, device=device)
    for _ in range(options.max_iter):
        delta, slope, size = _direction(batch, image, point, weights, options)  # 3 gradient, 4 direction, 5 gap
        if narrow:
            results.unsure[held] |= active & ((slope + options.tol).abs() <= UNSURE_32 * size)
        results.gaps[held] = torch.where(active, -slope, results.gaps[held])
        if trace:
            results.history.append((objective, -slope))
        reached = active & (-slope <= options.tol)
        results.converged[held] |= reached
        active = active & ~reached
        if not bool(active.any()):
            break
        delta_image = quadratic_map(batch, weights, delta)  # 6 products
        curvature = inner(delta, delta_image)
        alpha, change, point = line_search(weights, point, delta, slope, curvature, active)  # 7 line search
        image.addcmul_(alpha.to(image.dtype)[:, None, None], delta_image)  # 8 step
        active = active & (alpha > 0)
        results.n_iter[held] += active.to(torch.int32)
        if trace:
            objective = objective + change
        remaining = int(active.sum())
        if remaining == 0:
            break
        if 2 * remaining <= len(held):  # store the results of the others and remove them
            leave()
            held, image, point, batch = held[active], image[active], point.take(active), batch.take(active)
            active = active[active]
    leave()
    if not couplings:
        return results
    terms = terms_at(everything, weights, results.gamma)
    return results._replace(terms=terms, values=terms.sum(dim=1))


def solve_places(
    store: Store, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights, options: ScgOptions,
    *, trace: bool = False, start: Any = None,
) -> BatchResults:  # fmt: skip
    """Solve pairs, given by their places in two stacks, with couplings and terms."""
    costs = linear_cost(store, source, target, a, b, weights)
    batch = load_batch(store, source, target, a, b, weights, costs)
    return solve_batch(batch, weights, options, couplings=True, trace=trace, start=start)
