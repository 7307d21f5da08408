"""The limit of `make coverage`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("covered", "code"), [(95, 0), (94, 1)])
def test_fewer_lines_than_asked_are_an_error(covered: int, code: int, tmp_path: Path) -> None:
    report = tmp_path / "coverage.json"
    totals = {"covered_lines": covered, "num_statements": 100, "covered_branches": 3, "num_branches": 4}
    report.write_text(json.dumps({"totals": totals}))
    script = Path(__file__).parent / "covered_lines.py"
    done = subprocess.run([sys.executable, script, report, "95"], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout == f"lines {covered}.0 %, branches 75.0 %\n"
