"""Puts the figures of the README and of the page on performance in their places, from records alone: `make tables`.

Between `<!-- name -->` and `<!-- /name -->` stands what the function of that name makes of the records under results/.
What has no record yet is said to have none.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from rwk.experiment import paper
from rwk.experiment.results import extent, read_results
from rwk.experiment.tables import accuracy, markdown

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md")
PLACE = re.compile(r"(<!-- (?P<name>\w+) -->\n).*?(<!-- /(?P=name) -->)", re.DOTALL)
SPEED = "results/bench-cpu.json"
GROWTH = "results/growth.json"
WHOLE = "results/whole.json"
PRECISION = "results/precision.json"
GPU = "results/gpu-h200.md"
GPU_ROW = re.compile(r"^\| (\d+ x \d+) \| [\d,]+ \| ([\d.]+ M) \|", re.MULTILINE)


def results(root: Path) -> str:
    """Accuracies of RWK beside the paper's, set by set."""
    found = read_results(root / "results")
    rows = []
    for name in (*paper.DISCRETE, *paper.CONTINUOUS):
        if (name, "RWK") in found:
            group, printed = found[name, "RWK"], paper.published(name, "RWK")
            rows.append([name, f"{100 * group.majority:.1f}", extent(group), accuracy(group), str(printed or "")])
    if not rows:
        return "*No record yet: `rwk reproduce discrete` and `rwk reproduce continuous` write them under results/.*"
    head = ["dataset", "majority class", "repeats × folds", "rwk", "the paper"]
    left = [name for name in (*paper.DISCRETE, *paper.CONTINUOUS) if (name, "RWK") not in found]
    note = f"\n\nNot run yet: {', '.join(left)}." if left else ""
    return markdown(head, rows) + note


def speed(root: Path) -> str:
    """Microseconds a pair of every contender, one thread."""
    if not (root / SPEED).exists():
        return f"*No record yet: `rwk bench --output {SPEED}` writes it.*"
    record = json.loads((root / SPEED).read_text(encoding="utf-8"))
    sets = record["datasets"]
    contenders = dict.fromkeys(name for row in sets for name in row["microseconds"])
    rows = []
    for name in contenders:
        cells = []
        for row in sets:
            time = row["microseconds"].get(name)
            ratios = [row["faster than"][precision].get(name) for precision in ("float64", "float32")]
            faster = " ({}×, {}×)".format(*(f"{ratio:,.1f}" for ratio in ratios)) if all(ratios) else ""
            cells.append("" if time is None else f"{time:,.0f}{faster}")
        rows.append([name, *cells])
    made = record["made_with"]
    table = markdown(["µs a pair, one thread", *(row["dataset"] for row in sets)], rows)
    note = "In brackets: how many times rwk is faster, in float64 and in float32."
    return f"{table}\n\n{note} {made['cpu']}, numpy {made['numpy']}."


def gpu(root: Path) -> str:
    """Pairs a second of one GPU by size."""
    if not (root / GPU).exists():
        return "*No record yet.*"
    text = (root / GPU).read_text(encoding="utf-8")
    device = text.splitlines()[0].rsplit(", ", 1)[-1]
    rows = GPU_ROW.findall(text)
    head = [f"nodes up to, {device}", *(sizes.replace("x", "×") for sizes, _ in rows)]
    return markdown(head, [["pairs a second", *(rate for _, rate in rows)]])


