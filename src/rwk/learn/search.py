"""Choosing setting, treatment, η, C and κ inside one training fold.

Everything here sees the training fold only: its block of every matrix, and its labels. Each kernel (one per setting
and η) is treated once, inner folds are blocks of it, and all C come from one sequence of warm starts. No discrepancy is
computed again for another η, C or κ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

import numpy as np

from rwk.learn.inner_folds import Splits, best_of, count_right, inner_splits, n_validated
from rwk.learn.one_vs_one import fit_path, winners
from rwk.learn.proxy import fit_proxy
from rwk.learn.treatment import TREATMENTS, diagonal_scale, treat
from rwk.runtime.arrays import FloatArray, IntArray

# with `inner="auto"`, larger training folds are searched on untreated kernels, and only the chosen kernel is treated
LARGE_FOLD = 1500
SUM = "sum of all"
MAX_EXPONENT = 300.0


@dataclass(frozen=True, slots=True)
class Grid:
    """What is searched inside every training fold, and how.

    Parameters
    ----------
    eta : sequence of float
        Values to try for η in exp(−η D).
    C : sequence of float
        Values to try for the C of the SVM.
    treatments : sequence of str
        Treatments of negative eigenvalues to try; see `IndefiniteSVC`.
    kappas : sequence of float
        Finite values are tried after the rest is chosen, with every C and on the same inner folds; they replace
        "clip" by the proxy kernel.
    combine : {"none", "sum", "groups"}
        "sum" adds one more setting: the mean of the kernels of all settings. "groups" compares means only: one for each
        group of settings whose names begin alike, such as "bonds: first" and "bonds: second", and the mean of all.
    unit : {"none", "mean"}
        η multiplies the discrepancy itself ("none"), or the discrepancy divided by its mean on the training fold.
    spread : sequence of float
        The kernel of a value of η is the mean of the kernels of η times each of these factors. With several factors
        fewer values have to be compared, so the choice depends less on chance.
    n_inner : int
        Number of inner folds.
    inner_repeats : int
        How often the inner folds are drawn.
    inner : {"auto", "treated", "raw"}
        Whether inner folds are blocks of the treated or of the untreated ("raw") training kernel. Untreated kernels
        can't tell treatments apart; "auto" uses them only for training folds of more than 1500 graphs, for which
        treating every kernel would take long.

    Examples
    --------
    >>> from rwk.experiment import Grid
    >>> Grid(eta=(0.5, 1.0), C=(1.0, 10.0)).n_candidates(3)
    12
    """

    eta: Sequence[float] = (0.125, 0.5, 1.0, 2.0, 8.0)
    C: Sequence[float] = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    treatments: Sequence[str] = ("clip",)
    kappas: Sequence[float] = (inf,)
    combine: Literal["none", "sum", "groups"] = "none"
    unit: Literal["none", "mean"] = "none"
    spread: Sequence[float] = (1.0,)
    n_inner: int = 5
    inner_repeats: int = 1
    inner: Literal["auto", "treated", "raw"] = "auto"

    def n_candidates(self, n_settings: int) -> int:
        """Number of combinations that are compared for `n_settings` settings, without finite κ."""
        settings = len(self.compared([str(i) for i in range(n_settings)]))
        return settings * len(self.treatments) * len(self.eta) * len(self.C)

    def compared(self, names: Sequence[str]) -> list[str]:
        """The settings that are compared if matrices with these names are given."""
        if self.combine == "none" or len(names) < 2:
            return list(names)
        return [*(names if self.combine == "sum" else _groups(names)), SUM]

    def inner_splits(self, codes: IntArray, seed: int) -> Splits:
        """Training and validation rows of the inner folds of a training fold with these classes."""
        return inner_splits(codes, n_inner=self.n_inner, repeats=self.inner_repeats, seed=seed)

    def searches_treated(self, n_train: int) -> bool:
        """Whether inner folds of a training fold of `n_train` graphs are blocks of treated kernels."""
        return self.inner == "treated" or (self.inner == "auto" and n_train <= LARGE_FOLD)

    def checked(self) -> Grid:
        """The grid, in increasing order; raises ValueError if it can't be searched."""
        for name in ("eta", "C", "kappas", "spread"):
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
            spread=tuple(float(factor) for factor in self.spread),
            n_inner=self.n_inner,
            inner_repeats=self.inner_repeats,
            inner=self.inner,
        )


