"""The parsed form of a set on disk, as npz without pickle, and the checksum of its content."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.datasets.tu_files import Source
from rwk.graphs import EDGE_FIELDS, NODE_FIELDS, GraphSet
from rwk.runtime.files import read_arrays, user_path, write_arrays

_FORMAT = 1  # increase it when the parsed form changes
_INTEGERS = ("node_offsets", "edge_offsets", "edges", "node_labels", "edge_labels", "n_self_loops")
_ARRAYS = ("node_offsets", "edge_offsets", "edges", *NODE_FIELDS, *EDGE_FIELDS, "targets", "n_self_loops")


def cache_folder() -> Path:
    """Where downloads and parsed sets are kept: `$RWK_CACHE`, or the user's cache folder."""
    given = os.environ.get("RWK_CACHE")
    if given:
        return user_path(given)
    try:
        import pooch
    except ImportError:  # pooch may be left out on a computer that never downloads
        return Path.home() / ".cache" / "rwk"
    return Path(pooch.os_cache("rwk"))


def read_cached(source: Source) -> GraphSet | None:
    """The parsed form of a source, or None if there is none, or it is outdated or damaged."""
    stored = read_arrays(_cache_file(source))
    if stored is None:
        return None
    try:
        head = json.loads(str(stored["head"]))
        if head["stamp"] != _stamp(source):
            return None
        arrays = {name: stored[name] for name in _ARRAYS if name in stored}
        for name in _INTEGERS:
            if name in arrays:
                arrays[name] = arrays[name].astype(np.int64)
        names = {int(code): text for code, text in head["label_names"].items()}
        return GraphSet(**arrays, label_names=names or None, name=head["name"])
    except (ValueError, KeyError, TypeError, AttributeError):  # the file of an earlier version, damaged
        return None


def write_cached(source: Source, graphs: GraphSet) -> None:
    """Write the parsed form to the cache; does nothing if the folder cannot be written to."""
    head = {"stamp": _stamp(source), "name": graphs.name, "label_names": dict(graphs.label_names or {})}
    arrays = {name: getattr(graphs, name) for name in _ARRAYS if getattr(graphs, name) is not None}
    arrays |= {name: _narrow(arrays[name]) for name in _INTEGERS if name in arrays}
    file = _cache_file(source)
    with contextlib.suppress(OSError):
        write_arrays(file, head=np.array(json.dumps(head)), **arrays)


def content_checksum(graphs: GraphSet, *, node_order: bool = True) -> str:
    """sha256 of the graphs themselves: equal for all files that contain the same graphs.

    It does not depend on the order in which edges are listed, on spaces, on line ends or on compression. With
    `node_order=False` it does not depend on the order of the nodes either; it then covers only sizes, degrees and
    targets.
    """
    arrays = {name: getattr(graphs, name) for name in _ARRAYS if name != "n_self_loops"}
    if not node_order:
        degrees = np.bincount(graphs.packed_edges.ravel(), minlength=int(graphs.node_offsets[-1]))
        by_graph = np.lexsort((degrees, np.repeat(np.arange(len(graphs)), graphs.sizes)))
        arrays = {"node_offsets": graphs.node_offsets, "degrees": degrees[by_graph], "targets": graphs.targets}
    digest = hashlib.sha256()
    for name, values in arrays.items():
        if values is not None:
            values = np.ascontiguousarray(values, dtype="<i8" if values.dtype.kind == "i" else "<f8")
            digest.update(f"{name}{values.shape}".encode())
            digest.update(values.data)
    return digest.hexdigest()


def _cache_file(source: Source) -> Path:
    where = hashlib.sha256(str(source.path.resolve()).encode()).hexdigest()[:16]
    return cache_folder() / "parsed" / f"{source.name}-{where}.npz"


def _stamp(source: Source) -> str:
    return f"{_FORMAT};{source.stamp}"


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The integers in the smallest type that holds them all."""
    if not len(values):
        return values
    low, high = int(values.min()), int(values.max())
    return values.astype(np.promote_types(np.min_scalar_type(low), np.min_scalar_type(high)))
