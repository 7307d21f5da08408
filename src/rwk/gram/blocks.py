"""The measures of one block of graphs: cut from those of all, and as bytes without pickle."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

import numpy as np

from rwk.graphs import IntArray
from rwk.transport.problem import GraphMeasures

_NODE_FIELDS: Final = ("weights", "degrees", "features", "square_norms", "embedding", "signs")
_NUMBERS: Final = ("hamming_cost", "neighbour_cost")


def cut(measures: GraphMeasures, chosen: IntArray) -> GraphMeasures:
    """Measures of the chosen graphs alone, in this order."""
    nodes, offsets = _runs(measures.offsets, chosen)
    columns, column_offsets = _runs(measures.column_offsets, chosen)
    entries, entry_offsets = _runs(measures.entry_offsets, columns)
    laplacian, laplacian_offsets = _runs(measures.laplacian_offsets, nodes)
    factors, factor_offsets = _runs(measures.factor_offsets, chosen)
    structure, structure_offsets = _runs(measures.structure_offsets, chosen)
    return measures._replace(
        **{name: getattr(measures, name)[nodes] for name in _NODE_FIELDS},
        offsets=offsets,
        colours=np.ascontiguousarray(measures.colours[:, nodes]),
        column_offsets=column_offsets,
        column_keys=measures.column_keys[columns],
        entry_offsets=entry_offsets,
        entry_rows=measures.entry_rows[entries],
        entry_values=measures.entry_values[entries],
        laplacian_offsets=laplacian_offsets,
        laplacian_columns=measures.laplacian_columns[laplacian],
        laplacian_values=measures.laplacian_values[laplacian],
        factor_offsets=factor_offsets,
        factors=measures.factors[factors],
        structure_offsets=structure_offsets,
        structure=measures.structure[structure],
    )


def to_bytes(measures: GraphMeasures) -> bytes:
    """Measures as an npz file, whose members carry checksums."""
    stream = io.BytesIO()
    np.savez(stream, **measures._asdict())
    return stream.getvalue()


def from_bytes(content: bytes) -> GraphMeasures | None:
    """Measures from an npz file; None where it is damaged."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            fields: dict[str, Any] = {name: stored[name] for name in GraphMeasures._fields}
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        return None
    fields |= {name: float(fields[name]) for name in _NUMBERS}
    return GraphMeasures(**fields)


def alike(first: GraphMeasures, second: GraphMeasures) -> bool:
    """Whether two measures are the same up to the rounding of another machine."""
    for name in GraphMeasures._fields:
        a, b = np.asarray(getattr(first, name)), np.asarray(getattr(second, name))
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-6, atol=1e-9):
            return False
    return True


def _runs(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Packed rows of the chosen runs in their order, and the offsets of these runs among themselves."""
    lengths = np.diff(offsets)[chosen]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.repeat(offsets[:-1][chosen] - ends[:-1], lengths) + np.arange(ends[-1])
    return rows.astype(np.int64), ends
