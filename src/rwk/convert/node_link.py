"""Graphs as node-link JSON, the form of networkx's `node_link_data` and of D3."""

from __future__ import annotations

import json
from typing import Any

from rwk.graphs import GraphError


def parse_node_link(text: str, where: str) -> list[Any]:
    """The networkx graphs in a JSON text: one node-link object, or a list of them.

    >>> text = '{"nodes": [{"id": 1, "label": "C"}, {"id": 2, "label": "O"}], "links": [{"source": 1, "target": 2}]}'
    >>> parse_node_link(text, "pair.json")[0].number_of_edges()
    1
    """
    try:
        data = json.loads(text)
    except ValueError as error:
        raise GraphError(f"{where}: not valid JSON ({error}); correct it") from error
    several = data if isinstance(data, list) else [data]
    return [_network(one, f"{where}, graph {i}" if len(several) > 1 else where) for i, one in enumerate(several)]


def _network(data: Any, where: str) -> Any:
    """One graph; nodes that only edges name are added, so a list of edges alone is enough."""
    import networkx as nx

    links = data.get("links", data.get("edges")) if isinstance(data, dict) else None
    if not isinstance(links, list) or not isinstance(data.get("nodes", []), list):
        raise GraphError(f'{where} is not node-link JSON; write {{"nodes": [{{"id": 0}}], "links": []}}')
    kind = nx.MultiGraph if data.get("multigraph") else nx.Graph
    network = (nx.MultiDiGraph if data.get("multigraph") else nx.DiGraph)() if data.get("directed") else kind()
    try:
        for number, node in enumerate(data.get("nodes", [])):
            values = dict(node) if isinstance(node, dict) else {"id": node}
            network.add_node(_hashable(values.pop("id", number)), **values)
        for link in links:
            values = dict(link)
            ends = _hashable(values.pop("source")), _hashable(values.pop("target"))
            values.pop("key", None)
            network.add_edge(*ends, **values)
    except (KeyError, TypeError, ValueError) as error:
        raise GraphError(f"{where}: each link needs a source and a target, each node an id ({error!r})") from error
    return network


def _hashable(name: Any) -> Any:
    return tuple(name) if isinstance(name, list) else name
