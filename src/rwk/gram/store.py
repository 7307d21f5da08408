"""Finished tiles as zarr arrays, local or remote, with everything that is needed to compute the missing ones.

    STORE/
      manifest-0000.json     graphs, parameters, solver; -0001 ...: graphs added later
      measures-3fa9c1d2/     the measures of each block of graphs, shared by all processes
      discrepancy-0/         zarr array; chunk r.c is the tile of blocks r and c, with zstd and crc32c
      health-0/              zarr array; for each tile: pairs not converged, iterations, seconds

Processes may share a store, and a killed process leaves nothing half done: every file is written under a temporary name
and renamed, manifests are created once and never changed, and a tile is bit-identical whoever computes it (R16).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from rwk.gram.errors import GramError, need, storage_errors
from rwk.gram.manifest import Manifest
from rwk.gram.places import Place
from rwk.gram.tiles import Tile, Tiling
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.represent.footprint import measure_bytes
from rwk.runtime.arrays import FloatArray
from rwk.transport.measures import GraphMeasures, from_bytes, to_bytes

Keys = set[tuple[int, int]]
_TILE_KEY = re.compile(r"(\d+)\.(\d+)")


class TileValues(NamedTuple):
    """A solved tile: its discrepancies, and how the solving went."""

    values: FloatArray  # (n_rows, n_columns)
    n_not_converged: int
    n_iter: int  # of all pairs together
    seconds: float


class DamagedTileError(GramError):
    """Raised if a tile is missing, incomplete, or has a wrong checksum."""


class GramStore:
    """The tiles and measures of one set of graphs with one set of parameters, kept at a place."""

    def __init__(self, place: Place, segments: list[Manifest], graphs: GraphSet, settings: Parameters) -> None:
        self.place = place
        self.segments = segments
        self.tiling = Tiling.of(
            [np.asarray(segment.sizes, np.int64) for segment in segments],
            [segment.ends for segment in segments],
            measure_bytes(graphs, settings),
        )
        self._graphs, self._settings = graphs, settings
        self._zarr_store = place.zarr_store()
        self._values = [self._array("discrepancy", s) for s in range(len(segments))]
        self._health = [self._array("health", s) for s in range(len(segments))]

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def backend(self) -> str:
        return self.segments[0].backend

    def block(self, number: int) -> GraphMeasures:
        """The measures of a block; if its file is damaged or gone, they are computed again."""
        segment = self.segments[self.tiling.segment_of(number)]
        key = f"{segment.measures}/{number:06d}.npz"
        try:
            measures = from_bytes(self.place.read(key))
        except KeyError:
            measures = None
        if measures is None:
            chosen = self._graphs[self.tiling.members(number)]
            measures, _ = represent(chosen, self._settings, scale=self.segments[0].scale)
            self.place.write(key, to_bytes(measures))
        return measures

    def done(self) -> Keys:
        """Tiles that exist; `verified` checks whether they are intact."""
        found: Keys = set()
        for s, start in enumerate(self.tiling.starts[:-1]):
            for key in self.place.names(f"discrepancy-{s}"):
                if match := _TILE_KEY.fullmatch(key):
                    found.add((int(match[1]), int(match[2]) + int(start)))
        return found

    def has(self, tile: Tile) -> bool:
        """Whether a tile exists by now."""
        segment = self.tiling.segment_of(tile.column)
        inside = tile.column - int(self.tiling.starts[segment])
        return self.place.exists(f"discrepancy-{segment}/{tile.row}.{inside}")

    def verified(self, tiles: Iterable[Tile]) -> tuple[Keys, Keys]:
        """Of the given tiles, those that are intact and those that are damaged."""
        done = self.done()
        damaged: Keys = set()
        healths = [_whole_health(array) for array in self._health] if done else []
        for tile in tiles:
            if (tile.row, tile.column) in done:
                segment = self.tiling.segment_of(tile.column)
                health = healths[segment][tile.row, tile.column - int(self.tiling.starts[segment])]
                try:
                    self.read(tile.row, tile.column)
                except DamagedTileError:
                    damaged.add((tile.row, tile.column))
                if np.isnan(health).any():  # health is written before its tile, so it has been removed since
                    damaged.add((tile.row, tile.column))
        return done - damaged, damaged

    def read(self, row: int, column: int) -> FloatArray:
        """The values of one tile, row <= column."""
        with storage_errors(self.name):
            segment, (rows, columns), shape = self._locate(row, column)
            try:
                values = np.asarray(self._values[segment][rows, columns])[: shape[0], : shape[1]]
            except (ValueError, RuntimeError) as error:
                raise DamagedTileError(self._damaged(row, column)) from error
            if np.isnan(values).any():  # what zarr returns for a missing chunk
                raise DamagedTileError(self._damaged(row, column))
        return values

    def write(self, tile: Tile, solved: TileValues) -> None:
        """Store a tile, health first, so that every tile that exists has its health."""
        segment, (rows, columns), shape = self._locate(tile.row, tile.column)
        array = self._values[segment]
        padded = np.full(array.chunks, np.nan)
        padded[: shape[0], : shape[1]] = solved.values
        inside = tile.column - int(self.tiling.starts[segment])
        with storage_errors(self.name):
            self._health[segment][tile.row, inside] = solved[1:]
            array[rows, columns] = padded

    def health(self) -> FloatArray:
        """Pairs not converged, iterations and seconds, summed over all tiles."""
        with storage_errors(self.name):
            return np.asarray(sum(np.nansum(_whole_health(array), axis=(0, 1)) for array in self._health))

    def sweep(self) -> None:
        """Remove what a killed process left: measures that no manifest lists, and old half-written files."""
        named = {segment.measures for segment in self.segments}
        for key in self.place.names():
            if key.startswith("measures-") and key not in named:
                self.place.remove(key)
        for folder in self.place.names():
            self.place.sweep(folder)

    def _locate(self, row: int, column: int) -> tuple[int, tuple[slice, slice], tuple[int, int]]:
        """The segment of a tile, its chunk in that segment's array, and the shape of the part it fills."""
        segment = self.tiling.segment_of(column)
        height, width = self._values[segment].chunks
        inside = column - int(self.tiling.starts[segment])
        counts = np.diff(self.tiling.bounds)
        chunk = slice(row * height, (row + 1) * height), slice(inside * width, (inside + 1) * width)
        return segment, chunk, (int(counts[row]), int(counts[column]))

    def _array(self, kind: str, segment: int) -> Any:
        """Open an array or create it; if another process has just created it, open that one."""
        zarr = need("zarr", "a store")
        path = f"{kind}-{segment}"
        rows = int(self.tiling.starts[segment + 1])
        columns = rows - int(self.tiling.starts[segment])
        if kind == "health":
            chunks: tuple[int, ...] = (1, 1, 3)
            shape: tuple[int, ...] = (rows, columns, 3)
        else:
            chunks = max(self.tiling.largest_block(s) for s in range(segment + 1)), self.tiling.largest_block(segment)
            shape = rows * chunks[0], columns * chunks[1]
        with storage_errors(self.name):
            try:
                found = zarr.open_array(self._zarr_store, path=path, mode="r+")
                if (found.shape, found.chunks) == (shape, chunks):
                    return found
                raise ValueError("the array has another shape")
            except FileNotFoundError:
                pass
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise GramError(
                    f"{self.name}: {path}/zarr.json is damaged; remove that file and run again, tiles are not lost"
                ) from error
            try:
                return zarr.create_array(
                    self._zarr_store,
                    name=path,
                    shape=shape,
                    chunks=chunks,
                    dtype="float64",
                    fill_value=np.nan,
                    compressors=(zarr.codecs.ZstdCodec(level=1), zarr.codecs.Crc32cCodec()),
                    chunk_key_encoding={"name": "v2", "separator": "."},
                )
            except zarr.errors.ContainsArrayError:
                return zarr.open_array(self._zarr_store, path=path, mode="r+")

    def _damaged(self, row: int, column: int) -> str:
        return f"{self.name}: tile {row}.{column} is missing or damaged; run again to compute it"


