"""Trials of single changes as records: one JSON line per dataset and change, and the table of their effects.

    header  dataset, folds, n_graphs, n_splits, versions, defaults (all parameters)
    line    h (number of the header), change, setting (what differs from the defaults), scores

`json_lines` has the rules of such files; format 1, without headers, is read as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final

from rwk.experiment.json_lines import append_line, not_a_line, read_entries
from rwk.experiment.statistics import corrected_t_test
from rwk.experiment.tables import bold, markdown
from rwk.parameters import Parameters

TRIALS: Final = "trials.jsonl"
BASE: Final = "base"
SIGNIFICANT: Final = 0.05  # smaller p-values are bold


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
    versions: Mapping[str, str] = field(default_factory=dict)


_COMMON: Final = ("dataset", "folds", "n_graphs", "n_splits", "versions")


def append_trial(path: str | os.PathLike[str], trial: Trial) -> None:
    """Append one trial with a single write; its scores are rounded to four digits."""
    append_line(path, line_of_trial(trial), header_of_trial(trial, Parameters().asdict()))


def read_trials(path: str | os.PathLike[str]) -> dict[tuple[str, str], Trial]:
    """Read the last trial of each dataset and change, of either format; a missing file has none.

    >>> read_trials("no-such-file.jsonl")
    {}
    """
    trials = {}
    for number, header, content in read_entries(path, "trial"):
        try:
            common = {name: header[name] for name in _COMMON} if header else {}
            trial = Trial(**{**common, **content, "scores": tuple(content["scores"])})
        except (KeyError, TypeError) as error:
            raise not_a_line(path, number, "trial") from error
        trials[trial.dataset, trial.change] = trial
    return trials


def header_of_trial(trial: Trial, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What a trial has in common with the others of its dataset, and the defaults that its setting differs from."""
    return {"rwk": "trials", **{name: getattr(trial, name) for name in _COMMON}, "defaults": dict(defaults)}


def line_of_trial(trial: Trial) -> dict[str, Any]:
    """What a trial has to itself."""
    return {"change": trial.change, "setting": trial.setting, "scores": [round(score, 4) for score in trial.scores]}


def trials_table(path: str | os.PathLike[str], datasets: Sequence[str] = ()) -> str:
    """A table of the accuracy of the base and of what each change adds to it, in percentage points (p-value).

    Bold: p < 0.05 in the corrected resampled t-test. Empty if there are no trials.
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
    """All words of some lists, each once; a new word is placed after the word that precedes it in its own list."""
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
    return bold(text) if test.p_value < SIGNIFICANT else text
