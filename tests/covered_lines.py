"""Share of lines and branches that the tests run: `python tests/covered_lines.py coverage.json 95 --output FILE`.

It is an error if fewer lines are run than the given percentage. `coverage report` has one figure for both. The record
has both for every package under `rwk`.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

COUNTED = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def shares(totals: dict[str, int]) -> tuple[float, float]:
    """Percentages of lines and of branches, from counts of `coverage json`."""
    lines = 100 * totals["covered_lines"] / (totals["num_statements"] or 1)
    return lines, 100 * totals["covered_branches"] / (totals["num_branches"] or 1)


def package_of(file: str) -> str:
    """The package under `rwk` that a file belongs to.

    >>> package_of("src/rwk/learn/svc.py"), package_of("src/rwk/kernel.py")
    ('learn', 'rwk')
    """
    parts = PurePath(file.replace("\\", "/")).parts
    below = parts[len(parts) - parts[::-1].index("rwk") :]
    return below[0] if len(below) > 1 else "rwk"


def record_of(report: dict[str, Any]) -> dict[str, Any]:
    """Counts and percentages of each package and of all together."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for file, found in report["files"].items():
        counts[package_of(file)].update({name: found["summary"][name] for name in COUNTED})

    def row(totals: dict[str, int]) -> dict[str, Any]:
        lines, branches = shares(totals)
        return {
            "lines": totals["num_statements"], "lines_run": totals["covered_lines"], "lines_percent": round(lines, 1),
            "branches": totals["num_branches"], "branches_run": totals["covered_branches"],
            "branches_percent": round(branches, 1),
        }  # fmt: skip

    return {
        "command": "make coverage",
        "left_out": "GPU code ([tool.coverage.run] in pyproject.toml)",
        "total": row(report["totals"]),
        "packages": {name: row(counts[name]) for name in sorted(counts)},
        "made_with": {
            "coverage": report["meta"]["version"],
            "python": platform.python_version(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Share of lines and branches that the tests run.")
    parser.add_argument("report", type=Path, help="what `coverage json` wrote")
    parser.add_argument("least", type=float, help="percentage of the lines")
    parser.add_argument("--output", type=Path, help="file for the record")
    options = parser.parse_args()
    report = json.loads(options.report.read_text(encoding="utf-8"))
    lines, branches = shares(report["totals"])
    print(f"lines {lines:.1f} %, branches {branches:.1f} %")
    if options.output:
        options.output.write_text(json.dumps(record_of(report), indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if lines >= options.least else f"fewer than {options.least:g} % of the lines are run")


if __name__ == "__main__":
    main()
