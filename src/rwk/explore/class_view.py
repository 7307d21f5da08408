"""The picture of a class on the page: its medoid, and beside it the members nearest to it, as small drawings."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final

import numpy as np

from rwk.explore.state import Explorer
from rwk.graphs import Graph
from rwk.report.drawing import label_fills, node_fills
from rwk.runtime.arrays import FloatArray

MEMBERS: Final = 5  # beside the medoid
SIZE: Final = 120  # of a drawing, in its own units
EDGE: Final = "#7b8794"  # can be seen on a light and on a dark page


def class_keys(explorer: Explorer, label: str) -> list[str]:
    """Keys of the medoid of a class and of the members nearest to it, among the graphs of the map.

    >>> from rwk.datasets.synthetic import planted_motif
    >>> graphs = planted_motif(8)[0]
    >>> len(class_keys(Explorer(graphs), str(graphs.targets[0])))
    4
    """
    if explorer.graphs.targets is None or explorer.continuous:
        return []
    classes = np.array([str(target) for target in explorer.graphs.targets[explorer.mapped]])
    members = np.flatnonzero(classes == label)
    if not len(members):
        return []
    inside = explorer.discrepancy[np.ix_(members, members)]
    medoid = int(inside.sum(axis=0).argmin())
    order = np.argsort(inside[medoid], kind="stable")
    chosen = [medoid, *(place for place in order.tolist() if place != medoid)][: 1 + MEMBERS]
    return [str(explorer.mapped[members[place]]) for place in chosen]


def class_items(explorer: Explorer, label: str) -> list[Any]:
    """One button per graph of the picture, the medoid first; a click makes the graph the second of the pair."""
    from dash import html

    keys = class_keys(explorer, label)
    if not keys:
        return []
    graphs = [explorer.graph(key) for key in keys]
    fills = label_fills(*graphs)
    items = []
    for key, graph in zip(keys, graphs, strict=True):
        first, second = explorer.solve(keys[0], key).places
        name = explorer.name(key)
        role = "medoid" if key == keys[0] else "member"
        image = html.Img(src=drawing(graph, first if key == keys[0] else second, fills), alt=f"{name}, {role}")
        caption = html.Span([html.B("medoid, "), name] if key == keys[0] else name, title=name)
        items.append(html.Li(html.Button([image, caption], id={"kind": "member", "key": key}, type="button")))
    return items


def drawing(graph: Graph, places: FloatArray, fills: dict[int, str]) -> str:
    """A graph as the address of an SVG picture, which the page needs no request for.

    >>> drawing(Graph(2, np.array([[0, 1]])), np.array([[0.0, 0.0], [1.0, 0.0]]), {})[:26]
    'data:image/svg+xml;base64,'
    """
    low, high = places.min(axis=0), places.max(axis=0)
    radius = float(np.clip(17 / np.sqrt(max(graph.n_nodes, 1)), 2.0, 6.0))
    unit = (SIZE - 4 * radius) / max(float((high - low).max()), 1e-9)
    at = SIZE / 2 + (places - (low + high) / 2) * unit * np.array([1.0, -1.0])
    lines = "".join(
        f'<line x1="{at[i, 0]:.1f}" y1="{at[i, 1]:.1f}" x2="{at[k, 0]:.1f}" y2="{at[k, 1]:.1f}"/>'
        for i, k in graph.edges.tolist()
    )
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{fill}"/>'
        for (x, y), fill in zip(at.tolist(), node_fills(graph, fills), strict=True)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}"><g stroke="{EDGE}" stroke-width="2">'
        f'{lines}</g><g stroke="{EDGE}">{dots}</g></svg>'
    )
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
