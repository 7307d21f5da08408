"""Pictures and reports of what was computed. They see matrices and records, never a solver.

    palette    colours and canvases            layout     where the nodes of a graph go
    drawing    one graph                       alignment  two graphs and their coupling
    kernels    a whole matrix                  maps       a dataset in the plane, a spectrum
    explained  why a graph got its class       curves     records: convergence, accuracy, run time ...
    ranks      the critical-difference diagram of average ranks

Every plot function takes Axes and returns them, and draws on a figure of its own when none are given. Needs the
extra `plot`.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "dataset_map": "maps",
    "new_figure": "palette",
    "plot_ablation": "charts",
    "plot_accuracy": "charts",
    "plot_alignment": "alignment",
    "plot_convergence": "charts",
    "plot_coupling": "alignment",
    "plot_explanation": "explanations",
    "plot_graph": "drawing",
    "plot_importances": "explanations",
    "plot_kernel": "heatmap",
    "plot_map": "maps",
    "plot_pulls": "explanations",
    "plot_ranks": "ranks",
    "plot_runtime": "charts",
    "plot_scaling": "charts",
    "plot_spectrum": "maps",
    "plot_terms": "alignment",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'rwk.report' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rwk.report.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
