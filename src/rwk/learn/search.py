"""Choosing settings inside one training fold.

Everything here sees the training fold alone: its block of every matrix and its labels. One kernel per (setting, η) is
treated once; inner folds are blocks of it; all C come from one warm path. Nothing is ever solved again for another η,
C or κ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from rwk.learn.one_vs_one import PairwiseSVMs, fit_path, winners
from rwk.learn.proxy import fit_proxy
from rwk.learn.treatment import TREATMENTS, diagonal_scale, treat
from rwk.runtime.arrays import FloatArray, IntArray

# training folds larger than this are searched untreated, and only the chosen kernel is treated (`inner="auto"`)
LARGE_FOLD = 1500
SUM = "sum of all"
MAX_EXPONENT = 300.0


@dataclass(frozen=True, slots=True)
class Grid:
    """What is searched inside every training fold, and how.

    `combine="sum"` adds one more setting, the mean of all settings' kernels. `kappas` other than infinity are tried
    after the rest is chosen, with every C, by the same inner folds (they replace clip by the proxy kernel). `unit`
    says what η multiplies: the discrepancy as it is ("none"), or over its mean on the training fold ("mean").
    `inner` says whether inner folds are blocks of the treated ("treated") or the untreated ("raw") training kernel,
    which can't tell treatments apart; "auto" is raw for training folds so large that treating each kernel takes long.

    >>> Grid(eta=(0.5, 1.0), C=(1.0, 10.0)).n_candidates(3)
    12
    """

    eta: Sequence[float] = (0.125, 0.5, 1.0, 2.0, 8.0)
    C: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    treatments: Sequence[str] = ("clip",)
    kappas: Sequence[float] = (inf,)
    combine: Literal["none", "sum"] = "none"
    unit: Literal["none", "mean"] = "none"
    n_inner: int = 5
    inner_repeats: int = 1
    inner: Literal["auto", "treated", "raw"] = "auto"

    def n_candidates(self, n_settings: int) -> int:
        """How many combinations are compared for so many settings, finite κ left out."""
        settings = n_settings + (self.combine == "sum" and n_settings > 1)
        return settings * len(self.treatments) * len(self.eta) * len(self.C)

    def checked(self) -> Grid:
        """The grid in increasing order, or one sentence on what can't be searched."""
        for name in ("eta", "C", "kappas"):
            values = [float(value) for value in getattr(self, name)]
            if not values or not all(value > 0 and (isfinite(value) or name == "kappas") for value in values):
                raise ValueError(f"grid: {name} must be a list of positive numbers, not {getattr(self, name)}")
        unknown = [name for name in self.treatments if name not in TREATMENTS or name == "proxy"]
        if unknown or not self.treatments:
            known = ", ".join(name for name in TREATMENTS if name != "proxy")
            raise ValueError(f"grid: treatments are {known}, not {unknown}; for the proxy kernel give finite kappas")
        if any(isfinite(kappa) for kappa in self.kappas) and "clip" not in self.treatments:
            raise ValueError("grid: finite kappas refine clip, which is not among the treatments; add it")
        if self.n_inner < 2 or self.inner_repeats < 1:
            raise ValueError("grid: at least two inner folds and one inner repeat are needed")
        return Grid(
            eta=tuple(sorted({float(eta) for eta in self.eta})),
            C=tuple(sorted({float(C) for C in self.C})),
            treatments=tuple(dict.fromkeys(self.treatments)),
            kappas=tuple(sorted({float(kappa) for kappa in self.kappas} | {inf}, reverse=True)),
            combine=self.combine,
            unit=self.unit,
            n_inner=self.n_inner,
            inner_repeats=self.inner_repeats,
            inner=self.inner,
        )


class Task(NamedTuple):
    """One outer fold, for the search and for the final fit."""

    train: IntArray
    test: IntArray
    codes: IntArray  # classes of all graphs as 0..k−1; those of `test` are only read for the score
    seed: int
    fold: int


