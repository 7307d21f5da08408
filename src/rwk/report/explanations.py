"""Pictures of an explanation: the important nodes, and the training graphs that decided the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rwk.learn.explain_value import ValueExplanation
from rwk.report.alignment import plot_coupling
from rwk.report.drawing import plot_graph
from rwk.report.palette import CLASSES, INK, MUTED, as_text, headline, new_figure, quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rwk.learn.explain import Explanation, Support
    from rwk.runtime.arrays import FloatArray


class Wording(NamedTuple):
    """What the pictures of an explanation say; classes and values differ here only."""

    title: str
    subtitle: str
    pull_label: str
    target_name: str
    ways: tuple[str, str]  # of positive and of negative pulls
    sides: tuple[tuple[Support, ...], tuple[Support, ...]]
    node_values: FloatArray

    def target(self, target: Any) -> str:
        """The class or the value of a training graph."""
        return f"{target:.3g}" if self.target_name == "value" else str(target)


def wording(found: Explanation | ValueExplanation) -> Wording:
    """The words for an explained class or value."""
    if isinstance(found, ValueExplanation):
        return Wording(
            f"Predicted {found.predicted:.3g} ± {found.std:.2g}",
            "orange nodes push the value up, blue nodes push it down",
            "pull up",
            "value",
            ("up", "down"),
            (found.upwards(), found.downwards()),
            found.contributions - found.contributions.mean(),
        )
    return Wording(
        f"Predicted {found.predicted}, not {found.rival}",
        f"margin {found.margin:.2f} · orange nodes speak for it, blue nodes against it",
        f"pull towards class {found.predicted}",
        "class",
        (f"towards {found.predicted}", f"away from {found.predicted}"),
        (found.towards(), found.away()),
        found.importances,
    )


def plot_importances(explanation: Explanation | ValueExplanation, *, marked: Sequence[int] = (), ax: Any = None) -> Any:
    """Draw the explained graph with its nodes coloured by how much they speak for the prediction.

    Parameters
    ----------
    explanation : Explanation or ValueExplanation
        From `explain` or `explain_value`. Of a value, the colour says how much more or less than the average node a
        node adds.
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
    words = wording(explanation)
    ax = plot_graph(explanation.graph, values=words.node_values, marked=marked, ax=ax)
    headline(ax, words.title, words.subtitle)
    return ax


def plot_pulls(explanation: Explanation | ValueExplanation, *, ax: Any = None) -> Any:
    """Draw how strongly each support graph pulls the prediction: towards or away from a class, or up or down.

    Parameters
    ----------
    explanation : Explanation or ValueExplanation
        From `explain` or `explain_value`.
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
    words = wording(explanation)
    names = [as_text(f"{support.title} ({words.target(support.target)})") for support in supports]
    ax.set_yticks(range(len(supports)), names)
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.set_xlabel(as_text(words.pull_label))
    quiet(ax, grid="x")
    headline(ax, "Support graphs", f"these graphs have {explanation.covered:.0%} of the total pull")
    return ax


def plot_explanation(
    explanation: Explanation | ValueExplanation, *, n_alignments: int = 2, marked: Sequence[int] = (), axes: Any = None
) -> Any:
    """Draw an explanation: important nodes, support graphs, and the alignments with the strongest of them.

    Parameters
    ----------
    explanation : Explanation or ValueExplanation
        From `explain` or `explain_value`.
    n_alignments : int
        How many alignments to draw in each of the two directions: towards the predicted class and away from it, or up
        and down.
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
    words = wording(explanation)
    for column, side in enumerate(words.sides):
        for row in range(1, rows):
            ax = cells[row, column]
            if row > min(n_alignments, len(side)):
                ax.set_axis_off()
                continue
            support = side[row - 1]
            plot_coupling(explanation.graph, support.graph, support.solution, ax=ax)
            way = words.ways[0 if support.pull > 0 else 1]
            headline(
                ax,
                f"{support.title}, {words.target_name} {words.target(support.target)}",
                f"pulls {way} by {abs(support.pull):.2f} · RW {support.solution.value:.3f}",
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
