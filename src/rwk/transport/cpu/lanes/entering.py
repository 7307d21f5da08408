"""Steps 1 and 2 side by side: putting a pair into a lane.

A number that goes into a lane touches a whole line of the cache, so as few numbers as possible are moved: the matrices
of the source and the costs. The target stays in its lane from pair to pair, and the first gamma, its logarithms and
Q(gamma), all made of a few outer products, are left to the first pass over the lanes (`gradient_lanes` and
`direction_lanes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled_apart, compiled_borrowing
from rwk.runtime.packed import unpacked
from rwk.transport.cpu.costs import fixed_cost, padded
from rwk.transport.cpu.lanes.lane_data import (
    LOGARITHM,
    N_START,
    NOBODY,
    RIDGE,
    SOURCE,
    STRUCTURE,
    TARGET,
    LaneContents,
    LaneCouplings,
    LaneData,
    LaneState,
    enlarge_extent,
)
from rwk.transport.cpu.lanes.sparse_lanes import SparseLanes, enter_sparse
from rwk.transport.cpu.lanes.summaries import (
    EMBEDDING_IMAGE,
    HALF_MOMENT,
    LAPLACIAN_IMAGE,
    LOG_WEIGHT,
    STRUCTURE_IMAGE,
    TOTAL_ENTROPY,
    TOTAL_MOMENT,
    WEIGHT,
    summarise,
)
from rwk.transport.problem import LEAST_MASS_32, LEAST_MASS_64


@compiled_apart
def enter(records: Any, a: int, b: int, lane: int) -> None:
    """Put graphs a (source) and b (target) into a lane; body.py calls it by its address (entrance.py).

    `records` are the packed (graphs, weights, contents, here, scratch).
    """
    graphs, weights, contents, here, scratch = unpacked(records)
    data, state, known, extent, _ = contents
    n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
    enlarge_extent(data, here, extent, n, m)
    for g in (a, b):
        if not known.done[g]:
            summarise(graphs, g, weights, known)
    if state.target[lane] != b:
        _enter_target(graphs, b, weights, contents, lane)
    _enter_source(graphs, a, weights, contents, lane)
    cost = scratch.cost[: n * padded(m)].reshape((n, padded(m)))
    fixed_cost(graphs, a, b, weights, known.vectors[HALF_MOMENT], scratch, cost)
    for i in range(n):
        for k in range(m):
            data.fixed[i, k, lane] = cost[i, k]
    _pad(data.fixed, lane, n, m, extent[0], extent[1])
    data.fresh[0, 0, lane] = 1.0
    state.n[lane], state.m[lane] = n, m
    constant = known.totals[a, TOTAL_MOMENT] + known.totals[b, TOTAL_MOMENT] + weights.degree_weight
    state.constant[lane] = -weights.beta_global * constant
    state.entropy[lane] = known.totals[a, TOTAL_ENTROPY] + known.totals[b, TOTAL_ENTROPY]
    state.n_iter[lane], state.gap[lane] = 0, np.inf
    state.converged[lane], state.unsolved[lane] = False, False


@compiled_borrowing
def place_start(
    start: Any, data: LaneData, state: LaneState, here: LaneCouplings, extent: Any, kl: float, lane: int
) -> None:
    """Let the pair that has just entered a lane start from a coupling; `take_image` brings its Q(gamma)."""
    n, m = start.shape
    least = LEAST_MASS_32 if here.gamma.itemsize == 4 else LEAST_MASS_64
    entropy = 0.0
    for i in range(n):
        for k in range(m):
            here.gamma[i, k, lane] = start[i, k]
            if kl != 0.0:
                logarithm = np.log(max(start[i, k], least))
                here.logs[i, k, lane] = logarithm
                entropy += start[i, k] * logarithm
    _pad(here.gamma, lane, n, m, extent[0], extent[1])
    _pad(here.logs, lane, n, m, extent[0], extent[1])
    state.entropy[lane] = entropy
    data.fresh[0, 0, lane] = 0.0


@compiled_borrowing
def take_image(state: LaneState, n: int, m: int, images: Any, out: Any) -> None:
    """Copy Q(gamma) of the lanes whose pair has not made a step yet."""
    for lane in range(len(state.pair)):
        if state.pair[lane] != NOBODY and state.n_iter[lane] == 0:
            for i in range(n):
                for k in range(m):
                    out[i, k, lane] = images[i, k, lane]


@compiled_borrowing
def _enter_source(graphs: Any, a: int, weights: Any, contents: LaneContents, lane: int) -> None:
    """What a lane holds of its source alone, with the weights of the terms folded in."""
    data, state, vectors, rows = contents.data, contents.state, contents.summaries.vectors, contents.extent[0]
    widths = contents.widths
    i0 = graphs.offsets[a]
    n = graphs.offsets[a + 1] - i0
    on_source = weights.beta_local * weights.laplacian_source
    on_target = weights.beta_local * weights.laplacian_target
    ridge = 0.5 * weights.beta_local * weights.ridge
    for i in range(n):
        data.mu[i, 0, lane] = vectors[WEIGHT, i0 + i]
        data.start_mu[i, STRUCTURE, lane] = -weights.beta_global * vectors[STRUCTURE_IMAGE, i0 + i]
        data.start_mu[i, SOURCE, lane] = on_source * vectors[LAPLACIAN_IMAGE, i0 + i]
        data.start_mu[i, TARGET, lane] = on_target * vectors[EMBEDDING_IMAGE, i0 + i]
        data.start_mu[i, RIDGE, lane] = ridge * vectors[WEIGHT, i0 + i]
        data.start_mu[i, LOGARITHM, lane] = vectors[LOG_WEIGHT, i0 + i]
    _pad(data.mu, lane, n, 1, rows, 1)
    _pad(data.start_mu, lane, n, N_START, rows, N_START)
    if weights.beta_global != 0.0:
        begin = data.left.shape[1] - data.left.shape[0]
        where = graphs.structure, graphs.structure_offsets[a]
        _enter_structure(where, n, -weights.beta_global, data.left, begin, lane)
    if on_source != 0.0:
        _change_laplacian(graphs, state.source[lane], a, on_source, data.laplacian_mu, lane)
    if on_target != 0.0:
        own = graphs.factors[graphs.factor_offsets[a] : graphs.factor_offsets[a + 1]]
        r = len(own) // n
        for i in range(n):
            for c in range(widths[0]):
                data.left[i, c, lane] = own[i * r + c] if c < r else 0.0
    state.source[lane] = a


@compiled_borrowing
def _enter_target(graphs: Any, b: int, weights: Any, contents: LaneContents, lane: int) -> None:
    """What a lane holds of its target alone; the next pair with the same target finds it there."""
    data, state, vectors, rows = contents.data, contents.state, contents.summaries.vectors, contents.extent[1]
    widths = contents.widths
    k0 = graphs.offsets[b]
    m = graphs.offsets[b + 1] - k0
    on_target = weights.beta_local * weights.laplacian_target
    for k in range(m):
        data.nu[k, 0, lane] = vectors[WEIGHT, k0 + k]
        data.start_nu[k, STRUCTURE, lane] = vectors[STRUCTURE_IMAGE, k0 + k]
        data.start_nu[k, SOURCE, lane] = vectors[EMBEDDING_IMAGE, k0 + k]
        data.start_nu[k, TARGET, lane] = vectors[LAPLACIAN_IMAGE, k0 + k]
        data.start_nu[k, RIDGE, lane] = vectors[WEIGHT, k0 + k]
        data.start_nu[k, LOGARITHM, lane] = vectors[LOG_WEIGHT, k0 + k]
    _pad(data.nu, lane, m, 1, rows, 1)
    _pad(data.start_nu, lane, m, N_START, rows, N_START)
    if weights.beta_global != 0.0:
        _enter_structure((graphs.structure, graphs.structure_offsets[b]), m, 1.0, data.structure_nu, 0, lane)
    if weights.beta_local * weights.laplacian_source != 0.0:
        own = graphs.factors[graphs.factor_offsets[b] : graphs.factor_offsets[b + 1]]
        s = len(own) // m
        for c in range(widths[1]):
            for k in range(m):
                data.right[widths[0] + c, k, lane] = own[k * s + c] if c < s else 0.0
    if on_target != 0.0:
        _change_laplacian(graphs, state.target[lane], b, on_target, data.laplacian_nu, lane)
    state.target[lane] = b


@compiled_borrowing
def _pad(matrix: Any, lane: int, rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    """Zeros outside of rows x columns and inside of new_rows x new_columns, in one lane."""
    for i in range(new_rows):
        for k in range(columns if i < rows else 0, new_columns):
            matrix[i, k, lane] = 0.0


@compiled_borrowing
def _enter_structure(where: Any, n: int, weight: float, out: Any, begin: int, lane: int) -> None:
    """Weight times C_P of one graph, in the columns from `begin` on."""
    structure, first = where
    for i in range(n):
        for j in range(n):
            out[i, begin + j, lane] = weight * np.float64(structure[first + i * n + j])


@compiled_borrowing
def _change_laplacian(graphs: Any, old: int, new: int, weight: float, out: SparseLanes, lane: int) -> None:
    """Weight times L of a graph in place of that of an old one, if there is one."""
    entries = graphs.laplacian_offsets, graphs.laplacian_columns, graphs.laplacian_values
    before = (graphs.offsets[old], graphs.offsets[old + 1]) if old != NOBODY else (0, 0)
    enter_sparse(out, entries, before, (graphs.offsets[new], graphs.offsets[new + 1]), weight, lane)
