"""Counts of substructures of molecules, and the scaffold of a molecule, by RDKit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from rwk.convert.molecules import NEEDS_RDKIT
from rwk.graphs import GraphError, GraphSet
from rwk.runtime.arrays import FloatArray

KINDS: Final = ("morgan", "fragments", "both")
RADIUS: Final = 3
COLUMNS: Final = 2048  # that Morgan counts are hashed to


def fingerprint_counts(molecules: Any, kind: str = "both") -> FloatArray:
    """How often each substructure occurs in each molecule, one row per molecule.

    Parameters
    ----------
    molecules : SMILES, RDKit molecules, or a GraphSet whose graphs are named by their SMILES
        The molecules.
    kind : {"morgan", "fragments", "both"}, default "both"
        Circular substructures of radius 3 (Morgan, hashed to 2,048 columns), RDKit's 85 functional groups, or both.

    Returns
    -------
    ndarray of shape (n_molecules, n_columns)
        The counts.

    Examples
    --------
    >>> counts = fingerprint_counts(["CCO", "CCCO"], "fragments")
    >>> counts.shape, counts.sum(axis=1).tolist()
    ((2, 85), [2.0, 2.0])
    """
    if kind not in KINDS:
        raise GraphError(f"fingerprints {kind!r} are unknown; give 'morgan', 'fragments' or 'both'")
    found = parsed_molecules(molecules)
    parts = []
    if kind in ("morgan", "both"):
        from rdkit.Chem import rdFingerprintGenerator

        make = rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=COLUMNS)
        parts.append(np.array([make.GetCountFingerprintAsNumPy(molecule) for molecule in found], np.float64))
    if kind in ("fragments", "both"):
        from rdkit.Chem import Fragments

        groups = [getattr(Fragments, name) for name in sorted(dir(Fragments)) if name.startswith("fr_")]
        parts.append(np.array([[group(molecule) for group in groups] for molecule in found], np.float64))
    return np.hstack(parts)


def columns_of(kind: str) -> dict[str, slice]:
    """Which columns of `fingerprint_counts` are Morgan counts, and which are functional groups.

    >>> columns_of("both")["fragments"], list(columns_of("morgan"))
    (slice(2048, None, None), ['morgan'])
    """
    if kind == "both":
        return {"morgan": slice(0, COLUMNS), "fragments": slice(COLUMNS, None)}
    return {kind: slice(0, None)}


def scaffolds(molecules: Any) -> list[str]:
    """The Bemis-Murcko scaffold of each molecule as SMILES; empty for a molecule without rings.

    >>> scaffolds(["c1ccccc1CCO", "CCO"])
    ['c1ccccc1', '']
    """
    found = parsed_molecules(molecules)
    from rdkit.Chem.Scaffolds import MurckoScaffold

    scaffold: Any = MurckoScaffold.MurckoScaffoldSmiles
    return [str(scaffold(mol=molecule)) for molecule in found]


def smiles_of(molecules: Any) -> list[Any]:
    """SMILES or RDKit molecules, one per entry; raises GraphError if graphs do not say which molecules they are."""
    if isinstance(molecules, GraphSet):
        if molecules.names is None:
            raise GraphError(
                "fingerprints need molecules, and these graphs are not named by their SMILES; give SMILES or RDKit "
                "molecules, or graphs with names=smiles"
            )
        return list(molecules.names)
    return [molecules] if isinstance(molecules, str) else list(molecules)


def parsed_molecules(molecules: Any) -> Sequence[Any]:
    """RDKit molecules; raises GraphError if one does not parse."""
    items = smiles_of(molecules)
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise GraphError(f"making fingerprints {NEEDS_RDKIT}") from error
    with rdBase.BlockLogs():
        found = [item if hasattr(item, "GetAtoms") else Chem.MolFromSmiles(str(item)) for item in items]
    wrong = next((i for i, molecule in enumerate(found) if molecule is None), None)
    if wrong is not None:
        raise GraphError(
            f"fingerprints need molecules, and {items[wrong]!r} (number {wrong}) is not a SMILES that parses; "
            "give SMILES or RDKit molecules"
        )
    return found
