"""Fill in the tables and figures of the pages from records: `make tables`.

The function `name` makes the text between `<!-- name -->` and `<!-- /name -->` from a record under results/. If the
record is missing, the page names the command that writes it. The functions are in

    tables_accuracy    accuracies, ranks, what is said of them
    tables_speed       timings of solves, matrices, baselines
    tables_matching    matchings, patterns, averages, clusters
    tables_molecules   values of molecules
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tables_accuracy import (
    ablated,
    classifier,
    daggers,
    further,
    losses,
    networks,
    protocols,
    published,
    rank,
    ranks,
    repeated,
    results,
    standing,
)
from tables_matching import (
    atom_maps,
    common_parts,
    later_states,
    matching_recovery,
    matching_seeds,
    matching_speed,
    matching_summary,
    patterns_found,
    planted_averages,
    planted_mixtures,
    starts,
)
from tables_molecules import few_molecules, fit_times, molecule_errors, molecules, molecules_missing
from tables_speed import (
    baselines,
    bounds,
    cold,
    generated_molecules,
    gpu,
    grams,
    growth,
    middle,
    point_clouds,
    precision,
    speed,
    steps,
    whole,
)

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("how-good.md", "evaluation.md", "performance.md", "own-costs.md")),
    *(ROOT / "docs" / name for name in ("matching.md", "find.md")),
    ROOT / "docs" / "clustering.md",
    ROOT / "docs" / "regression.md",
    ROOT / "docs" / "tutorials" / "regression.md",
)
PLACE = re.compile(r"(<!-- (?P<name>\w+) -->\n).*?(<!-- /(?P=name) -->)", re.DOTALL)
Maker = Callable[[Any], str]


RECORDS: dict[str, tuple[str, tuple[Maker, ...]]] = {
    "bench-cpu.json": ("rwk bench --output", (speed, steps)),
    "growth.json": ("rwk bench --scaling --output", (growth,)),
    "whole.json": ("rwk bench --whole --output", (whole,)),
    "middle-sizes.json": ("python benchmarks/middle_sizes.py --output", (middle,)),
    "cold-start.json": ("rwk bench --cold --output", (cold,)),
    "precision.json": ("rwk bench --precision --output", (precision,)),
    "bench-baselines.json": ("python benchmarks/baselines.py --json", (baselines,)),
    "point-clouds.json": ("python benchmarks/point_clouds.py --output", (point_clouds,)),
    "matching/cells.jsonl": (
        "python benchmarks/matching.py --output",
        (matching_seeds, matching_speed, matching_recovery, matching_summary),
    ),
    "starts.json": ("python benchmarks/starts.py --output", (starts,)),
    "molecule-gram.json": ("python benchmarks/molecule_gram.py --output", (generated_molecules,)),
    "later-states.json": ("python benchmarks/later_states.py --output", (later_states,)),
    "other-repeats.json": (
        "python benchmarks/other_repeats.py MUTAG PTC_MR COX2 ENZYMES PROTEINS BZR COX2_MD BZR_MD --output",
        (further,),
    ),
    "same-folds.json": ("python benchmarks/same_folds.py MUTAG PTC_MR BZR COX2 --output", (repeated,)),
    "classifier.json": ("python benchmarks/classifier.py MUTAG PTC_MR BZR_MD BZR COX2 --output", (classifier,)),
    "network-protocol.json": ("python benchmarks/network_protocol.py MUTAG PTC_MR --output", (protocols,)),
    "atom-maps.json": ("python benchmarks/atom_maps.py --output", (atom_maps,)),
    "substructures.json": ("python benchmarks/substructures.py --output", (patterns_found, common_parts)),
    "averages.json": ("python benchmarks/averages.py --output", (planted_averages, planted_mixtures)),
    "regression-times.json": (
        "python benchmarks/regression_times.py Lipophilicity --jobs 2 --output",
        (fit_times,),
    ),
    "few-molecules.json": ("python benchmarks/few_molecules.py --output", (few_molecules,)),
    "bench-gpu.json": ("rwk bench --backend gpu --output", (gpu, bounds, grams)),
}
MAKERS = {
    maker.__name__: (f"results/{name}", command, maker)
    for name, (command, makers) in RECORDS.items()
    for maker in makers
}
OF_FOLDS = (
    results,
    standing,
    rank,
    ranks,
    daggers,
    published,
    ablated,
    networks,
    losses,
    molecules,
    molecule_errors,
    molecules_missing,
)
FROM_FOLDS = {maker.__name__: maker for maker in OF_FOLDS}


def content(name: str, root: Path) -> str:
    """The text for one place: a table made from its record, or the command that writes the record."""
    if name in FROM_FOLDS:
        return FROM_FOLDS[name](root)
    record, command, maker = MAKERS[name]
    if not (root / record).exists():
        return f"*No record yet: `{command} {record}` writes it.*"
    text = (root / record).read_text(encoding="utf-8")
    return maker([json.loads(line) for line in text.splitlines()] if record.endswith("l") else json.loads(text))


def filled(text: str, root: Path = ROOT) -> str:
    """A page with all its places filled."""
    return PLACE.sub(lambda place: f"{place[1]}{content(place['name'], root)}\n{place[3]}", text)


def main() -> None:
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
