"""The protocol of every accuracy figure: repeated, stratified, nested cross-validation on stored folds.

Each of n_repeats seeds gives n_splits stratified outer folds. Everything that is chosen with the help of labels
(setting, η, C, κ, treatment) is chosen inside the training fold by inner stratified folds. The test fold's labels are
read once, for the score; no seed, split or fold is dropped. Matrices over all graphs hold no label; a discrepancy is
turned into a kernel by η alone, and any unit (`Grid.unit`) comes from the training fold.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from math import inf
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwk.experiment.folds import Folds, fingerprint_of, make_folds
from rwk.experiment.records import Score, append_record, read_records, repair_records, resumable
from rwk.experiment.running import FitPredict, FunctionRun, MatrixRun, Runner, outcomes
from rwk.experiment.tables import Experiment
from rwk.learn.one_vs_one import encode_classes
from rwk.learn.search import Task
from rwk.learn.search_grid import Grid
from rwk.learn.setting_kernels import Matrices
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.backends import backend_name
from rwk.runtime.machine import versions
from rwk.runtime.progress import Bar
from rwk.runtime.threads import Ticker, thread_count
from rwk.runtime.watched import shown_progress
from rwk.transport.problem import SOLVER_VERSION

Matrix = NDArray[Any] | Callable[[], NDArray[Any]]
ASYMMETRY = 1e-6


def nested_cv(
    source: Mapping[str, Matrix] | FitPredict,
    targets: ArrayLike,
    *,
    folds: Folds | None = None,
    grid: Grid | None = None,
    kind: Literal["discrepancy", "kernel"] = "discrepancy",
    dataset: str = "data",
    method: str = "rwk",
    about: Mapping[str, Any] | None = None,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    backend: str = "cpu",
    verbose: bool | Bar | None = None,
) -> Experiment:
    """Score a method by nested cross-validation.

    Everything that is tuned is tuned inside the training folds; tuning never sees the test fold. A run that was stopped
    resumes if it is given the same `records` again.

    Parameters
    ----------
    source : mapping of str to square matrix, or callable
        The matrices of all graphs, by name of the setting; a function that returns the matrix also works. Or a function
        `fit_predict(train, test, seed)` that learns on the graphs `train` and returns the predicted targets of `test`,
        alone or with a dict of what it chose.
    targets : array of shape (graphs,)
        Classes of the graphs.
    folds : Folds, optional
        The outer folds; by default those of `make_folds(targets)`.
    grid : Grid, optional
        The values to choose from.
    kind : {"discrepancy", "kernel"}, default "discrepancy"
        Whether the matrices are discrepancies D, searched as K = exp(−η D), or kernels.
    dataset : str, default "data"
        Name of the dataset, for the records.
    method : str, default "rwk"
        Name of the method, for the records.
    about : mapping, optional
        Facts about the method that are kept in the records. A run can only be resumed with the same facts, except that
        of the `parameters` of its settings only the fingerprints are compared. Without `about`, the means of the
        matrices are compared instead, so they are computed even if every fold is recorded already.
    records : path, optional
        File of JSON lines to which scores are added as they come. Folds that it holds already are not run again.
    n_jobs : int or None, default 1
        Number of folds run at a time (None or -1: one per usable core, -2: one fewer). Scores of matrices do not
        depend on it.
    backend : {"cpu", "gpu", "auto"}, default "cpu"
        "gpu" searches and fits many folds of matrices at a time, in single precision; "auto" does so if there is a GPU.
        If `source` is a `fit_predict` function, the backend is only recorded.
    verbose : bool, progress bar or None, default None
        Whether to show a progress bar; None shows one after five seconds, in a terminal or a notebook. Another bar can
        be passed instead.

    Returns
    -------
    Experiment
        The score of every fold, and their summary.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import make_folds, nested_cv
    >>> from rwk.experiment import Grid
    >>> D = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    >>> targets = np.arange(40) >= 20
    >>> folds = make_folds(targets, n_splits=5, n_repeats=1)
    >>> nested_cv({"line": D}, targets, folds=folds, grid=Grid(eta=(0.1,), C=(1.0, 10.0))).mean
    0.95
    """
    _, codes = encode_classes(targets)
    n_workers = thread_count(n_jobs)
    folds = make_folds(targets) if folds is None else folds
    if folds.classes != fingerprint_of(codes):
        raise ValueError("the folds were made for other targets; make them again with make_folds(targets)")
    run = _prepared(source, np.asarray(targets), kind, (grid or Grid()).checked(), about)
    protocol = {"n_splits": folds.n_splits, **run.protocol()}
    fingerprints = {seed: folds.fingerprint(seed) for seed in folds.test_fold}
    protocols = {seed: {"folds": made, **protocol} for seed, made in fingerprints.items()}
    backend = backend_name(backend)
    blank = _blank(dataset, method, codes, backend)
    wanted = {(dataset, method, seed, fold) for seed, fold in folds}
    done: list[Score] = []
    if records is not None:
        repair_records(records)
        known = [score for score in read_records(records) if (score.dataset, score.method) == (dataset, method)]
        done = [score for score in resumable(known, records, protocols) if score.key in wanted]
    finished = {score.key for score in done}
    todo = [
        Task(*folds.split(seed, fold), codes=codes, seed=seed, fold=fold)
        for seed, fold in folds
        if (dataset, method, seed, fold) not in finished
    ]
    with _bar(verbose, f"{method} on {dataset}", len(folds), len(done)) as tick:
        for outcome in outcomes(run.runner(), todo, n_workers, backend) if todo else ():
            score = outcome.written_on(replace(blank, protocol=protocols[outcome.task.seed]))
            if records is not None:
                append_record(records, score, folds=fingerprints)
            done.append(score)
            if tick:
                tick(1)
    return Experiment(tuple(sorted(done, key=lambda score: score.key)))


class _Prepared(NamedTuple):
    """What records say of a run, and how to get what runs a fold: only called for when a fold is left."""

    protocol: Callable[[], dict[str, Any]]
    runner: Callable[[], Runner]


def _prepared(
    source: Mapping[str, Matrix] | FitPredict,
    targets: NDArray[Any],
    kind: Literal["discrepancy", "kernel"],
    grid: Grid,
    about: Mapping[str, Any] | None,
) -> _Prepared:
    if callable(source):
        runner = FunctionRun(source, targets)
        return _Prepared(lambda: {"kind": "function", **(about or {})}, lambda: runner)

    @functools.cache
    def matrices() -> Matrices:
        return _matrices(source, len(targets), kind, grid)

    def protocol() -> dict[str, Any]:
        # the mean tells one matrix from another without being at the mercy of the last bit
        identity = about or {
            "matrix means": {
                name: float(np.mean(matrix, dtype=np.float64)) for name, matrix in matrices().named.items()
            }
        }
        return {"kind": kind, "grid": _plain_grid(grid, kind), **identity}

    return _Prepared(protocol, lambda: MatrixRun(matrices()))


def _plain_grid(grid: Grid, kind: str) -> dict[str, Any]:
    """A grid as JSON knows it."""
    fields = asdict(grid)
    fields["kappas"] = [kappa if kappa < inf else "inf" for kappa in fields["kappas"]]
    if kind == "kernel":
        del fields["eta"], fields["unit"]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def _blank(dataset: str, method: str, codes: IntArray, backend: str) -> Score:
    """A record with everything that all folds have in common."""
    return Score(
        dataset=dataset,
        method=method,
        seed=0,
        fold=0,
        score=0.0,
        n_correct=0,
        n_train=0,
        n_test=0,
        majority=float(np.bincount(codes).max() / len(codes)),
        chosen={},
        inner_score=None,
        seconds=0.0,
        protocol={},
        versions=versions(SOLVER_VERSION, backend=backend),
    )


def _matrices(source: Mapping[str, Matrix], n: int, kind: Literal["discrepancy", "kernel"], grid: Grid) -> Matrices:
    if not source:
        raise ValueError(f"no {kind} matrix was given; give a mapping from a name to a matrix")
    if kind not in ("discrepancy", "kernel"):
        raise ValueError(f"kind must be 'discrepancy' or 'kernel', not {kind!r}")
    named = {name: _matrix(name, matrix() if callable(matrix) else matrix, n) for name, matrix in source.items()}
    return Matrices(named, kind, grid)


def _matrix(name: str, matrix: NDArray[Any], n: int) -> FloatArray:
    matrix = np.asarray(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"matrix {name!r} has shape {matrix.shape}, but {n} targets need {(n, n)}")
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    bad = ~np.isfinite(matrix)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(f"matrix {name!r} has {bad.sum()} entries NaN or infinite, the first at ({i}, {j})")
    apart = float(np.abs(matrix - matrix.T).max())
    if apart > ASYMMETRY * float(np.abs(matrix).max()):
        raise ValueError(f"matrix {name!r} is not symmetric (entries differ by up to {apart:.3g}); average it with Mᵀ")
    return matrix


def _bar(verbose: bool | Bar | None, title: str, total: int, done: int) -> AbstractContextManager[Ticker | None]:
    if verbose is None or isinstance(verbose, bool):
        return shown_progress(verbose, title, total, "folds", done=done)
    return verbose(title, total, "folds", done=done)
