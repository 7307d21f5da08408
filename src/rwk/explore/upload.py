"""Reads a graph from an uploaded file that is not trusted: the size is limited, nothing in it is run or fetched."""

from __future__ import annotations

import io
import warnings
from typing import Any
from xml.parsers import expat

from rwk.convert.label_coding import in_codes_of
from rwk.graphs import Graph, GraphError, GraphSet

MAX_BYTES = 1_000_000
MAX_NODES = 500
MAX_EDGES = 20_000
MAX_SMILES = 1_000


def parse_upload(name: str, content: bytes) -> Graph:
    """One graph from a GraphML file, an edge list or SMILES; the name of the file and its start tell which.

    An edge list has one line `a b` or `a b weight` per edge. Lines `v a label` give labels; `#` starts a comment.

    >>> parse_upload("triangle.txt", b"a b\\nb c\\nc a").n_edges
    3
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
        graph = _from_graphml(name, content)
    elif ending in ("smi", "smiles"):
        graph = parse_smiles(text.split()[0])
    else:
        graph = _from_edges(name, text)
    return _checked(name, graph)


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
        edge_weights=graph.edge_weights,
        label_names=names or None,
    )


def _from_graphml(name: str, content: bytes) -> Graph:
    import networkx as nx

    from rwk.convert import as_graphs

    _reject_declarations(name, content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            network = nx.read_graphml(io.BytesIO(content))
            if network.number_of_nodes() > MAX_NODES:
                raise GraphError(f"{name} has {network.number_of_nodes():,} nodes; give a graph of at most {MAX_NODES}")
            return as_graphs(network)[0]
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


def _from_edges(name: str, text: str) -> Graph:
    from rwk.convert import as_graphs
    from rwk.convert.edge_lists import parse_edge_list

    network = parse_edge_list(text, name)
    if network.number_of_nodes() > MAX_NODES or network.number_of_edges() > MAX_EDGES:
        raise GraphError(f"{name} is too large; give at most {MAX_NODES} nodes and {MAX_EDGES:,} edges")
    return as_graphs(network)[0]


def _checked(name: str, graph: Graph) -> Graph:
    if not 0 < graph.n_nodes <= MAX_NODES or graph.n_edges > MAX_EDGES:
        raise GraphError(
            f"{name} has {graph.n_nodes} nodes and {graph.n_edges:,} edges; give 1 to {MAX_NODES} nodes and at most "
            f"{MAX_EDGES:,} edges"
        )
    return graph


def _brief(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
