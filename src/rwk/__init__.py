"""Regularized Wasserstein graph kernels: how alike two graphs are, and which node goes to which.

Public names are imported on first use, so that `import rwk` takes no time.
"""

from __future__ import annotations

import importlib
from typing import Any

from rwk.runtime.display import draw_cards_with
from rwk.runtime.moved import redirect_old_imports
from rwk.runtime.smiles_reader import read_smiles_with

__version__ = "0.2.0"

# public name -> module that defines it
_PUBLIC = {
    "Parameters": "parameters",
    "RWKClassifier": "learn.classifier",
    "RWKGaussianProcess": "learn.gaussian_process",
    "RWKRegressor": "learn.regressor",
    "RWKernel": "kernel",
    "align": "discrepancy",
    "compute_gram": "gram.compute",
    "estimate_gram": "gram.estimate",
    "nearest": "retrieval.neighbours",
    "Gram": "gram.reading",
    "GramError": "gram.errors",
    "RWFeatures": "retrieval.landmarks",
    "pairwise_discrepancy": "discrepancy",
    "AverageGraph": "averages.averaged",
    "Matching": "matching.matched",
    "Space": "spaces.space",
    "RWKMeans": "averages.kmeans",
    "RWKMedoids": "averages.medoids",
    "barycenter": "averages.barycenter",
    "medoid": "averages.medoids",
    "Occurrence": "matching.find",
    "common_part": "matching.common",
    "find": "matching.find",
    "match": "matching.match",
    "pairwise_gw": "spaces.pairwise",
    "solve": "spaces.own_costs",
    "solve_pairs": "spaces.own_costs",
    "Graph": "graphs",
    "GraphError": "graphs",
    "GraphSet": "graphs",
    "IndefiniteSVC": "learn.svc",
    "as_graphs": "convert",
    "load_dataset": "datasets",
    "molecules": "convert.molecules",
    "make_folds": "experiment",
    "nested_cv": "experiment",
    "to_networkx": "convert.exports",
    "to_tu": "convert.exports",
}

# packages that are used by their own name: rwk.baselines.get("wwl")
_PACKAGES = ("baselines",)

__all__ = ["__version__", *sorted(_PUBLIC), *_PACKAGES]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"rwk.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'rwk' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rwk.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


draw_cards_with("rwk.report.cards")
read_smiles_with("rwk.convert.molecules")
redirect_old_imports()
