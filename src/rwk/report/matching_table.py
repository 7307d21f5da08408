"""Matchings of two graphs, soft ones and one-to-one, as rows for a terminal, CSV or JSON; needs no matplotlib."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.report.side_by_side import nodes_with_mass
from rwk.runtime.files import write_json, write_whole
from rwk.transport.problem import PairSolution


class MatchedPair(NamedTuple):
    """One pair of nodes of a matching."""

    source: int
    source_name: str
    source_label: str
    target: int
    target_name: str
    target_label: str
    share: float  # of the source node's mass that goes to the target
    arbitrary: bool  # the coupling can't tell one of the two nodes from another


class SurePair(NamedTuple):
    """One pair of nodes of a one-to-one matching."""

    source: int
    source_name: str
    source_label: str
    target: int
    target_name: str
    target_label: str
    confidence: float
    arbitrary: bool  # one of the two nodes looks like another node of its graph


def matching_rows(first: Graph, second: Graph, solution: PairSolution) -> list[MatchedPair]:
    """The rows of a matching, in the order of the nodes of the first graph.

    >>> import networkx as nx
    >>> from rwk import align, as_graphs
    >>> path = as_graphs(nx.path_graph(3))[0]
    >>> [row[:5] for row in matching_rows(path, path, align(path, path))][1]
    (1, '1', '', 1, '1')
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows say which pairs are arbitrary
        pairs = solution.matching()
    tied = [{node for group in groups for node in group} for groups in solution.interchangeable()]
    rows, columns = (nodes_with_mass(g, n) for g, n in zip((first, second), solution.coupling.shape, strict=True))
    sent = np.maximum(solution.coupling.sum(axis=1), 1e-300)
    return [
        MatchedPair(
            *_node(first, int(rows[i])),
            *_node(second, int(columns[j])),
            share=float(solution.coupling[i, j] / sent[i]),
            arbitrary=i in tied[0] or j in tied[1],
        )
        for i, j in pairs.tolist()
    ]


def sure_rows(first: Graph, second: Graph, found: Any) -> list[SurePair]:
    """The rows of a one-to-one `Matching`, in the order of the nodes of the first graph.

    >>> import networkx as nx
    >>> from rwk import as_graphs, match
    >>> path = as_graphs(nx.path_graph(["a", "b", "c"]))[0]
    >>> [(row.source_name, row.target_name, row.arbitrary) for row in sure_rows(path, path, match(path, path))][1:]
    [('b', 'b', False), ('c', 'c', True)]
    """
    alike = [{node for group in groups for node in group} for groups in found.interchangeable]
    return [
        SurePair(*_node(first, i), *_node(second, j), confidence=sure, arbitrary=a in alike[0] or b in alike[1])
        for (i, j), (a, b), sure in zip(found.numbers.tolist(), found.pairs, found.confidence.tolist(), strict=True)
    ]


def matching_csv(rows: Sequence[MatchedPair | SurePair]) -> str:
    """The rows of a matching as the text of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(rows[0]._fields if rows else SurePair._fields)  # graphs may have no part in common
    writer.writerows([_written(cell) for cell in row] for row in rows)
    return text.getvalue()


def write_matching_csv(path: Path, rows: Sequence[MatchedPair | SurePair]) -> Path:
    """Write the rows of a matching as CSV."""
    text = matching_csv(rows)
    return write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8", newline=""))


def write_matching_json(path: Path, rows: list[MatchedPair], solution: PairSolution) -> Path:
    """Write a matching as JSON, with the value, its terms and the coupling."""
    record: dict[str, Any] = {
        "value": solution.value,
        "terms": solution.terms,
        "converged": solution.converged,
        "matching": [row._asdict() for row in rows],
        "coupling": solution.coupling.tolist(),
    }
    return write_json(path, record)


def write_sure_json(
    path: Path, rows: list[SurePair], unmatched: tuple[list[Hashable], list[Hashable]], edges_preserved: float
) -> Path:
    """Write a one-to-one matching as JSON, with what stays unmatched on either side."""
    record: dict[str, Any] = {
        "matching": [row._asdict() for row in rows],
        "unmatched": [[str(node) for node in side] for side in unmatched],
        "edges_preserved": edges_preserved,
    }
    return write_json(path, record)


def node_label(graph: Graph, i: int) -> str:
    """The label of a node as text; empty if the graph has none."""
    if graph.node_labels is None:
        return ""
    code = int(graph.node_labels[i])
    return (graph.label_names or {}).get(code, str(code))


def _node(graph: Graph, i: int) -> tuple[int, str, str]:
    """Number, name and label of a node."""
    return i, str(i if graph.node_names is None else graph.node_names[i]), node_label(graph, i)


def _written(cell: str | float) -> str:
    """A cell of a CSV file; a truth value is 0 or 1."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(int(cell)) if isinstance(cell, bool) else str(cell)
