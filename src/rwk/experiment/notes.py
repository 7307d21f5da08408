"""Notes in place of figures: a method that can't use a dataset, or was not done in the time it was given."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

NOTES: Final = "notes.jsonl"


@dataclass(frozen=True, slots=True)
class Note:
    """Why there is no figure of one method on one dataset."""

    dataset: str
    method: str
    kind: str  # "not applicable" or "not finished"
    words: str
    seconds: float | None = None  # the time it was given


def append_note(path: str | os.PathLike[str], note: Note) -> None:
    """Add one line."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(note), separators=(",", ":"), ensure_ascii=False) + "\n")


def read_notes(path: str | os.PathLike[str]) -> dict[tuple[str, str], Note]:
    """The last note of each dataset and method; a missing file has none.

    >>> read_notes("no-such-file.jsonl")
    {}
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    notes = [Note(**json.loads(line)) for line in lines if line.strip()]
    return {(note.dataset, note.method): note for note in notes}
