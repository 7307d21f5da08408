"""Times of the baselines and of other libraries: `python benchmarks/baselines.py --json results/bench-baselines.json`.

Prints one row per method: seconds for the Gram matrix with one thread, and the ratio to GraKeL or POT; then the methods
that no library has, with two threads.
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rwk.bench.baseline_times import alone, compare
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def library_versions() -> dict[str, str]:
    """Versions of the libraries that the baselines are compared with."""
    return {name: version(name) for name in ("grakel", "POT")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="MUTAG")
    parser.add_argument("--graphs", type=int, default=None, help="number of graphs to compare; all by default")
    parser.add_argument(
        "--alone", default="ENZYMES", help="dataset for the methods that no library has; empty: leave them out"
    )
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    found: dict[str, Any] = {"kind": "baselines benchmark", "compared": compare(given.dataset, n_graphs=given.graphs)}
    print(f"{given.dataset}, {found['compared']['n_graphs']} graphs, one thread")
    for name, row in found["compared"]["methods"].items():
        print(
            f"  {name:7s} rwk {row['rwk_s']:8.3f} s   {row['library']} {row['library_s']:8.2f} s   "
            f"{row['times_faster']:6.1f} times faster   largest difference {row['largest_difference']:.1g}"
        )
    if given.alone:
        print(f"{given.alone}, two threads")
        found["alone"] = alone(given.alone)
        for name, row in found["alone"]["methods"].items():
            print(f"  {name:7s} rwk {row['rwk_s']:8.2f} s")
    if given.json is not None:
        command = f"python benchmarks/baselines.py --dataset {given.dataset} --alone {given.alone} --json FILE"
        found["made_with"] = {**machine_record(SOLVER_VERSION), **library_versions(), "command": command}
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
