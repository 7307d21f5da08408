"""Step 4 of the batched body: Sinkhorn plans of B pairs, rounded to exact marginals.

The rounds are the same as on the CPU (u = 1 first, then in each round v and then u). Only their scale is different:
with a_i = min_k g_ik and b_k = min_i (g_ik - a_i), the kernel exp(-(g - a - b) / lam) has a 1 in every row and
column, and its scalings are u exp(-a / lam) and v exp(-b / lam). In this scale, single precision is enough for a much
larger spread of g / lam than with the kernel exp(-g / lam). If the spread is too large even so, the same rounds run
in double precision, and if it is too large for that, on logarithms in double precision.
"""

from __future__ import annotations

from typing import Any, Final

# by bytes per number: up to this spread of g / lam, products of kernel and scaling stay normal numbers
PLAIN_SPREAD: Final = {4: 75.0, 8: 600.0}
FAR: Final = {4: 1e36, 8: 1e300}  # cost of padded nodes, larger than any other
TINY: Final = {4: 1e-37, 8: 1e-300}


def sinkhorn_plan(g: Any, mu: Any, nu: Any, lam: float, rounds: int) -> Any:
    """The couplings (B, N, M) after `rounds` Sinkhorn rounds on costs g, which are FAR for padded nodes."""
    import torch

    real_u = mu > 0
    a = g.amin(dim=2).mul_(real_u)  # (B, N)
    rest = g - a[:, :, None]
    rest.sub_(rest.amin(dim=1, keepdim=True))  # padded columns become 0, but have no mass; padded rows stay FAR
    start = (a - a.masked_fill(~real_u, FAR[a.element_size()]).amin(dim=1, keepdim=True)).mul_(real_u)
    spread = torch.maximum(rest.amax(dim=2).mul_(real_u).amax(dim=1), start.amax(dim=1))
    sides = rest, start, mu, nu
    carried = spread <= lam * PLAIN_SPREAD[g.element_size()]
    if bool(carried.all()):
        return _scale_plain(*sides, lam, rounds)
    in_double = ~carried & (spread <= lam * PLAIN_SPREAD[8])
    plan = torch.empty_like(g)
    for chosen, real, scale in (
        (carried, g.dtype, _scale_plain),
        (in_double, torch.float64, _scale_plain),
        (~carried & ~in_double, torch.float64, _scale_logarithms),
    ):
        if bool(chosen.any()):
            numbers = [x[chosen].to(real) for x in sides]
            plan[chosen] = scale(numbers[0], numbers[1], numbers[2], numbers[3], lam, rounds).to(g.dtype)
    return plan


def _scale_plain(rest: Any, start: Any, mu: Any, nu: Any, lam: float, rounds: int) -> Any:
    kernel = rest.mul(-1.0 / lam).exp_()
    u = start.mul(-1.0 / lam).exp_().mul_(mu > 0)[:, None, :]  # (B, 1, N)
    tiny = TINY[kernel.element_size()]
    v = nu[:, :, None]
    for _ in range(rounds):
        v = nu[:, :, None] / u.bmm(kernel).transpose(1, 2).clamp_min(tiny)  # (B, M, 1)
        u = mu[:, None, :] / kernel.bmm(v).transpose(1, 2).clamp_min(tiny)
    # rounding: rows are exact after the last u, so only columns are shrunk
    carried = v * u.bmm(kernel).transpose(1, 2)
    v = v * (nu[:, :, None] / carried.clamp_min(tiny)).clamp_max_(1.0)
    plan = kernel.mul_(u.transpose(1, 2)).mul_(v.transpose(1, 2))
    return _add_missing(plan, mu - plan.sum(dim=2), nu - carried[:, :, 0])


def _scale_logarithms(rest: Any, start: Any, mu: Any, nu: Any, lam: float, rounds: int) -> Any:
    import torch

    nothing = -float("inf")
    logs = rest / -lam
    log_mu, log_nu, real_u, real_v = mu.log(), nu.log(), mu > 0, nu > 0
    log_u = (start / -lam).masked_fill_(~real_u, nothing)
    log_v = log_nu
    for _ in range(rounds):
        log_v = torch.where(real_v, log_nu - torch.logsumexp(logs + log_u[:, :, None], dim=1), nothing)
        log_u = torch.where(real_u, log_mu - torch.logsumexp(logs + log_v[:, None, :], dim=2), nothing)
    plan = (logs + log_u[:, :, None] + log_v[:, None, :]).exp_()
    # logarithms in the millions have few digits after the decimal point, so rows are not exact here
    plan.mul_((mu / plan.sum(dim=2).clamp_min(TINY[8])).clamp_max(1.0)[:, :, None])
    carried = plan.sum(dim=1)
    plan.mul_((nu / carried.clamp_min(TINY[8])).clamp_max(1.0)[:, None, :])
    return _add_missing(plan, mu - plan.sum(dim=2), nu - carried)


def _add_missing(plan: Any, missing_rows: Any, missing_columns: Any) -> Any:
    """Add the missing mass as the rank-one plan e_r e_c^T / |e_r| (R13)."""
    import torch

    missing_rows, missing_columns = missing_rows.clamp_min(0.0), missing_columns.clamp_min(0.0)
    missing = missing_rows.sum(dim=1, keepdim=True)
    share = torch.where(missing > 0, missing_columns / missing.clamp_min(TINY[plan.element_size()]), 0.0)
    return plan.addcmul_(missing_rows[:, :, None], share[:, None, :])
