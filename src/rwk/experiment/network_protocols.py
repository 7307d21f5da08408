"""The table of networks under two protocols, from the record that `benchmarks/network_protocol.py` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from rwk.experiment.paper import published
from rwk.experiment.tables import markdown

NETWORK_PROTOCOL: Final = "network-protocol.json"
HEAD: Final = ("network", "dataset", "ours", "last epoch", "on the test folds", "its epoch", "published")


def protocol_table(record: Path) -> str:
    """A row per network and dataset: our selection, none, selection on the test folds, the published accuracy.

    Empty if there is no record.
    """
    if not record.exists():
        return ""
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    return markdown(list(HEAD), [_cells(row) for row in rows])


def _cells(row: dict[str, Any]) -> list[str]:
    figure = published(row["dataset"], row["network"])
    found = [f"{row[key]['mean']:.1f} ± {row[key]['std']:.1f}" for key in ("ours", "last_epoch", "on_test_folds")]
    return [row["network"], row["dataset"], *found, str(row["on_test_folds"]["epoch"]), str(figure or "")]
