"""`rwk reproduce`, the paper's tables again, and `rwk classify` with any method."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rwk.cli.screen import console, errors, progress_bar


def reproduce(
    what: Annotated[str, typer.Argument(help="discrete, continuous, ablation, hops, runtime or tables.")],
    datasets: Annotated[
        str, typer.Option(help="Names or paths, with commas between; all of the table's if none.")
    ] = "",
    methods: Annotated[str, typer.Option(help="Variants and baselines, with commas between.")] = "",
    repeats: Annotated[int | None, typer.Option(help="Repeats; 10, for ablation and runtime 3.", min=1)] = None,
    first_seed: Annotated[int, typer.Option(help="Seed of the first repeat.", min=0)] = 0,
    splits: Annotated[int, typer.Option(help="Outer folds.", min=2)] = 10,
    folder: Annotated[Path, typer.Option(help="Folder of records and folds.")] = Path("results"),
    page: Annotated[Path, typer.Option(help="What `tables` writes.")] = Path("docs/results.md"),
    matrices: Annotated[Path | None, typer.Option(help="Folder to keep discrepancy matrices in.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of datasets.")] = None,
    grid: Annotated[str | None, typer.Option(help="Another grid of settings than the table's.")] = None,
    backend: Annotated[str, typer.Option(help="auto, cpu or gpu.")] = "auto",
    jobs: Annotated[int | None, typer.Option(help="Folds at a time; all cores if not given.", min=1)] = None,
    solve_only: Annotated[bool, typer.Option("--solve-only", help="Fill --matrices and stop there.")] = False,
) -> None:
    """Run what is missing of a table of the paper, and print it with our figures and the paper's.

    Every fold is a line under results/; a stopped run goes on where it was. `tables` writes docs/results.md from
    these lines alone.
    """
    from rwk.reproduce import Options, listed
    from rwk.reproduce import reproduce as run

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
        jobs=jobs,
        solve_only=solve_only,
    )

    def say(line: str) -> None:
        errors.print(line, soft_wrap=True, markup=False)

    table = run(what, options, datasets=listed(datasets), methods=listed(methods), say=say, bar=progress_bar)
    console.print(table, highlight=False, soft_wrap=True, markup=False)


def variant_of(method: str) -> dict[str, Any] | None:
    """What a variant of RWK changes ("rwk", "all": nothing); None for a baseline."""
    if method.lower() in ("rwk", "all"):
        return {}
    from rwk.methods import METHODS, known_method

    changes = METHODS.get(known_method(method))
    return None if changes is None else dict(changes)


def classify_baselines(
    graphs: Any, method: str, output: Path, *, repeats: int, splits: int, n_jobs: int | None = None
) -> None:
    """Score one baseline or all on the folds that RWK meets, into the same records; print all of them together."""
    import os

    from rwk.experiment import make_folds, markdown_table, read_records
    from rwk.files import check_writable
    from rwk.graphs import GraphError
    from rwk.methods import baseline_names, known_method, score_baseline

    records = check_writable(output / "records.jsonl")
    folds = make_folds(graphs.targets, n_splits=splits, n_repeats=repeats)
    everything = method.lower() == "all"
    for name in baseline_names() if everything else [known_method(method)]:
        try:
            score_baseline(
                graphs, name, folds=folds, records=records, n_jobs=n_jobs or os.cpu_count() or 1, progress=True
            )
        except (GraphError, ImportError) as reason:
            if not everything:
                raise
            errors.print(f"{name} is left out: {reason}", soft_wrap=True, markup=False)
    table = markdown_table(score for score in read_records(records) if score.dataset == graphs.name)
    console.print(table, highlight=False, soft_wrap=True, markup=False)
