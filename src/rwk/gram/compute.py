"""From graphs to a finished Gram matrix, tile by tile: what is missing is computed, what is done is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rwk.convert import as_graphs
from rwk.gram.budget import parse_memory
from rwk.gram.errors import GramError, NoRoomError
from rwk.gram.executor_names import as_executor
from rwk.gram.executors import Executor, Threads, TileJob
from rwk.gram.opening import EXISTING, Existing, Request, in_memory, open_store
from rwk.gram.places import Place, place_at
from rwk.gram.reading import Gram
from rwk.gram.store import GramStore, MemoryTiles
from rwk.gram.tiles import Tile
from rwk.parameters import Parameters
from rwk.runtime.log import LOG
from rwk.runtime.words import counted


@dataclass(slots=True)
class GramProgress:
    """How far a run is; handed to the progress function after every chunk of pairs and every tile."""

    n_tiles: int
    n_pairs: int
    cost: float  # of all tiles
    tiles_found: int  # in the store, whole, when the run began
    tiles_damaged: int = 0  # found there and to be computed again
    tiles_done: int = 0
    pairs_done: int = 0
    pairs_under_way: int = 0  # solved in tiles that are not finished
    cost_found: float = 0.0
    cost_done: float = 0.0
    seconds: float = 0.0

    @property
    def pairs_per_second(self) -> float:
        return (self.pairs_done + self.pairs_under_way) / self.seconds if self.seconds > 0 else 0.0

    @property
    def cost_so_far(self) -> float:
        """Cost of all that is solved, the pairs of unfinished tiles included."""
        under_way = self.pairs_under_way * self.cost / max(self.n_pairs, 1)
        return self.cost_found + self.cost_done + under_way

    @property
    def eta_seconds(self) -> float | None:
        """Time to go, by the cost model and the rate so far; None before the first tile."""
        left = self.cost - self.cost_found - self.cost_done
        return self.seconds * left / self.cost_done if self.cost_done else None


Report = Callable[[GramProgress], None]


def compute_gram(
    graphs: Any,
    *,
    store: str | os.PathLike[str] | Place | None = None,
    memory: str | int = "2GB",
    executor: Any = None,
    existing: Existing = "resume",
    part: str | None = None,
    report: Report | None = None,
    **parameters: Any,
) -> Gram:
    """Discrepancies of all pairs of graphs, kept in a store as they come.

    Run it again after whatever stopped it, and only what is missing is computed, to the same bits. `store` is a folder
    or any fsspec address (None: kept in memory); `memory` bounds what is held at once beside the graphs given (the few
    hundred graphs that set the scale must be represented whatever it says);
    `executor` is None (threads), "processes", a Dask client or an `Executor`; `existing` says what to do with a store
    that is there: "resume", "refuse", or "extend" it by the graphs after those it holds, whose scale they then share.
    `part="2/8"` computes the second eighth of the tiles only, for job arrays over one store. `parameters` are those of
    `rwk.Parameters`.

    >>> import networkx as nx
    >>> gram = compute_gram([nx.path_graph(3), nx.star_graph(3), nx.cycle_graph(5)], debias=True)
    >>> gram.shape, gram[0, 0], gram[:2, 1:].shape
    ((3, 3), np.float64(0.0), (2, 2))
    """
    settings = Parameters.of(parameters)
    if existing not in EXISTING:
        raise GramError(f"existing={existing!r} is not known; it is one of {', '.join(EXISTING)}")
    share = parse_part(part)
    workers = as_executor(executor, settings.n_jobs)
    backend = "exact" if settings.direction == "exact" else settings.backend
    request = Request(as_graphs(graphs), settings, backend, parse_memory(memory), workers.load)

    def find_backend() -> str:
        return workers.find_backend() if backend == "auto" else backend

    kept: GramStore | MemoryTiles
    if store is None:
        kept = in_memory(request, find_backend())
    else:
        kept = open_store(place_at(store), request, existing, find_backend)
    if isinstance(workers, Threads):
        workers = workers.fitted(kept.tiling, request.budget)
    tiles = [tile for number, tile in enumerate(kept.tiling) if number % share[1] == share[0]]
    _solve_missing(kept, tiles, TileJob.of(settings, kept.backend), workers, report or (lambda progress: None))
    return Gram(kept, settings, request.budget)


def parse_part(part: str | None) -> tuple[int, int]:
    """Which part of how many, counted from 0, from text that counts from 1.

    >>> parse_part("2/8"), parse_part(None)
    ((1, 8), (0, 1))
    """
    if part is None:
        return 0, 1
    number, _, count = part.partition("/")
    if not (number.isdigit() and count.isdigit() and 1 <= int(number) <= int(count)):
        raise GramError(f"part={part!r} is not a part of a whole; write it like '2/8', from 1/8 to 8/8")
    return int(number) - 1, int(count)


def _solve_missing(
    kept: GramStore | MemoryTiles, tiles: Sequence[Tile], job: TileJob, workers: Executor, report: Report
) -> None:
    found, damaged = kept.verified(tiles)
    missing = [tile for tile in tiles if (tile.row, tile.column) not in found]
    if damaged:
        LOG.warning("%s: %s found; computing them again", kept.name, counted(len(damaged), "damaged tile"))
    progress = GramProgress(
        n_tiles=len(tiles),
        n_pairs=sum(tile.n_pairs for tile in tiles),
        cost=sum(tile.cost for tile in tiles),
        tiles_found=len(tiles) - len(missing),
        tiles_damaged=len(damaged),
        cost_found=sum(tile.cost for tile in tiles if (tile.row, tile.column) in found),
    )
    start = time.perf_counter()

    def say(pairs: int) -> None:
        progress.pairs_under_way += pairs
        progress.seconds = time.perf_counter() - start
        if pairs >= 0:  # else a tile has landed, which is about to be counted as a whole
            report(progress)

    def still_missing() -> Iterator[Tile]:
        for tile in _turned(missing):
            if (tile.row, tile.column) not in damaged and kept.has(tile):  # by another process, meanwhile
                progress.tiles_found += 1
                progress.cost_found += tile.cost
            else:
                yield tile

    say(0)
    try:
        for tile, solved in workers.solve(job, still_missing(), kept.block, say):
            kept.write(tile, solved)
            progress.tiles_done += 1
            progress.pairs_done += tile.n_pairs
            progress.cost_done += tile.cost
            say(0)
    except NoRoomError as error:
        n_kept = progress.tiles_found + progress.tiles_done
        raise NoRoomError(
            f"no room is left at {kept.name}; {n_kept} of {len(tiles)} tiles are kept there: "
            "make room and run the same command again"
        ) from error


def _turned(tiles: list[Tile]) -> list[Tile]:
    """The same tiles from another beginning in every process, so that two on one store start apart."""
    first = (os.getpid() * 7919) % max(len(tiles), 1)
    return tiles[first:] + tiles[:first]
