"""The matrices of pairs that are solved side by side, one lane a pair, and step 1: putting a pair into a lane.

A stage has room for pairs of up to (rows, columns) nodes and uses as much of it as its present pairs need. Smaller
ones are padded with nodes of weight 0: such nodes receive nothing and add only zeros to the end of sums, so a pair has
the same bits whatever the other lanes do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.transport.compiling import compiled
from rwk.transport.costs import fixed_cost, padded
from rwk.transport.vectormath import log_of
from rwk.transport.vectors import REGISTER_BYTES, fma, splat, store


class Stage(NamedTuple):
    """Matrices of vectors; shapes without the last axis, the lane. Blocks of a term that is off have no columns."""

    mu: Any  # (n, 1)
    nu: Any  # (m, 1)
    present: Any  # (n, 1): 1 where the source has a node
    fixed: Any  # the part of the gradient that gamma does not change: M + 2 beta_global c + kl (1 - log prior)
    gamma: Any  # (n, m)
    logs: Any  # log gamma
    image: Any  # Q(gamma)
    structure_mu: Any  # -beta_global C_P (n, n)
    structure_nu: Any  # C_P (m, m)
    factor_mu: Any  # F (n, r)
    factor_nu: Any  # F (m, s)
    factor_nu_t: Any  # F^T (s, m)
    laplacian_mu: Any  # weighted L (n, n)
    laplacian_nu_t: Any  # weighted L^T (m, m)


class Roll(NamedTuple):
    """What each lane knows of itself; all (WIDTH,)."""

    pair: Any  # row of the list of pairs, -1 for none
    target: Any  # graph that the target's matrices are of, -1 for none
    kept: Any  # (WIDTH, 5, m) of the target: C_P w, F F^T w, weighted L w, w and C_P^2 w / 2
    moment: Any  # of the target: <C_P^2 w / 2, w>
    n: Any  # nodes of its source
    m: Any  # of its target
    active: Any  # whether it takes part in the present iteration
    n_iter: Any
    gap: Any
    converged: Any
    hard: Any  # its kernel would underflow: left to another body
    entropy: Any  # <gamma, log gamma>
    constant: Any  # what H adds to <gamma, fixed + Q(gamma)> + kl <gamma, log gamma>
    objective: Any  # H


@compiled
def lane_matrix(rows: int, columns: int, width: int, dtype: Any) -> Any:
    """Room for rows x columns vectors, each inside one line of the cache."""
    count = rows * columns * width
    memory = np.empty(count + REGISTER_BYTES // 4, dtype)
    skip = (-memory.ctypes.data % REGISTER_BYTES) // memory.itemsize
    return memory[skip : skip + count].reshape((rows, columns, width))


@compiled
def empty_stage(n: int, m: int, r: int, s: int, weights: Any, width: int, dtype: Any) -> Stage:
    """A stage for pairs of up to n and m nodes, whose factors have up to r and s columns."""
    r = r if weights.beta_local * weights.laplacian_target != 0.0 else 0
    s = s if weights.beta_local * weights.laplacian_source != 0.0 else 0
    whole_n, whole_m = (n, m) if weights.beta_global != 0.0 else (0, 0)
    return Stage(
        lane_matrix(n, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(n, 1, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(whole_n, whole_n, width, dtype),
        lane_matrix(whole_m, whole_m, width, dtype),
        lane_matrix(n, r, width, dtype),
        lane_matrix(m, s, width, dtype),
        lane_matrix(s, m, width, dtype),
        lane_matrix(n if s else 0, n if s else 0, width, dtype),
        lane_matrix(m if r else 0, m if r else 0, width, dtype),
    )


@compiled
def empty_roll(width: int, m: int) -> Roll:
    """Lanes without pairs, whose targets will have up to m nodes."""
    nobody, zeros, never = np.full(width, -1), np.zeros(width), np.zeros(width, np.bool_)
    count = np.zeros(width, np.int64)
    return Roll(
        nobody, nobody.copy(), np.zeros((width, 5, m)), zeros, count, count.copy(), never, count.copy(), zeros.copy(),
        never.copy(), never.copy(), zeros.copy(), zeros.copy(), zeros.copy(),
    )  # fmt: skip


@compiled
def clear_border(matrix: Any, rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    """Zeros outside of rows x columns and inside of new_rows x new_columns."""
    zero = splat(matrix, 0.0)
    for i in range(min(new_rows, matrix.shape[0])):
        for k in range(columns if i < rows else 0, min(new_columns, matrix.shape[1])):
            store(matrix, (i, k), zero)


@compiled
def enlarge(stage: Stage, extent: Any, n: int, m: int) -> None:
    """Use at least n x m of the stage; what was padding beyond the old extent is made so again."""
    old_n, old_m = extent
    if n <= old_n and m <= old_m:
        return
    n, m = max(n, old_n), max(m, old_m)
    for column, old, new in ((stage.mu, old_n, n), (stage.nu, old_m, m), (stage.present, old_n, n)):
        clear_border(column, old, 1, new, 1)
    for matrix in (stage.fixed, stage.gamma, stage.logs, stage.image):
        clear_border(matrix, old_n, old_m, n, m)
    for matrix in (stage.structure_mu, stage.laplacian_mu):
        clear_border(matrix, old_n, old_n, n, n)
    for matrix in (stage.structure_nu, stage.laplacian_nu_t):
        clear_border(matrix, old_m, old_m, m, m)
    clear_border(stage.factor_mu, old_n, stage.factor_mu.shape[1], n, stage.factor_mu.shape[1])
    clear_border(stage.factor_nu, old_m, stage.factor_nu.shape[1], m, stage.factor_nu.shape[1])
    clear_border(stage.factor_nu_t, stage.factor_nu_t.shape[0], old_m, stage.factor_nu_t.shape[0], m)
    extent[0], extent[1] = n, m


@compiled
def put_lane(matrix: Any, lane: int, values: Any, rows: int, columns: int) -> None:
    """One lane of a matrix: values, and zeros up to rows x columns."""
    n, m = values.shape
    for i in range(n):
        for k in range(m):
            matrix[i, k, lane] = values[i, k]
        for k in range(m, columns):
            matrix[i, k, lane] = 0.0
    for i in range(n, rows):
        for k in range(columns):
            matrix[i, k, lane] = 0.0


@compiled
def enter(graphs: Any, a: int, b: int, weights: Any, stage: Stage, extent: Any, roll: Roll, lane: int) -> None:
    """Steps 1 and 2: put graphs a (source) and b (target) into a lane, with gamma = mu nu^T and Q(gamma)."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    enlarge(stage, extent, n, m)
    for i in range(extent[0]):
        stage.mu[i, 0, lane] = graphs.weights[i0 + i] if i < n else 0.0
        stage.present[i, 0, lane] = 1.0 if i < n else 0.0
    mu, nu = graphs.weights[i0 : i0 + n], graphs.weights[k0 : k0 + m]
    if roll.target[lane] != b:
        _enter_target(graphs, b, weights, stage, extent, roll, lane, nu)
        roll.target[lane] = b
    # Q(mu nu^T) is a sum of matrices of rank one, left right^T
    left, moment = np.zeros((4, n)), np.zeros(n)
    constant = roll.moment[lane]
    if weights.beta_global != 0.0:
        begin, scale = graphs.structure_offsets[a], -weights.beta_global
        constant += _enter_structure(graphs.structure, begin, scale, stage.structure_mu, lane, mu, moment, left[0])
        _pad_square(stage.structure_mu, lane, n, extent[0])
    if weights.beta_local * weights.laplacian_source != 0.0:
        laplacian = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
        weight = weights.beta_local * weights.laplacian_source
        _enter_laplacian(laplacian, i0, weight, stage.laplacian_mu, lane, False, extent[0], mu, left[1])
    if weights.beta_local * weights.laplacian_target != 0.0:
        factors, offsets = graphs.factors, graphs.factor_offsets
        table = factors[offsets[a] : offsets[a + 1]].reshape((n, (offsets[a + 1] - offsets[a]) // n))
        put_lane(stage.factor_mu, lane, table, extent[0], stage.factor_mu.shape[1])
        _multiply_twice(table, mu, left[2])
    for i in range(n):
        left[3, i] = 0.5 * weights.beta_local * weights.ridge * mu[i]
    _enter_image(stage.image, lane, left, roll.kept[lane, :4, :m], extent)
    cost = np.empty((n, padded(m)))
    fixed_cost(graphs, a, b, weights, moment, roll.kept[lane, 4, :m], cost)
    put_lane(stage.fixed, lane, cost[:, :m], extent[0], extent[1])
    roll.entropy[lane] = _enter_coupling(stage.gamma, stage.logs, lane, mu, nu, extent)
    roll.n[lane], roll.m[lane] = n, m
    roll.constant[lane] = -weights.beta_global * constant - weights.beta_global * weights.degree_weight
    roll.n_iter[lane], roll.gap[lane] = 0, np.inf
    roll.converged[lane], roll.hard[lane] = False, False


@compiled
def _enter_target(graphs: Any, b: int, weights: Any, stage: Stage, extent: Any, roll: Roll, lane: int, nu: Any) -> None:
    """What a lane needs to know of its target alone; a next pair with the same target finds it there."""
    m, k0 = len(nu), graphs.offsets[b]
    kept = roll.kept[lane]
    roll.moment[lane] = 0.0
    kept[:, :m] = 0.0
    for k in range(extent[1]):
        stage.nu[k, 0, lane] = nu[k] if k < m else 0.0
    if weights.beta_global != 0.0:
        begin = graphs.structure_offsets[b]
        roll.moment[lane] = _enter_structure(
            graphs.structure, begin, 1.0, stage.structure_nu, lane, nu, kept[4, :m], kept[0, :m]
        )
        _pad_square(stage.structure_nu, lane, m, extent[1])
    if weights.beta_local * weights.laplacian_source != 0.0:
        factors, offsets = graphs.factors, graphs.factor_offsets
        table = factors[offsets[b] : offsets[b + 1]].reshape((m, (offsets[b + 1] - offsets[b]) // m))
        put_lane(stage.factor_nu, lane, table, extent[1], stage.factor_nu.shape[1])
        _multiply_twice(table, nu, kept[1])
        for c in range(len(stage.factor_nu_t)):
            for k in range(extent[1]):
                stage.factor_nu_t[c, k, lane] = stage.factor_nu[k, c, lane]
    if weights.beta_local * weights.laplacian_target != 0.0:
        laplacian = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
        weight = weights.beta_local * weights.laplacian_target
        _enter_laplacian(laplacian, k0, weight, stage.laplacian_nu_t, lane, True, extent[1], nu, kept[2])
    for k in range(m):
        kept[3, k] = nu[k]


@compiled
def _pad_square(matrix: Any, lane: int, n: int, extent: int) -> None:
    for i in range(extent):
        for j in range(n if i < n else 0, extent):
            matrix[i, j, lane] = 0.0


@compiled
def _enter_structure(
    structure: Any, begin: int, scale: float, out: Any, lane: int, weights: Any, moment: Any, product: Any
) -> float:
    """out = scale C_P, moment = C_P^2 w / 2 and product = scale C_P w; returns <moment, w>."""
    n = len(moment)
    total = 0.0
    for i in range(n):
        half, mean = 0.0, 0.0
        for j in range(n):
            entry = np.float64(structure[begin + i * n + j])
            out[i, j, lane] = scale * entry
            carried = entry * weights[j]
            half = fma(carried, entry, half)
            mean += carried
        moment[i], product[i] = 0.5 * half, scale * mean
        total = fma(moment[i], weights[i], total)
    return total


@compiled
def _multiply_twice(table: Any, weights: Any, product: Any) -> None:
    """product = F F^T w."""
    narrow = np.zeros(table.shape[1])
    for i in range(table.shape[0]):
        for c in range(table.shape[1]):
            narrow[c] = fma(weights[i], np.float64(table[i, c]), narrow[c])
    for i in range(table.shape[0]):
        total = 0.0
        for c in range(table.shape[1]):
            total = fma(np.float64(table[i, c]), narrow[c], total)
        product[i] = total


@compiled
def _enter_laplacian(
    laplacian: Any,
    first: int,
    weight: float,
    out: Any,
    lane: int,
    transposed: bool,
    extent: int,
    weights: Any,
    product: Any,
) -> None:
    """out = weight L, or its transpose; product = weight L w."""
    offsets, columns, values = laplacian
    for i in range(extent):
        for j in range(extent):
            out[i, j, lane] = 0.0
    for i in range(len(weights)):
        total = 0.0
        for p in range(offsets[first + i], offsets[first + i + 1]):
            j, value = columns[p], weight * np.float64(values[p])
            if transposed:
                out[j, i, lane] += value
            else:
                out[i, j, lane] += value
            total = fma(value, weights[j], total)
        product[i] = total


@compiled
def _enter_image(image: Any, lane: int, left: Any, right: Any, extent: Any) -> None:
    n, m = left.shape[1], right.shape[1]
    for i in range(extent[0]):
        for k in range(extent[1]):
            entry = 0.0
            if i < n and k < m:
                entry = left[0, i] * right[0, k]
                entry = fma(left[1, i], right[1, k], entry)
                entry = fma(left[2, i], right[2, k], entry)
                entry = fma(left[3, i], right[3, k], entry)
            image[i, k, lane] = entry


@compiled
def _logarithms(weights: Any, out: Any) -> float:
    """out = log w; returns <w, log w>. Weights of nodes are mostly equal, so one logarithm serves many."""
    total = 0.0
    for i in range(len(weights)):
        out[i] = out[i - 1] if i > 0 and weights[i] == weights[i - 1] else log_of(weights[i])
        total = fma(weights[i], out[i], total)
    return total


@compiled
def _enter_coupling(gamma: Any, logs: Any, lane: int, mu: Any, nu: Any, extent: Any) -> float:
    """gamma = mu nu^T and its logarithms; returns <gamma, log gamma>."""
    n, m = len(mu), len(nu)
    log_mu, log_nu = np.empty(n), np.empty(m)
    entropy = _logarithms(mu, log_mu) + _logarithms(nu, log_nu)
    for i in range(extent[0]):
        for k in range(extent[1]):
            present = i < n and k < m
            gamma[i, k, lane] = mu[i] * nu[k] if present else 0.0
            logs[i, k, lane] = log_mu[i] + log_nu[k] if present else 0.0
    return entropy
