"""The sections of a report on a run: what is shown, in which order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from rwk.graphs import Graph, GraphSet
from rwk.report.alignment import plot_alignment
from rwk.report.blocks import Facts, Picture, Section, Table, Text, picture
from rwk.report.class_scores import prediction_sections
from rwk.report.class_sections import class_centres, class_section
from rwk.report.heatmap import plot_kernel
from rwk.report.maps import plot_map, plot_spectrum
from rwk.report.palette import new_axes
from rwk.report.run_data import RunData
from rwk.report.value_sections import ValueSections
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.problem import PairSolution

# aligns two graphs with the scales of the run
Aligner = Callable[[Graph, Graph], PairSolution]
NEIGHBOURS = 5
HARD = 5


def run_sections(run: RunData, graphs: GraphSet | None, align: Aligner | None) -> list[Section]:
    """All sections of a report; without graphs, the pictures of alignments are left out."""
    values = ValueSections(run) if not run.record and run.has_values else None
    drawn = partial(_drawn, run, graphs, align)
    sections = [
        _result(run) if values is None else values.result(),
        *prediction_sections(run),
        _overview(run),
        class_section(run, graphs, align),
        _neighbours(run, graphs, align) if values is None else values.neighbours(drawn),
        _hardest(run, graphs, align) if values is None else values.outliers(drawn),
        _health(run),
        _settings(run),
        _made_with(run),
    ]
    return [section for section in sections if section.blocks]


def _result(run: RunData) -> Section:
    record = run.record
    if not record:
        facts = Facts([(f"{len(run.kernel)}", "graphs"), (_classes(run), "classes")])
        return Section("Result", [facts, Text("This is a matrix of similarities; nothing was predicted from it.")])
    folds = len({score.fold for score in run.scores})
    repeats = int(record["n_repeats"])
    spread = f" ± {100 * record['std_repeats']:.1f}" if math.isfinite(record["std_repeats"]) else ""
    facts = Facts(
        [
            (f"{100 * record['accuracy']:.1f}{spread} %", f"accuracy, {repeats} × {folds} folds"),
            (f"{100 * record['majority']:.1f} %", "share of the largest class"),
            (f"{record['dataset']['n_graphs']:,}", "graphs"),
            (f"{record['health']['pairs_per_second']:,.0f}", "pairs per second"),
        ]
    )
    by_seed: dict[int, list[float]] = {}
    for score in run.scores:
        by_seed.setdefault(score.seed, []).append(score.score)
    rows = [
        [str(seed), f"{100 * np.mean(found):.1f}", f"{100 * min(found):.1f} to {100 * max(found):.1f}"]
        for seed, found in sorted(by_seed.items())
    ]
    note = f"{record['protocol'][:1].upper()}{record['protocol'][1:]}. The standard deviation is over repeats; "
    note += f"over single folds it is {100 * record['std_folds']:.1f} points."
    table = Table(["repeat", "accuracy, %", "range over folds, %"], rows)
    return Section("Result", [facts, Text(_plain_result(record)), Text(note), table])


def _plain_result(record: Mapping[str, Any]) -> str:
    """The figures of a result in words."""
    better = 100 * (record["accuracy"] - record["majority"])
    compared = f"{abs(better):.1f} points {'better' if better >= 0 else 'worse'} than"
    pairs = f"{record['health']['n_pairs']:,}"
    return (
        "Accuracy is the share of graphs whose class was predicted right: "
        f"{100 * record['accuracy']:.0f} of 100. That is {compared} always naming the largest class. To predict, every "
        f"graph was compared with every other, {pairs} pairs in all; pairs per second is how fast that went. In a "
        "repeat, the graphs are dealt into folds anew and each fold is predicted by a model trained on the others; ± "
        "says how much the accuracy varies between repeats."
    )


def _classes(run: RunData) -> str:
    return "none" if run.targets is None else str(len(np.unique(run.targets)))


def _health(run: RunData) -> Section:
    blocks: list[Any] = []
    health = run.record.get("health", {})
    if health:
        share = health["n_not_converged"] / max(health["n_pairs"], 1)
        rows = [
            ["pairs solved", f"{health['n_pairs']:,}", "comparisons of two graphs"],
            [
                "not converged",
                f"{health['n_not_converged']:,} ({share:.1%})",
                "comparisons stopped before they settled",
            ],
            ["iterations, mean", f"{health['mean_iterations']:.1f}", "steps of the solver per comparison"],
            ["seconds", f"{health['seconds']:,.1f}", "time for all comparisons"],
        ]
        blocks.append(Table(["quantity", "value", "what it is"], rows))
        if share > 0.25:
            text = (
                f"{share:.0%} of the pairs did not converge: their gap is above the tolerance. Raise max_iter or tol."
            )
            blocks.append(Text(text, "warn"))
    if len(run.kernel) <= 5000:
        values = np.linalg.eigvalsh((run.kernel + run.kernel.T) / 2)
        negative = float(-values[values < 0].sum() / np.abs(values).sum())
        text = (
            f"The eigenvalues of the kernel tell whether it behaves like a sum of squares: {100 * negative:.2g} % of "
        )
        text += "its spectrum is negative"
        if negative > 0.1:
            way = (
                "use RWKGaussianProcess, which clips it" if run.has_values else "use IndefiniteSVC, not a standard SVM"
            )
            blocks.append(Text(f"{text}: {way}.", "warn"))
        elif run.has_values:
            blocks.append(Text(f"{text}; RWKGaussianProcess clips it."))
        else:
            blocks.append(Text(f"{text}; IndefiniteSVC, which made the predictions, is made for such kernels."))
        words = f"Eigenvalues of the kernel; {100 * negative:.2g} % of their sum is negative"
        blocks.append(picture(plot_spectrum(run.kernel), words))
    return Section("Health", blocks)


def _overview(run: RunData) -> Section:
    n = len(run.kernel)
    words = f"Heat map of the kernel of {n} graphs, ordered by {'value' if run.has_values else 'class and similarity'}"
    text = "The kernel says how similar two graphs are, from 0 to 1. "
    if run.has_values:
        text += "If similar graphs have similar values, the heat map is dark near its diagonal, and colours change "
        text += "gradually on the map."
    else:
        text += "If classes can be told apart, the heat map has dark blocks on its diagonal, and the map has groups of "
        text += "one colour."
    blocks: list[Any] = [Text(text), picture(plot_kernel(run.kernel, run.targets), words)]
    if n > 2:
        what = "values" if run.has_values else "classes"
        words = f"Map of {n} graphs in the plane: near means similar, colours are {what}"
        blocks.append(picture(plot_map(run.discrepancy, run.targets, names=run.names), words))
    return Section("Overview", blocks)


def _neighbours(run: RunData, graphs: GraphSet | None, align: Aligner | None) -> Section:
    """The most central graph of each class, and the graphs nearest to it."""
    if len(run.kernel) < 3:
        return Section("Nearest neighbours")
    text = "For each class, the graph most similar to its class, and the graphs nearest to it. RW is the discrepancy: "
    text += "the smaller, the more alike two graphs are. The kernel turns it into a similarity, from near 0 to 1."
    blocks: list[Any] = [Text(text)]
    for i in class_centres(run)[:4]:
        nearest = _nearest(run, i)[:NEIGHBOURS]
        rows = [
            [run.title(j), _target(run, j), f"{run.discrepancy[i, j]:.3f}", f"{run.kernel[i, j]:.3f}"] for j in nearest
        ]
        blocks.append(Table(["nearest", "class", "RW", "kernel"], rows, f"{run.title(i)}, class {_target(run, i)}"))
        blocks += _drawn(run, graphs, align, i, int(nearest[0]))
    return Section("Nearest neighbours", blocks)


def _hardest(run: RunData, graphs: GraphSet | None, align: Aligner | None) -> Section:
    """Graphs that are more similar to another class than to their own, with the nearest graph of each."""
    if run.targets is None or len(run.kernel) < 5 or len(np.unique(run.targets)) < 2:
        return Section("Hardest graphs")
    margins, same, other = _margins(run)
    order = np.argsort(margins)[:HARD]
    rows = [
        [
            run.title(i),
            _target(run, i),
            run.title(same[i]),
            f"{run.title(other[i])} ({_target(run, other[i])})",
            f"{margins[i]:+.3f}",
        ]
        for i in order
    ]
    head = ["graph", "class", "nearest of its class", "nearest of another", "difference of mean kernels"]
    text = "The graphs that are hardest to classify: those most similar to another class, compared with their own, "
    text += "judged by the five nearest of each side. A negative difference means that the other class is nearer."
    blocks: list[Any] = [Text(text), Table(head, rows)]
    for i in order[:2]:
        blocks += _drawn(run, graphs, align, int(i), int(same[i]))
        blocks += _drawn(run, graphs, align, int(i), int(other[i]))
    return Section("Hardest graphs", blocks)


def _settings(run: RunData) -> Section:
    from rwk.parameters import Parameters

    usual = Parameters().asdict()
    changed = {name: value for name, value in run.parameters.items() if name in usual and value != usual[name]}
    rows = [[name, f"{value}", f"{usual[name]}"] for name, value in changed.items()]
    blocks: list[Any] = []
    if rows:
        blocks.append(Table(["parameter", "here", "default"], rows))
    elif run.parameters:
        blocks.append(Text("All parameters have their default values."))
    chosen: Counter[str] = Counter()
    for score in run.scores:
        chosen[", ".join(f"{name} {_short(value)}" for name, value in score.chosen.items() if value is not None)] += 1
    if chosen:
        rows = [[what, str(count)] for what, count in chosen.most_common(6)]
        text = "In every fold, settings are chosen on the training graphs alone: C is how strictly the classifier "
        text += "fits, eta how quickly similarity falls with the discrepancy. Folds counts how often each was chosen."
        blocks += [Text(text), Table(["settings chosen on the training folds", "folds"], rows)]
    return Section("Settings", blocks)


def _made_with(run: RunData) -> Section:
    made = run.record.get("made_with", {})
    rows = [[name.replace("_", " "), str(value)] for name, value in made.items()]
    return Section("Made with", [Table(["what", "version or value"], rows)] if rows else [])


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_short(inside)}" for name, inside in value.items())
    return str(value)


def _nearest(run: RunData, i: int) -> IntArray:
    order = np.argsort(run.discrepancy[i], kind="stable").astype(np.int64)
    return np.asarray(order[order != i])


def _margins(run: RunData) -> tuple[FloatArray, IntArray, IntArray]:
    """Mean kernel to the five nearest graphs of the same class minus that of other classes; the nearest of each."""
    n = len(run.kernel)
    targets = np.asarray(run.targets)
    margins, nearest = np.zeros(n), np.zeros((2, n), np.int64)
    for i in range(n):
        order = _nearest(run, i)
        sides = [order[targets[order] == targets[i]][:NEIGHBOURS], order[targets[order] != targets[i]][:NEIGHBOURS]]
        means = [float(run.kernel[i, side].mean()) if len(side) else 0.0 for side in sides]
        margins[i] = means[0] - means[1]
        nearest[:, i] = [int(side[0]) if len(side) else i for side in sides]
    return margins, nearest[0], nearest[1]


def _drawn(run: RunData, graphs: GraphSet | None, align: Aligner | None, i: int, j: int) -> list[Picture]:
    if graphs is None or align is None or i == j:
        return []
    first, second = graphs[i], graphs[j]
    title = f"{run.title(i)} ({_target(run, i)}) and {run.title(j)} ({_target(run, j)})"
    larger = float(np.clip(max(first.n_nodes, second.n_nodes) / 40, 1.0, 1.8))
    axes = new_axes(
        6.4 * larger, 3.9 * larger, ncols=2, width_ratios=(3.0, 1)
    )  # small, so that it can be read on a phone
    ax = plot_alignment(first, second, align(first, second), axes=axes, title=title)
    sizes = f"{first.n_nodes} and {second.n_nodes} nodes"
    words = f"Alignment of {run.title(i)} and {run.title(j)}: {sizes}, lines show transported mass"
    return [picture(ax, words, wide=True)]


def _target(run: RunData, i: Any) -> str:
    if run.targets is None:
        return "-"
    target = run.targets[int(i)]
    return f"{target:.3g}" if run.has_values else str(target)
