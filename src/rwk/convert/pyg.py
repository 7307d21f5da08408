"""Converts PyTorch Geometric's `Data`, and the batches and datasets that hold many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.convert.build import ONE_DIRECTION, Names, Notes, build_graph, coded, float_rows
from rwk.graphs import Graph, GraphError


def unpacked(item: Any) -> list[Any] | None:
    """The `Data` objects of a dataset or batch; None for a single `Data`."""
    kinds = {kind.__name__ for kind in type(item).__mro__}
    if "Batch" in kinds:
        return list(item.to_data_list())
    return None if "BaseData" in kinds else [item[i] for i in range(len(item))]


def from_pyg(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert `Data`; whether `x` and `edge_attr` are labels or attributes is decided once for all graphs."""
    node = _meaning(items, "node", names.node_label, names.node_attributes, "x")
    edge = _meaning(items, "edge", names.edge_label, names.edge_attributes, "edge_attr")
    graphs = {}
    for i, data in items.items():
        if data.num_nodes is None or (data.edge_index is None and "adj_t" in data):
            raise GraphError(f"graph {i} has no edge_index or no number of nodes; give it edge_index and num_nodes")
        ends = np.empty((0, 2)) if data.edge_index is None else _array(data.edge_index).T
        edges = dict(edge[i])
        weights = _first(data, names.edge_weight, "edge_weight")
        if weights is not None:
            edges["edge_weights"] = float_rows(_array(weights), f"graph {i}, edge weights")[:, 0]
        if ends.size and not 0 <= ends.min() <= ends.max() < data.num_nodes:
            raise GraphError(
                f"graph {i}: edge_index refers to node {int(ends.max())}, but there are {data.num_nodes} nodes"
            )
        graph, symmetric = build_graph(int(data.num_nodes), ends, nodes=node[i], edges=edges)
        if not symmetric:
            notes.add(ONE_DIRECTION)
        graphs[i] = graph
    return graphs


def pyg_targets(items: Sequence[Any]) -> NDArray[Any] | None:
    """`y` of every graph, or None unless every graph has one and all have the same size."""
    values = [_first(item, "y") for item in items]
    if any(value is None for value in values):
        return None
    rows = [np.atleast_1d(_array(value)).reshape(-1) for value in values]
    if len({len(row) for row in rows}) != 1:
        return None
    table = np.stack(rows)
    return table[:, 0] if table.shape[1] == 1 else table


def _meaning(
    items: Mapping[int, Any], what: str, label: str | None, attributes: str | Sequence[str] | None, usual: str
) -> dict[int, dict[str, Any]]:
    """Fields of `Graph` for the nodes or the edges of every item."""
    fields: dict[int, dict[str, Any]] = {i: {} for i in items}
    if label is not None:
        for i, values in _columns(items, label).items():
            fields[i][f"{what}_labels"], _ = coded(values.reshape(len(values), -1)[:, 0], f"graph {i}, {what}")
    if attributes is not None:
        for name in [attributes] if isinstance(attributes, str) else attributes:
            for i, values in _columns(items, name).items():
                columns = [fields[i].get(f"{what}_attributes"), float_rows(values, f"graph {i}, {name}")]
                fields[i][f"{what}_attributes"] = np.concatenate([c for c in columns if c is not None], axis=1)
        return fields
    given = {i: _array(data[usual]) for i, data in items.items() if _first(data, usual) is not None}
    labels = label is None and _are_labels([values for values in given.values() if len(values)])
    for i, values in given.items():
        if labels:
            codes = values.argmax(axis=1) if values.ndim == 2 and values.shape[1] > 1 else values.reshape(-1)
            fields[i][f"{what}_labels"] = codes.astype(np.int64)
        else:
            fields[i][f"{what}_attributes"] = float_rows(values, f"graph {i}, {usual}")
    return fields


def _are_labels(columns: list[NDArray[Any]]) -> bool:
    """Whether these columns are labels: one-hot rows, or single columns of integers."""
    if not columns or len({values.shape[1:] for values in columns}) > 1:
        return False
    single = columns[0].ndim == 1 or columns[0].shape[1] == 1
    return all(values.dtype.kind in "iub" if single else _one_hot(values) for values in columns)


def _one_hot(values: NDArray[Any]) -> bool:
    return bool(((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all())


def _columns(items: Mapping[int, Any], name: str) -> dict[int, NDArray[Any]]:
    missing = next((i for i, data in items.items() if _first(data, name) is None), None)
    if missing is not None:
        raise GraphError(f"graph {missing} has no {name!r}; give it to all graphs, or choose another name")
    return {i: _array(data[name]) for i, data in items.items()}


def _first(data: Any, *names: str) -> Any:
    return next((data[name] for name in names if name in data and data[name] is not None), None)


def _array(value: Any) -> NDArray[Any]:
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
