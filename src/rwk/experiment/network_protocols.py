"""The table of networks under two protocols, from the record that `benchmarks/network_protocol.py` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rwk.experiment.paper import published
from rwk.experiment.tables import markdown

NETWORK_PROTOCOL: Final = "network-protocol.json"
HEAD: Final = ("network", "dataset", "ours", "last epoch", "on the test folds", "its epoch", "published")
NEAR: Final = 1.0  # points within which a published accuracy is taken to be reached


def protocol_table(record: Path) -> str:
    """A row per network and dataset: our selection, none, selection on the test folds, the published accuracy.

    Under it one paragraph sums it up. Empty if there is no record.
    """
    if not record.exists():
        return ""
    rows = json.loads(record.read_text(encoding="utf-8"))["rows"]
    table = markdown(list(HEAD), [_cells(row) for row in rows])
    return f"{table}\n\n{protocol_summary(rows)}"


def protocol_summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """What choosing on the test folds adds, and whether the published accuracies are reached by it."""
    gains = {_title(row): _mean(row, "on_test_folds") - _mean(row, "ours") for row in rows}
    chosen = [_mean(row, "on_test_folds") - _mean(row, "last_epoch") for row in rows]
    most = max(gains, key=gains.__getitem__)
    short = {
        _title(row): figure.mean - _mean(row, "on_test_folds")
        for row in rows
        if (figure := published(row["dataset"], row["network"])) is not None
    }
    reached = [title for title, points in short.items() if points <= NEAR]
    below = [f"{title} by {points:.1f} points" for title, points in short.items() if points > NEAR]
    return (
        f"Choosing on the test folds gives {sum(gains.values()) / len(gains):.1f} points more than our protocol in the "
        f"mean, {gains[most]:.1f} at most ({most}), and {sum(chosen) / len(chosen):.1f} more than the last epoch of "
        f"the same networks. In this way the published accuracy is reached, to within {NEAR:.0f} point, for "
        f"{', '.join(reached) or 'none'}; it is missed for {', '.join(below) or 'none'}."
    )


def _title(row: Mapping[str, Any]) -> str:
    return f"{row['network']} on {row['dataset']}"


def _mean(row: Mapping[str, Any], key: str) -> float:
    return float(row[key]["mean"])


def _cells(row: Mapping[str, Any]) -> list[str]:
    figure = published(row["dataset"], row["network"])
    found = [f"{row[key]['mean']:.1f} ± {row[key]['std']:.1f}" for key in ("ours", "last_epoch", "on_test_folds")]
    return [row["network"], row["dataset"], *found, str(row["on_test_folds"]["epoch"]), str(figure or "")]
