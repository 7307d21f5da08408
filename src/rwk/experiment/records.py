"""Records of an experiment: one JSON line per fold and repeat.

A line is written with a single append, so a killed run leaves whole lines and at most one torn one, which reading
skips and the next run cuts off. A file may hold many datasets and methods.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from math import isclose
from pathlib import Path
from typing import Any

Key = tuple[str, str, int, int]
# the content of matrices may differ by this much between machines and still be the same experiment
SAME = 1e-4


@dataclass(frozen=True, slots=True)
class Score:
    """What one method scored on one fold of one repeat, and everything needed to get it again."""

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
        return (self.dataset, self.method, self.seed, self.fold)


def read_records(path: str | os.PathLike[str]) -> list[Score]:
    """Read every whole record of a file, sorted; a torn last line is skipped, a missing file is empty.

    >>> read_records("no-such-file.jsonl")
    []
    """
    path = Path(path)
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    scores: dict[Key, Score] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            score = Score(**json.loads(line))
        except (ValueError, TypeError) as error:
            if number == len(lines):
                continue
            raise ValueError(f"{path}, line {number}: not a record of an experiment; remove the line") from error
        scores[score.key] = score
    return [scores[key] for key in sorted(scores)]


def append_record(path: str | os.PathLike[str], score: Score) -> None:
    """Append one record with a single write, on disk when this returns."""
    line = json.dumps(asdict(score), separators=(",", ":"), ensure_ascii=False) + "\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, line.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def repair_records(path: str | os.PathLike[str]) -> None:
    """Cut off a torn last line, so that the next record starts on a line of its own."""
    path = Path(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return
    with path.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)


def resumable(
    scores: Iterable[Score], path: str | os.PathLike[str], protocols: Mapping[int, Mapping[str, Any]]
) -> list[Score]:
    """Recorded scores that a run under `protocols` (by seed) may keep, or one sentence on what differs."""
    kept = [score for score in scores if score.seed in protocols]
    for score in kept:
        found = difference(score.protocol, protocols[score.seed])
        if found:
            raise ValueError(
                f"{path} holds records of {score.method} on {score.dataset} made with another {found}; "
                "use another file or the same settings"
            )
    return kept


def difference(recorded: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Name the first thing in which two protocols differ, with both values; empty when they agree.

    >>> difference({"C": [1.0, 10.0], "folds": "a"}, {"C": [1.0], "folds": "a"})
    'C (recorded: [1.0, 10.0], now: [1.0])'
    """
    for name in [*wanted, *(name for name in recorded if name not in wanted)]:
        old, new = recorded.get(name), wanted.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            inside = difference(old, new)
            if inside:
                return f"{name}: {inside}"
        elif isinstance(old, float) and isinstance(new, float):
            if not isclose(old, new, rel_tol=SAME):
                return f"{name} (recorded: {old:.6g}, now: {new:.6g})"
        elif old != new:
            return f"{name} (recorded: {old}, now: {new})"
    return ""
