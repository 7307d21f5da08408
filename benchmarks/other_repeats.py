"""Does the accuracy hold on other folds? `python benchmarks/other_repeats.py MUTAG BZR --output RECORD`.

RWK is run on repeats that nothing was decided on and that no table shows: settings were decided on repeats 20 to 44,
and the tables have repeats 0 to 9. The record has the accuracy of each repeat. Datasets that it has already are not run
again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from rwk.experiment.reproduce import Options, reproduce
from rwk.experiment.results import read_results
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data", type=Path, help="folder of datasets, if they are not where load_dataset looks")
    parser.add_argument("--first-seed", type=int, default=50, help="seed of the first repeat")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    record: dict[str, Any] = {"rows": []}
    if given.output.exists():
        record = json.loads(given.output.read_text(encoding="utf-8"))
    for dataset in given.datasets:
        if dataset not in [row["dataset"] for row in record["rows"]]:
            record["rows"].append(measured(dataset, given))
            record["made_with"] = machine_record(SOLVER_VERSION)
            write_json(given.output, record)
            print(json.dumps(record["rows"][-1]), flush=True)


def measured(dataset: str, given: argparse.Namespace) -> dict[str, Any]:
    """The accuracy of every repeat, in percent."""
    with tempfile.TemporaryDirectory() as folder:
        options = Options(
            Path(folder), data=given.data, repeats=given.repeats, first_seed=given.first_seed, backend="cpu"
        )
        reproduce("hops", options, datasets=[dataset], methods=["RWK"])
        means = read_results(folder)[dataset, "RWK"].by_repeat
    return {"dataset": dataset, "accuracies": {seed: round(100 * means[seed], 2) for seed in sorted(means)}}


if __name__ == "__main__":
    main()
