"""Converts networkx and igraph graphs, whose nodes and edges have named attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rwk.convert.build import Names, Notes, build_graph, coded, float_rows, is_number, is_vector
from rwk.graphs import Graph, GraphError
from rwk.runtime.arrays import IntArray

NODE_LABELS = ("label", "node_label", "labels", "element", "symbol", "atom", "atomic_num", "type")
NODE_ATTRIBUTES = ("attributes", "attribute", "attr", "features", "feat", "x")
EDGE_LABELS = ("label", "edge_label", "labels", "bond_type", "bond", "type")
EDGE_ATTRIBUTES = ("attributes", "attribute", "attr", "edge_attr", "features", "feat")

DIRECTED = "are directed; the edges are used in both directions"
PARALLEL = "have parallel edges; they are merged and their weights added"


class Network(NamedTuple):
    """A graph of either library in one form."""

    nodes: list[Mapping[str, Any]]
    ends: IntArray  # (m, 2)
    edges: list[Mapping[str, Any]]
    directed: bool
    names: tuple[Any, ...] | None  # of the nodes, if they are not numbered from 0


def from_networks(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert networkx and igraph graphs; which attributes to use is decided once for all of them."""
    networks = {i: _igraph(item) if hasattr(item, "vs") else _networkx(item) for i, item in items.items()}
    nodes = {i: network.nodes for i, network in networks.items()}
    edges = {i: network.edges for i, network in networks.items()}
    chosen = Names(
        node_label=_choose(nodes, names.node_label, NODE_LABELS, _could_be_label, "node"),
        node_attributes=_choose_all(nodes, names.node_attributes, NODE_ATTRIBUTES, "node"),
        edge_weight=names.edge_weight if names.edge_weight == "weight" else _named(edges, names.edge_weight),
        edge_label=_choose(edges, names.edge_label, EDGE_LABELS, _could_be_label, "edge"),
        edge_attributes=_choose_all(edges, names.edge_attributes, EDGE_ATTRIBUTES, "edge"),
    )
    for what, rows in (("node", nodes), ("edge", edges)):
        if getattr(names, f"{what}_attributes") is None:  # a user who names attributes has chosen among all of them
            named = what == "node" and any(hasattr(item, "vs") for item in items.values())
            present = {key: value for key, value in _present(rows).items() if not (named and key == "name")}
            sentence = ignored_attributes(present, chosen, what)
            if sentence:
                notes.say(sentence)
    return {i: _convert(network, f"graph {i}", chosen, notes) for i, network in networks.items()}


def _convert(network: Network, where: str, names: Names, notes: Notes) -> Graph:
    label_names: dict[int, str] = {}
    nodes = _fields(network.nodes, "node", where, names.node_label, names.node_attributes, label_names)
    edges = _fields(network.edges, "edge", where, names.edge_label, names.edge_attributes, label_names)
    ends = network.ends
    if network.directed:
        notes.add(DIRECTED)
    else:
        ends = np.sort(ends, axis=1)  # so that parallel edges have the same direction
    proper = ends[ends[:, 0] != ends[:, 1]]
    parallel = len(np.unique(proper, axis=0)) < len(proper)
    if parallel:
        notes.add(PARALLEL)
    if parallel or any(names.edge_weight in edge for edge in network.edges):
        weights = [1.0 if edge.get(names.edge_weight) is None else edge[names.edge_weight] for edge in network.edges]
        edges["edge_weights"] = float_rows(weights, f"{where}, edge weights")[:, 0]
    nodes["node_names"] = network.names
    graph, _ = build_graph(len(network.nodes), ends, nodes=nodes, edges=edges, label_names=label_names)
    return graph


def _fields(
    rows: Sequence[Mapping[str, Any]],
    what: str,
    where: str,
    label: str | None,
    attributes: str | Sequence[str] | None,
    label_names: dict[int, str],
) -> dict[str, Any]:
    """Fields of `Graph` for the nodes or the edges of one graph; adds the names of labels to `label_names`."""
    fields: dict[str, Any] = {}
    if label is not None:
        codes, names = coded(_column(rows, label, what, where), f"{where}, {what}")
        fields[f"{what}_labels"] = codes
        label_names.update(names)
    if attributes:
        columns = [float_rows(_column(rows, name, what, where), f"{where}, {name!r}") for name in attributes]
        fields[f"{what}_attributes"] = np.concatenate(columns, axis=1)
    return fields


