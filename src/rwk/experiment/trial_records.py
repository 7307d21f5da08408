"""Trials of single changes as records: one JSON line per dataset and change, and the table of what they moved."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from rwk.experiment.statistics import corrected_t_test
from rwk.experiment.tables import bold, markdown

TRIALS: Final = "trials.jsonl"
BASE: Final = "base"
LIKELY: Final = 0.05  # p-values below are in bold


@dataclass(frozen=True, slots=True)
class Trial:
    """What one setting scored on the folds of one dataset."""

    dataset: str
    change: str  # what differs from the base, in words
    setting: str  # everything that differs from the defaults
    folds: str  # fingerprints of the folds, repeat after repeat
    n_graphs: int
    n_splits: int
    scores: tuple[float, ...]  # by repeat, then by fold


def append_trial(path: str | os.PathLike[str], trial: Trial) -> None:
    """Add one line."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    rounded = {**asdict(trial), "scores": [round(score, 4) for score in trial.scores]}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(rounded, separators=(",", ":"), ensure_ascii=False) + "\n")


def read_trials(path: str | os.PathLike[str]) -> dict[tuple[str, str], Trial]:
    """The last trial of each dataset and change; a missing file has none.

    >>> read_trials("no-such-file.jsonl")
    {}
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    entries = [json.loads(line) for line in lines if line.strip()]
    trials = [Trial(**{**entry, "scores": tuple(entry["scores"])}) for entry in entries]
    return {(trial.dataset, trial.change): trial for trial in trials}


def trials_table(path: str | os.PathLike[str], datasets: Sequence[str] = ()) -> str:
    """Accuracy of the base, then what each change adds to it in points (p-value); empty where there are none.

    Bold: the corrected resampled t-test finds it unlikely to be luck.
    """
    trials = read_trials(path)
    names = [name for name in dict.fromkeys(name for name, _ in trials) if not datasets or name in datasets]
    changes = _merged([[change for of, change in trials if of == name and change != BASE] for name in names])
    based = [name for name in names if (name, BASE) in trials]
    if not based:
        return ""
    first = [f"{100 * fmean(trials[name, BASE].scores):.1f}" for name in based]
    rows = [[BASE, *first]]
    for change in changes:
        rows.append([change, *(_moved(trials[name, BASE], trials.get((name, change))) for name in based)])
    return markdown(["change", *based], rows)


def _merged(lists: Iterable[Sequence[str]]) -> list[str]:
    """Every word of some lists once: one that a list brings anew comes after the word before it there."""
    merged: list[str] = []
    for words in lists:
        place = 0
        for word in words:
            if word not in merged:
                merged.insert(place, word)
            place = merged.index(word) + 1
    return merged


def _moved(base: Trial, changed: Trial | None) -> str:
    if changed is None or changed.folds != base.folds:
        return ""
    share = 1.0 / base.n_splits
    test = corrected_t_test(
        changed.scores, base.scores, n_train=(1.0 - share) * base.n_graphs, n_test=share * base.n_graphs
    )
    points = round(100 * test.difference, 1) + 0.0  # no -0.0
    text = f"{points:+.1f} ({test.p_value:.2g})"
    return bold(text) if test.p_value < LIKELY else text
