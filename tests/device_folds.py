"""Compares folds on the GPU with folds on the CPU; a script to be run with TRITON_INTERPRET=1."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from rwk.experiment import make_folds
from rwk.learn.one_vs_one import encode_classes, fit_path
from rwk.learn.search import Grid, Matrices, Task, fit_choice, search

GRID = Grid(eta=(1.0,), C=(0.1, 1.0, 10.0), combine="sum", n_inner=2)
CASES = {
    "two classes, treated": (2, replace(GRID, eta=(0.5, 4.0), C=(0.1, 10.0))),
    "three classes, raw": (3, replace(GRID, inner="raw", combine="none")),
    "flip or clip": (2, replace(GRID, treatments=("flip", "clip"), combine="none", C=(1.0,))),
    "shift, other unit": (2, replace(GRID, treatments=("shift",), combine="none", C=(1.0,), unit="mean")),
    "fair discrepancies": (2, replace(GRID, eta=(0.5, 8.0), C=(0.1, 10.0), unit="mean")),
    "fair kernels": (3, replace(GRID, unit="mean")),
}


def indefinite(n_classes: int, n: int = 24) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Discrepancies of points around one centre per class, changed so that exp(-D) has negative eigenvalues."""
    rng = np.random.default_rng(n_classes)
    codes = np.arange(n) % n_classes
    points = rng.normal(size=(n, 2)) + 1.5 * codes[:, None]
    apart = np.abs(points[:, None] - points).sum(axis=2)
    noise = rng.random((n, n))
    return {"near": apart, "spoiled": apart + 0.7 * (noise + noise.T) * (1 - np.eye(n))}, codes


def compare(name: str) -> dict[str, object]:
    """Choices and predictions of the GPU, and those of the CPU."""
    from rwk.learn import search_gpu as device

    n_classes, grid = CASES[name]
    named, targets = indefinite(n_classes)
    _, codes = encode_classes(targets)
    folds = make_folds(targets, n_splits=2, n_repeats=1)
    if "kernels" in name:
        named = {key: 2.0 * np.exp(-matrix) for key, matrix in named.items()}
    matrices = Matrices(named, "kernel" if "kernels" in name else "discrepancy", grid.checked())
    tasks = [Task(*folds.split(seed, fold), codes=codes, seed=seed, fold=fold) for seed, fold in folds]
    device.TREATED_BYTES = 3 * 8 * len(tasks[0].train) ** 2  # three kernels together
    run = device.DeviceRun(matrices)
    found = {task.fold: result for batch in run.batches(tasks) for task, result in zip(batch, run(batch), strict=True)}
    wanted = {}
    for task in tasks:
        choice = search(matrices, task)
        wanted[task.fold] = choice, fit_choice(matrices, task, choice)
    return {
        side: [[list(map(str, choice)), predicted.tolist()] for _, (choice, predicted) in sorted(results.items())]
        for side, results in (("found", found), ("wanted", wanted))
    }


def compare_paths() -> list[dict[str, list[float]]]:
    """How far SVMs on the GPU are from `fit_path`, for a positive definite and an indefinite kernel."""
    import torch

    from rwk.learn.smo_gpu import svm_paths

    named, codes = indefinite(2)
    kernels = np.stack([np.exp(-named["near"]), np.exp(-named["spoiled"])])
    own, Cs = np.arange(len(codes)) % 4 != 0, np.array([0.01, 1.0, 100.0])
    signs = np.where(own, np.where(codes == 1, 1, -1), 0).astype(np.int8)
    there = [torch.tensor(array) for array in (kernels, np.arange(2), np.stack([signs, signs]), Cs)]
    found = svm_paths(*there)
    apart = []
    for number, kernel in enumerate(kernels):
        wanted = fit_path(kernel[np.ix_(own, own)], codes[own], Cs)
        coefficients = np.array([svms.coefficients[0] for svms in wanted])
        decisions = np.array([svms.decide(kernel[:, own])[:, 0] for svms in wanted])
        apart.append(
            {
                "coefficients": np.abs(found.solutions[number].numpy()[:, own] - coefficients).max(axis=1).tolist(),
                "decisions": np.abs(found.decisions[number].numpy() - decisions).max(axis=1).tolist(),
            }
        )
    return apart


if __name__ == "__main__":
    print(json.dumps({**{name: compare(name) for name in CASES}, "paths": compare_paths()}))
