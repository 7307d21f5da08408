"""The manifests of a store: which graphs, parameters and solver it is of, and how graphs are cut into blocks.

A store has one manifest for its first graphs, and another for each time graphs were added. Manifests never change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from rwk.gram.errors import GramError
from rwk.graphs import EDGE_FIELDS, NODE_FIELDS, GraphSet
from rwk.parameters import Parameters, Scale
from rwk.transport.problem import SOLVER_VERSION

FORMAT: Final = 1


@dataclass(frozen=True)
class Manifest:
    """One segment of a store; `ends` is where its blocks end, `measures` the folder of their measures."""

    solver_version: int
    backend: str
    parameters: Mapping[str, Any]
    scale: Scale
    graphs: Sequence[str]  # a digest each
    sizes: Sequence[int]
    ends: Sequence[int]
    measures: str
    rwk: str
    format: int = FORMAT

    def to_bytes(self) -> bytes:
        content = asdict(self)
        return json.dumps(content | {"checksum": _checksum(content)}, indent=0).encode()

    @classmethod
    def from_bytes(cls, content: bytes, place: str) -> Manifest:
        """Read a manifest; raises a `GramError` if it is damaged or of a newer format."""
        try:
            fields = json.loads(content)
            written = fields.pop("checksum")
            version = int(fields["format"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GramError(f"{place}: the manifest is damaged; restore it from a copy or use another store") from error
        if version > FORMAT:
            raise GramError(
                f"{place} was written by a newer rwk ({fields.get('rwk')}, store format {version}; this one reads "
                f"{FORMAT}); update rwk or use another store"
            )
        if written != _checksum(fields):
            raise GramError(f"{place}: the manifest is damaged; restore it from a copy or use another store")
        return cls(**fields)


def stored_parameters(parameters: Parameters) -> dict[str, Any]:
    """The parameters that stored values depend on, as plain JSON; values are stored before they are debiased."""
    kept = {name: value for name, value in parameters.determinants().items() if name != "debias"}
    return dict(json.loads(json.dumps(kept)))


def check_same(manifest: Manifest, parameters: Parameters, backend: str, place: str) -> None:
    """Raise a `GramError` that names what differs between the settings of a store and those given."""
    differences: list[tuple[str, Any, Any]] = []
    if manifest.solver_version != SOLVER_VERSION:
        differences.append(("solver version", manifest.solver_version, SOLVER_VERSION))
    if backend not in ("auto", manifest.backend):
        differences.append(("backend", manifest.backend, backend))
    wanted = stored_parameters(parameters)
    for name in {**wanted, **manifest.parameters}:
        old, new = manifest.parameters.get(name), wanted.get(name)
        if old != new:
            differences.append((name, old, new))
    if differences:
        named = ", ".join(f"{name} {old!r} (now {new!r})" for name, old, new in differences)
        raise GramError(f"{place} was made with {named}; use the same settings or another store")


def check_same_graphs(stored: Sequence[str], given: Sequence[str], place: str, *, extend: bool) -> None:
    """Raise a `GramError` unless the given graphs are the stored ones; with `extend`, more may follow them."""
    common = min(len(stored), len(given))
    differing = [i for i in range(common) if stored[i] != given[i]]
    other = "use the same graphs or another store"
    if differing and sorted(stored) == sorted(given):
        raise GramError(f"{place} holds these graphs in another order; {other}")
    if differing:
        what = "graph" if len(differing) == 1 else f"{len(differing)} graphs, the first"
        raise GramError(f"{place} holds other graphs: {what} number {differing[0]} differs; {other}")
    if len(given) < len(stored):
        raise GramError(f"{place} holds {len(stored)} graphs, of which only the first {len(given)} were given; {other}")
    if len(given) > len(stored) and not extend:
        raise GramError(
            f"{place} holds the first {len(stored)} of these {len(given)} graphs; extend it "
            f"(--extend, existing='extend') or use another store"
        )


def graph_digests(graphs: GraphSet) -> list[str]:
    """A short hash of all there is to each graph, the same on every machine."""
    return [_digest(graphs, i) for i in range(len(graphs))]


def _digest(graphs: GraphSet, i: int) -> str:
    graph = graphs[i]
    code = hashlib.blake2b(graph.n_nodes.to_bytes(8, "little"), digest_size=16)
    for name in ("edges", *NODE_FIELDS, *EDGE_FIELDS, "node_distances"):
        values = getattr(graph, name)
        if values is not None:
            code.update(f"{name}{values.shape}".encode())
            code.update(np.ascontiguousarray(values, "<i8" if values.dtype.kind in "iub" else "<f8").tobytes())
    return code.hexdigest()


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
