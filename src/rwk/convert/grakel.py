"""Converts GraKeL's form of a graph: (edges, node labels by node, edge labels by pair of nodes)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from rwk.convert.adjacency import is_matrix, read_adjacency
from rwk.convert.build import ONE_DIRECTION, Names, Notes, build_graph, coded, float_rows, is_vector
from rwk.graphs import Graph, GraphError

Edge = tuple[Hashable, Hashable, float | None]


def is_grakel(item: Any) -> bool:
    """Whether an object has GraKeL's form."""
    if isinstance(item, Mapping | set | frozenset):
        return True
    if not isinstance(item, tuple | list) or not 1 <= len(item) <= 3:
        return False
    edges, *labels = item
    by_name = all(part is None or isinstance(part, Mapping) for part in labels)
    if is_matrix(edges):
        return by_name and any(isinstance(part, Mapping) for part in labels)
    pairs = isinstance(edges, list) and all(isinstance(edge, tuple) and len(edge) in (2, 3) for edge in edges)
    return by_name and (pairs or isinstance(edges, Mapping | set | frozenset))


def from_grakel(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert GraKeL tuples; vectors given as labels become attributes."""
    return {i: _convert(item, i, notes) for i, item in items.items()}


def _convert(item: Any, i: int, notes: Notes) -> Graph:
    parts = list(item) if isinstance(item, tuple | list) else [item]
    edges, node_labels, edge_labels = [*parts, None, None][:3]
    listed = list(_edges(edges, i))
    ordered = _ordered({end for u, v, _ in listed for end in (u, v)} | _alone(edges) | set(node_labels or ()))
    place = {node: k for k, node in enumerate(ordered)}
    ends = np.array([(place[u], place[v]) for u, v, _ in listed], dtype=np.int64).reshape(-1, 2)
    values: dict[str, Any] = {}
    label_names: dict[int, str] = {}
    nodes = {} if not node_labels else _labelled(node_labels, ordered, f"graph {i}, node", label_names)
    if edge_labels:
        both_ways = {(v, u): label for (u, v), label in edge_labels.items()} | dict(edge_labels)
        values = _labelled(both_ways, [(u, v) for u, v, _ in listed], f"graph {i}, edge", label_names)
    if any(weight is not None for _, _, weight in listed):
        weights = [1.0 if weight is None else weight for _, _, weight in listed]
        values["edge_weights"] = float_rows(weights, f"graph {i}, edge weights")[:, 0]
    graph, symmetric = build_graph(len(ordered), ends, nodes=nodes, edges=values, label_names=label_names)
    # lists with each edge once are as common as lists with both directions; warn of a mixture only
    if not symmetric and len(listed) > graph.n_edges:
        notes.add(ONE_DIRECTION)
    return graph


def _labelled(labels: Mapping[Any, Any], wanted: list[Any], where: str, label_names: dict[int, str]) -> dict[str, Any]:
    what = "node" if where.endswith("node") else "edge"
    missing = next((one for one in wanted if one not in labels), None)
    if missing is not None:
        raise GraphError(f"{where} {missing!r} has no label but others do; give a label to all or to none")
    values = [labels[one] for one in wanted]
    if values and is_vector(values[0]):
        return {f"{what}_attributes": float_rows(values, where)}
    codes, names = coded(values, where)
    label_names.update(names)
    return {f"{what}_labels": codes}


def _edges(edges: Any, i: int) -> Iterable[Edge]:
    """(node, node, weight or None) for each edge, in any of the forms that GraKeL accepts."""
    if is_matrix(edges):
        ends, weights, _ = read_adjacency(edges, i)
        yield from ((u, v, w) for (u, v), w in zip(ends.tolist(), weights.tolist(), strict=True))
    elif isinstance(edges, Mapping):
        for key, value in edges.items():
            if isinstance(key, tuple) and len(key) == 2:
                yield (*key, value)
            elif isinstance(value, Mapping):
                yield from ((key, v, w) for v, w in value.items())
            else:
                yield from ((key, v, None) for v in value)
    else:
        for edge in edges:
            if len(edge) not in (2, 3):
                raise GraphError(f"graph {i}: {edge!r} is not an edge; write (u, v) or (u, v, weight)")
            yield (edge[0], edge[1], edge[2] if len(edge) == 3 else None)


def _alone(edges: Any) -> set[Hashable]:
    """Nodes that are listed even if they have no edge."""
    if is_matrix(edges):
        return set(range(len(edges) if isinstance(edges, list) else edges.shape[0]))
    if isinstance(edges, Mapping):
        return {key for key in edges if not isinstance(key, tuple)}
    return set()


def _ordered(nodes: set[Any]) -> list[Any]:
    """The nodes in an order that is the same in every process, whatever their type."""
    try:
        return sorted(nodes)
    except TypeError:
        return sorted(nodes, key=lambda node: (type(node).__name__, repr(node)))
