"""Our figures and the paper's side by side, made of records alone.

Every cell of ours is mean ± standard deviation over the repeats (over all folds), in percent; a letter in brackets
names the protocol a column or row came about by.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk.experiment import paper
from rwk.experiment.records import read_records
from rwk.experiment.runtimes import RUNTIMES, runtime_table
from rwk.experiment.tables import Experiment, accuracy, experiments, markdown

Found = Mapping[tuple[str, str], Experiment]

# both signs of the degree prior stand in the ablation; RWK itself attracts
SIGNS: Final = ("RWK", "RWK-repel")


def read_results(folder: str | os.PathLike[str]) -> dict[tuple[str, str], Experiment]:
    """Every experiment recorded in a folder, by dataset and method."""
    paths = sorted(path for path in Path(folder).glob("*.jsonl") if path.name != RUNTIMES)
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


def by_method(found: Found, datasets: Sequence[str], methods: Iterable[str]) -> str:
    """The paper's layout: a column per dataset, a row per method and protocol, the majority rate first."""
    head = ["method", "protocol", *datasets]
    known = [[group for (name, _), group in found.items() if name == dataset] for dataset in datasets]
    rows = [["majority class", "-", *map(_majority, known)]]
    for method in methods:
        ours = [_ours(found, dataset, method) for dataset in datasets]
        papers = [_papers(dataset, method) for dataset in datasets]
        rows += [[f"{method}, ours", f"[{paper.OURS}]", *ours]] if any(ours) else []
        rows += [[f"{method}, paper", f"[{paper.PROTOCOL_OF[method]}]", *papers]] if any(papers) else []
    return markdown(head, rows)


def gains(found: Found, datasets: Iterable[str], steps: Sequence[tuple[str, str]]) -> str:
    """What one method gains over another on the same folds: mean ± standard deviation over repeats, in points."""
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
    """How often the training folds chose each setting, in percent."""
    here = {dataset: found[dataset, method] for dataset in datasets if (dataset, method) in found}
    counts = {name: Counter(s.chosen.get("setting", "-") for s in group.scores) for name, group in here.items()}
    settings = list(dict.fromkeys(setting for count in counts.values() for setting in sorted(count)))
    rows = [
        [name, *(f"{100 * count[setting] / count.total():.0f}" if count[setting] else "" for setting in settings)]
        for name, count in counts.items()
    ]
    return markdown([f"{method} on", *settings], rows) if rows else ""


def legend(codes: Iterable[str] = tuple(paper.PROTOCOLS)) -> str:
    """What the letters in brackets mean."""
    return "\n".join(f"* [{code}] {paper.PROTOCOLS[code]}" for code in codes)


def results_page(folder: str | os.PathLike[str]) -> str:
    """The page of all results, from the records of a folder."""
    found = read_results(folder)
    parts = ["# Results", _INTRODUCTION, legend()]
    discrete, continuous = (_present(found, sets) for sets in (paper.DISCRETE, paper.CONTINUOUS))
    for title, command, datasets in (
        ("Graphs with discrete attributes", "discrete", discrete),
        ("Graphs with continuous attributes", "continuous", continuous),
    ):
        ablation = by_method(found, datasets, (*SIGNS, *paper.ABLATION))
        parts += [f"## {title}", _command(command), side_by_side(found, datasets, paper.HOPS)]
        parts += ["All methods, in the paper's layout:", by_method(found, datasets, (*paper.BASELINES, *paper.HOPS))]
        parts += ["### Ablation", _command("ablation", datasets), ablation]
        parts += ["### Local variation", _command("hops", datasets), gains(found, datasets, HOP_STEPS)]
        parts += [
            "### What the training folds chose",
            chosen_settings(found, datasets, "RWK"),
            _settings(found, datasets),
        ]
    timed = runtime_table(Path(folder) / RUNTIMES)
    if timed:
        parts += ["## Run time", _command("runtime"), timed]
    return "\n\n".join(part for part in parts if part) + "\n"


HOP_STEPS: Final = (("RWK", "RWK-1"), ("RWK-1", "RWK-0"))
_INTRODUCTION: Final = (
    "Made by `rwk reproduce tables` from the records in `results/`, one JSON line a fold. Accuracies in percent: mean "
    "± standard deviation over the repeats' means (over all folds). All methods meet the same folds, stored in "
    "`results/folds/`. One grid of settings serves all discrete sets and one all continuous sets. The letters name "
    "protocols:"
)


def extent(group: Experiment) -> str:
    """Repeats × folds, and how many are missing where a run is not finished."""
    splits = int(group.scores[0].protocol.get("n_splits", 1 + max(score.fold for score in group.scores)))
    missing = group.n_repeats * splits - len(group.scores)
    return f"{group.n_repeats} × {splits}" + (f" ({missing} folds missing)" if missing else "")


def _present(found: Found, datasets: Sequence[str]) -> list[str]:
    """The paper's sets, each followed by its other forms that were run."""
    forms = {name for name, _ in found}
    others = {
        name: [form for form, of in paper.OTHER_FORMS.items() if of == name and form in forms] for name in datasets
    }
    return [form for name in datasets for form in (name, *others[name])]


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


def _settings(found: Found, datasets: Iterable[str]) -> str:
    """What the settings' names stand for, as recorded."""
    meant: dict[str, Any] = {}
    for dataset in datasets:
        if (dataset, "RWK") in found:
            meant |= found[dataset, "RWK"].scores[-1].protocol.get("settings", {})
    return markdown(["setting", "what differs from the defaults"], [[k, v] for k, v in meant.items()]) if meant else ""


def _command(what: str, datasets: Sequence[str] = ()) -> str:
    chosen = f" --datasets {','.join(datasets)}" if datasets else ""
    return f"```\nrwk reproduce {what}{chosen}\n```"
