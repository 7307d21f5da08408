"""`rwk explore`: a set of graphs on a web page of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import Data, load_graphs, note, say
from rwk.parameters import Parameters


@with_parameters
@with_columns
def explore(
    data: Data,
    parameters: Parameters,
    port: Annotated[int, typer.Option(help="Port on this machine.", min=1, max=65535)] = 8050,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    gram: Annotated[
        Path | None, typer.Option(help="A matrix that `rwk gram` wrote; without it the matrix is computed.")
    ] = None,
) -> None:
    """Open a page on this machine to explore a set: its map, any two graphs, sliders, your own graph."""
    from rwk.explore import serve
    from rwk.report.run_data import ReportError, read_run

    graphs = load_graphs(data)
    discrepancy = None if gram is None else read_run(gram).discrepancy
    if discrepancy is not None and len(discrepancy) != len(graphs):
        raise ReportError(
            f"{gram} is a matrix of {len(discrepancy)} graphs, but {graphs.name} has {len(graphs)}; "
            "give the matrix of this set"
        )
    note(f"{graphs.name}: {len(graphs)} graphs; drawing the map")
    serve(graphs, parameters, port=port, browser=browser, discrepancy=discrepancy, say=say)
