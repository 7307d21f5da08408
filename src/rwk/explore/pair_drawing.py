"""A pair of graphs with its coupling as plain dictionaries, the form that Cytoscape takes, and as rows of a table."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.explore.state import SolvedPair
from rwk.report.alignment import payment_levels
from rwk.report.drawing import NAMED_NODES, label_fills, node_fills, node_texts
from rwk.report.matching_table import matching_rows, node_label
from rwk.report.palette import LINK, TERMS
from rwk.report.side_by_side import OTHER_LABEL, nodes_with_mass, placed_beside, shown_flows

UNIT: Final = 62  # pixels per edge
# rings, from paying nothing to paying most
RINGS: Final = {
    "light": ("#c3cad3", "#e8c46a", "#e8853a", "#c22f2f", "#7f1d2d"),
    "dark": ("#5b6673", "#b98f2f", "#e8853a", "#f0524f", "#ff8fa3"),
}
N_RINGS: Final = len(RINGS["light"])


def styles(theme: str) -> list[dict[str, Any]]:
    """The style of the drawing for a light or a dark page."""
    dark = theme == "dark"
    same, other = ("#63a4ee", "#f0a044") if dark else (LINK, OTHER_LABEL)
    return [
        {
            "selector": "node",
            "style": {
                "background-color": "data(fill)",
                "border-width": "data(width)",
                "width": "data(size)",
                "height": "data(size)",
                "label": "data(text)",
                "font-size": "data(letter)",
                "text-valign": "center",
                "text-halign": "center",
                "color": "#1f2933",
                "font-family": "system-ui, sans-serif",
                "z-index": 3,
            },
        },
        *({"selector": f".pays{i}", "style": {"border-color": RINGS[theme][i]}} for i in range(N_RINGS)),
        {"selector": "edge", "style": {"curve-style": "haystack", "haystack-radius": 0}},
        {
            "selector": ".bond",
            "style": {"line-color": "#8d99a6" if dark else "#7b8794", "width": "data(width)", "z-index": 2},
        },
        {"selector": ".mass", "style": {"width": "data(width)", "line-opacity": "data(opacity)", "z-index": 1}},
        {"selector": ".same", "style": {"line-color": same}},
        {"selector": ".other", "style": {"line-color": other}},
        {"selector": "node:selected", "style": {"border-color": "#2f6db5", "border-width": 5}},
    ]


def pair_elements(solved: SolvedPair) -> list[dict[str, Any]]:
    """The nodes, edges and lines of transported mass of a solved pair."""
    first, second = solved.places[0], placed_beside(*solved.places)
    fills = label_fills(solved.first, solved.second)
    sides = (("a", solved.first, first, 0), ("b", solved.second, second, 1))
    levels = payment_levels(solved.first, solved.second, solved.solution) or tuple(
        np.zeros(graph.n_nodes) for graph in (solved.first, solved.second)
    )
    hints = node_hints(solved)
    return [
        *_lines(solved),
        *(bond for side, graph, _, _ in sides for bond in _bonds(side, graph)),
        *(node for side, graph, at, i in sides for node in _nodes(side, graph, at, fills, levels[i], hints[i])),
    ]


def node_hints(solved: SolvedPair) -> tuple[list[str], list[str]]:
    """What to tell about each node of both graphs, in lines: its name, its label, and what it pays."""
    found = []
    for i, graph in enumerate((solved.first, solved.second)):
        names, paid = graph.node_names, _payments(solved, i)
        total = float(paid.sum())
        lines = []
        for node in range(graph.n_nodes):
            name = f"node {node}" if names is None or str(names[node]) == str(node) else f"{names[node]} (node {node})"
            label = node_label(graph, node)
            share = f", {paid[node] / total:.0%} of all" if total > 1e-12 else ""
            kept = [name, f"label {label}" if label else "", f"pays {paid[node]:.4f}{share}"]
            lines.append("\n".join(line for line in kept if line))
        found.append(lines)
    return found[0], found[1]


def _payments(solved: SolvedPair, side: int) -> Any:
    """What each node of one of the two graphs pays; 0 for nodes without mass."""
    graph = (solved.first, solved.second)[side]
    full = np.zeros(graph.n_nodes)
    if solved.solution.paid is not None:
        paid = solved.solution.paid[side]
        full[nodes_with_mass(graph, len(paid))] = paid
    return full


def table_rows(solved: SolvedPair) -> list[tuple[str, ...]]:
    """The matching as rows of text: both nodes with their labels, the share of the mass, and what the first pays."""
    paid = _payments(solved, 0)
    return [
        (
            row.source_name,
            row.source_label,
            row.target_name,
            row.target_label,
            f"{row.share:.0%}{' (arbitrary)' if row.arbitrary else ''}",
            f"{paid[row.source]:.4f}",
        )
        for row in matching_rows(solved.first, solved.second, solved.solution)
    ]


def _nodes(
    side: str, graph: Any, places: Any, fills: dict[int, str], levels: Any, hints: list[str]
) -> list[dict[str, Any]]:
    texts = node_texts(graph) if graph.n_nodes <= NAMED_NODES else [""] * graph.n_nodes
    colours = node_fills(graph, fills)
    size = 34 if graph.n_nodes <= 60 else 24
    return [
        {
            "data": {
                "id": f"{side}{i}",
                "text": texts[i],
                "fill": colours[i],
                "width": round(2.0 + 3.0 * float(levels[i]), 2),
                "size": size,
                "letter": 15,
                "hint": hints[i],
            },
            "classes": f"pays{min(int(levels[i] * N_RINGS), N_RINGS - 1)}",
            "position": {"x": round(UNIT * float(places[i, 0]), 1), "y": round(-UNIT * float(places[i, 1]), 1)},
        }
        for i in range(graph.n_nodes)
    ]


def _bonds(side: str, graph: Any) -> list[dict[str, Any]]:
    width = 4 if graph.n_nodes <= 60 else 2
    return [
        {
            "data": {"id": f"{side}{a}-{b}", "source": f"{side}{a}", "target": f"{side}{b}", "width": width},
            "classes": "bond",
        }
        for a, b in graph.edges.tolist()
    ]


def _lines(solved: SolvedPair) -> list[dict[str, Any]]:
    kept = [
        nodes_with_mass(graph, n)
        for graph, n in zip((solved.first, solved.second), solved.solution.coupling.shape, strict=True)
    ]
    rows, columns, strength = shown_flows(solved.solution.coupling)
    labels = (solved.first.node_labels, solved.second.node_labels)
    lines = []
    for i, k, share in zip(kept[0][rows].tolist(), kept[1][columns].tolist(), strength.tolist(), strict=True):
        same = labels[0] is None or labels[1] is None or labels[0][i] == labels[1][k]
        data = {
            "id": f"m{i}-{k}",
            "source": f"a{i}",
            "target": f"b{k}",
            "width": round(1 + 9 * share, 2),
            "opacity": round(0.12 + 0.38 * share, 3),
        }
        lines.append({"data": data, "classes": "mass same" if same else "mass other"})
    return lines


def term_rows(solved: SolvedPair) -> list[tuple[str, str, float]]:
    """Name, colour and value of every term that is not nearly 0."""
    named = solved.solution.terms.items()
    return [(*TERMS.get(name, (name, "#9aa5b1")), value) for name, value in named if abs(value) > 5e-4]
