"""Pictures of an explanation: the important nodes, and the training graphs that decided the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.report.alignment import plot_coupling
from rwk.report.drawing import plot_graph
from rwk.report.palette import CLASSES, INK, MUTED, headline, new_figure, quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rwk.learn.explain import Explanation


def plot_importances(explanation: Explanation, *, marked: Sequence[int] = (), ax: Any = None) -> Any:
    """Draw the explained graph with its nodes coloured by how much they speak for the predicted class.

    Parameters
    ----------
    explanation : Explanation
        From `rwk.learn.explain.explain`.
    marked : sequence of int
        Nodes that get a halo.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_importances
    >>> from rwk.report.explanations import example
    >>> plot_importances(example()).get_title(loc="left")
    'Predicted 1, not 0\\n'
    """
    ax = plot_graph(explanation.graph, values=explanation.importances, marked=marked, ax=ax)
    headline(
        ax,
        f"Predicted {explanation.predicted}, not {explanation.rival}",
        f"margin {explanation.margin:.2f} · orange nodes speak for it, blue nodes against it",
    )
    return ax


def plot_pulls(explanation: Explanation, *, ax: Any = None) -> Any:
    """Draw how strongly each support graph pulls the prediction towards or away from the predicted class.

    Parameters
    ----------
    explanation : Explanation
        From `rwk.learn.explain.explain`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_pulls
    >>> from rwk.report.explanations import example
    >>> plot_pulls(example()).get_xlabel()
    'pull towards class 1'
    """
    ax = new_figure(4.0, 3.0).subplots() if ax is None else ax
    supports = sorted(explanation.supports, key=lambda support: support.pull)
    ax.barh(
        range(len(supports)),
        [support.pull for support in supports],
        color=[CLASSES[1] if support.pull > 0 else CLASSES[0] for support in supports],
        height=0.62,
    )
    ax.set_yticks(range(len(supports)), [f"{support.title} ({support.target})" for support in supports])
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.set_xlabel(f"pull towards class {explanation.predicted}")
    quiet(ax, grid="x")
    headline(ax, "Support graphs", f"these graphs have {explanation.covered:.0%} of the total pull")
    return ax


def plot_explanation(
    explanation: Explanation, *, n_alignments: int = 2, marked: Sequence[int] = (), axes: Any = None
) -> Any:
    """Draw an explanation: important nodes, support graphs, and the alignments with the strongest of them.

    Parameters
    ----------
    explanation : Explanation
        From `rwk.learn.explain.explain`.
    n_alignments : int
        How many alignments to draw in each of the two directions, towards the predicted class and away from it.
    marked : sequence of int
        Nodes of the explained graph that get a halo.
    axes : array of matplotlib Axes of shape (1 + n_alignments, 2), optional
        Where to draw; a new figure if None.

    Returns
    -------
    array of matplotlib Axes
        The Axes as a flat array.

    Examples
    --------
    >>> from rwk.report import plot_explanation
    >>> from rwk.report.explanations import example
    >>> len(plot_explanation(example(), n_alignments=1))
    4
    """
    rows = 1 + max(1, n_alignments)
    if axes is None:
        figure = new_figure(10.4, 3.6 + 3.1 * (rows - 1))
        axes = figure.subplots(rows, 2, height_ratios=[1.15, *[1.0] * (rows - 1)])
    cells = np.asarray(axes)
    if cells.shape != (rows, 2):
        raise ValueError(f"n_alignments={n_alignments} needs axes of shape ({rows}, 2), not {cells.shape}")
    plot_importances(explanation, marked=marked, ax=cells[0, 0])
    plot_pulls(explanation, ax=cells[0, 1])
    for column, side in enumerate((explanation.towards(), explanation.away())):
        for row in range(1, rows):
            ax = cells[row, column]
            if row > min(n_alignments, len(side)):
                ax.set_axis_off()
                continue
            support = side[row - 1]
            plot_coupling(explanation.graph, support.graph, support.solution, ax=ax)
            way = "towards" if support.pull > 0 else "away from"
            headline(
                ax,
                f"{support.title}, class {support.target}",
                f"pulls {way} {explanation.predicted} by {abs(support.pull):.2f} · RW {support.solution.value:.3f}",
            )
            ax.title.set_color(INK)
    from rwk.report.shown_figures import ShownPanels

    return ShownPanels.of(cells)


def example() -> Explanation:
    """A small explanation for examples: of a graph with a planted motif, by eleven training graphs."""
    from rwk import IndefiniteSVC, RWKernel
    from rwk.datasets.synthetic import planted_motif
    from rwk.learn.explain import explain

    graphs, _ = planted_motif(12)
    kernel = RWKernel(debias=True)
    classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs[:11]), graphs[:11].targets)
    return explain(kernel, classifier, graphs[:11], graphs[11], n_supports=2)
