"""Measured against predicted values as a plain dictionary, the form that Plotly takes."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from rwk.explore.map_drawing import INK
from rwk.explore.state import Explorer


def parity_figure(explorer: Explorer, theme: str = "light") -> dict[str, Any]:
    """Every value predicted from all others, over the measured one, with 95 % intervals; empty before that is known."""
    found = explorer.left_out()
    layout: dict[str, Any] = {
        "margin": {"l": 52, "r": 12, "t": 8, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK[theme], "family": "system-ui, sans-serif", "size": 12},
        "xaxis": {"title": {"text": "measured"}, "zeroline": False, "gridcolor": "rgba(128,128,128,.2)"},
        "yaxis": {
            "title": {"text": "predicted from the others"},
            "zeroline": False,
            "gridcolor": "rgba(128,128,128,.2)",
        },
        "showlegend": False,
        "hovermode": "closest",
    }
    if found is None:
        return {"data": [], "layout": layout}
    numbers, mean, std = found
    values = np.asarray(explorer.graphs.targets, np.float64)[numbers]
    ends = [float(min(values.min(), mean.min())), float(max(values.max(), mean.max()))]
    hints = [
        f"{escape(explorer.name(str(number)))}<br>measured {value:.4g}, predicted {guess:.4g} ± {spread:.2g}"
        for number, value, guess, spread in zip(numbers.tolist(), values, mean, std, strict=True)
    ]
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": values.tolist(),
        "y": mean.tolist(),
        "error_y": {"type": "data", "array": (1.96 * std).tolist(), "thickness": 0.6, "width": 0},
        "text": hints,
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 7, "color": "#2f6db5", "opacity": 0.8},
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": ends,
        "y": ends,
        "hoverinfo": "skip",
        "line": {"color": INK[theme]},
    }
    return {"data": [line, points], "layout": layout}


def parity_words(explorer: Explorer) -> str:
    """The error of the predictions in a sentence, or why there are none."""
    found = explorer.left_out()
    if found is None:
        return "There are too few graphs with different values to predict one from the others."
    numbers, mean, std = found
    values = np.asarray(explorer.graphs.targets, np.float64)[numbers]
    rmse = float(np.sqrt(np.mean((mean - values) ** 2)))
    inside = float((np.abs(mean - values) <= 1.959964 * std).mean())
    return (
        f"Root mean squared error {rmse:.3g}; the values spread by {values.std():.3g}. {inside:.0%} are inside the "
        "95 % interval. The settings are those of the start."
    )
