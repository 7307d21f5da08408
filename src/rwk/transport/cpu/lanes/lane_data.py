"""The arrays of the pairs that are solved side by side: what lies where is pictured in the header of this package.

Every matrix has room for the largest pair of its chunk and uses as much of it, the `extent`, as the present pairs need.
Smaller pairs are padded with nodes of weight 0: such nodes receive no mass and add only zeros to the end of sums, so a
pair is bit-identical whatever the other lanes hold (R16).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.costs import CostScratch, shared_scratch
from rwk.transport.cpu.lanes.sparse_lanes import SparseLanes, empty_sparse
from rwk.transport.cpu.lanes.summaries import GraphSummaries, empty_summaries
from rwk.transport.cpu.simd.aligned import aligned_zeros
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES, splat, store

# Columns of `start_mu` and `start_nu`. Q(mu nu^T) is the sum of the outer products of the first four; log(mu nu^T) is
# the outer sum of the last. On the side of the source the weight of its term is folded in.
#                       start_mu      start_nu
STRUCTURE: Final = 0  # C_mu mu       C_nu nu
SOURCE: Final = 1  #    L_mu mu       S_nu nu
TARGET: Final = 2  #    S_mu mu       L_nu nu
RIDGE: Final = 3  #     mu            nu
LOGARITHM: Final = 4  # log mu        log nu
N_START: Final = 5

NOBODY: Final = -1  # a lane without a pair, or without the matrices of a graph


class LaneData(NamedTuple):
    """Everything of a pair that stays the same through its solve, and Q(gamma), which is carried from step to step.

    Shapes are those of one lane: each array has one more axis, the lanes. A term whose weight is 0 has empty matrices.
    """

    mu: Any  # (n, 1)
    nu: Any  # (m, 1)
    start_mu: Any  # (n, N_START)
    start_nu: Any  # (m, N_START)
    fresh: Any  # (1, 1): 1 if the pair has just entered, so that gamma, logs and image are still those of the last pair
    fixed: Any  # (n, m) the part of the gradient without gamma: M + 2 beta_global c + kl (1 - log prior)
    image: Any  # (n, m) Q(gamma)
    left: Any  # (n, r + s + n) F_mu, then L_mu X F_nu of the present product, then -beta_global C_P of the source
    right: Any  # (r + s + n, m) F_mu^T X L_nu^T of the present product, then F_nu^T, then X C_nu of that product
    structure_nu: Any  # (m, m) C_P
    laplacian_mu: SparseLanes  # (n, n) weighted L
    laplacian_nu: SparseLanes  # (m, m) weighted L


class LaneCouplings(NamedTuple):
    """The couplings of all lanes."""

    gamma: Any  # (n, m)
    logs: Any  # (n, m) log gamma


class LaneState(NamedTuple):
    """How far each lane is; every array has shape (lanes,)."""

    pair: Any  # row of the list of pairs, or NOBODY
    source: Any  # the graph whose matrices stand on the source's side, or NOBODY
    target: Any  # likewise; they stay if the next pair has the same target
    n: Any  # nodes of the source
    m: Any  # nodes of the target
    active: Any  # whether the lane takes part in the present iteration
    n_iter: Any
    gap: Any
    converged: Any
    unsolved: Any  # the pair needs more precision or another body
    entropy: Any  # <gamma, log gamma>
    constant: Any  # H - <gamma, fixed + Q(gamma)> - kl <gamma, log gamma>
    objective: Any  # H


class Workspace(NamedTuple):
    """What one iteration computes and the next one overwrites; shapes of one lane, as in `LaneData`."""

    g: Any  # (n, m) gradient
    delta: Any  # (n, m) Sinkhorn's kernel, then the direction Delta
    delta_image: Any  # (n, m) Q(Delta), in the memory of g: each is done with before the other is needed
    x_factor: Any  # (n, s) X F_nu
    factor_x: Any  # (m, r) X^T F_mu
    u: Any  # (n, 1) scaling of the rows
    v: Any  # (m, 1) scaling of the columns
    column_sums: Any  # (m, 1) K^T u, then the mass that each column misses
    row_shares: Any  # (n, 1) the share of all missing mass that each row misses
    low: Any  # (1, 1) least entry of g
    high: Any  # (1, 1) largest entry of g
    alpha: Any  # (1, 1) step
    step: Any  # (1, 1) what is left of it to do, negative if gamma has moved too far


class LaneSums(NamedTuple):
    """Sums over the matrices of every lane, in float64; every array has shape (lanes,)."""

    slope: Any  # <Delta, g>
    entropy_slope: Any  # <Delta, log gamma>
    curvature: Any  # <Delta, Q(Delta)>
    new_entropy: Any  # <gamma, log gamma> at the trial
    change: Any  # of H
    value: Any  # <gamma, fixed + Q(gamma)>


class LaneContents(NamedTuple):
    """All that a pair that enters a lane writes to; functions that take less compile faster."""

    data: LaneData
    state: LaneState
    summaries: GraphSummaries
    extent: Any  # (2,) rows and columns in use
    widths: Any  # (2,) columns of the factors of sources and targets: r and s


class LaneMemory(NamedTuple):
    """All arrays of the lanes."""

    contents: LaneContents
    scratch: CostScratch
    work: Workspace
    sums: LaneSums
    here: LaneCouplings


class LaneOutputs(NamedTuple):
    """Where results go, by the row of a pair in the list."""

    results: Any  # a PairResults
    unsolved: Any  # (pairs,) whether the results do not count
    couplings: Any  # (pairs, n, m), or with no rows if nobody asks for them
    trace: Any  # (objective, gap) of pair 0 before each of its iterations, or with no rows


def lane_matrix(rows: int, columns: int, width: int, dtype: Any) -> Any:
    """Zeroed memory for rows x columns vectors, each inside one line of the cache."""
    return aligned_zeros(rows * columns * width, dtype).reshape((rows, columns, width))


def largest_of(graphs: Any, pairs: Any) -> Any:
    """The most nodes of a source and of a target, and the most columns of their factors."""
    sizes = np.diff(graphs.offsets)
    widths = np.diff(graphs.factor_offsets) // np.maximum(sizes, 1)
    return np.concatenate([most[pairs].max(axis=0, initial=1) for most in (sizes, widths)])


def memory_for(graphs: Any, largest: Any, weights: Any, dtype: Any) -> LaneMemory:
    """Memory for pairs up to `largest_of` in one precision. Python asks for it: that needs no compiling."""
    n, m, r, s = largest.tolist()
    width = REGISTER_BYTES // np.dtype(dtype).itemsize
    r = r if weights.beta_local * weights.laplacian_target != 0.0 else 0
    s = s if weights.beta_local * weights.laplacian_source != 0.0 else 0
    data = _empty_data(n, m, r, s, weights, width, dtype)
    contents = LaneContents(data, _idle_state(width), empty_summaries(graphs), np.zeros(2, np.int64), np.array([r, s]))
    work, here = _empty_workspace(data, r, s), _empty_couplings(data)
    return LaneMemory(contents, shared_scratch(graphs, n, m), work, _zero_sums(width), here)


def _empty_data(n: int, m: int, r: int, s: int, weights: Any, width: int, dtype: Any) -> LaneData:
    """Data of pairs of up to n and m nodes, whose factors have up to r and s columns."""
    whole_n, whole_m = (n, m) if weights.beta_global != 0.0 else (0, 0)
    return LaneData(
        lane_matrix(n, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(n, N_START, width, dtype),
        lane_matrix(m, N_START, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, m, width, dtype),
        lane_matrix(n, r + s + whole_n, width, dtype),
        lane_matrix(r + s + whole_n, m, width, dtype),
        lane_matrix(whole_m, whole_m, width, dtype),
        empty_sparse(lane_matrix(n if s else 0, n if s else 0, width, dtype)),
        empty_sparse(lane_matrix(m if r else 0, m if r else 0, width, dtype)),
    )


def _empty_couplings(data: LaneData) -> LaneCouplings:
    """Couplings as large as the data."""
    n, m, width = data.fixed.shape
    dtype = data.fixed.dtype
    return LaneCouplings(lane_matrix(n, m, width, dtype), lane_matrix(n, m, width, dtype))


def _idle_state(width: int) -> LaneState:
    """Lanes without pairs."""
    nobody, zeros, never = np.full(width, NOBODY), np.zeros(width), np.zeros(width, np.bool_)
    count = np.zeros(width, np.int64)
    return LaneState(
        nobody, nobody.copy(), nobody.copy(), count, count.copy(), never, count.copy(), zeros, never.copy(),
        never.copy(), zeros.copy(), zeros.copy(), zeros.copy(),
    )  # fmt: skip


def _empty_workspace(data: LaneData, r: int, s: int) -> Workspace:
    """A workspace as large as the data."""
    n, m, width = data.fixed.shape
    dtype = data.fixed.dtype
    g = lane_matrix(n, m, width, dtype)
    return Workspace(
        g,
        lane_matrix(n, m, width, dtype),
        g,
        lane_matrix(n, s, width, dtype),
        lane_matrix(m, r, width, dtype),
        lane_matrix(n, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(m, 1, width, dtype),
        lane_matrix(n, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
        lane_matrix(1, 1, width, dtype),
    )


def _zero_sums(width: int) -> LaneSums:
    zeros = np.zeros(width)
    return LaneSums(zeros, zeros.copy(), zeros.copy(), zeros.copy(), zeros.copy(), zeros.copy())


@compiled_borrowing
def clear_border(matrix: Any, rows: int, columns: int, new_rows: int, new_columns: int) -> None:
    """Zeros outside of rows x columns and inside of new_rows x new_columns, in all lanes."""
    zero = splat(matrix, 0.0)
    for i in range(min(new_rows, matrix.shape[0])):
        for k in range(columns if i < rows else 0, min(new_columns, matrix.shape[1])):
            store(matrix, (i, k), zero)


@compiled_borrowing
def enlarge_extent(data: LaneData, here: LaneCouplings, extent: Any, n: int, m: int) -> None:
    """Use at least n x m of every matrix; what lies beyond the old extent becomes padding again.

    The matrices of products may keep old numbers there: these are only ever multiplied by the zeros of Delta's padding.
    """
    old_n, old_m = extent
    if n <= old_n and m <= old_m:
        return
    n, m = max(n, old_n), max(m, old_m)
    for columns, old, new in (
        (data.mu, old_n, n),
        (data.nu, old_m, m),
        (data.start_mu, old_n, n),
        (data.start_nu, old_m, m),
    ):
        clear_border(columns, old, columns.shape[1], new, columns.shape[1])
    for matrix in (data.fixed, here.gamma, here.logs, data.image):
        clear_border(matrix, old_n, old_m, n, m)
    extent[0], extent[1] = n, m


@compiled_borrowing
def shrink_extent(state: LaneState, extent: Any) -> None:
    """Use no more of every matrix than the present pairs need."""
    n, m = 1, 1
    for lane in range(len(state.pair)):
        if state.pair[lane] != NOBODY:
            n, m = max(n, state.n[lane]), max(m, state.m[lane])
    extent[0], extent[1] = min(extent[0], n), min(extent[1], m)
