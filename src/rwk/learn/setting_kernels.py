"""The kernels that a search compares: of each setting and η, from the named matrices of all graphs.

`KernelMap` makes kernel values of discrepancies. What it needs to know, it learns from the training graphs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from rwk.learn.search_grid import SUM, Grid, group_of
from rwk.learn.treatment import diagonal_scale
from rwk.runtime.arrays import FloatArray, IntArray

MAX_EXPONENT = 300.0


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
        return [name for name in self.named if setting in (SUM, group_of(name))]

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
