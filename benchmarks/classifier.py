"""RWKClassifier() on the folds of the records: `python benchmarks/classifier.py MUTAG BZR --output RECORD`.

The harness computes one matrix over all graphs of a dataset, with units and scales learned on all of them. The
classifier learns everything on the training graphs, the forms of complete graphs included, and uses edge labels if
there are any. Both are scored on the same folds; the record holds the accuracy of each. Datasets that the record has
already are run again only if more repeats are asked for.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.experiment.folds import stored_folds
from rwk.experiment.records import read_records
from rwk.runtime.files import write_whole
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

RESULTS = Path(__file__).parent.parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--folds", type=int, default=10, help="how many folds of each repeat")
    parser.add_argument("--repeats", type=int, default=1, help="how many repeats, from 0 on")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    record: dict[str, Any] = {"rows": []}
    if given.output.exists():
        record = json.loads(given.output.read_text(encoding="utf-8"))
    for dataset in given.datasets:
        known = [row for row in record["rows"] if row["dataset"] == dataset]
        if not known or known[0]["repeats"] < given.repeats:
            others = [row for row in record["rows"] if row["dataset"] != dataset]
            record["rows"] = [*others, scored(dataset, given.folds, given.repeats)]
            record["made_with"] = machine_record(SOLVER_VERSION)
            text = json.dumps(record, indent=1)
            write_whole(given.output, lambda beside, text=text: beside.write_text(text, encoding="utf-8"))
            print(json.dumps(record["rows"][-1]), flush=True)


def scored(dataset: str, n_folds: int, n_repeats: int) -> dict[str, Any]:
    """Accuracy of the classifier and of the harness on the first folds of the first repeats."""
    graphs = rwk.load_dataset(dataset)
    targets = np.asarray(graphs.targets)
    folds = stored_folds(RESULTS / "folds" / f"{dataset}.json", targets, 10, range(n_repeats))
    records = read_records(RESULTS / f"{dataset}-RWK.jsonl")
    harness = [score for score in records if score.seed < n_repeats and score.fold < n_folds]
    right = tested = 0
    for score in harness:
        train, test = folds.split(score.seed, score.fold)
        found = rwk.RWKClassifier(verbose=False).fit(graphs[train], targets[train]).predict(graphs[test])
        right, tested = right + int((found == targets[test]).sum()), tested + len(test)
    ours = sum(score.n_correct for score in harness) / sum(score.n_test for score in harness)
    return {
        "dataset": dataset,
        "repeats": n_repeats,
        "folds": len(harness),
        "classifier": right / tested,
        "harness": ours,
    }


if __name__ == "__main__":
    main()
