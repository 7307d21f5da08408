"""`rwk explain`: why a graph gets its class or its value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import Data, console, figures_of, load_graphs, save_picture
from rwk.parameters import Parameters

if TYPE_CHECKING:
    from rwk.learn.explain import Explanation, Support
    from rwk.learn.explain_value import ValueExplanation


@with_parameters
@with_columns
def explain(
    data: Data,
    i: Annotated[int, typer.Argument(help="Number of the graph, from 0.")],
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("explanation.png"),
    C: Annotated[float, typer.Option("--C", help="C of the SVM that predicts classes.")] = 10.0,
    supports: Annotated[int, typer.Option(help="How many graphs to show for each direction.", min=1)] = 5,
) -> None:
    """Explain a graph's predicted class or value: the graphs that pulled it there, and the nodes that matter."""
    from rwk.datasets.forms import GraphForms
    from rwk.learn.explain import explain_left_out
    from rwk.learn.explain_value import explain_value_left_out
    from rwk.report import plot_explanation
    from rwk.report.palette import check_picture, is_continuous

    check_picture(output)
    graphs = load_graphs(data)
    # molecules in space are explained by their bonds, the first form
    graphs = next(iter(GraphForms.learned(graphs).of(graphs).values()))
    found: Explanation | ValueExplanation
    if graphs.targets is not None and is_continuous(graphs.targets):
        found = explain_value_left_out(graphs, i, parameters, n_supports=supports)
        figures = _of_value(found, float(graphs.targets[i]))
    else:
        found = explain_left_out(graphs, i, parameters, C=C, n_supports=supports)
        assert graphs.targets is not None  # explain_left_out has raised without them
        figures = _of_class(found, graphs.targets[i])
    console.print(figures_of(f"{graphs.name}: {graphs.title(i)}", figures))
    save_picture(plot_explanation(found)[0].figure, output)


def _of_class(found: Explanation, true: object) -> dict[str, str]:
    return {
        "predicted": f"{found.predicted} (over {found.rival}; true class {true})",
        "margin": f"{found.margin:.3f}",
        "towards it": _pulls(found.towards()),
        "away from it": _pulls(found.away()),
        "nodes that matter most": ", ".join(map(str, found.top_nodes(6))),
    }


def _of_value(found: ValueExplanation, true: float) -> dict[str, str]:
    nodes = (f"{node} ({found.contributions[node]:+.3g})" for node in found.top_nodes(6))
    return {
        "predicted": f"{found.predicted:.4g} ± {found.std:.2g} (measured {true:.4g})",
        "pull it up": _pulls(found.upwards()),
        "pull it down": _pulls(found.downwards()),
        "nodes that matter most, and what they add": ", ".join(nodes),
    }


def _pulls(supports: tuple[Support, ...]) -> str:
    return ", ".join(f"{support.title} ({support.pull:+.2f})" for support in supports)
