"""Atom maps of reactions: `python benchmarks/atom_maps.py --output results/atom-maps.json`.

Reactions are made with RDKit templates (amides, esters, ethers of phenols, reductions of ketones and nitro groups), so
the true map is known. Reactants are matched with the product as graphs with elements and bonds; atoms that leave stay
unmatched. An atom counts as right if its partner has the same symmetry class (RDKit's canonical ranking) as the true
one.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem
from rdkit.Chem import AllChem

import rwk
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

ACIDS = ("CC(=O)O", "OC(=O)c1ccccc1O", "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "OC(=O)c1cccnc1", "OC(=O)CCC(C)=O", "CCCC(=O)O")
AMINES = ("NCc1ccccc1", "CCNCC", "NC1CCCCC1", "C1CCNC1", "NCCc1ccc(O)cc1", "COc1ccc(N)cc1")
ALCOHOLS = ("CCO", "CC(C)O", "OCc1ccccc1", "OC1CCCCC1C")
KETONES = ("CC(=O)c1ccccc1", "CCC(=O)CC(C)C", "O=C1CCCC(C)C1", "CC(=O)CCc1ccco1")
NITRO = ("O=[N+]([O-])c1ccccc1C", "O=[N+]([O-])c1ccc(Cl)cc1", "COc1cccc(c1)[N+](=O)[O-]")
BROMIDES = ("CCCBr", "BrCc1ccccc1")
PHENOLS = ("Oc1ccccc1C", "Oc1ccc(C#N)cc1", "Oc1ccc2ccccc2c1")
# name -> template, and the molecules that take each place
REACTIONS: dict[str, tuple[str, tuple[tuple[str, ...], ...]]] = {
    "amide": ("[C:1](=[O:2])[OH].[NX3;H1,H2:3]>>[C:1](=[O:2])[N:3]", (ACIDS, AMINES)),
    "ester": ("[C:1](=[O:2])[OH].[OX2H:3][CX4:4]>>[C:1](=[O:2])[O:3][C:4]", (ACIDS, ALCOHOLS)),
    "ether": ("[c:1][OH:2].[CX4:3]Br>>[c:1][O:2][C:3]", (PHENOLS, BROMIDES)),
    "ketone to alcohol": ("[#6:1][C:2](=[O:3])[#6:4]>>[#6:1][C:2]([O:3])[#6:4]", (KETONES,)),
    "nitro to amine": ("[c:1][N+:2](=O)[O-]>>[c:1][N+0:2]", (NITRO,)),
}


def reactions() -> Iterator[tuple[str, Any, Any, np.ndarray]]:
    """Name, reactants as one molecule, product, and the reactant atom of every product atom."""
    for name, (template, places) in REACTIONS.items():
        rule = AllChem.ReactionFromSmarts(template)
        for chosen in itertools.product(*places):
            molecules = [Chem.MolFromSmiles(text) for text in chosen]
            made = rule.RunReactants(molecules)
            if not made:
                continue
            product = made[0][0]
            Chem.SanitizeMol(product)
            firsts = np.concatenate([[0], np.cumsum([molecule.GetNumAtoms() for molecule in molecules])])
            numbers = [
                firsts[atom.GetIntProp("react_idx") if len(molecules) > 1 else 0] + atom.GetIntProp("react_atom_idx")
                for atom in product.GetAtoms()
            ]
            both = molecules[0]
            for molecule in molecules[1:]:
                both = Chem.CombineMols(both, molecule)
            Chem.SanitizeMol(both)
            yield name, both, product, np.array(numbers)


def measured() -> dict[str, Any]:
    """Counts and times by kind of reaction."""
    rows: dict[str, dict[str, Any]] = {}
    for name, reactants, product, truth in reactions():
        pair = rwk.as_graphs([product, reactants])
        start = time.perf_counter()
        found = rwk.match(pair[0], pair[1], backend="cpu").numbers
        seconds = time.perf_counter() - start
        classes = np.array(list(Chem.CanonicalRankAtoms(reactants, breakTies=False)))
        right = classes[found[:, 1]] == classes[truth[found[:, 0]]]
        row = rows.setdefault(name, {"reactions": 0, "whole": 0, "atoms": 0, "right": 0, "seconds": 0.0})
        for key, value in (("reactions", 1), ("whole", right.all()), ("atoms", len(right)), ("right", right.sum())):
            row[key] += int(value)
        row["seconds"] = round(row["seconds"] + seconds, 3)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rows = measured()
    for name, row in rows.items():
        print(f"{name:20s} {row['whole']} of {row['reactions']} maps right, {row['right']} of {row['atoms']} atoms")
    write_json(options.output, {"kinds": rows, "made_with": machine_record(SOLVER_VERSION)})


if __name__ == "__main__":
    main()
