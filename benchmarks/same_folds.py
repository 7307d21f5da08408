"""Do other kernels of linear algebra get the same folds right? `python benchmarks/same_folds.py MUTAG --output RECORD`.

RWK is run again on repeats 0 and 1 of each dataset, matrices included, in one process per kernel of OpenBLAS
(`OPENBLAS_CORETYPE`), and the number of correct graphs per fold is compared between the kernels and with the stored
records in results/, which may come from another computer. Datasets that the record has already are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rwk.experiment.records import read_records
from rwk.experiment.reproduce import Options, reproduce
from rwk.runtime.files import write_whole
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

ROOT = Path(__file__).parent.parent
KERNELS = ("Haswell", "Nehalem")
Right = dict[tuple[int, int], int]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--data", type=Path, help="folder of datasets, if they are not where load_dataset looks")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--folder", type=Path, help="run one dataset here and stop: used by the script itself")
    given = parser.parse_args()
    if given.folder:
        options = Options(folder=given.folder, data=given.data, repeats=given.repeats, backend="cpu", n_jobs=1)
        reproduce("hops", options, datasets=given.datasets, methods=["RWK"])
        return
    record: dict[str, Any] = {"rows": []}
    if given.output.exists():
        record = json.loads(given.output.read_text(encoding="utf-8"))
    for dataset in given.datasets:
        if dataset not in [row["dataset"] for row in record["rows"]]:
            record["rows"].append(compared(dataset, given))
            record["made_with"] = machine_record(SOLVER_VERSION)
            text = json.dumps(record, indent=1)
            write_whole(given.output, lambda beside, text=text: beside.write_text(text, encoding="utf-8"))
            print(json.dumps(record["rows"][-1]), flush=True)


def compared(dataset: str, given: argparse.Namespace) -> dict[str, Any]:
    """How many folds differ between two kernels, and between the first and the stored records."""
    first, second = (run(dataset, kernel, given) for kernel in KERNELS)
    stored = counts(ROOT / "results" / f"{dataset}-RWK.jsonl")
    shared = [fold for fold in first if fold in stored]
    return {
        "dataset": dataset,
        "folds": len(first),
        "kernels": list(KERNELS),
        "differ_between_kernels": sum(first[fold] != second[fold] for fold in first),
        "folds_on_record": len(shared),
        "differ_from_record": sum(first[fold] != stored[fold] for fold in shared),
    }


def run(dataset: str, kernel: str, given: argparse.Namespace) -> Right:
    """Run a dataset in a process of its own with one kernel of OpenBLAS."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, dataset, "--folder", folder, "--repeats", str(given.repeats)]
        command += ["--output", str(given.output), *(["--data", str(given.data)] if given.data else [])]
        subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_CORETYPE": kernel})
        return counts(Path(folder) / f"{dataset}-RWK.jsonl")


def counts(path: Path) -> Right:
    """Correct graphs by repeat and fold."""
    if not path.exists():
        return {}
    return {(score.seed, score.fold): score.n_correct for score in read_records(path)}


if __name__ == "__main__":
    main()
