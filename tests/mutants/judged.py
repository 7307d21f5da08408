"""Survivors of `sample.py` that a person has looked at, and why no test can, or should, notice them."""

from __future__ import annotations

BATCH = "the size of a batch: results do not depend on it, only memory and time"
MARGIN = "the size of a safety margin: anything near it serves as well"
SAME = "the same program"

JUDGED: dict[str, str] = {
    'convert/edge_lists.py: lines = [(number, line.split("#", [1 -> 2])[0].strip()) for number, line in '
    "enumerate(text.splitlines(), start=1)]": SAME + ": only what comes before the first # is used",
    "convert/grakel.py: return set(range(len(edges) if isinstance(edges, list) else edges.shape[[0 -> 1]]))": SAME
    + ": an adjacency matrix is square",
    "retrieval/landmarks.py: ROWS_AT_ONCE: Final = [2048 -> 2049]": BATCH,
    "retrieval/neighbours.py: worst = kth + SLACK * abs(kth) * ([100.0 -> 101.0] if self.settings.precision == "
    '"float32" else 1.0)': MARGIN,
}