def _column(rows: Sequence[Mapping[str, Any]], name: str, what: str, where: str) -> list[Any]:
    for i, row in enumerate(rows):
        if row.get(name) is None:
            raise GraphError(f"{where}, {what} {i} has no {name!r} but others do; give it to all {what}s or to none")
    return [row[name] for row in rows]


def _choose(
    rows: Mapping[int, Sequence[Mapping[str, Any]]],
    name: str | None,
    usual: Iterable[str],
    fits: Callable[[Any], bool],
    what: str,
) -> str | None:
    """The name that the user gave, or the first usual name that is present and fits, or None."""
    present = _present(rows)
    if name is not None and name not in present:
        known = ", ".join(map(repr, present)) or "none"
        raise GraphError(f"no {what} has an attribute {name!r}; the attributes of {what}s are: {known}")
    return name if name is not None else next((n for n in usual if n in present and fits(present[n])), None)


def _present(rows: Mapping[int, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """The attributes that any node (or edge) of any graph has, each with its first value."""
    present: dict[str, Any] = {}
    for graph in rows.values():
        for row in graph:
            present.update((key, value) for key, value in row.items() if key not in present and value is not None)
    return present


def ignored_attributes(present: Mapping[str, Any], chosen: Names, what: str) -> str:
    """The sentence that lists attributes that are not used, and how to use them; empty if all are used.

    Identifiers (`id`, which GEXF writes, and names that begin with `_`) are not listed.

    >>> ignored_attributes({"club": "Officer", "age": 31}, Names(node_label="club"), "node")
    "using node attribute 'club' as label; ignoring 'age': pass node_attributes=['age'] to as_graphs to use it"
    """
    label, vectors = getattr(chosen, f"{what}_label"), getattr(chosen, f"{what}_attributes") or ()
    used = {label: "label", **dict.fromkeys(vectors, "attribute")}
    if what == "edge":
        used[chosen.edge_weight] = "weight"
    ignored = [name for name in present if name not in used and name != "id" and not str(name).startswith("_")]
    if not ignored:
        return ""
    numbers = [name for name in ignored if _could_be_attribute(present[name])]
    words = [name for name in ignored if name not in numbers and isinstance(present[name], str | bool)]
    ways = [f"{what}_attributes={numbers}"] if numbers else []
    ways += [f"{what}_label={words[0]!r}"] if words and label is None else []
    listed = ", ".join(map(repr, ignored[:6])) + (" and others" if len(ignored) > 6 else "")
    found = ", ".join(f"{name!r} as {role}" for name, role in used.items() if name in present)
    text = f"using {what} attribute {found}; ignoring {listed}" if found else f"ignoring {what} attribute {listed}"
    which = "it" if len(ignored) == 1 else "them"
    return text + (f": pass {' or '.join(ways)} to as_graphs to use {which}" if ways else "")


def _choose_all(
    rows: Mapping[int, Sequence[Mapping[str, Any]]],
    names: str | Sequence[str] | None,
    usual: Iterable[str],
    what: str,
) -> list[str]:
    wanted = [names] if isinstance(names, str) or names is None else names
    chosen = [_choose(rows, name, usual, _could_be_attribute, what) for name in wanted]
    return [name for name in chosen if name is not None]


def _named(rows: Mapping[int, Sequence[Mapping[str, Any]]], name: str) -> str:
    _choose(rows, name, (), _could_be_attribute, "edge")
    return name


def _could_be_label(value: Any) -> bool:
    return not is_vector(value) and (not is_number(value) or float(value).is_integer())


def _could_be_attribute(value: Any) -> bool:
    return is_vector(value) or is_number(value)


def _networkx(graph: Any) -> Network:
    place = {node: i for i, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data=True))
    ends = np.array([(place[u], place[v]) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    nodes = [data for _, data in graph.nodes(data=True)]
    names = tuple(graph.nodes)
    numbered = names == tuple(range(len(names)))
    return Network(nodes, ends, [data for _, _, data in edges], graph.is_directed(), None if numbered else names)


def _igraph(graph: Any) -> Network:
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    nodes = [node.attributes() for node in graph.vs]
    names = tuple(node.get("name") for node in nodes)
    named = bool(names) and None not in names and len(set(names)) == len(names)
    return Network(nodes, ends, [edge.attributes() for edge in graph.es], graph.is_directed(), names if named else None)
