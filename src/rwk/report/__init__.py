"""Pictures and reports of what was computed; they use matrices and records, never a solver.

Pictures. Every plot function takes matplotlib Axes and returns them; without Axes it makes a new figure, which a
notebook shows.

    drawing          `plot_graph`: one graph
    side_by_side     two graphs and lines between their nodes; calls `drawing` and `layout`
    alignment        `plot_alignment`, `plot_coupling`, `plot_terms`: two graphs and their coupling
    matching_picture `plot_matching`: two graphs and which node is which; calls `side_by_side`
    class_pictures   `plot_class`: the average or the medoid of a class beside members; calls `drawing`
    heatmap          `plot_kernel`: a kernel matrix
    maps             `plot_map`, `dataset_map`, `plot_spectrum`: a dataset in the plane, a spectrum
    charts           `plot_accuracy` and others: accuracies, ablations, run times, convergence, scaling
    regression_charts  measured against predicted values, calibration and learning curve of `rwk regress`
    ranks            `plot_ranks`: the critical-difference diagram of average ranks
    explanations     `plot_explanation` and its parts: why a graph got its class; calls `alignment` and `drawing`
    layout, stress   where the nodes of a graph are drawn; called by `drawing`, `side_by_side` and `explore`
    palette          colours and figures; used by all of the above
    shown_figures    figures and Axes that a notebook shows; called by `palette`
    given_graphs     the graphs that a picture is given, in any form; called by `drawing`, `alignment` and others
    result_pictures  the pictures of the results page; calls `charts` and `ranks`

Reports and notebooks.

    matching_table   which node goes to which, as rows, CSV or JSON; needs no matplotlib
    writing          `write_report`: calls `run_data`, `sections`, then `html` or `markdown`
    run_data         reads the folder of a run
    sections         what a report says of a run, as blocks; calls the pictures, `class_scores` and `class_sections`
    class_sections   the medoid of each class beside members, as blocks; calls `class_pictures`
    class_scores     confusions, scores per class and calibration, as blocks
    value_sections   predictions, neighbours and outliers of graphs with values, as blocks
    blocks           figures, text, tables and pictures, without a format
    html, markdown   write blocks as a page
    cards            records as HTML cards in notebooks; called through `runtime.display`

Needs the extra `plot`.
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
    "plot_class": "class_pictures",
    "plot_convergence": "charts",
    "plot_coupling": "alignment",
    "plot_explanation": "explanations",
    "plot_graph": "drawing",
    "plot_importances": "explanations",
    "plot_kernel": "heatmap",
    "plot_map": "maps",
    "plot_matching": "matching_picture",
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
