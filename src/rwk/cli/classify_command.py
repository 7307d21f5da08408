"""`rwk classify`: nested cross-validation of RWK, a variant, a baseline, or all methods on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import Data, console, figures_of, load_graphs, note, note_complete, said_if_stopped, say, say_cost
from rwk.parameters import Parameters
from rwk.runtime.progress import progress_bar

if TYPE_CHECKING:
    from rwk.experiment.folds import Folds
    from rwk.experiment.methods import RwkMethod
    from rwk.experiment.run import RunOptions
    from rwk.experiment.run_folder import Run
    from rwk.graphs import GraphSet
    from rwk.transport.measures import GraphMeasures

GridName = Annotated[
    str,
    typer.Option(
        "--grid",
        help="Settings to choose from: auto (those of RWKClassifier(), or the parameters that you give), quick (the "
        "parameters alone), small, discrete, continuous, paper or full.",
    ),
]
FormsName = Annotated[
    str,
    typer.Option(
        "--forms", help="auto: complete graphs with labels and lengths are seen as bonds and as distances; or given."
    ),
]
PublishedGrids = Annotated[
    bool,
    typer.Option(
        "--published-grids", help="Baselines search the grids of their papers alone, not what RWK has as well."
    ),
]
Repeats = Annotated[int, typer.Option(help="Repeats of the outer cross-validation.", min=1)]
Splits = Annotated[int, typer.Option(help="Outer folds.", min=2)]


@with_parameters
@with_columns
def classify(
    data: Data,
    parameters: Parameters,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")] = Path("out/classify"),
    method: Annotated[str, typer.Option(help="rwk, a variant (RWK-1, NoRegs ...), a baseline's name, or all.")] = "rwk",
    grid: GridName = "auto",
    forms: FormsName = "auto",
    repeats: Repeats = 3,
    splits: Splits = 10,
    budget: Annotated[float | None, typer.Option(help="Seconds that each baseline may take.")] = None,
    published_grids: PublishedGrids = False,
) -> None:
    """Accuracy by nested cross-validation: tuning never sees the test fold."""
    import numpy as np

    from rwk.experiment import make_folds
    from rwk.experiment.baseline_runs import BaselineMethod, baseline_names
    from rwk.experiment.methods import RwkMethod, method_of_user
    from rwk.experiment.run import first_form
    from rwk.experiment.run_folder import add_baselines

    graphs = first_form({"": load_graphs(data)})
    seen = seen_forms(graphs, forms, parameters.structure)
    everything = method.lower() == "all"
    fair = not published_grids
    made = method_of_user("RWK" if everything else method, grid, parameters, graphs, fair=fair)
    folds = make_folds(np.asarray(graphs.targets), n_splits=splits, n_repeats=repeats)
    options = options_of(parameters)
    with said_if_stopped(lambda: folds_kept(output)):
        if isinstance(made, RwkMethod):
            run_and_show(graphs, made, output, folds, options, seen)
        if everything or not isinstance(made, RwkMethod):
            others = [BaselineMethod(name, fair) for name in (baseline_names() if everything else [made.name])]
            say(add_baselines(graphs, others, output, folds=folds, options=options, budget=budget, forms=seen))


def seen_forms(graphs: GraphSet, forms: str, structure: str) -> dict[str, GraphSet]:
    """The forms that methods see; says so if there are several, or if all graphs are complete and tell nothing."""
    from rwk.datasets.forms import FORMS, GraphForms
    from rwk.runtime.parameter_checks import check_choice

    check_choice("forms", forms, FORMS)
    seen = GraphForms.learned(graphs).of(graphs) if forms == "auto" else {"": graphs}
    if len(seen) > 1:
        note(f"complete graphs with lengths are seen as {' and as '.join(seen)}; --forms given sees them as they are")
    else:
        note_complete(graphs, structure)
    return seen


def folds_kept(output: Path) -> str:
    """What a stopped run has kept in its folder, and how to go on."""
    from rwk.experiment.records import read_records
    from rwk.experiment.run_folder import RECORDS
    from rwk.runtime.files import UNFINISHED
    from rwk.runtime.words import counted

    records, matrices = output / RECORDS, output / UNFINISHED
    kept = []
    if records.exists():
        kept.append(f"{counted(len(read_records(records)), 'fold')} in {records}")
    if matrices.exists() and any(matrices.iterdir()):
        kept.append(f"solved pairs in {matrices}")
    if not kept:
        return "nothing is kept yet, and the same command begins again"
    return f"kept: {' and '.join(kept)}; the same command goes on from there"


def options_of(parameters: Parameters) -> RunOptions:
    """Options of a run with the backend and threads of the parameters, a progress bar and an estimate of the cost."""
    from rwk.experiment.run import RunOptions

    def announce(graphs: GraphSet, setting: Parameters, measures: GraphMeasures, n_matrices: int) -> None:
        say_cost(graphs, setting, measures=measures, n_matrices=n_matrices)

    return RunOptions(backend=parameters.backend, n_jobs=parameters.n_jobs, bar=progress_bar, announce=announce)


def run_and_show(
    graphs: GraphSet,
    method: RwkMethod,
    output: Path,
    folds: Folds,
    options: RunOptions,
    forms: dict[str, GraphSet] | None = None,
) -> Run:
    """Run RWK, write the folder of the run and print the result."""
    from rwk.experiment.run_folder import RUN
    from rwk.experiment.run_folder import classify as run_classify

    run = run_classify(graphs, method, output, folds=folds, options=options, forms=forms)
    repeats = run.experiment.n_repeats
    console.print(figures_of(f"nested cross-validation, {repeats} x {folds.n_splits} folds", run.row()))
    say(f"record: {output / RUN}")
    return run
