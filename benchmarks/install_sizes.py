"""How much disk each extra needs: python benchmarks/install_sizes.py --output results/install-sizes.json

Run it in an environment with all extras (`pip install 'rwk[all]'`). It reads the list of installed files of every
package, follows requirements, and counts for each extra the packages that a plain `pip install rwk` does not bring.
The table of the page on installing goes beside the record, with the ending .md.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PURPOSES = {
    "": "comparing graphs, learning, and the command line",
    "plot": "pictures and reports",
    "molecules": "SMILES, SDF and the layout of molecules",
    "parquet": "parquet tables",
    "gpu": "the GPU backend",
    "distributed": "stores on disk, worker processes and clusters",
    "baselines": 'the four neural baselines; POT for `direction="exact"` and `certify=True`; MUTAG',
    "explore": "the page of `rwk explore`",
    "all": "everything above",
}


def requirements(name: str, extras: tuple[str, ...]) -> list[Requirement]:
    """What an installed package requires on this machine."""
    wanted = [Requirement(text) for text in distribution(name).requires or ()]
    cases = [{"extra": extra} for extra in ("", *extras)]
    return [one for one in wanted if one.marker is None or any(one.marker.evaluate(case) for case in cases)]


def closure(name: str, *extras: str) -> dict[str, str]:
    """Every package that a package with these extras brings, itself included, and its version."""
    found: dict[str, str] = {}
    waiting, done = [(name, extras)], set()
    while waiting:
        item = waiting.pop()
        if item in done:
            continue
        done.add(item)
        try:
            found[plain(item[0])] = distribution(item[0]).version
        except PackageNotFoundError:  # not needed here, whatever its marker says
            continue
        waiting += [(one.name, tuple(sorted(one.extras))) for one in requirements(*item)]
    return found


def plain(name: str) -> str:
    return name.lower().replace("_", "-")


def megabytes(packages: set[str]) -> float:
    """Size of the installed files of these packages."""
    files = [Path(str(file.locate())) for name in packages for file in distribution(name).files or ()]
    return round(sum(path.stat().st_size for path in files if path.is_file()) / 1e6, 1)


def measure() -> dict[str, Any]:
    """One row per extra: the packages that it asks for, those that come with them, and their size."""
    core = closure("rwk")
    rows = []
    for extra in PURPOSES:
        new = set(closure("rwk", extra)) - (set(core) if extra else set())
        direct = {plain(one.name) for one in requirements("rwk", (extra,))} & new - {"rwk"}
        rows.append(
            {"extra": extra, "direct": sorted(direct), "n_packages": len(new - {"rwk"}), "megabytes": megabytes(new)}
        )
    machine = f"{platform.system()} ({platform.machine()})"
    return {"python": platform.python_version(), "system": machine, "rows": rows, "versions": closure("rwk", "all")}


def table(record: dict[str, Any]) -> str:
    lines = ["| install | what for | adds | on disk |", "|---|---|---|---|"]
    for row in record["rows"]:
        extra = row["extra"]
        command = f"pip install 'rwk[{extra}]'" if extra else "pip install rwk"
        others = row["n_packages"] - len(row["direct"])
        adds = ", ".join(row["direct"]) + (f" and {others} more" if others and row["direct"] else "")
        size = f"{'+ ' if extra else ''}{row['megabytes']:,.0f} MB"
        lines.append(f"| `{command}` | {PURPOSES[extra]} | {adds or f'{others} packages'} | {size} |")
    note = (
        f"Size of the installed files with Python {record['python']} on {record['system']}; extras are counted beyond "
        f"the plain installation. PyTorch was {record['versions']['torch']}."
    )
    return "\n".join([*lines, "", note]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    record = measure()
    output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    output.with_suffix(".md").write_text(table(record), encoding="utf-8")


if __name__ == "__main__":
    main()
