"""The baselines beside the libraries that have them: same graphs, equal values if definitions agree, one thread each.

`benchmarks/baselines.py` calls this. Compilation and conversion of graphs are not timed, on either side.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from rwk import baselines
from rwk.baselines.node_features import labels_or_degrees, one_hot
from rwk.datasets import load_dataset
from rwk.graphs import GraphSet
from rwk.runtime.arrays import FloatArray
from rwk.runtime.threads import one_blas_thread

ALONE: Final = ("retgk", "hgk-wl", "hgk-sp", "gntk", "p-wl", "wwl", "fgw")


class Contest(NamedTuple):
    """A method of ours, its counterpart in a library, and the largest allowed difference (None: not comparable)."""

    ours: Callable[[], FloatArray]
    theirs: Callable[[], FloatArray]
    library: str
    tolerance: float | None


def compare(dataset: str = "MUTAG", *, n_graphs: int | None = None, repeats: int = 3) -> dict[str, Any]:
    """Seconds for the Gram matrix of each method and of its counterpart in GraKeL or POT, and their ratio.

    The values of WL-PM and FGW differ from their counterparts: GraKeL weights the levels differently, and the two
    conditional gradient solvers of FGW end in different local minima.
    """
    graphs = load_dataset(dataset)
    graphs = graphs if n_graphs is None else graphs[: min(n_graphs, len(graphs))]
    rows: dict[str, Any] = {}
    with one_blas_thread():
        for name, contest in _contests(graphs).items():
            _warm_up(name, graphs)
            ours, gram = _best(contest.ours, repeats)
            theirs, other = _best(contest.theirs, 1)
            apart = float(np.abs(gram - other).max())
            if contest.tolerance is not None and apart > contest.tolerance:
                raise AssertionError(
                    f"{name} and {contest.library} differ by {apart:.2g}; they should compute the same"
                )
            rows[name] = {
                "rwk_s": ours,
                "library_s": theirs,
                "library": contest.library,
                "times_faster": theirs / ours,
                "largest_difference": apart,
            }
    return {"dataset": dataset, "n_graphs": len(graphs), "threads": 1, "methods": rows}


def alone(dataset: str = "ENZYMES", *, n_jobs: int = 2, methods: tuple[str, ...] = ALONE) -> dict[str, Any]:
    """Seconds for the Gram matrix of methods that no maintained library has, with default parameters."""
    graphs = load_dataset(dataset)
    rows = {}
    for name in methods:
        estimator = baselines.get(name)
        if "n_jobs" in estimator.get_params():
            estimator.set_params(n_jobs=n_jobs)
        _warm_up(name, graphs)
        rows[name] = {"rwk_s": _best(functools.partial(estimator.fit_transform, graphs), 1)[0]}
    return {"dataset": dataset, "n_graphs": len(graphs), "threads": n_jobs, "methods": rows}


def _contests(graphs: GraphSet) -> dict[str, Contest]:
    try:
        from grakel import kernels
    except ImportError:
        raise ImportError("the comparison needs GraKeL and POT; pip install 'rwk[baselines]' (Python < 3.13)") from None
    labels = labels_or_degrees(graphs)
    labelled = replace(graphs, node_labels=labels, node_attributes=None)
    coded = replace(graphs, node_attributes=one_hot(labels, np.unique(labels)))
    plain, vectors = _as_grakel(labelled), _as_grakel(coded)
    pyramid = (kernels.PyramidMatch, {"L": 4, "d": 6})

    def contest(name: str, parameters: dict[str, Any], kernel: Any, data: Any, tolerance: float | None) -> Contest:
        estimator = baselines.get(name, **parameters)
        return Contest(
            lambda: estimator.fit_transform(labelled), lambda: kernel.fit_transform(data), "GraKeL", tolerance
        )

    return {
        "wl": contest("wl", {}, kernels.WeisfeilerLehman(n_iter=5, normalize=True), plain, 1e-9),
        "wl-oa": contest("wl-oa", {}, kernels.WeisfeilerLehmanOptimalAssignment(n_iter=5, normalize=True), plain, 1e-9),
        "ghk": contest("ghk", {}, kernels.GraphHopper(normalize=True), vectors, 1e-9),
        "wl-pm": contest(
            "wl-pm",
            {"levels": 3},
            kernels.WeisfeilerLehman(n_iter=5, normalize=True, base_graph_kernel=pyramid),
            plain,
            None,
        ),
        "wwl": Contest(_discrepancies("wwl", labelled), lambda: _wwl_by_pot(labelled), "POT", 1e-9),
        "fgw": Contest(_discrepancies("fgw", labelled), lambda: _fgw_by_pot(labelled), "POT", None),
    }


def _discrepancies(name: str, graphs: GraphSet) -> Callable[[], FloatArray]:
    estimator = baselines.get(name, n_jobs=1)
    return lambda: np.asarray(estimator.fit(graphs).discrepancy())


def _wwl_by_pot(graphs: GraphSet) -> FloatArray:
    import ot

    from rwk.graphs.colours import wl_colours

    colours, at = wl_colours(graphs, 3), graphs.node_offsets
    masses = [np.full(n, 1.0 / n) for n in graphs.sizes]
    distances = np.zeros((len(graphs), len(graphs)))
    for i, j in zip(*np.triu_indices(len(graphs), 1), strict=True):
        a, b = colours[:, at[i] : at[i + 1]], colours[:, at[j] : at[j + 1]]
        cost = (a[:, :, None] != b[:, None, :]).mean(axis=0)
        distances[i, j] = distances[j, i] = ot.emd2(masses[i], masses[j], cost)
    return distances


def _fgw_by_pot(graphs: GraphSet) -> FloatArray:
    import ot

    from rwk.graphs.colours import wl_colours
    from rwk.represent.structure import path_lengths

    colours, at = wl_colours(graphs, 2), graphs.node_offsets
    paths = [path_lengths(graph, None) for graph in graphs]
    unit = max(matrix.max() for matrix in paths)
    distances = np.zeros((len(graphs), len(graphs)))
    for i, j in zip(*np.triu_indices(len(graphs), 1), strict=True):
        a, b = colours[:, at[i] : at[i + 1]], colours[:, at[j] : at[j + 1]]
        cost = (a[:, :, None] != b[:, None, :]).mean(axis=0)
        found = ot.gromov.fused_gromov_wasserstein2(cost, paths[i] / unit, paths[j] / unit, alpha=0.5)
        distances[i, j] = distances[j, i] = found
    return distances


def _as_grakel(graphs: GraphSet) -> list[Any]:
    """Graphs in GraKeL's form, with attributes in place of labels if there are any."""
    written = []
    for graph in graphs:
        neighbours: dict[int, dict[int, float]] = {i: {} for i in range(graph.n_nodes)}
        for i, j in graph.edges.tolist():
            neighbours[i][j] = neighbours[j][i] = 1.0
        values = graph.node_labels if graph.node_attributes is None else graph.node_attributes
        assert values is not None
        labels = {i: tuple(row) if isinstance(row, list) else row for i, row in enumerate(values.tolist())}
        written.append((neighbours, labels))
    return written


def _warm_up(name: str, graphs: GraphSet) -> None:
    few = graphs[: min(4, len(graphs))]
    baselines.get(name).fit_transform(few)
    if few.node_attributes is not None:
        baselines.get(name).fit_transform(replace(few, node_attributes=None))


def _best(run: Callable[[], FloatArray], repeats: int) -> tuple[float, FloatArray]:
    """The shortest time of several runs, and the result of the last."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return best, result
