"""The map and a pair of graphs as plain dictionaries, the form that Plotly and Cytoscape take."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.explore.state import Explorer, SolvedPair
from rwk.report.alignment import OTHER_LABEL, nodes_with_mass, payment_levels, placed_beside, shown_flows
from rwk.report.drawing import NAMED_NODES, label_fills, node_fills, node_texts
from rwk.report.palette import LINK, TERMS, class_colours

UNIT: Final = 62  # pixels per edge
RINGS: Final = ("#c3cad3", "#e8c46a", "#e8853a", "#c22f2f", "#7f1d2d")  # from paying nothing to paying most

STYLE: Final[list[dict[str, Any]]] = [
    {
        "selector": "node",
        "style": {
            "background-color": "data(fill)",
            "border-color": "data(ring)",
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
    {"selector": "edge", "style": {"curve-style": "haystack", "haystack-radius": 0}},
    {"selector": ".bond", "style": {"line-color": "#7b8794", "width": "data(width)", "z-index": 2}},
    {
        "selector": ".mass",
        "style": {"line-color": "data(colour)", "width": "data(width)", "line-opacity": "data(opacity)", "z-index": 1},
    },
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
    return [
        *_lines(solved),
        *(bond for side, graph, _, _ in sides for bond in _bonds(side, graph)),
        *(node for side, graph, at, i in sides for node in _nodes(side, graph, at, fills, levels[i])),
    ]


def _nodes(side: str, graph: Any, places: Any, fills: dict[int, str], levels: Any) -> list[dict[str, Any]]:
    texts = node_texts(graph) if graph.n_nodes <= NAMED_NODES else [""] * graph.n_nodes
    colours = node_fills(graph, fills)
    size = 34 if graph.n_nodes <= 60 else 24
    return [
        {
            "data": {
                "id": f"{side}{i}",
                "text": texts[i],
                "fill": colours[i],
                "ring": RINGS[min(int(levels[i] * len(RINGS)), len(RINGS) - 1)],
                "width": round(2.0 + 3.0 * float(levels[i]), 2),
                "size": size,
                "letter": 15,
            },
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
            "colour": LINK if same else OTHER_LABEL,
        }
        lines.append({"data": data, "classes": "mass"})
    return lines


def term_rows(solved: SolvedPair) -> list[tuple[str, str, float]]:
    """Name, colour and value of every term that is not nearly 0."""
    named = solved.solution.terms.items()
    return [(*TERMS.get(name, (name, "#9aa5b1")), value) for name, value in named if abs(value) > 5e-4]


def map_figure(explorer: Explorer, chosen: dict[str, str], shown: str | None) -> dict[str, Any]:
    """The map as a Plotly figure: one point per graph, the two chosen graphs ringed, classes not shown faded."""
    targets = explorer.graphs.targets
    classes = np.array(["graphs"] * len(explorer.mapped) if targets is None else targets[explorer.mapped].astype(str))
    colours = class_colours(classes)
    traces = [_trace(explorer, label, classes, colour, shown in (None, "", label)) for label, colour in colours.items()]
    for name, symbol in (("a", "circle-open"), ("b", "square-open")):
        at = np.flatnonzero(explorer.mapped == int(chosen[name] if chosen[name].isdigit() else -1))
        if len(at):
            x, y = explorer.places[at[0]]
            marker = {"symbol": symbol, "size": 17, "color": "#7f1d2d", "line": {"width": 2.5, "color": "#c22f2f"}}
            traces.append({"type": "scatter", "mode": "markers", "x": [x], "y": [y], "marker": marker,
                           "hoverinfo": "skip", "showlegend": False})  # fmt: skip
    axis = {"visible": False, "zeroline": False}
    return {
        "data": traces,
        "layout": {
            "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
            "xaxis": axis,
            "yaxis": {**axis, "scaleanchor": "x"},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "showlegend": targets is not None,
            "legend": {"orientation": "h", "y": -0.02, "x": 0.5, "xanchor": "center", "font": {"color": "#7b8794"}},
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": "#1f2933", "bordercolor": "#1f2933", "font": {"color": "#ffffff"}},
            "dragmode": "pan",
            "uirevision": "map",
        },
    }


def _trace(explorer: Explorer, label: Any, classes: Any, colour: str, bright: bool) -> dict[str, Any]:
    mine = np.flatnonzero(classes == label)
    numbers = explorer.mapped[mine]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"class {label}" if explorer.graphs.targets is not None else "graphs",
        "x": explorer.places[mine, 0].tolist(),
        "y": explorer.places[mine, 1].tolist(),
        "customdata": [str(number) for number in numbers],
        "text": [f"{explorer.graphs.title(number)} ({explorer.graphs.sizes[number]} nodes)" for number in numbers],
        "hovertemplate": "%{text}<br>class " + str(label) + "<extra></extra>",
        "marker": {
            "size": 10,
            "color": colour,
            "opacity": 0.82 if bright else 0.08,
            "line": {"width": 0.6, "color": "#fff"},
        },
    }
