"""Converts RDKit molecules and SMILES: atoms are labelled by atomic number, bonds by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rwk.convert.build import Names, Notes, build_graph
from rwk.graphs import Graph, GraphError


def from_molecules(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert RDKit molecules; hydrogens become nodes only if the molecule has them as explicit atoms."""
    return {i: _convert(molecule) for i, molecule in items.items()}


def from_smiles(items: Mapping[int, str], names: Names, notes: Notes) -> dict[int, Graph]:
    """Parse SMILES; raises a `GraphError` that lists those that do not parse."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        one = next(iter(items.values()))
        raise GraphError(
            f"{one!r} is not a file, and reading it as SMILES needs RDKit: pip install 'rwk[molecules]'"
        ) from error
    with rdBase.BlockLogs():
        molecules = {i: Chem.MolFromSmiles(text) for i, text in items.items()}
    bad = [f"number {i} ({items[i]!r})" for i, molecule in molecules.items() if molecule is None]
    if bad and len(items) == 1:
        raise GraphError(f"{next(iter(items.values()))!r} is neither a file that exists nor a SMILES that parses")
    if bad:
        shown = ", ".join(bad[:5]) + (" and others" if len(bad) > 5 else "")
        raise GraphError(f"{len(bad)} of {len(items)} SMILES do not parse: {shown}; correct or remove them")
    return from_molecules(molecules, names, notes)


def _convert(molecule: Any) -> Graph:
    atoms, bonds = list(molecule.GetAtoms()), list(molecule.GetBonds())
    ends = np.array([(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds], dtype=np.int64)
    graph, _ = build_graph(
        len(atoms),
        ends,
        nodes={"node_labels": np.array([atom.GetAtomicNum() for atom in atoms], dtype=np.int64)},
        edges={"edge_labels": np.array([int(bond.GetBondType()) for bond in bonds], dtype=np.int64)},
        label_names={atom.GetAtomicNum(): atom.GetSymbol() for atom in atoms},
    )
    return graph
