"""How much of a network's published accuracy is the protocol: choosing on the test folds, or inside the training folds.

    python benchmarks/network_protocol.py MUTAG PROTEINS --device cuda --n-jobs 8 --output results/network-protocol.json

Ten folds. Ours: epoch and width are chosen on a tenth of the training graphs. On the test folds, as in GIN's paper: a
network learns from all training graphs, and of the accuracies per epoch, averaged over the folds, the best counts. Both
train for as long as a fair run does. The results page has a table of the record.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

import rwk
from rwk.baselines import get
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def one_fold(network: Any, graphs: Any, train: Any, test: Any) -> tuple[float, dict[str, list[float]]]:
    """Our accuracy on a test fold, and the accuracies on it after each epoch, by setting."""
    targets = np.asarray(graphs.targets)
    ours = clone(network).fit(graphs[train], targets[train])
    right = float((ours.predict(graphs[test]) == targets[test]).mean())
    curves = {}
    for setting in network._candidates(True):
        watched = clone(network).set_params(**setting, patience=network.epochs)
        watched._split = lambda codes: (train, test)  # the epochs are scored on the test fold itself
        curves[json.dumps(setting)] = list(watched.fit(graphs, targets).history_)
    return right, curves


def compared(name: str, data: str, given: dict[str, Any], n_jobs: int) -> dict[str, Any]:
    """Both protocols on one dataset, in percent."""
    graphs, start = rwk.load_dataset(data), time.perf_counter()
    network = get(name)
    network.set_params(**{**network.fair_parameters, **given})
    folds = rwk.make_folds(graphs.targets, n_repeats=1)
    tasks = [folds.split(seed, fold) for seed, fold in folds]
    found = joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(one_fold)(network, graphs, *task) for task in tasks)
    ours = 100 * np.array([right for right, _ in found])
    curves = {setting: 100 * np.array([each[setting] for _, each in found]) for setting in found[0][1]}
    best = max(curves, key=lambda setting: float(curves[setting].mean(axis=0).max()))
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
            "setting": json.loads(best),
        },
        "epochs": network.epochs,
        "seconds": round(time.perf_counter() - start, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["MUTAG", "PROTEINS"])
    parser.add_argument("--networks", nargs="+", default=["GIN", "CapsGNN", "PATCHY-SAN"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--n-jobs", type=int, default=2, help="folds at a time, each in a process of its own")
    parser.add_argument("--epochs", type=int, default=None, help="by default as in a fair run")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    given = {"device": arguments.device} | ({"epochs": arguments.epochs} if arguments.epochs else {})
    record: dict[str, Any] = {"rows": [], "made_with": machine_record(SOLVER_VERSION)}
    for data in arguments.data:
        for name in arguments.networks:
            record["rows"].append(compared(name, data, given, arguments.n_jobs))
            print(json.dumps(record["rows"][-1]), flush=True)
            if arguments.output:  # after each row, so that a stopped run leaves what it has
                arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
