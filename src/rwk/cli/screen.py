"""What the commands share: the consoles, the tables, the loader of graphs, and what a run will cost."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from rwk.runtime.log import LOG
from rwk.runtime.words import duration, size

if TYPE_CHECKING:
    from rwk.graphs import GraphSet
    from rwk.parameters import Parameters
    from rwk.transport.measures import GraphMeasures


def known_names(incomplete: str) -> list[str]:
    """Names of datasets that begin so, for the shell to complete; nothing else makes it offer files.

    >>> known_names("COX")
    ['COX2', 'COX2_MD']
    """
    from rwk.datasets.catalogue import CHECKSUMS

    return [name for name in CHECKSUMS if name.lower().startswith(incomplete.lower())]


Data = Annotated[
    str,
    typer.Argument(
        help="A dataset's name, or a path: TU folder or zip, GraphML, GML, GEXF.", autocompletion=known_names
    ),
]

console = Console()
errors = Console(stderr=True, highlight=False)


class ScreenHandler(logging.Handler):
    """Shows the library's log on stderr, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        errors.print(self.format(record), markup=False, soft_wrap=True)


def show_log() -> None:
    """Show what the library logs, from INFO on; the second call does nothing."""
    if not any(isinstance(handler, ScreenHandler) for handler in LOG.handlers):
        LOG.addHandler(ScreenHandler())
        LOG.setLevel(logging.INFO)


def figures_of(title: str, figures: Mapping[str, str]) -> Table:
    """Named figures, one below the other: readable however narrow the terminal is."""
    table = Table(title=title, title_justify="left", show_header=False)
    for name, figure in figures.items():
        table.add_row(name, figure)
    return table


def say_cost(measures: GraphMeasures, parameters: Parameters, n_pairs: int) -> None:
    """Say before a long run how many pairs, how long and how much memory, from a measured sample."""
    from rwk.gram.matrix import estimate_cost

    cost = estimate_cost(measures, parameters, n_pairs)
    time = duration(cost.seconds)
    errors.print(f"{n_pairs:,} pairs on {cost.backend}: about {time}, {size(cost.bytes)} of memory")


def load_graphs(data: str) -> GraphSet:
    """Graphs by a dataset's name or by any path that `as_graphs` reads."""
    from rwk.convert import as_graphs
    from rwk.datasets import load_dataset

    path = Path(data)
    if path.is_file() and path.suffix.lower() != ".zip":
        return as_graphs(path)
    return load_dataset(data)
