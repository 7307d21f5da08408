"""What fair runs give each method, for the results page, made from the methods themselves."""

from __future__ import annotations

from typing import Final

from rwk import baselines
from rwk.experiment.baseline_runs import fair_search
from rwk.experiment.tables import markdown
from rwk.learn.grids import SETTINGS, search_grid
from rwk.learn.search_grid import Grid

HEAD: Final = ("method", "node labels", "node attributes", "edge labels", "sums of kernels", "η in units of the mean")
YES, NO, NONE = "yes", "no", "-"
GRIDS: Final = ("discrete", "continuous")  # of RWK


def seen_table() -> str:
    """One row per method: what it sees of graphs that have everything, and what is searched on its matrices.

    >>> "| WL " in seen_table()
    True
    """
    return markdown(list(HEAD), [_of_rwk(), *(_of_baseline(row) for row in baselines.describe())])


def longer_training() -> str:
    """How long a fair run trains each network, in words.

    >>> "GIN for up to 350 epochs" in longer_training()
    True
    """
    each = [
        f"{row.title} for up to {row.fair_parameters['epochs']} epochs, "
        f"at most {row.fair_parameters['patience']} of them without an improvement"
        for row in baselines.describe()
        if row.kind == "classifier"
    ]
    return "; ".join(each) + "."


def _of_rwk() -> list[str]:
    settings = [values for grid in GRIDS for values in SETTINGS[grid].values()]
    edges = any(values.get("wl_edge_labels", True) for values in settings)
    each = zip(*(_searched(search_grid(grid), has_eta=True) for grid in GRIDS), strict=True)
    return ["RWK", YES, YES, YES if edges else NO, *(" or ".join(dict.fromkeys(answers)) for answers in each)]


def _of_baseline(row: baselines.Description) -> list[str]:
    searched = (NONE, NONE) if row.kind == "classifier" else _searched(fair_search(), row.kind == "discrepancy")
    note = f"{NO} ({row.note})" if row.note else NO
    attributes = YES if "attributes" in row.fair_sees else note
    return [row.title, YES if "labels" in row.fair_sees else NO, attributes, NO, *searched]


def _searched(grid: Grid, has_eta: bool) -> tuple[str, str]:
    unit = YES if grid.unit == "mean" else NO
    return YES if grid.combine == "sum" else NO, unit if has_eta else NONE