def _whole_health(array: Any) -> FloatArray:
    """The health of all tiles of a segment; NaN where a file is damaged."""
    try:
        return np.asarray(array[:])
    except (ValueError, RuntimeError):
        found = np.full(array.shape, np.nan)
    for row, column in np.ndindex(array.shape[:2]):
        with suppress(ValueError, RuntimeError):
            found[row, column] = array[row, column]
    return found


class MemoryTiles:
    """The same interface for tiles that are kept in memory only."""

    name = "memory"

    def __init__(self, tiling: Tiling, blocks: list[GraphMeasures], backend: str) -> None:
        self.tiling, self.backend = tiling, backend
        self._blocks = blocks
        self._tiles: dict[tuple[int, int], TileValues] = {}

    def block(self, number: int) -> GraphMeasures:
        return self._blocks[number]

    def done(self) -> Keys:
        return set(self._tiles)

    def has(self, tile: Tile) -> bool:
        return (tile.row, tile.column) in self._tiles

    def verified(self, tiles: Iterable[Tile]) -> tuple[Keys, Keys]:
        return self.done(), set()

    def read(self, row: int, column: int) -> FloatArray:
        return self._tiles[row, column].values

    def write(self, tile: Tile, solved: TileValues) -> None:
        self._tiles[tile.row, tile.column] = solved

    def health(self) -> FloatArray:
        rows = [solved[1:] for solved in self._tiles.values()]
        return np.asarray(np.array(rows, np.float64).reshape(-1, 3).sum(axis=0))
