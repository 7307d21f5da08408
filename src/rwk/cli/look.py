"""Commands to look at things: a report, an explanation, the explorer, and what is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.options import with_parameters
from rwk.cli.screen import Data, console, errors, figures_of, load_graphs
from rwk.parameters import Parameters

Graphs = Annotated[str | None, typer.Option("--data", help="The run's graphs, where their name does not find them.")]


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or a matrix that `rwk gram` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .html or .md.")] = Path("report.html"),
    data: Graphs = None,
) -> None:
    """Write a run's report: one HTML file that needs nothing else, or Markdown."""
    from rwk.report.writing import write_report

    written = write_report(run, output, graphs=None if data is None else load_graphs(data))
    console.print(f"report: {written[0]}", highlight=False, soft_wrap=True)


@with_parameters
def explain(
    data: Data,
    i: Annotated[int, typer.Argument(help="Number of the graph, from 0.")],
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write.")] = Path("explanation.png"),
    C: Annotated[
        float, typer.Option("--C", help="Cost of the classifier, which is fitted on all other graphs.")
    ] = 10.0,
    supports: Annotated[int, typer.Option(help="Graphs to show of either side.", min=1)] = 5,
) -> None:
    """Explain a graph's predicted class: the graphs that pulled it there, and the nodes they agree on."""
    from rwk.report.writing import explain_graph

    graphs = load_graphs(data)
    found = explain_graph(graphs, i, parameters, output=output, C=C, n_supports=supports)
    assert graphs.targets is not None  # explain_graph asks for them
    truth = graphs.targets[i]
    console.print(
        figures_of(
            f"{graphs.name}: graph {i}",
            {
                "predicted": f"{found.predicted} (over {found.rival}; true class {truth})",
                "margin": f"{found.margin:.3f}",
                "towards it": ", ".join(f"graph {s.index} ({s.pull:+.2f})" for s in found.towards()),
                "away from it": ", ".join(f"graph {s.index} ({s.pull:+.2f})" for s in found.away()),
                "nodes that matter most": ", ".join(map(str, found.top_nodes(6))),
            },
        )
    )
    console.print(f"picture: {output}", highlight=False, soft_wrap=True)


@with_parameters
def explore(
    data: Data,
    parameters: Parameters,
    port: Annotated[int, typer.Option(help="Port on this machine.", min=1, max=65535)] = 8050,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    gram: Annotated[Path | None, typer.Option(help="A matrix that `rwk gram` wrote, not to compute it again.")] = None,
) -> None:
    """Open a page on this machine to look at a set: its map, any two graphs, sliders, your own graph."""
    from rwk.explore import serve
    from rwk.report.run_data import ReportError, read_run

    graphs = load_graphs(data)
    discrepancy = None if gram is None else read_run(gram).discrepancy
    if discrepancy is not None and len(discrepancy) != len(graphs):
        raise ReportError(f"{gram} is of {len(discrepancy)} graphs, but {graphs.name} has {len(graphs)}; give its own")
    errors.print(f"{graphs.name}: {len(graphs)} graphs; the map is being made", highlight=False)
    serve(graphs, parameters, port=port, browser=browser, discrepancy=discrepancy, say=_say)


def doctor() -> None:
    """Print versions, threads, GPU, caches, what is installed and what each extra would add."""
    from rwk.cli.doctor import doctor as look

    findings = look()
    console.print(figures_of("rwk on this machine", {finding.what: finding.found for finding in findings}))
    for finding in findings:
        if finding.advice:
            console.print(f"{finding.what}: {finding.advice}", highlight=False, markup=False, soft_wrap=True)


COMMANDS = (report, explain, explore, doctor)


def _say(text: str) -> None:
    console.print(text, highlight=False, soft_wrap=True)
