"""The colours and figures that all pictures share."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.graphs.atom_names import elements_in

INK: Final = "#1f2933"
MUTED: Final = "#7b8794"
FAINT: Final = "#e4e7eb"
PAPER: Final = "#ffffff"
LINK: Final = "#2b6cb0"
WARN: Final = "#c2410c"

# can be told apart with any colour vision, and in print
CLASSES: Final = ("#2f6db5", "#e08214", "#1b9e77", "#c13b4a", "#7b5ea7", "#8c8c1f", "#4db2d6", "#a6761d", "#666666")

MOST_CLASSES: Final = 30  # more distinct numbers than this are drawn on a scale
SCALE: Final = "viridis"  # even steps of lightness, for any colour vision

# the usual colours of atoms in drawings, lighter, since a letter is written on them
ELEMENTS: Final[Mapping[str, str]] = {
    "C": "#d5dae1", "N": "#9db9f5", "O": "#f7a8a0", "F": "#b5e3b0", "I": "#cfaee8", "Cl": "#a5dba6", "Br": "#dfb39a",
    "S": "#f5e08a", "P": "#f8c490", "H": "#ffffff", "Si": "#e8cfa8", "B": "#f3c7b8", "Na": "#c9b6f2", "K": "#b89cdc",
}  # fmt: skip

TERMS: Final[Mapping[str, tuple[str, str]]] = {
    "feature": ("features", "#2f6db5"),
    "neighbourhood": ("neighbourhoods", "#1b9e77"),
    "laplacian_source": ("Laplacian, source", "#8fd0bd"),
    "laplacian_target": ("Laplacian, target", "#b9e2d6"),
    "ridge": ("ridge", "#9aa5b1"),
    "gromov_wasserstein": ("structure", "#e08214"),
    "degree_prior": ("degree prior", "#f3c07f"),
    "debias": ("debiasing", "#c13b4a"),
}


def new_figure(width: float, height: float) -> Any:
    """A new matplotlib figure, which a notebook shows if it is the last value of a cell.

    pyplot knows of it only if pyplot has been imported already; pyplot then shows it.

    Parameters
    ----------
    width, height : float
        Size in inches.

    Returns
    -------
    matplotlib Figure

    Examples
    --------
    >>> from rwk.report import new_figure
    >>> float(new_figure(4, 3).get_figwidth())
    4.0
    """
    try:
        import matplotlib.figure  # noqa: F401  (its absence is what the error below is about)

        from rwk.report.shown_figures import ShownFigure
    except ImportError:
        raise ImportError("plots need matplotlib; install it with: pip install 'rwk[plot]'") from None
    size: dict[str, Any] = {"figsize": (width, height), "layout": "constrained"}
    pyplot = sys.modules.get("matplotlib.pyplot")
    return ShownFigure(**size) if pyplot is None else pyplot.figure(FigureClass=ShownFigure, **size)


def check_picture(path: str | os.PathLike[str]) -> Path:
    """Return the path if a picture can be written there; raises `OutputError`, before any work, if not.

    >>> check_picture("a.xyz")
    Traceback (most recent call last):
    rwk.runtime.files.OutputError: a.xyz is not the name of a picture; give a name that ends in .png, .svg or .pdf
    """
    from rwk.runtime.files import OutputError, check_writable

    kinds = new_figure(1, 1).canvas.get_supported_filetypes()
    if Path(path).suffix.lower().lstrip(".") not in kinds:
        raise OutputError(f"{path} is not the name of a picture; give a name that ends in .png, .svg or .pdf")
    return check_writable(path)


def new_axes(width: float, height: float, **grid: Any) -> Any:
    """Axes on a new figure."""
    return new_figure(width, height).subplots(**grid)


def is_continuous(targets: Sequence[Any] | NDArray[Any]) -> bool:
    """Whether targets are values on a scale rather than classes: numbers with fractions, or very many numbers.

    >>> is_continuous([0.5, 1.2]), is_continuous([1, -1, 1]), is_continuous(list(range(50)))
    (True, False, True)
    """
    values = np.asarray(targets)
    if values.dtype.kind not in "iuf":
        return False
    known = values[np.isfinite(values)]
    return bool((known != np.round(known)).any()) or len(np.unique(known)) > MOST_CLASSES


def class_colours(targets: Sequence[Any] | NDArray[Any]) -> dict[Any, str]:
    """A colour for each class, in sorted order.

    >>> class_colours([1, -1, 1])
    {-1: '#2f6db5', 1: '#e08214'}
    """
    labels = np.unique(np.asarray(targets)).tolist()
    return {label: CLASSES[i % len(CLASSES)] for i, label in enumerate(labels)}


def node_colours(labels: Sequence[Any], names: Mapping[int, str] | None) -> dict[Any, str]:
    """A fill for each node label: the element's colour if the label is an element, else a light colour of its own.

    >>> node_colours([0, 1], {0: "C", 1: "Zz"})
    {0: '#d5dae1', 1: '#f3cda1'}
    """
    found: dict[Any, str] = {}
    elements = elements_in(names)
    for i, label in enumerate(sorted(set(labels))):
        found[label] = ELEMENTS.get(elements.get(label, "")) or softened(CLASSES[i % len(CLASSES)])
    return found


def softened(colour: str, share: float = 0.6) -> str:
    """A colour mixed with white.

    >>> softened("#000000", 0.5)
    '#808080'
    """
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * share):02x}" for part in parts)


def similarity_map() -> Any:
    """Light to dark blue with even steps of lightness, for kernels."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#f6f9fc", "#cfe1f2", "#93c0e3", "#4d93c8", "#1f66a8", "#0c3c73", "#061f42"]
    return LinearSegmentedColormap.from_list("rwk", stops)


def payment_map() -> Any:
    """Grey to red, for what a node pays."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("rwk-pays", ["#c3cad3", "#e8c46a", "#e8853a", "#c22f2f", "#7f1d2d"])


def importance_map() -> Any:
    """Blue over white to orange, for values with a sign."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = ["#2f6db5", "#a9c8ea", "#f7f8fa", "#fbd38d", "#dd6b20"]
    return LinearSegmentedColormap.from_list("rwk-importance", stops)


def quiet(ax: Any, *, grid: str | None = None) -> None:
    """Remove frames and ticks that carry no information, and draw grid lines along `grid`."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(FAINT)
    ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=8.5, length=0)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    if grid:
        ax.grid(axis=grid, color=FAINT, linewidth=0.8)
        ax.set_axisbelow(True)


def as_text(name: object) -> str:
    """A name that a user gave, for matplotlib to show as it is: not as a formula, and in legends too.

    >>> as_text("$x_$"), as_text("_hidden")
    ('\\\\$x_\\\\$', ' _hidden')
    """
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def headline(ax: Any, text: str, below: str = "") -> None:
    """A title at the left, and one grey line below it."""
    text = as_text(text)
    if below:
        text = f"{text}\n"
        at: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
        ax.annotate(as_text(below), (0, 1), (0, 5), color=MUTED, fontsize=8.5, **at)
    ax.set_title(text, loc="left", color=INK, fontsize=11, fontweight="bold", linespacing=1.5 if below else 1.2)
