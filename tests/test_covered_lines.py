"""The limit of `make coverage`, and its record."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def totals(lines: int, covered: int) -> dict[str, int]:
    return {"covered_lines": covered, "num_statements": lines, "covered_branches": 3, "num_branches": 4}


@pytest.mark.parametrize(("covered", "code"), [(95, 0), (94, 1)])
def test_fewer_lines_than_asked_are_an_error(covered: int, code: int, tmp_path: Path) -> None:
    report, record = tmp_path / "coverage.json", tmp_path / "record.json"
    files = {
        "src/rwk/learn/svc.py": (60, covered - 40),
        "src/rwk/learn/smo.py": (30, 30),
        "src/rwk/kernel.py": (10, 10),
    }
    summaries = {name: {"summary": totals(*counts)} for name, counts in files.items()}
    report.write_text(
        json.dumps({"totals": totals(100, covered), "files": summaries, "meta": {"version": "7"}}), encoding="utf-8"
    )
    script = ROOT / "tests" / "covered_lines.py"
    command = [sys.executable, script, report, "95", "--output", record]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stdout == f"lines {covered}.0 %, branches 75.0 %\n"
    found = json.loads(record.read_text(encoding="utf-8"))
    assert found["total"]["lines_percent"] == covered
    assert {name: (row["lines"], row["lines_run"]) for name, row in found["packages"].items()} == {
        "learn": (90, covered - 10),
        "rwk": (10, 10),
    }
    assert found["packages"]["learn"]["branches_percent"] == 75.0
