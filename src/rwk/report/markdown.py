"""A report as Markdown, with its pictures in files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rwk.report.blocks import Facts, Picture, Section, Table, Text


def markdown_page(
    title: str, sections: Sequence[Section], *, folder: str = "pictures", below: str = "", foot: str = ""
) -> tuple[str, dict[str, bytes]]:
    """The sections as Markdown, and the pictures by the paths that the text refers to.

    >>> print(markdown_page("A run", [Section("Result", [Text("fine")])])[0])
    # A run
    <BLANKLINE>
    ## Result
    <BLANKLINE>
    fine
    <BLANKLINE>
    """
    lines = [f"# {_plain(title)}", ""]
    pictures: dict[str, bytes] = {}
    if below:
        lines += [_plain(below), ""]
    for section in sections:
        lines += [f"## {_plain(section.title)}", ""]
        for block in section.blocks:
            if isinstance(block, Picture):
                path = str(Path(folder) / f"{len(pictures) + 1:02d}.png")
                pictures[path] = block.png
                lines += [f"![{_plain(block.words)}]({path})", ""]
            else:
                lines += [*_block(block), ""]
    return "\n".join(lines + ([f"*{_plain(foot)}*", ""] if foot else [])), pictures


def _block(block: Facts | Text | Table) -> list[str]:
    if isinstance(block, Facts):
        return [f"- **{_plain(figure)}** {_plain(what)}" for figure, what in block.figures]
    if isinstance(block, Text):
        return [f"> {_plain(block.text)}" if block.tone == "warn" else _plain(block.text)]
    head = [f"**{_plain(block.caption)}**", ""] if block.caption else []
    rows = [_row(block.titles), "|" + "---|" * len(block.titles), *(_row(row) for row in block.rows)]
    return head + rows


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(str(cell)) or " " for cell in cells) + " |"


def _plain(text: str) -> str:
    """The text with Markdown's special characters escaped."""
    for mark in ("\\", "|", "<", "*", "`", "[", "]"):
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")
