"""How far float32 values are from float64 values, on every pair of whole datasets."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from rwk.datasets import load_dataset
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.measures import in_precision
from rwk.transport.pairs import solve_pairs

DATASETS = ("MUTAG", "ENZYMES")


def agreement(name: str) -> dict[str, Any]:
    """Relative differences of the values of all pairs of a dataset, and the seconds that each precision took."""
    parameters = Parameters().checked()
    measures, _ = represent(load_dataset(name), parameters)
    pairs = np.stack(np.triu_indices(measures.n_graphs), axis=1)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    values, seconds = {}, {}
    for precision in ("float64", "float32"):
        given, start = in_precision(measures, precision), time.perf_counter()
        values[precision] = solve_pairs(given, pairs, weights, options, backend="cpu").values
        seconds[precision] = time.perf_counter() - start
    differences = np.abs(values["float32"] / values["float64"] - 1)
    return {
        "dataset": name,
        "pairs": len(differences),
        "not finite": int((~np.isfinite(values["float32"])).sum()),
        "largest relative difference": float(differences.max()),
        "median relative difference": float(np.median(differences)),
        "pairs above 1e-4": int((~(differences < 1e-4)).sum()),
        "seconds": seconds,
    }
