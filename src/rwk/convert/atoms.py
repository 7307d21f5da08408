"""What is read from the atoms and bonds of an RDKit molecule: the featurizers of `rwk.molecules`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from rwk.convert.build import build_graph, coded, float_rows
from rwk.graphs import Graph, GraphError
from rwk.graphs.atom_names import ATOMIC_NUMBERS, Atom, atom_name
from rwk.graphs.canonical import label_codes
from rwk.runtime.arrays import IntArray

Hydrogens = Literal["implicit", "explicit", "count"]
Custom = Callable[[Any], Mapping[str, Any]]

NAMED: Final = ("full", "labels", "element")
ATTRIBUTES: Final = ("hydrogens", "degree", "charge", "ring", "aromatic", "pi_orbitals")  # of "full", in this order
CONJUGATED: Final = ", conjugated"
_FIELDS: Final = ("node_labels", "node_attributes", "edge_labels", "edge_attributes")
_BONDS: Final = {"SINGLE": "single", "DOUBLE": "double", "TRIPLE": "triple", "AROMATIC": "aromatic"}
_PI: Final = {"SP": 2.0, "SP2": 1.0}


@dataclass(frozen=True)
class Featurizer:
    """Which properties of a molecule become labels and attributes; `rwk.molecules` explains the choices."""

    kind: str | Custom = "full"
    hydrogens: Hydrogens = "implicit"
    stereo: bool = False

    def __post_init__(self) -> None:
        if not callable(self.kind) and self.kind not in NAMED:
            raise GraphError(f"featurizer={self.kind!r} is unknown; give 'full', 'labels', 'element' or a function")
        if self.hydrogens not in ("implicit", "explicit", "count"):
            raise GraphError(f"hydrogens={self.hydrogens!r} is unknown; give 'implicit', 'explicit' or 'count'")

    def graph(self, molecule: Any, where: str) -> Graph:
        """The graph of one RDKit molecule."""
        if self.hydrogens == "explicit":
            from rdkit import Chem

            molecule = Chem.AddHs(molecule)
        if self.stereo:
            molecule = _with_cip_labels(molecule)
        ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
        fields, names = self._custom(molecule, where) if callable(self.kind) else self._usual(molecule)
        graph, _ = build_graph(
            molecule.GetNumAtoms(),
            np.array(ends, dtype=np.int64),
            nodes={name: value for name, value in fields.items() if name.startswith("node")},
            edges={name: value for name, value in fields.items() if name.startswith("edge")},
            label_names=names,
        )
        return graph

    def _usual(self, molecule: Any) -> tuple[dict[str, Any], dict[int, str]]:
        labels, names = self._atom_codes([atom_name(self._described(atom)) for atom in molecule.GetAtoms()])
        bonds, bond_names = label_codes([self._bond_name(bond) for bond in molecule.GetBonds()])
        fields: dict[str, Any] = {"node_labels": labels, "edge_labels": bonds}
        if self.kind == "full":
            fields["node_attributes"] = np.array([_numbers_of(atom) for atom in molecule.GetAtoms()])
        return fields, {**names, **bond_names}

    def _custom(self, molecule: Any, where: str) -> tuple[dict[str, Any], dict[int, str]]:
        """Fields of `Graph` from the user's function."""
        assert callable(self.kind)
        given = self.kind(molecule)
        unknown = sorted(set(given) - set(_FIELDS)) if isinstance(given, Mapping) else ["no dict"]
        if unknown:
            known = ", ".join(_FIELDS)
            raise GraphError(
                f"{where}: the featurizer returned {', '.join(unknown)}; return a dict with any of {known}"
            )
        fields: dict[str, Any] = {}
        names: dict[int, str] = {}
        for name, values in given.items():
            what, needed = name.split("_")[0], molecule.GetNumAtoms()
            needed = needed if what == "node" else molecule.GetNumBonds()
            if len(values) != needed:
                raise GraphError(f"{where}: the featurizer returned {len(values)} {name}; return {needed}")
            if name.endswith("labels"):
                fields[name], more = coded(values, f"{where}, {what}")
                names.update(more)
            elif needed:
                fields[name] = float_rows(values, where)
        return fields, names

    def _described(self, atom: Any) -> Atom:
        symbol = atom.GetSymbol()
        if self.kind == "element":
            return Atom(symbol)
        return Atom(
            symbol,
            charge=atom.GetFormalCharge(),
            aromatic=atom.GetIsAromatic(),
            isotope=atom.GetIsotope(),
            radicals=atom.GetNumRadicalElectrons(),
            hydrogens=atom.GetTotalNumHs() if self.hydrogens == "count" else None,
            stereo=atom.GetProp("_CIPCode") if self.stereo and atom.HasProp("_CIPCode") else "",
        )

    def _bond_name(self, bond: Any) -> str:
        kind = str(bond.GetBondType())
        name = _BONDS.get(kind, kind.lower())
        if self.kind != "element" and bond.GetIsConjugated() and kind != "AROMATIC":
            name += CONJUGATED
        if self.stereo and bond.HasProp("_CIPCode"):
            name += f" ({bond.GetProp('_CIPCode')})"
        return name

    def _atom_codes(self, names: list[str]) -> tuple[IntArray, dict[int, str]]:
        """Codes of atoms: the atomic number if the name is just the element, else a hash of the name.

        With the featurizer "element" all are hashed: `label_coding` sees from the codes which sets tell a charged or
        aromatic atom from a plain one, and which know elements only.
        """
        hashed, found = label_codes(names)
        if self.kind == "element":
            return hashed, found
        codes = [ATOMIC_NUMBERS.get(name, code) for name, code in zip(names, hashed.tolist(), strict=True)]
        return np.array(codes, dtype=np.int64), dict(zip(codes, names, strict=True))


def has_stereo(molecule: Any) -> bool:
    """Whether a molecule says on which side a neighbour is: a tetrahedral centre or a double bond that is E or Z."""
    return any(int(atom.GetChiralTag()) for atom in molecule.GetAtoms()) or any(
        int(bond.GetStereo()) > 1 for bond in molecule.GetBonds()
    )


def _with_cip_labels(molecule: Any) -> Any:
    """A copy of the molecule whose atoms carry R or S and whose double bonds carry E or Z, if they are defined."""
    from rdkit import Chem
    from rdkit.Chem import rdCIPLabeler

    copy = Chem.Mol(molecule)
    rdCIPLabeler.AssignCIPLabels(copy)
    return copy


def _numbers_of(atom: Any) -> list[float]:
    """The attributes of an atom, named in `ATTRIBUTES`."""
    return [
        float(atom.GetTotalNumHs(includeNeighbors=True)),
        float(atom.GetDegree()),
        float(atom.GetFormalCharge()),
        float(atom.IsInRing()),
        float(atom.GetIsAromatic()),
        _PI.get(str(atom.GetHybridization()), 0.0),
    ]
