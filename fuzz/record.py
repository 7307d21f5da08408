"""The record of all campaigns: results/fuzz.json, which `python -m fuzz --record` writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rwk.runtime.files import write_json
from rwk.runtime.machine import versions
from rwk.transport.problem import SOLVER_VERSION

RECORD: Final = Path(__file__).resolve().parent.parent / "results" / "fuzz.json"


def add_to_record(kind: str, numbers: range, counts: Mapping[str, int], seconds: float, place: Path = RECORD) -> None:
    """Add the counts of a campaign of one kind; campaigns of the same commit with adjoining numbers become one."""
    record: dict[str, Any] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {"campaigns": []}
    made = versions(SOLVER_VERSION)
    new = {
        "kind": kind,
        "commit": made["commit"],
        "from": numbers.start,
        "to": numbers.stop,
        **{name: counts.get(name, 0) for name in ("answered", "refused", "broken")},
        "seconds": round(seconds),
    }
    campaigns = record["campaigns"]
    same = next((c for c in campaigns if _adjoins(c, new)), None)
    if same is None:
        campaigns.append(new)
    else:
        same |= {"to": new["to"], **{n: same[n] + new[n] for n in ("answered", "refused", "broken", "seconds")}}
    record["cases"] = sum(c["answered"] + c["refused"] + c["broken"] for c in campaigns)
    record["broken"] = sum(c["broken"] for c in campaigns)
    record["command"] = "python -m fuzz --cases N --record"
    record["versions"] = {name: made[name] for name in ("rwk", "solver", "python", "numpy", "scipy", "numba")}
    write_json(place, record)


def add_measurement(name: str, measured: Mapping[str, Any], place: Path = RECORD) -> None:
    """Keep a measurement beside the campaigns."""
    record: dict[str, Any] = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {"campaigns": []}
    write_json(place, {**record, name: {**measured, "commit": versions(SOLVER_VERSION)["commit"]}})


def _adjoins(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    return (old["kind"], old["commit"], old["to"]) == (new["kind"], new["commit"], new["from"])
