"""Run times as records: one JSON line per dataset, method and machine."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

from rwk.experiment.tables import markdown

RUNTIMES: Final = "runtimes.jsonl"


@dataclass(frozen=True, slots=True)
class Runtime:
    """How long the matrix of one method on one dataset took, once per run."""

    dataset: str
    method: str
    n_graphs: int
    n_pairs: int
    represent: tuple[float, ...]  # seconds, per run; what is made of each graph alone
    solve: tuple[float, ...]  # seconds, per run; all pairs
    machine: str

    @property
    def row(self) -> list[str]:
        """The columns of `runtime_table`."""
        solve = fmean(self.solve)
        return [
            self.dataset,
            self.method,
            f"{self.n_graphs:,}",
            f"{self.n_pairs:,}",
            str(len(self.solve)),
            f"{fmean(self.represent):.3g}",
            f"{solve:.3g}",
            f"{self.n_pairs / max(solve, 1e-9):,.0f}",
            self.machine,
        ]


def append_runtime(path: str | os.PathLike[str], runtime: Runtime) -> None:
    """Add one line."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(runtime), separators=(",", ":")) + "\n")


def read_runtimes(path: str | os.PathLike[str]) -> list[Runtime]:
    """Every run time of a file, the last of each dataset, method and machine; a missing file is empty."""
    path = Path(path)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = {}
    for line in lines:
        entry = json.loads(line)
        entry |= {name: tuple(entry[name]) for name in ("represent", "solve")}
        runtime = Runtime(**entry)
        found[runtime.dataset, runtime.method, runtime.machine] = runtime
    return list(found.values())


def runtime_table(path: str | os.PathLike[str]) -> str:
    """The run times of a file as a Markdown table; empty for a file that is not there."""
    rows = [runtime.row for runtime in read_runtimes(path)]
    head = ["dataset", "method", "graphs", "pairs", "runs", "represent s", "solve s", "pairs/s", "machine"]
    return markdown(head, rows) if rows else ""
