"""Reads edge lists: text with one edge per line."""

from __future__ import annotations

import csv
from typing import Any

from rwk.graphs import GraphError

_ENDS = (("source", "target"), ("from", "to"), ("node1", "node2"), ("u", "v"))


def parse_edge_list(text: str, where: str) -> Any:
    """A networkx graph from lines `a b` or `a b weight`; lines `v a label` give labels, and `#` starts a comment.

    Commas are read as spaces. A first line such as `source,target,weight` is a header: then the other columns, weight
    among them, are attributes of the edges.

    >>> parse_edge_list("a b\\nb c 2.5\\nv a C", "pairs.txt").number_of_edges()
    2
    """
    import networkx as nx

    lines = [(number, line.split("#", 1)[0].strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line]
    ends = edge_columns(lines[0][1]) if lines else None
    if ends is not None:
        return _with_header(lines, ends, where)
    network = nx.Graph()
    for number, line in lines:
        parts = line.replace(",", " ").split()
        if parts[0] == "v" and len(parts) == 3:
            network.add_node(parts[1], label=parts[2])
        elif len(parts) in (2, 3):
            network.add_edge(parts[0], parts[1], **_weight(parts[2:], f"{where}, line {number}"))
        else:
            raise GraphError(
                f"{where}, line {number}: {line[:60]!r} is not an edge; write `a b`, `a b weight` or `v a label`"
            )
    return network


def edge_columns(header: str) -> tuple[str, str] | None:
    """The columns of the two nodes of an edge, if this is the first line of a table of edges.

    >>> edge_columns("Source,Target,weight"), edge_columns("smiles,target")
    (('source', 'target'), None)
    """
    names = {name.strip().lower() for name in _cells(header)}
    return next((pair for pair in _ENDS if set(pair) <= names), None)


def _with_header(lines: list[tuple[int, str]], ends: tuple[str, str], where: str) -> Any:
    import networkx as nx

    names = [name.strip().lower() for name in _cells(lines[0][1])]
    network = nx.Graph()
    for number, line in lines[1:]:
        row = dict(zip(names, (cell.strip() for cell in _cells(line)), strict=False))
        if len(row) < len(names):
            raise GraphError(f"{where}, line {number}: {len(row)} columns, but the header has {len(names)}; correct it")
        weight = _weight([row.pop("weight")], f"{where}, line {number}") if row.get("weight") else {}
        network.add_edge(row.pop(ends[0]), row.pop(ends[1]), **row, **weight)
    return network


def _cells(line: str) -> list[str]:
    delimiter = next((mark for mark in "\t;," if mark in line), " ")
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))


def _weight(given: list[str], where: str) -> dict[str, float]:
    if not given:
        return {}
    try:
        weight = float(given[0])
    except ValueError:
        weight = float("nan")
    if not 0 <= weight < float("inf"):
        raise GraphError(f"{where}: {given[0][:30]!r} is not a weight; give a number of 0 or more")
    return {"weight": weight}
