"""A finished Gram matrix: as a whole, as a slice, or as a file mapped into memory."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rwk.gram.errors import GramError, storage_errors
from rwk.gram.health import GramHealth
from rwk.gram.tiles import Tiling
from rwk.parameters import Parameters
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.display import card_of
from rwk.runtime.files import user_path
from rwk.runtime.finite import finite_matrix
from rwk.runtime.words import size


class TileSource(Protocol):
    """What finished tiles are read from: a `GramStore` or `MemoryTiles`."""

    @property
    def name(self) -> str: ...

    tiling: Tiling

    def done(self) -> set[tuple[int, int]]: ...

    def read(self, row: int, column: int) -> FloatArray: ...

    def health(self) -> FloatArray: ...


class Gram:
    """The discrepancies of all pairs of graphs, in the order in which the graphs were given, read on demand.

    `compute_gram` makes it. `gram[i, j]`, `gram[10:20]` and `gram[[3, 5], :100]` read a part, `discrepancy()` and
    `kernel()` the whole matrix if it fits the memory budget, and `memmap(path)` writes it to a file and maps that into
    memory. If the parameters ask for debiasing, values are debiased as they are read (R17); stored tiles are not.

    Parameters
    ----------
    source : GramStore or MemoryTiles
        Where finished tiles are read from.
    settings : Parameters
        Of the run; `eta` and `debias` are applied on reading.
    budget : int
        The most bytes that one read may return.

    Attributes
    ----------
    shape : tuple of int
        (N, N) for N graphs.
    health : GramHealth
        How many pairs were solved, and how many did not converge.
    n_missing : int
        Tiles that are not computed yet.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import compute_gram
    >>> gram = compute_gram([nx.path_graph(3), nx.star_graph(3), nx.cycle_graph(5)])
    >>> gram
    Gram(3 graphs in memory)
    >>> gram[0].shape, gram.kernel(eta=0.5).shape, gram.n_missing
    ((3,), (3, 3), 0)
    """

    def __init__(self, source: TileSource, settings: Parameters, budget: int) -> None:
        self._source, self._settings, self._budget = source, settings, budget
        self._block_of = np.empty(len(source.tiling.order), np.int64)
        self._place = np.empty_like(self._block_of)
        for block in range(source.tiling.n_blocks):
            members = source.tiling.members(block)
            self._block_of[members], self._place[members] = block, np.arange(len(members))
        self._own: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self)

    def __len__(self) -> int:
        return len(self._block_of)

    def _repr_html_(self) -> str | None:
        return card_of("gram", self)

    def __repr__(self) -> str:
        missing = self.n_missing
        state = f", {missing} tiles missing" if missing else ""
        return f"Gram({len(self)} graphs in {self._source.name}{state})"

    @property
    def n_missing(self) -> int:
        """Number of tiles that are not computed yet."""
        blocks = self._source.tiling.n_blocks
        return blocks * (blocks + 1) // 2 - len(self._source.done())

    @property
    def health(self) -> GramHealth:
        """How the solving of all finished tiles went."""
        not_converged, n_iter, seconds = self._source.health()
        done = self._source.done()
        n_pairs = sum(tile.n_pairs for tile in self._source.tiling if (tile.row, tile.column) in done)
        return GramHealth(n_pairs, int(not_converged), float(n_iter) / max(n_pairs, 1), float(seconds))

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        numbers = np.arange(len(self))
        at_rows, at_columns = np.asarray(numbers[rows]), np.asarray(numbers[columns])
        part = self._read(at_rows.ravel(), at_columns.ravel())
        return part.reshape(at_rows.shape + at_columns.shape)[()]

    def discrepancy(self) -> FloatArray:
        """The whole matrix D, exactly symmetric; raises a `GramError` if it exceeds the memory budget."""
        needed = 8 * len(self) ** 2
        if needed > self._budget:
            raise GramError(
                f"the matrix of {len(self)} graphs takes {size(needed)}, but the budget is {size(self._budget)}; "
                "raise memory=, read a slice, or use memmap(path)"
            )
        out = np.empty(self.shape)
        self._fill(out)
        return out

    def kernel(self, eta: float | None = None) -> FloatArray:
        """The kernel matrix K = exp(-eta D), with the eta of the parameters unless another is given."""
        out = self.discrepancy()
        with np.errstate(over="ignore"):
            out *= -(self._settings.eta if eta is None else eta)
            return finite_matrix(np.exp(out, out=out), what="the kernel")

    def memmap(self, path: str | os.PathLike[str]) -> NDArray[np.float64]:
        """Write D to an .npy file, replacing an existing one, and return it mapped into memory, read-only."""
        final = user_path(path)
        beside = final.with_name(f"{final.name}.{uuid.uuid4().hex}.partial")
        with storage_errors(str(final.parent)):
            try:
                out = np.lib.format.open_memmap(beside, mode="w+", dtype=np.float64, shape=self.shape)
                _reserve(beside)
                self._fill(out)
                out.flush()
                del out
                beside.replace(final)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
            return np.asanyarray(np.load(final, mmap_mode="r"))

    def _fill(self, out: FloatArray) -> None:
        tiling = self._source.tiling
        own = self._half_self()
        for tile in tiling:
            rows, columns = tiling.members(tile.row), tiling.members(tile.column)
            values = self._source.read(tile.row, tile.column)
            if own is not None:
                values = values - (own[rows][:, None] + own[columns][None, :])
            out[np.ix_(rows, columns)] = values
            if tile.row != tile.column:
                out[np.ix_(columns, rows)] = values.T

    def _read(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The given rows and columns, from the tiles that hold them; each tile is read once."""
        out = np.empty((len(rows), len(columns)))
        if out.nbytes > self._budget:
            raise GramError(
                f"this slice takes {size(out.nbytes)}, but the budget is {size(self._budget)}; "
                "raise memory= or read a smaller slice"
            )
        own = self._half_self()
        row_blocks, column_blocks = self._block_of[rows], self._block_of[columns]
        tiles = {(min(r, c), max(r, c)) for r in set(row_blocks.tolist()) for c in set(column_blocks.tolist())}
        for low, high in sorted(tiles):
            values = self._source.read(low, high)
            for r, c, tile in ((low, high, values), (high, low, values.T)):
                at_rows, at_columns = np.flatnonzero(row_blocks == r), np.flatnonzero(column_blocks == c)
                inside = np.ix_(self._place[rows[at_rows]], self._place[columns[at_columns]])
                out[np.ix_(at_rows, at_columns)] = tile[inside]
        if own is not None:
            out -= own[rows][:, None] + own[columns][None, :]
        return out

    def _half_self(self) -> FloatArray | None:
        """Half of RW(G, G) of each graph, from the diagonal tiles, if values are debiased (R17)."""
        if not self._settings.debias:
            return None
        if self._own is None:
            tiling = self._source.tiling
            own = np.empty(len(self))
            for block in range(tiling.n_blocks):
                own[tiling.members(block)] = 0.5 * np.diag(self._source.read(block, block))
            self._own = own
        return self._own


def _reserve(path: Path) -> None:
    """Reserve a file's disk space: writing to a map of a full disk would kill the process instead of raising."""
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
