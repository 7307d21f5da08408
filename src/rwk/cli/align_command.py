"""`rwk align`: two graphs, which node goes to which, and what that costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer
from rich.table import Table

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import DataSource, console, figures_of, known_names, load_graphs, save_picture, say
from rwk.parameters import Parameters
from rwk.runtime.files import user_path

if TYPE_CHECKING:
    from rwk.graphs import Graph, GraphSet
    from rwk.report.matching_table import MatchedPair
    from rwk.transport.problem import PairSolution

TEXT_FILES: Final = (".csv", ".json")


class AlignedPair(NamedTuple):
    """Two graphs and their alignment."""

    first: Graph
    second: Graph
    solution: PairSolution
    title: str


@with_parameters
@with_columns
def align(
    data: Annotated[
        str,
        typer.Argument(metavar="A", help="A file or SMILES; or a dataset, before I and J.", autocompletion=known_names),
    ],
    second: Annotated[
        str, typer.Argument(metavar="B", help="A file or SMILES; or I, the name or number (from 0) of a graph.")
    ],
    parameters: Parameters,
    third: Annotated[
        str | None, typer.Argument(metavar="J", help="Name or number of the second graph of a dataset.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="File to write: .csv, .json, .png, .svg or .pdf; may be repeated."
        ),
    ] = None,
    starts: Annotated[
        int, typer.Option("--starts", help="How many couplings to start from; the best solution is kept.")
    ] = 1,
) -> None:
    """Align two files (rwk align A B), two SMILES, or two graphs of a set (rwk align DATA I J); print the matching."""
    from rwk.report.matching_table import matching_rows
    from rwk.runtime.words import counted

    outputs = output or []
    for path in outputs:
        _check_output(path)
    source = data if isinstance(data, DataSource) else DataSource(data)
    pair = (
        _two_graphs(source, second, parameters, starts)
        if third is None
        else _two_members(source, second, third, parameters, starts)
    )
    solution = pair.solution
    terms = {**solution.terms, "value": solution.value}
    console.print(figures_of(pair.title, {name: f"{term:.6f}" for name, term in terms.items()}))
    state = "converged" if solution.converged else "not converged"
    say(f"{counted(solution.n_iter, 'iteration')}, gap {solution.gap:.2g}, {state}")
    rows = matching_rows(pair.first, pair.second, solution)
    console.print(_table(rows))
    if any(row.arbitrary for row in rows):
        say("* the coupling can't tell this node from others, so the pair is arbitrary; --starts 10 may decide it")
    for path in outputs:
        _write(path, pair, rows)


def draw_alignment(path: Path, first: Graph, second: Graph, solution: PairSolution, title: str) -> None:
    """Draw two aligned graphs to a file."""
    from rwk.report import plot_alignment

    save_picture(plot_alignment(first, second, solution, title=title).figure, path)


def _two_members(source: DataSource, i: str, j: str, parameters: Parameters, starts: int) -> AlignedPair:
    """Two graphs of a set; the whole set gives the scale of the costs."""
    from rwk.kernel import RWKernel

    graphs = load_graphs(source)
    numbers = [_number(one, graphs) for one in (i, j)]
    first, second = (graphs[number] for number in numbers)
    solution = RWKernel(**parameters.asdict()).fit(graphs).align(first, second, n_starts=starts)
    title = " and ".join(graphs.title(number) for number in numbers)
    return AlignedPair(first, second, solution, f"{graphs.name}: {title}")


def _two_graphs(source: DataSource, second: str, parameters: Parameters, starts: int) -> AlignedPair:
    """Two files or SMILES, each with one graph."""
    from rwk.convert.label_coding import in_form_of
    from rwk.discrepancy import align as align_two

    one = _single(source)
    other = in_form_of(_single(DataSource(second, *source[1:])), one)
    solution = align_two(one, other, n_starts=starts, **parameters.asdict())
    return AlignedPair(one[0], other[0], solution, f"{source.data} and {second}")


def _single(source: DataSource) -> GraphSet:
    """The graph that a user means by a path or a SMILES string."""
    from rwk.convert import as_graphs
    from rwk.graphs import GraphError

    path = user_path(source.data)
    graphs = load_graphs(source) if path.exists() else as_graphs([source.data])
    if len(graphs) != 1:
        raise GraphError(f"{source.data} holds {len(graphs)} graphs; say which two: rwk align {source.data} 0 1")
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


def _table(rows: list[MatchedPair]) -> Table:
    """The matching for the terminal."""
    labels = any(row.source_label or row.target_label for row in rows)
    table = Table("node", *["label"] * labels, "goes to", *["label"] * labels, "share of its mass")
    for row in rows:
        cells = [row.source_name, row.source_label, row.target_name, row.target_label]
        share = f"{row.share:.0%}{' *' if row.arbitrary else ''}"
        table.add_row(*(cells if labels else cells[::2]), share)
    return table


def _check_output(path: Path) -> None:
    """Raise before any work if a file can't be written."""
    from rwk.report.palette import check_picture
    from rwk.runtime.files import check_writable

    if path.suffix.lower() in TEXT_FILES:
        check_writable(path)
    else:
        check_picture(path)


def _write(path: Path, pair: AlignedPair, rows: list[MatchedPair]) -> None:
    from rwk.report.matching_table import write_matching_csv, write_matching_json

    if path.suffix.lower() == ".csv":
        say(f"matching: {write_matching_csv(path, rows)}")
    elif path.suffix.lower() == ".json":
        say(f"matching: {write_matching_json(path, rows, pair.solution)}")
    else:
        draw_alignment(path, pair.first, pair.second, pair.solution, pair.title)
