"""`rwk explain`: why a graph gets its class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import Data, console, figures_of, load_graphs, save_picture
from rwk.parameters import Parameters

if TYPE_CHECKING:
    from rwk.learn.explain import Support


@with_parameters
@with_columns
def explain(
    data: Data,
    i: Annotated[int, typer.Argument(help="Number of the graph, from 0.")],
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("explanation.png"),
    C: Annotated[float, typer.Option("--C", help="C of the SVM, which is fitted on all other graphs.")] = 10.0,
    supports: Annotated[int, typer.Option(help="How many graphs to show for each of the two classes.", min=1)] = 5,
) -> None:
    """Explain a graph's predicted class: the graphs that pulled it there, and the nodes they agree on."""
    from rwk.learn.explain import explain_left_out
    from rwk.report import plot_explanation
    from rwk.report.palette import check_picture

    check_picture(output)
    graphs = load_graphs(data)
    found = explain_left_out(graphs, i, parameters, C=C, n_supports=supports)
    assert graphs.targets is not None  # explain_left_out has raised without them
    figures = {
        "predicted": f"{found.predicted} (over {found.rival}; true class {graphs.targets[i]})",
        "margin": f"{found.margin:.3f}",
        "towards it": _pulls(found.towards()),
        "away from it": _pulls(found.away()),
        "nodes that matter most": ", ".join(map(str, found.top_nodes(6))),
    }
    console.print(figures_of(f"{graphs.name}: {graphs.title(i)}", figures))
    save_picture(plot_explanation(found)[0].figure, output)


def _pulls(supports: tuple[Support, ...]) -> str:
    return ", ".join(f"{support.title} ({support.pull:+.2f})" for support in supports)
