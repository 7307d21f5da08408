"""A report as one HTML file that contains its styles and pictures; it can be read on a phone and printed."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from rwk.report.blocks import Facts, Picture, Section, Table, Text

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<header><h1>{title}</h1><p>{below}</p><nav aria-label="Sections">{links}</nav></header>
{body}
<footer>{foot}</footer>
</main>
</body>
</html>
"""


def html_page(title: str, sections: Sequence[Section], *, below: str = "", foot: str = "") -> str:
    """Sections as one self-contained page.

    >>> page = html_page("A <run>", [Section("Result", [Text("fine")])])
    >>> "A &lt;run&gt;" in page, "http://" in page or "https://" in page
    (True, False)
    """
    links = "".join(f'<a href="#{_anchor(section.title)}">{escape(section.title)}</a>' for section in sections)
    body = "\n".join(_section(section) for section in sections)
    style = files("rwk.report").joinpath("style.css").read_text(encoding="utf-8")
    words = {"title": escape(title), "below": escape(below), "foot": escape(foot)}
    return _PAGE.format(style=style, links=links, body=body, **words)


def _section(section: Section) -> str:
    blocks = []
    # consecutive pictures share a row if the page is wide enough
    for pictures, group in groupby(section.blocks, lambda block: isinstance(block, Picture)):
        parts = [_block(block) for block in group]
        blocks.append(f'<div class="pictures">{"".join(parts)}</div>' if pictures else "".join(parts))
    anchor, title = _anchor(section.title), escape(section.title)
    return f'<section id="{anchor}"><h2>{title}</h2>{"".join(blocks)}</section>'


def _block(block: Facts | Text | Table | Picture) -> str:
    if isinstance(block, Facts):
        figures = "".join(
            f"<div><b>{escape(figure)}</b><span>{escape(what)}</span></div>" for figure, what in block.figures
        )
        return f'<div class="facts">{figures}</div>'
    if isinstance(block, Text):
        return f'<p class="{escape(block.tone)}">{escape(block.text)}</p>'
    if isinstance(block, Table):
        return _table(block)
    data = base64.b64encode(block.png).decode("ascii")
    kind = ' class="wide"' if block.wide else ""
    return f'<figure{kind}><img alt="{escape(block.words)}" src="data:image/png;base64,{data}"></figure>'


def _table(table: Table) -> str:
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in table.titles)
    rows = "".join(f"<tr>{_cells(row)}</tr>" for row in table.rows)
    return f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _cells(row: Iterable[str]) -> str:
    return "".join(f"<td>{escape(str(cell))}</td>" for cell in row)


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
