"""`rwk reproduce`, the paper's tables again, and `rwk classify` with any method."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rwk.cli.screen import console, errors
from rwk.parameters import Parameters
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
    jobs: Annotated[int | None, typer.Option(help="Folds at a time; all cores if not given.", min=1)] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds a baseline is given on a dataset.")] = None,
    solve_only: Annotated[bool, typer.Option("--solve-only", help="Fill --matrices and stop there.")] = False,
) -> None:
    """Run what is missing of a table of the paper, and print it with our figures and the paper's.

    Every fold is a line under results/; a stopped run goes on where it was. `tables` writes docs/results.md from
    these lines alone.
    """
    from rwk.experiment.reproduce import Options, listed
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
        jobs=jobs,
        solve_only=solve_only,
        budget=budget,
    )

    def say(line: str) -> None:
        errors.print(line, soft_wrap=True, markup=False)

    table = run(what, options, datasets=listed(datasets), methods=listed(methods), say=say, bar=progress_bar)
    console.print(table, highlight=False, soft_wrap=True, markup=False)
    if what == "tables":
        draw(options.folder, options.page.parent, say)


def draw(folder: Path, place: Path, say: Callable[[str], None]) -> None:
    """The pictures that the page of results shows, beside it; a sentence where matplotlib is missing."""
    try:
        from rwk.report.result_pictures import draw_results

        for picture in draw_results(folder, place):
            say(f"{picture} drawn")
    except ImportError as reason:
        say(f"the pictures are not drawn: {reason}")


def variant_of(method: str) -> dict[str, Any] | None:
    """What a variant of RWK changes ("rwk", "all": nothing); None for a baseline."""
    if method.lower() in ("rwk", "all"):
        return {}
    from rwk.experiment.methods import METHODS, known_method

    changes = METHODS.get(known_method(method))
    return None if changes is None else dict(changes)


def classify_baselines(
    graphs: Any,
    method: str,
    parameters: Parameters,
    output: Path,
    *,
    repeats: int,
    splits: int,
    budget: float | None,
) -> None:
    """Score one baseline or all on the folds that RWK meets, into the same records; print all of them together.

    Of RWK's parameters, a baseline takes the backend and the number of threads.
    """
    import os

    from rwk.experiment import make_folds, markdown_table, read_records
    from rwk.experiment.comparisons import differences
    from rwk.experiment.methods import known_method
    from rwk.experiment.notes import NOTES, read_notes
    from rwk.experiment.rivals import RunPlace, baseline_names, score_baseline, score_or_note
    from rwk.experiment.tables import experiments
    from rwk.runtime.files import check_writable

    records, n_jobs = check_writable(output / "records.jsonl"), parameters.n_jobs or os.cpu_count() or 1
    place = RunPlace(records, n_jobs, parameters.backend, progress=True)
    folds = make_folds(graphs.targets, n_splits=splits, n_repeats=repeats)

    def say(line: str) -> None:
        errors.print(line, soft_wrap=True, markup=False)

    if method.lower() != "all" and budget is None:
        score_baseline({"": graphs}, known_method(method), folds, place)
    else:
        for name in baseline_names() if method.lower() == "all" else [known_method(method)]:
            score_or_note({"": graphs}, name, folds, place, budget=budget, say=say)
    scores = [score for score in read_records(output / "records.jsonl") if score.dataset == graphs.name]
    notes = {name: note for (data, name), note in read_notes(output / NOTES).items() if data == graphs.name}
    tables = [markdown_table(scores, highlight="rwk"), *(f"* {name}: {note.words}" for name, note in notes.items())]
    tables.append(differences(experiments(scores), reference="rwk"))
    console.print("\n\n".join(part for part in tables if part), highlight=False, soft_wrap=True, markup=False)
