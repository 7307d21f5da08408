"""Files with one graph each: GraphML, GML, GEXF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwk.convert.build import Names, Notes
from rwk.convert.networkx_igraph import from_networks
from rwk.graphs import Graph, GraphError

GRAPH_FILES = (".graphml", ".gml", ".gexf")


def from_files(items: Mapping[int, Path], names: Names, notes: Notes) -> dict[int, Graph]:
    """Read files with networkx's readers."""
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
        raise GraphError(f"{path}: not a file that can be read; give one of {known}, or a TU folder or zip")
    try:
        return readers[path.suffix.lower()](path)
    except OSError as error:
        raise GraphError(f"{path}: it can't be opened ({error.strerror or error}); check it") from error
    except Exception as error:  # each reader has its own; what they mean is one thing
        raise GraphError(f"{path}: not a valid {path.suffix[1:].lower()} file ({error}); correct it") from error


def _forget_names(networks: Mapping[int, Any]) -> None:
    """GML and GEXF write a node's name as its `label`; where no two nodes of a graph share one, it is no label."""
    labels = [[data.get("label") for _, data in network.nodes(data=True)] for network in networks.values()]
    if all(len(set(map(str, graph))) == len(graph) for graph in labels) and any(len(graph) > 1 for graph in labels):
        for network in networks.values():
            for _, data in network.nodes(data=True):
                data.pop("label", None)
