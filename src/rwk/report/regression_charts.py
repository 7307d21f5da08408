"""Pictures of a regression: measured against predicted values, calibration, and the learning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwk.report.palette import CLASSES, INK, MUTED, new_figure
from rwk.runtime.arrays import FloatArray


def parity_figure(targets: FloatArray, mean: FloatArray, std: FloatArray, title: str) -> Any:
    """Predictions with 95 % intervals over measured values; points on the line are right."""
    figure = new_figure(5.0, 5.0)
    axes = figure.add_subplot()
    axes.errorbar(targets, mean, 1.96 * std, fmt="o", ms=3, lw=0.5, color=CLASSES[0], ecolor=MUTED, alpha=0.7)
    ends = [float(min(targets.min(), mean.min())), float(max(targets.max(), mean.max()))]
    axes.plot(ends, ends, color=INK, lw=1)
    axes.set(xlabel="measured", ylabel="predicted without it (95 % interval)", title=title)
    return figure


def calibration_figure(levels: Sequence[float], shares: FloatArray) -> Any:
    """The share of values inside intervals of each level; on the diagonal error bars are right."""
    figure = new_figure(4.5, 4.5)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=INK, lw=1)
    axes.plot(levels, shares, "o-", ms=4, color=CLASSES[0])
    axes.set(xlabel="level of the interval", ylabel="share of values inside", xlim=(0, 1), ylim=(0, 1))
    return figure


def learning_curve_figure(curve: Mapping[int, Sequence[float]]) -> Any:
    """RMSE on a fifth of the graphs over the number of training graphs; every split is a point."""
    figure = new_figure(5.0, 3.5)
    axes = figure.add_subplot()
    sizes = sorted(curve)
    for size in sizes:
        axes.plot([size] * len(curve[size]), curve[size], "o", ms=3, color=MUTED)
    axes.plot(sizes, [float(np.mean(curve[size])) for size in sizes], "o-", color=CLASSES[0])
    axes.set(xlabel="training graphs", ylabel="RMSE", ylim=(0, None))
    return figure
