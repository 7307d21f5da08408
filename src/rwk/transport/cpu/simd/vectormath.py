"""Branch-free polynomial exp and log for scalars and vectors; quotients and square roots of vectors.

Numba's own exp and log call a library function for each element. The functions here are several times faster over an
array, with a relative error of 1e-15 (float64) or 1e-7 (float32). `exp_of` expects arguments for which exp does not
overflow; arguments below -700 (float64) or -87 (float32) count as that number, so that the result is never subnormal.
`log_of` expects positive normal numbers. Fused products are written explicitly, so a loop that the compiler vectorises
is bit-identical to the same loop over single elements.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, Lanes, call_llvm, vector_type


class Precision(NamedTuple):
    """What exp and log need to know about a floating-point format."""

    bits: int
    mantissa: int  # number of bits in the mantissa
    round: float  # 1.5 * 2^mantissa: adding and subtracting it rounds to a whole number
    lowest: float  # lowest argument of exp; smaller ones are raised to it
    ln2_high: float  # its last bits are 0, so that k * ln2_high is exact
    ln2_low: float
    exp: tuple[float, ...]  # coefficients of exp(r), |r| <= ln 2 / 2, highest power first
    atanh: tuple[float, ...]  # coefficients p of log(1 + f) = 2 s + s^3 p(s^2), s = f / (2 + f), highest power first
    half_sqrt: int  # bit pattern of sqrt(1/2)


def _taylor(degree: int) -> tuple[float, ...]:
    return tuple(1.0 / math.factorial(k) for k in range(degree, -1, -1))


DOUBLE: Final = Precision(
    64, 52, 1.5 * 2.0**52, -700.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10,
    _taylor(12), tuple(2.0 / k for k in range(19, 2, -2)), 0x3FE6A09E667F3BCD,
)  # fmt: skip
SINGLE: Final = Precision(
    32, 23, 1.5 * 2.0**23, -87.0, 0.693359375, -2.12194440e-4,
    _taylor(7), tuple(2.0 / k for k in range(9, 2, -2)), 0x3F3504F3,
)  # fmt: skip


class _Code:
    """Writes instructions that work in the same way on a scalar and on a vector."""

    def __init__(self, builder: Any, kind: Any) -> None:
        dtype = kind.dtype if isinstance(kind, Lanes) else kind
        self.builder, self.precision = builder, SINGLE if dtype == types.float32 else DOUBLE
        self.count = kind.width if isinstance(kind, Lanes) else 0
        self.real = self._many(ir.FloatType() if dtype == types.float32 else ir.DoubleType())
        self.whole = self._many(ir.IntType(self.precision.bits))

    def _many(self, one: Any) -> Any:
        return ir.VectorType(one, self.count) if self.count else one

    def number(self, value: float) -> Any:
        value = float(np.float32(value)) if self.precision is SINGLE else value
        return ir.Constant(self.real, [value] * self.count if self.count else value)

    def integer(self, value: int) -> Any:
        return ir.Constant(self.whole, [value] * self.count if self.count else value)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return call_llvm(self.builder, "fma", (a, b, c))

    def bits(self, x: Any) -> Any:
        return self.builder.bitcast(x, self.whole)

    def floating(self, bits: Any) -> Any:
        return self.builder.bitcast(bits, self.real)

    def polynomial(self, coefficients: tuple[float, ...], x: Any) -> Any:
        value = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            value = self.fma(value, x, self.number(coefficient))
        return value


@intrinsic  # type: ignore[untyped-decorator]
def exp_of(typing_context: Any, x: Any) -> Any:
    """exp(x) for x up to about 700 (float64) or 87 (float32)."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        # x = k ln 2 + r with |r| <= ln 2 / 2; exp(x) = 2^k exp(r)
        code = _Code(builder, x)
        precision, lowest = code.precision, code.number(code.precision.lowest)
        value = builder.select(builder.fcmp_ordered(">", arguments[0], lowest), arguments[0], lowest)
        shifted = code.fma(value, code.number(1.0 / math.log(2.0)), code.number(precision.round))
        k = builder.fsub(shifted, code.number(precision.round))
        r = code.fma(k, code.number(-precision.ln2_high), value)
        r = code.fma(k, code.number(-precision.ln2_low), r)
        small = code.polynomial(precision.exp, r)
        # the last bits of `shifted` are k; adding them to the exponent multiplies by 2^k
        power = builder.shl(code.bits(shifted), code.integer(precision.mantissa))
        return code.floating(builder.add(code.bits(small), power))

    return x(x), generate


