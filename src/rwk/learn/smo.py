"""Sequential minimal optimisation: the quadratic program behind every SVM here.

    min ½ vᵀKv − qᵀv   with   Σ v = 0,  lower ≤ v ≤ upper

v = y∘α carries the sign of its class, so the equality constraint of the dual is a plain sum; q = y gives the usual
SVM, and other q and K give the Newton steps of `proxy`. Working pairs are chosen by second-order information (Fan,
Chen and Lin 2005). Warm starts are exact: a solution with no variable at its bound solves every larger C as well.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning
from scipy.linalg import solve as solve_linear

from rwk.runtime.arrays import FloatArray
from rwk.runtime.compiling import compiled

# replaces a zero or negative curvature, which untreated indefinite kernels have; LIBSVM uses the same value
MIN_CURVATURE = 1e-12
MAX_UPDATES = 10_000_000
FIRST_VIOLATION, LAST_VIOLATION = 1e-3, 1e-11


class Program(NamedTuple):
    """The data of one quadratic program; `kernel` must be symmetric."""

    kernel: FloatArray  # (n, n)
    linear: FloatArray  # (n,)
    lower: FloatArray  # (n,)
    upper: FloatArray  # (n,)

    @classmethod
    def svm(cls, kernel: FloatArray, signs: FloatArray, bounds: FloatArray) -> Program:
        """The program of an SVM, from the sign (±1) and the bound C of each row."""
        return cls(kernel, signs, np.where(signs > 0, 0.0, -bounds), np.where(signs > 0, bounds, 0.0))


@compiled
def find_max(values: FloatArray) -> float:
    """The maximum, as that of eight independent running maxima, which the processor computes at the same time."""
    n = len(values)
    whole = n - n % 8
    a = b = c = d = e = f = g = h = -np.inf
    for t in range(0, whole, 8):
        a = values[t] if values[t] > a else a
        b = values[t + 1] if values[t + 1] > b else b
        c = values[t + 2] if values[t + 2] > c else c
        d = values[t + 3] if values[t + 3] > d else d
        e = values[t + 4] if values[t + 4] > e else e
        f = values[t + 5] if values[t + 5] > f else f
        g = values[t + 6] if values[t + 6] > g else g
        h = values[t + 7] if values[t + 7] > h else h
    for t in range(whole, n):
        a = values[t] if values[t] > a else a
    return max(a, b, c, d, e, f, g, h)


@compiled
def first_index(values: FloatArray, value: float) -> int:
    """Index of the first entry equal to `value`, which must occur."""
    t = 0
    while values[t] != value:
        t += 1
    return t


@compiled
def descend(
    kernel: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    v: FloatArray,
    residual: FloatArray,
    violation: float,
    max_updates: int,
) -> int:
    """Move `v` and `residual` = q − Kv in place until no pair violates optimality by more than `violation`."""
    n = len(v)
    diagonal, gain = np.empty(n), np.empty(n)
    # how much each row wants to grow and to fall; −inf if its bound forbids it
    growth, fall = np.empty(n), np.empty(n)
    no_growth, no_fall = np.empty(n), np.empty(n)
    for t in range(n):
        diagonal[t] = kernel[t, t]
        no_growth[t] = 0.0 if v[t] < upper[t] else np.inf
        no_fall[t] = 0.0 if v[t] > lower[t] else np.inf
    for update in range(max_updates):
        for t in range(n):
            growth[t] = residual[t] - no_growth[t]
            fall[t] = -residual[t] - no_fall[t]
        # 1. the row that wants to grow most
        top = find_max(growth)
        if top == -np.inf or top + find_max(fall) <= violation:
            return update
        i = first_index(growth, top)
        # 2. its partner: the largest decrease of the objective
        row_i, at_i = kernel[i], diagonal[i]
        for t in range(n):
            slope = max(top + fall[t], 0.0)
            gain[t] = slope * slope / max(at_i + diagonal[t] - 2 * row_i[t], MIN_CURVATURE)
        best = find_max(gain)
        if not best > 0.0:
            return update
        j = first_index(gain, best)
        # 3. the step along (+1, −1), cut at the bounds; a bound is reached exactly
        curvature = max(at_i + diagonal[j] - 2 * row_i[j], MIN_CURVATURE)
        room_i, room_j = upper[i] - v[i], v[j] - lower[j]
        step = min((top - residual[j]) / curvature, room_i, room_j)
        v[i] = upper[i] if step == room_i else v[i] + step
        v[j] = lower[j] if step == room_j else v[j] - step
        for t in (i, j):
            no_growth[t] = 0.0 if v[t] < upper[t] else np.inf
            no_fall[t] = 0.0 if v[t] > lower[t] else np.inf
        row_j = kernel[j]
        for t in range(n):
            residual[t] -= step * (row_i[t] - row_j[t])
    return max_updates


@compiled
def intercept(lower: FloatArray, upper: FloatArray, v: FloatArray, residual: FloatArray) -> float:
    """The intercept b of f = Kv + b: the mean residual of the unbounded rows, or the middle of the allowed interval."""
    total, count, top, bottom = 0.0, 0, -np.inf, np.inf
    for t in range(len(v)):
        can_grow, can_fall = v[t] < upper[t], v[t] > lower[t]
        if can_grow and can_fall:
            total += residual[t]
            count += 1
        if can_grow:
            top = max(top, residual[t])
        if can_fall:
            bottom = min(bottom, residual[t])
    if count:
        return total / count
    if np.isinf(top) or np.isinf(bottom):
        return bottom if np.isinf(top) else top
    return (top + bottom) / 2


@compiled
def svm_path(
    kernel: FloatArray, signs: FloatArray, bounds: FloatArray, Cs: FloatArray, violation: float, max_updates: int
) -> tuple[FloatArray, FloatArray]:
    """Train an SVM for each C of an increasing sequence on one kernel, each started from the previous one.

    `bounds` multiply C row by row (class weights). Returns v, one row per C, and the intercepts.
    """
    n, n_C = len(signs), len(Cs)
    solutions, intercepts = np.zeros((n_C, n)), np.zeros(n_C)
    v, residual = np.zeros(n), signs.copy()
    for c in range(n_C):
        lower, upper = np.zeros(n), np.zeros(n)
        bounded = c == 0
        for t in range(n):
            if signs[t] > 0:
                upper[t] = Cs[c] * bounds[t]
            else:
                lower[t] = -Cs[c] * bounds[t]
            bounded = bounded or abs(v[t]) >= Cs[c - 1] * bounds[t]
        if bounded:
            if c > 0:
                # the best multiple, from 1 to new C / old C, of the last solution
                linear, quadratic = 0.0, 0.0
                for t in range(n):
                    linear += signs[t] * v[t]
                    quadratic += (signs[t] - residual[t]) * v[t]
                growth = Cs[c] / Cs[c - 1]
                if quadratic > 0:
                    growth = min(growth, max(1.0, linear / quadratic))
                for t in range(n):
                    residual[t] = signs[t] - growth * (signs[t] - residual[t])
                    v[t] = min(max(growth * v[t], lower[t]), upper[t])
            descend(kernel, lower, upper, v, residual, violation, max_updates)
        solutions[c] = v
        intercepts[c] = intercept(lower, upper, v, residual)
    return solutions, intercepts


def duality_gap(program: Program, v: FloatArray, residual: FloatArray) -> float:
    """An upper bound of how far the value at `v` is from the best: primal minus dual value of the SVM.

    It is the maximum of residualᵀ(s − v) over feasible s, which by duality takes one sorted pass over intercepts.
    """
    order = np.argsort(residual)
    at = residual[order]
    falls = np.cumsum((v - program.lower)[order])
    grows = np.cumsum((program.upper - v)[order][::-1])[::-1]
    b = at[min(int(np.searchsorted(falls - grows, 0.0)), len(at) - 1)]
    up, down = np.maximum(residual - b, 0), np.maximum(b - residual, 0)
    return float(up @ (program.upper - v) + down @ (v - program.lower))


def solve(program: Program, v: FloatArray, *, gap: float) -> tuple[FloatArray, FloatArray, float]:
    """Solve from the feasible start `v` until the duality gap is at most `gap`; return v, q − Kv and the gap.

    >>> program = Program.svm(np.eye(2), np.array([1.0, -1.0]), np.array([9.0, 9.0]))
    >>> solve(program, np.zeros(2), gap=1e-6)[0].tolist()
    [1.0, -1.0]
    """
    v = v.copy()
    violation, left = FIRST_VIOLATION, MAX_UPDATES
    while True:
        # computed anew, because rounding adds up over many updates
        residual = program.linear - program.kernel @ v
        left -= descend(program.kernel, program.lower, program.upper, v, residual, violation, left)
        reached = duality_gap(program, v, residual)
        if reached > gap:
            v, residual, reached = _polished(program, v, residual, reached)
        if reached <= gap or violation <= LAST_VIOLATION or left <= 0:
            return v, residual, reached
        violation /= 10


def _polished(
    program: Program, v: FloatArray, residual: FloatArray, reached: float
) -> tuple[FloatArray, FloatArray, float]:
    """Solve for all unbounded variables together, by one linear system; kept only if the gap gets smaller."""
    free = np.flatnonzero((v > program.lower) & (v < program.upper))
    if len(free) < 2:
        return v, residual, reached
    system = np.ones((len(free) + 1, len(free) + 1))
    system[:-1, :-1] = program.kernel[np.ix_(free, free)]
    system[-1, -1] = 0.0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LinAlgWarning)
            move = solve_linear(system, np.append(residual[free], 0.0), assume_a="sym")[:-1]
    except (LinAlgError, LinAlgWarning):
        return v, residual, reached
    room = np.where(move > 0, program.upper[free] - v[free], v[free] - program.lower[free])
    size = min(1.0, float(np.min(room / np.maximum(np.abs(move), np.finfo(np.float64).tiny))))
    moved = v.copy()
    moved[free] = np.clip(v[free] + size * move, program.lower[free], program.upper[free])
    after = program.linear - program.kernel @ moved
    gap = duality_gap(program, moved, after)
    return (moved, after, gap) if gap < reached else (v, residual, reached)
