"""How far error bars can be trusted after few measurements:
`python benchmarks/few_molecules.py --output results/few-molecules.json`.

`RWKGaussianProcess()` is fitted to a few molecules of a set, drawn at random, and predicts a hundred others. The record
has, for every number of molecules, the share of measured values inside their 95 % intervals and the RMSE, as means over
draws.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

NORMAL_95 = 1.959964


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=["ESOL", "FreeSolv"])
    parser.add_argument("--numbers", nargs="+", type=int, default=[12, 25, 50, 100, 200])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--test", type=int, default=100, help="molecules that are predicted after each draw")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    rows = []
    for name in given.datasets:
        graphs = rwk.load_dataset(name)
        for number in given.numbers:
            found = [scores(graphs, number, given.test, seed) for seed in range(given.draws)]
            means = {key: float(np.mean([one[key] for one in found])) for key in found[0]}
            rows.append({"dataset": name, "molecules": number, "draws": given.draws, **means})
            print(json.dumps(rows[-1]), flush=True)
    record = {"rows": rows, "made_with": machine_record(SOLVER_VERSION)}
    given.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def scores(graphs: rwk.GraphSet, number: int, n_test: int, seed: int) -> dict[str, Any]:
    """Coverage of the 95 % intervals and RMSE after one draw."""
    order = np.random.default_rng(seed).permutation(len(graphs))
    train, test = order[:number], order[number : number + n_test]
    values = np.asarray(graphs.targets, dtype=np.float64)
    process = rwk.RWKGaussianProcess().fit(graphs[train], values[train])
    mean, std = process.predict(graphs[test], return_std=True)
    errors = np.abs(mean - values[test])
    return {"coverage": float((errors <= NORMAL_95 * std).mean()), "rmse": float(np.sqrt((errors**2).mean()))}


if __name__ == "__main__":
    main()
