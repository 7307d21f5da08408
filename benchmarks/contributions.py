"""Whether explanations find what atoms add to a value, where that is known:
`python benchmarks/contributions.py --output results/contributions.json`.

Targets are sums over the atoms of molecules of ESOL: of a number per element, aromatic atoms apart; of a number that
also depends on the neighbours (an atom next to oxygen or nitrogen counts less); and of the atomic contributions to
logP of Wildman and Crippen, as RDKit has them (68 types of atoms, hydrogens left out). Rank correlations (Spearman) are
between true and found contributions of all atoms of the test molecules.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdMolDescriptors
from scipy.stats import spearmanr

import rwk
from rwk.learn.explain_value import explain_value
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

WORTH = {"C": 0.4, "c": 0.1, "N": -0.8, "n": -0.4, "O": -1.1, "o": -0.6, "F": 0.3, "S": -0.2, "s": 0.2, "Cl": 0.9,
         "Br": 1.2, "I": 1.4, "P": -1.0}  # fmt: skip
TIMES_NEXT_TO_O_OR_N = 0.5


def by_element(molecule: Any) -> np.ndarray:
    return np.array([WORTH[_symbol(atom)] for atom in molecule.GetAtoms()])


def by_surroundings(molecule: Any) -> np.ndarray:
    near = [any(other.GetSymbol() in "ON" for other in atom.GetNeighbors()) for atom in molecule.GetAtoms()]
    return by_element(molecule) * np.where(near, TIMES_NEXT_TO_O_OR_N, 1.0)


def by_crippen(molecule: Any) -> np.ndarray:
    return np.array([logp for logp, _ in rdMolDescriptors._CalcCrippenContribs(molecule)])


TARGETS: dict[str, Callable[[Any], np.ndarray]] = {
    "element": by_element,
    "element and neighbours": by_surroundings,
    "Crippen": by_crippen,
}


def _symbol(atom: Any) -> str:
    return atom.GetSymbol().lower() if atom.GetIsAromatic() else atom.GetSymbol()


def measure(name: str, smiles: list[str], n_train: int, settings: str) -> dict[str, Any]:
    """Fit on the first molecules, and explain the others."""
    worth = [TARGETS[name](Chem.MolFromSmiles(one)) for one in smiles]
    values = np.array([float(one.sum()) for one in worth])
    process = rwk.RWKGaussianProcess(settings=settings).fit(smiles[:n_train], values[:n_train])
    found = [explain_value(process, one, n_supports=1) for one in smiles[n_train:]]
    errors = np.array([why.predicted for why in found]) - values[n_train:]
    true, added = np.concatenate(worth[n_train:]), np.concatenate([why.contributions for why in found])
    return {
        "target": name,
        "n_train": n_train,
        "n_test": len(found),
        "n_atoms": len(true),
        "rmse_over_std": round(float(np.sqrt(np.mean(errors**2)) / values.std()), 4),
        "rank_correlation": round(float(spearmanr(true, added).statistic), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=300)
    parser.add_argument("--test", type=int, default=30)
    parser.add_argument("--settings", default="molecules")
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rwk_names = rwk.load_dataset("ESOL").names or ()
    order = np.random.default_rng(0).permutation(len(rwk_names))
    molecules = [(rwk_names[i], Chem.MolFromSmiles(rwk_names[i])) for i in order]
    known = [s for s, m in molecules if m.GetNumAtoms() >= 5 and all(_symbol(a) in WORTH for a in m.GetAtoms())]
    smiles = known[: arguments.train + arguments.test]
    rows = []
    for name in arguments.targets:
        rows.append(measure(name, smiles, arguments.train, arguments.settings))
        print(rows[-1], flush=True)
    if arguments.output:
        record = {"rows": rows, "made_with": machine_record(SOLVER_VERSION)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
