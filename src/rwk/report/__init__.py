"""Pictures and reports of what was computed. They see matrices and records, never a solver.

    palette    colours and canvases            layout     where the nodes of a graph go
    alignment  two graphs and their coupling   kernels    a whole matrix

Every plot function takes Axes and returns them, and draws on a figure of its own when none are given. Needs the
extra `plot`.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "new_figure": "palette",
    "plot_alignment": "alignment",
    "plot_terms": "alignment",
    "plot_kernel": "kernels",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'rwk.report' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"rwk.report.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value
