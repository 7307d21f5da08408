"""Graphs in the forms of others: networkx, a TU folder, a folder of GraphML, a parquet table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.convert.recognise import as_graphs
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.runtime.files import check_writable, write_whole
from rwk.runtime.user_warnings import warn_user

SMALL = 2**31  # codes of labels above this are hashes of names


def to_networkx(graphs: Any) -> list[Any]:
    """Convert graphs to networkx.

    Nodes have the attributes `label` and `attributes`, edges `label`, `attributes` and `weight`, and graphs `target`,
    as far as the set has them. Labels are texts if the set has names for them. `as_graphs` reads all of it back.

    Parameters
    ----------
    graphs : GraphSet, or anything that `as_graphs` accepts
        The graphs.

    Returns
    -------
    list of networkx.Graph
        One per graph; nodes have their names if the graphs came with names, else they are numbered from 0.

    Examples
    --------
    >>> import networkx as nx
    >>> import rwk
    >>> cycle, path = rwk.to_networkx([nx.cycle_graph(4), nx.path_graph(3)])
    >>> cycle.number_of_edges(), path.number_of_edges()
    (4, 2)
    """
    found = as_graphs(graphs)
    _warn_of_rest(found)
    return [_network(graph, _target(found, i)) for i, graph in enumerate(found)]


def to_tu(graphs: Any, folder: str | os.PathLike[str]) -> Path:
    """Write graphs as a folder of text files in TU form, which `load_dataset` and most graph libraries read.

    Labels with names and classes that are text are numbered from 0; NAME_names.txt says which number is what. Targets
    that are not whole numbers are written as graph attributes, and edge weights as edge attributes.

    Parameters
    ----------
    graphs : GraphSet, or anything that `as_graphs` accepts
        The graphs.
    folder : str or path
        Folder to write; its name becomes the name of the set. It must not exist, or be empty.

    Returns
    -------
    Path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import rwk
    >>> graphs = rwk.as_graphs([nx.cycle_graph(4), nx.path_graph(3)], targets=[0, 1])
    >>> rwk.load_dataset(rwk.to_tu(graphs, tempfile.mkdtemp() + "/TWO"))
    GraphSet('TWO', 2 graphs, 3-4 nodes; targets)
    """
    found, place = as_graphs(graphs), _new_folder(folder)
    _warn_of_rest(found)
    names: list[str] = []
    first = np.repeat(found.node_offsets[:-1], found.n_edges)[:, None] + 1
    ends = found.edges + first
    parts: dict[str, Iterable[Any]] = {
        "A": np.concatenate([ends, ends[:, ::-1]]),
        "graph_indicator": np.repeat(np.arange(1, len(found) + 1), found.sizes),
    }
    targets = _tu_targets(found, names)
    parts["graph_attributes" if targets.dtype.kind == "f" else "graph_labels"] = targets
    if found.node_labels is not None:
        parts["node_labels"] = _tu_labels(found.node_labels, found.label_names, "node label", names)
    if found.node_attributes is not None:
        parts["node_attributes"] = found.node_attributes
    if found.edge_labels is not None:
        parts["edge_labels"] = np.tile(_tu_labels(found.edge_labels, found.label_names, "edge label", names), 2)
    attributes = found.edge_attributes if found.edge_weights is None else _weights_first(found)
    if attributes is not None:
        parts["edge_attributes"] = np.concatenate([attributes, attributes])
    for part, rows in parts.items():
        _write_rows(place / f"{place.name}_{part}.txt", rows)
    if names:
        _write_rows(place / f"{place.name}_names.txt", names)
    return place


def write_graphml(graphs: GraphSet, folder: str | os.PathLike[str]) -> Path:
    """Write one GraphML file per graph, and targets.csv if the graphs have targets."""
    import networkx as nx

    place = _new_folder(folder)
    width = len(str(len(graphs) - 1))
    lines = ["file,target"]
    for i, network in enumerate(to_networkx(graphs)):
        target = network.graph.pop("target", None)
        for data in (*(d for _, d in network.nodes(data=True)), *(d for _, _, d in network.edges(data=True))):
            if "attributes" in data:
                data["attributes"] = json.dumps(data["attributes"])  # GraphML has no lists; the reader knows this form
        for _, data in network.nodes(data=True):
            if "label" in data:  # `label` is a name in files of other programs
                data["node_label"] = data.pop("label")
        file = place / f"{i:0{width}d}.graphml"
        nx.write_graphml(network, file)
        lines.append(f"{file.name},{_csv_cell(target)}")
    if graphs.targets is not None:
        _write_rows(place / "targets.csv", lines)
    return place


def write_parquet(graphs: GraphSet, path: str | os.PathLike[str]) -> Path:
    """Write a parquet table with one row per graph: the graph as node-link JSON, its target and its name."""
    path = check_writable(path)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise GraphError(f"{path}: parquet files need pyarrow: pip install 'rwk[parquet]'") from error
    columns: dict[str, Any] = {"graph": [json.dumps(_node_link(network)) for network in to_networkx(graphs)]}
    if graphs.targets is not None:
        columns["target"] = graphs.targets.tolist()
    if graphs.names is not None:
        columns["name"] = list(graphs.names)
    return write_whole(path, lambda beside: parquet.write_table(pyarrow.table(columns), beside))


def _network(graph: Graph, target: Any) -> Any:
    import networkx as nx

    network = nx.Graph(**({} if target is None else {"target": target}))
    nodes = _columns(graph, "node", graph.n_nodes)
    names = graph.node_names or range(graph.n_nodes)
    network.add_nodes_from((names[i], {key: values[i] for key, values in nodes.items()}) for i in range(graph.n_nodes))
    edges = _columns(graph, "edge", graph.n_edges)
    if graph.edge_weights is not None:
        edges["weight"] = graph.edge_weights.tolist()
    for k, (u, v) in enumerate(graph.edges.tolist()):
        network.add_edge(names[u], names[v], **{key: values[k] for key, values in edges.items()})
    return network


def _columns(graph: Graph, what: str, n_rows: int) -> dict[str, Sequence[Any]]:
    """Labels and attributes of the nodes or edges of a graph, one entry per row."""
    labels, attributes = getattr(graph, f"{what}_labels"), getattr(graph, f"{what}_attributes")
    names = graph.label_names or {}
    found: dict[str, Sequence[Any]] = {}
    if labels is not None and n_rows:
        found["label"] = [names.get(code, code) for code in labels.tolist()]
    if attributes is not None and n_rows:
        found["attributes"] = attributes.tolist()
    return found


def _node_link(network: Any) -> dict[str, Any]:
    return {
        "nodes": [{"id": node, **data} for node, data in network.nodes(data=True)],
        "links": [{"source": u, "target": v, **data} for u, v, data in network.edges(data=True)],
    }


def _target(graphs: GraphSet, i: int) -> Any:
    return None if graphs.targets is None else graphs.targets[i].tolist()


def _tu_targets(graphs: GraphSet, names: list[str]) -> NDArray[Any]:
    if graphs.targets is None:
        warn_user("the graphs have no targets; every class in the TU folder is 0")
        return np.zeros(len(graphs), dtype=np.int64)
    values = np.asarray(graphs.targets)
    if values.dtype.kind in "iub":
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        return values
    classes, codes = np.unique(values.astype(str), return_inverse=True)
    names += [f"class {code}: {name}" for code, name in enumerate(classes)]
    return codes


def _tu_labels(labels: NDArray[np.int64], known: Mapping[int, str] | None, what: str, names: list[str]) -> Any:
    """Labels as small numbers: unchanged if they are, else numbered from 0."""
    used, codes = np.unique(labels, return_inverse=True)
    if not len(used) or (used.min() >= 0 and used.max() < SMALL):
        numbers, codes = used, labels
    else:
        numbers = np.arange(len(used))
    named = zip(numbers.tolist(), used.tolist(), strict=True)
    names += [f"{what} {number}: {known[code]}" for number, code in named if known and code in known]
    return codes.reshape(-1)


def _weights_first(graphs: GraphSet) -> NDArray[Any]:
    assert graphs.edge_weights is not None
    warn_user("TU form has no edge weights; they are written as the first edge attribute")
    weights = graphs.edge_weights[:, None]
    return weights if graphs.edge_attributes is None else np.concatenate([weights, graphs.edge_attributes], axis=1)


def _warn_of_rest(graphs: GraphSet) -> None:
    for field in ("node_weights", "node_distances"):
        if getattr(graphs, field) is not None:
            warn_user(f"{field.replace('_', ' ')} have no place in this form and are left out")


def _new_folder(folder: str | os.PathLike[str]) -> Path:
    place = Path(folder)
    if place.is_file() or (place.is_dir() and any(place.iterdir())):
        raise GraphError(f"{place} exists already; give a folder that is new or empty")
    check_writable(place / "probe")
    return place


def _write_rows(path: Path, rows: Iterable[Any]) -> None:
    lines = (", ".join(map(repr, row.tolist())) if np.ndim(row) else str(row) for row in rows)
    text = "\n".join(lines) + "\n"
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def _csv_cell(value: Any) -> str:
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text
