"""Two graphs, the mass that goes between their nodes, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.report.drawing import draw_graph, frame, label_fills, node_fills
from rwk.report.layout import is_molecule, layout, matched_layout
from rwk.report.palette import FAINT, INK, LINK, MUTED, TERMS, WARN, headline, new_axes
from rwk.runtime.arrays import FloatArray
from rwk.runtime.words import counted

if TYPE_CHECKING:
    from rwk.transport.problem import PairSolution

FULL_PAYMENT = 0.6  # in units of the costs: between like graphs, where all pay little, no ring is red
SHOWN_SHARE = 0.12  # of a node's mass: thinner flows are left out and counted in the caption


class _Side(NamedTuple):
    graph: Graph
    places: FloatArray  # (n, 2)
    kept: Any  # nodes with mass, one for each row (or column) of the coupling
    paid: FloatArray | None


def plot_alignment(
    G: Graph, H: Graph, solution: PairSolution, *, axes: Any = None, title: str | None = None, highlight: Any = None
) -> Any:
    """Draw two graphs side by side with the mass transported between them, and a bar of the value's terms.

    Nodes are filled by element or label and ringed by what they pay, lines are as wide as the mass they carry: blue
    between nodes of the same label, orange where the label changes. `axes` is one Axes, or two (graphs, terms);
    `highlight` are two arrays of nodes (of G, of H) to mark. Returns the Axes of the graphs.

    >>> from rwk import align
    >>> path = Graph(3, np.array([[0, 1], [1, 2]]))
    >>> plot_alignment(path, path, align(path, path), title="a path with itself").get_title(loc="left")
    'a path with itself\\n'
    """
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
    _draw_key(ax, G, H, solution.paid is not None)
    plot_terms(solution, ax=beside)
    return ax


def plot_coupling(
    G: Graph, H: Graph, solution: PairSolution, *, ax: Any = None, highlight: Any = None
) -> tuple[Any, float]:
    """Draw the two graphs and the mass alone; returns the Axes and the share of the mass that the lines carry.

    >>> from rwk import align
    >>> path = Graph(3, np.array([[0, 1], [1, 2]]))
    >>> ax, shown = plot_coupling(path, path, align(path, path))
    >>> 0.5 < shown <= 1.0
    True
    """
    ax = new_axes(6.4, 4.4) if ax is None else ax
    source, target = _placed(G, H, solution)
    frame(ax, np.concatenate([source.places, target.places]))
    shown = _draw_lines(ax, source, target, np.asarray(solution.coupling))
    fills, top = label_fills(G, H), _most_paid(source, target)
    for side, marked in zip((source, target), highlight or ((), ()), strict=True):
        colours = node_fills(side.graph, fills)
        draw_graph(ax, side.graph, side.places, colours=colours, levels=_levels(side, top), marked=marked)
    return ax, shown


def plot_terms(solution: PairSolution, *, ax: Any = None) -> Any:
    """Draw what a value is made of, one bar a term; terms under one percent are drawn together.

    >>> from rwk import align
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
    ax.barh(heights, values, color=colours, height=0.42)
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
    """Axes for the graphs and for the terms; one Axes is cut in two."""
    if isinstance(axes, Sequence | np.ndarray):
        first, second = np.asarray(axes).ravel()
        return first, second
    axes.set_axis_off()
    return axes.inset_axes((0.0, 0.0, 0.74, 1.0)), axes.inset_axes((0.78, 0.0, 0.22, 1.0))


def _placed(G: Graph, H: Graph, solution: PairSolution) -> tuple[_Side, _Side]:
    coupling = np.asarray(solution.coupling)
    rows, columns = (_with_mass(graph, n) for graph, n in zip((G, H), coupling.shape, strict=True))
    full = np.full((G.n_nodes, H.n_nodes), 1e-9)
    full[np.ix_(rows, columns)] += coupling
    first = layout(G)
    second = matched_layout(H, first, full)
    tall, other = (max(float(np.ptp(places[:, 1])), 1.0) for places in (first, second))
    if not (is_molecule(G) and is_molecule(H)):  # lengths mean nothing there: both may fill the picture
        second = second * np.clip(tall / other, 0.7, 1.4)
    gap = max(2.6, 0.3 * max(tall, float(np.ptp(second[:, 1]))))
    second = second - second.mean(axis=0)
    second[:, 1] += first[:, 1].mean()
    second[:, 0] += first[:, 0].max() + gap - second[:, 0].min()
    paid = solution.paid or (None, None)
    return _Side(G, first, rows, paid[0]), _Side(H, second, columns, paid[1])


