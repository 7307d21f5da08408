"""How long a Gaussian process takes to fit, matrices included:
`python benchmarks/regression_times.py Lipophilicity --jobs 2 --output results/regression-times.json`.

SMILES are read, all discrepancies are computed, and the hyperparameters are chosen, as `RWKGaussianProcess().fit` does.
The parts are timed one after the other. Run it on a computer that does nothing else; the CPU time of all threads, which
is in the record too, depends less on what else is running.

With `--matrices FOLDER` matrices are kept there with the seconds that they took, and `--only atoms` stops after one of
them: parts can be timed by several calls, each on cores of its own, and the last call adds them up (but not the CPU
time and the clock of one call). `--packed FOLDER` takes graphs from files of `regression_packed.py`, on a
computer without RDKit; reading is then no part of the time.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from regression_packed import PackedMolecules

import rwk
from rwk.experiment.regression_methods import FORM
from rwk.gram.matrices import discrepancy_matrix
from rwk.graphs import GraphSet
from rwk.learn.exact_gp import fit_gp
from rwk.learn.term_sources import TermSources
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def read(name: str, packed: Path | None, most: int | None) -> tuple[GraphSet, float]:
    """The molecules, and the seconds that it took to read their SMILES."""
    start = time.perf_counter()
    graphs = PackedMolecules(name, packed).graphs if packed else rwk.load_dataset(name)
    seconds = 0.0 if packed else time.perf_counter() - start
    chosen = np.random.default_rng(0).permutation(len(graphs))[:most]
    return graphs if most is None else graphs[np.sort(chosen)], seconds


def measure(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Seconds of each part of a fit."""
    clock, used = time.perf_counter(), time.process_time()
    graphs, reading = read(name, arguments.packed, arguments.most)
    process = rwk.RWKGaussianProcess(backend="cpu", n_jobs=arguments.jobs)
    terms = process._terms()
    matrices, seconds = {}, {"reading": round(reading, 1)}
    for setting, parameters in terms.settings.items():
        if not arguments.only or setting in arguments.only.split(","):
            matrices[setting], health = discrepancy_matrix(graphs, parameters, form=FORM, folder=arguments.matrices)
            seconds[setting] = round(health.seconds, 1)
    row = {
        "dataset": name,
        "n_molecules": len(graphs),
        "threads": arguments.jobs,
        "pairs": len(matrices) * len(graphs) * (len(graphs) + 1) // 2,
    }
    if not arguments.only:
        start = time.perf_counter()
        blocks = TermSources.of(terms, graphs, graphs).training(matrices)
        middle = time.perf_counter()
        fit_gp(blocks, np.asarray(graphs.targets, np.float64), 0.0, process._options())
        seconds |= {"composition": round(middle - start, 1), "learning": round(time.perf_counter() - middle, 1)}
    row |= {
        "clock_seconds": round(time.perf_counter() - clock, 1),  # of this call, as is the next
        "cpu_seconds": round(time.process_time() - used, 1),
    }
    return {**row, "seconds": seconds, "minutes": round(sum(seconds.values()) / 60, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=int, default=None, help="use so many molecules at most")
    parser.add_argument("--packed", type=Path, default=None)
    parser.add_argument("--matrices", type=Path, default=None)
    parser.add_argument("--only", default="", help="settings, separated by commas")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.data:
        rows.append(measure(name, arguments))
        print(rows[-1], flush=True)
    if arguments.output:
        record = {"rows": rows, "made_with": machine_record(SOLVER_VERSION)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
