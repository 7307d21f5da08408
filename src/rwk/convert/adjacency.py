"""Converts adjacency matrices, dense or sparse, alone or with labels and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.convert.build import Names, Notes, build_graph, coded, float_rows
from rwk.graphs import Graph, GraphError

ROUNDING = 1e-12  # of the largest entry
NOT_SYMMETRIC = "have an adjacency matrix that is not symmetric; the edges are used in both directions"


def is_matrix(item: Any) -> bool:
    """Whether an object could be an adjacency matrix."""
    if isinstance(item, list):  # of lists of numbers
        return bool(item) and all(isinstance(row, list) and all(np.isscalar(v) for v in row) for row in item)
    return getattr(item, "ndim", None) == 2 and hasattr(item, "shape")


def from_arrays(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert adjacency matrices, pairs (adjacency, labels or attributes) and triples (adjacency, both)."""
    graphs = {}
    for i, item in items.items():
        adjacency, *more = item if isinstance(item, tuple) else (item,)
        ends, weights, n_nodes = read_adjacency(adjacency, i)
        nodes, label_names = _node_values(more, n_nodes, i)
        graph, symmetric = build_graph(
            n_nodes, ends, nodes=nodes, edges={"edge_weights": weights}, label_names=label_names
        )
        if not symmetric:
            notes.add(NOT_SYMMETRIC)
        graphs[i] = graph
    return graphs


def read_adjacency(adjacency: Any, i: int) -> tuple[NDArray[np.int64], NDArray[np.float64], int]:
    """Positions and values of the non-zero entries, and the number of nodes."""
    rows: NDArray[Any]
    columns: NDArray[Any]
    if hasattr(adjacency, "tocoo"):
        from scipy.sparse import coo_array

        entries = coo_array(adjacency)
        entries.sum_duplicates()
        rows, columns, weights = entries.row, entries.col, entries.data
    else:
        try:
            if np.asarray(adjacency).dtype.kind in "mMc":
                raise TypeError
            adjacency = np.asarray(adjacency, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise GraphError(f"graph {i}: the adjacency matrix is not a table of numbers; correct it") from error
        adjacency = _rounded_alike(adjacency)
        rows, columns = np.nonzero(adjacency)
        weights = adjacency[rows, columns]
    if len(adjacency.shape) != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise GraphError(f"graph {i}: the adjacency matrix has shape {adjacency.shape}; it must be square")
    stored = weights != 0
    ends = np.stack([rows[stored], columns[stored]], axis=1).astype(np.int64)
    return ends, weights[stored].astype(np.float64), int(adjacency.shape[0])


def _rounded_alike(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """A matrix that is symmetric but for the last digits, as `np.corrcoef` returns it, made symmetric; others as is."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        return matrix
    apart = float(np.abs(matrix - matrix.T).max(initial=0.0))
    return (matrix + matrix.T) / 2 if 0 < apart <= ROUNDING * float(np.abs(matrix).max()) else matrix


def _node_values(more: list[Any], n_nodes: int, i: int) -> tuple[dict[str, Any], dict[int, str]]:
    """Labels and attributes from what follows the matrix in a tuple, and the names of the labels."""
    nodes: dict[str, Any] = {}
    label_names: dict[int, str] = {}
    for place, given in enumerate(more):
        if given is None:
            continue
        values = _as_array(given, i)
        if len(values) != n_nodes:
            raise GraphError(f"graph {i} has {n_nodes} nodes but {len(values)} labels or attributes; give one per node")
        if values.ndim == 1 and values.dtype.kind != "f" and place == 0:
            nodes["node_labels"], label_names = coded(values, f"graph {i}, node")
        else:
            nodes["node_attributes"] = float_rows(values, f"graph {i}")
    return nodes, label_names


def _as_array(given: Any, i: int) -> NDArray[Any]:
    if isinstance(given, Mapping):
        given = [given[key] for key in sorted(given)]
    if hasattr(given, "toarray"):
        given = given.toarray()
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise GraphError(f"graph {i}: attributes must be numbers, the same number of them in every row") from error
    if values.ndim not in (1, 2):
        raise GraphError(f"graph {i}: labels or attributes have shape {values.shape}; give one row per node")
    mixed = values.dtype.kind in "US" and not isinstance(given, np.ndarray)
    return np.array(given, dtype=object) if mixed and values.ndim == 1 else values  # ["C", 6]: 6 stays a number
