"""How much of a network's published accuracy is the protocol: choosing on the test folds, or inside the training folds.

    python benchmarks/network_protocol.py MUTAG PROTEINS --device cuda --output results/network-protocol.json

Ten folds. Ours: epoch and width are chosen on a tenth of the training graphs. On the test folds, as in GIN's paper: a
network learns from all training graphs, and of the accuracies per epoch, averaged over the folds, the best counts. The
same networks after their last epoch, averaged over the settings, are chosen by nothing: they tell the choice on the
test folds from the tenth of graphs more. All train for as long as a fair run does, all folds at once. Rows of the
record that are not run again stay in it. The results page has a table of the record.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import rwk
from rwk.baselines import get
from rwk.baselines.neural_stacks import FoldTask, fit_folds
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def compared(name: str, data: str, given: dict[str, Any]) -> dict[str, Any]:
    """Both protocols on one dataset, in percent."""
    graphs, start = rwk.load_dataset(data), time.perf_counter()
    targets = np.asarray(graphs.targets)
    network = get(name)
    network.set_params(**{**network.fair_parameters, **given})
    folds = rwk.make_folds(targets, n_repeats=1)
    tasks = [FoldTask(*folds.split(seed, fold), seed) for seed, fold in folds]
    fits = fit_folds(network, graphs, targets, tasks)
    ours = 100 * np.array([(fit.predicted == targets[task.test]).mean() for task, fit in zip(tasks, fits, strict=True)])
    watched = fit_folds(network, graphs, targets, [task._replace(on_test=True) for task in tasks])
    settings = [setting for setting, _ in watched[0].histories]
    curves = [100 * np.array([fit.histories[i][1] for fit in watched]) for i in range(len(settings))]  # folds × epochs
    best = max(range(len(settings)), key=lambda i: float(curves[i].mean(axis=0).max()))
    epoch = int(curves[best].mean(axis=0).argmax())
    return {
        "network": network.title,
        "dataset": data,
        "ours": summary(ours),
        "last_epoch": summary(np.mean([curve[:, -1] for curve in curves], axis=0)),
        "on_test_folds": {**summary(curves[best][:, epoch]), "epoch": epoch + 1, "setting": settings[best]},
        "epochs": network.epochs,
        "seconds": round(time.perf_counter() - start, 1),
        "made_with": machine_record(SOLVER_VERSION),
    }


def summary(accuracies: NDArray[np.float64]) -> dict[str, float]:
    """Mean and standard deviation over the folds."""
    return {"mean": round(float(accuracies.mean()), 2), "std": round(float(accuracies.std()), 2)}


def with_row(rows: list[dict[str, Any]], row: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows with a new one, which replaces that of the same network and dataset."""
    others = [one for one in rows if (one["network"], one["dataset"]) != (row["network"], row["dataset"])]
    return [*others, row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["MUTAG", "PROTEINS"])
    parser.add_argument("--networks", nargs="+", default=["GIN", "CapsGNN", "PATCHY-SAN", "DGCNN"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=None, help="by default as in a fair run")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    given = {"device": arguments.device} | ({"epochs": arguments.epochs} if arguments.epochs else {})
    output: Path | None = arguments.output
    rows = json.loads(output.read_text(encoding="utf-8"))["rows"] if output and output.exists() else []
    for data in arguments.data:
        for name in arguments.networks:
            row = compared(name, data, given)
            print(json.dumps(row), flush=True)
            rows = with_row(rows, row)
            if output:  # after each row, so that a stopped run leaves what it has
                output.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
