"""What one pair is solved in: matrices whose rows are padded to whole vectors, in memory kept from pair to pair."""

from __future__ import annotations

import threading
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.transport.cpu.costs import CostScratch, shared_scratch
from rwk.transport.cpu.lanes.summaries import GraphSummaries, empty_summaries
from rwk.transport.cpu.rows.panels import PANEL_DEPTH, VECTORS
from rwk.transport.cpu.simd.aligned import aligned_zeros
from rwk.transport.cpu.simd.vectors import REGISTER_BYTES

# Vectors over the columns of a pair, as rows of `RowMemory.columns`; padding has no mass, all else there is finite.
NU: Final = 0
LOG_NU: Final = 1
SHIFT: Final = 2  # 2 beta_global C_nu^2 nu / 2
CARRIED: Final = 3  # C_nu nu
ROUGH: Final = 4  # L_nu nu
SMOOTH: Final = 5  # S_nu nu
V: Final = 6
SUMS: Final = 7  # K^T u
MISSING: Final = 8  # what the columns of a plan lack
N_COLUMNS: Final = 9


class RowMemory(NamedTuple):
    """Arrays for all pairs up to a size; graphs are summarised in float64, the rest is in the precision of the solve.

    Matrices of the pair are flat, with rows as long as `columns` has columns in use.
    """

    linear: Any  # M (n, m)
    image: Any  # Q(gamma)
    delta: Any  # the Sinkhorn kernel, then Delta
    delta_image: Any  # Q(Delta)
    gamma: Any
    other: Any  # g, and the gamma that is tried; changes places with gamma
    logs: Any  # log gamma
    prior: Any  # rows of the log prior: nodes of equal degree share one
    right: Any  # Delta C_nu, times -beta_global
    thin: Any  # what the Laplacian part of Q is made of (row_products.py)
    columns: Any  # (N_COLUMNS, m)
    u: Any  # (n,)
    lacks: Any  # (n,) what the rows of a plan lack
    panel: Any
    scratch: CostScratch
    summaries: GraphSummaries


def whole_vectors(count: int, dtype: Any) -> int:
    """The least length of a row of so many numbers that is made of whole vectors."""
    width = REGISTER_BYTES // np.dtype(dtype).itemsize
    return int(-(-count // width) * width)


def memory_for_rows(graphs: Any, n: int, m: int) -> RowMemory:
    """Memory for pairs of up to n and m nodes, in the precision of their structure matrices."""
    dtype = graphs.structure.dtype
    length, sizes = whole_vectors(m, dtype), np.diff(graphs.offsets)
    deepest = int((np.diff(graphs.factor_offsets) // np.maximum(sizes, 1)).max(initial=0))
    thin = 2 * n * (whole_vectors(deepest, dtype) + deepest) + 4 * deepest * length
    linear, image, delta, delta_image, gamma, other, logs, prior, right = (
        aligned_zeros(n * length, dtype) for _ in range(9)
    )
    panel = aligned_zeros(PANEL_DEPTH * VECTORS * REGISTER_BYTES // dtype.itemsize, dtype)
    scratch = shared_scratch(graphs, n, length)
    if dtype == np.float64:  # costs are done with before the solver needs its memory
        scratch = scratch._replace(cost=other, table=right)
    return RowMemory(
        linear, image, delta, delta_image, gamma, other, logs, prior, right, aligned_zeros(thin, dtype),
        aligned_zeros(N_COLUMNS * length, dtype), np.empty(n, dtype), np.empty(n, dtype), panel, scratch,
        empty_summaries(graphs),
    )  # fmt: skip


class KeptRows(threading.local):
    """Memory for chunk after chunk of pairs of the same measures and weights, one for each thread."""

    def __init__(self) -> None:
        self.room: tuple[int, int] = 0, 0
        self.memory: RowMemory | None = None

    def room_for(self, graphs: Any, pairs: Any) -> RowMemory:
        """Memory for these pairs: that of earlier ones if it is large enough."""
        n, m = (int(size) for size in np.diff(graphs.offsets)[pairs].max(axis=0, initial=1))
        if self.memory is None or n > self.room[0] or m > self.room[1]:
            self.room = n, m
            self.memory = memory_for_rows(graphs, n, m)
        return self.memory
