"""Values of molecules: errors, coverage and times of fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rwk.experiment.regression import (
    MOLECULE_SETS,
    REPEATS,
    USUAL_REPEATS,
    RegressionOptions,
    mean_and_error,
    read_scores,
    regression_table,
)
from rwk.experiment.regression_methods import REGRESSION_METHODS
from rwk.experiment.tables import markdown


def few_molecules(record: Any) -> str:
    """The share of values inside their 95 % intervals, after few measurements."""
    numbers = list(dict.fromkeys(row["molecules"] for row in record["rows"]))
    rows = []
    for name in dict.fromkeys(row["dataset"] for row in record["rows"]):
        found = {row["molecules"]: row["coverage"] for row in record["rows"] if row["dataset"] == name}
        rows.append([name, *(f"{100 * found[number]:.0f} %" for number in numbers)])
    return markdown(["molecules measured", *map(str, numbers)], rows)


def fit_times(record: Any) -> str:
    """Minutes of a fit of a Gaussian process, seconds of its parts, and minutes of CPU time of all threads."""
    rows = []
    for row in record["rows"]:
        parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in row["seconds"].items())
        used = f"{row['cpu_seconds'] / 60:.1f}"
        rows.append([f"{row['n_molecules']:,}", str(row["threads"]), f"{row['minutes']:.1f}", parts, used])
    return markdown(["molecules", "threads", "minutes", "seconds of the parts", "minutes of CPU time"], rows)


def molecules(root: Path) -> str:
    """All methods on every set of molecules with measured values that has records."""
    tables = [
        regression_table(name, root / "results", REGRESSION_METHODS)
        for name in MOLECULE_SETS
        if list((root / "results" / "regression").glob(f"{name}-*.jsonl"))
    ]
    return "\n\n".join(tables) if tables else "*No record yet: `rwk reproduce regression` writes it.*"


def molecule_errors(root: Path) -> str:
    """RMSE of every method on every set of molecules, mean ± standard error over random splits."""
    rows = []
    for method in REGRESSION_METHODS:
        cells = [method]
        for name in MOLECULE_SETS:
            errors = random_errors(root, name, method)
            words = "" if len(errors) in (0, planned(name)) else f" ({len(errors)} splits)"
            cells.append(mean_and_error(errors) + words if errors else "")
        rows.append(cells)
    return markdown(["method", *MOLECULE_SETS], rows)


def molecules_missing(root: Path) -> str:
    """Which methods have not been run on all random splits of a set."""
    found = []
    for name in MOLECULE_SETS:
        known = {method: len(random_errors(root, name, method)) for method in REGRESSION_METHODS}
        short = [f"{method} ({n} of {planned(name)})" for method, n in known.items() if 0 < n < planned(name)]
        lacking = [method for method, n in known.items() if not n] + short
        if lacking:
            found.append(f"{name}: {', '.join(lacking)}")
    return f"Not run, or not on all splits: {'; '.join(found)}." if found else "Every method was run on every split."


def random_errors(root: Path, name: str, method: str) -> list[float]:
    """The RMSE of every random split on record."""
    scores = read_scores(RegressionOptions(root / "results").record_file(name, method))
    return [line["rmse"] for line in scores if line["split"] == "random"]


def planned(name: str) -> int:
    """The number of random splits of a set."""
    return REPEATS.get(name, USUAL_REPEATS)
