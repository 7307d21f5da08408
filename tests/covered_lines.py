"""Share of lines and branches that the tests run: `python tests/covered_lines.py coverage.json 95`.

It is an error if fewer lines are run than the given percentage. `coverage report` has one figure for both.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def shares(report: Path) -> tuple[float, float]:
    """Percentages of lines and of branches in a report of `coverage json`."""
    totals = json.loads(report.read_text(encoding="utf-8"))["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    return lines, 100 * totals["covered_branches"] / (totals["num_branches"] or 1)


if __name__ == "__main__":
    lines, branches = shares(Path(sys.argv[1]))
    print(f"lines {lines:.1f} %, branches {branches:.1f} %")
    sys.exit(0 if lines >= float(sys.argv[2]) else f"fewer than {sys.argv[2]} % of the lines are run")
