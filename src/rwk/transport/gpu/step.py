"""Steps 5 to 9 of the kernels of small graphs: gap, products, line search and step of a pair, and its value (Triton).

Tensor cores multiply float16 numbers. A number in single precision is the sum of two of them, once it is brought into
their range, so a product is the sum of three products of matrices; what is left out is below 2^-22. C_P, L and S are
stored as such sums. Notation and numbers: problem.py.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import triton
import triton.language as tl

from rwk.transport.gpu.batched import UNSURE_32
from rwk.transport.gpu.fused_math import logarithms, total
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL

CONVERGED = tl.constexpr(1)
STOPPED = tl.constexpr(3)
_UNSURE = tl.constexpr(UNSURE_32)
_ARMIJO = tl.constexpr(ARMIJO)
_HALVINGS = tl.constexpr(HALVINGS)
_LARGEST_STEP_WITH_KL = tl.constexpr(LARGEST_STEP_WITH_KL)


@triton.jit
def _power_below(x):
    """The largest power of two that is at most x, for normal x > 0."""
    return (x.to(tl.int32, bitcast=True) & 0x7F800000).to(tl.float32, bitcast=True)


@triton.jit
def _halves(x):
    """x as a sum of two float16 numbers: exact to 22 bits for numbers between 1e-3 and 65504."""
    high = x.to(tl.float16)
    return high, (x - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _half_product(left_high, left_low, right_high, right_low, N: tl.constexpr, M: tl.constexpr):
    """(left_high + left_low) (right_high + right_low) in float32, without the product of the two low parts."""
    out = tl.dot(left_low, right_high, tl.zeros((N, M), tl.float32))
    out = tl.dot(left_high, right_low, out)
    return tl.dot(left_high, right_high, out)


@triton.jit
def _half_map(
    x, bounds, maps_a, maps_b, units_a, units_b, width_a, width_b, ridge, w_structure, w_source, w_target,
    N: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """Q(X) = ridge X + w_structure C X C + w_source L X S + w_target S X L, from maps in units of their own.

    `bounds` are a bound of |X| and one of the column sums of |X|; X and left X are brought into the range of float16.
    """
    i, k = tl.arange(0, N), tl.arange(0, M)
    square_a, square_b = i[:, None] * width_a + i[None, :], k[:, None] * width_b + k[None, :]
    inside_a = (i < width_a)[:, None] & (i < width_a)[None, :]
    inside_b = (k < width_b)[:, None] & (k < width_b)[None, :]
    area_a, area_b = width_a * width_a, width_b * width_b
    unit = _power_below(2048.0 / bounds[0])
    half_unit = _power_below(16.0 / (unit * bounds[1]))  # |left X| <= 2048 unit bounds[1] in the units of the map
    x_high, x_low = _halves(unit * x)
    image = ridge * x
    for t in range(3):
        weight = tl.where(t == 0, w_structure, tl.where(t == 1, w_source, w_target))
        if weight != 0.0:
            other = (3 - t) % 3
            left_high = tl.load(maps_a + 2 * t * area_a + square_a, mask=inside_a, other=0.0)  # C, L, S
            left_low = tl.load(maps_a + (2 * t + 1) * area_a + square_a, mask=inside_a, other=0.0)
            half = _half_product(left_high, left_low, x_high, x_low, N, M)  # left X
            half_high, half_low = _halves(half_unit * half)
            right_high = tl.load(maps_b + 2 * other * area_b + square_b, mask=inside_b, other=0.0)  # C, S, L
            right_low = tl.load(maps_b + (2 * other + 1) * area_b + square_b, mask=inside_b, other=0.0)
            whole = _half_product(half_high, half_low, right_high, right_low, N, M)
            units = tl.load(units_a + t) * tl.load(units_b + other) / (unit * half_unit)
            image += (weight * units) * whole
    return image


@triton.jit
def _fragments(maps, width, N: tl.constexpr, RIGHT: tl.constexpr):
    """One half of a symmetric map (N, N), stored as threads hold tiles of a left operand; or as a right operand."""
    tiles: tl.constexpr = N // 16
    row = tl.arange(0, tiles * tiles * 32)[:, None]
    tile, lane = row // 32, row % 32
    across = width // 16
    up, left = tile // tiles, tile % tiles
    place = ((up * across + left) * 32 + lane) * 8 + tl.arange(0, 8)[None, :]
    if tiles == 1:
        held = tl.load(maps + place)
    else:
        held = tl.load(maps + place, mask=(up < across) & (left < across), other=0.0)
    # (up, left, g, t, far column, far row, odd column): row 8 r + g of a tile, column 8 c + 2 t + o
    parts = tl.reshape(held, (tiles, tiles, 8, 4, 2, 2, 2))
    parts = tl.permute(parts, (1, 4, 3, 6, 0, 5, 2)) if RIGHT else tl.permute(parts, (0, 5, 2, 1, 4, 3, 6))
    return tl.reshape(parts, (N, N))


@triton.jit
def _fragment_map(
    x, bounds, maps_a, maps_b, units_a, units_b, width_a, width_b, ridge, w_structure, w_source, w_target,
    N: tl.constexpr, M: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    """As `_half_map`, for one warp: only X has to move between threads, once."""
    area_a, area_b = width_a * width_a, width_b * width_b
    unit = _power_below(2048.0 / bounds[0])
    half_unit = _power_below(16.0 / (unit * bounds[1]))  # |left X| <= 2048 unit bounds[1] in the units of the map
    x_high, x_low = _halves(unit * x)
    image = ridge * x
    for t in tl.static_range(3):
        if TERMS >> t & 1:  # known when the kernel is compiled, so that all maps can be loaded early
            weight = w_structure if t == 0 else (w_source if t == 1 else w_target)
            other = (3 - t) % 3
            left_high = _fragments(maps_a + 2 * t * area_a, width_a, N, False)  # C, L, S
            left_low = _fragments(maps_a + (2 * t + 1) * area_a, width_a, N, False)
            right_high = _fragments(maps_b + 2 * other * area_b, width_b, M, True)  # C, S, L
            right_low = _fragments(maps_b + (2 * other + 1) * area_b, width_b, M, True)
            half_high, half_low = _halves(half_unit * _half_product(left_high, left_low, x_high, x_low, N, M))  # left X
            whole = _half_product(half_high, half_low, right_high, right_low, N, M)
            units = tl.load(units_a + t) * tl.load(units_b + other) / (unit * half_unit)
            image += (weight * units) * whole
    return image


@triton.jit
def _image(
    x, a, b, maps_a, maps_b, units_a, units_b, width_a, width_b,
    ridge, w_structure, w_source, w_target,
    N: tl.constexpr, M: tl.constexpr, FRAGMENTS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    """Steps 6 and 9: Q(X) of the pair of places a and b."""
    units_a, units_b = units_a + 4 * a, units_b + 4 * b
    maps_a, maps_b = maps_a + a * 6 * width_a * width_a, maps_b + b * 6 * width_b * width_b
    # bounds of |X| and of the sums of |X| over columns, from the largest weights of nodes
    mu, nu = tl.load(units_a + 3), tl.load(units_b + 3)
    bounds = tl.minimum(mu, nu), 2.0 * nu
    if FRAGMENTS:
        image = _fragment_map(
            x, bounds, maps_a, maps_b, units_a, units_b, width_a, width_b,
            ridge, w_structure, w_source, w_target, N, M, TERMS,
        )  # fmt: skip
    else:
        image = _half_map(
            x, bounds, maps_a, maps_b, units_a, units_b, width_a, width_b,
            ridge, w_structure, w_source, w_target, N, M,
        )  # fmt: skip
    return image


@triton.jit
def _line_search(gamma, delta, slope, curvature, kl):
    """Step 7: the step alpha; 0 if no step descends."""
    largest = tl.where(kl != 0.0, _LARGEST_STEP_WITH_KL, 1.0)
    newton = tl.minimum(tl.maximum(-slope / (2.0 * tl.where(curvature > 0, curvature, 1.0)), 0.0), largest)
    alpha = tl.where(curvature > 0, newton, largest)
    smooth, entropy = slope, 0.0 * slope
    if kl != 0.0:
        logs = logarithms(gamma)
        smooth -= kl * total(delta * logs)
        entropy = total(gamma * logs)
    halvings, searching = 0, 1
    while searching == 1:
        change = alpha * smooth + alpha * alpha * curvature
        if kl != 0.0:
            trial = tl.maximum(gamma + alpha * delta, 0.0)
            change += kl * (total(trial * logarithms(trial)) - entropy)
        if change <= _ARMIJO * alpha * slope:
            searching = 0
        else:
            alpha = tl.where(halvings < _HALVINGS, 0.5 * alpha, 0.0)
            searching = tl.where(halvings < _HALVINGS, 1, 0)
            halvings += 1
    return alpha


@triton.jit(do_not_specialize=["max_iter"])
def step_kernel(
    gradients, gammas, plans, listed, pairs_a, pairs_b, width_a, width_b,
    maps_a, maps_b, units_a, units_b, gaps, iterations, states, unsure,
    beta_global, w_source, w_target, ridge, kl, tol, max_iter,
    N: tl.constexpr, M: tl.constexpr, FRAGMENTS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    """Steps 5 to 8, and 3 of the next iteration, for one listed pair.

    Its state becomes 1 if it has converged, and 3 if no step descends or no iteration is left.
    """
    pair = tl.load(listed + tl.program_id(0))
    state = tl.load(states + pair)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    i, k = tl.arange(0, N), tl.arange(0, M)
    place = pair * N * M + i[:, None] * M + k[None, :]
    gamma = tl.load(gammas + place)
    g = tl.load(gradients + place)
    x = tl.load(plans + place) - gamma
    if state == 0:
        slope = total(x * g)  # 5 gap
        gap = -slope
        tl.store(gaps + pair, gap)
        if tol > 0.0:
            near = tl.abs(gap - tol) <= _UNSURE * total(gamma * tl.abs(g))
            tl.store(unsure + pair, 1, mask=near)
        if gap <= tol:
            tl.store(states + pair, CONVERGED)
        else:
            image = _image(
                x, a, b, maps_a, maps_b, units_a, units_b, width_a, width_b,
                ridge, -beta_global, w_source, w_target, N, M, FRAGMENTS, TERMS,
            )  # fmt: skip
            if N * M > 256:
                tl.debug_barrier()  # so that arrays are read again, and need no registers during the products
                gamma = tl.load(gammas + place)
                x = tl.load(plans + place) - gamma
                g = tl.load(gradients + place)
            alpha = _line_search(gamma, x, slope, total(x * image), kl)  # 7 line search
            moved = tl.maximum(gamma + alpha * x, 0.0)  # 8 step
            g += (2.0 * alpha) * image  # 3 gradient
            if kl != 0.0:
                g += kl * (logarithms(moved) - logarithms(gamma))
            tl.store(gammas + place, moved)
            tl.store(gradients + place, g)
            done = tl.load(iterations + pair) + tl.where(alpha > 0, 1, 0)
            tl.store(iterations + pair, done)
            if (alpha == 0.0) | (done >= max_iter):
                tl.store(states + pair, STOPPED)


@triton.jit
def value_kernel(
    gradients, gammas, pairs_a, pairs_b, width_a, width_b, maps_a, maps_b, units_a, units_b,
    vectors_a, vectors_b, values, beta_global, w_source, w_target, ridge,
    N: tl.constexpr, M: tl.constexpr, FRAGMENTS: tl.constexpr, TERMS: tl.constexpr,
):  # fmt: skip
    """Step 9 for one pair: the value, from gamma."""
    pair = tl.program_id(0).to(tl.int64)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    i, k = tl.arange(0, N), tl.arange(0, M)
    place = pair * N * M + i[:, None] * M + k[None, :]
    gamma = tl.load(gammas + place)
    image = _image(
        gamma, a, b, maps_a, maps_b, units_a, units_b, width_a, width_b,
        ridge, -beta_global, w_source, w_target, N, M, FRAGMENTS, TERMS,
    )  # fmt: skip
    # the gradient contains Q(gamma) and the moments twice, H contains them once
    moment_a = tl.load(vectors_a + a * 4 * width_a + i, mask=i < width_a, other=0.0)
    moment_b = tl.load(vectors_b + b * 4 * width_b + k, mask=k < width_b, other=0.0)
    moments = beta_global * (moment_a[:, None] + moment_b[None, :])
    tl.store(values + pair, total(gamma * (tl.load(gradients + place) - image - moments)))
