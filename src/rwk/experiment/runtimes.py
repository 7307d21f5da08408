"""Run times as records: one JSON line per dataset, method and machine."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Final

from rwk.experiment.json_lines import append_line, read_entries
from rwk.experiment.tables import markdown

RUNTIMES: Final = "runtimes.jsonl"


@dataclass(frozen=True, slots=True)
class Runtime:
    """How long the matrix of one method on one dataset took, in each of several runs."""

    dataset: str
    method: str
    n_graphs: int
    n_pairs: int
    represent: tuple[float, ...]  # seconds, per run; representing the graphs
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
    """Append one run time with a single write."""
    append_line(path, asdict(runtime), {})


def read_runtimes(path: str | os.PathLike[str]) -> list[Runtime]:
    """Read the last run time of each dataset, method and machine; a missing file has none."""
    found = {}
    for _, _, content in read_entries(path, "run time"):
        runtime = Runtime(**{**content, **{name: tuple(content[name]) for name in ("represent", "solve")}})
        found[runtime.dataset, runtime.method, runtime.machine] = runtime
    return list(found.values())


def runtime_table(path: str | os.PathLike[str]) -> str:
    """The run times of a file as a Markdown table; empty if there are none."""
    rows = [runtime.row for runtime in read_runtimes(path)]
    head = ["dataset", "method", "graphs", "pairs", "runs", "represent s", "solve s", "pairs/s", "machine"]
    return markdown(head, rows) if rows else ""
