"""Converts files with one graph each: GraphML, GML, GEXF, edge lists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rwk.convert.build import Names, Notes
from rwk.convert.edge_lists import parse_edge_list
from rwk.convert.file_contents import read_text
from rwk.convert.networkx_igraph import from_networks
from rwk.graphs import Graph, GraphError

EDGE_LISTS = (".edgelist", ".edges", ".txt")
GRAPH_FILES = (".graphml", ".gml", ".gexf", *EDGE_LISTS)
PICKLES = (".pkl", ".pickle", ".gpickle")


def from_files(items: Mapping[int, Path], names: Names, notes: Notes) -> dict[int, Graph]:
    """Read the files with networkx and convert what it returns."""
    networks = {i: _read(path) for i, path in items.items()}
    labelled = {i: _label_names(networks[i]) for i, path in items.items() if path.suffix.lower() in (".gml", ".gexf")}
    if names.node_label is None:
        for kind in (".graphml", ".gml", ".gexf"):
            _forget_names([network for i, network in networks.items() if items[i].suffix.lower() == kind])
    graphs = from_networks(networks, names, notes)
    return {i: replace(graph, node_names=labelled.get(i) or graph.node_names) for i, graph in graphs.items()}


def _read(path: Path) -> Any:
    import networkx as nx

    readers = {
        ".graphml": nx.read_graphml,
        ".gml": lambda file: nx.read_gml(file, label="id"),  # a GML label need not be unique
        ".gexf": nx.read_gexf,
    }
    ending = path.suffix.lower()
    if ending in EDGE_LISTS:
        return parse_edge_list(read_text(path), str(path))
    check_kind(path, (*readers,))
    try:
        return _with_vectors(readers[ending](path))
    except OSError as error:
        raise GraphError(f"{path} cannot be opened ({error.strerror or error}); check the path") from error
    except Exception as error:  # each reader raises its own kinds of errors for invalid files
        raise GraphError(f"{path}: not a valid {path.suffix[1:].lower()} file ({error}); correct it") from error


def _with_vectors(network: Any) -> Any:
    """The network with attributes that `exports` wrote as text, such as "[0.5, 1.0]", as lists of numbers."""
    rows = [data for _, data in network.nodes(data=True)] + [data for _, _, data in network.edges(data=True)]
    for data in rows:
        text = data.get("attributes")
        if isinstance(text, str) and text.startswith("["):
            data["attributes"] = json.loads(text)
    return network


def _label_names(network: Any) -> tuple[str, ...] | None:
    """The labels of the nodes of a GML or GEXF file, where they are names; None if a label is missing or not unique."""
    labels = tuple(data.get("label") for _, data in network.nodes(data=True))
    return None if None in labels or len(set(labels)) < len(labels) else tuple(map(str, labels))


def check_kind(path: Path, kinds: tuple[str, ...]) -> None:
    """Raise a `GraphError` for a pickle, which could run any code, and for files of other types."""
    if path.suffix.lower() in PICKLES:
        raise GraphError(
            f"{path} is a pickle, and reading one can run any code in it; if you trust it, load it in Python with "
            f"pickle and pass the graphs to rwk.as_graphs, or write them with networkx.write_graphml"
        )
    if not path.exists():
        raise GraphError(f"{path} cannot be opened (there is no such file); check the path")
    if path.suffix.lower() not in kinds:
        raise GraphError(
            f"{path}: files of this type cannot be read; give one of .graphml, .gml, .gexf, .json, .edgelist, .smi, "
            ".sdf, .csv, .tsv or .parquet, or a TU folder or zip"
        )


def _forget_names(networks: list[Any]) -> None:
    """Remove the attribute `label` if no two nodes of a graph share one: GML and GEXF write a node's name there."""
    labels = [[data.get("label") for _, data in network.nodes(data=True)] for network in networks]
    if all(len(set(map(str, graph))) == len(graph) for graph in labels) and any(len(graph) > 1 for graph in labels):
        for network in networks:
            for _, data in network.nodes(data=True):
                data.pop("label", None)
