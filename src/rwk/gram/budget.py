"""How much memory tiles take, and how large they may be within a stated budget."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np

from rwk.gram.errors import GramError
from rwk.gram.tiles import TileLimits, Tiling, tile_weight
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.words import counted, size

_UNITS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS: Final = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
BYTES_PER_PAIR: Final = 160  # pair numbers and order, values and health, the padded tile and its encoding
COPIES_OF_MEASURES: Final = 3  # as stored, joined, and in the precision of the solve
MATRICES_OF_A_PAIR: Final = 16  # of shape (n, m), per thread
MOST_GRAPHS: Final = 2048  # in a block, whatever the budget


class Workload(NamedTuple):
    """Tiles and threads at work at the same time on one machine, whose memory is limited."""

    tiles: int
    threads: int


def parse_memory(memory: str | int | float) -> int:
    """Number of bytes in an amount of memory such as "2GB", "500 MB" or "1GiB".

    >>> parse_memory("2GB"), parse_memory("1GiB"), parse_memory(1000)
    (2000000000, 1073741824, 1000)
    """
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", str(memory), flags=re.IGNORECASE)
    try:
        number = float(match[1]) if match else 0.0
    except ValueError:
        number = 0.0
    if match is None or not number > 0:
        raise GramError(f"memory={memory!r} is not an amount of memory; write it like '2GB' or '500MB'")
    unit = match[2].lower()
    return int(number * (_BINARY_UNITS[unit] if match[3] and unit else _UNITS[unit]))


def limits_within(budget: int, sizes: IntArray, bytes_of_graphs: FloatArray, load: Workload) -> TileLimits:
    """How large blocks may be so that all tiles at work stay within the budget."""
    share = (budget - _solving(sizes, load)) / load.tiles
    least = BYTES_PER_PAIR + 2 * COPIES_OF_MEASURES * float(bytes_of_graphs.max())
    if share < least:
        needed = least * load.tiles + _solving(sizes, load)
        raise GramError(
            f"memory={size(budget)!r} is too small for one tile: graphs of {int(sizes.max())} nodes on "
            f"{counted(load.threads, 'thread')} need {size(1.1 * needed)}; raise it or use fewer threads"
        )
    graphs = int(np.sqrt(0.5 * share / BYTES_PER_PAIR))
    return TileLimits(
        weight=tile_weight(sizes),
        graphs=max(1, min(graphs, MOST_GRAPHS)),
        bytes=0.5 * share / (2 * COPIES_OF_MEASURES),
    )


def check_fits(tiling: Tiling, budget: int, load: Workload) -> None:
    """Raise a `GramError` if the tiles of a store, planned with another budget, don't fit into this one."""
    needed = load.tiles * largest_tile_bytes(tiling) + _solving(tiling.sizes, load)
    if needed > budget:
        raise GramError(
            f"memory={size(budget)!r} is too small for one tile of this store; it needs {size(1.1 * needed)}"
        )


def tiles_at_once(tiling: Tiling, budget: int, threads: int) -> int:
    """How many tiles may be solved at once within the budget, at most one per thread.

    >>> tiling = Tiling.of([np.array([5, 3, 4])], [[2, 3]], np.full(3, 7000.0))
    >>> tiles_at_once(tiling, 10**9, threads=8), tiles_at_once(tiling, 10**5, threads=8)
    (8, 1)
    """
    free = budget - _solving(tiling.sizes, Workload(1, threads))
    return max(1, min(threads, int(free / largest_tile_bytes(tiling))))


def largest_tile_bytes(tiling: Tiling) -> float:
    """Bytes of the largest tile."""
    counts = np.diff(tiling.bounds).astype(np.float64)
    measures = np.add.reduceat(tiling.bytes[tiling.order], tiling.bounds[:-1])
    pairs = BYTES_PER_PAIR * counts[:, None] * counts[None, :]
    return float((pairs + COPIES_OF_MEASURES * (measures[:, None] + measures[None, :])).max())


def _solving(sizes: IntArray, load: Workload) -> float:
    """Bytes that the solver itself takes: one pair of the largest graphs per thread."""
    return 8.0 * MATRICES_OF_A_PAIR * load.threads * float(sizes.max()) ** 2
