"""What a report shows of each class: its most central graph beside the members nearest to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from rwk.graphs import Graph, GraphSet
from rwk.report.blocks import Picture, Section, Text, picture
from rwk.report.class_pictures import plot_class
from rwk.report.palette import as_text, new_axes
from rwk.report.run_data import RunData
from rwk.transport.problem import PairSolution

MOST_CLASSES: Final = 4
MEMBERS: Final = 4  # beside each centre


def class_section(
    run: RunData, graphs: GraphSet | None, align: Callable[[Graph, Graph], PairSolution] | None
) -> Section:
    """One row of graphs per class; nothing without graphs or classes."""
    if graphs is None or align is None or run.targets is None or run.has_values or len(run.kernel) < 3:
        return Section("Classes")
    text = "What a class looks like: its medoid, the graph most similar to all graphs of the class, and beside it the "
    text += "members nearest to it. Nodes that the alignment matches are drawn in about the same place."
    blocks: list[Any] = [Text(text)]
    for centre in class_centres(run)[:MOST_CLASSES]:
        members = np.flatnonzero(run.targets == run.targets[centre])
        order = members[np.argsort(run.discrepancy[centre, members], kind="stable")]
        near = order[order != centre][:MEMBERS]
        if len(near):
            blocks.append(_row(run, graphs, align, centre, near))
    return Section("Classes", blocks if len(blocks) > 1 else [])


def class_centres(run: RunData) -> list[int]:
    """For each class, the graph with the largest mean kernel value to its class."""
    classes = np.zeros(len(run.kernel), int) if run.targets is None else run.targets
    found = []
    for label in np.unique(classes):
        mine = np.flatnonzero(classes == label)
        found.append(int(mine[np.argmax(run.kernel[np.ix_(mine, mine)].mean(axis=1))]))
    return found


def _row(run: RunData, graphs: GraphSet, align: Any, centre: int, near: Any) -> Picture:
    """The picture of one class."""
    couplings = [align(graphs[centre], graphs[int(i)]).coupling for i in near]
    whole = all(
        plan.shape == (graphs[centre].n_nodes, graphs[int(i)].n_nodes) for plan, i in zip(couplings, near, strict=True)
    )
    axes = new_axes(2.3 * (1 + len(near)), 2.5, ncols=1 + len(near))
    label = run.targets[centre] if run.targets is not None else ""
    members = graphs[near]
    drawn = plot_class(
        graphs[centre], members, couplings=couplings if whole else None, axes=axes, title=f"class {label}"
    )
    for ax, i in zip(drawn[1:], near, strict=True):
        ax.set_title(as_text(run.title(i)), loc="left", fontsize=9)
    words = f"Class {label}: {run.title(centre)} is its medoid; beside it {', '.join(run.title(i) for i in near)}"
    return picture(drawn[0], words, wide=True)
