"""Our accuracies and the paper's side by side, made from records.

Every cell of ours is mean ± standard deviation over the repeats (in brackets: over all folds), in percent. A letter in
square brackets names the protocol of a column or row.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from rwk.experiment import paper
from rwk.experiment.comparisons import Found, ahead
from rwk.experiment.notes import NOTES, Note
from rwk.experiment.records import read_records
from rwk.experiment.runtimes import RUNTIMES
from rwk.experiment.tables import Experiment, accuracy, bold, experiments, markdown
from rwk.experiment.trial_records import TRIALS

# repeats × folds that tables do not mention
USUAL: Final = "10 × 10"
# the ablation has both signs of the degree prior; RWK itself attracts
SIGNS: Final = ("RWK", "RWK-repel")
HOP_STEPS: Final = (("RWK", "RWK-1"), ("RWK-1", "RWK-0"))


def read_results(folder: str | os.PathLike[str]) -> dict[tuple[str, str], Experiment]:
    """Read every experiment recorded in a folder, by dataset and method."""
    paths = sorted(path for path in Path(folder).glob("*.jsonl") if path.name not in (RUNTIMES, NOTES, TRIALS))
    groups = experiments(score for path in paths for score in read_records(path))
    return {(group.dataset, group.method): group for group in groups}


def side_by_side(found: Found, datasets: Iterable[str], methods: Sequence[str]) -> str:
    """A row per dataset, two columns per method: ours and the paper's.

    >>> print(side_by_side({}, ["MUTAG"], ["RWK"]))
    | dataset | majority | repeats × folds | RWK, ours [N] | RWK, paper [S] |
    |---------|----------|-----------------|---------------|----------------|
    | MUTAG   |          |                 |               | 93.6 ± 3.7     |
    """
    head = ["dataset", "majority", "repeats × folds"]
    for method in methods:
        head += [f"{method}, ours [{paper.OURS}]", f"{method}, paper [{paper.PROTOCOL_OF.get(method, '-')}]"]
    rows = []
    for dataset in datasets:
        here = [found[dataset, method] for method in methods if (dataset, method) in found]
        row = [dataset, _majority(here), ", ".join(dict.fromkeys(extent(group) for group in here))]
        for method in methods:
            row += [_ours(found, dataset, method), _papers(dataset, method)]
        rows.append(row)
    return markdown(head, rows)


def by_method(
    found: Found, datasets: Sequence[str], methods: Iterable[str], notes: Mapping[tuple[str, str], Note] | None = None
) -> str:
    """The paper's layout: a column per dataset, a row per method and protocol, the majority class first.

    Bold: a baseline whose mean is above RWK's on the folds that both have. Repeats and folds are given unless they are
    10 × 10. A note says why a result is missing.
    """
    head = ["method", "protocol", *datasets]
    known = [[group for (name, _), group in found.items() if name == dataset] for dataset in datasets]
    rows = [["majority class", "-", *map(_majority, known)]]
    for method in methods:
        ours = [_entry(found, notes or {}, dataset, method) for dataset in datasets]
        papers = [_papers(dataset, method) for dataset in datasets]
        rows += [[f"{method}, ours", f"[{paper.OURS}]", *ours]] if any(ours) else []
        rows += [[f"{method}, paper", f"[{paper.PROTOCOL_OF[method]}]", *papers]] if any(papers) else []
    return markdown(head, rows)


def gains(found: Found, datasets: Iterable[str], steps: Sequence[tuple[str, str]]) -> str:
    """A table of gains of one method over another on the same folds: mean ± std over repeats, in percentage points."""
    head = ["dataset"]
    for better, worse in steps:
        head += [f"{better} − {worse}, ours [{paper.OURS}]", f"{better} − {worse}, paper [S]"]
    rows = []
    for dataset in datasets:
        row = [dataset]
        for better, worse in steps:
            row += [_our_gain(found, dataset, better, worse), _paper_gain(dataset, better, worse)]
        rows.append(row)
    return markdown(head, rows)


def chosen_settings(found: Found, datasets: Iterable[str], method: str) -> str:
    """A table of how often the training folds chose each setting, in percent."""
    here = {dataset: found[dataset, method] for dataset in datasets if (dataset, method) in found}
    counts = {name: Counter(s.chosen.get("setting", "-") for s in group.scores) for name, group in here.items()}
    settings = list(dict.fromkeys(setting for count in counts.values() for setting in sorted(count)))
    rows = [
        [name, *(f"{100 * count[setting] / count.total():.0f}" if count[setting] else "" for setting in settings)]
        for name, count in counts.items()
    ]
    return markdown([f"{method} on", *settings], rows) if rows else ""


def legend(codes: Iterable[str] = tuple(paper.PROTOCOLS)) -> str:
    """The meaning of the letters in square brackets, as a list."""
    return "\n".join(f"* [{code}] {paper.PROTOCOLS[code]}" for code in codes)


def extent(group: Experiment) -> str:
    """Repeats × folds, and how many folds are missing if a run is not finished."""
    missing = f" ({group.n_missing} folds missing)" if group.n_missing else ""
    return f"{group.n_repeats} × {group.n_splits}{missing}"


def is_fair(found: Found, dataset: str, method: str) -> bool:
    """Whether a baseline was run with what RWK has on a dataset."""
    group = found.get((dataset, method))
    return group is not None and bool(group.scores[-1].protocol.get("fair"))


def _entry(found: Found, notes: Mapping[tuple[str, str], Note], dataset: str, method: str) -> str:
    """Our accuracy, or the note in its place."""
    group, note = found.get((dataset, method)), notes.get((dataset, method))
    if group is None or (note and group.n_missing):
        return note.words if note else ""
    short = "" if extent(group) == USUAL else f", {extent(group)}"
    mark = " †" if method in paper.BASELINES and not is_fair(found, dataset, method) else ""
    text = accuracy(group) + short + mark
    return bold(text) if method in paper.BASELINES and ahead(found, dataset, method) else text


def _ours(found: Found, dataset: str, method: str) -> str:
    return accuracy(found[dataset, method]) if (dataset, method) in found else ""


def _papers(dataset: str, method: str) -> str:
    figure = paper.published(dataset, method)
    return str(figure) if figure else ""


def _majority(groups: Sequence[Experiment]) -> str:
    return f"{100 * groups[0].majority:.1f}" if groups else ""


def _our_gain(found: Found, dataset: str, better: str, worse: str) -> str:
    if (dataset, better) not in found or (dataset, worse) not in found:
        return ""
    first, second = found[dataset, better].by_repeat, found[dataset, worse].by_repeat
    apart = 100 * np.array([first[seed] - second[seed] for seed in first if seed in second])
    spread = f" ± {np.std(apart, ddof=1):.1f}" if len(apart) > 1 else ""
    return f"{apart.mean():+.1f}{spread}" if len(apart) else ""


def _paper_gain(dataset: str, better: str, worse: str) -> str:
    first, second = paper.published(dataset, better), paper.published(dataset, worse)
    return f"{first.mean - second.mean:+.1f}" if first and second else ""
