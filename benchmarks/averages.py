"""Planted averages and mixtures: `python benchmarks/averages.py --output results/averages.json`.

Averages: a template, 20 noisy copies of it (a share of the edges moved elsewhere, up to a share of the nodes missing,
nodes in another order), and the F1 of the edges of what each method makes of the copies, under the best matching with
the template that is found. Mixtures: noisy copies of a few graphs, and the adjusted Rand index of each clustering.
Times are CPU seconds of all threads.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matching import family_graph, paths, rewired
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

import rwk
from rwk.averages.medoids import CLUSTERING
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

FAMILIES = ("geometric", "barabasi-albert", "watts-strogatz", "blocks")
N_NODES = 16
COPIES = 20
CELLS = ((0.1, 0.1, True), (0.1, 0.0, False), (0.1, 0.1, False))  # moved, missing, labels
N_LABELS = 4
MIXTURES = ("shapes", "families", "watts-strogatz, labels", "barabasi-albert, labels")
PER_KIND = 10


def noisy(A: np.ndarray, labels: np.ndarray | None, moved: float, missing: float, rng: np.random.Generator) -> Any:
    """A copy of a graph in a form that `as_graphs` accepts."""
    kept = rng.permutation(len(A))[: len(A) - rng.integers(0, round(missing * len(A)) + 1)]
    part = rewired(A, moved, rng)[np.ix_(kept, kept)]
    return part if labels is None else (part, labels[kept])


def f1_of(found: rwk.Graph, template: rwk.Graph) -> float:
    """F1 of edges under the best matching that is found."""
    plain = rwk.as_graphs([found.adjacency().toarray(), template.adjacency().toarray()])
    pairs = dict(rwk.match(plain[0], plain[1], kicks=300, backend="cpu").numbers.tolist())
    true = {frozenset(edge) for edge in template.edges.tolist()}
    hits = sum(frozenset((pairs.get(i, -1), pairs.get(k, -2))) in true for i, k in found.edges.tolist())
    return 2 * hits / max(found.n_edges + template.n_edges, 1)


def by_rwk(members: rwk.GraphSet, n: int) -> rwk.Graph:
    return rwk.barycenter(members, n_nodes=n, backend="cpu").graph


def by_medoid(members: rwk.GraphSet, n: int) -> rwk.Graph:
    return members[rwk.medoid(members, backend="cpu")]


def by_pot(structure: Callable[[rwk.Graph], np.ndarray]) -> Callable[[rwk.GraphSet, int], rwk.Graph]:
    """POT's fused GW barycentre, with the edges that give it as many as the members have on average."""

    def average(members: rwk.GraphSet, n: int) -> rwk.Graph:
        import ot

        codes = np.unique(members.node_labels) if members.node_labels is not None else np.zeros(1)
        labels = [np.zeros(graph.n_nodes) if graph.node_labels is None else graph.node_labels for graph in members]
        features = [(own[:, None] == codes).astype(float) for own in labels]
        matrices = [structure(graph) for graph in members]
        masses = [np.full(graph.n_nodes, 1 / graph.n_nodes) for graph in members]
        shares = np.full(len(members), 1 / len(members))
        _, C = ot.gromov.fgw_barycenters(n, features, matrices, masses, shares, alpha=0.5, random_state=0)[:2]
        near = -C if structure is paths else C
        i, k = np.triu_indices(n, 1)
        order = np.argsort(-near[i, k], kind="stable")[: round(float(np.mean(members.n_edges)))]
        return rwk.Graph(n, np.sort(np.stack([i[order], k[order]], axis=1), axis=1))

    return average


AVERAGES: dict[str, Callable[[rwk.GraphSet, int], rwk.Graph]] = {
    "rwk.barycenter": by_rwk,
    "rwk.medoid": by_medoid,
    "POT FGW barycentre, adjacency": by_pot(lambda graph: np.asarray(graph.adjacency().toarray())),
    "POT FGW barycentre, paths": by_pot(paths),
}


def averages(seeds: int) -> list[dict[str, Any]]:
    """One row per family, cell and method: the F1 of every seed, and the median time."""
    rows = []
    for moved, missing, labelled in CELLS:
        for family in FAMILIES:
            found: dict[str, list[float]] = {name: [] for name in AVERAGES}
            seconds: dict[str, list[float]] = {name: [] for name in AVERAGES}
            for seed in range(seeds):
                rng = np.random.default_rng([seed, FAMILIES.index(family)])
                A = nx.to_numpy_array(family_graph(family, N_NODES, rng), weight=None)
                labels = rng.integers(0, N_LABELS, len(A)) if labelled else None
                members = rwk.as_graphs([noisy(A, labels, moved, missing, rng) for _ in range(COPIES)])
                for name, method in AVERAGES.items():
                    begun = time.process_time()
                    graph = method(members, len(A))
                    seconds[name].append(time.process_time() - begun)
                    found[name].append(round(f1_of(graph, rwk.as_graphs([A])[0]), 4))
            for name in AVERAGES:
                row = {"family": family, "moved": moved, "missing": missing, "labels": labelled, "method": name}
                rows.append(row | {"f1": found[name], "seconds": round(float(np.median(seconds[name])), 2)})
                print(*row.values(), found[name], rows[-1]["seconds"], flush=True)
    return rows


