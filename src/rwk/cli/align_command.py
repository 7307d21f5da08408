"""`rwk align`: two graphs of a set, which node goes to which, and what that costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rwk.cli.options import with_parameters
from rwk.cli.screen import Data, console, figures_of, load_graphs, save_picture, say
from rwk.parameters import Parameters

if TYPE_CHECKING:
    from rwk.graphs import Graph
    from rwk.transport.problem import PairSolution


@with_parameters
def align(
    data: Data,
    i: Annotated[int, typer.Argument(help="Number of the first graph, from 0.")],
    j: Annotated[int, typer.Argument(help="Number of the second graph, from 0.")],
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("alignment.png"),
    starts: Annotated[
        int, typer.Option("--starts", help="How many couplings to start from; the best solution is kept.")
    ] = 1,
) -> None:
    """Align two graphs of a set, print the terms of their discrepancy and draw the alignment."""
    from rwk.kernel import RWKernel
    from rwk.report.palette import check_picture
    from rwk.runtime.words import counted

    check_picture(output)
    graphs = load_graphs(data)
    first, second = graphs[i], graphs[j]
    solution = RWKernel(**parameters.asdict()).fit(graphs).align(first, second, n_starts=starts)
    terms = {**solution.terms, "value": solution.value}
    title = f"{graphs.name}: graph {i} and graph {j}"
    console.print(figures_of(title, {name: f"{term:.6f}" for name, term in terms.items()}))
    state = "converged" if solution.converged else "not converged"
    say(f"{counted(solution.n_iter, 'iteration')}, gap {solution.gap:.2g}, {state}")
    draw_alignment(output, first, second, solution, title)


def draw_alignment(path: Path, first: Graph, second: Graph, solution: PairSolution, title: str) -> None:
    """Draw two aligned graphs to a file."""
    from rwk.report import plot_alignment

    save_picture(plot_alignment(first, second, solution, title=title).figure, path)
