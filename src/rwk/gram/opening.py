"""Opening a store: making a new one, resuming one, adding graphs to one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

import numpy as np

import rwk
from rwk.gram.budget import Workload, check_fits, limits_within
from rwk.gram.errors import GramError
from rwk.gram.manifest import Manifest, check_same, check_same_graphs, graph_digests, stored_parameters
from rwk.gram.places import Place
from rwk.gram.store import GramStore, MemoryTiles
from rwk.gram.tiles import Tiling, block_ends
from rwk.graphs import GraphSet
from rwk.parameters import Parameters, Scale
from rwk.represent import learn_scale, represent
from rwk.represent.footprint import measure_bytes
from rwk.runtime.arrays import IntArray
from rwk.transport.measures import GraphMeasures, alike, cut, to_bytes
from rwk.transport.problem import SOLVER_VERSION

Existing = Literal["resume", "refuse", "extend"]
EXISTING: Final = ("resume", "refuse", "extend")
MEASURES_OF_ALL: Final = 4  # copies of all measures in memory while they are made
PROBES: Final = 4  # stored graphs that are represented again, as a check, before others are added


class Request(NamedTuple):
    """What `compute_gram` was asked for."""

    graphs: GraphSet
    settings: Parameters
    backend: str  # "auto", "cpu", "gpu" or "exact"
    budget: int
    load: Workload


def in_memory(request: Request, backend: str) -> MemoryTiles:
    """Tiles that are kept in memory only."""
    sizes, taken = request.graphs.sizes, measure_bytes(request.graphs, request.settings)
    ends = block_ends(sizes, taken, limits_within(request.budget, sizes, taken, request.load))
    tiling = Tiling.of([sizes], [ends], taken)
    measures, _ = represent(request.graphs, request.settings)
    blocks = [cut(measures, tiling.members(b)) for b in range(tiling.n_blocks)]
    return MemoryTiles(tiling, blocks, backend)


def open_store(place: Place, request: Request, existing: Existing, find_backend: Callable[[], str]) -> GramStore:
    """The store of these graphs and settings, made or extended if needed; raises a `GramError` if it holds others."""
    segments = read_segments(place)
    digests = graph_digests(request.graphs)
    if not segments:
        _check_empty(place)
        segments = _add_segment(place, request, digests, [], find_backend)
    elif existing == "refuse":
        raise GramError(
            f"{place.name} already holds a Gram matrix of {sum(len(s.graphs) for s in segments)} graphs; "
            "resume it (--resume, existing='resume') or use another store"
        )
    check_same(segments[0], request.settings, request.backend, place.name)
    stored = [digest for segment in segments for digest in segment.graphs]
    check_same_graphs(stored, digests, place.name, extend=existing == "extend")
    if len(digests) > len(stored):
        segments = _add_segment(place, request, digests, segments, find_backend)
        stored = [digest for segment in segments for digest in segment.graphs]
        check_same_graphs(stored, digests, place.name, extend=False)
    store = GramStore(place, segments, request.graphs, request.settings)
    check_fits(store.tiling, request.budget, request.load)
    store.sweep()
    return store


def read_segments(place: Place) -> list[Manifest]:
    """All manifests of a store; an empty list if there is no store."""
    names = sorted(key for key in place.names() if key.startswith("manifest-") and key.endswith(".json"))
    return [Manifest.from_bytes(place.read(name), place.name) for name in names]


def _check_empty(place: Place) -> None:
    strangers = [key for key in place.names() if not key.startswith("measures-") and not key.endswith(".partial")]
    if strangers:
        raise GramError(
            f"{place.name} is not a store, but holds other files ({min(strangers)} ...); choose an empty or new folder"
        )


def _add_segment(
    place: Place, request: Request, digests: list[str], segments: list[Manifest], find_backend: Callable[[], str]
) -> list[Manifest]:
    """Represent the new graphs and store their measures, and only then the manifest that lists them."""
    first = sum(len(segment.graphs) for segment in segments)
    first_block = sum(len(segment.ends) for segment in segments)
    new = request.graphs[first:]
    folder = f"measures-{uuid.uuid4().hex[:8]}"
    taken = measure_bytes(request.graphs, request.settings)
    limits = limits_within(request.budget, request.graphs.sizes, taken, request.load)
    ends = block_ends(new.sizes, taken[first:], limits)
    if segments:
        scale = segments[0].scale
        _check_represented_alike(place, request, segments)
        measures = _represented(new, request, scale)[0]
    else:
        measures, scale = _represented(new, request, None)
    order = np.argsort(new.sizes, kind="stable")
    for b, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        block = _block(new, measures, order[start:end], request.settings, scale)
        place.write(f"{folder}/{first_block + b:06d}.npz", to_bytes(block))
    manifest = Manifest(
        solver_version=SOLVER_VERSION,
        backend=segments[0].backend if segments else find_backend(),
        parameters=stored_parameters(request.settings),
        scale=scale,
        graphs=digests[first:],
        sizes=new.sizes.tolist(),
        ends=ends,
        measures=folder,
        rwk=rwk.__version__,
    )
    if not place.create(f"manifest-{len(segments):04d}.json", manifest.to_bytes()):
        place.remove(folder)  # another process was first; its store is used, and checked like any other
    return read_segments(place)


def _block(
    graphs: GraphSet, measures: GraphMeasures | None, chosen: IntArray, settings: Parameters, scale: Scale
) -> GraphMeasures:
    if measures is not None:
        return cut(measures, chosen)
    return represent(graphs[chosen], settings, scale=scale)[0]


def _represented(graphs: GraphSet, request: Request, scale: Scale | None) -> tuple[GraphMeasures | None, Scale]:
    """The measures of all graphs, or None if they exceed the budget, and the scale (R7)."""
    if MEASURES_OF_ALL * float(measure_bytes(graphs, request.settings).sum()) <= request.budget:
        return represent(graphs, request.settings, scale=scale)
    return None, learn_scale(graphs, request.settings) if scale is None else scale


def _check_represented_alike(place: Place, request: Request, segments: list[Manifest]) -> None:
    """Check that this version represents graphs as the stored ones were: a few are represented again and compared."""
    store = GramStore(place, segments, request.graphs, request.settings)
    block = store.block(0)
    chosen = np.arange(min(PROBES, block.n_graphs))
    again, _ = represent(request.graphs[store.tiling.members(0)[chosen]], request.settings, scale=segments[0].scale)
    if not alike(again, cut(block, chosen)):
        raise GramError(
            f"{place.name} was written by rwk {segments[0].rwk}, which represents graphs differently; "
            "extend it with that version, or use another store"
        )
