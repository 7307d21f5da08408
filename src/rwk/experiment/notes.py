"""Notes in place of results: a method can't use a dataset, or did not finish in the time it was given."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Final

from rwk.experiment.json_lines import append_line, read_entries

NOTES: Final = "notes.jsonl"


@dataclass(frozen=True, slots=True)
class Note:
    """Why there is no result of one method on one dataset."""

    dataset: str
    method: str
    kind: str  # "not applicable" or "not finished"
    words: str
    seconds: float | None = None  # the time it was given


def append_note(path: str | os.PathLike[str], note: Note) -> None:
    """Append one note with a single write."""
    append_line(path, asdict(note), {})


def read_notes(path: str | os.PathLike[str]) -> dict[tuple[str, str], Note]:
    """Read the last note of each dataset and method; a missing file has none.

    >>> read_notes("no-such-file.jsonl")
    {}
    """
    notes = [Note(**content) for _, _, content in read_entries(path, "note")]
    return {(note.dataset, note.method): note for note in notes}
