"""`rwk query`: the graphs of a set most like one graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import Data, console, load_graphs, say
from rwk.parameters import Parameters

if TYPE_CHECKING:
    from rwk.graphs import GraphSet


@with_parameters
@with_columns
def query(
    data: Data,
    graph: Annotated[str, typer.Argument(help="Number of a graph of the set (from 0), a file, or a SMILES string.")],
    parameters: Parameters,
    k: Annotated[int, typer.Option("-k", help="How many graphs to find.", min=1)] = 10,
) -> None:
    """Find the graphs of a set most like one graph, without solving every pair."""
    from rwk.retrieval.neighbours import nearest

    graphs = load_graphs(data)
    found = nearest(_query_graph(graphs, graph), graphs, k=k, **parameters.asdict())
    table = Table("rank", "graph", "nodes", "class", "discrepancy", title=f"{graphs.name}: most like {graph}")
    for rank, (number, value) in enumerate(zip(found.indices, found.values, strict=True), start=1):
        target = "" if graphs.targets is None else str(graphs.targets[number])
        table.add_row(str(rank), str(number), str(graphs.sizes[number]), target, f"{value:.6g}")
    console.print(table)
    say(f"{found.n_solved:,} of {found.n_candidates:,} pairs solved; the bound ruled out the others")


def _query_graph(graphs: GraphSet, graph: str) -> GraphSet:
    """The graph that a user means by a number, a path or a SMILES string."""
    from rwk.convert import as_graphs
    from rwk.graphs import GraphError

    if graph.isdigit():
        if int(graph) >= len(graphs):
            raise GraphError(f"there is no graph {graph}: {graphs.name} has graphs 0 to {len(graphs) - 1}")
        return graphs[[int(graph)]]
    return load_graphs(graph) if Path(graph).exists() else as_graphs([graph])
