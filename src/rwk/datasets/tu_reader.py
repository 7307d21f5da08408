"""One reader for all sets in TU form, vectorised: there is no Python loop over lines."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rwk.datasets.tu_files import Source
from rwk.graphs import GraphError, GraphSet
from rwk.graphs.canonical import CanonicalEdges, canonical_edges, label_codes
from rwk.graphs.checks import check_graphs
from rwk.runtime.arrays import FloatArray, IntArray, offsets_of
from rwk.runtime.user_warnings import warn_user

_CHUNK = 2**23  # bytes of text parsed at once, so that memory stays near the size of the result
_COMMA_TO_SPACE = bytes.maketrans(b",", b" ")
_COMMA, _NEWLINE, _WORD = 1, 2, 3
_KIND = np.full(256, _WORD, dtype=np.uint8)
_KIND[[ord(" "), ord("\t"), ord("\r")]] = 0
_KIND[ord(",")] = _COMMA
_KIND[ord("\n")] = _NEWLINE


def read_tu(source: Source) -> GraphSet:
    """Read a set in TU form; classes become `targets`, and the two directions of an edge become one edge."""
    targets = _read_targets(source)
    node_offsets = _read_offsets(source, len(targets))
    n_nodes = int(node_offsets[-1])
    node_labels, names = _read_labels(source, "node_labels", n_nodes)
    node_attributes = _read_floats(source, "node_attributes", n_nodes)
    form, edge_names = _read_edges(source, node_offsets)
    graph_of_edge = np.searchsorted(node_offsets, form.edges[:, 0], side="right") - 1
    n_edges = np.bincount(graph_of_edge, minlength=len(targets))
    loops = np.searchsorted(node_offsets, form.loops, side="right") - 1
    form.edges[...] -= node_offsets[graph_of_edge, None]  # ends count from 0 inside each graph
    return check_graphs(
        GraphSet(
            node_offsets=node_offsets,
            edge_offsets=offsets_of(n_edges),
            edges=form.edges,
            node_labels=node_labels,
            node_attributes=node_attributes,
            edge_labels=form.labels,
            edge_attributes=form.attributes,
            targets=targets,
            n_self_loops=np.bincount(loops, minlength=len(targets)).astype(np.int64) if len(loops) else None,
            label_names={**names, **edge_names} or None,
            name=source.name,
        )
    )


def _read_targets(source: Source) -> NDArray[Any]:
    """Classes as integers, or real numbers if the set is for regression."""
    part = "graph_labels" if "graph_labels" in source.files else "graph_attributes"
    values = _read_table(source, part, np.float64)
    if not len(values):
        raise GraphError(f"{source.file_name(part)} is empty; get the set again")
    if not np.isfinite(values).all():
        line = int(np.argmin(np.isfinite(values).all(axis=1))) + 1
        raise GraphError(f"{source.file_name(part)}, line {line}: NaN or infinite; replace it")
    values = values[:, 0] if values.shape[1] == 1 else values
    return values.astype(np.int64) if part == "graph_labels" and (values == np.rint(values)).all() else values


def _read_offsets(source: Source, n_graphs: int) -> IntArray:
    file = source.file_name("graph_indicator")
    graph = _read_table(source, "graph_indicator", np.int64)[:, 0]
    back = np.flatnonzero(np.diff(graph) < 0)
    if len(back):
        line = int(back[0]) + 2
        before, here = graph[line - 2], graph[line - 1]
        raise GraphError(f"{file}, line {line}: graph {here} comes after graph {before}; sort the nodes by graph")
    outside = (graph < 1) | (graph > n_graphs)
    if outside.any():
        line = int(np.argmax(outside)) + 1
        raise GraphError(
            f"{file}, line {line}: graph {graph[line - 1]} does not exist, there are {n_graphs} graph labels; "
            "one of the two files is damaged or truncated, get the set again"
        )
    sizes = np.bincount(graph - 1, minlength=n_graphs)
    if (sizes == 0).any():
        raise GraphError(f"{file}: graph {int(np.argmin(sizes)) + 1} has no nodes; the file may be truncated")
    return offsets_of(sizes)


def _read_edges(source: Source, node_offsets: IntArray) -> tuple[CanonicalEdges, dict[int, str]]:
    file, n_nodes = source.file_name("A"), int(node_offsets[-1])
    ends = _read_table(source, "A", np.int64, columns=2)  # int32 if the numbers are small
    outside = (ends[:, 0] < 1) | (ends[:, 0] > n_nodes) | (ends[:, 1] < 1) | (ends[:, 1] > n_nodes)
    if outside.any():
        line = int(np.argmax(outside)) + 1
        a, b = ends[line - 1]
        raise GraphError(f"{file}, line {line}: edge {a}, {b} joins a node that does not exist (there are {n_nodes})")
    del outside
    ends -= 1
    graph_of_node = np.repeat(np.arange(len(node_offsets) - 1, dtype=np.int32), np.diff(node_offsets))
    across = graph_of_node[ends[:, 0]] != graph_of_node[ends[:, 1]]
    if across.any():
        line = int(np.argmax(across)) + 1
        a, b = ends[line - 1] + 1
        raise GraphError(f"{file}, line {line}: edge {a}, {b} joins two different graphs; correct it")
    labels, names = _read_labels(source, "edge_labels", len(ends))
    attributes = _read_floats(source, "edge_attributes", len(ends))
    if attributes is not None and not np.isfinite(attributes).all():
        line = int(np.argmin(np.isfinite(attributes).all(axis=1))) + 1
        raise GraphError(f"{source.file_name('edge_attributes')}, line {line}: NaN or infinite; replace it")
    form = canonical_edges(ends, n_nodes, labels=labels, attributes=attributes)
    if form.one_way:
        warn_user(f"{file}: {form.one_way} edges are listed in one direction only; they are used in both")
    if form.uneven:
        warn_user(
            f"{source.name}: {form.uneven} edges have different labels or attributes in the two directions; "
            "the smallest label and the mean attributes are used"
        )
    return form, names


def _read_labels(source: Source, part: str, n_rows: int) -> tuple[IntArray | None, dict[int, str]]:
    """Labels as integers; if lines have several numbers, the whole line is the label."""
    if part not in source.files:
        return None, {}
    values = _read_table(source, part, np.int64)
    _check_rows(source, part, len(values), n_rows)
    if values.shape[1] == 1:
        return values[:, 0].astype(np.int64), {}
    rows, which = np.unique(values, axis=0, return_inverse=True)
    codes, names = label_codes(", ".join(map(str, row)) for row in rows.tolist())
    return codes[which.reshape(-1)], names


def _read_floats(source: Source, part: str, n_rows: int) -> FloatArray | None:
    if part not in source.files:
        return None
    values = _read_table(source, part, np.float64)
    _check_rows(source, part, len(values), n_rows)
    return values


def _check_rows(source: Source, part: str, n_rows: int, needed: int) -> None:
    if n_rows != needed:
        whole = "A" if part.startswith("edge") else "graph_indicator"
        raise GraphError(
            f"{source.file_name(part)} has {n_rows} lines and {source.file_name(whole)} has {needed}; "
            "one of them is truncated, get the set again"
        )


def _read_table(source: Source, part: str, dtype: type[np.generic], columns: int | None = None) -> NDArray[Any]:
    """A text file of numbers with commas between columns, as an array (rows, columns)."""
    blocks: list[NDArray[Any]] = []
    first_line = 1
    with source.open(part) as stream:
        for text in _whole_lines(stream):
            columns = columns or text.split(b"\n", 1)[0].count(b",") + 1
            block = _parse(text, dtype, columns)
            if block is None:
                raise _junk(source.file_name(part), text, first_line, dtype, columns)
            first_line += len(block)
            blocks.append(block)
    return np.concatenate(blocks) if blocks else np.empty((0, columns or 1), dtype=dtype)


def _whole_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The stream in pieces of whole lines; blank lines at its end are left out."""
    rest = b""
    while text := stream.read(_CHUNK):
        text = rest + text
        cut = text.rstrip().rfind(b"\n") + 1  # the last line may be incomplete, or followed by blank lines only
        rest = text[cut:]
        if cut:
            yield text[:cut]
    if rest.strip():
        yield rest.rstrip() + b"\n"


