"""Solve chunks of pairs with the fused kernels; results are copied back while the next chunk is solved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.runtime.device import announce_compiling
from rwk.transport.gpu.device_measures import Stack
from rwk.transport.gpu.direction import direction_kernel, start_kernel
from rwk.transport.gpu.fused import LAUNCH, solve_pair_kernel
from rwk.transport.gpu.fused_costs import linear_cost_into
from rwk.transport.gpu.plan import Group, Job, column_bytes, run_chunks
from rwk.transport.gpu.step import step_kernel, value_kernel
from rwk.transport.problem import PairResults

GIVEN_UP = 2
UNSURE = 4
STOPPED = 3


class Solved(NamedTuple):
    """Results of a chunk on the device."""

    values: Any  # (B,) float32
    n_iter: Any  # (B,) int32
    gaps: Any  # (B,) float32
    states: Any  # (B,) int32: 0 (not converged), 1 (converged) or 2 (given up), plus 4 if unsure
    couplings: Any | None  # (B, N, M), if asked for


class Returning(NamedTuple):
    """Results of a chunk that are being copied to the host."""

    members: NDArray[np.int64]
    parts: list[Any]
    arrived: Any | None  # CUDA event

    def results(self) -> tuple[PairResults, NDArray[np.int32]]:
        if self.arrived is not None:
            self.arrived.synchronize()
        values, n_iter, gaps, states = (part.numpy() for part in self.parts)
        return PairResults(values.astype(np.float64), n_iter, gaps.astype(np.float64), states % UNSURE == 1), states


def linear_cost_on_chip(
    job: Job, source: Stack, target: Stack, a: Any, b: Any, shape: tuple[int, int] | None = None
) -> Any:
    """M of the listed pairs (B, N, M), computed by the kernel of fused_costs.py."""
    out = torch.empty((len(a), *(shape or (source.width, target.width))), dtype=torch.float32, device=job.store.device)
    linear_cost_into(out, job.store, source, target, a, b, job.weights)
    return out


def run_fused(job: Job, group: Group, shape: tuple[int, int]) -> NDArray[np.int64]:
    """Solve one group of pairs of small graphs; returns the indices of those that need double precision."""
    given_up, unsure = _run_variant(job, group.members, group, shape, wide=False)
    if not len(given_up):
        return unsure
    return np.concatenate([unsure, *_run_variant(job, given_up, group, shape, wide=True)])


def _run_variant(
    job: Job, chosen: NDArray[np.int64], group: Group, shape: tuple[int, int], *, wide: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Solve some pairs of a group; returns the indices of those given up, and of those that are unsure."""
    given_up, unsure = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    waiting: list[Returning] = []

    def finish(chunk: Returning) -> None:
        results, states = chunk.results()
        job.results.put(chunk.members, results)
        given_up.append(chunk.members[states % UNSURE == GIVEN_UP])
        unsure.append(chunk.members[(states >= UNSURE) & (states % UNSURE != GIVEN_UP)])
        job.report(0 if wide else len(states))

    def solve(members: NDArray[np.int64]) -> None:
        a, b = job.places(members)
        waiting.append(_send_home(members, launch(job, group, shape, a, b, wide=wide)))
        if len(waiting) > 2:
            finish(waiting.pop(0))

    pair_bytes = 3 * 4 * shape[0] * shape[1] + column_bytes(group.source, group.target)
    run_chunks(solve, chosen, pair_bytes, job.store.device)
    for chunk in waiting:
        finish(chunk)
    return np.concatenate(given_up), np.concatenate(unsure)


def launch(
    job: Job, group: Group, shape: tuple[int, int], a: Any, b: Any, *, couplings: bool = False, wide: bool = False
) -> Solved:
    """Compute the costs of one chunk of pairs, given by places in the two stacks, and solve it."""
    tuning = TUNING[shape]
    if tuning is not None:
        return launch_steps(job, group, shape, a, b, tuning, couplings=couplings, wide=wide)
    store, source, target, weights, options = job.store, group.source, group.target, job.weights, job.options
    n, m = shape
    cost = linear_cost_on_chip(job, source, target, a, b, shape)
    # separate arrays: Triton compiles the kernel again for an address that is not a multiple of 16
    values, gaps = (torch.empty(len(a), dtype=torch.float32, device=store.device) for _ in range(2))
    n_iter, states = (torch.empty(len(a), dtype=torch.int32, device=store.device) for _ in range(2))
    plans = torch.empty((len(a), n, m), dtype=torch.float32, device=store.device) if couplings else None
    announce_compiling(f"solve {n}x{m}{', wide' if wide else ''}", store.device)
    solve_pair_kernel[(len(a),)](
        cost, a, b, source.width, target.width, source.weights, target.weights, source.degrees, target.degrees,
        source.operands, target.operands, source.vectors, target.vectors,
        values, gaps, n_iter, states, cost if plans is None else plans,
        weights.beta_global,
        weights.beta_local * weights.laplacian_source, weights.beta_local * weights.laplacian_target,
        0.5 * weights.beta_local * weights.ridge, weights.beta_global * weights.degree_weight,
        options.entropy, options.tol, options.max_iter, options.sinkhorn_iter,
        N=n, M=m, COUPLING=couplings, WIDE=wide, **LAUNCH[shape],
    )  # fmt: skip
    return Solved(values, n_iter, gaps, states, plans)


