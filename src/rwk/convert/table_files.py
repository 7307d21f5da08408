"""Reads tables with one graph per row: .csv, .tsv and .parquet, with a column of SMILES or of node-link JSON."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rwk.convert.edge_lists import edge_columns, parse_edge_list
from rwk.convert.file_contents import Contents, TableColumns, numbers_or_text, read_text
from rwk.convert.molecule_files import parse_smiles_rows
from rwk.convert.node_link import parse_node_link
from rwk.graphs import GraphError
from rwk.runtime.log import LOG
from rwk.runtime.user_warnings import warn_user

TABLE_FILES = (".csv", ".tsv", ".parquet")
SMILES_NAMES = ("smiles", "canonical_smiles", "smile", "structure", "mol", "molecule")
TARGET_NAMES = ("target", "targets", "y", "label", "class", "activity")
NAME_NAMES = ("name", "names", "id", "compound id", "compound_id", "title")
GRAPH_NAMES = ("graph", "node_link")

FIRST_LINE: Final = 2  # lines of a text file count from 1, and the first is the header

Table = dict[str, list[Any]]


def read_table(path: Path, columns: TableColumns) -> Contents:
    """The graphs of a table, with targets and names if it has such columns; logs which columns were used."""
    text = None if path.suffix.lower() == ".parquet" else read_text(path)
    if text is not None and columns.smiles is None and edge_columns(text.split("\n", 1)[0]):
        return Contents([parse_edge_list(text, str(path))])
    table = read_parquet(path) if text is None else parse_csv(text, path)
    smiles = _column(table, columns.smiles, SMILES_NAMES, path)
    graph = None if smiles else _column(table, None, GRAPH_NAMES, path)
    if smiles is None and graph is None:
        raise GraphError(
            f"{path} has no column of SMILES: its columns are {_listed(table)}; name it with smiles_column= "
            "(--smiles-column)"
        )
    target = _column(table, columns.target, TARGET_NAMES, path)
    name = _column(table, None, NAME_NAMES, path)
    LOG.info(
        "%s: column %r is read as %s, %s", path, smiles or graph, "SMILES" if smiles else "graphs",
        f"{target!r} as target" if target else "none as target (--target names one)",
    )  # fmt: skip
    rows = _rows_with_target(table, target, path)
    if smiles:
        first = 0 if text is None else FIRST_LINE
        items = list(parse_smiles_rows({i + first: str(table[smiles][i] or "") for i in rows}, str(path)).values())
    else:
        assert graph is not None
        items = [parse_node_link(str(table[graph][i]), f"{path}, row {i}")[0] for i in rows]
    return Contents(
        items,
        targets=None if target is None else numbers_or_text([table[target][i] for i in rows]),
        names=None if name is None else [str(table[name][i]) for i in rows],
    )


def parse_csv(text: str, path: Path) -> Table:
    """The columns of a text table by name; tabs, semicolons or commas separate them."""
    header = text.split("\n", 1)[0]
    mark = (
        "\t"
        if path.suffix.lower() == ".tsv" or "\t" in header
        else ";"
        if header.count(";") > header.count(",")
        else ","
    )
    lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    while lines and not any(lines[-1]):
        lines.pop()
    if len(lines) < 2:
        raise GraphError(f"{path} has no rows below its header; give a table with one graph per row")
    names = [name.strip() for name in lines[0]]
    wrong = next((i for i, line in enumerate(lines) if len(line) != len(names)), None)
    if wrong is not None:
        raise GraphError(f"{path}, row {wrong} has {len(lines[wrong])} columns and the header {len(names)}; correct it")
    if twice := [name for name, count in Counter(names).items() if name and count > 1]:
        raise GraphError(f"{path} has more than one column {twice[0]!r}; rename or remove all but one")
    return {name: [line[i] for line in lines[1:]] for i, name in enumerate(names)}


def read_parquet(path: Path) -> Table:
    """The columns of a parquet file by name."""
    if not path.is_file():
        raise GraphError(f"{path} cannot be opened; check the path")
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise GraphError(f"{path}: parquet files need pyarrow: pip install 'rwk[parquet]'") from error
    try:
        found: Table = parquet.read_table(path).to_pydict()
    except Exception as error:  # pyarrow raises several kinds of errors for invalid files
        raise GraphError(f"{path}: not a valid parquet file ({str(error).splitlines()[0]}); get it again") from error
    return found


def _column(table: Mapping[str, Any], wanted: str | None, usual: Sequence[str], path: Path) -> str | None:
    """The column that the user named, or the first with a usual name in capital or small letters, or None."""
    if wanted is not None:
        if wanted not in table:
            raise GraphError(f"{path} has no column {wanted!r}; its columns are {_listed(table)}")
        return wanted
    by_name = {name.lower(): name for name in reversed(list(table))}
    return next((by_name[name] for name in usual if name in by_name), None)


def _listed(table: Iterable[str]) -> str:
    names = [repr(name) for name in table]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _rows_with_target(table: Table, target: str | None, path: Path) -> list[int]:
    """The rows that have a target; a warning counts those that have none, which are left out."""
    n_rows = len(next(iter(table.values())))
    if target is None:
        return list(range(n_rows))
    rows = [i for i, value in enumerate(table[target]) if not _is_missing(value)]
    if len(rows) < n_rows:
        warn_user(f"{path}: {n_rows - len(rows)} of {n_rows} rows have no {target!r} and are left out")
    return rows


def _is_missing(value: Any) -> bool:
    return str(value).strip().lower() in ("", "nan", "none", "na")


def _only_numbers(table: Table, path: Path) -> str:
    """The only column of numbers; raises GraphError if there is none or there are several."""
    found = [name for name, values in table.items() if name.lower() not in NAME_NAMES and _are_numbers(values)]
    if len(found) == 1:
        return found[0]
    columns = f"the columns of numbers are {_listed(found)}" if found else f"no column of {_listed(table)} has numbers"
    raise GraphError(f"{path}: name the column of the values to learn with --target; {columns}")


def _are_numbers(values: Sequence[Any]) -> bool:
    known = [value for value in values if not _is_missing(value)]
    try:
        return bool([float(value) for value in known])
    except (TypeError, ValueError):
        return False


def smiles_columns(
    path: Path, smiles_column: str | None, target: str | None, *, with_target: bool = True
) -> tuple[list[str], list[float] | None, str | None]:
    """The SMILES of a table, the numbers of its target column (None if not wanted), and the name of that column.

    A target that is not named is the column with a usual name, or the only column of numbers. Rows without a target are
    left out.
    """
    binary = path.suffix.lower() == ".parquet"
    table = read_parquet(path) if binary else parse_csv(read_text(path), path)
    first = 0 if binary else FIRST_LINE
    smiles = _column(table, smiles_column, SMILES_NAMES, path)
    if smiles is None:
        raise GraphError(
            f"{path} has no column of SMILES: its columns are {_listed(table)}; name it with --smiles-column"
        )
    found = (_column(table, target, TARGET_NAMES, path) or _only_numbers(table, path)) if with_target else None
    rows = _rows_with_target(table, found, path)
    written = [str(table[smiles][i] or "").strip() for i in rows]
    parse_smiles_rows({i + first: text for i, text in zip(rows, written, strict=True)}, str(path))
    if found is None:
        return written, None, None
    values = [_number(table[found][i], f"{path}, line {i + first}", found) for i in rows]
    return written, values, found


def _number(value: Any, place: str, column: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        comma = isinstance(value, str) and _are_numbers([value.replace(",", ".", 1)])
        what = "write a decimal point in place of the comma" if comma else "correct it, or leave it empty"
        raise GraphError(f"{place}: {value!r} in column {column!r} is not a number; {what}") from None
