"""Planted matchings beside POT and SciPy: `python benchmarks/matching.py --output results/matching/cells.jsonl`.

A cell is a family of graphs, a size, a share of deleted nodes, whether 5 % of the edges are rewired, and whether nodes
have labels (three, at random; elements for molecules). Every method gets the same pairs of a cell, ten of up to 100
nodes and three of 300, one after the other on one thread; whatever a method makes of the two graphs is part of its
time, and so is rounding.
Times are CPU seconds. The record has one line per cell; for each method the share of true pairs recovered, the same
with nodes that colour refinement can't tell apart counted as one, the share of edges preserved, and the median time.
Methods and cells that are there already are not computed again, so a stopped run goes on where it was. With --again,
the chosen methods are, in cells of other commits; every line has its commit, and the header what each was run with.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from scipy.optimize import linear_sum_assignment, quadratic_assignment
from threadpoolctl import threadpool_limits

import rwk
from rwk.matching.later import edges_preserved
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

FAMILIES = ("geometric", "barabasi-albert", "watts-strogatz", "blocks", "molecules")
SIZES = (30, 100, 300)
SEEDS = {30: 10, 100: 10, 300: 3}
DELETED = (0.0, 0.05, 0.1, 0.2)
REWIRED = (0.0, 0.05)
N_LABELS = 3
LABEL_SHARE = 0.5  # alpha of POT's fused solver
LARGEST_AFFINITY = 60
LARGEST_THOROUGH = 60
FIELDS = ("recovered", "recovered_up_to_symmetry", "edges_preserved", "seconds")
AMINO_ACIDS = "GAVLISTDNEQKRHFYWMPC"


class Cell(NamedTuple):
    """One kind of planted problem."""

    family: str
    n_nodes: int
    deleted: float
    rewired: float
    labels: bool


class Planted(NamedTuple):
    """A graph, a smaller or equal copy of it, and the true node of the graph for every node of the copy."""

    graph: rwk.Graph
    copy: rwk.Graph
    truth: np.ndarray
    colours: np.ndarray  # of the nodes of the graph; equal ones can't be told apart


Method = Callable[[Planted], np.ndarray]  # the node of the graph for every node of the copy


def cells(sizes: tuple[int, ...]) -> Iterator[Cell]:
    for size in sizes:
        for deleted, rewired, labels in itertools.product(DELETED, REWIRED, (False, True)):
            for family in FAMILIES:
                yield Cell(family, size, deleted, rewired, labels)


def planted(cell: Cell, seed: int) -> Planted:
    """The pair of a cell for one seed."""
    rng = np.random.default_rng([seed, cell.n_nodes, FAMILIES.index(cell.family)])
    graph = family_graph(cell.family, cell.n_nodes, rng)
    n = graph.number_of_nodes()
    A = nx.to_numpy_array(graph, weight=None)
    elements = [graph.nodes[node].get("element") for node in graph]
    labels = np.unique(elements, return_inverse=True)[1] if elements[0] else rng.integers(0, N_LABELS, n)
    truth = rng.permutation(n)[: n - round(cell.deleted * n)]
    B = rewired(A[np.ix_(truth, truth)], cell.rewired, rng)
    sides = [(A, labels), (B, labels[truth])]
    first, second = (rwk.as_graphs([side if cell.labels else side[0]])[0] for side in sides)
    return Planted(first, second, truth, refined_colours(A, labels if cell.labels else np.zeros(n, int)))


def refined_colours(A: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """Colour refinement until nothing changes."""
    while True:
        counts = np.stack([(A * (colours == colour)).sum(axis=1) for colour in np.unique(colours)], axis=1)
        finer = np.unique(np.column_stack([colours, counts]), axis=0, return_inverse=True)[1].ravel()
        if finer.max() == colours.max():
            return finer
        colours = finer


def family_graph(family: str, n: int, rng: np.random.Generator) -> nx.Graph:
    """A connected graph of about n nodes."""
    if family == "molecules":
        return peptide(n, rng)
    while True:
        seed = int(rng.integers(2**31))
        if family == "geometric":
            graph = nx.random_geometric_graph(n, 1.15 * np.sqrt(6 / (np.pi * n)), seed=seed)
        elif family == "barabasi-albert":
            graph = nx.barabasi_albert_graph(n, 2, seed=seed)
        elif family == "watts-strogatz":
            graph = nx.watts_strogatz_graph(n, 4, 0.2, seed=seed)
        else:
            inside, between = min(1.0, 12 / n), 1.5 / n
            chances = [[inside if a == b else between for a in range(3)] for b in range(3)]
            graph = nx.stochastic_block_model([n // 3 + (part < n % 3) for part in range(3)], chances, seed=seed)
        largest = max(nx.connected_components(graph), key=len)
        if len(largest) >= 0.9 * n:  # geometric graphs of this density are seldom connected as a whole
            return nx.convert_node_labels_to_integers(nx.Graph(graph.subgraph(largest).edges))


def peptide(n: int, rng: np.random.Generator) -> nx.Graph:
    """A random peptide of about n heavy atoms."""
    from rdkit import Chem

    chain, molecule = "", None
    while molecule is None or molecule.GetNumAtoms() < n - 4:
        chain += AMINO_ACIDS[rng.integers(len(AMINO_ACIDS))]
        molecule = Chem.MolFromSequence(chain)
    graph = nx.Graph()
    graph.add_nodes_from((atom.GetIdx(), {"element": atom.GetSymbol()}) for atom in molecule.GetAtoms())
    graph.add_edges_from((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds())
    return graph


def rewired(B: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """A copy of an adjacency matrix with a share of its edges moved elsewhere."""
    B = B.copy()
    edges, others = np.argwhere(np.triu(B, 1) > 0), np.argwhere(np.triu(1 - B, 1) > 0)
    count = min(round(share * len(edges)), len(others))
    for (i, k), (a, b) in zip(rng.permutation(edges)[:count], rng.permutation(others)[:count], strict=True):
        B[i, k] = B[k, i] = 0.0
        B[a, b] = B[b, a] = 1.0
    return B


def by_rwk(**settings: Any) -> Method:
    def solve(pair: Planted) -> np.ndarray:
        found = rwk.match(pair.copy, pair.graph, backend="cpu", n_jobs=1, **settings).numbers
        return found[np.argsort(found[:, 0]), 1]

    return solve


def paths(graph: rwk.Graph) -> np.ndarray:
    """Shortest paths; unreachable nodes are one step farther than the farthest."""
    from scipy.sparse.csgraph import shortest_path

    found = shortest_path(graph.adjacency(), unweighted=True)
    return np.where(np.isfinite(found), found, found[np.isfinite(found)].max() + 1)


def label_cost(pair: Planted) -> np.ndarray:
    if pair.copy.node_labels is None or pair.graph.node_labels is None:
        return np.zeros((pair.copy.n_nodes, pair.graph.n_nodes))
    return (pair.copy.node_labels[:, None] != pair.graph.node_labels[None, :]).astype(float)


def by_pot_gw(pair: Planted) -> np.ndarray:
    import ot

    return linear_sum_assignment(-ot.gromov_wasserstein(paths(pair.copy), paths(pair.graph)))[1]


def by_pot_fgw(pair: Planted) -> np.ndarray:
    """Fused: labels, and degrees as a second feature, so that it is not the same as GW without labels."""
    import ot

    degrees = [graph.degrees for graph in (pair.copy, pair.graph)]
    cost = label_cost(pair) + np.abs(np.subtract.outer(*degrees)) / max(degrees[1].max(), 1.0)
    matrices = [paths(graph) / paths(graph).mean() for graph in (pair.copy, pair.graph)]
    return linear_sum_assignment(-ot.fused_gromov_wasserstein(cost, *matrices, alpha=LABEL_SHARE))[1]


def by_scipy(method: str) -> Method:
    """SciPy's quadratic assignment of adjacency matrices; the copy is padded with nodes without edges."""

    def solve(pair: Planted) -> np.ndarray:
        A = np.asarray(pair.graph.adjacency().todense())
        B = np.zeros_like(A)
        m = pair.copy.n_nodes
        B[:m, :m] = np.asarray(pair.copy.adjacency().todense())
        if pair.copy.node_labels is not None and pair.graph.node_labels is not None:  # labels as loops
            A = A + np.diag(1.0 + pair.graph.node_labels)
            B[np.arange(m), np.arange(m)] += 1.0 + pair.copy.node_labels
        options = {"maximize": True, "rng": np.random.default_rng(0)}
        return quadratic_assignment(B, A, method=method, options=options)["col_ind"][:m]

    return solve


