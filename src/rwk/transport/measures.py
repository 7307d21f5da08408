"""What the solver needs to know about a set of graphs, and functions that cut, join, convert and store it."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.arrays import IntArray
from rwk.runtime.threads import in_threads

_NODE_FIELDS: Final = ("weights", "degrees", "features", "returns", "square_norms", "embedding", "signs")
LARGE: Final = 2**27  # bytes
_NUMBERS: Final = ("hamming_cost", "product_cost", "neighbour_cost")


class GraphMeasures(NamedTuple):
    """What the solver needs to know about a set of graphs, packed; graph i owns nodes `offsets[i]:offsets[i + 1]`.

    All scales are already applied: features and structure are divided by their scales, `hamming_cost` is the cost of
    a full mismatch of colours, and `neighbour_cost` is the cost of one unit of embedding distance. Sparse features are
    stored by column; each column has a 64-bit key that means the same in every set of graphs. If `product_cost` is
    above 0, it is the largest value of the product cost (R18), and the distances of `features` and of `returns` are
    its exponents.
    """

    offsets: NDArray[np.int64]  # (N + 1,)
    weights: NDArray[Any]  # (V,)
    degrees: NDArray[Any]  # (V,)
    features: NDArray[Any]  # (V, d) dense part of the feature vectors; the attributes if there is a product cost
    returns: NDArray[Any]  # (V, 50) return probabilities if there is a product cost, else (V, 0)
    square_norms: NDArray[Any]  # (V,) squared norms of the sparse part
    column_offsets: NDArray[np.int64]  # (N + 1,) where the sparse columns of each graph begin
    column_keys: NDArray[np.uint64]  # sorted inside each graph
    entry_offsets: NDArray[np.int64]  # (columns + 1,)
    entry_rows: NDArray[np.int64]  # number of the node inside its graph
    entry_values: NDArray[Any]
    colours: NDArray[np.uint64]  # (rounds, V); rounds is 0 if no cost compares colours
    embedding: NDArray[Any]  # (V, k) if C_N is Euclidean, else (V, 0)
    signs: NDArray[np.int8]  # (V, k) if C_N is a Hamming distance, else (V, 0)
    factor_offsets: NDArray[np.int64]  # (N + 1,)
    factors: NDArray[Any]  # F of each graph (n, r) with F F^T = S, row by row
    structure_offsets: NDArray[np.int64]  # (N + 1,)
    structure: NDArray[Any]  # C_P of each graph (n, n), row by row
    laplacian_offsets: NDArray[np.int64]  # (V + 1,) rows of the sparse L
    laplacian_columns: NDArray[np.int64]
    laplacian_values: NDArray[Any]
    hamming_cost: float
    product_cost: float
    neighbour_cost: float

    @property
    def n_graphs(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)


def no_measures() -> GraphMeasures:
    """Measures of no graph, whose fields have the types that those of all graphs have in float64.

    >>> no_measures().n_graphs
    0
    """
    row, table, counts, keys = np.zeros(0), np.zeros((0, 0)), np.zeros(1, np.int64), np.zeros(0, np.uint64)
    numbers = np.zeros(0, np.int64)
    return GraphMeasures(
        offsets=counts, weights=row, degrees=row, features=table, returns=table, square_norms=row,
        column_offsets=counts, column_keys=keys, entry_offsets=counts, entry_rows=numbers, entry_values=row,
        colours=np.zeros((0, 0), np.uint64), embedding=table, signs=np.zeros((0, 0), np.int8), factor_offsets=counts,
        factors=row, structure_offsets=counts, structure=row, laplacian_offsets=counts, laplacian_columns=numbers,
        laplacian_values=row, hamming_cost=0.0, product_cost=0.0, neighbour_cost=0.0,
    )  # fmt: skip


def cut(measures: GraphMeasures, chosen: IntArray) -> GraphMeasures:
    """Measures of the chosen graphs only, in the given order."""
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
    """Measures as the bytes of an npz file, whose members have checksums."""
    stream = io.BytesIO()
    np.savez(stream, **measures._asdict())
    return stream.getvalue()


def from_bytes(content: bytes) -> GraphMeasures | None:
    """Measures from the bytes of an npz file; None if the file is damaged."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as stored:
            fields: dict[str, Any] = {name: stored[name] for name in GraphMeasures._fields}
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile):
        return None
    fields |= {name: float(fields[name]) for name in _NUMBERS}
    return GraphMeasures(**fields)


def alike(first: GraphMeasures, second: GraphMeasures) -> bool:
    """Whether two measures are equal up to rounding differences between machines."""
    for name in GraphMeasures._fields:
        a, b = np.asarray(getattr(first, name)), np.asarray(getattr(second, name))
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-6, atol=1e-9):
            return False
    return True


def _runs(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Packed rows of the chosen runs, in the given order, and the offsets of the runs in this new packing."""
    lengths = np.diff(offsets)[chosen]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.repeat(offsets[:-1][chosen] - ends[:-1], lengths) + np.arange(ends[-1])
    return rows.astype(np.int64), ends


def in_precision(measures: GraphMeasures, precision: str) -> GraphMeasures:
    """Measures with their matrices in the precision of the solve; everything else stays as it is."""
    real = np.dtype(precision)
    return measures._replace(
        factors=measures.factors.astype(real, copy=False),
        structure=measures.structure.astype(real, copy=False),
        laplacian_values=measures.laplacian_values.astype(real, copy=False),
    )


def joined(*parts: GraphMeasures) -> GraphMeasures:
    """The graphs of all parts, one part after the other; all must come from the same representation."""
    if len(parts) == 1:
        return parts[0]
    fields: dict[str, Any] = {}
    for name in GraphMeasures._fields:
        arrays = [getattr(part, name) for part in parts]
        if name.endswith("offsets"):
            ends = np.cumsum([0, *(array[-1] for array in arrays)])
            shifted = [array[1:] + end for array, end in zip(arrays, ends, strict=False)]
            fields[name] = np.concatenate([arrays[0][:1], *shifted])
        elif isinstance(arrays[0], np.ndarray):
            fields[name] = np.concatenate(arrays, axis=1) if name == "colours" else _stacked(arrays)
    return parts[0]._replace(**fields)


def _stacked(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """`np.concatenate`, in threads if the arrays are large: most of that time is the first touch of new memory."""
    lengths = [len(array) for array in arrays]
    if sum(array.nbytes for array in arrays) < LARGE:
        return np.concatenate(arrays)
    out = np.empty((sum(lengths), *arrays[0].shape[1:]), arrays[0].dtype)
    ends = np.cumsum(lengths)

    def copy(i: int) -> int:
        out[ends[i] - lengths[i] : ends[i]] = arrays[i]
        return 1

    in_threads(copy, len(arrays), n_jobs=None, tick=None)
    return out
