"""How many molecules must be measured to find the ten best:
`python benchmarks/active_learning.py Photoswitch --repeats 5 --matrices FOLDER --output results/active-learning.json`.

Ten molecules are measured at random, then ten at a time as `ActiveSearch` asks for, until the ten with the largest
values are found. The record has, for every acquisition, the mean number of them that are found after so many
measurements, and the number of measurements of each repeat. The discrepancies of the set are computed once for all.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.experiment.regression_methods import MoleculeData
from rwk.learn.active import ActiveSearch
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

BEST = 10
RANDOM_REPEATS = 200  # random choice costs nothing


def found_after(search: ActiveSearch, values: np.ndarray, batch: int) -> list[int]:
    """How many of the best are found after each batch."""
    best = np.argsort(-values, kind="stable")[:BEST]
    found: list[int] = []
    while not found or found[-1] < BEST:
        numbers = search.ask(batch)
        search.tell(numbers, values[numbers])
        found.append(int(np.isin(best, search.measured).sum()))
    return found


def by_chance(values: np.ndarray, batch: int, seed: int) -> list[int]:
    """The same for random choice, which needs no process."""
    order = np.random.default_rng(seed).permutation(len(values))
    best = np.argsort(-values, kind="stable")[:BEST]
    found: list[int] = []
    while not found or found[-1] < BEST:
        found.append(int(np.isin(best, order[: batch * (len(found) + 1)]).sum()))
    return found


def summary(name: str, runs: list[list[int]], batch: int) -> dict[str, Any]:
    """The mean curve, and how many measurements each run needed; a finished run keeps all it has found."""
    longest = max(map(len, runs))
    curve = np.mean([[*run, *[BEST] * (longest - len(run))] for run in runs], axis=0)
    needed = [batch * len(run) for run in runs]
    return {
        "acquisition": name,
        "repeats": len(runs),
        "measurements": round(float(np.mean(needed)), 1),
        "each": needed if len(runs) <= 20 else [min(needed), max(needed)],
        "curve": [round(float(value), 2) for value in curve],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--matrices", type=Path, default=None, help="folder of matrices of rwk reproduce regression")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.data:
        data = MoleculeData(name, matrices=arguments.matrices)
        matrices = {title: block.matrix for title, block in data.rw().items()}
        for acquisition in ("random", "improvement", "thompson"):
            runs = []
            for seed in range(RANDOM_REPEATS if acquisition == "random" else arguments.repeats):
                if acquisition == "random":
                    runs.append(by_chance(data.targets, arguments.batch, seed))
                    continue
                search = ActiveSearch(
                    data.graphs,
                    process=rwk.RWKGaussianProcess(n_starts=1),
                    acquisition=acquisition,
                    discrepancies=matrices,
                    random_state=seed,
                )
                runs.append(found_after(search, data.targets, arguments.batch))
                print(name, acquisition, seed, arguments.batch * len(runs[-1]), flush=True)
            rows.append({"dataset": name, "n_molecules": len(data.targets), "batch": arguments.batch,
                         **summary(acquisition, runs, arguments.batch)})  # fmt: skip
            print(rows[-1], flush=True)
    if arguments.output:
        record = {"best": BEST, "rows": rows, "made_with": machine_record(SOLVER_VERSION)}
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