def by_pygmtools(method: str) -> Method:
    """pygmtools on the affinity matrix of all pairs of pairs: edges with edges, and equal labels with equal ones."""

    def solve(pair: Planted) -> np.ndarray:
        import pygmtools

        pygmtools.set_backend("numpy")
        A, B = (np.asarray(graph.adjacency().todense()) for graph in (pair.copy, pair.graph))
        affinity = np.kron(B, A)  # pair (i, k) is at k n + i
        if pair.copy.node_labels is not None:
            affinity += np.diag(1.0 - label_cost(pair).T.ravel())
        found = getattr(pygmtools, method)(affinity, len(A), len(B))
        return linear_sum_assignment(-np.asarray(found))[1]

    return solve


def can_run(name: str, n_nodes: int) -> bool:
    """pygmtools must be installed, and its matrix of n^4 numbers must fit; 2-opt takes ten seconds at 100 nodes."""
    small = n_nodes <= LARGEST_AFFINITY
    if name == "rwk.match, thorough":
        return n_nodes <= LARGEST_THOROUGH
    if name.startswith("pygmtools"):
        return small and importlib.util.find_spec("pygmtools") is not None
    return small or name != "SciPy 2-opt"


METHODS: dict[str, Method] = {
    "rwk.match, quick": by_rwk(effort="quick"),
    "rwk.match, fast": by_rwk(effort="fast"),
    "rwk.match": by_rwk(),
    "rwk.match, thorough": by_rwk(effort="thorough"),
    "POT GW": by_pot_gw,
    "POT FGW": by_pot_fgw,
    "SciPy FAQ": by_scipy("faq"),
    "SciPy 2-opt": by_scipy("2opt"),
    "pygmtools RRWM": by_pygmtools("rrwm"),
    "pygmtools IPFP": by_pygmtools("ipfp"),
}


