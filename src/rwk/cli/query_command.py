"""`rwk query`: the graphs of a set most like one graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from rwk.cli.options import with_columns, with_defaults
from rwk.cli.screen import Data, console, load_graphs, say
from rwk.parameters import Parameters
from rwk.runtime.files import is_there

if TYPE_CHECKING:
    from rwk.graphs import GraphSet
    from rwk.retrieval.neighbours import Neighbours


@with_defaults(debias=True)
@with_columns
def query(
    data: Data,
    graph: Annotated[str, typer.Argument(help="Number of a graph of the set (from 0), a file, or a SMILES string.")],
    parameters: Parameters,
    k: Annotated[int, typer.Option("-k", help="How many graphs to find.", min=1)] = 10,
) -> None:
    """Find the graphs of a set most like one graph, without solving every pair; values are debiased.

    If the graph is given by its number, it is left out of the answer.
    """
    from rwk.retrieval.neighbours import nearest

    graphs = load_graphs(data)
    own = int(graph) if graph.isdigit() else None
    chosen = _query_graph(graphs, graph)
    k = min(k, len(graphs) - (own is not None))
    found = nearest(chosen, graphs, k=k, leave_out=own, **parameters.asdict())
    table = Table("rank", "graph", "nodes", "class", "discrepancy", title=f"{graphs.name}: most like {graph}")
    for rank, (number, value) in enumerate(zip(found.indices, found.values, strict=True), start=1):
        target = "" if graphs.targets is None else str(graphs.targets[number])
        name = str(number) if graphs.names is None else graphs.names[number]
        table.add_row(str(rank), name, str(graphs.sizes[number]), target, f"{value:.6g}")
    console.print(table)
    say(f"{found.n_solved:,} of {found.n_candidates:,} pairs solved; {_ruled_out(found)}")


def _ruled_out(found: Neighbours) -> str:
    """What became of the pairs that were not solved, in words."""
    left = found.n_candidates - found.n_solved
    return f"a lower bound ruled out the other {left:,}" if left else "the lower bound ruled out none"


def _query_graph(graphs: GraphSet, graph: str) -> GraphSet:
    """The graph that a user means by a number, a path or a SMILES string."""
    from rwk.convert import as_graphs
    from rwk.graphs import GraphError

    if graph.isdigit():
        if int(graph) >= len(graphs):
            raise GraphError(f"there is no graph {graph}: {graphs.name} has graphs 0 to {len(graphs) - 1}")
        return graphs[[int(graph)]]
    return load_graphs(graph) if is_there(graph) else as_graphs([graph])
