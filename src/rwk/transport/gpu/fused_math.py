"""Arithmetic of the fused kernels: functions that are one GPU instruction each, and reductions over a matrix."""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import math
import os

import triton
import triton.language as tl

from rwk.transport.problem import LEAST_MASS_32

_LEAST_MASS = tl.constexpr(LEAST_MASS_32)
_INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
LN_2 = tl.constexpr(math.log(2.0))


@triton.jit
def log2(x):
    """log2 in one instruction, to 2 units in the last place; Triton's own log2 takes twenty instructions."""
    if _INTERPRETED:
        y = tl.log2(x)
    else:
        y = tl.inline_asm_elementwise("lg2.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
    return y


@triton.jit
def exp2(x):
    if _INTERPRETED:
        y = tl.exp2(x)
    else:
        y = tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
    return y


@triton.jit
def ratio(x, y):
    """x / y for y >= 1e-37."""
    if _INTERPRETED:
        inverse = 1.0 / y
    else:
        inverse = tl.inline_asm_elementwise("rcp.approx.ftz.f32 $0, $1;", "=f,f", [y], tl.float32, is_pure=True, pack=1)
    return x * inverse


@triton.jit
def logarithms(gamma):
    return LN_2 * log2(tl.maximum(gamma, _LEAST_MASS))


@triton.jit
def total(x):
    """The sum over a matrix, first within each thread: the order of its entries does not matter."""
    return tl.sum(tl.reshape(x, (x.numel,), can_reorder=True), axis=0)
