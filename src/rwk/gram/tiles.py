"""A Gram matrix as tiles: graphs of similar size form blocks, and a pair of blocks is a tile.

The cost of a pair (`transport.work`) lies near f(n) f(m), f the `root_costs`, so blocks of equal total f (many small
graphs, or few large ones) make tiles of similar cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.work import SizeSums, group_cost, root_costs

TILES_WANTED: Final = 256  # enough that little is lost with one tile, and that many workers stay busy
LEAST_COST: Final = 2e7  # about a tenth of a second; a cheaper tile is not worth a file
MOST_COST: Final = 5e10  # about a minute


class TileLimits(NamedTuple):
    """Upper limits of a block: total f, number of graphs, bytes of their measures."""

    weight: float
    graphs: int
    bytes: float


class Tile(NamedTuple):
    """Graphs of block `row` against graphs of block `column`; on the diagonal, the upper triangle only."""

    row: int
    column: int
    n_rows: int
    n_columns: int
    cost: float

    @property
    def n_pairs(self) -> int:
        """Pairs to solve."""
        return self.n_rows * (self.n_rows + 1) // 2 if self.row == self.column else self.n_rows * self.n_columns


@dataclass(frozen=True, slots=True, eq=False)
class Tiling:
    """Graphs ordered by size and cut into blocks, separately for each segment (each time graphs were added).

    Block b holds graphs `order[bounds[b]:bounds[b + 1]]`; segment s begins with block `starts[s]`.

    >>> tiling = Tiling.of([np.array([5, 3, 4])], [[2, 3]], np.array([500.0, 300.0, 400.0]))
    >>> tiling.members(0).tolist(), tiling.members(1).tolist(), [tile.n_pairs for tile in tiling]
    ([1, 2], [0], [1, 2, 3])
    """

    sizes: IntArray  # (N,) nodes of each graph, as the user ordered them
    order: IntArray  # (N,)
    bounds: IntArray  # (blocks + 1,)
    starts: IntArray  # (segments + 1,)
    bytes: FloatArray  # (N,) of the measures of each graph, as the user ordered them

    @classmethod
    def of(cls, sizes: Sequence[IntArray], ends: Sequence[Sequence[int]], bytes_of_graphs: FloatArray) -> Tiling:
        """The tiling of segments: sizes of their graphs, where their blocks (smallest first) end, bytes of measures."""
        orders, bounds, starts, first = [], [np.zeros(1, np.int64)], [0], 0
        for mine, stops in zip(sizes, ends, strict=True):
            orders.append(first + np.argsort(mine, kind="stable"))
            bounds.append(first + np.asarray(stops, np.int64))
            starts.append(starts[-1] + len(stops))
            first += len(mine)
        everything = np.concatenate(sizes).astype(np.int64)
        order = np.concatenate(orders).astype(np.int64)
        return cls(everything, order, np.concatenate(bounds), np.array(starts), bytes_of_graphs)

    @property
    def n_blocks(self) -> int:
        return len(self.bounds) - 1

    def members(self, block: int) -> IntArray:
        """Numbers of a block's graphs in the order in which the user gave them."""
        return self.order[self.bounds[block] : self.bounds[block + 1]]

    def segment_of(self, block: int) -> int:
        """The segment that a block belongs to."""
        return int(np.searchsorted(self.starts, block, side="right")) - 1

    def largest_block(self, segment: int) -> int:
        """Number of graphs in the largest block of a segment."""
        return int(np.diff(self.bounds)[self.starts[segment] : self.starts[segment + 1]].max())

    def __iter__(self) -> Iterator[Tile]:
        """All tiles, those of large graphs first; consecutive tiles share a block."""
        counts, first, second = self._moments()
        for column in reversed(range(self.n_blocks)):
            for row in reversed(range(column + 1)):
                cost = group_cost(SizeSums(first[row], second[row]), SizeSums(first[column], second[column]))
                half = 0.5 if row == column else 1.0
                yield Tile(row, column, int(counts[row]), int(counts[column]), float(half * cost))

    def _moments(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """For each block: number of graphs, sum of sizes, sum of squared sizes."""
        ordered = self.sizes[self.order].astype(np.float64)
        starts = self.bounds[:-1]
        return np.diff(self.bounds), np.add.reduceat(ordered, starts), np.add.reduceat(ordered**2, starts)


def tile_weight(sizes: IntArray) -> float:
    """Total f per block for about `TILES_WANTED` tiles, within the limits of what one tile should cost."""
    total = 0.5 * float(root_costs(sizes).sum()) ** 2
    return float(np.sqrt(np.clip(total / TILES_WANTED, LEAST_COST, MOST_COST)))


def block_ends(sizes: IntArray, bytes_of_graphs: FloatArray, limits: TileLimits) -> list[int]:
    """Where each block of the graphs, ordered by size, ends; a block has as many graphs as the limits allow.

    >>> block_ends(np.array([5, 3, 4]), np.full(3, 100.0), TileLimits(weight=1e6, graphs=2, bytes=1e9))
    [2, 3]
    """
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    weight = np.concatenate([[0.0], np.cumsum(root_costs(ordered))])
    size = np.concatenate([[0.0], np.cumsum(bytes_of_graphs[order])])
    ends: list[int] = []
    start = 0
    while start < len(ordered):
        end = min(
            int(np.searchsorted(weight, weight[start] + limits.weight, side="right")) - 1,
            int(np.searchsorted(size, size[start] + limits.bytes, side="right")) - 1,
            start + limits.graphs,
        )
        start = max(end, start + 1)
        ends.append(start)
    return ends
