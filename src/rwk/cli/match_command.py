"""`rwk match`: two graphs, and which node of one is which node of the other."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.table import Table

from rwk.cli.options import with_columns
from rwk.cli.screen import console, save_picture, say
from rwk.cli.two_graphs import First, Outputs, Second, Third, TwoGraphs, check_outputs, given_two

if TYPE_CHECKING:
    from rwk.matching.matched import Matching
    from rwk.report.matching_table import SurePair

MOST_LISTED: Final = 20  # nodes without a partner; files have them all


@with_columns
def match(
    data: First,
    second: Second,
    third: Third = None,
    output: Outputs = None,
    effort: Annotated[
        str | None, typer.Option(help="How long to look: quick, fast, normal (the default) or thorough.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Match the largest connected part that both graphs have in common.")
    ] = False,
    random_state: Annotated[int, typer.Option(help="Seed of everything drawn at random.")] = 0,
) -> None:
    """Match the nodes of two files (rwk match A B), two SMILES, or two graphs of a set (rwk match DATA I J).

    Every node of the smaller graph is matched, one to one. How alike the graphs are: rwk align.
    """
    from rwk.matching.common import common_part
    from rwk.matching.match import match as match_two
    from rwk.report.matching_table import sure_rows
    from rwk.runtime.parameter_checks import ParameterError

    if common and effort:
        raise ParameterError("--effort is for whole matchings, and --common has none; leave one of the two out")
    outputs = check_outputs(output)
    pair = given_two(data, second, third, "match")
    if common:
        found = common_part(pair.first, pair.second, random_state=random_state)
    else:
        found = match_two(pair.first, pair.second, effort=effort or "normal", random_state=random_state)
    rows = sure_rows(pair.first, pair.second, found)
    console.print(_table(pair.title, rows))
    if any(row.arbitrary for row in rows):
        say("* looks like another node of its graph, so which of them is which is arbitrary")
    for line in _summary(found):
        say(line)
    for path in outputs:
        _write(path, pair, found, rows)


def _table(title: str, rows: list[SurePair]) -> Table:
    labels = any(row.source_label or row.target_label for row in rows)
    names = ("node", *["label"] * labels, "is", *["label"] * labels, "confidence")
    table = Table(*names, title=title, title_justify="left")
    for row in rows:
        cells = [row.source_name, row.source_label, row.target_name, row.target_label]
        table.add_row(*(cells if labels else cells[::2]), f"{row.confidence:.0%}{' *' if row.arbitrary else ''}")
    return table


def _summary(found: Matching) -> list[str]:
    """What the matching preserves, and who is left without a partner."""
    sides = zip(("first", "second"), found.unmatched, strict=True)
    left = [f"without a partner in the {side} graph: {_listed(nodes)}" for side, nodes in sides if nodes]
    kept = f"{found.edges_preserved:.0%} of the edges between these nodes are edges of the second graph too"
    return [kept if len(found) else "the graphs have no node in common", *left]


def _listed(nodes: list[Hashable]) -> str:
    more = len(nodes) - MOST_LISTED
    return ", ".join(map(str, nodes[:MOST_LISTED])) + (f" and {more} more" if more > 0 else "")


def _write(path: Path, pair: TwoGraphs, found: Matching, rows: list[SurePair]) -> None:
    from rwk.report import plot_matching
    from rwk.report.matching_table import write_matching_csv, write_sure_json

    if path.suffix.lower() == ".csv":
        say(f"matching: {write_matching_csv(path, rows)}")
    elif path.suffix.lower() == ".json":
        say(f"matching: {write_sure_json(path, rows, found.unmatched, found.edges_preserved)}")
    else:
        save_picture(plot_matching(pair.first, pair.second, found, title=pair.title).figure, path)
