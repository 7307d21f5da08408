"""Charts: convergence of a solve, and accuracies, ablations, run times and scaling from records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.report.palette import CLASSES, FAINT, INK, LINK, MUTED, WARN, as_text, headline, new_axes, quiet, softened
from rwk.runtime.words import counted

GAP = 1.4  # between groups of bars, in widths of a bar
METHODS = (*CLASSES, *(softened(colour, 0.45) for colour in CLASSES))

if TYPE_CHECKING:
    from rwk.experiment import Score
    from rwk.transport.problem import PairSolution


def plot_convergence(solution: PairSolution, *, ax: Any = None) -> Any:
    """Draw the objective and the gap of each iteration of a solve, and the rate 1/√k that theory gives for the gap.

    Parameters
    ----------
    solution : PairSolution
        A solution with its history, from `rwk.align(G, H, trace=True)`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import align
    >>> from rwk.report import plot_convergence
    >>> plot_convergence(align(nx.path_graph(5), nx.star_graph(5), trace=True)).get_xlabel()
    'iteration'
    """
    if solution.history is None or not len(solution.history):
        raise ValueError("the solution has no history; make it with align(G, H, trace=True)")
    ax = new_axes(5.4, 3.6) if ax is None else ax
    objective, gap = np.asarray(solution.history).T
    steps = np.arange(1, len(gap) + 1)
    positive = gap > 0
    ax.plot(steps[positive], gap[positive], "o-", color=WARN, markersize=4, label="gap")
    ax.plot(steps, gap[positive][0] / np.sqrt(steps) if positive.any() else steps * np.nan, "--", color=MUTED,
            linewidth=1, label="1/√k")  # fmt: skip
    ax.set_yscale("log")
    ax.set_xlabel("iteration")
    ax.set_ylabel("gap", color=WARN)
    quiet(ax, grid="y")
    ax.set_xticks(steps if len(steps) <= 20 else np.linspace(1, len(steps), 6, dtype=int))
    other = ax.twinx()
    other.plot(steps, objective, "s-", color=LINK, markersize=4, label="objective")
    other.set_ylabel("objective", color=LINK)
    quiet(other)
    other.yaxis.label.set_color(LINK)
    ax.yaxis.label.set_color(WARN)
    lines = [*ax.get_lines(), *other.get_lines()]
    ax.legend(handles=lines, frameon=False, fontsize=8.5, labelcolor=INK, loc="center right")
    state = "converged" if solution.converged else "not converged"
    headline(
        ax,
        f"{counted(solution.n_iter, 'iteration')}, {state}",
        f"objective {objective[-1]:.4g}, last gap {gap[-1]:.2g}",
    )
    return ax


def plot_accuracy(
    scores: Iterable[Score], *, published: Mapping[str, Mapping[str, float]] | None = None, ax: Any = None
) -> Any:
    """Draw accuracies from records: one bar per method, error bars over repeats, the majority class as a line.

    Parameters
    ----------
    scores : iterable of Score
        Records of folds, from `nested_cv` or `rwk.experiment.read_records`.
    published : mapping of dataset to mapping of name to percentage, optional
        Accuracies from elsewhere, such as {"MUTAG": {"paper": 93.6}}; drawn as open diamonds.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_accuracy
    >>> plot_accuracy([], published={}).get_ylabel()
    'accuracy, %'
    """
    from rwk.experiment.tables import experiments

    groups = experiments(scores)
    bars = _Bars([(group.dataset, group.method) for group in groups], ax)
    lowest = 100.0
    for group in groups:
        spread = 100 * group.std_repeats if group.n_repeats > 1 else 0.0
        bars.draw(group.dataset, group.method, 100 * group.mean, yerr=spread)
        lowest = min(lowest, 100 * group.majority, 100 * group.mean - spread)
    for dataset, (left, right) in bars.extents().items():
        majority = 100 * next(group.majority for group in groups if group.dataset == dataset)
        bars.ax.plot([left, right], [majority] * 2, color=INK, linewidth=1.2, linestyle=":", zorder=4,
                     **bars.once("majority class"))  # fmt: skip
        figures = (published or {}).get(dataset, {})
        for i, (name, figure) in enumerate(figures.items()):
            at = left + (right - left) * (i + 0.5) / len(figures)
            bars.ax.plot(at, figure, "D", markerfacecolor="white", markeredgecolor=INK, markersize=5, zorder=5,
                         **bars.once(f"{name} (published)"))  # fmt: skip
            lowest = min(lowest, figure)
    bars.frame("accuracy, %", (max(0.0, lowest - 8), 100.0))
    headline(bars.ax, "Accuracy", "mean of nested cross-validation; error bars: standard deviation over repeats")
    return bars.ax


def plot_ablation(scores: Iterable[Score], *, reference: str = "RWK", ax: Any = None) -> Any:
    """Draw the difference in accuracy between each variant and a reference method, per dataset, in percentage points.

    Parameters
    ----------
    scores : iterable of Score
        Records of folds, those of the reference method among them.
    reference : str
        Name of the reference method.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_ablation
    >>> plot_ablation([]).get_ylabel()
    'points against RWK'
    """
    from rwk.experiment.tables import experiments

    groups = experiments(scores)
    whole = {group.dataset: group.mean for group in groups if group.method == reference}
    others = [group for group in groups if group.method != reference and group.dataset in whole]
    bars = _Bars([(group.dataset, group.method) for group in others], ax)
    for group in others:
        bars.draw(group.dataset, group.method, 100 * (group.mean - whole[group.dataset]))
    bars.ax.axhline(0, color=INK, linewidth=1)
    bars.frame(f"points against {reference}", None)
    headline(bars.ax, f"Difference to {reference}", f"bars below 0 are worse than {reference} on the same folds")
    return bars.ax


def plot_runtime(rows: Iterable[Mapping[str, Any]], *, value: str = "ms_per_pair", ax: Any = None) -> Any:
    """Draw run times on a logarithmic scale, one bar per method and dataset.

    Parameters
    ----------
    rows : iterable of mappings
        Each has `dataset`, `method` and the entry named by `value`.
    value : str
        Which entry to draw.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_runtime
    >>> plot_runtime([{"dataset": "MUTAG", "method": "rwk", "ms_per_pair": 0.1}]).get_yscale()
    'log'
    """
    table = list(rows)
    bars = _Bars([(row["dataset"], row["method"]) for row in table], ax)
    for row in table:
        at = bars.draw(row["dataset"], row["method"], row[value])
        bars.ax.annotate(f"{row[value]:.2g}", (at, row[value]), (0, 2), textcoords="offset points", ha="center",
                         fontsize=7, color=MUTED)  # fmt: skip
    bars.ax.set_yscale("log")
    bars.frame(value.replace("_", " "), None)
    headline(bars.ax, "Run time", "logarithmic scale; shorter bars are better")
    return bars.ax


def plot_scaling(
    rows: Iterable[Mapping[str, Any]], *, x: str, y: str, guides: Sequence[float] = (), ax: Any = None
) -> Any:
    """Draw how a quantity grows, with logarithmic axes and one line per method.

    Parameters
    ----------
    rows : iterable of mappings
        Each has `method` and the entries named by `x` and `y`.
    x, y : str
        Which entries to draw.
    guides : sequence of float
        Slopes to draw as dotted lines from the first point.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from rwk.report import plot_scaling
    >>> rows = [{"method": "rwk", "nodes": n, "seconds": n**3} for n in (10, 20, 40)]
    >>> plot_scaling(rows, x="nodes", y="seconds", guides=[3]).get_xscale()
    'log'
    """
    table = list(rows)
    ax = new_axes(5.4, 3.8) if ax is None else ax
    for rank, method in enumerate(dict.fromkeys(row["method"] for row in table)):
        points = sorted((row[x], row[y]) for row in table if row["method"] == method)
        ax.plot(
            *zip(*points, strict=True), "o-", color=CLASSES[rank % len(CLASSES)], markersize=4, label=as_text(method)
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    if table and guides:
        first, last = min(row[x] for row in table), max(row[x] for row in table)
        base = min(row[y] for row in table if row[x] == first)
        for slope in guides:
            ax.plot([first, last], [base, base * (last / first) ** slope], ":", color=MUTED, linewidth=1)
            ax.annotate(f"slope {slope:g}", (last, base * (last / first) ** slope), (-4, 4), ha="right", fontsize=8,
                        textcoords="offset points", color=MUTED)  # fmt: skip
    marks = sorted({row[x] for row in table})
    if len(marks) <= 8:  # else powers of ten are marked
        ax.set_xticks(marks, [f"{mark:,g}" for mark in marks])
        ax.minorticks_off()
    ax.set_xlabel(x.replace("_", " "))
    ax.set_ylabel(y.replace("_", " "))
    quiet(ax, grid="both")
    if table:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=INK)
    return ax


class _Bars:
    """Bars in one group per dataset and one colour per method; a group has no gap for a method that was not run."""

    def __init__(self, keys: Sequence[tuple[str, str]], ax: Any) -> None:
        self.methods = list(dict.fromkeys(method for _, method in keys))
        self.groups: dict[str, list[str]] = {}
        for dataset, method in keys:
            self.groups.setdefault(dataset, []).append(method)
        for group in self.groups.values():
            group.sort(key=self.methods.index)
        self.starts, place = {}, 0.0
        for dataset, group in self.groups.items():
            self.starts[dataset] = place
            place += len(group) + GAP
        self.ax = new_axes(float(np.clip(1.2 + 0.24 * place, 4.5, 13.0)), 3.8) if ax is None else ax
        self._named: set[str] = set()

    def draw(self, dataset: str, method: str, height: float, **more: Any) -> float:
        """Draw one bar; returns its position."""
        at = self.starts[dataset] + self.groups[dataset].index(method)
        colour = METHODS[self.methods.index(method) % len(METHODS)]
        self.ax.bar(at, height, 0.86, color=colour, error_kw={"ecolor": INK, "lw": 1}, **more, **self.once(method))
        return at

    def extents(self) -> dict[str, tuple[float, float]]:
        """Left and right end of each group."""
        return {name: (self.starts[name] - 0.6, self.starts[name] + len(group) - 0.4)
                for name, group in self.groups.items()}  # fmt: skip

    def once(self, title: str) -> dict[str, str]:
        """The keyword that puts a title into the legend, the first time only."""
        if title in self._named:
            return {}
        self._named.add(title)
        return {"label": as_text(title)}

    def frame(self, label: str, limits: tuple[float, float] | None) -> None:
        """Draw ticks, labels, grid and legend, after all bars."""
        self.ax.set_xticks(
            [(left + right) / 2 for left, right in self.extents().values()], list(map(as_text, self.groups))
        )
        self.ax.set_ylabel(label)
        if limits and self.groups:
            self.ax.set_ylim(*limits)
        quiet(self.ax, grid="y")
        self.ax.grid(axis="y", color=FAINT)
        if self._named:
            columns = int(np.clip(self.ax.figure.get_figwidth() // 1.3, 3, max(len(self._named), 3)))
            self.ax.legend(frameon=False, fontsize=8, labelcolor=INK, ncols=columns, loc="upper center",
                           bbox_to_anchor=(0.5, -0.1))  # fmt: skip
