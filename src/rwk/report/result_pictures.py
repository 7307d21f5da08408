"""The pictures of the results page: critical-difference diagrams of the tables, and the paper's figure of run times."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from rwk.experiment.page import PICTURES, ranks_by_kind
from rwk.experiment.runtimes import RUNTIMES, read_runtimes
from rwk.report.charts import plot_runtime
from rwk.report.ranks import plot_ranks
from rwk.runtime.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_results(folder: str | os.PathLike[str], place: str | os.PathLike[str]) -> list[Path]:
    """Draw the pictures for which a folder has enough records, under `place`; returns the files written."""
    import matplotlib

    drawn = []
    for name in PICTURES:
        with matplotlib.rc_context({"svg.hashsalt": name}):  # so that equal records give equal files
            figure = _figure(name, Path(folder))
            if figure is not None:
                drawn.append(Path(place) / PICTURES[name])
                drawn[-1].parent.mkdir(parents=True, exist_ok=True)
                save = functools.partial(figure.savefig, format="svg", metadata={"Date": None}, bbox_inches="tight")
                write_whole(drawn[-1], save)
    return drawn


def _figure(name: str, folder: Path) -> Figure | None:
    if name == "runtime":
        rows = _runtime_rows(folder)
        return plot_runtime(rows, value="seconds").figure if rows else None
    ranks = ranks_by_kind(folder).get(name)
    return plot_ranks(ranks).figure if ranks else None


def _runtime_rows(folder: Path) -> list[dict[str, Any]]:
    """Seconds for all pairs of each dataset; methods are listed with the computer if there are several."""
    found = read_runtimes(folder / RUNTIMES)
    several = len({runtime.machine for runtime in found}) > 1
    return [
        {
            "dataset": runtime.dataset,
            "method": f"{runtime.method}, {runtime.machine}" if several else runtime.method,
            "seconds": fmean(runtime.represent) + fmean(runtime.solve),
        }
        for runtime in found
    ]
