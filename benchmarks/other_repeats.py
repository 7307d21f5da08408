"""Does the accuracy hold on other folds? `python benchmarks/other_repeats.py MUTAG BZR --output RECORD`.

RWK is run on repeats that nothing was decided on and that no table shows: settings were decided on repeats 20 to 44,
and the tables have repeats 0 to 9. The record has the accuracy of each repeat, beside that of the tables. Datasets that
the record has already are not run again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from rwk.experiment.records import read_records
from rwk.experiment.reproduce import Options, reproduce
from rwk.runtime.files import write_whole
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

ROOT = Path(__file__).parent.parent


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
            text = json.dumps(record, indent=1)
            write_whole(given.output, lambda beside, text=text: beside.write_text(text, encoding="utf-8"))
            print(json.dumps(record["rows"][-1]), flush=True)


def measured(dataset: str, given: argparse.Namespace) -> dict[str, Any]:
    """The accuracy of every repeat, in percent, and the mean of the tables."""
    with tempfile.TemporaryDirectory() as folder:
        options = Options(
            Path(folder), data=given.data, repeats=given.repeats, first_seed=given.first_seed, backend="cpu"
        )
        reproduce("hops", options, datasets=[dataset], methods=["RWK"])
        found = by_repeat(Path(folder) / f"{dataset}-RWK.jsonl")
    tables = by_repeat(ROOT / "results" / f"{dataset}-RWK.jsonl")
    return {
        "dataset": dataset,
        "repeats": sorted(found),
        "accuracies": [round(found[seed], 2) for seed in sorted(found)],
        "in_the_tables": round(float(np.mean(list(tables.values()))), 2) if tables else None,
    }


def by_repeat(path: Path) -> dict[int, float]:
    """The mean accuracy over the folds of each repeat, in percent."""
    scores: dict[int, list[float]] = {}
    for score in read_records(path) if path.exists() else ():
        scores.setdefault(score.seed, []).append(100 * score.score)
    return {seed: float(np.mean(folds)) for seed, folds in scores.items()}


if __name__ == "__main__":
    main()