class Tuning(NamedTuple):
    """How the kernels of one shape are launched."""

    pairs: int  # per program of `direction_kernel`
    run: int  # L: columns of a row that follow each other before the next pair (`direction`)
    warps: int  # of `direction_kernel`
    step_warps: int
    half: int = 1  # products of float16 halves, 2 of fragments, or 0 of tf32 numbers
    step_registers: int | None = None  # at most, per thread


TUNING: dict[tuple[int, int], Tuning | None] = {
    (16, 16): Tuning(8, 16, 1, 1, 2),
    (32, 32): Tuning(2, 16, 1, 1, 2),
    (32, 64): Tuning(1, 32, 1, 2),
    (64, 64): Tuning(1, 32, 1, 4, 1, 168),
    (32, 128): Tuning(1, 32, 1, 4),
    (64, 128): Tuning(1, 32, 2, 4),
    (128, 128): Tuning(1, 32, 4, 8),
}


def launch_steps(
    job: Job, group: Group, shape: tuple[int, int], a: Any, b: Any, tuning: Tuning, *,
    couplings: bool = False, wide: bool = False,
) -> Solved:  # fmt: skip
    """Compute the costs of one chunk of pairs, given by places in the two stacks, and solve it, step by step."""
    store, source, target, weights, options = job.store, group.source, group.target, job.weights, job.options
    (n, m), count, device = shape, len(a), store.device
    gradients = linear_cost_on_chip(job, source, target, a, b, shape)
    gammas, plans = torch.empty_like(gradients), torch.empty_like(gradients)
    values, gaps = torch.empty(count, device=device), torch.full((count,), float("inf"), device=device)
    n_iter, states, unsure = (torch.zeros(count, dtype=torch.int32, device=device) for _ in range(3))
    widths = source.width, target.width
    node_weights = source.weights, target.weights
    terms = (
        weights.beta_global, weights.beta_local * weights.laplacian_source,
        weights.beta_local * weights.laplacian_target, 0.5 * weights.beta_local * weights.ridge,
    )  # fmt: skip
    kl = weights.beta_global * weights.degree_weight
    used = sum(2**t for t, weight in enumerate(terms[:3]) if weight != 0.0)
    names = ("operands", "halves", "fragments")
    both = (getattr(source, names[tuning.half]), getattr(target, names[tuning.half]))
    maps = *both, source.units, target.units
    more = {} if tuning.step_registers is None else {"maxnreg": tuning.step_registers}
    start_kernel[(count,)](
        gradients, gammas, a, b, *widths, *node_weights, source.degrees, target.degrees, source.vectors,
        target.vectors, *terms, kl, N=n, M=m, num_warps=1 if n * m <= 1024 else 4,
    )  # fmt: skip
    listed = torch.arange(count, device=device)
    for iteration in range(options.max_iter):
        if iteration and options.tol > 0.0:
            listed = torch.nonzero(states == 0).view(-1)
            if not len(listed):
                break
        direction_kernel[(-(-len(listed) // tuning.pairs),)](
            gradients, plans, listed, len(listed), a, b, *widths, *node_weights, states, options.entropy,
            options.sinkhorn_iter, N=n, H=m // tuning.run, L=tuning.run, B=tuning.pairs, WIDE=wide,
            num_warps=tuning.warps,
        )  # fmt: skip
        step_kernel[(len(listed),)](
            gradients, gammas, plans, listed, a, b, *widths, *maps, gaps, n_iter, states, unsure,
            *terms, kl, options.tol, options.max_iter, N=n, M=m, HALF=tuning.half, TERMS=used,
            num_warps=tuning.step_warps, **more,
        )  # fmt: skip
    value_kernel[(count,)](
        gradients, gammas, a, b, *widths, *maps, source.vectors, target.vectors, values, *terms,
        N=n, M=m, HALF=tuning.half, TERMS=used, num_warps=tuning.step_warps, **more,
    )  # fmt: skip
    states = torch.where(states == STOPPED, 0, states) + UNSURE * unsure
    return Solved(values, n_iter, gaps, states, gammas if couplings else None)


def _send_home(members: NDArray[np.int64], solved: Solved) -> Returning:
    parts = list(solved[:4])
    if not parts[0].is_cuda:
        return Returning(members, parts, None)
    home = [torch.empty(part.shape, dtype=part.dtype, pin_memory=True) for part in parts]
    for there, part in zip(home, parts, strict=True):
        there.copy_(part, non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record()
    return Returning(members, home, arrived)
