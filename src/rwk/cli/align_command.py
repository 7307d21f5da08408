"""`rwk align`: two graphs, how alike they are, what that is made of, and where the mass of each node goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import console, figures_of, say
from rwk.cli.two_graphs import First, Outputs, Second, Third, TwoGraphs, check_outputs, draw_alignment, given_two
from rwk.parameters import Parameters

if TYPE_CHECKING:
    from rwk.report.matching_table import MatchedPair
    from rwk.transport.problem import PairSolution


@with_parameters
@with_columns
def align(
    data: First,
    second: Second,
    parameters: Parameters,
    third: Third = None,
    output: Outputs = None,
    starts: Annotated[
        int, typer.Option("--starts", help="How many couplings to start from; the best solution is kept.")
    ] = 1,
) -> None:
    """Align two files (rwk align A B), two SMILES, or two graphs of a set (rwk align DATA I J); print where mass goes.

    One node to one node: rwk match.
    """
    from rwk.report.matching_table import matching_rows
    from rwk.runtime.words import counted

    outputs = check_outputs(output)
    pair = given_two(data, second, third, "align")
    solution = _solved(pair, parameters, starts)
    terms = {**solution.terms, "value": solution.value}
    console.print(figures_of(pair.title, {name: f"{term:.6f}" for name, term in terms.items()}))
    state = "converged" if solution.converged else "not converged"
    say(f"{counted(solution.n_iter, 'iteration')}, gap {solution.gap:.2g}, {state}")
    rows = matching_rows(pair.first, pair.second, solution)
    console.print(_table(rows))
    if any(row.arbitrary for row in rows):
        say("* the coupling can't tell this node from others, so the pair is arbitrary; --starts 10 may decide it")
    for path in outputs:
        _write(path, pair, solution, rows)


def _solved(pair: TwoGraphs, parameters: Parameters, starts: int) -> PairSolution:
    """The alignment; of members of a set, the whole set gives the scale of the costs."""
    from rwk.discrepancy import align as align_two
    from rwk.kernel import RWKernel

    if pair.members_of is None:
        return align_two(pair.first, pair.second, n_starts=starts, **parameters.asdict())
    kernel = RWKernel(**parameters.asdict()).fit(pair.members_of)
    return kernel.align(pair.first, pair.second, n_starts=starts)


def _table(rows: list[MatchedPair]) -> Table:
    """The matching for the terminal."""
    labels = any(row.source_label or row.target_label for row in rows)
    table = Table("node", *["label"] * labels, "goes to", *["label"] * labels, "share of its mass")
    for row in rows:
        cells = [row.source_name, row.source_label, row.target_name, row.target_label]
        share = f"{row.share:.0%}{' *' if row.arbitrary else ''}"
        table.add_row(*(cells if labels else cells[::2]), share)
    return table


def _write(path: Path, pair: TwoGraphs, solution: PairSolution, rows: list[MatchedPair]) -> None:
    from rwk.report.matching_table import write_matching_csv, write_matching_json

    if path.suffix.lower() == ".csv":
        say(f"matching: {write_matching_csv(path, rows)}")
    elif path.suffix.lower() == ".json":
        say(f"matching: {write_matching_json(path, rows, solution)}")
    else:
        draw_alignment(path, pair.first, pair.second, solution, pair.title)
