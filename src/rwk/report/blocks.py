"""The parts of a report: sections of figures, text, tables and pictures, without a format.

`sections` makes them; `html` and `markdown` write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Facts:
    """A few numbers to show first, each with what it is."""

    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Text:
    """One paragraph; with `tone` "warn" it is shown as a warning."""

    text: str
    tone: str = "plain"


@dataclass(frozen=True)
class Table:
    """Rows of text under titles."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture as PNG bytes, with a text that describes it for readers who cannot see it."""

    png: bytes
    words: str
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it."""

    title: str
    blocks: Sequence[Facts | Text | Table | Picture] = field(default_factory=tuple)


def picture(ax: Any, words: str, *, wide: bool = False, dpi: int = 160) -> Picture:
    """The figure that the Axes belong to, as PNG."""
    from io import BytesIO

    stream = BytesIO()
    ax.figure.savefig(stream, format="png", dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.12)
    return Picture(stream.getvalue(), words, wide)
