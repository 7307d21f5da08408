"""Solve chunks of pairs of small graphs; results are copied back while the next chunk is solved."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.runtime.device import announce_compiling
from rwk.transport.gpu.device_measures import Stack
from rwk.transport.gpu.direction import direction_kernel, start_kernel
from rwk.transport.gpu.fused_costs import linear_cost_into
from rwk.transport.gpu.plan import Group, Job, column_bytes, run_chunks
from rwk.transport.gpu.step import step_kernel, value_kernel
from rwk.transport.problem import PairResults

GIVEN_UP: Final = 2
STOPPED: Final = 3
UNSURE: Final = 4
FRAGMENTS: Final = ((16, 16), (32, 32))  # shapes whose maps are read as fragments


class Tuning(NamedTuple):
    """How the kernels of one shape are launched: what was fastest on an H200."""

    pairs: int  # per program of `direction_kernel`
    run: int  # L of `direction`: columns that follow each other before the next pair
    warps: int  # of `direction_kernel`
    step_warps: int
    step_registers: int | None = None  # at most, per thread


TUNING: Final[dict[tuple[int, int], Tuning]] = {
    (16, 16): Tuning(pairs=8, run=16, warps=1, step_warps=1, step_registers=96),
    (32, 32): Tuning(pairs=2, run=16, warps=1, step_warps=1),
    (32, 64): Tuning(pairs=1, run=32, warps=1, step_warps=2, step_registers=168),
    (64, 64): Tuning(pairs=1, run=32, warps=1, step_warps=4, step_registers=168),
    (32, 128): Tuning(pairs=1, run=32, warps=1, step_warps=4),
    (64, 128): Tuning(pairs=1, run=32, warps=2, step_warps=4),
    (128, 128): Tuning(pairs=1, run=32, warps=4, step_warps=8),
}


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
    """Compute the costs of one chunk of pairs, given by places in the two stacks, and solve it, step by step."""
    (n, m), count, tuning = shape, len(a), TUNING[shape]
    source, target, weights, options = group.source, group.target, job.weights, job.options
    gradients = linear_cost_on_chip(job, source, target, a, b, shape)
    gammas, plans = torch.empty_like(gradients), torch.empty_like(gradients)
    values, gaps = (torch.full((count,), float("inf"), device=a.device) for _ in range(2))
    n_iter, states, unsure = (torch.zeros(count, dtype=torch.int32, device=a.device) for _ in range(3))
    places = a, b, source.width, target.width
    node_weights, vectors = (source.weights, target.weights), (source.vectors, target.vectors)
    terms = (
        weights.beta_global, weights.beta_local * weights.laplacian_source,
        weights.beta_local * weights.laplacian_target, 0.5 * weights.beta_local * weights.ridge,
    )  # fmt: skip
    kl = weights.beta_global * weights.degree_weight
    fragments = shape in FRAGMENTS
    both = (source.fragments, target.fragments) if fragments else (source.halves, target.halves)
    maps = *both, source.units, target.units
    step: dict[str, Any] = {"N": n, "M": m, "FRAGMENTS": fragments, "num_warps": tuning.step_warps}
    step["TERMS"] = sum(2**t for t, weight in enumerate(terms[:3]) if weight != 0.0)
    if tuning.step_registers is not None:
        step["maxnreg"] = tuning.step_registers
    announce_compiling(f"solve {n}x{m}{', wide' if wide else ''}", a.device)
    start_kernel[(count,)](
        gradients, gammas, *places, *node_weights, source.degrees, target.degrees, *vectors, *terms, kl,
        N=n, M=m, num_warps=1 if n * m <= 1024 else 4,
    )  # fmt: skip
    listed = torch.arange(count, device=a.device)
    for iteration in range(options.max_iter):
        if iteration and options.tol > 0.0:
            listed = torch.nonzero(states == 0).view(-1)  # those that go on
            if not len(listed):
                break
        direction_kernel[(-(-len(listed) // tuning.pairs),)](
            gradients, plans, listed, len(listed), *places, *node_weights, states, options.entropy,
            options.sinkhorn_iter, N=n, H=m // tuning.run, L=tuning.run, B=tuning.pairs, WIDE=wide,
            num_warps=tuning.warps,
        )  # fmt: skip
        step_kernel[(len(listed),)](
            gradients, gammas, plans, listed, *places, *maps, gaps, n_iter, states, unsure, *terms, kl, options.tol,
            options.max_iter, **step,
        )  # fmt: skip
    value_kernel[(count,)](gradients, gammas, *places, *maps, *vectors, values, *terms, **step)
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
