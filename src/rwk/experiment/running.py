"""Running outer folds: each in a process of its own, or many at once on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from rwk.experiment.records import Score
from rwk.learn.search import Task, fit_choice, search
from rwk.learn.setting_kernels import Matrices
from rwk.runtime.arrays import IntArray

# (train, test, seed) -> predicted targets of test, or (predicted targets, what was chosen)
FitPredict = Callable[[IntArray, IntArray, int], Any]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixRun:
    """Runs a fold of a method that gives matrices: search inside the training fold, then fit and predict."""

    matrices: Matrices

    def __call__(self, task: Task) -> tuple[NDArray[np.bool_], dict[str, Any], float | None]:
        # one thread of linear algebra per fold: bit-identical whatever n_jobs is
        with threadpool_limits(limits=1):
            choice = search(self.matrices, task)
            right = fit_choice(self.matrices, task, choice) == task.codes[task.test]
        return right, choice.as_record(), choice.score


@dataclass(frozen=True, slots=True, eq=False)
class FunctionRun:
    """Runs a fold of a method that learns on graphs by itself."""

    fit_predict: FitPredict
    targets: NDArray[Any]

    def __call__(self, task: Task) -> tuple[NDArray[np.bool_], dict[str, Any], float | None]:
        return self.judged(task, self.fit_predict(task.train, task.test, task.seed))

    def judged(self, task: Task, result: Any) -> tuple[NDArray[np.bool_], dict[str, Any], float | None]:
        """Which of the predictions that `fit_predict` returned are right, and what was chosen."""
        predicted, chosen = result if isinstance(result, tuple) else (result, {})
        predicted = np.asarray(predicted)
        if predicted.shape != task.test.shape:
            raise ValueError(f"fit_predict returned shape {predicted.shape} for {len(task.test)} test graphs")
        return predicted == self.targets[task.test], dict(chosen), None


Runner = MatrixRun | FunctionRun


class Outcome(NamedTuple):
    """The outcome of one outer fold."""

    task: Task
    right: NDArray[np.bool_]
    chosen: dict[str, Any]
    inner_score: float | None
    seconds: float

    def written_on(self, blank: Score) -> Score:
        return replace(
            blank,
            seed=self.task.seed,
            fold=self.task.fold,
            score=float(self.right.mean()),
            n_correct=int(self.right.sum()),
            n_train=len(self.task.train),
            n_test=len(self.task.test),
            chosen=self.chosen,
            inner_score=self.inner_score,
            seconds=round(self.seconds, 4),
        )


def outcomes(runner: Runner, tasks: list[Task], n_jobs: int, backend: str) -> Iterator[Outcome]:
    """The outcomes of outer folds as they come, from processes or from the GPU."""
    if backend == "gpu" and isinstance(runner, MatrixRun):
        from rwk.runtime.device import open_kernel_device

        open_kernel_device()  # raises one sentence on what is missing before anything is imported
        from rwk.learn.search_gpu import DeviceRun

        on_device = DeviceRun(runner.matrices)
        for batch in on_device.batches(tasks):
            start = time.perf_counter()
            found = on_device(batch)
            seconds = (time.perf_counter() - start) / len(batch)
            for task, (choice, predicted) in zip(batch, found, strict=True):
                right = predicted == task.codes[task.test]
                yield Outcome(task, right, choice.as_record(), choice.score, seconds)
        return
    together = getattr(runner.fit_predict, "together", None) if isinstance(runner, FunctionRun) else None
    if backend == "gpu" and isinstance(runner, FunctionRun) and together is not None:
        start = time.perf_counter()
        results = together(tasks)
        seconds = (time.perf_counter() - start) / len(tasks)
        for task, result in zip(tasks, results, strict=True):
            yield Outcome(task, *runner.judged(task, result), seconds)
        return
    parallel = joblib.Parallel(n_jobs=min(n_jobs, len(tasks)), return_as="generator_unordered")
    yield from parallel(joblib.delayed(_run_fold)(runner, task) for task in tasks)


def _run_fold(runner: Runner, task: Task) -> Outcome:
    start = time.perf_counter()
    right, chosen, inner_score = runner(task)
    return Outcome(task, right, chosen, inner_score, time.perf_counter() - start)
