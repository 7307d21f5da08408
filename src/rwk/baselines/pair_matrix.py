"""A matrix of values of all pairs of graphs, computed by threads; for baselines that solve a problem per pair.

Inside `with heard_by(tick)`, tick is called with the number of pairs solved since its last call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import numpy as np

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.threads import Ticker, in_threads, one_blas_thread

PAIRS_PER_CHUNK: Final = 256
CHUNKS_PER_SET: Final = 64

# (rows, columns, out): solve the pairs (rows[k], columns[k]) into out[k]
SolvePairs = Callable[[IntArray, IntArray, FloatArray], None]
_TICKER: ContextVar[Ticker | None] = ContextVar("ticker", default=None)


@contextmanager
def heard_by(tick: Ticker) -> Iterator[None]:
    """Tell `tick` how many pairs are solved, until the block is left."""
    token = _TICKER.set(tick)
    try:
        yield
    finally:
        _TICKER.reset(token)


def pair_matrix(
    solve: SolvePairs, sizes: tuple[IntArray, IntArray], depth: int, *, symmetric: bool, n_jobs: int | None
) -> FloatArray:
    """Values of all pairs, shape (depth, rows, columns), with `depth` values per pair.

    If `symmetric`, only the upper triangle is solved, and mirrored. Pairs are sorted by cost, largest first, and cut
    into chunks that the threads take one after the other. `sizes` are the numbers of nodes of row and column graphs.
    """
    shape = (len(sizes[0]), len(sizes[1]))
    rows, columns = np.triu_indices(shape[0]) if symmetric else (index.ravel() for index in np.indices(shape))
    cost = sizes[0][rows].astype(np.float64) * sizes[1][columns]
    order = np.argsort(-cost, kind="stable")
    rows, columns = rows[order].astype(np.int64), columns[order].astype(np.int64)
    filled = np.cumsum(cost[order])
    n_chunks = max(CHUNKS_PER_SET, len(rows) // PAIRS_PER_CHUNK)
    inside = np.searchsorted(filled, filled[-1] * np.arange(1, n_chunks) / n_chunks) if len(rows) else []
    bounds = np.unique(np.concatenate([[0], inside, [len(rows)]])).astype(np.int64)
    values = np.empty((depth, *shape))

    def work(chunk: int) -> int:
        mine = slice(bounds[chunk], bounds[chunk + 1])
        out = np.empty((mine.stop - mine.start, depth))
        solve(rows[mine], columns[mine], out)
        values[:, rows[mine], columns[mine]] = out.T
        if symmetric:
            values[:, columns[mine], rows[mine]] = out.T
        return len(out)

    with one_blas_thread():
        in_threads(work, len(bounds) - 1, n_jobs=n_jobs, tick=_TICKER.get())
    return values