def measured(names: list[str], cell: Cell, seeds: int) -> dict[str, list[float]]:
    """What every method recovers and how long it takes, in the order of `FIELDS`."""
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for seed in range(seeds):
        pair = planted(cell, seed)
        for name in names:
            start = time.thread_time()
            places = METHODS[name](pair)
            seconds = time.thread_time() - start
            right = float((places == pair.truth).mean())
            alike = float((pair.colours[places] == pair.colours[pair.truth]).mean())
            numbers = np.stack([np.arange(len(places)), places], axis=1)
            found[name].append([right, alike, edges_preserved(pair.copy, pair.graph, numbers), seconds])
    lines = {}
    for name, rows in found.items():
        means = np.mean(rows, axis=0)[:3].round(4).tolist()
        lines[name] = [*means, round(float(np.median([row[3] for row in rows])), 5)]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--seeds", type=int, help="of every cell; by default 10, of 300 nodes 3")
    parser.add_argument("--again", action="store_true", help="compute methods again in cells of other commits")
    parser.add_argument("--minutes", type=float, default=1440.0, help="start no cell after this time")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    now = machine_record(SOLVER_VERSION)
    header: dict[str, Any] = {"made_with": now, "threads": 1, "fields": FIELDS}
    lines: dict[Cell, dict[str, Any]] = {}
    if options.output.exists():
        header, *old = map(json.loads, options.output.read_text().splitlines())
        lines = {Cell(*line["cell"]): line for line in old}
        if now not in (header["made_with"], *header.get("went_on_with", [])):
            header.setdefault("went_on_with", []).append(now)
    begun, warm = time.perf_counter(), set()
    for cell in cells(tuple(options.sizes)):
        seeds = options.seeds or SEEDS.get(cell.n_nodes, 10)
        known = lines.get(cell, {"cell": cell, "commit": now["commit"], "methods": {}})
        if options.again and known.get("commit") != now["commit"]:
            kept = {name: row for name, row in known["methods"].items() if name not in options.methods}
            known = {"cell": cell, "commit": now["commit"], "methods": kept}
        known.setdefault("seeds", seeds)
        names = [name for name in options.methods if can_run(name, cell.n_nodes) and name not in known["methods"]]
        late = time.perf_counter() - begun > 60 * options.minutes
        if cell.family not in options.families or not names or late:
            continue
        if cell.n_nodes not in warm:  # compile
            warm.add(cell.n_nodes)
            measured(names, cell, 1)
        known["methods"] |= measured(names, cell, known["seeds"])
        lines[cell] = known
        text = "\n".join(json.dumps(line, separators=(",", ":")) for line in [header, *lines.values()])
        options.output.write_text(text + "\n")
        print(*cell, *(f"{name} {known['methods'][name][0]:.2f}" for name in names), sep=", ", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
