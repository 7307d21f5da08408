"""Steps 3 and 5 to 9 side by side: every operation acts on all lanes, one pair each, over n x m vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.lanes.lane_data import Point, Roll, Rooms, Slopes, Stage
from rwk.transport.cpu.lanes.products import add_product
from rwk.transport.cpu.simd.vectormath import log_of
from rwk.transport.cpu.simd.vectors import choose, fma, larger, load, no_lanes, put, smaller, splat, store, wide
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, LEAST_MASS_32, LEAST_MASS_64


@compiled_borrowing
def quadratic_lanes(stage: Stage, n: int, m: int, ridge: float, rooms: Rooms, x: Any, out: Any) -> None:
    """Step 6: out = Q(x)."""
    scale = splat(x, ridge)
    for i in range(n):
        for k in range(m):
            store(out, (i, k), scale * load(x, (i, k)))
    if len(stage.structure_mu):
        _clear(rooms.carried, n, m)
        add_product(x, stage.structure_nu, rooms.carried, n, m, m)
        add_product(stage.structure_mu, rooms.carried, out, n, n, m)
    s = stage.factor_nu.shape[1]
    if s:
        _clear(rooms.narrow_source, n, s)
        add_product(x, stage.factor_nu, rooms.narrow_source, n, m, s)
        _clear(rooms.smooth_source, n, s)
        add_product(stage.laplacian_mu, rooms.narrow_source, rooms.smooth_source, n, n, s)
        add_product(rooms.smooth_source, stage.factor_nu_t, out, n, s, m)
    r = stage.factor_mu.shape[1]
    if r:
        _clear(rooms.narrow_target, r, m)
        add_product(stage.factor_mu_t, x, rooms.narrow_target, r, n, m)
        _clear(rooms.smooth_target, r, m)
        add_product(rooms.narrow_target, stage.laplacian_nu_t, rooms.smooth_target, r, m, m)
        add_product(stage.factor_mu, rooms.smooth_target, out, n, r, m)


@compiled_borrowing
def _clear(matrix: Any, n: int, m: int) -> None:
    zero = splat(matrix, 0.0)
    for i in range(n):
        for k in range(m):
            store(matrix, (i, k), zero)


@compiled_borrowing
def gradient_lanes(stage: Stage, here: Point, fresh: bool, n: int, m: int, kl: float, rooms: Rooms) -> None:
    """Step 3: g = fixed + 2 Q(gamma) + kl log gamma, with the least and the largest entry of every lane.

    Where a pair is `fresh`, Q(gamma) and log gamma are made first.
    """
    g, left, right = rooms.g, stage.left, stage.right
    two, weight, zero, new = splat(g, 2.0), splat(g, kl), splat(g, 0.0), load(stage.fresh, 0)
    first = zero
    least, largest = first, first
    for i in range(n):
        mass = load(stage.mu, i)
        a, b, c, d = load(left, (i, 0)), load(left, (i, 1)), load(left, (i, 2)), load(left, (i, 3))
        log_mass = load(left, (i, 4))
        for k in range(m):
            image, logs = load(stage.image, (i, k)), load(here.logs, (i, k))
            if fresh:
                start = fma(b, load(right, (k, 1)), a * load(right, (k, 0)))
                start = fma(d, load(right, (k, 3)), fma(c, load(right, (k, 2)), start))
                image = choose(new, zero, start, image)
                logs = choose(new, zero, log_mass + load(right, (k, 4)), logs)
                store(stage.image, (i, k), image)
                store(here.logs, (i, k), logs)
            entry = fma(weight, logs, fma(two, image, load(stage.fixed, (i, k))))
            if i == 0 and k == 0:
                first = entry
                least, largest = first, first
            # padding looks like the first entry, so that it is neither least nor largest
            entry = choose(smaller(mass, load(stage.nu, k)), zero, entry, first)
            store(g, (i, k), entry)
            least, largest = smaller(least, entry), larger(largest, entry)
    store(rooms.low, 0, least)
    store(rooms.high, 0, largest)


@compiled_borrowing
def direction_lanes(stage: Stage, here: Point, fresh: bool, n: int, m: int, rooms: Rooms, slopes: Slopes) -> None:
    """Step 5: the plan in `delta` becomes Delta = plan - gamma; with <Delta, g> and <Delta, log gamma>.

    Where a pair is `fresh`, gamma = mu nu^T is made first.
    """
    delta = rooms.delta
    total = no_lanes(wide(splat(delta, 0.0)))
    entropy, zero, new = total, splat(delta, 0.0), load(stage.fresh, 0)
    for i in range(n):
        mass = load(stage.mu, i)
        for k in range(m):
            gamma = load(here.gamma, (i, k))
            if fresh:
                gamma = choose(new, zero, mass * load(stage.nu, k), gamma)
                store(here.gamma, (i, k), gamma)
            move = load(delta, (i, k)) - gamma
            store(delta, (i, k), move)
            total = fma(wide(move), wide(load(rooms.g, (i, k))), total)
            entropy = fma(wide(move), wide(load(here.logs, (i, k))), entropy)
    put(slopes.slope, total)
    put(slopes.entropy, entropy)


@compiled_borrowing
def curvature_lanes(n: int, m: int, rooms: Rooms, slopes: Slopes) -> None:
    """<Delta, Q(Delta)>."""
    total = no_lanes(wide(splat(rooms.delta, 0.0)))
    for i in range(n):
        for k in range(m):
            total = fma(wide(load(rooms.delta, (i, k))), wide(load(rooms.delta_image, (i, k))), total)
    put(slopes.curvature, total)


@compiled_borrowing
def try_step(here: Point, trial: Point, n: int, m: int, kl: float, rooms: Rooms, slopes: Slopes) -> None:
    """trial = gamma + alpha Delta, nowhere below 0, with its logarithms and <trial, log trial>."""
    step = load(rooms.alpha, 0)
    zero = no_lanes(step)
    least = splat(here.gamma, LEAST_MASS_32 if here.gamma.itemsize == 4 else LEAST_MASS_64)
    total = no_lanes(wide(step))
    for i in range(n):
        for k in range(m):
            mass = larger(fma(step, load(rooms.delta, (i, k)), load(here.gamma, (i, k))), zero)
            store(trial.gamma, (i, k), mass)
            if kl != 0.0:
                logarithm = log_of(larger(mass, least))
                store(trial.logs, (i, k), logarithm)
                total = fma(wide(mass), wide(logarithm), total)
    put(slopes.new_entropy, total)


@compiled_borrowing
def search_lanes(
    here: Point, trial: Point, roll: Roll, n: int, m: int, kl: float, rooms: Rooms, slopes: Slopes
) -> None:
    """Step 7: the step of every lane (0 where it rests, or finds no descent), the trial point and the change of H.

    H(gamma + alpha Delta) - H(gamma) = alpha <g - kl log gamma, Delta> + alpha^2 <Q(Delta), Delta> + kl (E' - E),
    E = <gamma, log gamma>.
    """
    largest = LARGEST_STEP_WITH_KL if kl != 0.0 else 1.0
    alpha = rooms.alpha
    for lane in range(len(roll.pair)):
        step = largest
        if slopes.curvature[lane] > 0.0:
            step = min(max(-slopes.slope[lane] / (2.0 * slopes.curvature[lane]), 0.0), largest)
        alpha[0, 0, lane] = step if roll.active[lane] else 0.0
    for halving in range(HALVINGS + 2):
        try_step(here, trial, n, m, kl, rooms, slopes)
        done = True
        for lane in range(len(roll.pair)):
            step = np.float64(alpha[0, 0, lane])
            if step == 0.0:
                continue
            change = step * (slopes.slope[lane] - kl * slopes.entropy[lane]) + step * step * slopes.curvature[lane]
            change += kl * (slopes.new_entropy[lane] - roll.entropy[lane])
            slopes.change[lane] = change
            if not change <= ARMIJO * step * slopes.slope[lane]:
                alpha[0, 0, lane] = 0.5 * step if halving < HALVINGS else 0.0
                done = False
        if done:
            return


@compiled_borrowing
def value_lanes(stage: Stage, here: Point, moved: bool, n: int, m: int, rooms: Rooms, slopes: Slopes) -> None:
    """Step 9, the part with matrices: <gamma, fixed + Q(gamma)>; where lanes have `moved`, Q(gamma) follows first."""
    step = load(rooms.alpha, 0)
    even = no_lanes(wide(step))
    odd = even
    for i in range(n):
        for k in range(m):
            image = load(stage.image, (i, k))
            if moved:
                image = fma(step, load(rooms.delta_image, (i, k)), image)
                store(stage.image, (i, k), image)
            price = wide(load(stage.fixed, (i, k))) + wide(image)
            if k % 2:
                odd = fma(wide(load(here.gamma, (i, k))), price, odd)
            else:
                even = fma(wide(load(here.gamma, (i, k))), price, even)
    put(slopes.value, even + odd)
