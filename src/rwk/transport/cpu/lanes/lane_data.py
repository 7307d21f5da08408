"""The matrices of pairs that are solved side by side, one lane a pair, and room to work on them.

A stage has room for pairs of up to (rows, columns) nodes and uses as much of it as its present pairs need. Smaller
ones are padded with nodes of weight 0: such nodes receive nothing and add only zeros to the end of sums, so a pair has
the same bits whatever the other lanes do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing, compiled_inside
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, splat, store


class Stage(NamedTuple):
    """Matrices of vectors; shapes without the last axis, the lane. Blocks of a term that is off have no columns."""

    mu: Any  # (n, 1)
    nu: Any  # (m, 1)
    left: Any  # (n, 5) of the source: the weighted vectors whose outer products with `right` make Q(mu nu^T); log mu
    right: Any  # (m, 5) of the target: C_P nu, F F^T nu, L nu, nu; log nu
    fresh: Any  # (1, 1): 1 where a pair has entered, and gamma, logs and image are still those of the last
    fixed: Any  # the part of the gradient that gamma does not change: M + 2 beta_global c + kl (1 - log prior)
    image: Any  # Q(gamma), (n, m)
    structure_mu: Any  # -beta_global C_P (n, n)
    structure_nu: Any  # C_P (m, m)
    factor_mu: Any  # F (n, r)
    factor_mu_t: Any  # F^T (r, n)
    factor_nu: Any  # F (m, s)
    factor_nu_t: Any  # F^T (s, m)
    laplacian_mu: Any  # weighted L (n, n)
    laplacian_nu_t: Any  # weighted L^T (m, m)


class Point(NamedTuple):
    """The couplings of all lanes. There are two: where they are, and where they try to go; a step trades them."""

    gamma: Any  # (n, m)
    logs: Any  # log gamma


class Roll(NamedTuple):
    """What each lane knows of itself; all (WIDTH,)."""

    pair: Any  # row of the list of pairs, -1 for none
    source: Any  # graph that the source's matrices are of, -1 for none
    target: Any  # likewise; it stays when the next pair has the same one
    n: Any  # nodes of its source
    m: Any  # of its target
    active: Any  # whether it takes part in the present iteration
    n_iter: Any
    gap: Any
    converged: Any
    hard: Any  # left to more precision or to another body
    entropy: Any  # <gamma, log gamma>
    constant: Any  # what H adds to <gamma, fixed + Q(gamma)> + kl <gamma, log gamma>
    objective: Any  # H


class Rooms(NamedTuple):
    """Work arrays."""

    g: Any  # gradient (n, m)
    delta: Any  # direction, Delta
    delta_image: Any  # Q(Delta)
    carried: Any  # X C_nu (n, m)
    narrow_source: Any  # X F_nu (n, s)
    smooth_source: Any  # L_mu X F_nu (n, s)
    narrow_target: Any  # F_mu^T X (r, m)
    smooth_target: Any  # F_mu^T X L_nu^T (r, m)
    u: Any  # (n,) Sinkhorn's scalings
    v: Any  # (m,)
    sums: Any  # (m,) K^T u
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
    value: Any  # <gamma, fixed + Q(gamma)>


@compiled_inside
def lane_matrix(rows: int, columns: int, width: int, dtype: Any) -> Any:
    """Room for rows x columns vectors, each inside one line of the cache."""
    count = rows * columns * width
    memory = np.empty(count + REGISTER_BYTES // 4, dtype)
    skip = (-memory.ctypes.data % REGISTER_BYTES) // memory.itemsize
    return memory[skip : skip + count].reshape((rows, columns, width))


@compiled_inside
def empty_stage(n: int, m: int, r: int, s: int, weights: Any, width: int, dtype: Any) -> Stage:
    """A stage for pairs of up to n and m nodes, whose factors have up to r and s columns."""
    r = r if weights.beta_local * weights.laplacian_target != 0.0 else 0
    s = s if weights.beta_local * weights.laplacian_source != 0.0 else 0
    whole_n, whole_m = (n, m) if weights.beta_global != 0.0 else (0, 0)
    return Stage(
        lane_matrix(n, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(n, 5, width, dtype),
        lane_matrix(m, 5, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(whole_n, whole_n, width, dtype),
        lane_matrix(whole_m, whole_m, width, dtype),
        lane_matrix(n, r, width, dtype),
        lane_matrix(r, n, width, dtype),
        lane_matrix(m, s, width, dtype),
        lane_matrix(s, m, width, dtype),
        lane_matrix(n if s else 0, n if s else 0, width, dtype),
        lane_matrix(m if r else 0, m if r else 0, width, dtype),
    )


@compiled_inside
def empty_point(stage: Stage) -> Point:
    """A point as large as the stage."""
    n, m, width = stage.fixed.shape
    dtype = stage.fixed.dtype
    point = Point(lane_matrix(n, m, width, dtype), lane_matrix(n, m, width, dtype))
    clear_border(point.logs, 0, 0, n, m)  # without a degree prior nobody writes them
    return point


@compiled_inside
def empty_roll(width: int) -> Roll:
    """Lanes without pairs."""
    nobody, zeros, never = np.full(width, -1), np.zeros(width), np.zeros(width, np.bool_)
    count = np.zeros(width, np.int64)
    return Roll(
        nobody, nobody.copy(), nobody.copy(), count, count.copy(), never, count.copy(), zeros, never.copy(),
        never.copy(), zeros.copy(), zeros.copy(), zeros.copy(),
    )  # fmt: skip


@compiled_borrowing
def clear_border(matrix: Any, rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    """Zeros outside of rows x columns and inside of new_rows x new_columns."""
    zero = splat(matrix, 0.0)
    for i in range(min(new_rows, matrix.shape[0])):
        for k in range(columns if i < rows else 0, min(new_columns, matrix.shape[1])):
            store(matrix, (i, k), zero)


@compiled_borrowing
def enlarge(stage: Stage, here: Point, extent: Any, n: int, m: int) -> None:
    """Use at least n x m of the stage; what was padding beyond the old extent is made so again."""
    old_n, old_m = extent
    if n <= old_n and m <= old_m:
        return
    n, m = max(n, old_n), max(m, old_m)
    for columns, old, new in (
        (stage.mu, old_n, n),
        (stage.nu, old_m, m),
        (stage.left, old_n, n),
        (stage.right, old_m, m),
    ):
        clear_border(columns, old, columns.shape[1], new, columns.shape[1])
    for matrix in (stage.fixed, here.gamma, here.logs, stage.image):
        clear_border(matrix, old_n, old_m, n, m)
    for matrix in (stage.structure_mu, stage.laplacian_mu):
        clear_border(matrix, old_n, old_n, n, n)
    for matrix in (stage.structure_nu, stage.laplacian_nu_t):
        clear_border(matrix, old_m, old_m, m, m)
    r, s = stage.factor_mu.shape[1], stage.factor_nu.shape[1]
    clear_border(stage.factor_mu, old_n, r, n, r)
    clear_border(stage.factor_mu_t, r, old_n, r, n)
    clear_border(stage.factor_nu, old_m, s, m, s)
    clear_border(stage.factor_nu_t, s, old_m, s, m)
    extent[0], extent[1] = n, m


@compiled_inside
def make_rooms(stage: Stage) -> Rooms:
    """Work arrays as large as the stage."""
    n, m, width = stage.fixed.shape
    dtype = stage.fixed.dtype
    r, s = stage.factor_mu.shape[1], stage.factor_nu.shape[1]
    return Rooms(
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, s, width, dtype),
        lane_matrix(n, s, width, dtype),
        lane_matrix(r, m, width, dtype),
        lane_matrix(r, m, width, dtype),
        lane_matrix(n, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
    )


@compiled_inside
def make_slopes(width: int) -> Slopes:
    """Room for the sums."""
    zeros = np.zeros(width)
    return Slopes(zeros, zeros.copy(), zeros.copy(), zeros.copy(), zeros.copy(), zeros.copy())
