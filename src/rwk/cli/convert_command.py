"""`rwk convert`: graphs from one format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.options import with_columns
from rwk.cli.screen import Data, load_graphs, say


@with_columns
def convert(
    data: Data,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to write, or a file NAME.parquet.")],
    to: Annotated[
        str | None, typer.Option(help="tu, graphml or parquet; by default parquet for NAME.parquet, else tu.")
    ] = None,
) -> None:
    """Write graphs as a TU folder, a folder of GraphML files, or a parquet table."""
    from rwk.convert.exports import to_tu, write_graphml, write_parquet
    from rwk.graphs import GraphError

    writers = {"tu": to_tu, "graphml": write_graphml, "parquet": write_parquet}
    kind = to or ("parquet" if output.suffix.lower() == ".parquet" else "tu")
    if kind not in writers:
        raise GraphError(f"--to {kind} is unknown; give tu, graphml or parquet")
    graphs = load_graphs(data)
    written = writers[kind](graphs, output)
    say(f"{written}: {len(graphs):,} graphs as {kind}")