def _parse(text: bytes, dtype: type[np.generic], columns: int) -> NDArray[Any] | None:
    """Whole lines of numbers as (rows, columns), or None if a line has another form.

    Every line must be word, comma, word, comma, ..., newline, and every word must be one number.
    """
    kind = _KIND[np.frombuffer(text, dtype=np.uint8)]
    inside_word = (kind[1:] == _WORD) & (kind[:-1] == _WORD)
    keep = kind != 0
    keep[1:] &= ~inside_word
    marks = kind[keep]
    line = np.tile(np.array([_WORD, _COMMA], dtype=np.uint8), columns)
    line[-1] = _NEWLINE
    if len(marks) % len(line) or not (marks.reshape(-1, len(line)) == line).all():
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy stops at a word that is not a number: count them
        try:
            values = np.fromstring(text.translate(_COMMA_TO_SPACE), dtype=dtype, sep=" ")
        except ValueError:  # what the warning will become
            return None
    if len(values) != len(marks) // 2:
        return None
    if values.dtype == np.int64 and len(values) and values.min() > -(2**31) and values.max() < 2**31:
        values = values.astype(np.int32)  # half the memory while the pieces are joined
    return values.reshape(-1, columns)


def _junk(file: str, text: bytes, first_line: int, dtype: type[np.generic], columns: int) -> GraphError:
    """The error for the first line that `_parse` does not accept."""
    lines = text.split(b"\n")[:-1]
    at = next(i for i, line in enumerate(lines) if _parse(line + b"\n", dtype, columns) is None)
    shown = lines[at].decode("utf-8", "replace").strip()
    shown = shown if len(shown) <= 40 else shown[:40] + "..."
    kind = "whole number" if dtype is np.int64 else "number"
    wanted = f"one {kind}" if columns == 1 else f"{columns} {kind}s with commas between them"
    return GraphError(f"{file}, line {first_line + at}: {shown!r} is not {wanted}; correct it or get the set again")
