"""Draws one graph: edges, nodes filled by element or label, rings coloured by a level, letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rwk.graphs import Graph
from rwk.report.given_graphs import given_graph
from rwk.report.layout import is_molecule, layout
from rwk.report.palette import INK, as_text, headline, importance_map, new_axes, node_colours, payment_map
from rwk.runtime.arrays import FloatArray

NAMED_NODES = 48  # larger graphs are drawn without letters
LONGEST_NAME = 4  # letters that fit a node
PLAIN = "#d5dae1"


def plot_graph(
    graph: Any, *, values: ArrayLike | None = None, marked: Sequence[int] = (), ax: Any = None, title: str = ""
) -> Any:
    """Draw one graph, its nodes coloured by element or label, or by given values.

    Parameters
    ----------
    graph : graph
        The graph to draw, in any form that `as_graphs` accepts.
    values : array of shape (n_nodes,), optional
        Values with a sign, such as importances, that colour the nodes: orange above 0, blue below.
    marked : sequence of int
        Nodes that get a halo.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.
    title : str
        Title of the picture.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import Graph
    >>> from rwk.report import plot_graph
    >>> plot_graph(Graph(3, np.array([[0, 1], [1, 2]])), values=[0.0, 1.0, 0.5], title="a path").get_title(loc="left")
    'a path'
    """
    graph = given_graph(graph)
    ax = new_axes(4.2, 4.0) if ax is None else ax
    places = layout(graph)
    frame(ax, places)
    shown = None if values is None else np.asarray(values, dtype=np.float64)
    if shown is not None and shown.shape != (graph.n_nodes,):
        raise ValueError(f"values of shape {shown.shape} were given for {graph.n_nodes} nodes; give one per node")
    colours = node_fills(graph, label_fills(graph)) if shown is None else _value_colours(shown)
    draw_graph(ax, graph, places, colours=colours, marked=marked)
    if title:
        headline(ax, title)
    return ax


def draw_graph(
    ax: Any,
    graph: Graph,
    places: FloatArray,
    *,
    colours: Any,
    levels: FloatArray | None = None,
    marked: Sequence[int] = (),
) -> None:
    """Draw edges, and nodes filled with their colours, after `frame` was called; `levels` (0..1) colour the rings."""
    from matplotlib.collections import LineCollection

    n = max(graph.n_nodes, 1)
    room = ax.bbox.height / ax.figure.dpi  # inches
    size = float(np.clip(4200 / n, 34, 230) * np.clip(room / 3.4, 0.45, 1.0))
    size = float(np.clip(_room_for_dots(ax, places) ** 2, 9, size))
    crowded = graph.n_edges / n > 4  # many edges are drawn in pale grey behind the nodes
    bonds = LineCollection(
        list(places[graph.edges]),
        colors="#9aa5b1" if crowded else "#52606d",
        alpha=min(1.0, 40 / graph.n_edges) ** 0.5 if crowded else 1.0,
        linewidths=0.7 if crowded else float(np.clip(44 / n, 0.8, 2.0)),
        zorder=2,
    )
    bonds.set_gid("edges")
    ax.add_collection(bonds)
    rings, widths = _rings(n, levels)
    if len(marked):
        ax.scatter(*places[np.asarray(marked)].T, s=2.7 * size, c="#facc15", alpha=0.55, linewidths=0, zorder=2.5)
    dots = ax.scatter(*places.T, s=size, c=colours, edgecolors=rings, linewidths=widths, zorder=3)
    dots.set_gid("nodes")
    letter = 0.5 * size**0.5 if n > 24 else 7.6 * (size / max(size, 200.0)) ** 0.5
    if n <= NAMED_NODES:
        for place, text in zip(places, node_texts(graph), strict=True):
            ax.annotate(as_text(text), place, ha="center", va="center_baseline", fontsize=letter, color=INK, zorder=4)


def _room_for_dots(ax: Any, places: FloatArray) -> float:
    """The largest diameter of dots, in points, at which nine in ten do not touch their nearest neighbour."""
    if len(places) < 2:
        return np.inf
    away = places[:, None] - places[None, :]
    apart = np.sqrt((away**2).sum(axis=2)) + np.diag(np.full(len(places), np.inf))
    box = ax.bbox.bounds[2:] / np.ptp(ax.dataLim.get_points(), axis=0)  # pixels per unit, horizontally and vertically
    return 0.8 * float(np.quantile(apart.min(axis=1), 0.1) * box.min() * 72 / ax.figure.dpi)


def _rings(n: int, levels: FloatArray | None) -> tuple[Any, Any]:
    """Colours and widths of the rings."""
    if levels is None:
        return "#9aa5b1", np.full(n, 1.1)
    return payment_map()(levels), (1.1 + 1.8 * levels) * np.clip(40 / n, 0.6, 1.0)


def node_fills(graph: Graph, fills: dict[int, str]) -> list[str]:
    """The fill of each node by its label."""
    labels = np.full(graph.n_nodes, -1) if graph.node_labels is None else graph.node_labels
    return [fills.get(int(label), PLAIN) for label in labels]


def label_fills(*graphs: Graph) -> dict[int, str]:
    """A fill colour for every node label of these graphs."""
    labels = [label for graph in graphs if graph.node_labels is not None for label in graph.node_labels.tolist()]
    names = {code: name for graph in graphs for code, name in (graph.label_names or {}).items()}
    return node_colours(labels, names)


def node_texts(graph: Graph) -> list[str]:
    """The text of each node: its element (none for carbon), else its label if that is short, else its name or number.

    >>> node_texts(Graph(2, np.array([[0, 1]]), node_labels=np.array([0, 1]), label_names={0: "C", 1: "O"}))
    ['', 'O']
    """
    if graph.node_labels is None:
        named = [str(name) for name in graph.node_names or ()]
        return named if named and max(map(len, named)) <= LONGEST_NAME else [str(i) for i in range(graph.n_nodes)]
    names = [str((graph.label_names or {}).get(int(label), int(label))) for label in graph.node_labels]
    silent = {"C", "c"} if is_molecule(graph) else {name for name in names if len(name) > 3}
    return ["" if name in silent else name for name in names]


def frame(ax: Any, places: FloatArray) -> None:
    """Set up the Axes: margins around the nodes, equal units in both directions, no axis lines."""
    (left, low), (right, high) = places.min(axis=0), places.max(axis=0)
    pad = 0.06 * max(right - left, high - low) + 0.4
    ax.update_datalim([(left - pad, low - pad), (right + pad, high + pad)])
    ax.margins(0)
    ax.autoscale()  # limits that were set before would contradict equal units
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()


def _value_colours(values: FloatArray) -> Any:
    """White for 0, darker orange for larger values, darker blue for values below 0."""
    top = float(np.abs(values).max()) or 1.0
    return importance_map()(0.5 + 0.5 * values / top)
