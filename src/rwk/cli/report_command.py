"""`rwk report`: a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.screen import load_graphs, say


def report(
    run: Annotated[
        Path, typer.Argument(help="Folder that `rwk classify` or `rwk regress` wrote, or a matrix of `rwk gram`.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html or .md.")] = Path("report.html"),
    data: Annotated[
        str | None, typer.Option("--data", help="The run's graphs, if they can't be found by the name of the set.")
    ] = None,
) -> None:
    """Write the report of a run: one self-contained HTML file, or Markdown with pictures beside it."""
    from rwk.report.writing import write_report

    written = write_report(run, output, graphs=None if data is None else load_graphs(data))
    say(f"report: {written[0]}")
