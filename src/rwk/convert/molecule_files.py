"""Reads files of molecules: SMILES (.smi), MDL files (.sdf, .mol)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rwk.convert.file_contents import Contents, numbers_or_text, read_text
from rwk.graphs import GraphError

SMILES_FILES = (".smi", ".smiles")
MDL_FILES = (".sdf", ".mol")


def read_smiles_file(path: Path) -> Contents:
    """One SMILES per line, then optionally a name; a header line and lines that begin with # are left out."""
    lines = [(number, line.split(None, 1)) for number, line in enumerate(read_text(path).splitlines(), start=1)]
    rows = {number: parts for number, parts in lines if parts and not parts[0].startswith("#")}
    first = next(iter(rows), None)
    if first is not None and rows[first][0].strip(",;").lower() == "smiles":
        del rows[first]
    found = parse_smiles_rows({number: parts[0] for number, parts in rows.items()}, str(path))
    has_names = bool(rows) and all(len(parts) == 2 for parts in rows.values())
    names = [parts[1].strip() for parts in rows.values()] if has_names else None
    return Contents(list(found.values()), names=names)


def parse_smiles_rows(rows: Mapping[int, str], where: str) -> dict[int, Any]:
    """RDKit molecules by line; raises a `GraphError` that names the lines that do not parse."""
    chem, blocked = _rdkit(where)
    with blocked():
        found = {line: chem.MolFromSmiles(text.strip()) if text.strip() else None for line, text in rows.items()}
    bad = [f"line {line} ({rows[line]!r})" for line, molecule in found.items() if molecule is None]
    if bad:
        shown = ", ".join(bad[:5]) + (" and others" if len(bad) > 5 else "")
        raise GraphError(
            f"{where}: {len(bad)} of {len(rows)} SMILES do not parse: {shown}; correct or remove the lines, or read "
            "them with rwk.molecules(..., on_error='skip')"
        )
    return found


def read_mdl_file(path: Path, target: str | None) -> Contents:
    """Molecules of an .sdf or .mol file; `target` names one of their properties."""
    chem, blocked = _rdkit(str(path))
    read_text(path)  # says what is wrong if the file cannot be opened
    with blocked():
        try:
            supplier = (
                chem.SDMolSupplier(str(path)) if path.suffix.lower() == ".sdf" else [chem.MolFromMolFile(str(path))]
            )
            found = list(supplier)
        except (OSError, RuntimeError) as error:
            raise GraphError(f"{path}: not a valid {path.suffix[1:]} file ({error}); correct it") from error
    bad = [str(i) for i, molecule in enumerate(found) if molecule is None]
    if bad:
        raise GraphError(f"{path}: molecule {', '.join(bad[:5])} of {len(found)} (from 0) cannot be read; remove it")
    named = [molecule.GetProp("_Name").strip() if molecule.HasProp("_Name") else "" for molecule in found]
    values = None
    if target is not None:
        missing = next((i for i, molecule in enumerate(found) if not molecule.HasProp(target)), None)
        if missing is not None:
            known = ", ".join(map(repr, found[missing].GetPropNames())) or "none"
            raise GraphError(f"{path}: molecule {missing} has no property {target!r}; its properties are: {known}")
        values = numbers_or_text([molecule.GetProp(target) for molecule in found])
    return Contents(found, targets=values, names=named if all(named) else None)


def _rdkit(where: str) -> tuple[Any, Any]:
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise GraphError(f"{where}: reading molecules needs RDKit: pip install 'rwk[molecules]'") from error
    return Chem, rdBase.BlockLogs
