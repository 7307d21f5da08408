"""Which two graphs are shown after a click, a search, an upload, or a link."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple

from rwk.explore.request_checks import linked_state, refuse
from rwk.explore.settings import Settings
from rwk.explore.state import Explorer
from rwk.explore.upload import MAX_BYTES, MAX_MOLECULES, Upload, fitted_to, parse_smiles, parse_upload
from rwk.graphs import GraphError
from rwk.runtime.words import counted

Chosen = dict[str, str]


class ChosenGraphs(NamedTuple):
    """The two chosen graphs, and what to say in which place of the page; after an error the graphs stay."""

    chosen: Chosen
    where: str = "search"
    words: str = ""
    error: str = ""


def first_pair(explorer: Explorer) -> Chosen:
    """The pair that the page starts with: the first graph and the one nearest to it."""
    near = explorer.neighbours("0", 1)
    return {"a": "0", "b": near[0].key if near else "0", "next": "a"}


def choose(explorer: Explorer, chosen: Chosen, cause: Any, given: Mapping[str, Any]) -> ChosenGraphs:
    """The choice after what the user did; `cause` is the id of what was clicked or filled in."""
    where = "upload" if cause in ("upload", "use-smiles", "smiles") else "search"
    try:
        if cause == "upload":
            return _uploaded(explorer, chosen, _files(*given["files"]), given["settings"])
        if where == "upload":
            text = str(given["smiles"] or "")[: 2 * MAX_BYTES]
            return _uploaded(explorer, chosen, [Upload(text[:40], parse_smiles(text))], given["settings"])
        return ChosenGraphs(_clicked(explorer, chosen, cause, given))
    except GraphError as error:
        return ChosenGraphs(chosen, where, error=f"{str(error)[:1].upper()}{str(error)[1:]}.")


def _clicked(explorer: Explorer, chosen: Chosen, cause: Any, given: Mapping[str, Any]) -> Chosen:
    """The two chosen graphs after a click on the map, a list or a button, a search, or opening a link."""
    if cause == "url":
        return {**chosen, **linked_state(explorer, str(given["query"] or ""))[0]}
    if cause == "reset":
        return first_pair(explorer)
    if cause == "swap":
        return {**chosen, "a": chosen["b"], "b": chosen["a"]}
    if isinstance(cause, dict):
        key = str(cause.get("key"))
        explorer.graph(key)
        return {**chosen, "a" if cause.get("kind") == "own" else "b": key}
    key = explorer.key_of(str(given["search"] or "").strip())
    if cause == "map":
        key = _clicked_point(given["click"])
    elif cause == "map-key":
        key = str(given["key"].get("key")) if isinstance(given["key"], dict) else ""
    elif not key:
        raise GraphError("no graph was named; enter its name or number")
    explorer.graph(key)
    # clicks set the first and the second graph in turn
    return {**chosen, chosen["next"]: key, "next": "b" if chosen["next"] == "a" else "a"}


def _clicked_point(click: Any) -> str:
    try:
        return str(click["points"][0]["customdata"])
    except (TypeError, KeyError, IndexError):
        refuse("the request does not say which graph was clicked")


def _uploaded(explorer: Explorer, chosen: Chosen, uploads: list[Upload], settings: Settings) -> ChosenGraphs:
    """Keep the graphs, all of them or none; the first of them and its nearest graph are shown."""
    for upload in uploads:
        fitted_to(upload.graph, explorer.graphs)
    keys = [explorer.add(*upload) for upload in uploads]
    first = uploads[0]
    size = f"{counted(first.graph.n_nodes, 'node')}, {counted(first.graph.n_edges, 'edge')}"
    words = f"{first.name[:40]}: {size}."
    if len(uploads) > 1:
        words = f"{len(uploads)} graphs were read; {words}"
    used = settings if explorer.follows else explorer.start
    near = [n.key for n in explorer.neighbours(keys[0], len(keys) + 1, used) if n.key not in keys]
    return ChosenGraphs({**chosen, "a": keys[0], "b": near[0] if near else keys[0], "next": "b"}, "upload", words)


def _files(names: Any, contents: Any) -> list[Upload]:
    """The graphs of all files of an upload."""
    if not isinstance(names, list) or not isinstance(contents, list) or not 0 < len(names) == len(contents):
        refuse("the request has no files")
    found = [
        upload
        for name, content in zip(names, contents, strict=True)
        for upload in parse_upload(str(name)[:80], _decoded(content))
    ]
    if len(found) > MAX_MOLECULES:
        raise GraphError(f"the files have {len(found)} graphs; give at most {MAX_MOLECULES} at a time")
    return found


def _decoded(contents: Any) -> bytes:
    text = str(contents or "").partition(",")[2]
    if len(text) > 2 * MAX_BYTES:
        raise GraphError(f"the file is too large; give one of at most {MAX_BYTES:,} bytes")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise GraphError("the file did not arrive completely; try again") from None
