"""Records of an experiment: one short JSON line per fold and repeat, under a header with all they have in common.

    header  dataset, method, majority, protocol (grid, settings in full), folds (a fingerprint per seed), versions
    line    h (number of the header), seed, fold, right (predictions), of (test graphs), train (graphs), chosen,
            inner_right (predictions in the inner folds, of `train`), s (seconds)

`json_lines` has the rules of such files. A file may hold many datasets and methods. Files of format 1, whose lines
repeat everything, are read as well; `convert_records` rewrites them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isclose
from typing import Any

from rwk.experiment.json_lines import append_line, cut_torn_line, not_a_line, read_entries
from rwk.transport.problem import SOLVER_VERSION

Key = tuple[str, str, int, int]
# the content of matrices may differ by this much between machines and still be the same experiment
SAME = 1e-4


@dataclass(frozen=True, slots=True)
class Score:
    """What one method scored on one fold of one repeat, and everything needed to get it again.

    Attributes
    ----------
    dataset, method
        Names.
    seed, fold
        Number of the repeat and of its fold.
    score
        Share of the test graphs that were predicted right.
    n_correct, n_train, n_test
        Test graphs predicted right, graphs learned from, graphs tested.
    majority
        Share of the largest class of the dataset.
    chosen
        What the training fold chose: the setting, C, eta ...
    inner_score
        Accuracy of that choice in the inner folds; None if the method does not tell.
    seconds
        Time of the fold, matrices not counted.
    protocol
        Folds, grid and settings; a resumed run must have the same.
    versions
        Software, solver, commit and CPU it was made with, as `rwk.runtime.machine.versions` names them.
    """

    dataset: str
    method: str
    seed: int
    fold: int
    score: float
    n_correct: int
    n_train: int
    n_test: int
    majority: float
    chosen: Mapping[str, Any]
    inner_score: float | None
    seconds: float
    protocol: Mapping[str, Any]
    versions: Mapping[str, str]

    @property
    def key(self) -> Key:
        """What a file has one record of: dataset, method, seed and fold."""
        return (self.dataset, self.method, self.seed, self.fold)


def read_records(path: str | os.PathLike[str]) -> list[Score]:
    """Read every whole record of a file, of either format.

    Parameters
    ----------
    path
        A file of JSON lines; a missing one is empty.

    Returns
    -------
    list of Score
        Sorted by dataset, method, seed and fold; of two records of one fold the later. A torn last line is skipped.

    Examples
    --------
    >>> read_records("no-such-file.jsonl")
    []
    """
    scores: dict[Key, Score] = {}
    for number, header, content in read_entries(path, "record of an experiment"):
        try:
            score = Score(**content) if header is None else score_of_line(header, content)
            if not (0.0 <= score.score <= 1.0 and 0 <= score.n_correct <= score.n_test):
                raise ValueError("a score is a share of the test graphs")
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise not_a_line(path, number, "record of an experiment") from error
        scores[score.key] = score
    return [scores[key] for key in sorted(scores)]


def append_record(path: str | os.PathLike[str], score: Score, *, folds: Mapping[int, str] | None = None) -> None:
    """Append one record with a single write, on disk when this returns.

    `folds` are the fingerprints of all seeds that the run is going to record; one header then serves them all.
    """
    append_line(path, line_of(score), header_of(score, folds or {}))


def repair_records(path: str | os.PathLike[str]) -> None:
    """Cut off a torn last line, so that the next record starts on a line of its own."""
    cut_torn_line(path)


def header_of(score: Score, folds: Mapping[int, str]) -> dict[str, Any]:
    """What a record has in common with the others of its run."""
    protocol = dict(score.protocol)
    own = {str(score.seed): protocol.pop("folds")} if "folds" in protocol else {}
    return {
        "rwk": "records",
        "dataset": score.dataset,
        "method": score.method,
        "majority": score.majority,
        "protocol": protocol,
        "folds": {**{str(seed): made for seed, made in folds.items()}, **own},
        "versions": dict(score.versions),
    }


def line_of(score: Score) -> dict[str, Any]:
    """What a record has to itself; an exact share of graphs is written as their number."""
    line = {
        "seed": score.seed,
        "fold": score.fold,
        "right": score.n_correct,
        "of": score.n_test,
        "train": score.n_train,
        "chosen": dict(score.chosen),
    }
    if score.score != score.n_correct / score.n_test:
        line["score"] = score.score
    if score.inner_score is not None:
        right = round(score.inner_score * score.n_train)
        exact = right / score.n_train == score.inner_score
        line |= {"inner_right": right} if exact else {"inner": score.inner_score}
    return {**line, "s": score.seconds}


def score_of_line(header: Mapping[str, Any], line: Mapping[str, Any]) -> Score:
    """The record that `header_of` and `line_of` wrote."""
    seed, train = line["seed"], line["train"]
    folds = header["folds"].get(str(seed))
    inner = line["inner_right"] / train if "inner_right" in line else line.get("inner")
    return Score(
        dataset=header["dataset"],
        method=header["method"],
        seed=seed,
        fold=line["fold"],
        score=line["score"] if "score" in line else line["right"] / line["of"],
        n_correct=line["right"],
        n_train=train,
        n_test=line["of"],
        majority=header["majority"],
        chosen=line["chosen"],
        inner_score=inner,
        seconds=line["s"],
        protocol=header["protocol"] if folds is None else {"folds": folds, **header["protocol"]},
        versions=header["versions"],
    )


def resumable(
    scores: Iterable[Score], path: str | os.PathLike[str], protocols: Mapping[int, Mapping[str, Any]]
) -> list[Score]:
    """Recorded scores that a run under `protocols` (by seed) may keep, or one sentence on what differs."""
    kept = [score for score in scores if score.seed in protocols]
    for score in kept:
        found = protocol_difference(score.protocol, protocols[score.seed])
        solver = score.versions.get("solver", SOLVER_VERSION)
        if found.startswith("settings") and int(solver) != SOLVER_VERSION:  # fingerprints of settings contain it
            raise ValueError(
                f"{path} holds records of {score.method} on {score.dataset} made with version {solver} of the solver, "
                f"and this is version {SOLVER_VERSION}; keep it, and give another place for new records"
            )
        if found:
            raise ValueError(
                f"{path} holds records of {score.method} on {score.dataset} made with another {found}; "
                "use another file or the same settings"
            )
    return kept


def protocol_difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Name the first thing in which two protocols differ, with both values; empty if they agree.

    The parameters of named settings are not compared: the fingerprints in their descriptions are, which leave out
    what values do not depend on, as the backend.

    >>> protocol_difference({"C": [1.0, 10.0], "folds": "a"}, {"C": [1.0], "folds": "a"})
    'C (recorded: [1.0, 10.0], now: [1.0])'
    """
    first, second = (
        {name: value for name, value in protocol.items() if not (name == "parameters" and "settings" in protocol)}
        for protocol in (recorded, wanted)
    )
    return _difference(first, second)


def _difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    for name in [*wanted, *(name for name in recorded if name not in wanted)]:
        old, new = recorded.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            inside = _difference(old, new)
            if inside:
                return f"{name}: {inside}"
        elif isinstance(old, float) and isinstance(new, float):
            if not isclose(old, new, rel_tol=SAME):
                return f"{name} (recorded: {old:.6g}, now: {new:.6g})"
        elif old != new:
            return f"{name} (recorded: {old}, now: {new})"
    return ""
