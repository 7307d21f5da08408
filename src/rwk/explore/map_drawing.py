"""The map as a plain dictionary, the form that Plotly takes."""

from __future__ import annotations

from html import escape
from typing import Any, Final

import numpy as np

from rwk.explore.state import Explorer
from rwk.report.palette import class_colours

# from low to high; all of it can be seen on a light and on a dark page
SCALE: Final = ("#f1c84c", "#ee8a4a", "#d9566b", "#a052a8", "#4f63c8")
INK: Final = {"light": "#52606d", "dark": "#b6c2cf"}
OWN: Final = {"light": "#1f2933", "dark": "#f5f7fa"}  # uploaded graphs
CHOSEN: Final = {"light": "#c22f2f", "dark": "#ff7b72"}


def map_figure(
    explorer: Explorer, chosen: dict[str, str], shown: str | None = None, theme: str = "light"
) -> dict[str, Any]:
    """The map as a Plotly figure: one point per graph, the two chosen graphs ringed, classes not shown faded."""
    traces = _values(explorer, theme) if explorer.continuous else _classes(explorer, shown)
    traces += _uploads(explorer, theme)
    for name, symbol in (("a", "circle-open"), ("b", "square-open")):
        place = explorer.place(chosen[name])
        if place is not None:
            marker = {
                "symbol": symbol,
                "size": 19,
                "color": CHOSEN[theme],
                "line": {"width": 3, "color": CHOSEN[theme]},
            }
            traces.append({"type": "scatter", "mode": "markers", "x": [place[0]], "y": [place[1]], "marker": marker,
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
            "showlegend": explorer.graphs.targets is not None or bool(explorer.uploads),
            "legend": {"orientation": "h", "y": -0.02, "x": 0.5, "xanchor": "center", "font": {"color": INK[theme]}},
            "hovermode": "closest",
            "hoverlabel": {"bgcolor": "#1f2933", "bordercolor": "#52606d", "font": {"color": "#ffffff"}},
            "dragmode": "pan",
            "uirevision": "map",
        },
    }


def _classes(explorer: Explorer, shown: str | None) -> list[dict[str, Any]]:
    """One trace per class; a single one if the graphs have no targets."""
    targets = explorer.graphs.targets
    if targets is None:
        everyone = np.arange(len(explorer.mapped))
        return [_trace(explorer, everyone, {"color": "#2f6db5"}, "graphs")]
    classes = targets[explorer.mapped].astype(str)
    return [
        _trace(
            explorer,
            np.flatnonzero(classes == label),
            {"color": colour, "opacity": 0.82 if shown in (None, "", label) else 0.08},
            f"class {escape(str(label))}",
        )
        for label, colour in class_colours(classes).items()
    ]


def _values(explorer: Explorer, theme: str) -> list[dict[str, Any]]:
    """One trace whose colours are a scale of the targets, with a legend; graphs without a finite target are grey."""
    targets = np.asarray(explorer.graphs.targets, np.float64)[explorer.mapped]
    known = np.isfinite(targets)
    low, high = np.quantile(targets[known], [0.02, 0.98])
    bar = {
        "title": {"text": "target", "side": "right", "font": {"color": INK[theme]}},
        "tickfont": {"color": INK[theme]},
        "thickness": 12,
        "outlinewidth": 0,
        "len": 0.9,
    }
    marker = {
        "color": targets[known].tolist(),
        "colorscale": [[i / (len(SCALE) - 1), colour] for i, colour in enumerate(SCALE)],
        "cmin": float(low),
        "cmax": float(max(high, low + 1e-12)),
        "colorbar": bar,
    }
    traces = [_trace(explorer, np.flatnonzero(known), marker, "graphs")]
    if not known.all():
        traces.append(_trace(explorer, np.flatnonzero(~known), {"color": "#9aa5b1"}, "without a target"))
    return [{**trace, "showlegend": False} for trace in traces]


def _uploads(explorer: Explorer, theme: str) -> list[dict[str, Any]]:
    keys = [key for key in explorer.uploads if explorer.place(key) is not None]
    if not keys:
        return []
    places = np.array([explorer.place(key) for key in keys])
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "your graphs",
            "x": places[:, 0].tolist(),
            "y": places[:, 1].tolist(),
            "customdata": keys,
            "text": [escape(explorer.name(key)) for key in keys],
            "hovertemplate": "%{text}<br>your graph<extra></extra>",
            "marker": {"size": 13, "symbol": "diamond", "color": OWN[theme], "line": {"width": 1, "color": "#9aa5b1"}},
        }
    ]


def _trace(explorer: Explorer, mine: Any, marker: dict[str, Any], name: str) -> dict[str, Any]:
    numbers = explorer.mapped[mine]
    kind = "value" if explorer.continuous else "class"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": explorer.map.places[mine, 0].tolist(),
        "y": explorer.map.places[mine, 1].tolist(),
        "customdata": [str(number) for number in numbers],
        "text": [_hint(explorer, str(number), kind) for number in numbers],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 10, "opacity": 0.82, "line": {"width": 0.6, "color": "rgba(255,255,255,0.6)"}, **marker},
    }


def _hint(explorer: Explorer, key: str, kind: str) -> str:
    """Name, size and target of a graph, as text that Plotly does not read as markup."""
    target = explorer.target(key)
    words = f"{escape(explorer.name(key))} ({explorer.graphs.sizes[int(key)]} nodes)"
    return f"{words}<br>{kind} {escape(target)}" if target else words