def _group(name: str) -> str:
    """What the name of a setting begins with, up to the colon."""
    return name.split(":")[0]


def _groups(names: Sequence[str]) -> list[str]:
    """Groups in the order in which they appear."""
    return list(dict.fromkeys(_group(name) for name in names))


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


@dataclass(frozen=True, slots=True, eq=False)
class Matrices:
    """Named square matrices over all graphs: discrepancies (made kernels by η) or kernels."""

    named: Mapping[str, FloatArray]
    kind: Literal["discrepancy", "kernel"]
    grid: Grid

    @property
    def settings(self) -> list[str]:
        return self.grid.compared(list(self.named))

    @property
    def etas(self) -> Sequence[float | None]:
        return (None,) if self.kind == "kernel" else self.grid.eta

    def kernel(self, setting: str, eta: float | None, train: IntArray, rows: IntArray) -> FloatArray:
        """Kernel rows × train, scaled to mean diagonal 1 on `train`; only these blocks are read."""
        names = self.members(setting)
        total = np.zeros((len(rows), len(train)))
        for name in names:
            total += self._one(self.named[name], eta, train, rows)
        return total / len(names)

    def members(self, setting: str) -> list[str]:
        """Names of the matrices whose kernels make up a setting: one, a group, or all."""
        if setting in self.named:
            return [setting]
        return [name for name in self.named if setting in (SUM, _group(name))]

    def training_kernels(self, eta: float | None, train: IntArray) -> Iterator[FloatArray]:
        """`kernel` of every setting on the training graphs, in the order of `settings`, each computed once."""
        yield from self.means((name, self.kernel(name, eta, train, train)) for name in self.named)

    def means(self, kernels: Iterable[tuple[str, Any]]) -> Iterator[Any]:
        """The kernel of every setting, in their order, from named kernels of all matrices; on any device.

        Kernels are taken one at a time: what is held besides is one total per mean.
        """
        totals: dict[str, Any] = {}
        for name, kernel in kernels:
            for setting in self.settings:
                if setting not in self.named and name in self.members(setting):
                    totals[setting] = totals[setting] + kernel if setting in totals else kernel
            if name in self.settings:
                yield kernel
        yield from (totals[setting] / len(self.members(setting)) for setting in self.settings if setting in totals)

    def _one(self, matrix: FloatArray, eta: float | None, train: IntArray, rows: IntArray) -> FloatArray:
        block = np.asarray(matrix[np.ix_(rows, train)], dtype=np.float64)
        diagonal = np.asarray(matrix.diagonal()[train], dtype=np.float64)
        if eta is None:
            return block / diagonal_scale(diagonal)
        return self.transform(diagonal, eta, lambda: float(np.mean(matrix[np.ix_(train, train)])))(block)

    def transform(self, diagonal: FloatArray, eta: float, mean: Callable[[], float]) -> KernelMap:
        """The map from discrepancies to kernel values, learned on the training graphs.

        `diagonal` holds their discrepancies to themselves; `mean` is called for the mean of all their discrepancies.
        """
        unit = mean() if self.grid.unit == "mean" else 1.0
        return KernelMap(tuple(KernelTransform.of(diagonal, eta * factor, unit) for factor in self.grid.spread))


class KernelMap(NamedTuple):
    """From discrepancies to kernel values: the mean over several values of η."""

    transforms: tuple[KernelTransform, ...]

    def __call__(self, block: FloatArray) -> FloatArray:
        total = self.transforms[0](block)
        for transform in self.transforms[1:]:
            total = total + transform(block)
        return total / len(self.transforms)


class KernelTransform(NamedTuple):
    """From discrepancies to kernel values: exp(−rate D) divided by its mean diagonal, both safe from underflow."""

    rate: float
    origin: float
    scale: float

    @classmethod
    def of(cls, diagonal: FloatArray, eta: float, unit: float = 1.0) -> KernelTransform:
        """Learn the map from the training graphs' discrepancies to themselves; η is divided by `unit`.

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
