"""How much of a network's published accuracy is the protocol: choosing on the test folds, or inside the training folds.

    python benchmarks/network_protocol.py MUTAG PROTEINS --device cuda --output results/network-protocol.json

Ten folds. Ours: epoch and width are chosen on a tenth of the training graphs. On the test folds, as in GIN's paper: a
network learns from all training graphs, and of the accuracies per epoch, averaged over the folds, the best counts. Both
train for as long as a fair run does, all folds at once. The results page has a table of the record.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

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
    chosen = curves[best][:, epoch]
    return {
        "network": network.title,
        "dataset": data,
        "ours": {"mean": round(float(ours.mean()), 2), "std": round(float(ours.std()), 2)},
        "on_test_folds": {
            "mean": round(float(chosen.mean()), 2),
            "std": round(float(chosen.std()), 2),
            "epoch": epoch + 1,
            "setting": settings[best],
        },
        "epochs": network.epochs,
        "seconds": round(time.perf_counter() - start, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["MUTAG", "PROTEINS"])
    parser.add_argument("--networks", nargs="+", default=["GIN", "CapsGNN", "PATCHY-SAN"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=None, help="by default as in a fair run")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    given = {"device": arguments.device} | ({"epochs": arguments.epochs} if arguments.epochs else {})
    record: dict[str, Any] = {"rows": [], "made_with": machine_record(SOLVER_VERSION)}
    for data in arguments.data:
        for name in arguments.networks:
            record["rows"].append(compared(name, data, given))
            print(json.dumps(record["rows"][-1]), flush=True)
            if arguments.output:  # after each row, so that a stopped run leaves what it has
                arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
