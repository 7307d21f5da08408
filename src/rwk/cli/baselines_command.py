"""`rwk baselines list`: the methods that RWK is compared with."""

from __future__ import annotations

import typer
from rich.table import Table

from rwk.cli.help_page import HelpfulCommand, HelpfulGroup
from rwk.cli.screen import console

baselines = typer.Typer(cls=HelpfulGroup, no_args_is_help=True, help="The methods that RWK is compared with.")


@baselines.callback()
def about() -> None:
    """The methods that RWK is compared with."""


@baselines.command("list", cls=HelpfulCommand)
def list_baselines() -> None:
    """Print every baseline: name, the data it accepts, which of them it sees, kind, packages it needs, reference."""
    from rwk.baselines import describe

    table = Table("name", "accepts", "sees", "sees in a fair run", "kind", "needs", "reference")
    for row in describe():
        accepts = ", ".join("neither" if what == "structure" else what for what in row.accepts)
        fair = f"{row.fair_sees} ({row.note})" if row.note else row.fair_sees
        table.add_row(row.name, accepts, row.sees, fair, row.kind, row.extra, row.reference)
    console.print(table, highlight=False)