def _with_mass(graph: Graph, n: int) -> Any:
    """The nodes that a coupling speaks of: those of weight 0 are left out of it."""
    if n == graph.n_nodes:
        return np.arange(n)
    kept = np.flatnonzero(graph.node_weights) if graph.node_weights is not None else np.arange(0)
    if len(kept) != n:
        raise ValueError(f"the solution is of a graph with {n} nodes, but the graph given has {graph.n_nodes}")
    return kept


def _draw_lines(ax: Any, source: _Side, target: _Side, coupling: FloatArray) -> float:
    """Lines of transported mass; returns the share of the mass they carry."""
    from matplotlib.collections import LineCollection

    rows, columns, strength = shown_flows(coupling)
    a, b = source.kept[rows], target.kept[columns]
    labels = (source.graph.node_labels, target.graph.node_labels)
    same = labels[0][a] == labels[1][b] if labels[0] is not None and labels[1] is not None else np.ones(len(a), bool)
    crowd = min(1.0, 26 / max(len(source.places), 1))
    lines = LineCollection(
        list(np.stack([source.places[a], target.places[b]], axis=1)),
        linewidths=0.5 + 3.4 * strength * (0.45 + 0.55 * crowd),
        colors=np.where(same, LINK, "#d97706"),
        alpha=0.10 + 0.34 * strength,
        capstyle="round",
        zorder=1,
    )
    lines.set_gid("mass")
    ax.add_collection(lines)
    return float(coupling[rows, columns].sum() / coupling.sum())


def shown_flows(coupling: FloatArray) -> tuple[Any, Any, FloatArray]:
    """Flows worth a line, thinnest first: rows, columns, and what share of the smaller node's mass each carries.

    >>> rows, columns, strength = shown_flows(np.eye(2) / 2)
    >>> rows.tolist(), columns.tolist(), strength.tolist()
    ([0, 1], [0, 1], [1.0, 1.0])
    """
    mu, nu = coupling.sum(axis=1), coupling.sum(axis=0)
    share = coupling / np.maximum(np.minimum(mu[:, None], nu[None, :]), 1e-300)
    rows, columns = np.nonzero((share >= SHOWN_SHARE) | _largest(coupling) | _largest(coupling.T).T)
    order = np.argsort(coupling[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    return rows, columns, share[rows, columns].clip(0, 1)


def _largest(coupling: FloatArray) -> Any:
    """The largest flow of each row: so that every node, however blurred its mass, shows where most of it goes."""
    return coupling >= coupling.max(axis=1, keepdims=True)


def _most_paid(source: _Side, target: _Side) -> float:
    """What the dearest node pays, as a multiple of an even share; 0 where nothing is known."""
    both = [side.paid * len(side.paid) for side in (source, target) if side.paid is not None]
    return max(float(np.concatenate(both).max()), FULL_PAYMENT) if both else 0.0


def _levels(side: _Side, top: float) -> FloatArray | None:
    """What each node pays, from 0 to 1."""
    if side.paid is None or top <= 0:
        return None
    levels = np.zeros(side.graph.n_nodes)
    levels[side.kept] = np.maximum(side.paid, 0) * len(side.paid) / top
    return levels


def _draw_key(ax: Any, G: Graph, H: Graph, paid: bool) -> None:
    """What colours mean, in one line under the picture."""
    from matplotlib.lines import Line2D

    fills, names = label_fills(G, H), {**(G.label_names or {}), **(H.label_names or {})}
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 6, "markeredgewidth": 0.8}
    handles = [
        Line2D([], [], label=str(names.get(label, f"label {label}")), color=colour, markeredgecolor=MUTED, **dot)
        for label, colour in list(fills.items())[:7]
    ]
    if fills:
        handles += [Line2D([], [], color=LINK, alpha=0.6, linewidth=2, label="same label")]
        handles += [Line2D([], [], color="#d97706", alpha=0.6, linewidth=2, label="other label")]
    if paid:
        handles += [Line2D([], [], color="white", markeredgecolor=WARN, label="pays more", **dot)]
    if handles:
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.01),
            ncols=min(len(handles), 8),
            frameon=False,
            fontsize=7.5,
            labelcolor=INK,
            handletextpad=0.4,
            columnspacing=1.2,
        )
