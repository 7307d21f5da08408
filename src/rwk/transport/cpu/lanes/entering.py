"""Steps 1 and 2 side by side: putting a pair into a lane of a stage.

A number that goes into a lane touches a whole line of the cache, so as few as possible do: matrices of the source and
the costs. The target stays in its lane from pair to pair, and the first gamma, its logarithms and Q(gamma), which are
sums of few matrices of rank one, are left to the first pass over the lanes (`gradient_lanes`, `direction_lanes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.costs import Scratch, fixed_cost, padded
from rwk.transport.cpu.lanes.lane_data import Point, Roll, Stage, enlarge
from rwk.transport.cpu.lanes.summaries import Summaries, summarise


@compiled_borrowing
def enter(
    graphs: Any,
    a: int,
    b: int,
    weights: Any,
    known: Summaries,
    scratch: Scratch,
    stage: Stage,
    here: Point,
    extent: Any,
    roll: Roll,
    lane: int,
) -> None:
    """Put graphs a (source) and b (target) into a lane."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    enlarge(stage, here, extent, n, m)
    for g in (a, b):
        if not known.done[g]:
            summarise(graphs, g, weights, known)
    if roll.target[lane] != b:
        _enter_target(graphs, b, weights, known, stage, extent, roll, lane)
    _enter_source(graphs, a, weights, known, stage, extent, roll, lane)
    cost = scratch.cost[: n * padded(m)].reshape((n, padded(m)))
    fixed_cost(graphs, a, b, weights, known.vectors[5], scratch, cost)
    for i in range(n):
        for k in range(m):
            stage.fixed[i, k, lane] = cost[i, k]
    _pad(stage.fixed, lane, n, m, extent[0], extent[1])
    stage.fresh[0, 0, lane] = 1.0
    roll.n[lane], roll.m[lane] = n, m
    constant = known.totals[a, 0] + known.totals[b, 0] + weights.degree_weight
    roll.constant[lane] = -weights.beta_global * constant
    roll.entropy[lane] = known.totals[a, 1] + known.totals[b, 1]
    roll.n_iter[lane], roll.gap[lane] = 0, np.inf
    roll.converged[lane], roll.hard[lane] = False, False


@compiled_borrowing
def _enter_source(
    graphs: Any, a: int, weights: Any, known: Summaries, stage: Stage, extent: Any, roll: Roll, lane: int
) -> None:
    """What a lane needs to know of its source alone."""
    i0 = graphs.offsets[a]
    n = graphs.offsets[a + 1] - i0
    on_source = weights.beta_local * weights.laplacian_source
    on_target = weights.beta_local * weights.laplacian_target
    ridge = 0.5 * weights.beta_local * weights.ridge
    vectors = known.vectors
    for i in range(n):
        stage.mu[i, 0, lane] = vectors[3, i0 + i]
        stage.left[i, 0, lane] = -weights.beta_global * vectors[0, i0 + i]
        stage.left[i, 1, lane] = on_source * vectors[2, i0 + i]
        stage.left[i, 2, lane] = on_target * vectors[1, i0 + i]
        stage.left[i, 3, lane] = ridge * vectors[3, i0 + i]
        stage.left[i, 4, lane] = vectors[4, i0 + i]
    _pad(stage.mu, lane, n, 1, extent[0], 1)
    _pad(stage.left, lane, n, 5, extent[0], 5)
    if weights.beta_global != 0.0:
        _enter_structure(
            graphs.structure, graphs.structure_offsets[a], n, -weights.beta_global, stage.structure_mu, lane
        )
        _pad(stage.structure_mu, lane, n, n, extent[0], extent[0])
    if on_source != 0.0:
        entries = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
        if roll.source[lane] >= 0:
            _change_laplacian(entries, graphs.offsets, roll.source[lane], 0.0, stage.laplacian_mu, lane, False)
        _change_laplacian(entries, graphs.offsets, a, on_source, stage.laplacian_mu, lane, False)
    if on_target != 0.0:
        own = graphs.factors[graphs.factor_offsets[a] : graphs.factor_offsets[a + 1]]
        _enter_factor(own, n, stage.factor_mu, stage.factor_mu_t, lane, extent[0])
    roll.source[lane] = a


@compiled_borrowing
def _enter_target(
    graphs: Any, b: int, weights: Any, known: Summaries, stage: Stage, extent: Any, roll: Roll, lane: int
) -> None:
    """What a lane needs to know of its target alone; a next pair with the same target finds it there."""
    k0 = graphs.offsets[b]
    m = graphs.offsets[b + 1] - k0
    on_target = weights.beta_local * weights.laplacian_target
    vectors = known.vectors
    for k in range(m):
        stage.nu[k, 0, lane] = vectors[3, k0 + k]
        for c in range(5):
            stage.right[k, c, lane] = vectors[c, k0 + k]
    _pad(stage.nu, lane, m, 1, extent[1], 1)
    _pad(stage.right, lane, m, 5, extent[1], 5)
    if weights.beta_global != 0.0:
        _enter_structure(graphs.structure, graphs.structure_offsets[b], m, 1.0, stage.structure_nu, lane)
        _pad(stage.structure_nu, lane, m, m, extent[1], extent[1])
    if weights.beta_local * weights.laplacian_source != 0.0:
        own = graphs.factors[graphs.factor_offsets[b] : graphs.factor_offsets[b + 1]]
        _enter_factor(own, m, stage.factor_nu, stage.factor_nu_t, lane, extent[1])
    if on_target != 0.0:
        entries = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
        if roll.target[lane] >= 0:
            _change_laplacian(entries, graphs.offsets, roll.target[lane], 0.0, stage.laplacian_nu_t, lane, True)
        _change_laplacian(entries, graphs.offsets, b, on_target, stage.laplacian_nu_t, lane, True)
    roll.target[lane] = b


@compiled_borrowing
def _pad(matrix: Any, lane: int, rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    """Zeros of one lane outside of rows x columns and inside of new_rows x new_columns."""
    for i in range(new_rows):
        for k in range(columns if i < rows else 0, new_columns):
            matrix[i, k, lane] = 0.0


@compiled_borrowing
def _enter_structure(structure: Any, begin: int, n: int, scale: float, out: Any, lane: int) -> None:
    for i in range(n):
        for j in range(n):
            out[i, j, lane] = scale * np.float64(structure[begin + i * n + j])


@compiled_borrowing
def _enter_factor(factor: Any, n: int, out: Any, transposed: Any, lane: int, extent: int) -> None:
    """F and F^T of one lane, and zeros around them."""
    r = len(factor) // n
    for i in range(extent):
        for c in range(out.shape[1]):
            entry = factor[i * r + c] if i < n and c < r else 0.0
            out[i, c, lane] = entry
            transposed[c, i, lane] = entry


@compiled_borrowing
def _change_laplacian(entries: Any, offsets: Any, g: int, weight: float, out: Any, lane: int, transposed: bool) -> None:
    """Entries of one lane where a graph's L has some: weight L, or its transpose."""
    rows, columns, values = entries
    first, last = offsets[g], offsets[g + 1]
    for i in range(last - first):
        for p in range(rows[first + i], rows[first + i + 1]):
            j, value = columns[p], weight * np.float64(values[p])
            if transposed:
                out[j, i, lane] = value
            else:
                out[i, j, lane] = value
