"""Pictures of records: convergence of a solve, accuracies, ablations, run times, scaling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.cards import counted
from rwk.report.palette import CLASSES, FAINT, INK, LINK, MUTED, WARN, headline, new_axes, quiet

if TYPE_CHECKING:
    from rwk.experiment import Score
    from rwk.transport.problem import PairSolution


def plot_convergence(solution: PairSolution, *, ax: Any = None) -> Any:
    """Draw how a solve went: the objective, the gap, and the 1/√k that theory promises for the gap.

    The solution must hold its history: `align(G, H, trace=True)`.

    >>> from rwk import align
    >>> import networkx as nx
    >>> plot_convergence(align(nx.path_graph(5), nx.star_graph(5), trace=True)).get_xlabel()
    'iteration'
    """
    if solution.history is None or not len(solution.history):
        raise ValueError("the solution has no history; get one with align(G, H, trace=True)")
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
    """Draw accuracies from records: a bar a method, whiskers over repeats, the majority class as a line.

    `published` maps a dataset to figures in percent by name (such as {"MUTAG": {"paper": 93.6}}); they are drawn as
    open diamonds, since they were not measured here.

    >>> plot_accuracy([], published={}).get_ylabel()
    'accuracy, %'
    """
    from rwk.experiment.tables import experiments

    groups = experiments(scores)
    datasets = list(dict.fromkeys(group.dataset for group in groups))
    methods = list(dict.fromkeys(group.method for group in groups))
    ax = new_axes(max(4.5, 1.2 + 0.34 * len(datasets) * (len(methods) + 1)), 3.8) if ax is None else ax
    width = 0.8 / max(len(methods), 1)
    lowest = 100.0
    for group in groups:
        at = datasets.index(group.dataset) + (methods.index(group.method) - (len(methods) - 1) / 2) * width
        spread = 100 * group.std_repeats if group.n_repeats > 1 else 0.0
        colour = CLASSES[methods.index(group.method) % len(CLASSES)]
        ax.bar(at, 100 * group.mean, 0.92 * width, yerr=spread, color=colour, error_kw={"ecolor": INK, "lw": 1},
               label=group.method if group.dataset == datasets[0] else None)  # fmt: skip
        lowest = min(lowest, 100 * group.majority, 100 * group.mean - spread)
    for place, dataset in enumerate(datasets):
        majority = 100 * next(group.majority for group in groups if group.dataset == dataset)
        ax.plot([place - 0.45, place + 0.45], [majority] * 2, color=INK, linewidth=1, linestyle=":",
                label="majority class" if not place else None)  # fmt: skip
        figures = (published or {}).get(dataset, {})
        for i, (name, figure) in enumerate(figures.items()):
            ax.plot(place - 0.3 + 0.6 * (i + 0.5) / len(figures), figure, "D", markerfacecolor="white",
                    markeredgecolor=INK, markersize=5, label=f"{name} (published)" if not place else None)  # fmt: skip
            lowest = min(lowest, figure)
    _bars_frame(ax, datasets, "accuracy, %", (max(0.0, lowest - 8), 100.0))
    headline(ax, "Accuracy", "mean of nested cross-validation; whiskers: deviation over repeats")
    return ax


def plot_ablation(scores: Iterable[Score], *, reference: str = "RWK", ax: Any = None) -> Any:
    """Draw what each variant wins or loses against a reference method, in points, dataset by dataset.

    >>> plot_ablation([]).get_ylabel()
    'points against RWK'
    """
    from rwk.experiment.tables import experiments

    groups = experiments(scores)
    whole = {group.dataset: group.mean for group in groups if group.method == reference}
    others = [group for group in groups if group.method != reference and group.dataset in whole]
    datasets = [dataset for dataset in whole if any(group.dataset == dataset for group in others)]
    methods = list(dict.fromkeys(group.method for group in others))
    ax = new_axes(max(4.5, 1.2 + 0.3 * len(datasets) * (len(methods) + 1)), 3.6) if ax is None else ax
    width = 0.8 / max(len(methods), 1)
    for group in others:
        rank = methods.index(group.method)
        at = datasets.index(group.dataset) + (rank - (len(methods) - 1) / 2) * width
        ax.bar(at, 100 * (group.mean - whole[group.dataset]), 0.92 * width, color=CLASSES[rank % len(CLASSES)],
               label=group.method if group.dataset == datasets[0] else None)  # fmt: skip
    ax.axhline(0, color=INK, linewidth=1)
    _bars_frame(ax, datasets, f"points against {reference}", None)
    headline(ax, "Ablation", "bars below 0: the part left out was worth its place")
    return ax


def plot_runtime(rows: Iterable[Mapping[str, Any]], *, value: str = "ms_per_pair", ax: Any = None) -> Any:
    """Draw run times on a log scale from rows with `dataset`, `method` and the value named.

    >>> plot_runtime([{"dataset": "MUTAG", "method": "rwk", "ms_per_pair": 0.1}]).get_yscale()
    'log'
    """
    table = list(rows)
    datasets = list(dict.fromkeys(row["dataset"] for row in table))
    methods = list(dict.fromkeys(row["method"] for row in table))
    ax = new_axes(max(4.5, 1.2 + 0.34 * len(datasets) * (len(methods) + 1)), 3.6) if ax is None else ax
    width = 0.8 / max(len(methods), 1)
    for row in table:
        rank = methods.index(row["method"])
        at = datasets.index(row["dataset"]) + (rank - (len(methods) - 1) / 2) * width
        ax.bar(at, row[value], 0.92 * width, color=CLASSES[rank % len(CLASSES)],
               label=row["method"] if row["dataset"] == datasets[0] else None)  # fmt: skip
        ax.annotate(f"{row[value]:.2g}", (at, row[value]), (0, 2), textcoords="offset points", ha="center", fontsize=7,
                    color=MUTED)  # fmt: skip
    ax.set_yscale("log")
    _bars_frame(ax, datasets, value.replace("_", " "), None)
    headline(ax, "Run time", "logarithmic; shorter is better")
    return ax


def plot_scaling(
    rows: Iterable[Mapping[str, Any]], *, x: str, y: str, guides: Sequence[float] = (), ax: Any = None
) -> Any:
    """Draw how a figure grows, log on both axes, one line a `method`; `guides` are slopes drawn from the first point.

    >>> rows = [{"method": "rwk", "nodes": n, "seconds": n**3} for n in (10, 20, 40)]
    >>> plot_scaling(rows, x="nodes", y="seconds", guides=[3]).get_xscale()
    'log'
    """
    table = list(rows)
    ax = new_axes(5.4, 3.8) if ax is None else ax
    for rank, method in enumerate(dict.fromkeys(row["method"] for row in table)):
        points = sorted((row[x], row[y]) for row in table if row["method"] == method)
        ax.plot(*zip(*points, strict=True), "o-", color=CLASSES[rank % len(CLASSES)], markersize=4, label=method)
    ax.set_xscale("log")
    ax.set_yscale("log")
    if table and guides:
        first, last = min(row[x] for row in table), max(row[x] for row in table)
        base = min(row[y] for row in table if row[x] == first)
        for slope in guides:
            ax.plot([first, last], [base, base * (last / first) ** slope], ":", color=MUTED, linewidth=1)
            ax.annotate(f"slope {slope:g}", (last, base * (last / first) ** slope), (-4, 4), ha="right", fontsize=8,
                        textcoords="offset points", color=MUTED)  # fmt: skip
    ax.set_xlabel(x.replace("_", " "))
    ax.set_ylabel(y.replace("_", " "))
    quiet(ax, grid="both")
    if table:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=INK)
    return ax


def _bars_frame(ax: Any, names: Sequence[str], label: str, limits: tuple[float, float] | None) -> None:
    ax.set_xticks(range(len(names)), names)
    ax.set_ylabel(label)
    if limits and names:
        ax.set_ylim(*limits)
    quiet(ax, grid="y")
    ax.grid(axis="y", color=FAINT)
    handles, titles = ax.get_legend_handles_labels()
    if handles:
        ax.legend(handles, titles, frameon=False, fontsize=8, labelcolor=INK, ncols=min(4, len(handles)),
                  loc="upper center", bbox_to_anchor=(0.5, -0.12))  # fmt: skip
