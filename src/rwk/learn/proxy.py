"""Support vectors and proxy kernel learned together (Luss and d'Aspremont 2008), by Newton's method.

    max over α of  min over K ⪰ 0 of   αᵀ1 − ½ vᵀKv + κ‖K − K₀‖²       v = y∘α,  0 ≤ α ≤ C,  Σ v = 0

With A(v) = K₀ + vvᵀ/4κ the inner minimum is at K* = A₊, and what is left is concave in v:

    value     yᵀv − ½vᵀK₀v − ‖v‖⁴/16κ + κ‖A₋‖²          (A₋ = 0 for a positive K₀: the closed form)
    gradient  y − K*v
    −Hessian  U (diag(μ₊ + Θv̂²/4κ) + v̂v̂ᵀ∘Θ/4κ) Uᵀ      A = U diag(μ) Uᵀ, v̂ = Uᵀv

where Θij is 1 if μi, μj ≥ 0, 0 if both are negative, and μ₊/(μ₊ − μ₋) otherwise. Each Newton step is a quadratic
program of the same form as an ordinary SVM, solved by `smo` from the end of the last one, so a handful of
eigendecompositions is enough. Values are reported without the constant κ‖(K₀)₋‖², so that κ → ∞ tends to the SVM on the
clipped kernel. With more than two classes v is zero outside its two classes, and K₀ is the whole training kernel: κ = ∞
clips the same kernel for every SVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from rwk.learn.one_vs_one import PairwiseSVMs, fit_path, pairs_of
from rwk.learn.smo import Program, duality_gap, intercept, solve
from rwk.learn.treatment import KernelSpectrum, TreatedKernel, rounding, treat
from rwk.learn.treatment import spectrum as decompose
from rwk.runtime.arrays import FloatArray, IntArray

GAP = 1e-4
MAX_STEPS = 100
ARMIJO = 1e-4
MAX_HALVINGS = 30


class Proxy(NamedTuple):
    """K₀, its spectrum and κ: what the SVMs of all pairs of classes share."""

    kernel: FloatArray  # (n, n)
    spectrum: KernelSpectrum
    kappa: float


class ProxyPoint(NamedTuple):
    """The objective and its derivatives at one v, over the training rows of one pair of classes."""

    v: FloatArray  # (m,)
    value: float
    gradient: FloatArray  # (m,)
    values: FloatArray  # (n,) eigenvalues of A; empty for a positive K₀
    vectors: FloatArray  # (n, n)


class ProxySVM(NamedTuple):
    """One solved SVM."""

    v: FloatArray  # (m,)
    coefficients: FloatArray  # (n,) Pv: decisions on untreated rows k are k·Pv + intercept
    intercept: float
    value: float
    gap: float  # over max(1, |value|)
    n_steps: int


def fit_proxy(kernel: FloatArray, codes: IntArray, Cs: FloatArray, kappa: float) -> Iterator[PairwiseSVMs]:
    """Train on proxy kernels, for every C one SVM per pair of classes; coefficients apply to untreated rows.

    >>> kernel = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]])
    >>> svms = next(fit_proxy(kernel, np.array([0, 0, 1]), np.array([1.0]), kappa=10.0))
    >>> (svms.decide(kernel)[:, 0] > 0).tolist()
    [False, False, True]
    """
    proxy = Proxy(kernel, decompose(kernel), kappa)
    treated = treat(kernel, "clip", proxy.spectrum)
    for C, start in zip(Cs, fit_path(treated.kernel, codes, Cs), strict=True):
        bounds = np.full(len(codes), C)
        solved = [svm for _, svm in solve_class_pairs(proxy, treated, codes, bounds, start.coefficients)]
        yield PairwiseSVMs(np.array([m.coefficients for m in solved]), np.array([m.intercept for m in solved]))


def solve_class_pairs(
    proxy: Proxy,
    treated: TreatedKernel,
    codes: IntArray,
    bounds: FloatArray,
    starts: FloatArray,
    *,
    tol: float = GAP,
    max_steps: int = MAX_STEPS,
) -> Iterator[tuple[IntArray, ProxySVM]]:
    """Solve the SVM of every pair of classes from a feasible start; yields its training rows and the SVM."""
    for (a, b), start in zip(pairs_of(int(codes.max()) + 1), starts, strict=True):
        members = np.flatnonzero((codes == a) | (codes == b))
        signs = np.where(codes[members] == b, 1.0, -1.0)
        part = np.ascontiguousarray(treated.kernel[np.ix_(members, members)])
        program = Program.svm(part, signs, bounds[members])
        if isinf(proxy.kappa):
            yield members, solve_clipped(program, treated, members, start[members], tol=tol)
        else:
            yield members, solve_proxy(proxy, program, members, start[members], tol=tol, max_steps=max_steps)


def solve_clipped(
    program: Program, treated: TreatedKernel, members: IntArray, start: FloatArray, *, tol: float = GAP
) -> ProxySVM:
    """The SVM on a treated kernel, to a relative duality gap of `tol`."""
    wanted = tol * max(1.0, abs(_svm_value(program, start)))
    v, residual, gap = solve(program, start, gap=wanted)
    value = _svm_value(program, v)
    coefficients = treated.map_coefficients(_spread(v, members, len(treated.kernel))[None])[0]
    threshold = float(intercept(program.lower, program.upper, v, residual))
    return ProxySVM(v, coefficients, threshold, value, gap / max(1.0, abs(value)), 0)


def solve_proxy(
    proxy: Proxy,
    program: Program,
    members: IntArray,
    start: FloatArray,
    *,
    tol: float = GAP,
    max_steps: int = MAX_STEPS,
) -> ProxySVM:
    """Newton's method for one pair of classes; `program` is the SVM on the clipped kernel, `start` its solution."""
    point = _evaluate(proxy, members, program.linear, _shrunk(proxy, program, start))
    for n_steps in range(max_steps + 1):
        gap = duality_gap(program, point.v, point.gradient)
        enough = tol * max(1.0, abs(point.value))
        if gap <= enough or n_steps == max_steps:
            break
        curvature = _curvature(proxy, members, point)
        step = Program(curvature, point.gradient + curvature @ point.v, program.lower, program.upper)
        target, _, _ = solve(step, point.v, gap=max(enough, 0.1 * gap) / 10)
        moved = _search_line(proxy, members, program.linear, point, target)
        if moved is None:
            break
        point = moved
    coefficients = _spread(point.v, members, len(proxy.kernel))
    if len(point.values):
        removed = point.vectors[:, point.values < -rounding(point.values)]
        coefficients = coefficients - removed @ (removed.T @ coefficients)
    threshold = float(intercept(program.lower, program.upper, point.v, point.gradient))
    return ProxySVM(point.v, coefficients, threshold, point.value, gap / max(1.0, abs(point.value)), n_steps)


