"""A Gram matrix of 10,000 molecules: `python benchmarks/molecule_gram.py --output results/molecule-gram.json`.

The molecules are made by a generator: rings of five and six atoms and chains between them, 23 heavy atoms on average
as in ZINC, with elements and bond types. All their pairs are solved on all cores, and the record has the seconds by
the clock, the CPU seconds of the process and its peak memory. With `--sample 700` only the pairs of so many of the
molecules are solved, and the CPU time of all pairs on two cores is estimated from theirs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import time
from pathlib import Path

import numpy as np

from rwk.gram import symmetric_discrepancy
from rwk.graphs import Graph, GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.machine import busy_share, machine_record
from rwk.transport.problem import SOLVER_VERSION

ATOMS, SPREAD, FEWEST, MOST = 23.2, 4.5, 6, 38  # mean and deviation of the number of atoms, and its limits
ELEMENTS = [0.74, 0.12, 0.1, 0.02, 0.01, 0.01]  # C N O S F Cl
SINGLE, DOUBLE, AROMATIC = 1, 2, 4


def molecule(rng: np.random.Generator) -> Graph:
    """A random molecule: rings and chains, each attached to an atom with room for another bond."""
    n = int(np.clip(rng.normal(ATOMS, SPREAD), FEWEST, MOST))
    bonds: dict[tuple[int, int], int] = {}
    count, free = 1, [0]  # atoms so far, and those with room, a place for each
    while count < n:
        place = int(rng.integers(len(free)))
        root = free.pop(place)
        size = int(rng.choice([1, 1, 2, 3, 5, 6, 6]))
        size = min(size, n - count)
        new = list(range(count, count + size))
        count += size
        bonds[root, new[0]] = SINGLE if size >= 5 or rng.random() < 0.8 else DOUBLE
        kind = AROMATIC if size >= 5 else SINGLE
        bonds |= dict.fromkeys(itertools.pairwise(new), kind)
        if size >= 5:
            bonds[new[0], new[-1]] = kind
        free += new + ([root] if rng.random() < 0.3 else [])
    edges = np.array(sorted(bonds), np.int64)
    kinds = np.array([bonds[tuple(edge)] for edge in edges.tolist()])
    return Graph(n, edges, node_labels=rng.choice(len(ELEMENTS), n, p=ELEMENTS), edge_labels=kinds)


def solve(graphs: GraphSet, sample: int | None) -> dict[str, float]:
    """Times and memory of the Gram matrix of the graphs, or of some of them and an estimate for all."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(graphs))[: sample or len(graphs)])
    parameters = Parameters(backend="cpu", n_jobs=1 if sample else None)
    start = time.perf_counter()
    measures, _ = represent(graphs[chosen], parameters)
    represented, used = time.perf_counter(), time.process_time()
    _, health = symmetric_discrepancy(measures, parameters)
    wall, cpu = time.perf_counter() - represented, time.process_time() - used
    found = {
        "graphs": len(chosen),
        "nodes on average": float(measures.sizes.mean()),
        "pairs": health.n_pairs,
        "not converged": health.n_not_converged,
        "seconds to represent": represented - start,
        "seconds to solve": wall,
        "CPU seconds to solve": cpu,
        "CPU microseconds per pair": 1e6 * cpu / health.n_pairs,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if sample:
        every = len(graphs) * (len(graphs) + 1) // 2
        found["estimated minutes of all, two cores"] = cpu / health.n_pairs * every / 2 / 60
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=10_000, help="number of molecules")
    parser.add_argument("--sample", type=int, default=None, help="solve the pairs of so many molecules only")
    parser.add_argument("--output", type=Path, default=None)
    arguments = parser.parse_args()
    rng, used = np.random.default_rng(0), busy_share()
    graphs = GraphSet.from_graphs([molecule(rng) for _ in range(arguments.graphs)])
    record = {
        "generated": arguments.graphs,
        **solve(graphs, arguments.sample),
        "made_with": {**machine_record(SOLVER_VERSION), "used by other programs": round(used, 3)},
    }
    print(json.dumps(record))
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
