"""Patterns and common parts of molecules: `python benchmarks/substructures.py --output results/substructures.json`.

`rwk.find` ranks molecules of Lipophilicity by ten patterns, RDKit's substructure search says which of them hold the
pattern, and its maximum common substructure of pattern and molecule how near the others come. `rwk.common_part` is
compared with RDKit's FMCS on random pairs of the same molecules and on ten pairs that are difficult for an exhaustive
search: terpenes, oligomers and peptides. Atoms are their elements, and bonds are equal if they have the same order
(RDKit's CompareOrderExact). Times are those of the process, on one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFMCS

import rwk
from rwk.datasets.molecule_sets import molecule_table
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.runtime.threads import one_blas_thread
from rwk.transport.problem import SOLVER_VERSION

PATTERNS = {
    "benzene": "c1ccccc1", "carboxyl": "CC(=O)O", "amide": "CC(=O)NC", "pyridine": "c1ccncc1",
    "sulfonamide": "CS(=O)(=O)N", "piperazine": "C1CNCCN1", "chlorobenzene": "Clc1ccccc1", "morpholine": "C1COCCN1",
    "trifluoromethyl": "CC(F)(F)F", "anisole": "COc1ccccc1",
}  # fmt: skip
CHOLESTEROL = "CC(C)CCCC(C)C1CCC2C1(CCC3C2CC=C4C3(CCC(C4)O)C)C"
BETULIN = "CC(=C)C1CCC2(C1C3CCC4C5(CCC(C(C5CCC4(C3(CC2)C)C)(C)C)O)C)CO"
HOPANE = "CC(C)C1CCC2C1(CCC3(C2CCC4C3(CCC5C4(CCCC5(C)C)C)C)C)C"
PERHYDROCORONENE = "C1CC2CCC3CCC4CCC5CCC6CCC1C7C2C3C4C5C67"
STYRENES = "C" + "C(c1ccccc1)C" * 8
PARA, META = "c1ccccc1" + "-c1ccc(cc1)" * 6 + "C", "c1cccc(c1)" + "-c1cccc(c1)" * 6 + "C"
HARD = [
    tuple(map(Chem.MolFromSmiles, pair))
    for pair in (
        (CHOLESTEROL, BETULIN), (HOPANE, BETULIN), (CHOLESTEROL, HOPANE), (PERHYDROCORONENE, HOPANE),
        (PERHYDROCORONENE, BETULIN), (STYRENES, PARA), (STYRENES, META), (PARA, META),
    )
] + [
    tuple(map(Chem.MolFromSequence, pair)) for pair in (("GAVLIFYWKG", "AVGLIYFWGK"), ("GAVLGAVLGAVL", "AVLGLVAGAGVL"))
]  # fmt: skip


def graphs_of(molecules: list[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stereochemistry is not used
        return rwk.molecules(molecules, featurizer="element")


def fmcs(first: Any, second: Any, timeout: int) -> Any:
    """RDKit's maximum common substructure, with the same rules as ours."""
    exact = rdFMCS.BondCompare.CompareOrderExact
    return rdFMCS.FindMCS([first, second], timeout=timeout, bondCompare=exact)


def average_precision(relevant: np.ndarray) -> float:
    """Of a ranking: the mean, over the relevant entries, of the share of relevant ones up to there."""
    places = np.flatnonzero(relevant)
    return float(np.mean(np.arange(1, len(places) + 1) / (places + 1)))


def rank_correlation(x: Any, y: Any) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(x, y).statistic)


def pattern_row(pattern: Any, molecules: list[Any], graphs: Any) -> dict[str, Any]:
    """How well the ranking by one pattern agrees with RDKit."""
    holds = np.array([molecule.HasSubstructMatch(pattern) for molecule in molecules])
    start = time.process_time()
    found = rwk.find(graphs_of([pattern])[0], graphs, n_jobs=1, backend="cpu")
    seconds = time.process_time() - start
    order = np.array([one.graph for one in found])
    by_value = np.array([one.graph for one in sorted(found, key=lambda one: one.value)])
    others = [one for one in found if not holds[one.graph]]
    common = [fmcs(pattern, molecules[one.graph], 10) for one in others]
    return {
        "holding": int(holds.sum()),
        "exact": sum(one.exact for one in found),
        "average_precision": round(average_precision(holds[order]), 4),
        "by_value_alone": round(average_precision(holds[by_value]), 4),
        "near_correlation": round(
            rank_correlation([one.share for one in others], [one.numAtoms + one.numBonds for one in common]), 4
        ),
        "milliseconds_per_molecule": round(1000 * seconds / len(molecules), 3),
    }


