"""The grid of a search: which η, C, treatments and κ are tried inside every training fold, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite
from typing import Literal

from rwk.learn.inner_folds import Splits, inner_splits
from rwk.learn.treatment import TREATMENTS
from rwk.runtime.arrays import IntArray

# with `inner="auto"`, larger training folds are searched on untreated kernels, and only the chosen kernel is treated
LARGE_FOLD = 1500
SUM = "sum of all"


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
        return [*(names if self.combine == "sum" else groups_of(names)), SUM]

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


def group_of(name: str) -> str:
    """What the name of a setting begins with, up to the colon."""
    return name.split(":")[0]


def groups_of(names: Sequence[str]) -> list[str]:
    """Groups in the order in which they appear."""
    return list(dict.fromkeys(group_of(name) for name in names))
