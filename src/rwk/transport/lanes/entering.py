"""Steps 1 and 2 side by side: putting a pair into a lane of a stage."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.transport.compiling import compiled_inside
from rwk.transport.costs import fixed_cost, padded
from rwk.transport.lanes.stage import Roll, Stage, enlarge
from rwk.transport.vectormath import log_of
from rwk.transport.vectors import fma


@compiled_inside
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


@compiled_inside
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
        _enter_factor(stage.factor_mu, stage.factor_mu_t, lane, table, extent[0])
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


@compiled_inside
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
        _enter_factor(stage.factor_nu, stage.factor_nu_t, lane, table, extent[1])
        _multiply_twice(table, nu, kept[1])
    if weights.beta_local * weights.laplacian_target != 0.0:
        laplacian = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
        weight = weights.beta_local * weights.laplacian_target
        _enter_laplacian(laplacian, k0, weight, stage.laplacian_nu_t, lane, True, extent[1], nu, kept[2])
    for k in range(m):
        kept[3, k] = nu[k]


@compiled_inside
def _pad_square(matrix: Any, lane: int, n: int, extent: int) -> None:
    for i in range(extent):
        for j in range(n if i < n else 0, extent):
            matrix[i, j, lane] = 0.0


@compiled_inside
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


@compiled_inside
def _enter_factor(out: Any, transposed: Any, lane: int, table: Any, extent: int) -> None:
    """F and F^T of one lane, and zeros around them."""
    n, r = table.shape
    for i in range(extent):
        for c in range(out.shape[1]):
            entry = table[i, c] if i < n and c < r else 0.0
            out[i, c, lane] = entry
            transposed[c, i, lane] = entry


@compiled_inside
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


@compiled_inside
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


@compiled_inside
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


@compiled_inside
def _logarithms(weights: Any, out: Any) -> float:
    """out = log w; returns <w, log w>. Weights of nodes are mostly equal, so one logarithm serves many."""
    total = 0.0
    for i in range(len(weights)):
        out[i] = out[i - 1] if i > 0 and weights[i] == weights[i - 1] else log_of(weights[i])
        total = fma(weights[i], out[i], total)
    return total


@compiled_inside
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
