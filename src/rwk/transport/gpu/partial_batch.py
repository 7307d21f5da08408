"""The partial problem in the batched body: what differs if only a given mass moves, for B pairs in double precision.

The problem is stated in cpu/partial.py, the rounds of its step 4 in cpu/partial_sinkhorn.py; here they run on
logarithms, (B, N, M) at once. Padded nodes have no weight and costs of FAR.
"""

from __future__ import annotations

import math
from typing import Any, Final

NEWTON_STEPS: Final = 100  # at most; five are usual
WHOLE: Final = 1e-13  # a side of which less than this share stays is moved entirely
LEAST: Final = 1e-300


def partial_plan(g: Any, mu: Any, nu: Any, mass: float, lam: float, rounds: int) -> Any:
    """The couplings (B, N, M) of the given mass after `rounds` rounds on costs g."""
    import torch

    nothing, real_u, real_v = -math.inf, mu > 0, nu > 0
    logs = (g / -lam).masked_fill_(~(real_u[:, :, None] & real_v[:, None, :]), nothing)
    log_mu, log_nu = mu.log(), nu.log()
    log_u, log_v = torch.zeros_like(mu).masked_fill_(~real_u, nothing), log_nu
    for _ in range(rounds):
        received = torch.logsumexp(logs + log_u[:, :, None], dim=1)
        total = torch.logaddexp(stays(received, nu, mass)[:, None], received)
        log_v = torch.where(real_v, log_nu - total, nothing)
        sent = torch.logsumexp(logs + log_v[:, None, :], dim=2)
        total = torch.logaddexp(stays(sent, mu, mass)[:, None], sent)
        log_u = torch.where(real_u, log_mu - total, nothing)
    plan = (logs + log_u[:, :, None] + log_v[:, None, :]).exp_()
    return _round_to_mass(plan, mu, nu, mass)


def stays(logs: Any, weights: Any, mass: float) -> Any:
    """The z (B,) with sum_i w_i / (1 + exp(z - l_i)) = mass; -inf if the weights are no more than the mass."""
    import torch

    real, total = weights > 0, weights.sum(dim=1)
    entirely = total - mass <= WHOLE * total
    wanted = (mass / (total - mass).clamp_min(LEAST)).log()
    low = logs.masked_fill(~real, math.inf).amin(dim=1) - wanted
    high = logs.masked_fill(~real, -math.inf).amax(dim=1) - wanted
    z = 0.5 * (low + high)
    for _ in range(NEWTON_STEPS):
        share, rest = torch.sigmoid(logs - z[:, None]), torch.sigmoid(z[:, None] - logs)
        moved, stayed = (weights * share).sum(dim=1), (weights * rest).sum(dim=1)
        slope = (weights * share * rest).sum(dim=1)
        height = (moved / stayed).log() - wanted
        low, high = torch.where(height > 0, z, low), torch.where(height > 0, high, z)
        done = (height.abs() <= 1e-14) | (high - low <= 1e-14 * torch.maximum(low.abs(), high.abs())) | entirely
        if bool(done.all()):
            break
        ahead = z + height * moved * stayed / (slope * total)
        inside = (ahead > low) & (ahead < high) & (slope > 0)
        z = torch.where(done, z, torch.where(inside, ahead, 0.5 * (low + high)))
    return torch.where(entirely, -math.inf, z)


def _round_to_mass(plan: Any, mu: Any, nu: Any, mass: float) -> Any:
    """R13 for a given mass: shrink rows, shrink columns, then shrink all or spread what is missing."""
    import torch

    plan = plan * (mu / plan.sum(dim=2).clamp_min(LEAST)).clamp_max(1.0)[:, :, None]
    plan = plan * (nu / plan.sum(dim=1).clamp_min(LEAST)).clamp_max(1.0)[:, None, :]
    moved = plan.sum(dim=(1, 2))
    plan = plan * (mass / moved.clamp_min(LEAST)).clamp_max(1.0)[:, None, None]
    rows, columns = (mu - plan.sum(dim=2)).clamp_min(0.0), (nu - plan.sum(dim=1)).clamp_min(0.0)
    room = rows.sum(dim=1) * columns.sum(dim=1)
    share = torch.where(room > 0, (mass - moved).clamp_min(0.0) / room.clamp_min(LEAST), 0.0)
    return plan + share[:, None, None] * rows[:, :, None] * columns[:, None, :]


def moments(batch: Any, x: Any) -> Any:
    """C_mu^2 p / 2 + C_nu^2 q / 2 (B, N, M), p and q the row and column sums of x."""
    p, q = x.sum(dim=2, keepdim=True), x.sum(dim=1)[:, :, None]
    rows = 0.5 * (batch.structure_mu**2).bmm(p)
    columns = 0.5 * (batch.structure_nu**2).bmm(q)
    return rows + columns.transpose(1, 2)