@intrinsic  # type: ignore[untyped-decorator]
def log_of(typing_context: Any, x: Any) -> Any:
    """log(x) for a positive normal number."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        # x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) = 2 atanh(s), s = f / (2 + f)
        code = _Code(builder, x)
        precision, mantissa = code.precision, code.integer(code.precision.mantissa)
        bits = code.bits(arguments[0])
        e = builder.ashr(builder.sub(bits, code.integer(precision.half_sqrt)), mantissa)
        f = builder.fsub(code.floating(builder.sub(bits, builder.shl(e, mantissa))), code.number(1.0))
        s = builder.fdiv(f, builder.fadd(f, code.number(2.0)))
        z = builder.fmul(s, s)
        p = code.polynomial(precision.atanh, z)
        # convert the small integer e to a float, again through the last bits of `round`
        round_ = code.number(precision.round)
        exponent = builder.fsub(code.floating(builder.add(code.bits(round_), e)), round_)
        tail = code.fma(builder.fmul(s, z), p, builder.fmul(exponent, code.number(precision.ln2_low)))
        return code.fma(exponent, code.number(precision.ln2_high), code.fma(s, code.number(2.0), tail))

    return x(x), generate


@intrinsic  # type: ignore[untyped-decorator]
def quotient(typing_context: Any, a: Any, b: Any) -> Any:
    """a / b of vectors, accurate to the last one or two bits; b must not hold 0, infinities or subnormal numbers."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return divide(builder, a, *arguments)

    return a(a, a), generate


def divide(builder: Any, lanes: Lanes, top: Any, bottom: Any) -> Any:
    """The instructions of `quotient`.

    A vector division takes as long as eight vector products. Instead, this starts from an estimate y of 1 / b that is
    correct to 14 bits. In float64, one step y <- y + y (1 - b y) doubles the number of correct bits. Finally the
    remainder a - b (a y) corrects the quotient itself, which doubles them again.
    """
    if REGISTER_BYTES != 64:
        return builder.fdiv(top, bottom)
    code, kind, single = _Code(builder, lanes), vector_type(lanes), lanes.dtype == types.float32
    mask = ir.IntType(lanes.width)
    estimate = _estimate(builder, kind, mask, "rcp14", single)
    minus, one = builder.fneg(bottom), code.number(1.0)
    inverse = builder.call(estimate, [bottom, code.number(0.0), ir.Constant(mask, -1)])
    if not single:
        inverse = code.fma(inverse, code.fma(minus, inverse, one), inverse)
    value = builder.fmul(top, inverse)
    left = code.fma(minus, value, top)
    return code.fma(left, inverse, value)


@intrinsic  # type: ignore[untyped-decorator]
def root_of(typing_context: Any, x: Any) -> Any:
    """Square roots of a vector, accurate to the last one or two bits; 0 below 1e-290 (float64) or 1e-36 (float32).

    The square root instruction takes as long as ten products, so this refines a 14-bit estimate of 1 / sqrt(x).
    """

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        code, kind, single = _Code(builder, x), vector_type(x), x.dtype == types.float32
        value, least = arguments[0], code.number(1e-36 if single else 1e-290)
        if REGISTER_BYTES == 64:
            mask = ir.IntType(x.width)
            estimate = _estimate(builder, kind, mask, "rsqrt14", single)
            inverse = builder.call(estimate, [value, code.number(0.0), ir.Constant(mask, -1)])
            result, half = builder.fmul(value, inverse), builder.fmul(code.number(0.5), inverse)
            error = code.fma(builder.fneg(result), half, code.number(0.5))
            result, half = code.fma(result, error, result), code.fma(half, error, half)
            result = code.fma(code.fma(builder.fneg(result), result, value), half, result)
        else:
            result = call_llvm(builder, "sqrt", arguments)
        return builder.select(builder.fcmp_ordered(">", value, least), result, code.number(0.0))

    return x(x), generate


def _estimate(builder: Any, kind: Any, mask: Any, name: str, single: bool) -> Any:
    """The instruction that estimates a reciprocal or a reciprocal square root to 14 bits."""
    suffix = f"{name}.{'ps' if single else 'pd'}.512"
    return cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind, kind, mask]), f"llvm.x86.avx512.{suffix}"
    )
