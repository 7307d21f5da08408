"""Rewrites folders of records of format 1 in the present one: `python -m rwk.experiment.convert_records FOLDER`.

Records of format 1 describe a setting by what differs from the defaults and by a fingerprint of all its parameters.
If the parameters found that way have that fingerprint, they are written in full, and so is the solver's version, which
the fingerprint covers too. Nothing else is added and nothing is lost: the new file is read back before it takes the
place of the old one.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from rwk.experiment.json_lines import dumped, numbered, read_entries
from rwk.experiment.notes import NOTES
from rwk.experiment.records import Score, header_of, line_of, read_records
from rwk.experiment.runtimes import RUNTIMES
from rwk.experiment.trial_records import TRIALS, Trial, header_of_trial, line_of_trial, read_trials
from rwk.gram.kept import RECORDED, described
from rwk.parameters import Parameters
from rwk.runtime.files import write_whole
from rwk.transport.problem import SOLVER_VERSION

# parameters that values do not depend on, and that a record of format 1 says nothing about
_NOT_RECORDED: Final = ("eta", "backend", "n_jobs", "variant")
Written = tuple[Mapping[str, Any], Mapping[str, Any]]  # header and line


def convert_records(folder: str | os.PathLike[str]) -> list[Path]:
    """Rewrite every file of fold records and trials in a folder that has lines of format 1.

    Returns
    -------
    list of Path
        The files that were rewritten.
    """
    converted = []
    for path in sorted(Path(folder).glob("*.jsonl")):
        if path.name in (NOTES, RUNTIMES) or all(entry.header for entry in read_entries(path, "record")):
            continue
        if path.name == TRIALS:
            _convert_trials(path)
        else:
            _convert_scores(path)
        converted.append(path)
    return converted


def with_settings_in_full(score: Score) -> Score:
    """The record with all parameters of its settings and the solver's version, as far as fingerprints prove them."""
    settings = score.protocol.get("settings", {})
    found = {name: parameters_of(words) for name, words in settings.items()}
    if not found or "parameters" in score.protocol or any(values is None for values in found.values()):
        return score
    versions = {**score.versions, "solver": str(SOLVER_VERSION)}
    return replace(score, protocol={**score.protocol, "parameters": found}, versions=versions)


def parameters_of(words: str) -> dict[str, Any] | None:
    """All parameters of a setting from its description, or None if they do not have its fingerprint.

    >>> parameters_of(described(Parameters(hops=1)))["hops"]
    1
    >>> parameters_of("hops=1 @0000000000") is None
    True
    """
    *parts, _ = words.split()
    form = " ".join(part for part in parts if "=" not in part)
    changed = dict(part.split("=", 1) for part in parts if "=" in part)
    try:
        parameters = Parameters(**{**RECORDED, **{name: _value(text) for name, text in changed.items()}})
    except TypeError:  # a parameter that no longer exists
        return None
    if described(parameters, form) != words:
        return None
    return {name: value for name, value in parameters.asdict().items() if name not in _NOT_RECORDED}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _convert_scores(path: Path) -> None:
    scores = [with_settings_in_full(score) for score in read_records(path)]
    runs: dict[str, list[Score]] = {}
    for score in scores:
        runs.setdefault(dumped({**header_of(score, {}), "folds": {}}), []).append(score)
    written: list[Written] = []
    for run in runs.values():
        folds = {score.seed: score.protocol["folds"] for score in run if "folds" in score.protocol}
        written += [(header_of(score, folds), line_of(score)) for score in run]
    _write(path, written, lambda beside: read_records(beside) == scores)


def _convert_trials(path: Path) -> None:
    trials = read_trials(path)
    defaults = Parameters().asdict()
    proven = {of for of in {of for of, _ in trials} if all(_proven(t) for t in trials.values() if t.dataset == of)}
    written = [
        (header_of_trial(trial, defaults if trial.dataset in proven else {}), line_of_trial(trial))
        for trial in trials.values()
    ]
    _write(path, written, lambda beside: list(read_trials(beside).items()) == list(trials.items()))


def _proven(trial: Trial) -> bool:
    """Whether the fingerprints of a trial's settings are those of the present defaults and what is said to differ."""
    settings = re.sub(r" \d+ starts$", "", trial.setting).split(" + ")
    return all(parameters_of(words) is not None for words in settings)


def _write(path: Path, written: Iterable[Written], same: Callable[[Path], bool]) -> None:
    """Write lines in this order, each header before the first that needs it; `same` must hold for the new file."""
    numbers: dict[str, int] = {}
    text = ""
    for header, line in written:
        key = dumped(header)
        if key not in numbers:
            numbers[key] = len(numbers)
            text += dumped(numbered(header, numbers[key]))
        text += dumped({"h": numbers[key], **line})

    def write(beside: Path) -> None:
        beside.write_text(text, encoding="utf-8")
        if not same(beside):
            raise ValueError(f"{path} would not be the same after converting; it was left as it is")

    write_whole(path, write)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        convert_records(given)
