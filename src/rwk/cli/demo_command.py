"""`rwk demo`: the main job on MUTAG, with two pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rwk.cli.classify_command import Repeats, folds_kept, options_of, run_and_show
from rwk.cli.options import with_parameters
from rwk.cli.screen import load_graphs, said_if_stopped, save_picture
from rwk.cli.two_graphs import draw_alignment
from rwk.parameters import Parameters


@with_parameters
def demo(
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for pictures and records.")] = Path("out"),
    repeats: Repeats = 10,
) -> None:
    """The main job on MUTAG: Gram matrix, nested cross-validation, a heat map and an alignment."""
    import numpy as np

    from rwk.experiment import make_folds
    from rwk.experiment.methods import rwk_of_user
    from rwk.kernel import RWKernel
    from rwk.report.palette import check_picture

    for name in ("kernel.png", "alignment.png"):
        check_picture(output / name)
    graphs = load_graphs("MUTAG")
    folds = make_folds(np.asarray(graphs.targets), n_repeats=repeats)
    method = rwk_of_user("RWK", "quick", parameters)
    with said_if_stopped(lambda: folds_kept(output / "demo")):
        run = run_and_show(graphs, method, output / "demo", folds, options_of(parameters))
    matrix = next(iter(run.matrices.values()))
    _draw_kernel(output / "kernel.png", np.exp(-parameters.eta * matrix), graphs.targets)
    # the first graph and its nearest other graph
    nearest = int(np.argmin(np.where(np.arange(len(graphs)) == 0, np.inf, matrix[0])))
    solution = RWKernel(**parameters.asdict()).fit(graphs).align(graphs[0], graphs[nearest])
    title = f"MUTAG: graph 0 and its nearest, graph {nearest}"
    draw_alignment(output / "alignment.png", graphs[0], graphs[nearest], solution, title)


def _draw_kernel(path: Path, kernel: Any, targets: Any) -> None:
    from rwk.report import new_figure, plot_kernel

    figure = new_figure(7, 6)
    plot_kernel(kernel, targets, ax=figure.add_subplot())
    save_picture(figure, path)