class Choice(NamedTuple):
    """What the inner folds chose, and the share of inner validation graphs it got right."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """Named square matrices over all graphs: discrepancies (turned into kernels by η) or kernels."""

    named: Mapping[str, FloatArray]
    kind: Literal["discrepancy", "kernel"]
    grid: Grid

    @property
    def settings(self) -> list[str]:
        names = list(self.named)
        return [*names, SUM] if self.grid.combine == "sum" and len(names) > 1 else names

    @property
    def etas(self) -> Sequence[float | None]:
        return (None,) if self.kind == "kernel" else self.grid.eta

    def kernel(self, setting: str, eta: float | None, train: IntArray, rows: IntArray) -> FloatArray:
        """Kernel rows × train, scaled to mean diagonal 1 on `train`; nothing but these blocks is looked at."""
        names = list(self.named) if setting == SUM else [setting]
        total = np.zeros((len(rows), len(train)))
        for name in names:
            total += self._one(self.named[name], eta, train, rows)
        return total / len(names)

    def training_kernels(self, eta: float | None, train: IntArray) -> Iterator[FloatArray]:
        """`kernel` of every setting on the training graphs, in the order of `settings`, none made twice."""
        total = np.zeros((len(train), len(train)))
        for setting in self.settings:
            kernel = total / len(self.named) if setting == SUM else self.kernel(setting, eta, train, train)
            total += kernel
            yield kernel

    def _one(self, matrix: FloatArray, eta: float | None, train: IntArray, rows: IntArray) -> FloatArray:
        block = np.asarray(matrix[np.ix_(rows, train)], dtype=np.float64)
        diagonal = np.asarray(matrix.diagonal()[train], dtype=np.float64)
        if eta is None:
            return block / diagonal_scale(diagonal)
        mean = float(np.mean(matrix[np.ix_(train, train)])) if self.grid.unit == "mean" else 1.0
        return KernelTransform.of(diagonal, eta, mean)(block)


class KernelTransform(NamedTuple):
    """How discrepancies become kernel values: exp(−rate D) over its mean diagonal, neither of which may underflow."""

    rate: float
    origin: float
    scale: float

    @classmethod
    def of(cls, diagonal: FloatArray, eta: float, unit: float = 1.0) -> KernelTransform:
        """As learned on training graphs: their discrepancies to themselves, and what η is measured in.

        >>> KernelTransform.of(np.zeros(2), 2.0)(np.array([[0.0, 0.5]])).round(3).tolist()
        [[1.0, 0.368]]
        """
        rate = eta / (unit if unit > 0 else 1.0)
        origin = float(diagonal.min())
        return cls(rate, origin, float(np.exp(rate * (origin - diagonal)).mean()))

    def __call__(self, block: FloatArray) -> FloatArray:
        return np.asarray(np.exp(np.minimum(self.rate * (self.origin - block), MAX_EXPONENT)) / self.scale)


def search(matrices: Matrices, task: Task) -> Choice:
    """Choose setting, treatment, η, C and κ by cross-validation inside the training fold.

    Among equal scores the one with the best neighbours on the (η, C) grid wins, the middle of a plateau rather than
    its edge; then the smaller C, the smaller η, the earlier treatment and setting.
    """
    grid = matrices.grid
    codes = task.codes[task.train]
    splits = inner_splits(codes, grid, task.seed)
    treated = grid.inner == "treated" or (grid.inner == "auto" and len(codes) <= LARGE_FOLD)
    right = np.zeros((len(matrices.settings), len(grid.treatments), len(matrices.etas), len(grid.C)))
    for e, eta in enumerate(matrices.etas):
        for s, kernel in enumerate(matrices.training_kernels(eta, task.train)):
            for t, treatment in enumerate(grid.treatments):
                if t == 0 or treated:
                    block = treat(kernel, treatment).kernel if treated else kernel
                    counts = score_path(block, codes, splits, grid.C)
                right[s, t, e] = counts
    choice = best_choice(matrices, right, sum(len(validation) for _, validation in splits))
    if choice.treatment == "clip" and len(grid.kappas) > 1:
        kernel = matrices.kernel(choice.setting, choice.eta, task.train, task.train)
        return refine_kappa(kernel, codes, splits, grid, choice)
    return choice


def best_choice(matrices: Matrices, right: FloatArray, n_validated: int) -> Choice:
    """The candidate with the best count of validation graphs got right, (settings, treatments, η, C)."""
    grid = matrices.grid
    s, t, e, c = best_of(right)
    return Choice(
        setting=matrices.settings[s],
        treatment=grid.treatments[t],
        eta=matrices.etas[e],
        C=grid.C[c],
        kappa=inf,
        score=float(right[s, t, e, c] / n_validated),
    )


def refine_kappa(
    kernel: FloatArray, codes: IntArray, splits: list[tuple[IntArray, IntArray]], grid: Grid, choice: Choice
) -> Choice:
    """Try finite κ for the chosen kernel; the larger κ (nearer to clip) and then the smaller C win ties."""
    n_validated = sum(len(validation) for _, validation in splits)
    for kappa in grid.kappas[1:]:
        right = np.zeros(len(grid.C))
        for train, validation in splits:
            part, rows = kernel[np.ix_(train, train)], kernel[np.ix_(validation, train)]
            for c, svms in enumerate(fit_proxy(part, codes[train], np.asarray(grid.C), kappa)):
                right[c] += count_right(svms, rows, codes[validation])
        c = int(right.argmax())
        if right[c] / n_validated > choice.score:
            score = float(right[c] / n_validated)
            choice = choice._replace(treatment="proxy", C=grid.C[c], kappa=kappa, score=score)
    return choice


def inner_splits(codes: IntArray, grid: Grid, seed: int) -> list[tuple[IntArray, IntArray]]:
    """The inner stratified folds of one training fold, the same for every candidate and every method."""
    n_inner = min(grid.n_inner, int(np.bincount(codes).min()))
    if n_inner < 2:
        raise ValueError("a class has a single member in a training fold, too few for inner folds; use fewer folds")
    splits: list[tuple[IntArray, IntArray]] = []
    for repeat in range(grid.inner_repeats):
        folds = StratifiedKFold(n_inner, shuffle=True, random_state=1000 * seed + repeat)
        splits += list(folds.split(codes, codes))
    return splits


def score_path(
    kernel: FloatArray, codes: IntArray, splits: list[tuple[IntArray, IntArray]], Cs: Sequence[float]
) -> FloatArray:
    """Validation graphs got right, summed over inner folds, for every C."""
    right = np.zeros(len(Cs))
    for train, validation in splits:
        rows = kernel[np.ix_(validation, train)]
        path = fit_path(kernel[np.ix_(train, train)], codes[train], np.asarray(Cs))
        right += [count_right(svms, rows, codes[validation]) for svms in path]
    return right


def count_right(svms: PairwiseSVMs, rows: FloatArray, codes: IntArray) -> int:
    """How many rows' classes the svms get right."""
    return int((winners(svms.decide(rows)) == codes).sum())


def best_of(right: FloatArray) -> tuple[int, int, int, int]:
    """Where the best count is, ties broken as `search` says.

    >>> plateau = np.array([1.0, 3.0, 3.0, 3.0, 1.0]).reshape(1, 1, 1, 5)
    >>> best_of(plateau)
    (0, 0, 0, 2)
    """
    tied = np.argwhere(right == right.max())

    def rank(at: IntArray) -> tuple[float, int, int, int, int]:
        s, t, e, c = (int(i) for i in at)
        around = right[s, t, max(e - 1, 0) : e + 2, max(c - 1, 0) : c + 2]
        return -float(around.mean()), c, e, t, s

    s, t, e, c = min(tied, key=rank)
    return int(s), int(t), int(e), int(c)


def fit_choice(matrices: Matrices, task: Task, choice: Choice) -> IntArray:
    """Train with what was chosen on the whole training fold, and predict the test fold."""
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
