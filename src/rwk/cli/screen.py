"""What the commands share: the consoles, tables and pictures, the loader of graphs, and the estimate of cost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from rwk.runtime.files import is_there, user_path
from rwk.runtime.log import LOG
from rwk.runtime.words import duration, size

if TYPE_CHECKING:
    from rwk.graphs import GraphSet
    from rwk.parameters import Parameters
    from rwk.transport.measures import GraphMeasures


def known_names(incomplete: str) -> list[str]:
    """Names of datasets that begin with what is typed, for the shell; if there is none it offers files.

    >>> known_names("COX")
    ['COX2', 'COX2_MD']
    """
    from rwk.datasets.catalogue import COLLECTION

    return [name for name in sorted(COLLECTION.values()) if name.lower().startswith(incomplete.lower())]


Data = Annotated[
    str,
    typer.Argument(
        help="A dataset's name, or a path: TU folder or zip, .smi, .sdf, .csv, a folder of GraphML, ...",
        autocompletion=known_names,
    ),
]


class DataSource(NamedTuple):
    """What a user typed for DATA, and the columns to read if it is a table."""

    data: str
    smiles_column: str | None = None
    target: str | None = None


INTERRUPTED: Final = 130  # the exit code of a process that Ctrl-C ended

# names of files, nodes and classes are shown as they are: `[red]` is no colour here
console = Console(markup=False)
errors = Console(stderr=True, highlight=False, markup=False)


class ScreenHandler(logging.Handler):
    """Shows the library's log on stderr, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        note(self.format(record))


def show_log() -> None:
    """Show what the library logs, from INFO on; the second call does nothing."""
    if not any(isinstance(handler, ScreenHandler) for handler in LOG.handlers):
        LOG.addHandler(ScreenHandler())
        LOG.setLevel(logging.INFO)


def say(text: str) -> None:
    """Print a line of the result, unwrapped and as it is."""
    console.print(text, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a line about the run on stderr, unwrapped and as it is."""
    errors.print(text, soft_wrap=True)


_if_stopped: list[Callable[[], str]] = []  # what to say if the command is stopped now, the innermost block last


@contextmanager
def said_if_stopped(kept: Callable[[], str]) -> Iterator[None]:
    """After Ctrl-C, print what `kept` returns: what was kept, and how to go on. The exit code is 130."""
    _if_stopped.append(lambda: "; ".join(filter(None, ["stopped", kept()])))
    try:
        yield
    except KeyboardInterrupt:
        note(what_was_kept())
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if _if_stopped:
            _if_stopped.pop()


def what_was_kept() -> str:
    """What a command that is stopped now has to say; empty if it has said so."""
    sentence = _if_stopped[-1]() if _if_stopped else ""
    _if_stopped.clear()
    return sentence


def figures_of(title: str, figures: Mapping[str, str]) -> Table:
    """A table of named figures, one per line, to be readable on a narrow terminal."""
    table = Table(title=title or None, title_justify="left", show_header=False)
    for name, figure in figures.items():
        table.add_row(name, figure)
    return table


def say_cost(
    graphs: GraphSet, parameters: Parameters, *, measures: GraphMeasures | None = None, n_matrices: int = 1
) -> None:
    """Print before a long run how many pairs it solves, how long and in how much memory, from a measured sample."""
    from rwk.gram.estimate import estimate_gram

    cost = estimate_gram(graphs, measures=measures, **parameters.asdict())
    time = duration(n_matrices * cost.seconds)
    note(f"{n_matrices * cost.n_pairs:,} pairs on {cost.backend}: {time}, {size(cost.memory_bytes)} of memory")


def note_complete(graphs: GraphSet, structure: str) -> None:
    """Warn if all graphs are complete, so that their edges tell no structure."""
    from rwk.datasets.forms import NO_STRUCTURE, without_structure

    if structure != "edge-distance" and without_structure(graphs):
        note(f"warning: {NO_STRUCTURE}")


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure, whole or not at all, and print where."""
    from rwk.runtime.files import write_whole

    write_whole(path, lambda beside: figure.savefig(beside, dpi=150, bbox_inches="tight"))
    say(f"picture: {path}")


def load_graphs(source: str | DataSource) -> GraphSet:
    """The graphs of a dataset by its name, or of any path that `as_graphs` reads."""
    from rwk.convert import as_graphs
    from rwk.convert.graph_paths import is_wildcard
    from rwk.datasets import load_dataset
    from rwk.graphs import GraphError

    data, smiles_column, target = DataSource(source) if isinstance(source, str) else source
    if not data.strip():
        raise GraphError("the name of the data is empty; give a dataset, a file or a folder")
    path = user_path(data)
    if is_wildcard(data) or (is_there(path) and path.suffix.lower() != ".zip"):
        return as_graphs(data if is_wildcard(data) else path, smiles_column=smiles_column, target=target)
    if smiles_column or target:
        raise GraphError(f"--smiles-column and --target name columns of a table, but {data} is not one")
    return load_dataset(data)
