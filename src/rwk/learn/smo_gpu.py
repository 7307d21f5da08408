"""Many SVMs at once on a GPU: the steps of `smo.svm_path`, one Triton program per SVM.

The whole state of an SVM stays on chip: v and the residual q − Kv over all rows of its kernel, in double precision. An
update reads two rows of the kernel and nothing else. Rows that the SVM does not train on (other classes, validation
rows) have q = 0 and can't move; their residual, −Kv, is updated with the others, so decisions on them need no product.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import os
from typing import Any, Final, NamedTuple

import torch
import triton
import triton.language as tl

from rwk.learn.smo import FIRST_VIOLATION, MAX_UPDATES, MIN_CURVATURE

_INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
_MIN_CURVATURE = tl.constexpr(MIN_CURVATURE)
LEAST_WIDTH: Final = 16
# by width (for widths in between, the next smaller one): warps per program, and the number of registers if the compiler
# would use fewer than there are
LAUNCH: Final[dict[int, dict[str, int]]] = {
    LEAST_WIDTH: {"num_warps": 1},
    256: {"num_warps": 2},
    512: {"num_warps": 4},
    2048: {"num_warps": 8},
    4096: {"num_warps": 16},
    8192: {"num_warps": 32, "maxnreg": 64},
}


class Paths(NamedTuple):
    """Trained SVMs, as tensors on the GPU."""

    solutions: Any  # (SVMs, C, n) v
    intercepts: Any  # (SVMs, C) b
    decisions: Any  # (SVMs, C, n) Kv + b, on every row of the kernel


def svm_paths(kernels: Any, which: Any, signs: Any, Cs: Any, *, violation: float = FIRST_VIOLATION) -> Paths:
    """Train SVMs for an increasing sequence of C, each started from the previous C.

    `kernels` are (k, n, n), symmetric; SVM m is trained on kernels[which[m]] and has signs[m] of ±1 on its training
    rows, 0 elsewhere. All tensors are on one device; `Cs` are in double precision.
    """
    n, count = kernels.shape[1], len(which)
    shape = count, len(Cs), n
    solutions = torch.zeros(shape, dtype=torch.float64, device=kernels.device)
    decisions = torch.zeros(shape, dtype=torch.float64, device=kernels.device)
    intercepts = torch.zeros(shape[:2], dtype=torch.float64, device=kernels.device)
    diagonals = kernels.diagonal(dim1=1, dim2=2).contiguous()
    width = max(triton.next_power_of_2(n), LEAST_WIDTH)
    _svm_path_kernel[(count,)](
        kernels, diagonals, which, signs, Cs, solutions, intercepts, decisions, len(Cs), n, violation, MAX_UPDATES,
        WIDTH=width, **LAUNCH[max(least for least in LAUNCH if least <= width)],
    )  # fmt: skip
    return Paths(solutions, intercepts, decisions)


@triton.jit
def _sums(a, b, c, other_a, other_b, other_c):
    return a + other_a, b + other_b, c + other_c


@triton.jit
def _three_sums(a, b, c):
    if not _INTERPRETED:
        a, b, c = tl.reduce((a, b, c), 0, _sums)
    else:
        a, b, c = tl.sum(a), tl.sum(b), tl.sum(c)
    return a, b, c


@triton.jit
def _extremes(top, at, bottom, other_top, other_at, other_bottom):
    """The largest value with its first index, and the smallest value."""
    other = (other_top > top) | ((other_top == top) & (other_at < at))
    return tl.where(other, other_top, top), tl.where(other, other_at, at), tl.minimum(bottom, other_bottom)


@triton.jit
def _violators(residual, v, lower, upper, at):
    """The largest residual of rows that can grow, its row, and the smallest residual of rows that can fall."""
    growth = tl.where(v < upper, residual, -float("inf"))
    fall = tl.where(v > lower, residual, float("inf"))
    if _INTERPRETED:  # the interpreter is slow at user-defined reductions
        top, i = tl.max(growth, axis=0, return_indices=True)
        bottom = tl.min(fall)
    else:
        top, i, bottom = tl.reduce((growth, at, fall), 0, _extremes)
    return top, i, bottom


@triton.jit(do_not_specialize=["n_C", "n"])
def _svm_path_kernel(
    kernels, diagonals, which, signs_of, Cs, solutions, intercepts, decisions, n_C, n, violation, max_updates,
    WIDTH: tl.constexpr,
):  # fmt: skip
    svm = tl.program_id(0).to(tl.int64)
    mine = tl.load(which + svm).to(tl.int64)
    kernel = kernels + mine * n * n
    at = tl.arange(0, WIDTH)
    inside = at < n
    diagonal = tl.load(diagonals + mine * n + at, mask=inside, other=0.0).to(tl.float64)
    signs = tl.load(signs_of + svm * n + at, mask=inside, other=0).to(tl.float64)
    v = tl.zeros((WIDTH,), tl.float64)
    residual = signs
    last_C = tl.load(Cs)
    c = 0
    while c < n_C:
        C = tl.load(Cs + c)
        upper = tl.where(signs > 0.0, C, 0.0)
        lower = tl.where(signs < 0.0, -C, 0.0)
        bounded = (c == 0) | (tl.max(tl.where(signs == 0.0, -1.0, tl.abs(v) - last_C)) >= 0.0)
        # the best multiple, from 1 to new C / old C, of the last solution
        linear = tl.sum(signs * v)
        quadratic = tl.sum((signs - residual) * v)
        best = tl.where(quadratic > 0.0, tl.maximum(1.0, linear / tl.maximum(quadratic, 1e-300)), float("inf"))
        growth = tl.where(bounded, tl.minimum(C / last_C, best), 1.0)
        residual = signs - growth * (signs - residual)
        v = tl.minimum(tl.maximum(growth * v, lower), upper)
        # 1. the row that wants to grow most
        top, i, bottom = _violators(residual, v, lower, upper, at)
        left = tl.where(bounded, max_updates, 0)
        while (left > 0) & (top - bottom > violation):
            # 2. its partner: the largest decrease of the objective, to single precision
            row_i = tl.load(kernel + i.to(tl.int64) * n + at, mask=inside, other=0.0).to(tl.float64)
            at_i = tl.load(diagonals + mine * n + i).to(tl.float64)
            slope = tl.where(v > lower, tl.maximum(top - residual, 0.0), 0.0)
            curvature = tl.maximum(at_i + diagonal - 2.0 * row_i, _MIN_CURVATURE)
            gain, j = tl.max((slope * slope).to(tl.float32) / curvature.to(tl.float32), axis=0, return_indices=True)
            row_j = tl.load(kernel + j.to(tl.int64) * n + at, mask=inside, other=0.0).to(tl.float64)
            # 3. the step along (+1, -1), cut at the bounds; a bound is reached exactly
            own_j = at == j
            picked = tl.where(own_j, slope, 0.0), tl.where(own_j, v - lower, 0.0), tl.where(at == i, upper - v, 0.0)
            slope_j, room_j, room_i = _three_sums(picked[0], picked[1], picked[2])
            at_j = tl.load(diagonals + mine * n + j).to(tl.float64)
            both = tl.load(kernel + i.to(tl.int64) * n + j).to(tl.float64)
            step = slope_j / tl.maximum(at_i + at_j - 2.0 * both, _MIN_CURVATURE)
            step = tl.minimum(step, tl.minimum(room_i, room_j))
            v = tl.where(at == i, tl.where(step == room_i, upper, v + step), v)
            v = tl.where(own_j, tl.where(step == room_j, lower, v - step), v)
            residual -= step * (row_i - row_j)
            left = tl.where(gain > 0.0, left - 1, 0)
            top, i, bottom = _violators(residual, v, lower, upper, at)
        # the intercept: the mean residual of the unbounded rows, or the middle of the allowed interval
        free = (v < upper) & (v > lower)
        count = tl.sum(free.to(tl.float64))
        middle = tl.where(top == -float("inf"), bottom, tl.where(bottom == float("inf"), top, 0.5 * (top + bottom)))
        b = tl.where(count > 0.0, tl.sum(tl.where(free, residual, 0.0)) / tl.maximum(count, 1.0), middle)
        out = (svm * n_C + c) * n + at
        tl.store(solutions + out, v, mask=inside)
        tl.store(intercepts + svm * n_C + c, b)
        tl.store(decisions + out, signs - residual + b, mask=inside)
        last_C = C
        c += 1
