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
from rwk.runtime.files import is_there, user_path
from rwk.runtime.words import brief

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
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)


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
    data : graph, list or dict of graphs, path or name
        One graph or an iterable of graphs, each of which may be: a `Graph`; a networkx or igraph graph; an adjacency
        matrix (dense or scipy sparse), alone or in a tuple (adjacency, labels), (adjacency, attributes) or (adjacency,
        labels, attributes); a PyTorch Geometric `Data`; a GraKeL tuple; an RDKit molecule; a SMILES string; the path of
        a file: GraphML, GML, GEXF, node-link JSON, an edge list, `.smi`, `.sdf`, or a table with one SMILES per row
        (`.csv`, `.tsv`, `.parquet`). Or a whole set: a `GraphSet`, a PyTorch Geometric dataset, the path of a TU folder
        or zip, a folder of files or a path with wildcards (`graphs/*.graphml`), the name of a benchmark set. A tuple
        that starts with a matrix is one graph; a list is many graphs. A dict of graphs is a set of named graphs:
        `{"aspirin": "CC(=O)O...", ...}`. A dict whose values are neighbours or weights, `{0: [1, 2], ...}` or
        `{(0, 1): 2.5, ...}`, is one graph in GraKeL's form.
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
    >>> as_graphs({"path": nx.path_graph(3), "star": nx.star_graph(4)}).names
    ('path', 'star')
    """
    notes = Notes()
    names = Names(node_label, node_attributes, edge_weight, edge_label, edge_attributes)
    try:
        graphs = _read(data, names, TableColumns(smiles_column, target), notes)
    except (GraphError, ImportError):
        raise
    except _UNREADABLE as error:  # what objects of any kind make the libraries that read them raise has no end
        raise GraphError(f"the data can't be read as graphs ({brief(error)}); see the help of as_graphs") from error
    if targets is not None:
        graphs = replace(graphs, targets=_as_targets(targets, len(graphs)))
    check_graphs(graphs)
    notes.warn(len(graphs))
    return graphs


def _read(data: Any, names: Names, columns: TableColumns, notes: Notes) -> GraphSet:
    """The graphs in the data, not yet checked."""
    if isinstance(data, str) and not data.strip():
        raise GraphError("the name is empty; give a file, a folder, a dataset or a SMILES string")
    whole = _whole_set(data)
    if whole is not None:
        return whole
    found = _contents(data, columns)
    name = Path(data).stem if isinstance(data, str | Path) and is_there(data) else "graphs"
    converted = _convert(found.items, names, notes)
    return GraphSet.from_graphs(converted, targets=found.targets, name=name, names=found.names)


def _whole_set(data: Any) -> GraphSet | None:
    """The set, if the data is a set, or the name or path of one; else None."""
    if isinstance(data, GraphSet):
        return data
    if not isinstance(data, str | Path):
        return None
    from rwk.datasets.catalogue import COLLECTION, KNOWN, plain
    from rwk.datasets.load import load_dataset, read_path
    from rwk.datasets.molecule_sets import TABLES
    from rwk.datasets.tu_files import tu_place

    if is_there(data):
        path = user_path(data)
        return read_path(path) if path.suffix == ".zip" or tu_place(path) is not None else None
    # the short names of the collection are matched as they are written, so that SMILES are not taken for them
    named = isinstance(data, str) and (plain(data) in KNOWN or data in COLLECTION.values() or data in TABLES)
    return load_dataset(data) if named else None


def _contents(data: Any, columns: TableColumns) -> Contents:
    """The single graphs in the data, not yet converted, and their targets and names if the data has them."""
    if is_wildcard(data) and not is_there(data):
        return contents_of_wildcard(data, columns)
    if isinstance(data, str | Path) and _is_file(data):
        return contents_of(user_path(data), columns)
    if columns != TableColumns():
        raise GraphError("smiles_column and target name columns of a file; for other data pass targets=")
    keys = list(data) if is_named_set(data) else None
    entries = _items(data) if keys is None else list(data.values())
    parts = [_part(entry) for entry in entries]
    items = [item for part in parts for item in part.items]
    several = next((i for i, part in enumerate(parts) if len(part.items) != 1), None)
    if keys is not None and several is not None:
        raise GraphError(f"{keys[several]!r} holds {len(parts[several].items)} graphs; give one graph per name")
    return Contents(items, _own_targets(parts), _own_names(parts) if keys is None else [str(key) for key in keys])


def _part(entry: Any) -> Contents:
    """The graphs of one entry of a list: a set, a folder or a file may hold many."""
    whole = entry
    if isinstance(entry, str | Path) and _is_file(entry):
        whole = _whole_set(entry) if is_there(entry) else None
        if whole is None:
            path = user_path(entry)
            found = contents_of(path, TableColumns())
            return Contents(found.items, found.targets, [path.stem] if len(found.items) == 1 else found.names)
    if isinstance(whole, GraphSet):
        return Contents(list(whole), whole.targets, None if whole.names is None else list(whole.names))
    return Contents([entry])


def _own_names(parts: list[Contents]) -> list[str] | None:
    """The names that sets and files bring along; None unless every graph has one, and no two the same."""
    names = [name for part in parts for name in part.names or []]
    unique = len(set(names)) == len(names) and all(part.names is not None for part in parts)
    return names if names and unique else None


def _is_file(item: str | Path) -> bool:
    """Whether a path or text means a file or folder, even if there is none: then the error says so."""
    if isinstance(item, Path) or is_there(item):
        return True
    return item.isprintable() and item.lower().endswith((*GRAPH_FILES, *MANY, *PICKLES))


def is_named_set(data: Any) -> bool:
    """Whether the data is a dict of graphs by name, rather than one graph as a dict.

    It is if a value can't be anything but a graph: a record, a graph of a library, a SMILES string or path, a matrix,
    a tuple in one of the forms of a graph, or a dict of lists of neighbours. Lists and sets of nodes, dicts of weights
    and numbers are what GraKeL's dicts of one graph hold; a dict with `nodes` and `links` or `edges` is one graph too.

    >>> is_named_set({"ethanol": "CCO"}), is_named_set({0: [1, 2], 1: [0], 2: [0]}), is_named_set({(0, 1): 2.5})
    (True, False, False)
    """
    if not isinstance(data, Mapping) or ("nodes" in data and ("links" in data or "edges" in data)):
        return False
    return any(_only_a_graph(value) for value in data.values())


def _only_a_graph(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(near, list | tuple | set | frozenset) for near in value.values())
    if isinstance(value, set | frozenset) or (isinstance(value, list) and not is_matrix(value)):
        return False
    return isinstance(value, GraphSet) or _family(value) is not None


def _items(data: Any) -> list[Any]:
    """The single graphs in the data, or sets and files of graphs."""
    if isinstance(data, str | Path | Graph) or is_matrix(data):
        return [data]
    if _package(data) == "torch_geometric":
        many = unpacked(data)
        return [data] if many is None else many
    if not isinstance(data, list) and _family(data) is not None:
        return [data]
    if not isinstance(data, Iterable) and not hasattr(data, "__getitem__"):
        raise GraphError(f"{type(data).__name__} is neither a graph nor a list of graphs; see the help of as_graphs")
    return list(data)


def _convert(items: list[Any], names: Names, notes: Notes) -> list[Graph]:
    """Convert all graphs of one form together, so that the converter can look at all of them; the order stays."""
    families: dict[str, dict[int, Any]] = {}
    for i, item in enumerate(items):
        family = _family(item)
        if family is None:
            what = "None" if item is None else f"of type {type(item).__name__}"
            raise GraphError(f"graph {i} is {what}, which is not a graph; see the help of as_graphs")
        families.setdefault(family, {})[i] = user_path(item) if family == "file" else item
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


def _own_targets(parts: list[Contents]) -> NDArray[Any] | None:
    """The targets that PyG data, sets and files bring along; None unless every graph has one."""
    items = [item for part in parts for item in part.items]
    if items and all(_package(item) == "torch_geometric" for item in items):
        return pyg_targets(items)
    targets = [part.targets for part in parts if part.targets is not None]
    return np.concatenate(targets) if targets and len(targets) == len(parts) else None


def _as_targets(targets: Any, n_graphs: int) -> NDArray[Any]:
    try:
        values = np.asarray(targets)
    except ValueError:
        raise GraphError("the targets are not one value per graph; give a list of numbers or texts") from None
    if values.ndim == 0 or len(values) != n_graphs:
        n_targets = 1 if values.ndim == 0 else len(values)
        raise GraphError(f"{n_targets} targets were given for {n_graphs} graphs; give one per graph")
    return values
