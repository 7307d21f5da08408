"""Means, standard deviations and Markdown tables from records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rwk.experiment.records import Score


@dataclass(frozen=True, slots=True)
class Experiment:
    """All scores of one method on one dataset, with their means and standard deviations.

    Accuracies are shares between 0 and 1.

    Attributes
    ----------
    scores
        One record per fold and repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import make_folds, nested_cv
    >>> targets = np.arange(40) >= 20
    >>> D = np.abs(np.subtract.outer(np.arange(40.0), np.arange(40.0)))
    >>> found = nested_cv({"line": D}, targets, folds=make_folds(targets, n_splits=5, n_repeats=2))
    >>> found.n_repeats, len(found.scores), found.majority
    (2, 10, 0.5)
    """

    scores: Sequence[Score]

    @property
    def dataset(self) -> str:
        return self.scores[0].dataset

    @property
    def method(self) -> str:
        return self.scores[0].method

    @property
    def n_repeats(self) -> int:
        return len({score.seed for score in self.scores})

    @property
    def mean(self) -> float:
        """Mean accuracy over all folds of all repeats."""
        return float(np.mean([score.score for score in self.scores]))

    @property
    def by_repeat(self) -> dict[int, float]:
        """Mean accuracy over the folds of each repeat, by seed."""
        seeds = sorted({score.seed for score in self.scores})
        return {seed: float(np.mean([s.score for s in self.scores if s.seed == seed])) for seed in seeds}

    @property
    def std_repeats(self) -> float:
        """Standard deviation of the repeats' means (NaN for a single repeat)."""
        means = list(self.by_repeat.values())
        return float(np.std(means, ddof=1)) if len(means) > 1 else float("nan")

    @property
    def std_folds(self) -> float:
        """Standard deviation over all folds of all repeats (NaN for a single fold)."""
        return float(np.std([s.score for s in self.scores], ddof=1)) if len(self.scores) > 1 else float("nan")

    @property
    def majority(self) -> float:
        """Share of the largest class: the accuracy of always predicting it."""
        return self.scores[0].majority

    @property
    def seconds(self) -> float:
        """Time of all folds together, without the matrices."""
        return float(sum(score.seconds for score in self.scores))

    @property
    def n_splits(self) -> int:
        """Folds per repeat."""
        return int(self.scores[0].protocol.get("n_splits", 1 + max(score.fold for score in self.scores)))

    @property
    def n_missing(self) -> int:
        """Folds that are not recorded yet, of the repeats that have begun."""
        return self.n_repeats * self.n_splits - len(self.scores)

    def __repr__(self) -> str:
        return (
            f"Experiment({self.method!r} on {self.dataset!r}: {100 * self.mean:.2f} % over {self.n_repeats} repeats, "
            f"std {100 * self.std_repeats:.2f} over repeats and {100 * self.std_folds:.2f} over folds, "
            f"majority {100 * self.majority:.2f} %)"
        )


def experiments(scores: Iterable[Score]) -> list[Experiment]:
    """Group records by dataset and method, in the order in which they appear."""
    groups: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.dataset, score.method), []).append(score)
    return [Experiment(tuple(group)) for group in groups.values()]


def markdown_table(scores: Iterable[Score], *, highlight: str = "") -> str:
    """A Markdown table of records: a row per dataset, a column per method, mean ± std over repeats (over folds).

    Parameters
    ----------
    scores
        Records, as `read_records` returns them.
    highlight
        Name of a method; means above this method's are bold.

    Returns
    -------
    str
        The table.

    Examples
    --------
    >>> print(markdown_table([]))
    | dataset | repeats × folds | majority |
    |---------|-----------------|----------|
    """
    groups = experiments(scores)
    methods = list(dict.fromkeys(group.method for group in groups))
    head = ["dataset", "repeats × folds", "majority", *methods]
    rows = []
    for dataset in dict.fromkeys(group.dataset for group in groups):
        row = {group.method: group for group in groups if group.dataset == dataset}
        # all methods are run on the same folds; the row lists other numbers if one is not finished yet
        runs = dict.fromkeys(f"{g.n_repeats} × {len({s.fold for s in g.scores})}" for g in row.values())
        first = next(iter(row.values()))
        least = row[highlight].mean if highlight in row else float("inf")
        shown = {name: bold(accuracy(group)) if group.mean > least else accuracy(group) for name, group in row.items()}
        cells = [shown.get(method, "") for method in methods]
        rows.append([dataset, ", ".join(runs), f"{100 * first.majority:.1f}", *cells])
    return markdown(head, rows)


def bold(text: str) -> str:
    """Text in bold."""
    return f"**{text}**"


def accuracy(experiment: Experiment) -> str:
    """Mean ± standard deviation over repeats (over folds), in percent."""
    over_folds = f"({100 * experiment.std_folds:.1f})"
    if experiment.n_repeats == 1:
        return f"{100 * experiment.mean:.1f} {over_folds}"
    return f"{100 * experiment.mean:.1f} ± {100 * experiment.std_repeats:.1f} {over_folds}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table with aligned columns."""
    rows = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in [list(head), *rows]) for i in range(len(head))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in [head, *rows]]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])
