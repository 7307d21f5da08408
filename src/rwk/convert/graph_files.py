"""Converts files with one graph each: GraphML, GML, GEXF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwk.convert.build import Names, Notes
from rwk.convert.networkx_igraph import from_networks
from rwk.graphs import Graph, GraphError

GRAPH_FILES = (".graphml", ".gml", ".gexf")


def from_files(items: Mapping[int, Path], names: Names, notes: Notes) -> dict[int, Graph]:
    """Read the files with networkx and convert what it returns."""
    networks = {i: _read(path) for i, path in items.items()}
    if names.node_label is None:
        _forget_names(networks)
    return from_networks(networks, names, notes)


def _read(path: Path) -> Any:
    import networkx as nx

    readers = {
        ".graphml": nx.read_graphml,
        ".gml": lambda file: nx.read_gml(file, label="id"),  # a GML label need not be unique
        ".gexf": nx.read_gexf,
    }
    if path.suffix.lower() not in readers:
        known = ", ".join(GRAPH_FILES)
        raise GraphError(f"{path}: files of this type cannot be read; give one of {known}, or a TU folder or zip")
    try:
        return readers[path.suffix.lower()](path)
    except OSError as error:
        raise GraphError(f"{path} cannot be opened ({error.strerror or error}); check the path") from error
    except Exception as error:  # each reader raises its own kinds of errors for invalid files
        raise GraphError(f"{path}: not a valid {path.suffix[1:].lower()} file ({error}); correct it") from error


def _forget_names(networks: Mapping[int, Any]) -> None:
    """Remove the attribute `label` if no two nodes of a graph share one: GML and GEXF write a node's name there."""
    labels = [[data.get("label") for _, data in network.nodes(data=True)] for network in networks.values()]
    if all(len(set(map(str, graph))) == len(graph) for graph in labels) and any(len(graph) > 1 for graph in labels):
        for network in networks.values():
            for _, data in network.nodes(data=True):
                data.pop("label", None)
