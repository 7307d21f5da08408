"""`rwk regress` and `rwk predict`: a model from a table of SMILES, and predictions with error bars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rwk.cli.options import Backend, Jobs
from rwk.cli.screen import console, figures_of, note, say

if TYPE_CHECKING:
    from rwk.experiment.regress_run import RegressRun

Column = Annotated[str | None, typer.Option(help="Column of SMILES, if it has an unusual name.")]


def regress(
    table: Annotated[Path, typer.Argument(help="Table of SMILES and values: .csv, .tsv or .parquet.")],
    smiles_column: Column = None,
    target: Annotated[str | None, typer.Option(help="Column of the values to learn.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")] = Path("out"),
    settings: Annotated[str, typer.Option(help="Name of a grid of settings, whose kernels are added.")] = "molecules",
    fingerprints: Annotated[bool, typer.Option("--fingerprints", help="Add a kernel on fingerprints.")] = False,
    store: Annotated[Path | None, typer.Option(help="Folder to keep matrices in; a stopped run goes on there.")] = None,
    backend: Backend = "auto",
    n_jobs: Jobs = None,
) -> None:
    """Learn values of molecules: writes a model, leave-one-out predictions with error bars, and pictures."""
    import numpy as np

    from rwk.convert.table_files import smiles_columns
    from rwk.experiment.regress_run import regress as run
    from rwk.gram.matrix_file import save_gram
    from rwk.learn.gaussian_process import RWKGaussianProcess
    from rwk.learn.saved_models import save_model
    from rwk.runtime.files import check_writable, write_json

    smiles, values, name = smiles_columns(table, smiles_column, target)
    assert values is not None
    check_writable(output / "model.npz")
    kind = "both" if fingerprints else None
    process = RWKGaussianProcess(settings=settings, fingerprints=kind, backend=backend, n_jobs=n_jobs)
    found = run(process, smiles, np.array(values), store=store)
    save_model(process, output / "model.npz")
    save_gram(output / "gram.npz", found.discrepancy, found.parameters(), targets=values, name=table.stem, names=smiles)
    write_json(output / "summary.json", {"target": name, "scores": found.scores, "model": process.model_.record(),
                                         "learning_curve": found.curve})  # fmt: skip
    std = np.sqrt(found.left_out.variance)
    errors = found.left_out.mean - np.array(values)
    rows = zip(smiles, values, found.left_out.mean, std, errors, strict=True)
    write_rows(output / "predictions.csv", ("smiles", "value", "mean", "std", "error"), rows)
    write_rows(output / "outliers.csv", OUTLIER_COLUMNS, outlier_rows(found, smiles, values))
    _draw(found, np.array(values), str(name), output)
    say(f"{name}: each of {len(smiles)} molecules predicted from all others")
    console.print(figures_of("", {words: f"{found.scores[key]:.3f}" for key, words in SCORES.items()}))
    say(f"model, predictions, outliers and pictures: {output}")


def predict(
    model: Annotated[Path, typer.Argument(help="The model.npz that rwk regress wrote.")],
    table: Annotated[Path, typer.Argument(help="Table of SMILES: .csv, .tsv or .parquet.")],
    smiles_column: Column = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; by default the screen.")] = None,
) -> None:
    """Predict values of molecules with a saved model: mean and standard deviation of a new measurement."""
    from rwk.convert.table_files import smiles_columns
    from rwk.learn.saved_models import load_model

    process = load_model(model)
    smiles, _, _ = smiles_columns(table, smiles_column, None, with_target=False)
    mean, std = process.predict(smiles, return_std=True)
    rows = zip(smiles, mean, std, strict=True)
    if output is None:
        say(table_text(("smiles", "mean", "std"), rows).rstrip("\n"))
    else:
        write_rows(output, ("smiles", "mean", "std"), rows)
        say(f"{len(smiles)} predictions: {output}")


SCORES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "nlpd": "NLPD",
    "coverage": "share in their 95 % intervals",
}
OUTLIER_COLUMNS = ("smiles", "value", "mean", "surprise", "neighbour", "neighbour_value")


def outlier_rows(found: RegressRun, smiles: Sequence[str], values: Sequence[float]) -> Iterable[tuple[Any, ...]]:
    """One row per outlier and neighbour."""
    for outlier in found.outliers:
        i = outlier.number
        for j in outlier.neighbours:
            yield smiles[i], values[i], float(found.left_out.mean[i]), outlier.surprise, smiles[j], values[j]


def table_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV; numbers with six digits.

    >>> table_text(("smiles", "mean"), [("CCO", 1.5)])
    'smiles,mean\\nCCO,1.5\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([[value if isinstance(value, str) else f"{float(value):.6g}" for value in row] for row in rows])
    return text.getvalue()


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV, whole or not at all."""
    from rwk.runtime.files import write_whole

    text = table_text(columns, rows)
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def _draw(found: RegressRun, values: Any, name: str, output: Path) -> None:
    """The three pictures; without matplotlib, print why they are missing."""
    from rwk.experiment.regress_run import LEVELS, calibration
    from rwk.runtime.files import write_whole

    try:
        from rwk.report import regression_charts as charts

        std = found.left_out.variance**0.5
        figures = {
            "parity": charts.parity_figure(values, found.left_out.mean, std, name),
            "calibration": charts.calibration_figure(LEVELS, calibration(values, found.left_out)),
            "learning-curve": charts.learning_curve_figure(found.curve),
        }
    except ImportError as reason:
        note(f"the pictures are not drawn: {reason}")
        return
    for title, figure in figures.items():
        write_whole(output / f"{title}.png", partial(figure.savefig, dpi=150, bbox_inches="tight"))
