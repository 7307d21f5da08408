"""Figures and Axes that a notebook shows when they are the last value of a cell.

matplotlib's own figures do so only after pyplot was imported. A notebook asks the value for `_repr_png_`, and these
classes have it. If pyplot shows a figure by itself at the end of the cell, `_repr_png_` gives nothing, so that no
picture is shown twice. Importing this module imports matplotlib.
"""

from __future__ import annotations

import io
import sys
from typing import Any, Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

DPI: Final = 144  # twice the size that is shown, for sharp pictures on every screen
# backends that draw to files only: with any other, pyplot shows its figures
FILE_BACKENDS: Final = frozenset({"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"})
Picture = tuple[bytes, dict[str, int]]


class ShownFigure(Figure):
    """A figure that a notebook shows; its Axes do so too."""

    def add_subplot(self, *places: Any, **style: Any) -> Any:
        if not (places and isinstance(places[0], Axes)) and not {"projection", "polar", "axes_class"} & set(style):
            style["axes_class"] = ShownAxes
        return super().add_subplot(*places, **style)

    def _repr_png_(self) -> Picture | None:
        return None if shown_by_pyplot(self) else picture_of(self)


class ShownAxes(Axes):
    """Axes whose figure a notebook shows."""

    def _repr_png_(self) -> Picture | None:
        return figure_picture(self)


class ShownPanels(np.ndarray[Any, Any]):
    """A flat array of Axes of one figure, which a notebook shows."""

    @classmethod
    def of(cls, axes: NDArray[Any]) -> ShownPanels:
        """These Axes as a flat array."""
        return axes.ravel().view(cls)

    def _repr_png_(self) -> Picture | None:
        return figure_picture(self.ravel()[0]) if self.size else None


def figure_picture(ax: Any) -> Picture | None:
    """The picture of the figure that Axes belong to; None if it is not one of ours."""
    return ax.figure._repr_png_() if isinstance(ax.figure, ShownFigure) else None


def picture_of(figure: Any) -> Picture:
    """A figure as PNG, and the size at which to show it."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, bbox_inches="tight")
    png = file.getvalue()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # of the header of a PNG
    return png, {"width": width // 2, "height": height // 2}


def shown_by_pyplot(figure: Any) -> bool:
    """Whether pyplot knows the figure and shows it without being asked, as it does in notebooks."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    known = pyplot is not None and getattr(figure, "number", None) in pyplot.get_fignums()
    return known and matplotlib.get_backend().lower() not in FILE_BACKENDS
