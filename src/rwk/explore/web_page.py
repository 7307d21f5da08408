"""The layout of the page: what is shown where."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.explore.map_drawing import map_figure
from rwk.explore.pair_drawing import styles
from rwk.explore.settings import Slider, sliders_of, to_page
from rwk.explore.state import Explorer
from rwk.explore.upload import MAX_BYTES
from rwk.runtime.allowed_values import FEATURE_METRICS
from rwk.runtime.words import counted

Components = Any
# the sliders of the product metric, shown only if it is chosen
PRODUCT: Final = ("return_weight", "attribute_weight")
RESET: Final = "Back to the first pair and the settings of the start"
KEYS: Final = (
    "Tab moves between the parts of the page. On the map, the arrow keys go from graph to graph and Enter chooses one. "
    "On the picture, the arrow keys go from node to node and tell what each pays. On a slider, the arrow keys move it."
)


def page(explorer: Explorer, chosen: dict[str, str]) -> Components:
    """The whole page."""
    from dash import dcc, html

    graphs = explorer.graphs
    few = f"{len(explorer.mapped)} of them on the map" if len(explorer.mapped) < len(graphs) else "all on the map"
    below = f"{len(graphs):,} graphs, {graphs.sizes.mean():.1f} nodes each; {few}"
    if len(graphs) == 1:
        below = f"1 graph with {graphs.sizes[0]} nodes; add your own below to compare"
    start = to_page(explorer.start)
    stores: dict[str, Any] = {"chosen": chosen, "settled": start, "start": start, "theme": "light", "map-key": None}
    stores["member-click"] = None
    stores["styles"] = {theme: styles(theme) for theme in ("light", "dark")}
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            *[dcc.Store(id=name, data=data) for name, data in stores.items()],
            dcc.Download(id="file"),
            html.Header(
                [
                    html.Div([html.H1(graphs.name), html.P(below)], className="title"),
                    html.Div(
                        [
                            _button("Copy link", "copy-link"),
                            _button("Reset", "reset", title="The first pair and the settings of the start"),
                        ],
                        className="tools",
                    ),
                ]
            ),
            html.Main([_left(explorer, chosen), _right(explorer)]),
            html.Footer([html.Details([html.Summary("Keyboard"), html.P(KEYS)])]),
            html.Div(id="hint", className="node-hint", role="status", hidden=True),
            html.Div(
                [html.Span(id="toast-text"), _button("Close", "toast-close")], id="toast", role="alert", hidden=True
            ),
        ],
        className="page",
    )


def _button(text: str, name: str, **more: Any) -> Components:
    from dash import html

    return html.Button(text, id=name, type="button", **more)


def _left(explorer: Explorer, chosen: dict[str, str]) -> Components:
    from dash import dcc, html

    tools = {"displaylogo": False, "displayModeBar": False, "scrollZoom": True}
    drawn = dcc.Graph(id="map", figure=map_figure(explorer, chosen), config=tools, className="map")
    label = "Map of the graphs; arrow keys go from graph to graph, Enter chooses one"
    following = " hidden" if explorer.follows else ""
    return html.Div(
        [
            html.Section(
                [
                    html.Div([html.H2("Map"), _button("PNG", "map-png", title="Save the map as PNG")], className="row"),
                    html.P(_map_words(explorer), className="hint"),
                    html.Div(drawn, id="map-box", tabIndex=0, role="application", **{"aria-label": label}),
                    html.Div([_search(explorer), *_class_choice(explorer)], className="row"),
                    html.P(id="search-message", className="message", role="status"),
                ]
            ),
            *_class_picture(explorer),
            html.Section(
                [
                    html.H2("Nearest", id="neighbours-title"),
                    html.P(id="neighbours-hint", className="hint"),
                    html.Ol(id="neighbours", className=f"neighbours{' named' if explorer.graphs.names else ''}"),
                    _button("Compare again with these sliders", "compare-again", className=f"again{following}"),
                ]
            ),
            *_parity(explorer),
            html.Section([html.H2("Your own graphs"), *_upload()]),
        ],
        className="column",
    )


def _map_words(explorer: Explorer) -> str:
    words = f"Near means similar (rank correlation {explorer.map.likeness:.2f}). Click a graph, then another: the "
    words += "circle is the first, the square the second."
    far = explorer.map.n_drawn_nearer
    if far:
        words += (
            f" {counted(far, 'graph')} far from all others {'is' if far == 1 else 'are'} drawn nearer than in truth."
        )
    return f"{words} The map does not follow the sliders."


def _search(explorer: Explorer) -> Components:
    from dash import dcc, html

    names = explorer.graphs.names
    example = "number, e.g. 12" if names is None else f"name, e.g. {names[-1][:24]}"
    field = dcc.Input(id="search", type="text", placeholder=example, debounce=False, autoComplete="off", maxLength=200)
    return html.Label([html.Span("graph"), field], className="field")


def _class_choice(explorer: Explorer) -> list[Components]:
    from dash import dcc, html

    if explorer.graphs.targets is None or explorer.continuous:
        return []
    labels = [str(label) for label in np.unique(explorer.graphs.targets)]
    options: list[Any] = [{"label": "all", "value": ""}, *({"label": label, "value": label} for label in labels[:12])]
    choice = dcc.RadioItems(id="shown-class", options=options, value="", inline=True, className="pills")
    return [html.Div([html.Span("class"), choice], className="field")]


def _parity(explorer: Explorer) -> list[Components]:
    """Measured against predicted values, drawn when the user asks for it: fitting takes seconds."""
    from dash import dcc, html

    if not explorer.continuous:
        return []
    tools = {"displaylogo": False, "displayModeBar": False}
    return [
        html.Section(
            [
                html.H2("Measured and predicted"),
                html.P("Each value predicted from those of all other graphs on the map.", className="hint"),
                _button("Predict", "parity-draw"),
                html.P(id="parity-words", className="message", role="status"),
                html.Div(dcc.Graph(id="parity", config=tools, className="map"), id="parity-box", hidden=True),
            ]
        )
    ]


def _class_picture(explorer: Explorer) -> list[Components]:
    """Where the picture of the chosen class is drawn; nothing if the graphs have no classes."""
    from dash import html

    if explorer.graphs.targets is None or explorer.continuous:
        return []
    parts = [
        html.H2("A class in pictures"),
        html.P(id="class-hint", className="hint"),
        html.Ol(id="class-graphs", className="members"),
    ]
    return [html.Section(parts)]


def _upload() -> list[Components]:
    from dash import dcc, html

    # the button makes it possible to choose a file with the keyboard; a click on it opens the dialog of the upload
    choose = html.Button("choose files", type="button", className="link")
    kinds = html.Small("GraphML, edge list, or .smi with one molecule per line")
    target = html.Div(["Drop files here or ", choose, html.Br(), kinds])
    smiles = dcc.Input(
        id="smiles", type="text", placeholder="or SMILES, e.g. c1ccccc1N(=O)=O", autoComplete="off", maxLength=1000
    )
    return [
        dcc.Upload(
            id="upload", children=target, max_size=MAX_BYTES, multiple=True, className="drop", className_reject="drop"
        ),
        html.Div([smiles, _button("Use", "use-smiles")], className="row"),
        html.P(id="upload-message", className="message", role="status"),
        html.Ol(id="own-graphs", className="neighbours"),
    ]


def _right(explorer: Explorer) -> Components:
    import dash_cytoscape as cyto
    from dash import html

    drawing = cyto.Cytoscape(
        id="pair",
        elements=[],
        layout={"name": "preset", "fit": True, "padding": 26},
        stylesheet=styles("light"),
        style={"width": "100%", "height": "100%"},
        minZoom=0.1,
        maxZoom=4,
        boxSelectionEnabled=False,
        responsive=True,
    )
    label = "The two graphs; arrow keys go from node to node and tell what each pays"
    tools = [
        _button("Swap", "swap", title="Exchange the two graphs"),
        _button("PNG", "pair-png", title="Save the picture as PNG"),
        _button("CSV", "pair-csv", title="Save the matching as CSV"),
    ]
    key = [
        html.Span([html.I(className="line same"), "same label"]),
        html.Span([html.I(className="line other"), "other label"]),
        html.Span([html.I(className="ring"), "pays more"]),
        html.Span("point at a node to see its name, label and what it pays"),
    ]
    return html.Div(
        [
            html.Section(
                [
                    html.Div([html.H2(id="pair-title"), html.Div(tools, className="tools")], className="row"),
                    html.P(id="message", className="message", role="status"),
                    html.Div(drawing, id="drawing", className="drawing", tabIndex=0, **{"aria-label": label}),
                    html.P(key, className="key"),
                    html.Details([html.Summary("Matching as a table"), html.Div(id="matching", className="scroll")]),
                ]
            ),
            html.Section(
                [
                    html.Div([html.H2("What it costs"), html.Span(id="timing", className="hint")], className="row"),
                    html.Div(id="terms", className="terms"),
                    *_controls(explorer),
                ]
            ),
        ],
        className="column wide",
    )


def _controls(explorer: Explorer) -> list[Components]:
    """The sliders, and the choice of the metric of node features with the two sliders of the product."""
    from dash import dcc, html

    start = to_page(explorer.start)
    made = {slider.name: _slider(slider, start[slider.name]) for slider in sliders_of(explorer.parameters)}
    metrics = [{"label": name, "value": name} for name in FEATURE_METRICS]
    choice = dcc.RadioItems(
        id="feature-metric", options=metrics, value=start["feature_metric"], inline=True, className="pills"
    )
    if explorer.graphs.node_attributes is None:
        made["attribute_weight"].style = {"display": "none"}
    return [
        html.Div([made[name] for name in made if name not in PRODUCT], className="sliders"),
        html.Div([html.Span("node features compared by"), choice], className="field metric"),
        html.Div([made[name] for name in PRODUCT], id="product-sliders", className="sliders product", hidden=True),
    ]


def slider_id(name: str) -> str:
    """The id of the slider of a setting."""
    return name.replace("_", "-")


def _slider(slider: Slider, at: float) -> Components:
    from dash import dcc, html

    name = slider_id(slider.name)
    control = dcc.Input(id=name, type="range", min=slider.low, max=slider.high, step=slider.step, value=at)
    return html.Label([html.Span([slider.title, html.B(id=f"{name}-value")]), control], className="slider")
