"""The application: its commands, and what a mistake looks like."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from rwk import __version__
from rwk.cli.align_command import align, draw_alignment
from rwk.cli.baselines_command import baselines
from rwk.cli.bench_command import bench
from rwk.cli.doctor_command import doctor
from rwk.cli.explain_command import explain
from rwk.cli.explore_command import explore
from rwk.cli.gram_command import gram
from rwk.cli.options import with_parameters
from rwk.cli.query_command import query
from rwk.cli.report_command import report
from rwk.cli.reproduce_command import classify_baselines, reproduce, variant_of
from rwk.cli.screen import (
    Data,
    console,
    errors,
    figures_of,
    load_graphs,
    note,
    save_picture,
    say,
    say_cost,
    show_log,
)
from rwk.parameters import Parameters
from rwk.runtime.progress import progress_bar

app = typer.Typer(
    help="Regularized Wasserstein graph kernels: how alike two graphs are, and which node goes to which.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GridName = Annotated[str, typer.Option("--grid", help="Settings to choose from: quick, small, paper or full.")]
Repeats = Annotated[int, typer.Option(help="Repeats of the outer cross-validation.", min=1)]
Splits = Annotated[int, typer.Option(help="Outer folds.", min=2)]


def main() -> None:
    """Run a command; a user's mistake gives one sentence and exit code 2."""
    try:
        app()
    except KeyboardInterrupt:
        note("stopped; run the same command again to go on")
        sys.exit(130)
    except (ValueError, OSError, RuntimeError, IndexError, ImportError) as error:
        if os.environ.get("RWK_DEBUG"):
            raise
        errors.print(f"rwk: {error}", style="red", soft_wrap=True, markup=False)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    show_log()
    if version:
        say(f"rwk {__version__}")
        raise typer.Exit


@app.command()
def info(
    data: Annotated[
        list[str] | None, typer.Argument(help="Names or paths; if none is given, all known names are printed.")
    ] = None,
) -> None:
    """Print a dataset's statistics, or the names of the known datasets."""
    from rwk.datasets import dataset_statistics, list_datasets

    if not data:
        say("\n".join(list_datasets()))
        return
    for name in data:
        row = dataset_statistics(load_graphs(name)).row()
        console.print(figures_of(row["name"], row))


@app.command()
@with_parameters
def classify(
    data: Data,
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")] = Path("out/classify"),
    method: Annotated[str, typer.Option(help="rwk, a variant (RWK-1, NoRegs ...), a baseline's name, or all.")] = "rwk",
    grid: GridName = "quick",
    repeats: Repeats = 3,
    splits: Splits = 10,
    budget: Annotated[float | None, typer.Option(help="Seconds a baseline is given.")] = None,
) -> None:
    """Nested cross-validation: an accuracy that was not chosen on its own test folds."""
    graphs = load_graphs(data)
    changes = variant_of(method)
    if changes is not None:
        parameters = replace(parameters, **changes).checked()
        _classify(graphs, parameters, output, grid=grid, repeats=repeats, splits=splits)
    if changes is None or method.lower() == "all":
        classify_baselines(graphs, method, parameters, output, repeats=repeats, splits=splits, budget=budget)


@app.command()
@with_parameters
def demo(
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for pictures and records.")] = Path("out"),
    repeats: Repeats = 10,
) -> None:
    """The main job on MUTAG: Gram matrix, nested cross-validation, a heat map and an alignment."""
    import numpy as np

    graphs = load_graphs("MUTAG")
    run = _classify(graphs, parameters, output / "demo", grid="quick", repeats=repeats, splits=10)
    matrix = next(iter(run.matrices.values()))
    _draw_kernel(output / "kernel.png", np.exp(-parameters.eta * matrix), graphs.targets)
    from rwk.kernel import RWKernel

    # the first graph and its nearest other graph
    nearest = int(np.argmin(np.where(np.arange(len(graphs)) == 0, np.inf, matrix[0])))
    solution = RWKernel(**parameters.asdict()).fit(graphs).align(graphs[0], graphs[nearest])
    title = f"MUTAG: graph 0 and its nearest, graph {nearest}"
    draw_alignment(output / "alignment.png", graphs[0], graphs[nearest], solution, title)


for command in (align, gram, query, explain, report, explore, reproduce, bench, doctor):
    app.command()(command)
app.add_typer(baselines, name="baselines")


def _classify(graphs: Any, parameters: Parameters, output: Path, *, grid: str, repeats: int, splits: int) -> Any:
    from rwk.experiment import make_folds
    from rwk.experiment.runs import classify as run_classify
    from rwk.graphs import GraphError
    from rwk.learn.grids import SETTINGS, search_grid
    from rwk.runtime.files import check_writable

    if grid not in SETTINGS:
        raise ValueError(f"there is no grid {grid!r}; the grids are {', '.join(SETTINGS)}")
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels, so there is nothing to classify")
    check_writable(output / "run.json")
    settings = {name: replace(parameters, **changes).checked() for name, changes in SETTINGS[grid].items()}
    folds = make_folds(graphs.targets, n_splits=splits, n_repeats=repeats)
    say_cost(graphs, next(iter(settings.values())), n_matrices=len(settings))
    run = run_classify(graphs, settings, output, folds=folds, grid=search_grid(grid), bar=progress_bar)
    console.print(figures_of(f"nested cross-validation, {repeats} x {splits} folds", run.row()))
    say(f"record: {output / 'run.json'}")
    return run


def _draw_kernel(path: Path, kernel: Any, targets: Any) -> None:
    from rwk.report import new_figure, plot_kernel

    figure = new_figure(7, 6)
    plot_kernel(kernel, targets, ax=figure.add_subplot())
    save_picture(figure, path)
