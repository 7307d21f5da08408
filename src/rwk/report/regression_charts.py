"""Pictures of a regression: measured against predicted values, calibration, and the learning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rwk.report.palette import CLASSES, INK, MUTED, as_text, new_figure
from rwk.runtime.arrays import FloatArray


def parity_figure(targets: FloatArray, mean: FloatArray, std: FloatArray, title: str) -> Any:
    """Predictions with 95 % intervals over measured values; points on the line are right.

    The axes are those of the points: a molecule whose like was never seen may have an interval many times as wide.
    """
    figure = new_figure(5.0, 5.0)
    axes = figure.add_subplot()
    axes.errorbar(targets, mean, 1.96 * std, fmt="o", ms=3, lw=0.5, color=CLASSES[0], ecolor=MUTED, alpha=0.7)
    low, high = float(min(targets.min(), mean.min())), float(max(targets.max(), mean.max()))
    room = 0.06 * (high - low)
    axes.plot([low, high], [low, high], color=INK, lw=1)
    axes.set(xlabel="measured", ylabel="predicted without it (95 % interval)", title=as_text(title))
    axes.set(xlim=(low - room, high + room), ylim=(low - room, high + room), aspect="equal")
    return figure


def calibration_figure(levels: Sequence[float], shares: FloatArray) -> Any:
    """The share of values inside intervals of each level; on the diagonal error bars are right."""
    figure = new_figure(4.5, 4.5)
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=INK, lw=1)
    axes.plot(levels, shares, "o-", ms=4, color=CLASSES[0])
    axes.text(0.04, 0.95, "error bars too wide", color=MUTED, va="top")
    axes.text(0.96, 0.05, "error bars too narrow", color=MUTED, ha="right")
    axes.set(xlabel="level of the interval", ylabel="share of values inside", xlim=(0, 1), ylim=(0, 1))
    return figure


def learning_curve_figure(curve: Mapping[int, Sequence[float]]) -> Any:
    """RMSE on a fifth of the graphs over the number of training graphs; every split is a point."""
    figure = new_figure(5.0, 3.5)
    axes = figure.add_subplot()
    sizes = sorted(curve)
    errors = [error for size in sizes for error in curve[size]]
    places = [size for size in sizes for _ in curve[size]]
    axes.plot(places, errors, "o", ms=3, color=MUTED, label="one split")
    axes.plot(sizes, [float(np.mean(curve[size])) for size in sizes], "o-", color=CLASSES[0], label="mean")
    highest = max(errors, default=0.0) or 1.0
    axes.set(xlabel="training graphs", ylabel="RMSE of the others", ylim=(0, 1.08 * highest))
    axes.legend(frameon=False)
    return figure
