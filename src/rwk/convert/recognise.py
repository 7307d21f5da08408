"""`as_graphs`: recognise the form of the given graphs and call its converter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.convert.adjacency import from_arrays, is_matrix
from rwk.convert.build import Names, Notes
from rwk.convert.file_contents import Contents, TableColumns
from rwk.convert.grakel import from_grakel, is_grakel
from rwk.convert.graph_files import GRAPH_FILES, PICKLES, from_files
from rwk.convert.graph_paths import MANY, contents_of, contents_of_wildcard, is_wildcard
from rwk.convert.molecules import from_molecules, from_smiles
from rwk.convert.networkx_igraph import from_networks
from rwk.convert.pyg import from_pyg, pyg_targets, unpacked
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.graphs.checks import check_graphs

Converter = Callable[[Mapping[int, Any], Names, Notes], dict[int, Graph]]


def _unchanged(items: Mapping[int, Graph], names: Names, notes: Notes) -> dict[int, Graph]:
    return dict(items)


_FAMILIES: dict[str, Converter] = {
    "record": _unchanged,
    "networkx": from_networks,
    "igraph": from_networks,
    "torch_geometric": from_pyg,
    "rdkit": from_molecules,
    "array": from_arrays,
    "grakel": from_grakel,
    "file": from_files,
    "smiles": from_smiles,
}


def as_graphs(
    data: Any,
    *,
    targets: Any = None,
    node_label: str | None = None,
    node_attributes: str | Sequence[str] | None = None,
    edge_weight: str = "weight",
    edge_label: str | None = None,
    edge_attributes: str | Sequence[str] | None = None,
    smiles_column: str | None = None,
    target: str | None = None,
) -> GraphSet:
    """Convert graphs in any of the usual forms to a `GraphSet`.

    Directed edges are used in both directions and the weights of parallel edges are added; a warning says so.
    Self-loops are dropped.

    Parameters
    ----------
    data : graph, list of graphs, path or name
        One graph or an iterable of graphs, each of which may be: a `Graph`; a networkx or igraph graph; an adjacency
        matrix (dense or scipy sparse), alone or in a tuple (adjacency, labels), (adjacency, attributes) or (adjacency,
        labels, attributes); a PyTorch Geometric `Data`; a GraKeL tuple; an RDKit molecule; a SMILES string; the path of
        a file: GraphML, GML, GEXF, node-link JSON, an edge list, `.smi`, `.sdf`, or a table with one SMILES per row
        (`.csv`, `.tsv`, `.parquet`). Or a whole set: a `GraphSet`, a PyTorch Geometric dataset, the path of a TU folder
        or zip, a folder of files or a path with wildcards (`graphs/*.graphml`), the name of a benchmark set. A tuple
        that starts with a matrix is one graph; a list is many graphs.
    targets : array-like of length n_graphs, optional
        Class or value of each graph.
    node_label, edge_label : str, optional
        Name of the attribute that holds the labels, if it is not one of the usual names (`label`, `element`,
        `bond_type`, ...).
    node_attributes, edge_attributes : str or list of str, optional
        Names of the attributes that hold numbers or vectors, if not one of the usual names (`x`, `attr`, `features`,
        ...). Several names give several columns.
    edge_weight : str
        Name of the attribute that holds the weight of an edge.
    smiles_column : str, optional
        Name of the column of SMILES in a table, if it is not called `smiles`.
    target : str, optional
        Name of the column of targets in a table or in the file `targets.csv` of a folder, or of a property in an SDF.

    Returns
    -------
    GraphSet

    Raises
    ------
    GraphError
        If something is not a graph, or cannot be used; the message says which graph and why.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from rwk import as_graphs
    >>> as_graphs([nx.path_graph(3), nx.star_graph(4)], targets=[0, 1])
    GraphSet('graphs', 2 graphs, 3-5 nodes; targets)
    >>> as_graphs((np.array([[0, 1], [1, 0]]), ["C", "O"]))
    GraphSet('graphs', 1 graphs, 2-2 nodes; node_labels)
    """
    notes = Notes()
    graphs = _whole_set(data)
    if graphs is None:
        names = Names(node_label, node_attributes, edge_weight, edge_label, edge_attributes)
        found = _contents(data, TableColumns(smiles_column, target))
        name = Path(data).stem if isinstance(data, str | Path) and _exists(data) else "graphs"
        graphs = GraphSet.from_graphs(_convert(found.items, names, notes), targets=found.targets, name=name)
    if targets is not None:
        graphs = replace(graphs, targets=_as_targets(targets, len(graphs)))
    check_graphs(graphs)
    notes.warn(len(graphs), stacklevel=2)
    return graphs


def _whole_set(data: Any) -> GraphSet | None:
    """The set, if the data is a set, or the name or path of one; else None."""
    if isinstance(data, GraphSet):
        return data
    if not isinstance(data, str | Path):
        return None
    from rwk.datasets.catalogue import KNOWN, plain
    from rwk.datasets.load import load_dataset, read_path
    from rwk.datasets.tu_files import tu_place

    if _exists(data):
        path = Path(data).expanduser()
        return read_path(path) if path.suffix == ".zip" or tu_place(path) is not None else None
    return load_dataset(data) if isinstance(data, str) and plain(data) in KNOWN else None


def _contents(data: Any, columns: TableColumns) -> Contents:
    """The single graphs in the data, not yet converted, and their targets if the data has them."""
    if is_wildcard(data) and not _exists(data):
        return contents_of_wildcard(data, columns)
    if isinstance(data, str | Path) and _is_file(data):
        return contents_of(Path(data).expanduser(), columns)
    if columns != TableColumns():
        raise GraphError("smiles_column and target name columns of a file; for other data pass targets=")
    items = [part for item in _items(data) for part in _parts(item)]
    return Contents(items, _own_targets(items))


def _parts(item: Any) -> list[Any]:
    """The graphs of one entry of a list: a file may hold many."""
    several = isinstance(item, str | Path) and _is_file(item) and str(item).lower().endswith(MANY)
    return contents_of(Path(item).expanduser(), TableColumns()).items if several else [item]


def _is_file(item: str | Path) -> bool:
    """Whether a path or text means a file or folder, even if there is none: then the error says so."""
    return isinstance(item, Path) or _exists(item) or item.lower().endswith((*GRAPH_FILES, *MANY, *PICKLES))


def _items(data: Any) -> list[Any]:
    """The single graphs in the data, or files of graphs."""
    if isinstance(data, str | Path | Graph) or is_matrix(data):
        return [data]
    if _package(data) == "torch_geometric":
        many = unpacked(data)
        return [data] if many is None else many
    if not isinstance(data, list) and _family(data) is not None:
        return [data]
    if not isinstance(data, Iterable) and not hasattr(data, "__getitem__"):
        raise GraphError(f"{type(data).__name__} is neither a graph nor a list of graphs; see the help of as_graphs")
    return [single for item in data for single in (item if isinstance(item, GraphSet) else [item])]


def _convert(items: list[Any], names: Names, notes: Notes) -> list[Graph]:
    """Convert all graphs of one form together, so that the converter can look at all of them; the order stays."""
    families: dict[str, dict[int, Any]] = {}
    for i, item in enumerate(items):
        family = _family(item)
        if family is None:
            what = "None" if item is None else f"a {type(item).__name__}"
            raise GraphError(f"graph {i} is {what}, which is not a graph; see the help of as_graphs")
        families.setdefault(family, {})[i] = Path(item).expanduser() if family == "file" else item
    graphs: dict[int, Graph] = {}
    for family, members in families.items():
        graphs |= _FAMILIES[family](members, names, notes)
    return [graphs[i] for i in range(len(items))]


def _family(item: Any) -> str | None:
    """The key of the converter for this object, or None if there is none."""
    if isinstance(item, Graph):
        return "record"
    if isinstance(item, str | Path) and _is_file(item):
        return "file"
    if isinstance(item, str):
        return "smiles"
    package = _package(item)
    if package in _FAMILIES:
        return package
    if is_grakel(item):
        return "grakel"
    is_tuple = isinstance(item, tuple) and 2 <= len(item) <= 3 and is_matrix(item[0])
    return "array" if is_tuple or is_matrix(item) else None


def _package(item: Any) -> str | None:
    """The library that an object's class, or a class it inherits from, belongs to; None for other libraries."""
    packages = [kind.__module__.partition(".")[0] for kind in type(item).__mro__]
    return next((p for p in packages if p in ("networkx", "igraph", "torch_geometric", "rdkit")), None)


def _exists(item: str | Path) -> bool:
    try:
        return Path(item).expanduser().exists()
    except (OSError, ValueError):  # too long for a path, or not allowed in one: not a file
        return False


def _own_targets(items: list[Any]) -> NDArray[Any] | None:
    return pyg_targets(items) if items and all(_package(item) == "torch_geometric" for item in items) else None


def _as_targets(targets: Any, n_graphs: int) -> NDArray[Any]:
    values = np.asarray(targets)
    if values.ndim == 0 or len(values) != n_graphs:
        n_targets = 1 if values.ndim == 0 else len(values)
        raise GraphError(f"{n_targets} targets were given for {n_graphs} graphs; give one per graph")
    return values
