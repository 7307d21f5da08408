"""The critical-difference diagram: average ranks of methods, and which do not differ significantly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.report.palette import FAINT, INK, LINK, MUTED, as_text, headline, new_axes

if TYPE_CHECKING:
    from rwk.experiment.statistics import AverageRanks


def plot_ranks(found: AverageRanks, *, highlight: tuple[str, ...] = ("RWK",), ax: Any = None) -> Any:
    """Draw average ranks on a line, best at the left; bars join methods that do not differ significantly.

    Parameters
    ----------
    found : AverageRanks
        The ranks, from `rwk.experiment.statistics.average_ranks`.
    highlight : tuple of str
        Methods to draw in colour.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_ranks
    >>> from rwk.experiment.statistics import average_ranks
    >>> ranks = average_ranks({"a": {"RWK": 0.9, "WL": 0.8}, "b": {"RWK": 0.9, "WL": 0.7}})
    >>> [text.get_text() for text in plot_ranks(ranks).texts][:2]
    ['RWK  1.00', '2.00  WL']
    """
    count = len(found.methods)
    groups = found.groups()
    left = (count + 1) // 2  # names of the better half are written at the left, the others at the right
    ax = new_axes(6.4, 1.2 + 0.24 * (left + len(groups))) if ax is None else ax
    low, high = 1.0, float(count)
    margin = 0.35 * (high - low) + 0.3
    bars_end = 0.5 + 0.45 * len(groups)
    for i, (method, rank) in enumerate(zip(found.methods, found.ranks, strict=True)):
        colour = LINK if method in highlight else INK
        at_left = i < left
        height = -bars_end - 0.8 * (i if at_left else count - 1 - i) - 0.4
        edge = low - 0.1 * margin if at_left else high + 0.1 * margin
        ax.plot([rank, rank, edge], [0, height, height], color=colour, linewidth=1, solid_joinstyle="miter")
        ax.text(
            edge + (-0.02 if at_left else 0.02) * margin,
            height,
            as_text(f"{method}  {rank:.2f}" if at_left else f"{rank:.2f}  {method}"),
            ha="right" if at_left else "left",
            va="center",
            color=colour,
            fontsize=9,
            fontweight="bold" if method in highlight else "normal",
        )
    rank_of = dict(zip(found.methods, found.ranks, strict=True))
    for level, group in enumerate(groups):
        ends = np.array([rank_of[group[0]] - 0.04, rank_of[group[-1]] + 0.04])
        ax.plot(ends, [-0.4 - 0.45 * level] * 2, color=INK, linewidth=3.5, solid_capstyle="butt")
    _scale(ax, low, high, found.critical_difference)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(-bars_end - 0.8 * left - 0.2, 2.3)
    ax.axis("off")
    headline(
        ax,
        f"average ranks over {found.n_datasets} datasets",
        f"bars join methods that do not differ (Nemenyi, {100 * found.alpha:g} %); Friedman p = {found.p_value:.2g}",
    )
    return ax


def _scale(ax: Any, low: float, high: float, difference: float) -> None:
    """Draw the line of ranks with its ticks, and the critical difference above it."""
    ax.plot([low, high], [0, 0], color=MUTED, linewidth=1)
    for rank in range(int(low), int(high) + 1):
        ax.plot([rank, rank], [0, 0.25], color=MUTED, linewidth=1)
        ax.annotate(str(rank), (rank, 0.35), ha="center", va="bottom", color=MUTED, fontsize=8)
    shown = min(difference, high - low)
    ax.plot([low, low + shown], [1.5, 1.5], color=MUTED if difference == shown else FAINT, linewidth=2)
    ax.annotate(f"critical difference {difference:.2f}", (low, 1.6), va="bottom", color=MUTED, fontsize=8)
