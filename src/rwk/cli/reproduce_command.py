"""`rwk reproduce`: the paper's tables, run again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.screen import note, say
from rwk.runtime.progress import progress_bar


def reproduce(
    what: Annotated[str, typer.Argument(help="discrete, continuous, ablation, hops, trials, runtime or tables.")],
    datasets: Annotated[
        str, typer.Option(help="Names or paths, with commas between; all of the table's if none.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Variants and baselines (of trials: changes), with commas between, or all.")
    ] = "",
    repeats: Annotated[int | None, typer.Option(help="Repeats; 10, for ablation, trials and runtime 3.", min=1)] = None,
    first_seed: Annotated[int, typer.Option(help="Seed of the first repeat.", min=0)] = 0,
    splits: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 10,
    folder: Annotated[Path, typer.Option(help="Folder of records and folds.")] = Path("results"),
    page: Annotated[Path, typer.Option(help="What `tables` writes.")] = Path("docs/results.md"),
    matrices: Annotated[Path | None, typer.Option(help="Folder to keep discrepancy matrices in.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of datasets.")] = None,
    grid: Annotated[str | None, typer.Option(help="Another grid of settings than the table's.")] = None,
    backend: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    n_jobs: Annotated[
        int | None, typer.Option("--n-jobs", "--jobs", help="Threads, and folds at a time; -1 or none: all cores.")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds a baseline is given on a dataset.")] = None,
    solve_only: Annotated[bool, typer.Option("--solve-only", help="Fill --matrices and stop there.")] = False,
) -> None:
    """Run what is missing of a table of the paper, and print it with our figures and the paper's.

    Every fold is a line under results/; a stopped run goes on where it was. `tables` writes docs/results.md from
    these lines alone.
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
        bar=progress_bar,
    )

    table = run(what, options, datasets=listed(datasets), methods=listed(methods))
    say(table)
    if what == "tables":
        draw(options.folder, options.page.parent, note)


def listed(names: str) -> list[str]:
    """Names written with commas between.

    >>> listed("MUTAG, DD")
    ['MUTAG', 'DD']
    """
    return [name.strip() for name in names.split(",") if name.strip()]


def draw(folder: Path, place: Path, say: Callable[[str], None]) -> None:
    """The pictures that the page of results shows, beside it; a sentence where matplotlib is missing."""
    try:
        from rwk.report.result_pictures import draw_results

        for picture in draw_results(folder, place):
            say(f"{picture} drawn")
    except ImportError as reason:
        say(f"the pictures are not drawn: {reason}")
