"""The layout of the page: what is shown where."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rwk.explore.drawings import STYLE, map_figure
from rwk.explore.state import Explorer, Neighbour, Settings, SolvedPair
from rwk.explore.upload import MAX_BYTES

Components = Any
# name, title, lowest value, highest value, step; the slider of the entropy is logarithmic
SLIDERS = (
    ("beta-local", "local weight β₁", 0.0, 2.0, 0.05),
    ("beta-global", "global weight β₂", 0.0, 2.0, 0.05),
    ("entropy", "entropy", -2.0, 0.0, 0.05),
    ("hops", "hops", 0, 3, 1),
)


def page(explorer: Explorer, chosen: dict[str, str]) -> Components:
    """The whole page."""
    from dash import dcc, html

    graphs = explorer.graphs
    few = f"{len(explorer.mapped)} of them on the map" if len(explorer.mapped) < len(graphs) else "all on the map"
    below = f"{len(graphs):,} graphs, {graphs.sizes.mean():.1f} nodes each; {few}"
    if explorer.without_edge_labels:
        below += "; edge labels are not used here (--wl-edge-labels uses them)"
    return html.Div(
        [
            dcc.Store(id="chosen", data=chosen),
            html.Header([html.H1(graphs.name), html.P(below)]),
            html.Main([_left(explorer, chosen), _right(explorer)]),
        ],
        className="page",
    )


def _left(explorer: Explorer, chosen: dict[str, str]) -> Components:
    from dash import dcc, html

    tools = {"displaylogo": False, "displayModeBar": False, "scrollZoom": True}
    return html.Div(
        [
            html.Section(
                [
                    html.H2("Map"),
                    html.P(
                        f"Near means similar (rank correlation {explorer.likeness:.2f}). Click a graph, then another.",
                        className="hint",
                    ),
                    dcc.Graph(id="map", figure=map_figure(explorer, chosen, None), config=tools, className="map"),
                    html.Div([_search(explorer), *_class_choice(explorer)], className="row"),
                ]
            ),
            html.Section([html.H2("Nearest to the first"), html.Ol(id="neighbours", className="neighbours")]),
            html.Section([html.H2("Your own graph"), _upload()]),
        ],
        className="column",
    )


def _search(explorer: Explorer) -> Components:
    from dash import dcc, html

    example = "number, e.g. 12" if explorer.graphs.names is None else f"name, e.g. {explorer.graphs.names[-1]}"
    field = dcc.Input(id="search", type="text", placeholder=example, debounce=False, autoComplete="off")
    return html.Label([html.Span("graph"), field], className="field")


def _class_choice(explorer: Explorer) -> list[Components]:
    from dash import dcc, html

    if explorer.graphs.targets is None:
        return []
    labels = [str(label) for label in np.unique(explorer.graphs.targets)]
    options: list[Any] = [{"label": "all", "value": ""}, *({"label": label, "value": label} for label in labels[:12])]
    choice = dcc.RadioItems(id="shown-class", options=options, value="", inline=True, className="pills")
    return [html.Div([html.Span("class"), choice], className="field")]


def _upload() -> Components:
    from dash import dcc, html

    target = html.Div(["Drop a file here or ", html.B("choose one"), html.Br(), html.Small("GraphML, edge list, .smi")])
    smiles = dcc.Input(id="smiles", type="text", placeholder="or SMILES, e.g. c1ccccc1N(=O)=O", autoComplete="off")
    return html.Div(
        [
            dcc.Upload(id="upload", children=target, max_size=MAX_BYTES, className="drop", className_reject="drop"),
            html.Div([smiles, html.Button("Use", id="use-smiles", type="button")], className="row"),
        ]
    )


def _right(explorer: Explorer) -> Components:
    import dash_cytoscape as cyto
    from dash import html

    drawing = cyto.Cytoscape(
        id="pair",
        elements=[],
        layout={"name": "preset", "fit": True, "padding": 26},
        stylesheet=STYLE,
        style={"width": "100%", "height": "100%"},
        minZoom=0.1,
        maxZoom=4,
        boxSelectionEnabled=False,
        responsive=True,
    )
    start = Settings.of(explorer.parameters)
    values = (start.beta_local, start.beta_global, math.log10(start.entropy), start.hops)
    sliders = [_slider(*slider, value) for slider, value in zip(SLIDERS, values, strict=True)]
    key = [
        html.Span([html.I(className="line same"), "same label"]),
        html.Span([html.I(className="line other"), "other label"]),
        html.Span([html.I(className="ring"), "pays more"]),
    ]
    return html.Div(
        [
            html.Section(
                [
                    html.Div(
                        [html.H2(id="pair-title"), html.Button("Swap", id="swap", type="button")], className="row"
                    ),
                    html.P(id="message", className="message", role="status"),
                    html.Div(drawing, className="drawing"),
                    html.P(key, className="key"),
                ]
            ),
            html.Section(
                [
                    html.Div([html.H2("What it costs"), html.Span(id="timing", className="hint")], className="row"),
                    html.Div(id="terms", className="terms"),
                    html.Div(sliders, className="sliders"),
                ]
            ),
        ],
        className="column wide",
    )


def _slider(name: str, title: str, low: float, high: float, step: float, value: float) -> Components:
    from dash import dcc, html

    slider = dcc.Input(id=name, type="range", min=low, max=high, step=step, value=min(max(value, low), high))
    return html.Label([html.Span([title, html.B(id=f"{name}-value")]), slider], className="slider")


def term_bars(solved: SolvedPair, rows: list[tuple[str, str, float]]) -> list[Components]:
    """The value, and one bar per term."""
    from dash import html

    top = max([abs(value) for _, _, value in rows] or [1.0])
    bars = []
    for name, colour, value in rows:
        filled = html.I(style={"width": f"{100 * abs(value) / top:.1f}%", "backgroundColor": colour})
        parts = [html.Span(name), html.Span(filled, className="bar"), html.Span(f"{value:.3f}", className="figure")]
        bars.append(html.Div(parts, className="term"))
    return [html.P([html.B(f"{solved.solution.value:.3f}"), " RW discrepancy"], className="value"), *bars]


def neighbour_items(neighbours: list[Neighbour]) -> list[Components]:
    """One button per neighbour, which makes it the second graph."""
    from dash import html

    return [
        html.Li(
            html.Button(
                [html.Span(near.name), html.Span(f"class {near.target}"), html.Span(f"{near.value:.3f}")],
                id={"kind": "neighbour", "key": near.key},
                type="button",
            )
        )
        for near in neighbours
    ]
