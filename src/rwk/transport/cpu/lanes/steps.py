"""Steps 3 and 5 to 9 side by side: every operation acts on n x m vectors, one lane per pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.lane_data import (
    LOGARITHM,
    RIDGE,
    SOURCE,
    STRUCTURE,
    TARGET,
    LaneCouplings,
    LaneData,
    LaneState,
    LaneSums,
    Workspace,
)
from rwk.transport.cpu.lanes.products import View, multiply, multiply_onto
from rwk.transport.cpu.lanes.sparse_lanes import sparse_multiply
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import choose, fma, larger, load, no_lanes, put, smaller, splat, store, wide
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, LEAST_MASS_32, LEAST_MASS_64


@compiled_borrowing
def quadratic_map_lanes(data: LaneData, n: int, m: int, ridge: float, work: Workspace, x: Any, out: Any) -> None:
    """Step 6: out = Q(x), with the stacked matrices of `LaneData.left` and `LaneData.right`."""
    left, right, structure, rest = data.left, data.right, data.structure_nu, x.shape[1]
    r, s, wide = work.factor_x.shape[1], work.x_factor.shape[1], left.shape[1]
    plain = View(x, 0, rest, 1)
    if s:
        embedded = View(right, r * rest, 1, rest)  # F_nu
        multiply(plain, embedded, View(work.x_factor, 0, s, 1), n, m, s)
        sparse_multiply(data.laplacian_mu, work.x_factor, View(left, r, wide, 1), n, s)
    if r:
        multiply(View(x, 0, 1, rest), View(left, 0, wide, 1), View(work.factor_x, 0, r, 1), m, n, r)
        sparse_multiply(data.laplacian_nu, work.factor_x, View(right, 0, 1, rest), m, r)
    depth = r + s
    if len(structure):
        multiply(plain, View(structure, 0, rest, 1), View(right, depth * rest, rest, 1), n, m, m)
        depth += n
    if depth:
        multiply_onto(
            plain, ridge, View(left, 0, wide, 1), View(right, 0, rest, 1), View(out, 0, rest, 1), n, depth, m
        )  # fmt: skip
    else:
        scale = splat(x, ridge)
        for i in range(n):
            for k in range(m):
                store(out, (i, k), scale * load(x, (i, k)))


@compiled_borrowing
def gradient_lanes(
    data: LaneData, here: LaneCouplings, fresh: bool, n: int, m: int, kl: float, work: Workspace
) -> None:
    """Step 3: g = fixed + 2 Q(gamma) + kl log gamma, and the least and largest entry of every lane.

    If any pair is `fresh`, step 2 comes first in its lane: Q(mu nu^T) and log(mu nu^T).
    """
    g, left, right = work.g, data.start_mu, data.start_nu
    two, weight, zero, new = splat(g, 2.0), splat(g, kl), splat(g, 0.0), load(data.fresh, 0)
    first = zero
    least, largest = first, first
    for i in range(n):
        mass = load(data.mu, i)
        structure, source = load(left, (i, STRUCTURE)), load(left, (i, SOURCE))
        target, ridge, log_mass = load(left, (i, TARGET)), load(left, (i, RIDGE)), load(left, (i, LOGARITHM))
        for k in range(m):
            image, logs = load(data.image, (i, k)), load(here.logs, (i, k))
            if fresh:
                start = fma(source, load(right, (k, SOURCE)), structure * load(right, (k, STRUCTURE)))
                start = fma(ridge, load(right, (k, RIDGE)), fma(target, load(right, (k, TARGET)), start))
                image = choose(new, zero, start, image)
                logs = choose(new, zero, log_mass + load(right, (k, LOGARITHM)), logs)
                store(data.image, (i, k), image)
                store(here.logs, (i, k), logs)
            entry = fma(weight, logs, fma(two, image, load(data.fixed, (i, k))))
            if i == 0 and k == 0:
                first = entry
                least, largest = first, first
            # padding gets the first entry, so that it is neither least nor largest
            entry = choose(smaller(mass, load(data.nu, k)), zero, entry, first)
            store(g, (i, k), entry)
            least, largest = smaller(least, entry), larger(largest, entry)
    store(work.low, 0, least)
    store(work.high, 0, largest)


@compiled_borrowing
def direction_lanes(
    data: LaneData, here: LaneCouplings, fresh: bool, n: int, m: int, work: Workspace, sums: LaneSums
) -> None:
    """Steps 4 and 5: Sinkhorn's kernel becomes Delta = plan - gamma; <Delta, g> and <Delta, log gamma>.

    If any pair is `fresh`, step 2 comes first in its lane: gamma = mu nu^T.
    """
    delta = work.delta
    total = no_lanes(wide(splat(delta, 0.0)))
    entropy, zero, new = total, splat(delta, 0.0), load(data.fresh, 0)
    for i in range(n):
        mass, row, share = load(data.mu, i), load(work.u, i), load(work.row_shares, i)
        for k in range(m):
            gamma = load(here.gamma, (i, k))
            if fresh:
                gamma = choose(new, zero, mass * load(data.nu, k), gamma)
                store(here.gamma, (i, k), gamma)
            carried = row * load(delta, (i, k)) * load(work.v, k)
            move = fma(share, load(work.column_sums, k), carried) - gamma
            store(delta, (i, k), move)
            total = fma(wide(move), wide(load(work.g, (i, k))), total)
            entropy = fma(wide(move), wide(load(here.logs, (i, k))), entropy)
    put(sums.slope, total)
    put(sums.entropy_slope, entropy)


@compiled_borrowing
def curvature_lanes(n: int, m: int, work: Workspace, sums: LaneSums) -> None:
    """Step 6, the curvature: <Delta, Q(Delta)>."""
    total = no_lanes(wide(splat(work.delta, 0.0)))
    for i in range(n):
        for k in range(m):
            total = fma(wide(load(work.delta, (i, k))), wide(load(work.delta_image, (i, k))), total)
    put(sums.curvature, total)


@compiled_borrowing
def move_couplings(here: LaneCouplings, n: int, m: int, kl: float, work: Workspace, sums: LaneSums) -> None:
    """Move gamma by `work.step` times Delta, nowhere below 0; its logarithms and <gamma, log gamma>."""
    step = load(work.step, 0)
    zero = no_lanes(step)
    least = splat(here.gamma, LEAST_MASS_32 if here.gamma.itemsize == 4 else LEAST_MASS_64)
    total = no_lanes(wide(step))
    for i in range(n):
        for k in range(m):
            mass = larger(fma(step, load(work.delta, (i, k)), load(here.gamma, (i, k))), zero)
            store(here.gamma, (i, k), mass)
            if kl != 0.0:
                logarithm = log_of(larger(mass, least))
                store(here.logs, (i, k), logarithm)
                total = fma(wide(mass), wide(logarithm), total)
    put(sums.new_entropy, total)


@compiled_borrowing
def line_search_lanes(
    here: LaneCouplings, state: LaneState, n: int, m: int, kl: float, work: Workspace, sums: LaneSums
) -> None:
    """Steps 7 and 8: the step of every lane (0 if it is not active, or finds no descent), gamma moved by it, and the
    change of H.

    H(gamma + alpha Delta) - H(gamma) = alpha <g - kl log gamma, Delta> + alpha^2 <Q(Delta), Delta> + kl (E' - E),
    E = <gamma, log gamma>. Where a step turns out to be too long, gamma moves back by half of it.
    """
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    alpha, step_of = work.alpha, work.step
    for lane in range(len(state.pair)):
        step = largest
        if sums.curvature[lane] > 0.0:
            step = min(max(-sums.slope[lane] / (2.0 * sums.curvature[lane]), 0.0), largest)
        alpha[0, 0, lane] = step if state.active[lane] else 0.0
        step_of[0, 0, lane] = alpha[0, 0, lane]
    for halving in range(HALVINGS + 2):
        move_couplings(here, n, m, kl, work, sums)
        done = True
        for lane in range(len(state.pair)):
            step = np.float64(alpha[0, 0, lane])
            step_of[0, 0, lane] = 0.0
            if step == 0.0:
                continue
            change = step * (sums.slope[lane] - kl * sums.entropy_slope[lane]) + step * step * sums.curvature[lane]
            change += kl * (sums.new_entropy[lane] - state.entropy[lane])
            sums.change[lane] = change
            if not change <= ARMIJO * step * sums.slope[lane]:
                alpha[0, 0, lane] = 0.5 * step if halving < HALVINGS else 0.0
                step_of[0, 0, lane] = alpha[0, 0, lane] - step
                done = False
        if done:
            return


@compiled_borrowing
def value_lanes(
    data: LaneData, here: LaneCouplings, moved: bool, n: int, m: int, work: Workspace, sums: LaneSums
) -> None:
    """Step 9, the part with matrices: <gamma, fixed + Q(gamma)>.

    If lanes have `moved`, the rest of step 8 comes first: Q(gamma) + alpha Q(Delta).
    """
    step = load(work.alpha, 0)
    even = no_lanes(wide(step))
    odd = even
    for i in range(n):
        for k in range(m):
            image = load(data.image, (i, k))
            if moved:
                image = fma(step, load(work.delta_image, (i, k)), image)
                store(data.image, (i, k), image)
            price = wide(load(data.fixed, (i, k))) + wide(image)
            if k % 2:
                odd = fma(wide(load(here.gamma, (i, k))), price, odd)
            else:
                even = fma(wide(load(here.gamma, (i, k))), price, even)
    put(sums.value, even + odd)
