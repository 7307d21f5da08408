"""Pictures of an alignment: two graphs, the mass transported between their nodes, and the terms of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.report.drawing import draw_graph, frame, label_fills, node_fills
from rwk.report.given_graphs import given_pair
from rwk.report.palette import FAINT, INK, MUTED, TERMS, headline, new_axes
from rwk.report.side_by_side import draw_key, draw_lines, nodes_with_mass, placed
from rwk.runtime.arrays import FloatArray
from rwk.runtime.words import counted

if TYPE_CHECKING:
    from rwk.transport.problem import PairSolution

# rings have the full colour at this payment or more (in units of the costs), so similar graphs have no red rings
FULL_PAYMENT = 0.6


class CouplingPicture(NamedTuple):
    """The Axes that show a coupling, and the share of the mass that the drawn lines carry."""

    ax: Any
    shown: float

    def _repr_png_(self) -> Any:
        from rwk.report.shown_figures import figure_picture

        return figure_picture(self.ax)


def plot_alignment(
    G: Any, H: Any, solution: PairSolution, *, axes: Any = None, title: str | None = None, highlight: Any = None
) -> Any:
    """Draw two graphs side by side with the mass transported between them, and the terms of the value as bars.

    Nodes are filled by element or label; the colour of their rings shows how much they pay. Line width is proportional
    to the transported mass; lines are blue between nodes of the same label and orange between different labels.

    Parameters
    ----------
    G, H : graph
        The two graphs, each in any form that `as_graphs` accepts.
    solution : PairSolution
        Their alignment, from `rwk.align(G, H)`.
    axes : matplotlib Axes or pair of Axes, optional
        Where to draw: one Axes, which is split, or two, for the graphs and the terms. A new figure if None.
    title : str, optional
        Title; the numbers of nodes if None.
    highlight : pair of int arrays, optional
        Nodes of G and of H to mark.

    Returns
    -------
    matplotlib Axes
        The Axes of the graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph, align
    >>> from rwk.report import plot_alignment
    >>> path = Graph(3, np.array([[0, 1], [1, 2]]))
    >>> plot_alignment(path, path, align(path, path), title="a path with itself").get_title(loc="left")
    'a path with itself\\n'
    """
    G, H = given_pair(G, H)
    if axes is None:
        larger = float(np.clip(max(G.n_nodes, H.n_nodes) / 50, 1.0, 1.5))
        axes = new_axes(8.6 * larger, 4.8 * larger, ncols=2, width_ratios=(3.4, 1))
    ax, beside = _both(axes)
    shown = plot_coupling(G, H, solution, ax=ax, highlight=highlight)[1]
    state = "converged" if solution.converged else "not converged"
    left_out = "" if shown > 0.995 else f" · lines carry {shown:.0%} of the mass"
    headline(
        ax, title or f"{G.n_nodes} and {H.n_nodes} nodes", f"{counted(solution.n_iter, 'iteration')}, {state}{left_out}"
    )
    draw_key(ax, G, H, rings="" if solution.paid is None else "pays more")
    plot_terms(solution, ax=beside)
    return ax


def plot_coupling(G: Any, H: Any, solution: PairSolution, *, ax: Any = None, highlight: Any = None) -> CouplingPicture:
    """Draw two graphs and the transported mass, without the terms of the value.

    Parameters
    ----------
    G, H : graph
        The two graphs, each in any form that `as_graphs` accepts.
    solution : PairSolution
        Their alignment, from `rwk.align(G, H)`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.
    highlight : pair of int arrays, optional
        Nodes of G and of H to mark.

    Returns
    -------
    ax : matplotlib Axes
    shown : float
        The share of the mass that the drawn lines carry.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph, align
    >>> from rwk.report import plot_coupling
    >>> path = Graph(3, np.array([[0, 1], [1, 2]]))
    >>> ax, shown = plot_coupling(path, path, align(path, path))
    >>> 0.5 < shown <= 1.0
    True
    """
    G, H = given_pair(G, H)
    ax = new_axes(6.4, 4.4) if ax is None else ax
    coupling = np.asarray(solution.coupling)
    source, target = placed(G, H, coupling)
    frame(ax, np.concatenate([source.places, target.places]))
    shown = draw_lines(ax, source, target, coupling)
    fills, levels = label_fills(G, H), payment_levels(G, H, solution)
    for side, level, marked in zip((source, target), levels or (None, None), highlight or ((), ()), strict=True):
        colours = node_fills(side.graph, fills)
        draw_graph(ax, side.graph, side.places, colours=colours, levels=level, marked=marked)
    return CouplingPicture(ax, shown)


def plot_terms(solution: PairSolution, *, ax: Any = None) -> Any:
    """Draw the terms of a value, one bar per term; terms below one percent are added up into one bar.

    Parameters
    ----------
    solution : PairSolution
        An alignment, from `rwk.align(G, H)`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph, align
    >>> from rwk.report import plot_terms
    >>> path = Graph(3, np.array([[0, 1], [1, 2]]))
    >>> plot_terms(align(path, path)).get_title(loc="left")[:8]
    'RW = 0.1'
    """
    ax = new_axes(3.0, 3.0) if ax is None else ax
    size = sum(abs(value) for value in solution.terms.values()) or 1.0
    rows = [(*TERMS.get(name, (name, MUTED)), value) for name, value in solution.terms.items()]
    large = [row for row in rows if abs(row[2]) >= 0.01 * size]
    rest = sum(row[2] for row in rows if abs(row[2]) < 0.01 * size)
    if abs(rest) > 5e-4:
        large.append(("other terms", "#9aa5b1", rest))
    names, colours, values = zip(*large, strict=True) if large else ((), (), ())
    heights = max(len(names), 5) - 1 - np.arange(len(names))
    # a list: Matplotlib 3.8 takes a tuple of two for a colour and its opacity
    ax.barh(heights, values, color=list(colours), height=0.42)
    for y, name, value in zip(heights, names, values, strict=True):
        ax.annotate(name, (0, y + 0.29), (0, 1), textcoords="offset points", fontsize=8, color=INK, va="bottom")
        place = (max(value, 0.0), y)
        ax.annotate(f"{value:.3f}", place, (3, 0), textcoords="offset points", fontsize=8, color=MUTED, va="center")
    ax.set_ylim(-0.9, max(len(names), 5) - 0.1)
    low, high = min([0.0, *values]), max([1e-12, *values])
    ax.set_xlim(1.05 * low, high * 1.32)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.axvline(0, color=FAINT, linewidth=1)
    headline(ax, f"RW = {solution.value:.3f}", "what the value is made of")
    return ax


def _both(axes: Any) -> tuple[Any, Any]:
    """Axes for the graphs and for the terms; one Axes is split in two."""
    if isinstance(axes, Sequence | np.ndarray):
        first, second = np.asarray(axes).ravel()
        return first, second
    axes.set_axis_off()
    return axes.inset_axes((0.0, 0.0, 0.74, 1.0)), axes.inset_axes((0.78, 0.0, 0.22, 1.0))


def payment_levels(G: Graph, H: Graph, solution: PairSolution) -> tuple[FloatArray, FloatArray] | None:
    """How much each node of both graphs pays, from 0 to 1 (the most, or `FULL_PAYMENT`); None if it is not known."""
    if solution.paid is None:
        return None
    levels = np.zeros(G.n_nodes), np.zeros(H.n_nodes)
    for level, graph, paid in zip(levels, (G, H), solution.paid, strict=True):
        level[nodes_with_mass(graph, len(paid))] = np.maximum(paid, 0) * len(paid)
    top = max(FULL_PAYMENT, *(float(level.max()) for level in levels))
    return levels[0] / top, levels[1] / top
