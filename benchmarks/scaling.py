"""What large sets cost, computed from measured rates: `python benchmarks/scaling.py --output results/scaling.json`.

For graphs like those of NCI1 (30 nodes on average, 111 at most) and default parameters. Measured here: pairs per second
of one core, on a sample of pairs stratified by cost, and bytes of a store that is written for this. Read from records:
the GPU's rates by size class (results/gpu-h200.md), weighted by how often two classes meet in the set, and the share of
a full scan that a search for neighbours needs (results/neighbours.json, with bounds computed on the CPU). We assume
that workers never wait, and that reading, representing and writing take little time compared to solving. A table is
written next to the record as Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import rwk
from rwk.experiment.tables import markdown
from rwk.gram.estimate import estimate_gram
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

ROOT = Path(__file__).parent.parent
GPU_RECORD = ROOT / "results" / "gpu-h200.md"
NEIGHBOURS_RECORD = ROOT / "results" / "neighbours.json"
GPU_ROW = re.compile(r"^\| (\d+) x (\d+) \| [\d,]+ \| ([\d.]+) M \|", re.MULTILINE)


def cpu_rate(graphs: rwk.GraphSet, repeats: int) -> dict[str, Any]:
    """Pairs per second of one core; the best repeat counts, since other programs can only slow a repeat down."""
    rates, sampled = [], 0
    for _ in range(repeats):
        estimate = estimate_gram(graphs, backend="cpu")
        rates.append(round(estimate.pairs_per_core_second, 1))
        sampled = estimate.sampled_pairs
    return {"best": max(rates), "repeats": rates, "pairs_timed": sampled}


def gpu_rate(sizes: np.ndarray, record: Path = GPU_RECORD) -> dict[str, Any]:
    """Pairs per second of one GPU over the pairs of a set; classes that were not timed count as the next larger one."""
    classes = {(int(a), int(b)): 1e6 * float(rate) for a, b, rate in GPU_ROW.findall(record.read_text())}
    bounds = sorted({bound for pair in classes for bound in pair})
    counts = np.bincount(np.searchsorted(bounds, sizes), minlength=len(bounds) + 1)
    if counts[len(bounds)]:
        raise SystemExit(f"{record} has no class for graphs of more than {bounds[-1]} nodes")
    shares = counts[: len(bounds)] / len(sizes)
    seconds = 0.0
    for i, low in enumerate(bounds):
        for j, high in enumerate(bounds):
            small, large = min(low, high), max(low, high)
            larger = [b for b in bounds if b >= small and (b, large) in classes]
            seconds += shares[i] * shares[j] / classes[larger[0], large]
    return {
        "pairs_per_second": round(1.0 / seconds),
        "record": str(record.relative_to(ROOT)),
        "classes": {f"{a} x {b}": rate for (a, b), rate in classes.items()},
        "shares_of_graphs": {str(bound): round(float(share), 4) for bound, share in zip(bounds, shares, strict=True)},
    }


def store_bytes(graphs: rwk.GraphSet) -> dict[str, float]:
    """Bytes on disk per pair, and per graph for its measures, in a store."""
    with tempfile.TemporaryDirectory() as folder:
        gram = rwk.compute_gram(graphs, store=Path(folder) / "store", backend="cpu")
        sizes = {"discrepancy": 0, "measures": 0}
        for file in Path(folder).rglob("*"):
            kind = file.relative_to(folder).parts[1].split("-")[0] if file.is_file() else ""
            if kind in sizes:
                sizes[kind] += file.stat().st_size
        return {
            "n_graphs": len(graphs),
            "a_pair": round(sizes["discrepancy"] / gram.health.n_pairs, 2),
            "a_graph": round(sizes["measures"] / len(graphs), 1),
        }


def search_shares(dataset: str, record: Path = NEIGHBOURS_RECORD) -> dict[str, Any]:
    """The share of a full scan that a query needs, in pairs and in time (bounds included): exact, and recall 0.95."""
    rows = [row for row in json.loads(record.read_text())["rows"] if row["dataset"] == dataset]
    exact = next(row for row in rows if row["max_share"] is None)
    good = min((row for row in rows if row["recall"] >= 0.95), key=lambda row: row["share_solved"])
    return {
        "record": str(record.relative_to(ROOT)),
        "n_candidates": exact["n_candidates"],
        "ways": [
            {
                "name": f"10 nearest of one graph, recall {row['recall']:.2f}",
                "share_of_pairs": row["share_solved"],
                "share_of_time": round(row["seconds_per_query"] / row["full_scan_seconds_per_query"], 4),
            }
            for row in (exact, good)
        ],
    }


def calculate(rates: dict[str, Any], landmarks: int) -> list[dict[str, Any]]:
    """Pairs, hours and bytes of each way to work with 4,110, 100,000 and 1,000,000 graphs."""
    core, gpu, stored = rates["cpu"]["best"], rates["gpu"]["pairs_per_second"], rates["store_bytes"]
    rows = []
    for n in (4_110, 100_000, 1_000_000):
        pairs, columns = n * (n + 1) / 2, n * landmarks
        whole = {"path": "full Gram", "pairs": pairs, "time": pairs, "bytes": stored["a_pair"] * pairs, "gpu": True}
        some = {"path": f"{landmarks} landmarks", "pairs": columns, "time": columns, "bytes": 8 * columns, "gpu": True}
        searches = [
            {"path": way["name"], "pairs": way["share_of_pairs"] * n, "time": way["share_of_time"] * n, "bytes": 0}
            for way in rates["neighbours"]["ways"]
        ]
        for way in (whole, some, *searches):
            rows.append(
                {
                    "n_graphs": n,
                    "path": way["path"],
                    "pairs": round(way["pairs"]),
                    "core_hours": way["time"] / core / 3600,
                    "gpu_hours": way["pairs"] / gpu / 3600 if "gpu" in way else None,
                    "storage_gb": (way["bytes"] + n * stored["a_graph"]) / 1e9,
                }
            )
    return rows


def table(record: dict[str, Any]) -> str:
    """The record as a table."""

    def spelled(figure: float) -> str:
        for size, name in ((1e9, " billion"), (1e6, " million")):
            if figure >= size:
                return f"{float(f'{figure / size:.2g}'):,.10g}{name}"
        return f"{float(f'{figure:.2g}'):,.10g}"

    def hours(figure: float | None) -> str:
        if figure is None:
            return ""
        return spelled(figure) if figure >= 0.1 else f"{spelled(3600 * figure)} s"

    rows = [
        [
            f"{row['n_graphs']:,}",
            row["path"],
            spelled(row["pairs"]),
            hours(row["core_hours"]),
            hours(row["gpu_hours"]),
            spelled(row["storage_gb"]),
        ]
        for row in record["rows"]
    ]
    head = ["graphs", "path", "pairs solved", "core-hours", "GPU-hours (H200)", "storage, GB"]
    return markdown(head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", default="NCI1")
    parser.add_argument("--landmarks", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3, help="how often the CPU is timed")
    parser.add_argument("--stored", type=int, default=400, help="number of graphs in the store that is measured")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    graphs = rwk.load_dataset(arguments.data)
    some = graphs[np.random.default_rng(0).permutation(len(graphs))[: arguments.stored]]
    rates = {
        "cpu": cpu_rate(graphs, arguments.repeats),
        "gpu": gpu_rate(graphs.sizes),
        "store_bytes": store_bytes(some),
        "neighbours": search_shares(arguments.data),
    }
    record = {
        "dataset": arguments.data,
        "rates": rates,
        "rows": calculate(rates, arguments.landmarks),
        "made_with": machine_record(SOLVER_VERSION),
    }
    print(json.dumps(rates, indent=1))
    print(table(record))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
        arguments.output.with_suffix(".md").write_text(table(record) + "\n")


if __name__ == "__main__":
    main()
