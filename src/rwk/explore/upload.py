"""Reads graphs from an uploaded file that is not trusted: sizes are limited, nothing in it is run or fetched."""

from __future__ import annotations

import io
import warnings
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np

from rwk.convert.label_coding import in_codes_of, same_kind_of_labels
from rwk.graphs import Graph, GraphError, GraphSet

MAX_BYTES = 1_000_000
MAX_NODES = 500
MAX_EDGES = 20_000
MAX_SMILES = 1_000
MAX_MOLECULES = 50


class Upload(NamedTuple):
    """One graph that a user gave, and its name."""

    name: str
    graph: Graph


def parse_upload(name: str, content: bytes) -> list[Upload]:
    """The graph of a GraphML file or an edge list, or all molecules of a SMILES file; its name and start tell which.

    An edge list has one line `a b` or `a b weight` per edge. Lines `v a label` give labels; `#` starts a comment. A
    SMILES file has one line per molecule: a SMILES and, optionally, a name.

    >>> [upload.graph.n_edges for upload in parse_upload("triangle.txt", b"a b\\nb c\\nc a")]
    [3]
    """
    if len(content) > MAX_BYTES:
        raise GraphError(f"{name} has {len(content):,} bytes; give a file of at most {MAX_BYTES:,}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise GraphError(f"{name} is not a text file; give GraphML, an edge list or SMILES") from None
    if not text.strip():
        raise GraphError(f"{name} is empty; give GraphML, an edge list or SMILES")
    ending = name.lower().rsplit(".", 1)[-1]
    if ending == "graphml" or text.lstrip().startswith("<"):
        found = _from_graphml(name, content)
    elif ending in ("smi", "smiles"):
        return _from_smiles_lines(name, text)
    else:
        found = _from_edges(name, text)
    _checked(name, found.graph)
    return [found]


def _from_smiles_lines(name: str, text: str) -> list[Upload]:
    """One molecule per line; a header and lines that begin with # are left out, as in files that the library reads."""
    lines = [(number, line.split(None, 1)) for number, line in enumerate(text.splitlines(), start=1)]
    rows = [(number, parts) for number, parts in lines if parts and not parts[0].startswith("#")]
    if rows and rows[0][1][0].strip(",;").lower() == "smiles":
        rows = rows[1:]
    if not rows:
        raise GraphError(f"{name} has no SMILES; give one per line")
    if len(rows) > MAX_MOLECULES:
        raise GraphError(f"{name} has {len(rows):,} molecules; give at most {MAX_MOLECULES} at a time")
    found = []
    for number, parts in rows:
        try:
            graph = parse_smiles(parts[0])
        except GraphError as error:
            raise GraphError(f"{name}, line {number}: {error}") from None
        found.append(Upload(parts[1].strip() if len(parts) == 2 else parts[0], graph))
    return found


def parse_smiles(text: str) -> Graph:
    """One molecule from SMILES.

    >>> parse_smiles("CCO").n_nodes
    3
    """
    text = text.strip()
    if not text:
        raise GraphError("no SMILES was given; give one, such as c1ccccc1")
    if len(text) > MAX_SMILES:
        raise GraphError(f"the SMILES has {len(text):,} characters; give one of at most {MAX_SMILES:,}")
    from rwk.convert.build import Names, Notes
    from rwk.convert.molecules import from_smiles

    try:
        return _checked("the molecule", from_smiles({0: text}, Names(), Notes())[0])
    except GraphError as error:
        # the converter's message is about files, and an upload is not one
        raise GraphError(
            f"{text[:60]!r} is not a SMILES that parses" if "parses" in str(error) else str(error)
        ) from None


def fitted_to(graph: Graph, graphs: GraphSet) -> Graph:
    """The graph with labels coded as in a set, and without fields that the set does not have.

    Raises `GraphError` if the set has labels or attributes that the graph lacks.

    >>> from rwk.convert import as_graphs
    >>> as_set = as_graphs([([[0, 1], [1, 0]], ["C", "O"])])
    >>> fitted_to(parse_smiles("O"), as_set).node_labels.tolist() == [as_set.node_labels[1]]
    True
    """
    labels, names = None, dict(graphs.label_names or {})
    if graphs.node_labels is not None:
        if graph.node_labels is None:
            raise GraphError(f"the graphs of {graphs.name} have node labels, but yours has none; label its nodes")
        coded = in_codes_of(GraphSet.from_graphs([graph]), graphs.label_names)
        labels, names = coded.node_labels, {**names, **(coded.label_names or {})}
    attributes = None
    if graphs.node_distances is not None:
        raise GraphError(f"the graphs of {graphs.name} have distances between nodes, so no other graph can be compared")
    if graphs.edge_attributes is not None and graph.edge_attributes is None and graph.n_edges:
        raise GraphError(f"the graphs of {graphs.name} have lengths of edges, but yours has none; add them")
    if graphs.node_attributes is not None:
        width = graphs.node_attributes.shape[1]
        attributes = graph.node_attributes
        if attributes is None or attributes.shape[1] != width:
            raise GraphError(f"the graphs of {graphs.name} have {width} node attributes; give yours the same number")
    return Graph(
        graph.n_nodes,
        graph.edges,
        node_labels=labels,
        node_attributes=attributes,
        node_weights=None if graphs.node_weights is None else np.ones(graph.n_nodes),
        edge_weights=graph.edge_weights,
        edge_labels=None if graphs.edge_labels is None else graph.edge_labels,
        edge_attributes=None if graphs.edge_attributes is None else graph.edge_attributes,
        label_names=names or None,
        node_names=graph.node_names,
    )


def has_comparable_edges(graph: Graph, graphs: GraphSet) -> bool:
    """Whether the edge labels of a graph are of the same kind as those of a set.

    >>> from rwk.convert import as_graphs
    >>> benzene = parse_smiles("c1ccccc1")
    >>> has_comparable_edges(benzene, as_graphs(["CCO"])), has_comparable_edges(benzene, as_graphs([[[0, 1], [1, 0]]]))
    (True, False)
    """
    if not graph.n_edges:
        return True
    if graph.edge_labels is None or graphs.edge_labels is None:
        return False
    return same_kind_of_labels(graph.edge_labels, np.unique(graphs.edge_labels))


def _from_graphml(name: str, content: bytes) -> Upload:
    import networkx as nx

    from rwk.convert import as_graphs

    _reject_declarations(name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = nx.read_graphml(io.BytesIO(content))
            if network.number_of_nodes() > MAX_NODES:
                raise GraphError(f"{name} has {network.number_of_nodes():,} nodes; give a graph of at most {MAX_NODES}")
            return Upload(name, as_graphs(network)[0])
    except GraphError:
        raise
    except Exception as error:  # the reader raises many kinds of errors for invalid files
        raise GraphError(f"{name} is not a valid GraphML file ({_brief(error)}); correct it") from None


def _reject_declarations(name: str, content: bytes) -> None:
    """Reject XML entities, which can expand without limit or read files; GraphML needs no DOCTYPE to declare them."""

    def reject(*declared: Any) -> None:
        raise GraphError(f"{name} declares a DOCTYPE, which is not allowed; remove it")

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = reject
    parser.EntityDeclHandler = reject
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise GraphError(f"{name} is not well-formed XML ({error}); correct it") from None


def _from_edges(name: str, text: str) -> Upload:
    from rwk.convert import as_graphs
    from rwk.convert.edge_lists import parse_edge_list

    network = parse_edge_list(text, name)
    if network.number_of_nodes() > MAX_NODES or network.number_of_edges() > MAX_EDGES:
        raise GraphError(f"{name} is too large; give at most {MAX_NODES} nodes and {MAX_EDGES:,} edges")
    return Upload(name, as_graphs(network)[0])


def _checked(name: str, graph: Graph) -> Graph:
    if not 0 < graph.n_nodes <= MAX_NODES or graph.n_edges > MAX_EDGES:
        raise GraphError(
            f"{name} has {graph.n_nodes} nodes and {graph.n_edges:,} edges; give 1 to {MAX_NODES} nodes and at most "
            f"{MAX_EDGES:,} edges"
        )
    return graph


def _brief(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
