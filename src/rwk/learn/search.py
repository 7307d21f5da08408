"""Choosing setting, treatment, η, C and κ inside one training fold.

Everything here sees the training fold only: its block of every matrix, and its labels. Each kernel (one per setting
and η) is treated once, inner folds are blocks of it, and all C come from one sequence of warm starts. No discrepancy is
computed again for another η, C or κ.

What is tried is in `search_grid`, the kernels are made in `setting_kernels`; both can be imported from here too.
"""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from rwk.learn.inner_folds import Splits, best_of, count_right, n_validated
from rwk.learn.one_vs_one import fit_path, winners
from rwk.learn.proxy import fit_proxy
from rwk.learn.search_grid import LARGE_FOLD, SUM, Grid
from rwk.learn.setting_kernels import Matrices
from rwk.learn.treatment import treat
from rwk.runtime.arrays import FloatArray, IntArray

__all__ = [
    "LARGE_FOLD",
    "SUM",
    "Choice",
    "Grid",
    "Matrices",
    "Task",
    "best_choice",
    "fit_choice",
    "refine_kappa",
    "search",
]


class Task(NamedTuple):
    """One outer fold, for the search and for the final fit."""

    train: IntArray
    test: IntArray
    codes: IntArray  # classes of all graphs as 0..k−1; those of `test` are only read for the score
    seed: int
    fold: int


class Choice(NamedTuple):
    """What the inner folds chose, and its accuracy on their validation graphs."""

    setting: str
    treatment: str
    eta: float | None
    C: float
    kappa: float
    score: float

    def as_record(self) -> dict[str, Any]:
        """The choice as plain JSON values."""
        chosen: dict[str, Any] = {"setting": self.setting, "treatment": self.treatment, "C": self.C}
        if self.eta is not None:
            chosen["eta"] = self.eta
        if self.treatment == "proxy":
            chosen["kappa"] = self.kappa
        return chosen


def search(matrices: Matrices, task: Task) -> Choice:
    """Choose setting, treatment, η, C and κ by cross-validation inside the training fold.

    Of equal scores, the one with the best mean score around it on the (η, C) grid wins, so the middle of a plateau
    rather than its edge; then the smaller C, the smaller η, the earlier treatment and setting.
    """
    grid = matrices.grid
    codes = task.codes[task.train]
    splits = grid.inner_splits(codes, task.seed)
    treated = grid.searches_treated(len(codes))
    right = np.zeros((len(matrices.settings), len(grid.treatments), len(matrices.etas), len(grid.C)))
    for e, eta in enumerate(matrices.etas):
        for s, kernel in enumerate(matrices.training_kernels(eta, task.train)):
            for t, treatment in enumerate(grid.treatments):
                if t == 0 or treated:
                    block = treat(kernel, treatment).kernel if treated else kernel
                    counts = count_right(block, codes, splits, partial(fit_path, Cs=np.asarray(grid.C)))
                right[s, t, e] = counts
    choice = best_choice(matrices, right, n_validated(splits))
    if choice.treatment == "clip" and len(grid.kappas) > 1:
        kernel = matrices.kernel(choice.setting, choice.eta, task.train, task.train)
        return refine_kappa(kernel, codes, splits, grid, choice)
    return choice


def best_choice(matrices: Matrices, right: FloatArray, n_graphs: int) -> Choice:
    """The candidate with the most correct graphs of `n_graphs`; `right` counts them by (setting, treatment, η, C)."""
    grid = matrices.grid
    s, t, e, c = best_of(right)
    return Choice(
        setting=matrices.settings[s],
        treatment=grid.treatments[t],
        eta=matrices.etas[e],
        C=grid.C[c],
        kappa=inf,
        score=float(right[s, t, e, c] / n_graphs),
    )


def refine_kappa(kernel: FloatArray, codes: IntArray, splits: Splits, grid: Grid, choice: Choice) -> Choice:
    """Try finite κ for the chosen kernel; ties go to the larger κ (nearer to clip), then to the smaller C."""
    for kappa in grid.kappas[1:]:
        right = count_right(kernel, codes, splits, partial(fit_proxy, Cs=np.asarray(grid.C), kappa=kappa))
        c = int(right.argmax())
        score = float(right[c] / n_validated(splits))
        if score > choice.score:
            choice = choice._replace(treatment="proxy", C=grid.C[c], kappa=kappa, score=score)
    return choice


def fit_choice(matrices: Matrices, task: Task, choice: Choice) -> IntArray:
    """Train with the choice on the whole training fold, and predict the classes of the test fold."""
    codes = task.codes[task.train]
    kernel = matrices.kernel(choice.setting, choice.eta, task.train, task.train)
    rows = matrices.kernel(choice.setting, choice.eta, task.train, task.test)
    if choice.treatment == "proxy":
        svms = next(fit_proxy(kernel, codes, np.array([choice.C]), choice.kappa))
    else:
        treated = treat(kernel, choice.treatment)
        svms = fit_path(treated.kernel, codes, np.array([choice.C]))[0]
        rows = treated.map_rows(rows)
    return winners(svms.decide(rows))
