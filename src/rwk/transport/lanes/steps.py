"""Steps 3 and 5 to 9 side by side: every operation acts on all lanes, one pair each, over n x m vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.transport.compiling import compiled_inside
from rwk.transport.cpu import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, LEAST_MASS_32, LEAST_MASS_64
from rwk.transport.lanes.products import add_product
from rwk.transport.lanes.stage import Roll, Stage, lane_matrix
from rwk.transport.vectormath import log_of
from rwk.transport.vectors import fma, larger, load, no_lanes, put, smaller, splat, store, wide


class Rooms(NamedTuple):
    """Work arrays."""

    g: Any  # gradient (n, m)
    delta: Any  # direction, Delta
    delta_image: Any  # Q(Delta)
    trial: Any  # gamma + alpha Delta
    trial_logs: Any
    carried: Any  # X C_nu (n, m)
    narrow_source: Any  # X F_nu (n, s)
    smooth_source: Any  # L_mu X F_nu (n, s)
    narrow_target: Any  # F_mu^T X (r, m)
    smooth_target: Any  # F_mu^T X L_nu^T (r, m)
    low: Any  # (1,) least entry of g
    high: Any
    alpha: Any  # (1,)


class Slopes(NamedTuple):
    """Sums of every lane, float64."""

    slope: Any  # <Delta, g>
    entropy: Any  # <Delta, log gamma>
    curvature: Any  # <Delta, Q(Delta)>
    new_entropy: Any  # <gamma, log gamma> at the trial point
    change: Any  # of H


@compiled_inside
def make_rooms(stage: Stage) -> Rooms:
    """Work arrays as large as the stage."""
    n, m, width = stage.fixed.shape
    dtype = stage.fixed.dtype
    r, s = stage.factor_mu.shape[1], stage.factor_nu.shape[1]
    rooms = Rooms(
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, s, width, dtype),
        lane_matrix(n, s, width, dtype),
        lane_matrix(r, m, width, dtype),
        lane_matrix(r, m, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
    )
    _clear(rooms.trial_logs, n, m)  # without a degree prior nobody writes them
    return rooms


@compiled_inside
def make_slopes(width: int) -> Slopes:
    """Room for the sums."""
    return Slopes(np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width), np.zeros(width))


@compiled_inside
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


@compiled_inside
def _clear(matrix: Any, n: int, m: int) -> None:
    zero = splat(matrix, 0.0)
    for i in range(n):
        for k in range(m):
            store(matrix, (i, k), zero)


@compiled_inside
def gradient_lanes(stage: Stage, roll: Roll, n: int, m: int, kl: float, rooms: Rooms) -> None:
    """Step 3: g = fixed + 2 Q(gamma) + kl log gamma, with the least and the largest entry of every lane."""
    g = rooms.g
    two, weight = splat(g, 2.0), splat(g, kl)
    for i in range(n):
        for k in range(m):
            entry = fma(two, load(stage.image, (i, k)), load(stage.fixed, (i, k)))
            store(g, (i, k), fma(weight, load(stage.logs, (i, k)), entry))
    for lane in range(g.shape[2]):  # padding looks like the first entry, so that it is neither least nor largest
        if roll.n[lane] < n or roll.m[lane] < m:
            for i in range(n):
                for k in range(roll.m[lane] if i < roll.n[lane] else 0, m):
                    g[i, k, lane] = g[0, 0, lane]
    least = load(g, (0, 0))
    largest = least
    for i in range(n):
        for k in range(m):
            entry = load(g, (i, k))
            least, largest = smaller(least, entry), larger(largest, entry)
    store(rooms.low, 0, least)
    store(rooms.high, 0, largest)


@compiled_inside
def direction_lanes(stage: Stage, n: int, m: int, rooms: Rooms, slopes: Slopes) -> None:
    """Step 5: the plan in `delta` becomes Delta = plan - gamma; with <Delta, g> and <Delta, log gamma>."""
    delta = rooms.delta
    total = no_lanes(wide(splat(delta, 0.0)))
    entropy = total
    for i in range(n):
        for k in range(m):
            move = load(delta, (i, k)) - load(stage.gamma, (i, k))
            store(delta, (i, k), move)
            total = fma(wide(move), wide(load(rooms.g, (i, k))), total)
            entropy = fma(wide(move), wide(load(stage.logs, (i, k))), entropy)
    put(slopes.slope, total)
    put(slopes.entropy, entropy)


@compiled_inside
def curvature_lanes(n: int, m: int, rooms: Rooms, slopes: Slopes) -> None:
    """<Delta, Q(Delta)>."""
    total = no_lanes(wide(splat(rooms.delta, 0.0)))
    for i in range(n):
        for k in range(m):
            total = fma(wide(load(rooms.delta, (i, k))), wide(load(rooms.delta_image, (i, k))), total)
    put(slopes.curvature, total)


@compiled_inside
def try_step(stage: Stage, n: int, m: int, kl: float, rooms: Rooms, slopes: Slopes) -> None:
    """trial = gamma + alpha Delta, nowhere below 0, with its logarithms and <trial, log trial>."""
    step = load(rooms.alpha, 0)
    zero = no_lanes(step)
    least = splat(rooms.trial, LEAST_MASS_32 if rooms.trial.itemsize == 4 else LEAST_MASS_64)
    total = no_lanes(wide(step))
    for i in range(n):
        for k in range(m):
            mass = larger(fma(step, load(rooms.delta, (i, k)), load(stage.gamma, (i, k))), zero)
            store(rooms.trial, (i, k), mass)
            if kl != 0.0:
                logarithm = log_of(larger(mass, least))
                store(rooms.trial_logs, (i, k), logarithm)
                total = fma(wide(mass), wide(logarithm), total)
    put(slopes.new_entropy, total)


@compiled_inside
def search_lanes(stage: Stage, roll: Roll, n: int, m: int, kl: float, rooms: Rooms, slopes: Slopes) -> None:
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
        try_step(stage, n, m, kl, rooms, slopes)
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


@compiled_inside
def take_step(stage: Stage, n: int, m: int, rooms: Rooms) -> None:
    """Step 8: gamma, its logarithms and its image move to the trial point."""
    step = load(rooms.alpha, 0)
    for i in range(n):
        for k in range(m):
            store(stage.gamma, (i, k), load(rooms.trial, (i, k)))
            store(stage.logs, (i, k), load(rooms.trial_logs, (i, k)))
            store(stage.image, (i, k), fma(step, load(rooms.delta_image, (i, k)), load(stage.image, (i, k))))


@compiled_inside
def lane_value(stage: Stage, roll: Roll, kl: float, lane: int) -> float:
    """Step 9: H = <gamma, fixed + Q(gamma)> + kl <gamma, log gamma> + constant."""
    even, odd = 0.0, 0.0
    for i in range(roll.n[lane]):
        for k in range(roll.m[lane]):
            price = np.float64(stage.fixed[i, k, lane]) + np.float64(stage.image[i, k, lane])
            if k % 2:
                odd = fma(np.float64(stage.gamma[i, k, lane]), price, odd)
            else:
                even = fma(np.float64(stage.gamma[i, k, lane]), price, even)
    value: float = even + odd + kl * roll.entropy[lane] + roll.constant[lane]
    return value
