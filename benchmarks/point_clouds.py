"""Gromov-Wasserstein beside POT and CAJAL: `python benchmarks/point_clouds.py --output results/point-clouds.json`.

100 clouds of 50 to 100 points (circles, Gaussians, lines and helices with noise) give 100 distance matrices. rwk solves
all 4,950 pairs; POT's solvers, and CAJAL if it is installed, get a sample of the same pairs, in the same process with
one thread each. Every row has pairs per second of CPU time and how the values compare with those of
`ot.gromov_wasserstein2`, which stops at a local optimum too.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import ot
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from rwk import solve_pairs
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

MODULES = {"POT": "ot", "cajal": "cajal"}
BATCH = 50  # pairs that POT's batched solver gets at once
Solver = Callable[[list[np.ndarray], np.ndarray], np.ndarray]


def distance_matrices(count: int, seed: int = 0) -> list[np.ndarray]:
    """Distances inside `count` noisy clouds of 50 to 100 points in space."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        t = rng.uniform(0, 2 * np.pi, rng.integers(50, 101))
        zero = np.zeros_like(t)
        shapes = (
            np.stack([np.cos(t), np.sin(t), zero], axis=1),
            rng.normal(size=(len(t), 3)),
            np.stack([t, zero, zero], axis=1),
            np.stack([np.cos(t), np.sin(t), t / 3], axis=1),
        )
        points = shapes[number % 4] + 0.1 * rng.normal(size=(len(t), 3))
        found.append(cdist(points, points))
    return found


def by_rwk(**parameters: Any) -> Solver:
    """rwk on one thread."""
    return lambda matrices, pairs: solve_pairs(matrices, pairs, backend="cpu", n_jobs=1, **parameters).values


def by_conditional_gradient(matrices: list[np.ndarray], pairs: np.ndarray) -> np.ndarray:
    """POT with exact linear steps."""
    return np.array([ot.gromov_wasserstein2(matrices[i], matrices[k]) for i, k in pairs])


def by_entropic(matrices: list[np.ndarray], pairs: np.ndarray) -> np.ndarray:
    """POT's projected gradient with the entropy that rwk uses."""
    unit = np.median([matrix.sum() / (len(matrix) * (len(matrix) - 1)) for matrix in matrices]) ** 2
    return np.array(
        [ot.gromov.entropic_gromov_wasserstein2(matrices[i], matrices[k], epsilon=0.02 * unit) for i, k in pairs]
    )


def by_batch(matrices: list[np.ndarray], pairs: np.ndarray) -> np.ndarray:
    """POT's batched solver; smaller clouds are padded with points whose mass is negligible."""
    n = max(len(matrix) for matrix in matrices)
    padded, masses = np.zeros((len(matrices), n, n)), np.full((len(matrices), n), 1e-12)
    for number, matrix in enumerate(matrices):
        padded[number, : len(matrix), : len(matrix)] = matrix
        masses[number, : len(matrix)] = 1.0 / len(matrix)
    masses /= masses.sum(axis=1, keepdims=True)
    values = []
    for start in range(0, len(pairs), BATCH):
        i, k = pairs[start : start + BATCH].T
        solved = ot.batch.solve_gromov_batch(padded[i], padded[k], a=masses[i], b=masses[k], symmetric=True)
        values.append(np.asarray(solved.value))
    return np.concatenate(values)


def by_cajal(matrices: list[np.ndarray], pairs: np.ndarray) -> np.ndarray:
    """CAJAL's compiled conditional gradient; its distance is half the root of POT's value."""
    from cajal.gw_cython import GW_cell, gw_cython_core

    cells = [GW_cell(matrix, np.full(len(matrix), 1.0 / len(matrix))) for matrix in matrices]
    found = []
    for i, k in pairs:
        one, other = cells[i], cells[k]
        parts = (
            one.dmat, one.distribution, one.dmat_dot_dist, one.cell_constant,
            other.dmat, other.distribution, other.dmat_dot_dist, other.cell_constant,
        )  # fmt: skip
        found.append((2.0 * gw_cython_core(*parts)[1]) ** 2)
    return np.array(found)


def measured(solver: Solver, matrices: list[np.ndarray], pairs: np.ndarray, reference: np.ndarray) -> dict[str, Any]:
    """One row of the record; `reference` are POT's values of the first pairs."""
    start = time.thread_time()
    values = solver(matrices, pairs)
    seconds = time.thread_time() - start
    ratios = values[: len(reference)] / reference[: len(values)]
    return {
        "n_pairs": len(pairs),
        "seconds": round(seconds, 3),
        "pairs_per_second": round(len(pairs) / seconds, 1),
        "value_by_pot": {
            "median": round(float(np.median(ratios)), 4),
            "share_not_above": round(float((ratios <= 1.0 + 1e-3).mean()), 3),
        },
    }


def versions() -> dict[str, str]:
    """Versions of the peers that are installed."""
    from importlib.metadata import version

    return {name: version(name) for name in ("POT", "cajal") if importlib.util.find_spec(MODULES[name]) is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clouds", type=int, default=100)
    parser.add_argument("--pot-pairs", type=int, default=200, help="pairs that POT solves")
    parser.add_argument("--solvers", nargs="+", help="measure these alone, and keep the other rows of the record")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    matrices = distance_matrices(options.clouds)
    pairs = np.stack(np.triu_indices(len(matrices), 1), axis=1)
    pairs = np.random.default_rng(0).permutation(pairs)
    some = pairs[: options.pot_pairs]
    reference = by_conditional_gradient(matrices, some)
    # by name: the solver, and the pairs it gets
    solvers: dict[str, tuple[Solver, np.ndarray]] = {
        "rwk": (by_rwk(), pairs),
        "rwk, float32": (by_rwk(precision="float32"), pairs),
        "rwk, entropy 0.05, 20 iterations": (by_rwk(entropy=0.05, max_iter=20, sinkhorn_iter=20, tol=1e-3), pairs),
        "ot.gromov_wasserstein2": (by_conditional_gradient, some),
        "ot.gromov.entropic_gromov_wasserstein2": (by_entropic, some[:BATCH]),
        "ot.batch.solve_gromov_batch": (by_batch, some[:BATCH]),
    }
    if importlib.util.find_spec("cajal") is not None:
        solvers["CAJAL"] = by_cajal, some
    chosen = options.solvers or list(solvers)
    rows = json.loads(options.output.read_text())["solvers"] if options.solvers else {}
    for name, (solver, mine) in ((name, solvers[name]) for name in chosen):
        if name.startswith("rwk"):
            solver(matrices, mine[:2])  # compile
        rows[name] = measured(solver, matrices, mine, reference)
        print(f"{name:45s} {rows[name]['pairs_per_second']:10,.1f} pairs per second", flush=True)
    sizes = [len(matrix) for matrix in matrices]
    record = {
        "clouds": len(matrices),
        "sizes": [min(sizes), max(sizes)],
        "threads": 1,
        "solvers": rows,
        "made_with": machine_record(SOLVER_VERSION) | versions(),
    }
    write_json(options.output, record)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
