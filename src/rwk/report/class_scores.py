"""The sections of a report on predictions: which classes are confused, scores per class, and calibration."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.report.blocks import Section, Table, Text, picture
from rwk.report.palette import INK, LINK, MUTED, headline, new_axes, quiet
from rwk.report.run_data import Predicted, RunData
from rwk.runtime.arrays import FloatArray, IntArray

BINS: Final = 5
MOST_SHOWN: Final = 12  # classes in the table of confusions


def prediction_sections(run: RunData) -> list[Section]:
    """The sections on predictions; empty if the run has none."""
    if run.predictions is None or run.targets is None:
        return []
    found = run.predictions
    names = np.array([str(target) for target in run.targets])
    known = (found.predicted >= 0) & np.isin(names, found.classes)
    true = np.searchsorted(found.classes, names[known], sorter=np.argsort(found.classes))
    true = np.argsort(found.classes)[true]
    counts = confusion(true, found.predicted[known], len(found.classes))
    sections = [_confused(found, counts), _by_class(found, counts)]
    if found.probability is not None:
        sections.append(_calibration(true, found.predicted[known], found.probability[known]))
    return sections


def confusion(true: IntArray, predicted: IntArray, n_classes: int) -> IntArray:
    """How many graphs of each class (rows) were predicted as each class (columns).

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [[1, 1], [0, 1]]
    """
    counts = np.zeros((n_classes, n_classes), np.int64)
    np.add.at(counts, (true, predicted), 1)
    return counts


def class_figures(counts: IntArray) -> FloatArray:
    """Precision, recall and F1 of each class; precision is NaN for a class that was never predicted.

    >>> class_figures(np.array([[8, 2], [1, 4]])).round(2).tolist()
    [[0.89, 0.8, 0.84], [0.67, 0.8, 0.73]]
    """
    right = np.diag(counts).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = right / counts.sum(axis=0)
        recall = right / counts.sum(axis=1)
        f1 = 2 * right / (counts.sum(axis=0) + counts.sum(axis=1))
    return np.stack([precision, recall, f1], axis=1)


def reliability(right: Any, chance: FloatArray) -> list[tuple[float, float, int, float, float]]:
    """Predictions by how sure the model was: from, to, how many, mean stated probability, share that was right.

    >>> reliability(np.array([True, False]), np.array([0.95, 0.9]))
    [(0.8, 1.0, 2, 0.925, 0.5)]
    """
    rows = []
    number = np.minimum((chance * BINS).astype(int), BINS - 1)
    for i in np.unique(number).tolist():
        mine = number == i
        rows.append(
            (i / BINS, (i + 1) / BINS, int(mine.sum()), float(chance[mine].mean()), float(np.mean(right[mine])))
        )
    return rows


def _confused(found: Predicted, counts: IntArray) -> Section:
    """The confusion matrix."""
    text = (
        "Each graph was predicted once, by a model that had not seen it (first repeat of the cross-validation). A row "
        "is what the graphs are, a column is what was predicted; numbers on the diagonal are right."
    )
    wrong = counts - np.diag(np.diag(counts))
    blocks: list[Any] = [Text(text)]
    if wrong.sum():
        i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
        words = f"The most frequent mistake is to take class {found.classes[i]} for class {found.classes[j]}: "
        blocks.append(Text(words + f"{wrong[i, j]} of the {counts[i].sum()} graphs of class {found.classes[i]}."))
    else:
        blocks.append(Text("No graph was predicted wrongly."))
    shown = np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_SHOWN]
    shown = np.sort(shown)
    head = ["is", *(f"predicted {found.classes[j]}" for j in shown), "graphs"]
    rows = [[f"class {found.classes[i]}", *map(str, counts[i, shown]), str(counts[i].sum())] for i in shown]
    caption = "" if len(shown) == len(counts) else f"The {MOST_SHOWN} largest of {len(counts)} classes"
    return Section("Which classes are confused", [*blocks, Table(head, rows, caption)])


def _by_class(found: Predicted, counts: IntArray) -> Section:
    """Precision, recall, F1 and number of graphs of each class."""
    figures = class_figures(counts)
    rows = [
        [
            f"class {name}",
            *("never predicted" if np.isnan(value) else f"{value:.0%}" for value in figures[i, :2]),
            f"{figures[i, 2]:.2f}",
            str(counts[i].sum()),
        ]
        for i, name in enumerate(found.classes)
    ]
    means = np.nan_to_num(figures).mean(axis=0)
    rows.append(["mean of the classes", f"{means[0]:.0%}", f"{means[1]:.0%}", f"{means[2]:.2f}", str(counts.sum())])
    text = (
        "Precision: of the graphs that were predicted to be of this class, the share that is. Recall: of the graphs of "
        "this class, the share that was found. F1 is one number for both, from 0 to 1; it is high only if both are. "
        "The mean gives every class the same weight, however small it is."
    )
    return Section("Scores per class", [Text(text), Table(["class", "precision", "recall", "F1", "graphs"], rows)])


def _calibration(true: IntArray, predicted: IntArray, probability: FloatArray) -> Section:
    """Whether stated probabilities can be trusted."""
    known = np.isfinite(probability).all(axis=1)
    if not known.any():
        return Section("Calibration")
    best = probability[known].argmax(axis=1)
    right, chance = best == true[known], probability[known].max(axis=1)
    rows = reliability(right, chance)
    error = sum(n * abs(share - mean) for _, _, n, mean, share in rows) / len(chance)
    table = [[f"{low:.0%} to {high:.0%}", str(n), f"{mean:.0%}", f"{share:.0%}"] for low, high, n, mean, share in rows]
    text = (
        "The model also states how sure it is. If it can be trusted, then of the predictions that it makes with 80 % "
        f"certainty, about 80 % are right. Here the two differ by {100 * error:.0f} points on average."
    )
    agree = float(np.mean(best == predicted[known]))
    if agree < 1:
        text += f" The class of the largest probability is the predicted class for {agree:.0%} of the graphs."
    titles = ["stated certainty", "graphs", "mean certainty", "share that is right"]
    words = "Reliability curve: stated certainty against the share of predictions that are right"
    return Section("Calibration", [Text(text), Table(titles, table), picture(_reliability_curve(rows), words)])


def _reliability_curve(rows: list[tuple[float, float, int, float, float]]) -> Any:
    ax = new_axes(4.4, 4.0)
    ax.plot([0, 1], [0, 1], "--", color=MUTED, linewidth=1)
    most = max(n for _, _, n, _, _ in rows)
    ax.plot([mean for *_, mean, _ in rows], [share for *_, share in rows], color=LINK, linewidth=1.6)
    for _, _, n, mean, share in rows:
        ax.scatter([mean], [share], s=30 + 90 * n / most, color=LINK, zorder=3)
        ax.annotate(str(n), (mean, share), (7, -9), textcoords="offset points", fontsize=8, color=INK)
    ax.set(xlim=(0, 1.04), ylim=(0, 1.04), xlabel="stated certainty", ylabel="share that is right")
    quiet(ax, grid="both")
    headline(ax, "Can probabilities be trusted?", "on the dashed line they can; numbers count graphs")
    return ax
