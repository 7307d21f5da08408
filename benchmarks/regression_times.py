"""How long a Gaussian process takes to fit, matrices included:
`python benchmarks/regression_times.py Lipophilicity --jobs 2 --output results/regression-times.json`.

SMILES are read, all discrepancies are computed, and the hyperparameters are chosen, as `RWKGaussianProcess().fit` does.
The parts are timed one after the other. Run it on a computer that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.learn.exact_gp import fit_gp
from rwk.learn.term_sources import TermSources
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def measure(name: str, jobs: int, most: int | None) -> dict[str, Any]:
    """Seconds of each part of a fit."""
    known = rwk.load_dataset(name)
    smiles, values = list(known.names or ()), np.asarray(known.targets, np.float64)
    if most is not None:
        chosen = np.random.default_rng(0).permutation(len(smiles))[:most]
        smiles, values = [smiles[i] for i in chosen], values[chosen]
    process = rwk.RWKGaussianProcess(n_jobs=jobs)
    terms = process._terms()
    marks = [time.perf_counter()]
    graphs = terms.read(smiles)
    marks.append(time.perf_counter())
    blocks = TermSources.of(terms, smiles, graphs).training()
    marks.append(time.perf_counter())
    fit_gp(blocks, values, 0.0, process._options())
    marks.append(time.perf_counter())
    reading, solving, fitting = np.diff(marks).round(1).tolist()
    return {
        "dataset": name,
        "n_molecules": len(smiles),
        "threads": jobs,
        "pairs": len(terms.settings) * len(smiles) * (len(smiles) + 1) // 2,
        "seconds": {"reading": reading, "matrices": solving, "hyperparameters": fitting},
        "minutes": round(float(marks[-1] - marks[0]) / 60, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=None, help="use so many molecules at most")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.data:
        rows.append(measure(name, arguments.jobs, arguments.most))
        print(rows[-1], flush=True)
    if arguments.output:
        record = {"rows": rows, "made_with": machine_record(SOLVER_VERSION)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