def _evaluate(proxy: Proxy, members: IntArray, signs: FloatArray, v: FloatArray) -> ProxyPoint:
    square = float(v @ v)
    image = proxy.kernel[np.ix_(members, members)] @ v
    value = float(signs @ v - v @ image / 2 - square**2 / (16 * proxy.kappa))
    before = proxy.spectrum.negative_values
    if not len(before):
        return ProxyPoint(v, value, signs - image - square / (4 * proxy.kappa) * v, np.empty(0), np.empty((0, 0)))
    perturbed = proxy.kernel.copy()
    perturbed[np.ix_(members, members)] += np.outer(v, v) / (4 * proxy.kappa)
    values, vectors = eigh(perturbed, driver="evd", overwrite_a=True, check_finite=False)
    # κ Σ (μ² − λ²) over the negative eigenvalues λ of K₀, which adding vvᵀ/4κ moves up to μ
    after = np.minimum(values[: len(before)], 0.0)
    value += proxy.kappa * float((after - before) @ (after + before))
    along = vectors[members].T @ v
    return ProxyPoint(v, value, signs - vectors[members] @ (np.maximum(values, 0) * along), values, vectors)


def _curvature(proxy: Proxy, members: IntArray, point: ProxyPoint) -> FloatArray:
    """Minus the Hessian of the objective over the rows `members`."""
    quarter = 1 / (4 * proxy.kappa)
    if not len(point.values):
        v = point.v
        kernel = proxy.kernel[np.ix_(members, members)]
        return np.asarray(kernel + quarter * (2 * np.outer(v, v) + v @ v * np.eye(len(v))))
    basis = point.vectors[members]  # (m, n)
    along = basis.T @ point.v
    up = np.maximum(point.values, 0)
    positive = point.values >= 0
    # Θ: both positive 1, both negative 0, mixed μ₊ / (μ₊ − μ₋)
    spread = np.maximum(np.abs(point.values[:, None] - point.values), np.finfo(np.float64).tiny)
    theta = np.where(positive[:, None] & positive, 1.0, np.abs(up[:, None] - up) / spread)
    inner = quarter * along[:, None] * theta * along
    inner[np.diag_indices_from(inner)] += up + quarter * (theta @ along**2)
    curvature = basis @ inner @ basis.T
    return np.ascontiguousarray((curvature + curvature.T) / 2)


def _search_line(
    proxy: Proxy, members: IntArray, signs: FloatArray, point: ProxyPoint, target: FloatArray
) -> ProxyPoint | None:
    """The first of the steps 1, ½, ¼ ... that raises the value enough; None if rounding hides any rise."""
    direction = target - point.v
    slope = float(point.gradient @ direction)
    size = 1.0
    for _ in range(MAX_HALVINGS):
        tried = _evaluate(proxy, members, signs, target if size == 1 else point.v + size * direction)
        if tried.value >= point.value + ARMIJO * size * slope:
            return tried
        size /= 2
    return None


def _shrunk(proxy: Proxy, program: Program, v: FloatArray) -> FloatArray:
    """The best multiple s ≤ 1 of `v`, if A stays positive: the root of linear − quadratic s − 4 quartic s³."""
    linear, quadratic = float(program.linear @ v), float(v @ program.kernel @ v)
    quartic = float(v @ v) ** 2 / (16 * proxy.kappa)
    if linear <= 0:
        return v
    roots = np.roots([4 * quartic, 0.0, quadratic, -linear]) if quartic > 0 else np.array([1.0])
    real = roots[np.abs(roots.imag) < 1e-9].real
    return v * min(1.0, float(real.max(initial=0.0)))


def _svm_value(program: Program, v: FloatArray) -> float:
    return float(program.linear @ v - v @ program.kernel @ v / 2)


def _spread(v: FloatArray, members: IntArray, n: int) -> FloatArray:
    """`v` over the rows `members` as a vector over all training rows."""
    full = np.zeros(n)
    full[members] = v
    return full
