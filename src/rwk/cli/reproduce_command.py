"""`rwk reproduce`: the paper's tables, run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.classify_command import PublishedGrids
from rwk.cli.options import Backend, Jobs
from rwk.cli.screen import note, say
from rwk.runtime.progress import progress_bar


def reproduce(
    what: Annotated[
        str, typer.Argument(help="discrete, continuous, ablation, hops, trials, runtime, regression or tables.")
    ],
    datasets: Annotated[
        str, typer.Option(help="Names or paths, separated by commas; by default all datasets of the table.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Variants and baselines (for trials: changes), separated by commas, or all.")
    ] = "",
    repeats: Annotated[
        int | None, typer.Option(help="Repeats; by default 10, and 3 for ablation, trials and runtime.", min=1)
    ] = None,
    first_seed: Annotated[int, typer.Option(help="Seed of the first repeat.", min=0)] = 0,
    splits: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 10,
    folder: Annotated[Path, typer.Option(help="Folder of records and folds.")] = Path("results"),
    page: Annotated[Path, typer.Option(help="The page that `tables` writes.")] = Path("docs/results.md"),
    matrices: Annotated[Path | None, typer.Option(help="Folder to keep discrepancy matrices in.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of datasets.")] = None,
    grid: Annotated[str | None, typer.Option(help="A grid of settings in place of the table's own.")] = None,
    backend: Backend = "auto",
    n_jobs: Jobs = None,
    budget: Annotated[float | None, typer.Option(help="Seconds that a baseline may take on a dataset.")] = None,
    published_grids: PublishedGrids = False,
    solve_only: Annotated[
        bool, typer.Option("--solve-only", help="Compute the matrices for --matrices, and stop.")
    ] = False,
) -> None:
    """Run what is missing of a table of the paper, and print our accuracies beside those of the paper.

    Every fold is a line of a file under results/, and a stopped run goes on where it stopped. `tables` writes
    docs/results.md from these files alone.
    """
    from rwk.experiment.reproduce import Options
    from rwk.experiment.reproduce import reproduce as run

    options = Options(
        folder=folder,
        matrices=matrices,
        data=data,
        page=page,
        repeats=repeats,
        first_seed=first_seed,
        splits=splits,
        grid=grid,
        backend=backend,
        n_jobs=n_jobs,
        solve_only=solve_only,
        budget=budget,
        fair=not published_grids,
        bar=progress_bar,
    )

    table = run(what, options, datasets=listed(datasets), methods=listed(methods))
    say(table)
    if what == "tables":
        draw(options.folder, options.page.parent, note)


def listed(names: str) -> list[str]:
    """Names separated by commas.

    >>> listed("MUTAG, DD")
    ['MUTAG', 'DD']
    """
    return [name.strip() for name in names.split(",") if name.strip()]


def draw(folder: Path, place: Path, say: Callable[[str], None]) -> None:
    """Draw the pictures of the results page beside it; without matplotlib, print why they are missing."""
    try:
        from rwk.report.result_pictures import draw_results

        for picture in draw_results(folder, place):
            say(f"{picture} drawn")
    except ImportError as reason:
        say(f"the pictures are not drawn: {reason}")
