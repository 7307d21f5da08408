"""Files, folders and wildcards: what a path contains, as items for the converters.

one file of one graph     .graphml, .gml, .gexf, .json, edge lists
one file of many graphs   .smi, .sdf, .csv, .tsv, .parquet, .json
a folder, or wildcards    such files, with an optional targets.csv
"""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Any

from rwk.convert.file_contents import Contents, TableColumns, numbers_or_text, read_text
from rwk.convert.graph_files import GRAPH_FILES
from rwk.convert.molecule_files import MDL_FILES, SMILES_FILES, read_mdl_file, read_smiles_file
from rwk.convert.node_link import parse_node_link
from rwk.convert.table_files import TABLE_FILES, parse_csv, read_table
from rwk.graphs import GraphError
from rwk.runtime.files import user_path

MANY = (*SMILES_FILES, *MDL_FILES, *TABLE_FILES, ".json")
IN_FOLDERS = tuple(kind for kind in (*GRAPH_FILES, *SMILES_FILES, *MDL_FILES, ".json") if kind != ".txt")
TARGETS = "targets.csv"


def is_wildcard(data: Any) -> bool:
    """Whether a text is a path with wildcards, such as graphs/*.graphml, and not SMILES.

    >>> is_wildcard("graphs/*.graphml"), is_wildcard("*c1ccccc1")
    (True, False)
    """
    return isinstance(data, str) and bool(set("*?") & set(data)) and data.lower().endswith((*GRAPH_FILES, *MANY))


def contents_of(path: Path, columns: TableColumns) -> Contents:
    """The graphs in a file, or in the files of a folder."""
    if path.is_dir():
        files = sorted((p for p in path.iterdir() if p.suffix.lower() in IN_FOLDERS and p.is_file()), key=_natural)
        if not files:
            kinds = ", ".join(IN_FOLDERS)
            raise GraphError(f"{path} contains neither a TU set (NAME_A.txt) nor files that can be read ({kinds})")
        return _of_files(files, path / TARGETS, columns)
    ending = path.suffix.lower()
    if ending in SMILES_FILES:
        return read_smiles_file(path)
    if ending in MDL_FILES:
        return read_mdl_file(path, columns.target)
    if ending in TABLE_FILES:
        return read_table(path, columns)
    if ending == ".json":
        return Contents(parse_node_link(read_text(path), str(path)))
    return Contents([path])


def contents_of_wildcard(pattern: str, columns: TableColumns) -> Contents:
    """The graphs in the files that match a path with wildcards."""
    files = sorted((Path(name) for name in glob.glob(str(user_path(pattern)))), key=_natural)
    files = [file for file in files if file.name != TARGETS]
    if not files:
        raise GraphError(f"no file matches {pattern}; check the path")
    return _of_files(files, files[0].parent / TARGETS, columns)


def _of_files(files: list[Path], targets: Path, columns: TableColumns) -> Contents:
    """The graphs of several files in order, each with the name of its file."""
    inner = TableColumns(columns.smiles, None if targets.is_file() else columns.target)
    found = [contents_of(file, inner) for file in files]
    items = [item for one in found for item in one.items]
    names = [name for file, one in zip(files, found, strict=True) for name in _names(file, one)]
    if targets.is_file():
        return Contents(items, _targets_of(names, targets, columns.target), names)
    own = [value for one in found if one.targets is not None for value in one.targets.tolist()]
    return Contents(items, numbers_or_text(own) if own and len(own) == len(items) else None, names)


def _names(file: Path, contents: Contents) -> list[str]:
    if len(contents.items) == 1:
        return [file.stem]
    return contents.names or [f"{file.stem}-{i}" for i in range(len(contents.items))]


def _targets_of(names: list[str], path: Path, column: str | None) -> Any:
    """The targets of named graphs from a table: names (with or without ending) in the first column."""
    table = parse_csv(read_text(path), path)
    first, *others = table
    if column is not None and column not in others:
        raise GraphError(f"{path} has no column {column!r}; its columns are {', '.join(map(repr, table))}")
    if not others:
        raise GraphError(f"{path} has one column; write `file,target` in its first line, and one line per graph")
    chosen = column or ("target" if "target" in others else others[0])
    known = dict(zip(table[first], table[chosen], strict=True))
    known |= {Path(name).stem: value for name, value in known.items() if name.lower().endswith((*GRAPH_FILES, *MANY))}
    missing = next((name for name in names if not known.get(name)), None)
    if missing is not None:
        raise GraphError(f"{path} has no target for {missing!r}; add a line for it, or remove the file")
    return numbers_or_text([known[name] for name in names])


def _natural(path: Path) -> list[Any]:
    """A key that sorts g2 before g10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]
