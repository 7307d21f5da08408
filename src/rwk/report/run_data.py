"""What a run left on disk: its record, its scores and its first matrix."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rwk.graphs.graph_set import graph_title
from rwk.report.palette import is_continuous
from rwk.runtime.arrays import FloatArray
from rwk.runtime.files import DamagedFileError, is_there, load_arrays, load_json

if TYPE_CHECKING:
    from rwk.experiment import Score


class ReportError(ValueError):
    """A run that cannot be reported on; the message says why."""


@dataclass(frozen=True)
class Predicted:
    """What one repeat of a run predicted: a class per graph (-1: not known), and probabilities if there are any."""

    classes: NDArray[Any]  # as text
    predicted: NDArray[np.int64]
    probability: FloatArray | None


@dataclass(frozen=True)
class RunData:
    """The results of a run: its record (empty for a matrix without a run), its scores and its first matrix."""

    name: str
    record: Mapping[str, Any]
    scores: Sequence[Score]
    discrepancy: FloatArray
    kernel: FloatArray
    targets: NDArray[Any] | None
    parameters: Mapping[str, Any]
    names: tuple[str, ...] | None = None
    predictions: Predicted | None = None
    learned_values: bool = False  # whether it is of `rwk regress`

    @property
    def has_values(self) -> bool:
        """Whether the targets are values on a scale, not classes."""
        return self.targets is not None and (self.learned_values or is_continuous(self.targets))

    def title(self, i: Any) -> str:
        """The name of graph i, or its number."""
        return graph_title(self.names, int(i))


def read_run(path: str | Path) -> RunData:
    """Read the folder that `rwk classify`, `rwk regress` or `rwk demo` wrote, or the matrix that `rwk gram` wrote.

    >>> read_run("no-such-run")
    Traceback (most recent call last):
    rwk.report.run_data.ReportError: no-such-run is neither the folder of a run nor a matrix; check the path
    """
    path = Path(path)
    if not is_there(path):
        raise ReportError(f"{path} is neither the folder of a run nor a matrix; check the path")
    if path.is_file() and path.suffix == ".npz":
        return _assembled({}, (), _matrices(path))
    if path.is_file() and path.name == "run.json":
        path = path.parent
    if (path / "summary.json").is_file() and (path / "gram.npz").is_file():  # of `rwk regress`
        return replace(_assembled({}, (), _matrices(path / "gram.npz")), learned_values=True)
    if not (path / "run.json").is_file():
        raise ReportError(f"{path} is neither the folder of a run nor a matrix; check the path")
    from rwk.experiment import read_records

    try:
        record = load_json(path / "run.json")
    except DamagedFileError as error:
        raise ReportError(f"{path / 'run.json'} cannot be read: {error}") from error
    if record.get("kind") != "rwk run":
        raise ReportError(f"{path / 'run.json'} is not the record of a run; give the folder that `rwk classify` wrote")
    # baselines may have added their folds; runs of version 0.1 did not name their method, it was rwk
    scores = [score for score in read_records(path / "records.jsonl") if score.method == record.get("method", "rwk")]
    run = _assembled(record, scores, _matrices(path / "gram.npz"))
    return replace(run, predictions=_predictions(path / "predictions.npz", len(run.kernel)))


def _predictions(path: Path, n_graphs: int) -> Predicted | None:
    """The predictions of a run; None if an earlier version wrote the folder, which had none."""
    if not path.is_file():
        return None
    arrays = _arrays(path)
    if not {"classes", "predicted"} <= set(arrays) or len(arrays["predicted"]) != n_graphs:
        raise ReportError(f"{path} does not belong to this run; repeat the run")
    return Predicted(arrays["classes"], arrays["predicted"], arrays.get("probability"))


def _matrices(path: Path) -> dict[str, Any]:
    arrays = _arrays(path)
    if "discrepancy" not in arrays or "kernel" not in arrays:
        raise ReportError(f"{path} contains no kernel; give a file that `rwk gram` wrote")
    n = len(np.atleast_1d(arrays["kernel"]))
    square = all(
        arrays[name].shape == (n, n) and arrays[name].dtype.kind == "f" and np.isfinite(arrays[name]).all()
        for name in ("discrepancy", "kernel")
    )
    if not square or any(len(np.atleast_1d(arrays[name])) != n for name in ("targets", "names") if name in arrays):
        raise ReportError(f"{path} is damaged, or was not written by rwk; compute it again")
    return arrays


def _arrays(path: Path) -> dict[str, Any]:
    try:
        return load_arrays(path)
    except FileNotFoundError as error:
        raise ReportError(f"{path} is missing; repeat the run") from error
    except DamagedFileError as error:
        raise ReportError(str(error)) from error


def _assembled(record: Mapping[str, Any], scores: Sequence[Score], arrays: Mapping[str, Any]) -> RunData:
    return RunData(
        name=str(arrays.get("name", "")) or str(record.get("dataset", {}).get("name", "graphs")),
        record=record,
        scores=scores,
        discrepancy=np.asarray(arrays["discrepancy"], np.float64),
        kernel=np.asarray(arrays["kernel"], np.float64),
        targets=arrays.get("targets"),
        parameters=json.loads(str(arrays.get("parameters", "{}"))),
        names=tuple(arrays["names"].tolist()) if "names" in arrays else None,
    )
