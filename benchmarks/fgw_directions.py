"""How far FGW with entropic directions (GPU) is from FGW with exact ones (CPU), on random graphs of some datasets.

    python benchmarks/fgw_directions.py --output results/fgw-directions.json

Without a GPU, RWK_GPU_DEVICE=cpu runs the GPU code on the CPU. Differences are shares of the mean exact value.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

import rwk
from rwk.baselines.fused_gw import FGW
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION


def compared(name: str, count: int, alpha: float) -> dict[str, object]:
    """Differences of all pairs of some graphs, without attributes."""
    graphs = replace(rwk.load_dataset(name), node_attributes=None)
    graphs = graphs[np.sort(np.random.default_rng(0).permutation(len(graphs))[:count])]
    exact, found = (FGW(alpha=alpha, backend=backend).fit(graphs).discrepancy() for backend in ("cpu", "gpu"))
    above = np.triu_indices(len(graphs), 1)
    apart = (found[above] - exact[above]) / exact[above].mean()
    return {
        "dataset": name,
        "graphs": len(graphs),
        "alpha": alpha,
        **{key: round(float(value), 4) for key, value in (("mean", apart.mean()), ("median", np.median(apart)))},
        **{key: round(float(value), 4) for key, value in (("least", apart.min()), ("largest", apart.max()))},
        "correlation": round(float(np.corrcoef(found[above], exact[above])[0, 1]), 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["MUTAG", "NCI1"])
    parser.add_argument("--graphs", type=int, default=50, help="number of graphs, chosen at random")
    parser.add_argument("--alpha", type=float, nargs="+", default=[0.1, 0.5, 0.9])
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rows = [compared(name, arguments.graphs, alpha) for name in arguments.data for alpha in arguments.alpha]
    record = {"rows": rows, "made_with": machine_record(SOLVER_VERSION)}
    print(json.dumps(record))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
