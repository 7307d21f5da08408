"""The value of a pair in a matrix depends on the two graphs alone (R15): not on how their nodes are numbered, on the
BLAS kernel that decomposed their Laplacians, or on the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from asserts import assert_close
from generators import all_settings, dressed, graph_sets, laws
from rwk import Graph, GraphError, GraphSet, Parameters, load_dataset, pairwise_discrepancy
from rwk.transport.pairs import planned
from rwk.transport.problem import CostWeights

DATA = Path(os.environ.get("RWK_DATA") or Path(__file__).parents[2] / "shared" / "datasets")
DATASETS = ("MUTAG", "BZR", "ENZYMES", "COX2_MD")
N_GRAPHS = 40
SAME = 1e-6  # relative
MAY_DIFFER = 1e-4  # of the pairs: their gap lies within rounding of the tolerance
KERNELS = ("Prescott", "Haswell", "SkylakeX")


def graphs_of(name: str, count: int = N_GRAPHS) -> list[Graph]:
    """Some graphs of a dataset, or ragged random ones of few sizes, so that many are equal."""
    rng = np.random.default_rng(0)
    if name == "random":
        sizes = rng.choice([1, 2, 5, 8, 8, 12, 12, 17], count)
        near = [np.argwhere(np.triu(rng.random((n, n)) < min(1.0, 2.5 / n), 1)) for n in sizes]
        return [dressed(int(n), edges, "both", seed=s) for s, (n, edges) in enumerate(zip(sizes, near, strict=True))]
    try:
        graphs = load_dataset(name, root=DATA if DATA.is_dir() else None, download=False)
    except (GraphError, OSError):
        pytest.skip(f"{name}.zip is not in $RWK_DATA or ../shared/datasets")
    return [graphs[int(i)] for i in np.sort(rng.choice(len(graphs), count, replace=False))]


def renumbered(graphs: list[Graph], seed: int) -> list[Graph]:
    rng = np.random.default_rng(seed)
    return [graph.permuted(rng.permutation(graph.n_nodes)) for graph in graphs]


def assert_same_pairs(found: Any, wanted: Any) -> None:
    """Equal to 1e-6, pair by pair, but for one pair in 10,000."""
    pairs = np.triu_indices(len(wanted))
    differences = np.abs(found[pairs] / wanted[pairs] - 1.0)
    n_differ = int((~(differences <= SAME)).sum())
    assert n_differ <= MAY_DIFFER * len(differences), f"{n_differ} pairs differ, by {differences.max():.3g} at most"


@pytest.mark.parametrize("name", [*DATASETS, "random"])
def test_node_numbering_in_a_gram(name: str) -> None:
    """At default settings and tolerance, pairs of equal size included."""
    graphs = graphs_of(name)
    assert len({graph.n_nodes for graph in graphs}) < 0.8 * len(graphs), "hardly any two graphs have the same size"
    D = pairwise_discrepancy(graphs, backend="cpu")
    assert_same_pairs(pairwise_discrepancy(renumbered(graphs, 1), backend="cpu"), D)


@pytest.mark.parametrize(
    "keywords",
    [
        {"beta_local": 0.1, "beta_global": 0.1, "entropy": 0.03},
        {"laplacian_source": 0.1},
        {"debias": True},
        {"feature_metric": "product", "return_weight": 0.5},
        {"feature_metric": "product", "beta_local": 0.0, "beta_global": 0.0, "entropy": 0.03, "sinkhorn_iter": 30},
    ],
    ids=["weak", "unequal Laplacian weights", "debiased", "product", "product alone"],
)
def test_node_numbering_in_a_gram_of_other_settings(keywords: dict[str, Any]) -> None:
    graphs = graphs_of("random")
    D, again = (pairwise_discrepancy(each, backend="cpu", **keywords) for each in (graphs, renumbered(graphs, 2)))
    np.testing.assert_array_equal(D, D.T)
    assert_close(again, D, SAME)


@pytest.mark.parametrize("name", ["MUTAG", "COX2_MD", "random"])
def test_node_numbering_on_the_gpu_body(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="the GPU backend needs PyTorch")
    torch.set_num_threads(1)
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    graphs = graphs_of(name, 24)
    D, again = (pairwise_discrepancy(each, backend="gpu") for each in (graphs, renumbered(graphs, 3)))
    np.testing.assert_array_equal(D, D.T)
    assert_same_pairs(again, D)


@laws(25)
@given(graph_sets(min_size=2, max_size=3, max_nodes=6), all_settings(attention=False), st.booleans())
def test_a_gram_agrees_with_the_oracle(graphs: list[Graph], keywords: dict[str, Any], debias: bool) -> None:
    p = Parameters.of({**keywords, "debias": debias})
    wanted = naive.gram(graphs, p)
    plain = wanted if not debias else naive.gram(graphs, Parameters.of(keywords))
    size = max(float(np.abs(plain).max()), 1e-3)
    assert_close(pairwise_discrepancy(graphs, **p.asdict()), wanted, 1e-6, scale=size, what="D")


# ---------------------------------------------------------------- which way a pair is solved


def sized(*sizes: int) -> Any:
    """Measures of graphs of these sizes without edges."""
    from rwk.represent import represent

    graphs = [Graph(n, np.zeros((0, 2), np.int64)) for n in sizes]
    return represent(GraphSet.from_graphs(graphs), Parameters())[0]


def test_smaller_against_larger_and_equal_sizes_both_ways() -> None:
    equal = CostWeights(0.5, 0.5, 0.01, 0.01, 0.01, 0.01)
    pairs = np.array([[0, 1], [1, 0], [0, 2], [1, 1], [2, 0]])
    plan = planned(sized(3, 5, 3), pairs, equal)
    assert plan.once.tolist() == [[0, 1], [0, 1], [0, 2], [1, 1], [2, 0]]
    assert plan.twice.tolist() == [2, 4]
    assert plan.solves[5:].tolist() == [[2, 0], [0, 2]]
    unequal = planned(sized(3, 5, 3), pairs, equal._replace(laplacian_source=0.5))
    assert unequal.twice.tolist() == [0, 1, 2, 4]
    off = planned(sized(3, 5, 3), pairs, equal._replace(laplacian_source=0.5, beta_local=0.0))
    assert off.twice.tolist() == [2, 4]


def test_every_pair_is_told_once() -> None:
    from rwk.represent import represent
    from rwk.transport.pairs import solve_pairs

    parameters, told = Parameters(backend="cpu"), []
    measures, _ = represent(GraphSet.from_graphs(graphs_of("random", 12)), parameters)
    pairs = np.stack(np.triu_indices(12), axis=1)
    results = solve_pairs(
        measures, pairs, parameters.cost_weights(), parameters.scg_options(), n_jobs=1, tick=told.append
    )
    assert sum(told) == len(pairs) == len(results.values)
    assert min(told) >= 0


# ---------------------------------------------------------------- another CPU

CODE = """
import sys, numpy as np
from threadpoolctl import threadpool_info
from rwk import pairwise_discrepancy
from test_invariance import graphs_of
names, n_jobs, place = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3]
found = {name: pairwise_discrepancy(graphs_of(name), backend="cpu", n_jobs=n_jobs) for name in names}
kernels = {str(library.get("architecture")) for library in threadpool_info() if library["internal_api"] == "openblas"}
np.savez(place, kernels=",".join(sorted(kernels)), **found)
"""


def with_kernel(kernel: str, n_jobs: int, names: list[str], place: Path) -> dict[str, Any]:
    """Matrices made by a process whose OpenBLAS uses the kernels of some CPU."""
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": str(n_jobs)}
    subprocess.run([sys.executable, "-c", CODE, ",".join(names), str(n_jobs), str(place)], check=True, env=environment)
    with np.load(place) as file:
        return dict(file)


def test_another_blas_kernel_and_number_of_threads(tmp_path: Path) -> None:
    from threadpoolctl import threadpool_info

    np.linalg.eigh(np.eye(2))
    if not any(library["internal_api"] == "openblas" for library in threadpool_info()):
        pytest.skip("numpy's BLAS is not OpenBLAS, whose kernels can be chosen")
    names = [name for name in DATASETS if (DATA / f"{name}.zip").exists()] + ["random"]
    runs = [
        with_kernel(kernel, n_jobs, names, tmp_path / f"{kernel}-{n_jobs}.npz")
        for kernel, n_jobs in ((KERNELS[0], 1), (KERNELS[1], 2), (KERNELS[2], 2))
    ]
    if len({str(run["kernels"]) for run in runs}) < 2:
        pytest.skip("OpenBLAS has kernels for this CPU alone")
    for name in names:
        for run in runs[1:]:
            assert_same_pairs(run[name], runs[0][name])
