"""The two graphs of `rwk align` and `rwk match`: files, SMILES, or members of a set; and the files these write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from rwk.cli.screen import DataSource, known_names, load_graphs, save_picture
from rwk.runtime.files import is_there

if TYPE_CHECKING:
    from rwk.graphs import Graph, GraphSet
    from rwk.transport.problem import PairSolution

TEXT_FILES: Final = (".csv", ".json")

First = Annotated[
    str,
    typer.Argument(metavar="A", help="A file or SMILES; or a dataset, before I and J.", autocompletion=known_names),
]
Second = Annotated[
    str, typer.Argument(metavar="B", help="A file or SMILES; or I, the name or number (from 0) of a graph.")
]
Third = Annotated[str | None, typer.Argument(metavar="J", help="Name or number of the second graph of a dataset.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output", "-o", metavar="PATH", help="File to write: .csv, .json, .png, .svg or .pdf; may be repeated."
    ),
]


class TwoGraphs(NamedTuple):
    """Two graphs, and the set that they are members of, if there is one."""

    first: Graph
    second: Graph
    title: str
    members_of: GraphSet | None = None


def given_two(data: str | DataSource, second: str, third: str | None, command: str) -> TwoGraphs:
    """The graphs that a user means by A B (two files or SMILES), or by DATA I J (two graphs of a set)."""
    from rwk.convert.label_coding import in_form_of

    source = data if isinstance(data, DataSource) else DataSource(data)
    if third is None:
        one = _single(source, command)
        other = in_form_of(_single(DataSource(second, *source[1:]), command), one)
        return TwoGraphs(one[0], other[0], f"{source.data} and {second}")
    graphs = load_graphs(source)
    numbers = [_number(one, graphs) for one in (second, third)]
    title = " and ".join(graphs.title(number) for number in numbers)
    return TwoGraphs(graphs[numbers[0]], graphs[numbers[1]], f"{graphs.name}: {title}", graphs)


def check_outputs(paths: list[Path] | None) -> list[Path]:
    """The files to write; raises before any work if one of them can't be written."""
    from rwk.report.palette import check_picture
    from rwk.runtime.files import check_writable

    for path in paths or []:
        if path.suffix.lower() in TEXT_FILES:
            check_writable(path)
        else:
            check_picture(path)
    return paths or []


def draw_alignment(path: Path, first: Graph, second: Graph, solution: PairSolution, title: str) -> None:
    """Draw two aligned graphs to a file."""
    from rwk.report import plot_alignment

    save_picture(plot_alignment(first, second, solution, title=title).figure, path)


def _single(source: DataSource, command: str) -> GraphSet:
    """The graph that a user means by a path or a SMILES string."""
    from rwk.convert import as_graphs
    from rwk.graphs import GraphError

    graphs = load_graphs(source) if is_there(source.data) else as_graphs([source.data])
    if len(graphs) != 1:
        raise GraphError(f"{source.data} holds {len(graphs)} graphs; say which two: rwk {command} {source.data} 0 1")
    return graphs


def _number(given: str, graphs: GraphSet) -> int:
    """The number of a graph that a user means by its name or number."""
    from rwk.graphs import GraphError

    last = len(graphs) - 1
    named = [i for i, name in enumerate(graphs.names or ()) if name == given]
    if len(named) > 1:
        raise GraphError(f"{len(named)} graphs are called {given!r}; give a number, such as {named[0]} or {named[1]}")
    if named:
        return named[0]
    if not given.lstrip("-").isdigit():
        raise GraphError(f"{given!r} is not the name or number of a graph; {graphs.name} has graphs 0 to {last}")
    return int(given)
