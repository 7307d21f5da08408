"""The sections of a report on graphs with values in place of classes: predictions, neighbours and outliers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Final

import numpy as np

from rwk.report.blocks import Facts, Picture, Section, Table, Text, picture
from rwk.report.run_data import RunData
from rwk.runtime.arrays import FloatArray, IntArray

MOST_GRAPHS: Final = 3000  # with more, values are not predicted: it would take minutes
LEAST_GRAPHS: Final = 10
NEIGHBOURS: Final = 5
SURPRISING: Final = 5
Drawn = Callable[[int, int], list[Picture]]  # the alignment of two graphs as a picture, if graphs are there


class ValueSections:
    """What a report says of graphs whose targets are values."""

    def __init__(self, run: RunData) -> None:
        self.run = run
        self.values: FloatArray = np.asarray(run.targets, np.float64)
        self.known: IntArray = np.flatnonzero(np.isfinite(self.values))

    @cached_property
    def left_out(self) -> tuple[FloatArray, FloatArray] | None:
        """Mean and standard deviation of every known value, predicted from the others; None if there are too few."""
        from rwk.learn.exact_gp import left_out_values

        known = self.known
        if not LEAST_GRAPHS <= len(known) <= MOST_GRAPHS or float(np.ptp(self.values[known])) == 0.0:
            return None
        found = left_out_values(self.run.discrepancy[np.ix_(known, known)], self.values[known])
        return found.mean, np.sqrt(found.variance)

    def result(self) -> Section:
        """How large the values are, and how well each is predicted from the others."""
        known = self.values[self.known]
        facts = [(f"{len(self.values):,}", "graphs")]
        if len(known):
            facts.append((f"{known.min():.3g} to {known.max():.3g}", "values"))
        if self.left_out is None:
            text = "This is a matrix of similarities; nothing was predicted from it."
            return Section("Result", [Facts(facts), Text(text)])
        mean, std = self.left_out
        rmse, spread = float(np.sqrt(np.mean((mean - known) ** 2))), float(known.std())
        inside = float((np.abs(mean - known) <= 1.959964 * std).mean())
        facts += [(f"{rmse:.3g}", "root mean squared error"), (f"{100 * inside:.0f} %", "inside the 95 % interval")]
        text = (
            "Each value is predicted from those of all other graphs, by a Gaussian process on this one matrix. The "
            f"error is {rmse:.3g}; the mean of all values would be off by {spread:.3g}. Of 100 values, 95 should be "
            "inside their intervals. Widths and noise were chosen on all graphs, so the error is slightly flattering; "
            "`RWKGaussianProcess` adds up several such matrices, and is usually better."
        )
        return Section("Result", [Facts(facts), Text(text), self._parity(mean, std)])

    def neighbours(self, drawn: Drawn) -> Section:
        """The graphs with the smallest, the middle and the largest value, and the graphs nearest to them."""
        if len(self.known) < 3:
            return Section("Nearest neighbours")
        text = "For the smallest, the middle and the largest value, the graphs nearest to it and their values. RW is "
        text += "the discrepancy: the smaller, the more alike two graphs are. If similar graphs have similar values, "
        text += "values can be predicted."
        blocks: list[Any] = [Text(text)]
        order = self.known[np.argsort(self.values[self.known], kind="stable")]
        for i in dict.fromkeys(int(order[place]) for place in (0, len(order) // 2, -1)):
            near = self._nearest(i)[:NEIGHBOURS]
            rows = [
                [self.run.title(j), self._value(j), f"{self.run.discrepancy[i, j]:.3f}", f"{self.run.kernel[i, j]:.3f}"]
                for j in near
            ]
            caption = f"{self.run.title(i)}, value {self._value(i)}"
            blocks.append(Table(["nearest", "value", "RW", "kernel"], rows, caption))
            blocks += drawn(i, int(near[0]))
        return Section("Nearest neighbours", blocks)

    def outliers(self, drawn: Drawn) -> Section:
        """Graphs whose value is far from its prediction, with the values of their nearest graphs."""
        if self.left_out is None:
            return Section("Most surprising values")
        mean, std = self.left_out
        surprise = (self.values[self.known] - mean) / std
        rows, pairs = [], []
        for place in np.argsort(-np.abs(surprise), kind="stable")[:SURPRISING]:
            i = int(self.known[place])
            near = self._nearest(i)[:3]
            pairs.append((i, int(near[0])))
            others = ", ".join(f"{self.run.title(j)} ({self._value(j)})" for j in near)
            predicted = f"{mean[place]:.3g} ± {std[place]:.2g}"
            rows.append([self.run.title(i), self._value(i), predicted, f"{surprise[place]:+.1f}", others])
        head = ["graph", "value", "predicted", "surprise", "nearest graphs and their values"]
        text = "Values that the other graphs predict worst; surprise is the error divided by the standard deviation of "
        text += "the prediction. Look for errors of measurement here first."
        blocks: list[Any] = [Text(text), Table(head, rows)]
        for i, j in pairs[:2]:
            blocks += drawn(i, j)
        return Section("Most surprising values", blocks)

    def _parity(self, mean: FloatArray, std: FloatArray) -> Picture:
        from rwk.report.regression_charts import parity_figure

        figure = parity_figure(self.values[self.known], mean, std, "Measured and predicted values")
        words = f"Predicted over measured values of {len(mean)} graphs, with 95 % intervals; on the line they are equal"
        return picture(figure.axes[0], words)

    def _nearest(self, i: int) -> IntArray:
        order = np.argsort(self.run.discrepancy[i], kind="stable").astype(np.int64)
        return np.asarray(order[order != i])

    def _value(self, i: Any) -> str:
        return f"{self.values[int(i)]:.3g}"
