"""The fused solver body: Sinkhorn conditional gradient for one pair of graphs, entirely on chip (Triton).

    1  costs, of the pair                       5  gap, and whether to stop
    2  start: gamma = mu nu^T and Q(gamma)      6  products: Q(Delta), the only ones of an iteration
    3  gradient                                 7  line search, without products
    4  direction: Sinkhorn, rounded             8  step; at the end 9 value, from gamma

One program solves one pair. gamma and `slopes`, the gradient without kl log gamma, stay in registers; C_P, L and S are
read from cache again for each product. Each product is the sum of three tf32 products, which is exact to single
precision. The kernel is compiled once per shape (N, M) and variant; weights, iterations and rounds are arguments.

Sinkhorn rounds use the scale of batched_sinkhorn.py. If the spread of g / lam is too large for single precision, the
kernel gives up and reports it in the state of the pair. The WIDE variant, whose rounds run on logarithms, then solves
the pair. If the spread is too large for that too, the pair is solved in double precision. Notation and numbers:
problem.py.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Final

import triton
import triton.language as tl

from rwk.transport.gpu.batched import UNSURE_32
from rwk.transport.gpu.fused_math import LN_2, log2, logarithms, total
from rwk.transport.gpu.fused_sinkhorn import FAR, sinkhorn_plan
from rwk.transport.problem import ARMIJO, HALVINGS, LARGEST_STEP_WITH_KL, PRIOR_FLOOR

_ARMIJO = tl.constexpr(ARMIJO)
_HALVINGS = tl.constexpr(HALVINGS)
_LARGEST_STEP_WITH_KL = tl.constexpr(LARGEST_STEP_WITH_KL)
_PRIOR_FLOOR = tl.constexpr(PRIOR_FLOOR)
_UNSURE = tl.constexpr(UNSURE_32)
_SMALLEST_DEGREE = tl.constexpr(1e-30)

# fastest on an H200: the number of warps per program and, if a limit is faster, of registers per thread
LAUNCH: Final[dict[tuple[int, int], dict[str, int]]] = {
    (16, 16): {"num_warps": 1, "maxnreg": 80},
    (32, 32): {"num_warps": 1},
    (32, 64): {"num_warps": 4},
    (64, 64): {"num_warps": 4},
    (32, 128): {"num_warps": 4},
    (64, 128): {"num_warps": 4},
    (128, 128): {"num_warps": 8},
}


@triton.jit
def _split(x):
    """x as a sum of two numbers; the first is the tf32 number nearest to x."""
    bits = (x.to(tl.int32, bitcast=True) + 0x1000) & -0x2000
    high = bits.to(tl.float32, bitcast=True)
    return high, x - high


@triton.jit
def _product(left, right, out):
    """out + left right, exact to single precision by three tf32 products."""
    left_high, left_low = _split(left)
    right_high, right_low = _split(right)
    out = tl.dot(left_low, right_high, out, input_precision="tf32")
    out = tl.dot(left_high, right_low, out, input_precision="tf32")
    return tl.dot(left_high, right_high, out, input_precision="tf32")


@triton.jit
def _as_operand(x, N: tl.constexpr, M: tl.constexpr):
    """X^T, rows in operand order: as a right operand, it needs the layout in which a product leaves X in registers."""
    return tl.trans(tl.reshape(tl.permute(tl.reshape(x, (N, M // 8, 4, 2)), (0, 1, 3, 2)), (N, M)))


@triton.jit
def _quadratic_map(
    x, maps_a, maps_b, width_a, width_b, ridge, w_structure, w_source, w_target, N: tl.constexpr, M: tl.constexpr
):  # fmt: skip
    """Steps 6 and 9: Q(X) = ridge X + w_structure C X C + w_source L X S + w_target S X L; skips weights of 0."""
    i, k = tl.arange(0, N), tl.arange(0, M)
    square_a, square_b = i[:, None] * width_a + i[None, :], k[:, None] * width_b + k[None, :]
    inside_a = (i < width_a)[:, None] & (i < width_a)[None, :]
    inside_b = (k < width_b)[:, None] & (k < width_b)[None, :]
    operand = _as_operand(x, N, M)
    image = ridge * x
    for t in range(3):
        weight = tl.where(t == 0, w_structure, tl.where(t == 1, w_source, w_target))
        if weight != 0.0:
            left = tl.load(maps_a + t * width_a * width_a + square_a, mask=inside_a, other=0.0)  # C, L, S
            right = tl.load(maps_b + ((3 - t) % 3) * width_b * width_b + square_b, mask=inside_b, other=0.0)  # C, S, L
            half = weight * _product(right, operand, tl.zeros((M, N), tl.float32))  # (X right)^T
            image = _product(left, _as_operand(half, M, N), image)
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


@triton.jit(do_not_specialize=["max_iter", "rounds"])
def solve_pair_kernel(
    cost, pairs_a, pairs_b, width_a, width_b, weights_a, weights_b, degrees_a, degrees_b, maps_a, maps_b,
    vectors_a, vectors_b, values, gaps, iterations, states, couplings,
    beta_global, w_source, w_target, ridge, kl, lam, tol, max_iter, rounds,
    N: tl.constexpr, M: tl.constexpr, COUPLING: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Algorithm 1 for one pair; its state is 0 (not converged), 1 (converged) or 2 (given up), plus 4 if unsure."""
    pair = tl.program_id(0).to(tl.int64)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    i, k = tl.arange(0, N), tl.arange(0, M)
    own_a, own_b = i < width_a, k < width_b
    mu = tl.load(weights_a + a * width_a + i, mask=own_a, other=0.0)
    nu = tl.load(weights_b + b * width_b + k, mask=own_b, other=0.0)
    inside = (mu > 0)[:, None] & (nu > 0)[None, :]
    maps_a += a * 3 * width_a * width_a
    maps_b += b * 3 * width_b * width_b
    vectors_a += a * 4 * width_a + i
    vectors_b += b * 4 * width_b + k

    # 1 costs
    slopes = tl.load(cost + pair * N * M + i[:, None] * M + k[None, :])
    moment_a = tl.load(vectors_a, mask=own_a, other=0.0)
    moment_b = tl.load(vectors_b, mask=own_b, other=0.0)
    slopes += (2.0 * beta_global) * (moment_a[:, None] + moment_b[None, :])
    if kl != 0.0:
        d = tl.load(degrees_a + a * width_a + i, mask=own_a, other=0.0)[:, None]
        e = tl.load(degrees_b + b * width_b + k, mask=own_b, other=0.0)[None, :]
        # R8: 0/0 counts as equal degrees; the difference is 0 then
        likeness = tl.maximum(1.0 - tl.abs(d - e) / tl.maximum(tl.maximum(d, e), _SMALLEST_DEGREE), _PRIOR_FLOOR)
        slopes -= (kl * LN_2) * (log2(likeness) - log2(total(tl.where(inside, likeness, 0.0))))
    # 2 start
    gamma = mu[:, None] * nu[None, :]
    image = ridge * gamma
    for t in range(3):  # outer products: C mu with C nu, L mu with S nu, S mu with L nu
        weight = tl.where(t == 0, -beta_global, tl.where(t == 1, w_source, w_target))
        left = tl.load(vectors_a + (1 + t) * width_a, mask=own_a, other=0.0)
        right = tl.load(vectors_b + (1 + (3 - t) % 3) * width_b, mask=own_b, other=0.0)
        image += (weight * left)[:, None] * right[None, :]
    slopes = tl.where(inside, slopes + 2.0 * image, FAR)  # padded nodes are far from all others

    gap = tl.full((), float("inf"), tl.float32)
    slope = tl.full((), 0.0, tl.float32)
    value = tl.full((), 0.0, tl.float32)
    state, n_iter, last, running, unsure = 0, 0, 0, 1, 0
    x = gamma
    while running == 1:
        if last == 0:
            g = slopes + kl * logarithms(gamma)  # 3 gradient
            plan, carried = sinkhorn_plan(g, mu, nu, lam, rounds, WIDE)  # 4 direction
            x = plan - gamma
            slope = total(x * g)  # 5 gap
            gap = -slope
            if tol > 0.0:
                near = tl.abs(gap - tol) <= _UNSURE * total(gamma * tl.abs(g))
                unsure = tl.where(near, 4, unsure)
            if (gap <= tol) | (carried == 0):
                state = tl.where(carried, 1, 2)
                last = 1
                x = gamma
        # 6 products; once the pair has stopped, those of 9 value
        image = _quadratic_map(x, maps_a, maps_b, width_a, width_b, ridge, -beta_global, w_source, w_target, N, M)
        if last == 0:
            alpha = _line_search(gamma, x, slope, total(x * image), kl)  # 7 line search
            gamma = tl.maximum(gamma + alpha * x, 0.0)  # 8 step
            slopes += (2.0 * alpha) * image
            n_iter += tl.where(alpha > 0, 1, 0)
            if (alpha == 0.0) | (n_iter >= max_iter):
                last = 1
                x = gamma
        else:
            # 9 value: slopes contain Q(gamma) and the moments twice, H contains them once
            moments = beta_global * (moment_a[:, None] + moment_b[None, :])
            value = total(gamma * (slopes - image - moments + kl * logarithms(gamma)))
            running = 0
    tl.store(values + pair, value)
    tl.store(gaps + pair, gap)
    tl.store(iterations + pair, n_iter)
    tl.store(states + pair, state + unsure)
    if COUPLING:
        tl.store(couplings + pair * N * M + i[:, None] * M + k[None, :], gamma)
