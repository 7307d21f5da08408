"""What a report is made of: sections of figures, text, tables and pictures that know nothing of HTML or Markdown.

`sections` fills them; `html` and `markdown` write them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Facts:
    """A few figures to be seen first: (figure, what it is)."""

    figures: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Text:
    """One paragraph; `tone` "warn" asks for attention."""

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
    """A drawing as PNG bytes, with the words that stand for it where it can't be seen."""

    png: bytes
    words: str
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: Sequence[Facts | Text | Table | Picture] = field(default_factory=tuple)


def picture(ax: Any, words: str, *, wide: bool = False, dpi: int = 160) -> Picture:
    """The figure of some Axes as PNG."""
    from io import BytesIO

    stream = BytesIO()
    ax.figure.savefig(stream, format="png", dpi=dpi, facecolor="white", bbox_inches="tight", pad_inches=0.12)
    return Picture(stream.getvalue(), words, wide)