def our_part(first: Any, second: Any) -> dict[str, Any]:
    """The common part of two molecules by rwk: atoms, bonds and seconds."""
    start = time.process_time()
    pair = graphs_of([first, second])
    found = rwk.common_part(pair[0], pair[1], n_jobs=1, backend="cpu").numbers
    seconds = time.process_time() - start
    place = {int(i): int(k) for i, k in found}
    bonds = 0
    for bond in first.GetBonds():
        i, k = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        other = second.GetBondBetweenAtoms(place[i], place[k]) if i in place and k in place else None
        bonds += other is not None and other.GetBondType() == bond.GetBondType()
    for i, k in place.items():
        assert first.GetAtomWithIdx(i).GetAtomicNum() == second.GetAtomWithIdx(k).GetAtomicNum()
    return {"atoms": len(place), "bonds": bonds, "seconds": round(seconds, 4)}


def its_part(first: Any, second: Any, timeout: int) -> dict[str, Any]:
    """The common part of two molecules by FMCS."""
    start = time.process_time()
    found = fmcs(first, second, timeout)
    seconds = round(time.process_time() - start, 4)
    return {"atoms": found.numAtoms, "bonds": found.numBonds, "seconds": seconds, "canceled": bool(found.canceled)}


def common_rows(pairs: list[Any], timeout: int) -> list[dict[str, Any]]:
    """Both on many pairs; FMCS comes last, since the memory it leaves in pieces slows down what comes after it."""
    ours = [our_part(*pair) for pair in pairs]
    return [{"rwk": mine, "fmcs": its_part(*pair, timeout)} for mine, pair in zip(ours, pairs, strict=True)]


def common_summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Overlap in bonds and times over many pairs."""
    share = np.array([min(1.0, row["rwk"]["bonds"] / max(row["fmcs"]["bonds"], 1)) for row in rows])
    times = {name: np.array([row[name]["seconds"] for row in rows]) for name in ("rwk", "fmcs")}
    summary: dict[str, Any] = {
        "pairs": len(rows), "overlap": round(float(share.mean()), 4), "least_overlap": round(float(share.min()), 4),
        "as_large": int((share == 1.0).sum()), "canceled": sum(row["fmcs"]["canceled"] for row in rows),
    }  # fmt: skip
    for name, seconds in times.items():
        summary[name] = {"median": round(float(np.median(seconds)), 4), "worst": round(float(seconds.max()), 4)}
    return summary


def _drawn(rng: np.random.Generator, size: int, count: int) -> list[list[int]]:
    """Pairs of two different numbers below `size`."""
    return [rng.choice(size, 2, replace=False).tolist() for _ in range(count)]


def measured(n_molecules: int, n_pairs: int, timeout: int) -> dict[str, Any]:
    table = molecule_table("Lipophilicity", download=False)
    rng = np.random.default_rng(0)
    smiles = [table.smiles[i] for i in rng.choice(len(table.smiles), n_molecules, replace=False)]
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    graphs = graphs_of(molecules)
    tiny = [Chem.MolFromSmiles(text) for text in ("CCO", "CCN")]
    rwk.find(graphs_of(tiny)[0], graphs_of(tiny), backend="cpu")  # compile
    our_part(*tiny)
    usual = [(molecules[a], molecules[b]) for a, b in _drawn(rng, len(molecules), max(n_pairs - len(HARD), 1))]
    hard = HARD if n_pairs > len(HARD) else []
    rows = common_rows([*usual, *hard], timeout)
    for row in rows[len(usual) :]:
        print(row, flush=True)
    patterns = {}
    for name, text in PATTERNS.items():
        patterns[name] = pattern_row(Chem.MolFromSmiles(text), molecules, graphs)
        print(name, patterns[name], flush=True)
    mean = float(np.mean([row["average_precision"] for row in patterns.values()]))
    common = {"all": common_summary(rows), "Lipophilicity": common_summary(rows[: len(usual)])}
    if hard:
        common["difficult"] = common_summary(rows[len(usual) :])
    return {
        "find": {"molecules": n_molecules, "mean_average_precision": round(mean, 4), "patterns": patterns},
        "common": common,
        "timeout": timeout,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--molecules", type=int, default=200, help="to search for the patterns")
    parser.add_argument("--pairs", type=int, default=100, help="for the common parts, ten difficult ones included")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one search of RDKit's")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    with one_blas_thread():
        record = measured(options.molecules, options.pairs, options.timeout)
    print(record["find"]["mean_average_precision"], record["common"])
    write_json(options.output, {**record, "made_with": machine_record(SOLVER_VERSION)})


if __name__ == "__main__":
    main()