def kinds_of(mixture: str, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """The graphs that a mixture has copies of."""
    if mixture == "shapes":
        shapes = (nx.grid_2d_graph(4, 4), nx.cycle_graph(16), nx.star_graph(15), nx.barbell_graph(8, 0))
        return [(nx.to_numpy_array(shape), None) for shape in shapes]
    families = FAMILIES[:3] if mixture == "families" else [mixture.split(",")[0]] * 3
    graphs = [nx.to_numpy_array(family_graph(family, 16, rng), weight=None) for family in families]
    return [(A, None if mixture == "families" else rng.integers(0, N_LABELS, len(A))) for A in graphs]


def spectral(matrix: np.ndarray, k: int) -> np.ndarray:
    """Spectral clustering of a kernel matrix; negative entries count as 0."""
    return SpectralClustering(k, affinity="precomputed", random_state=0).fit_predict(np.maximum(matrix, 0.0))


def of_discrepancy(settings: dict[str, Any]) -> Callable[[rwk.GraphSet, int], np.ndarray]:
    def cluster(graphs: rwk.GraphSet, k: int) -> np.ndarray:
        D = rwk.pairwise_discrepancy(graphs, backend="cpu", **settings).clip(min=0)
        return spectral(np.exp(-D / D.mean()), k)

    return cluster


def of_baseline(name: str) -> Callable[[rwk.GraphSet, int], np.ndarray]:
    return lambda graphs, k: spectral(np.asarray(rwk.baselines.get(name).fit_transform(graphs)), k)


CLUSTERERS: dict[str, Callable[[rwk.GraphSet, int], np.ndarray]] = {
    "RWKMeans": lambda graphs, k: rwk.RWKMeans(k).fit_predict(graphs),
    "RWKMedoids": lambda graphs, k: rwk.RWKMedoids(k).fit_predict(graphs),
    "spectral, RW kernel of the clusterers": of_discrepancy(dict(CLUSTERING)),
    "spectral, RW kernel, defaults": of_discrepancy({"debias": True}),
    "spectral, WL": of_baseline("wl"),
    "spectral, WWL": of_baseline("wwl"),
}


def mixtures(seeds: int, chosen: list[str]) -> list[dict[str, Any]]:
    """One row per mixture and method: the adjusted Rand index of every seed, and the median time."""
    rows = []
    for mixture in chosen:
        found: dict[str, list[float]] = {name: [] for name in CLUSTERERS}
        seconds: dict[str, list[float]] = {name: [] for name in CLUSTERERS}
        for seed in range(seeds):
            rng = np.random.default_rng([seed, MIXTURES.index(mixture)])
            kinds = kinds_of(mixture, rng)
            truth = np.repeat(np.arange(len(kinds)), PER_KIND)
            graphs = rwk.as_graphs([noisy(*kinds[kind], 0.07, 0.07, rng) for kind in truth])
            for name, method in CLUSTERERS.items():
                begun = time.process_time()
                labels = method(graphs, len(kinds))
                seconds[name].append(time.process_time() - begun)
                found[name].append(round(float(adjusted_rand_score(truth, labels)), 4))
        for name in CLUSTERERS:
            median = round(float(np.median(seconds[name])), 2)
            rows.append({"mixture": mixture, "method": name, "ari": found[name], "seconds": median})
            print(*rows[-1].values(), flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, nargs=2, default=(3, 5), help="of every average, and of every mixture")
    parser.add_argument("--parts", nargs="+", default=["averages", "mixtures"], choices=["averages", "mixtures"])
    parser.add_argument("--mixtures", nargs="+", default=list(MIXTURES), choices=MIXTURES)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    record = json.loads(options.output.read_text()) if options.output.exists() else {}
    record |= {"made_with": machine_record(SOLVER_VERSION), "nodes": N_NODES, "copies": COPIES}
    if "averages" in options.parts:
        record["averages"] = averages(options.seeds[0])
        write_json(options.output, record)
    if "mixtures" in options.parts:
        record["mixtures"] = mixtures(options.seeds[1], options.mixtures)
        write_json(options.output, record)


if __name__ == "__main__":
    main()
