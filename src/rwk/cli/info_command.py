"""`rwk info`: the statistics of a dataset, or the names of all known ones."""

from __future__ import annotations

from typing import Annotated

import typer

from rwk.cli.options import SmilesColumn, Target
from rwk.cli.screen import DataSource, console, figures_of, load_graphs, say


def info(
    data: Annotated[
        list[str] | None, typer.Argument(help="Names or paths; if none is given, all known names are printed.")
    ] = None,
    smiles_column: SmilesColumn = None,
    target: Target = None,
) -> None:
    """Print a dataset's statistics, or the names of the known datasets."""
    from rwk.datasets import dataset_statistics, list_datasets

    if not data:
        verified = list_datasets()
        say("\n".join(verified))
        others = [name for name in list_datasets(verified=False) if name not in verified]
        say(f"\nalso in the TU collection, downloaded without a checksum: {', '.join(others)}")
        return
    for name in data:
        row = dataset_statistics(load_graphs(DataSource(name, smiles_column, target))).row()
        console.print(figures_of(row["name"], row))