def steps(root: Path) -> str:
    """Where the time of a pair goes, and how near the machine's limit it is."""
    if not (root / SPEED).exists():
        return f"*No record yet: `rwk bench --output {SPEED}` writes it.*"
    sets = json.loads((root / SPEED).read_text(encoding="utf-8"))["datasets"]
    rows = [[f"{step}, µs", *(f"{row['steps'][step]:.1f}" for row in sets)] for step in sets[0]["steps"]]
    rows.append(["iterations", *(f"{row['mean iterations']:.1f}" for row in sets)])
    for what, title in (("GFLOP/s", "a pair"), ("GEMM peak GFLOP/s", "a large product")):
        rates = ("{float64:.0f}, {float32:.0f}".format(**row[what]) for row in sets)
        rows.append([f"GFLOP/s of {title}, float64 and float32", *rates])
    rows.append(["float32 differs by at most", *(f"{row['float32 relative difference']:.0e}" for row in sets)])
    return markdown(["one thread, float64", *(row["dataset"] for row in sets)], rows)


def growth(root: Path) -> str:
    """How time grows with nodes and with graphs."""
    if not (root / GROWTH).exists():
        return f"*No record yet: `rwk bench --scaling --output {GROWTH}` writes it.*"
    record = json.loads((root / GROWTH).read_text(encoding="utf-8"))
    nodes, graphs = record["nodes"], record["graphs"]
    pair = [f"{1e3 * seconds:,.3g}" for seconds in nodes["seconds a pair"]]
    matrix = [f"{seconds:,.2f}" for seconds in graphs["seconds"]]
    return "\n\n".join(
        [
            markdown(["nodes of each graph", *map(str, nodes["nodes"])], [["ms a pair, one thread", *pair]]),
            markdown(["graphs of ten nodes", *map(str, graphs["graphs"])], [["s a matrix, two threads", *matrix]]),
            f"Fitted over the upper half: n to the power of {nodes['exponent']:.2f}, N to the power of "
            f"{graphs['exponent']:.2f}.",
        ]
    )


def whole(root: Path) -> str:
    """Whole datasets on two cores."""
    if not (root / WHOLE).exists():
        return f"*No record yet: `rwk bench --whole --output {WHOLE}` writes it.*"
    record = json.loads((root / WHOLE).read_text(encoding="utf-8"))
    rows = [[f"{name}, represented", f"{took:,.0f} s"] for name, took in record.get("representation", {}).items()]
    if gram := record.get("NCI1"):
        rows += [
            [f"NCI1, {gram['pairs solved']:,} pairs solved", f"{gram['seconds']:,.0f} s"],
            ["NCI1, all 8.4 million pairs, from those", f"{gram['estimated seconds of all'] / 60:,.0f} min"],
            ["NCI1, all 8.4 million pairs, peak memory", f"{gram['peak MB of all']:,.0f} MB"],
        ]
    if pair := record.get("largest pair of DD"):
        rows += [
            [
                f"DD, {pair['nodes']:,.0f} × {pair['nodes of the other']:,.0f} nodes",
                f"{pair['seconds to solve']:,.0f} s",
            ],
            ["DD, the same, peak memory", f"{pair['peak MB']:,.0f} MB"],
        ]
    return markdown(["two cores", "measured"], rows)


def precision(root: Path) -> str:
    """Float32 against float64."""
    if not (root / PRECISION).exists():
        return f"*No record yet: `rwk bench --precision --output {PRECISION}` writes it.*"
    rows = [
        [
            row["dataset"],
            f"{row['pairs']:,}",
            f"{row['largest relative difference']:.0e}",
            f"{row['median relative difference']:.0e}",
            str(row["pairs above 1e-4"]),
            str(row["not finite"]),
        ]
        for row in json.loads((root / PRECISION).read_text(encoding="utf-8"))["datasets"]
    ]
    return markdown(["float32 against float64", "pairs", "largest", "median", "above 1e-4", "not finite"], rows)


MAKERS = {
    "results": results,
    "speed": speed,
    "steps": steps,
    "gpu": gpu,
    "growth": growth,
    "whole": whole,
    "precision": precision,
}


def filled(text: str, root: Path = ROOT) -> str:
    """A page with all its places filled."""
    return PLACE.sub(lambda place: f"{place[1]}{MAKERS[place['name']](root)}\n{place[3]}", text)


def main() -> None:
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
