"""Two graphs side by side, and lines between their nodes: what pictures of alignments and matchings share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.report.drawing import label_fills
from rwk.report.layout import is_molecule, layout, matched_layout
from rwk.report.palette import INK, LINK, MUTED, as_text, payment_map
from rwk.runtime.arrays import FloatArray

SHOWN_SHARE = 0.12  # flows below this share of a node's mass are not drawn; the caption says how much is drawn
OTHER_LABEL = "#d97706"  # lines between nodes of different labels


class Side(NamedTuple):
    """A graph with the places of its nodes."""

    graph: Graph
    places: FloatArray  # (n, 2)
    kept: Any  # nodes with mass: one per row (or column) of the coupling


def placed(G: Graph, H: Graph, coupling: FloatArray) -> tuple[Side, Side]:
    """Both graphs with the places of their nodes; the second is laid out to match the first."""
    rows, columns = (nodes_with_mass(graph, n) for graph, n in zip((G, H), coupling.shape, strict=True))
    full = np.full((G.n_nodes, H.n_nodes), 1e-9)
    full[np.ix_(rows, columns)] += coupling
    first = layout(G)
    second = matched_layout(H, first, full)
    tall, other = (max(float(np.ptp(places[:, 1])), 1.0) for places in (first, second))
    if not (is_molecule(G) and is_molecule(H)):  # lengths have no meaning there, so both may fill the picture
        second = second * np.clip(tall / other, 0.7, 1.4)
    return Side(G, first, rows), Side(H, placed_beside(first, second), columns)


def placed_beside(first: FloatArray, second: FloatArray) -> FloatArray:
    """The places of a second graph, moved to the right of the first and to the same height."""
    gap = max(2.6, 0.3 * float(max(np.ptp(first[:, 1]), np.ptp(second[:, 1]))))
    centred = second - second.mean(axis=0)
    return np.asarray(centred + np.array([first[:, 0].max() + gap - centred[:, 0].min(), first[:, 1].mean()]))


def nodes_with_mass(graph: Graph, n: int) -> Any:
    """The nodes that the n rows (or columns) of a coupling belong to: those of weight 0 have none."""
    if n == graph.n_nodes:
        return np.arange(n)
    kept = np.flatnonzero(graph.node_weights) if graph.node_weights is not None else np.arange(0)
    if len(kept) != n:
        raise ValueError(f"the solution is of a graph with {n} nodes, but the given graph has {graph.n_nodes}")
    return kept


def draw_lines(ax: Any, source: Side, target: Side, coupling: FloatArray) -> float:
    """Draw lines of transported mass; returns the share of the mass that they carry."""
    rows, columns, strength = shown_flows(coupling)
    draw_links(ax, source, target, (rows, columns), strength)
    return float(coupling[rows, columns].sum() / coupling.sum())


def draw_links(ax: Any, source: Side, target: Side, ends: tuple[Any, Any], strength: FloatArray) -> None:
    """Draw a line for each pair of ends, which are rows and columns of the coupling; a strong one is wide and dark."""
    from matplotlib.collections import LineCollection

    a, b = source.kept[ends[0]], target.kept[ends[1]]
    labels = (source.graph.node_labels, target.graph.node_labels)
    same = labels[0][a] == labels[1][b] if labels[0] is not None and labels[1] is not None else np.ones(len(a), bool)
    crowd = min(1.0, 26 / max(len(source.places), 1))
    lines = LineCollection(
        list(np.stack([source.places[a], target.places[b]], axis=1)),
        linewidths=0.5 + 3.4 * strength * (0.45 + 0.55 * crowd),
        colors=np.where(same, LINK, OTHER_LABEL),
        alpha=0.10 + 0.34 * strength,
        capstyle="round",
        zorder=1,
    )
    lines.set_gid("mass")
    ax.add_collection(lines)


def shown_flows(coupling: FloatArray) -> tuple[Any, Any, FloatArray]:
    """The flows to draw, smallest first: rows, columns, and the share of the lighter node's mass that each carries.

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
    """The largest flow of each row, so that every node shows where most of its mass goes."""
    return coupling >= coupling.max(axis=1, keepdims=True)


def _listed(labels: list[str]) -> str:
    """Labels of one colour.

    >>> _listed(["C", "c"]), _listed(["a", "b", "c", "d"])
    ('C, c', 'a, b, …')
    """
    return ", ".join(labels if len(labels) < 4 else [*labels[:2], "…"])


def draw_key(ax: Any, G: Graph, H: Graph, *, rings: str = "") -> None:
    """What the colours mean, in one line below the picture; `rings` is what coloured rings mean, if there are any."""
    from matplotlib.lines import Line2D

    fills, names = label_fills(G, H), {**(G.label_names or {}), **(H.label_names or {})}
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 6, "markeredgewidth": 0.8}
    alike: dict[str, list[str]] = {}  # as C and c, an aromatic carbon
    for label, colour in fills.items():
        alike.setdefault(colour, []).append(as_text(names.get(label, f"label {label}")))
    handles = [
        Line2D([], [], label=_listed(labels), color=colour, markeredgecolor=MUTED, **dot)
        for colour, labels in list(alike.items())[:7]
    ]
    if fills:
        handles += [Line2D([], [], color=LINK, alpha=0.6, linewidth=2, label="same label")]
        handles += [Line2D([], [], color=OTHER_LABEL, alpha=0.6, linewidth=2, label="other label")]
    if rings:
        ring = {**dot, "markeredgecolor": payment_map()(1.0), "markeredgewidth": 2.0}  # as the widest are drawn
        handles += [Line2D([], [], color="white", label=rings, **ring)]
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
