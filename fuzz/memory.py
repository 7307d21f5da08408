"""How much memory the explorer holds after thousands of callbacks."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

from fuzz.promise import holds
from fuzz.request_cases import client, usual_body

WARM = 200  # callbacks until every cache is full
FLAT = 10.0  # megabytes: less is no growth, whatever the number of callbacks


def resident() -> int:
    """Bytes of memory that this process has, on Linux."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def grown_after(callbacks: int) -> dict[str, Any]:
    """Send callbacks with sliders that never repeat, and return how many bytes the process has grown."""
    app, browser = client()

    def send(numbers: range) -> None:
        for number in numbers:
            body = usual_body(app, "pair.elements")
            next(part for part in body["inputs"] if part["id"] == "beta-local")["value"] = (
                2 * number / (callbacks + WARM)
            )
            answer = browser.post("/_dash-update-component", data=json.dumps(body), content_type="application/json")
            holds(answer.status_code == 200, f"status {answer.status_code}")

    send(range(WARM))
    before = resident()
    send(range(WARM, WARM + callbacks))
    return {"callbacks": callbacks, "megabytes_before": round(before / 1e6, 1),
            "megabytes_grown": round((resident() - before) / 1e6, 2)}  # fmt: skip
