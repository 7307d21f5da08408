"""From graphs to a finished Gram matrix, tile by tile: finished tiles are kept, and only missing ones are computed."""

from __future__ import annotations

import functools
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
from rwk.runtime.finite import finite_matrix
from rwk.runtime.log import LOG
from rwk.runtime.watched import MovingBar, shown_progress
from rwk.runtime.words import counted


@dataclass(slots=True)
class GramProgress:
    """How far a run is; passed to `report` after every chunk of pairs and every tile."""

    n_tiles: int
    n_pairs: int
    cost: float  # of all tiles
    tiles_found: int  # intact in the store when the run began, or computed by another process since
    tiles_damaged: int = 0  # in the store when the run began, to be computed again
    tiles_done: int = 0
    pairs_done: int = 0
    pairs_under_way: int = 0  # solved, in tiles that are not finished
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
        """Time left, by the cost model and the rate so far; None before the first tile is finished."""
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
    verbose: bool | None = None,
    **parameters: Any,
) -> Gram:
    """Compute the discrepancies of all pairs of graphs, and keep them in a store as they come.

    If a run is stopped, call it again with the same arguments: only missing tiles are computed, and the matrix is
    bit-identical to that of an unbroken run.

    Parameters
    ----------
    graphs : anything `as_graphs` accepts
        The graphs; rows and columns of the matrix are in their order.
    store : path or address, optional
        A folder, or any address that fsspec opens (`s3://...`). By default tiles are kept in memory.
    memory : str or int, default "2GB"
        Memory for what is held at once beside the given graphs. The few hundred graphs that set the scale are
        represented whatever the budget.
    executor : optional
        None or "threads", "processes", a Dask client, or an `Executor`.
    existing : {"resume", "refuse", "extend"}, default "resume"
        What to do if the store exists: compute its missing tiles, raise an error, or add the graphs that come after
        those it holds. Added graphs use the scale of the first ones (R7).
    part : str, optional
        "2/8" computes the second eighth of the tiles, for job arrays that share a store.
    report : callable, optional
        Called with a `GramProgress` after every chunk of pairs and every tile, in place of a progress bar.
    verbose : bool, optional
        Whether to show a progress bar; by default after five seconds, in a terminal or a notebook.
    **parameters
        Fields of `rwk.Parameters`.

    Returns
    -------
    Gram
        The matrix, read on demand; with `part`, tiles that other jobs compute may be missing.

    Raises
    ------
    GramError
        If the store, the budget or the executor can't be used.

    Examples
    --------
    >>> import networkx as nx
    >>> gram = compute_gram([nx.path_graph(3), nx.star_graph(3), nx.cycle_graph(5)], debias=True)
    >>> gram.shape, float(gram[0, 0]), gram[:2, 1:].shape
    ((3, 3), 0.0, (2, 2))
    """
    settings = Parameters.of(parameters)
    if existing not in EXISTING:
        raise GramError(f"existing={existing!r} is not known; it is one of {', '.join(EXISTING)}")
    share = parse_part(part)
    workers = as_executor(executor, settings.n_jobs)
    backend = settings.solver()
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
    job = TileJob.of(settings, kept.backend)
    if report is not None:
        _solve_missing(kept, tiles, job, workers, report)
    else:
        with shown_progress(verbose, "Gram matrix", None) as bar:
            _solve_missing(kept, tiles, job, workers, functools.partial(show_on, bar))
    return Gram(kept, settings, request.budget)


def show_on(bar: MovingBar | None, progress: GramProgress) -> None:
    """Move a bar by cost rather than by tiles or pairs, so that it moves evenly."""
    if bar is not None:
        tiles = f"{progress.tiles_found + progress.tiles_done}/{progress.n_tiles} tiles"
        bar.show(progress.cost_so_far, progress.cost, f"{tiles}, {progress.pairs_per_second:,.0f} pairs/s")


def parse_part(part: str | None) -> tuple[int, int]:
    """The number of a part, counted from 0, and the number of parts, from text such as "2/8".

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
        if pairs >= 0:  # otherwise a tile is finished, and is about to be counted as a whole
            report(progress)

    def still_missing() -> Iterator[Tile]:
        for tile in _rotated(missing):
            if (tile.row, tile.column) not in damaged and kept.has(tile):  # computed by another process in the meantime
                progress.tiles_found += 1
                progress.cost_found += tile.cost
            else:
                yield tile

    say(0)
    try:
        for tile, solved in workers.solve(job, still_missing(), kept.block, say):
            members = kept.tiling.members(tile.row), kept.tiling.members(tile.column)
            finite_matrix(solved.values, rows=members[0], columns=members[1])
            kept.write(tile, solved)
            progress.tiles_done += 1
            progress.pairs_done += tile.n_pairs
            progress.cost_done += tile.cost
            say(0)
    except NoRoomError as error:
        n_kept = progress.tiles_found + progress.tiles_done
        raise NoRoomError(
            f"the disk is full at {kept.name}; {n_kept} of {len(tiles)} tiles are kept there: "
            "free some space and run the same command again"
        ) from error


def _rotated(tiles: list[Tile]) -> list[Tile]:
    """The tiles in the same cyclic order, but starting elsewhere in every process: two on one store start apart."""
    first = (os.getpid() * 7919) % max(len(tiles), 1)
    return tiles[first:] + tiles[:first]
