"""The conformance suite on a real GPU: `pytest -m gpu`; without a GPU these tests are skipped.

`test_gpu` runs the same comparisons, and more, on computers without a GPU.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from asserts import assert_close, assert_finite, assert_marginals, tolerance
from generators import hard_sets
from gpu_cases import CASES, all_pairs, measured, ragged_set
from gram_graphs import random_graphs
from rwk import GraphSet, Parameters, match, pairwise_discrepancy
from rwk.represent import represent
from rwk.runtime.backends import device_present
from rwk.transport.cpu import dispatch as threads

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not device_present(), reason="there is no GPU here")]


@pytest.fixture
def gpu() -> Any:
    from rwk.transport import gpu

    return gpu


@pytest.mark.parametrize("name", CASES)
def test_many_pairs_agree_with_the_cpu(name: str, gpu: Any) -> None:
    measures, weights, options = measured(name, sizes=(1, 3, 14, 20, 37, 90))
    pairs = all_pairs(measures.n_graphs)
    found = gpu.run_pairs(measures, pairs, weights, options)
    wanted = threads.run_pairs(measures, pairs, weights, options)
    errors = np.abs(found.values - wanted.values) / np.maximum(np.abs(wanted.values), 1e-3)
    assert np.median(errors) < 1e-5
    assert errors.max() < tolerance("float32", "gpu").value
    assert (found.converged == wanted.converged).mean() > 0.9  # float32 may stop an iteration earlier or later


@pytest.mark.parametrize("name", CASES)
def test_a_single_pair_is_solved_in_double_precision(name: str, gpu: Any) -> None:
    measures, weights, options = measured(name)
    for a, b in ((2, 4), (3, 3), (0, 1)):
        found = gpu.run_pair(measures, a, b, weights, options)
        wanted = threads.run_pair(measures, a, b, weights, options)
        assert_finite(found)
        assert_close(found.value, wanted.value, 1e-8, scale=max(abs(wanted.value), 1e-2), what="value")
        assert_close(found.coupling, wanted.coupling, 1e-6, what="coupling")
        first, second = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (a, b))
        assert_marginals(found.coupling, first, second)


@pytest.mark.parametrize("name", hard_sets())
def test_hard_graphs_give_finite_numbers(name: str, gpu: Any) -> None:
    parameters = Parameters.of({"backend": "cpu"})
    measures, _ = represent(GraphSet.from_graphs(hard_sets()[name]), parameters)
    pairs, weights, options = all_pairs(measures.n_graphs), parameters.cost_weights(), parameters.scg_options()
    found = gpu.run_pairs(measures, pairs, weights, options)
    wanted = threads.run_pairs(measures, pairs, weights, options)
    assert np.isfinite(found.values).all()
    assert_close(found.values, wanted.values, 1e-4, scale=max(1e-2, np.abs(wanted.values).max()))


def test_matrices_of_both_backends_agree() -> None:
    graphs = random_graphs(60)
    found, wanted = (pairwise_discrepancy(graphs, backend=backend) for backend in ("gpu", "cpu"))
    assert (found == found.T).all()
    assert_close(found, wanted, tolerance("float32", "gpu").value)


def test_a_matrix_is_the_same_twice() -> None:
    graphs = random_graphs(40, seed=1)
    first, second = (pairwise_discrepancy(graphs, backend="gpu") for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_two_workers_share_one_gpu(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with two GPUs: each worker has a thread, a stream and a copy of the graphs."""
    from rwk.transport.gpu import devices

    parameters = Parameters(backend="gpu")
    measures, _ = represent(GraphSet.from_graphs(random_graphs(60)), parameters)
    pairs, weights, options = all_pairs(60), parameters.cost_weights(), parameters.scg_options()
    wanted = gpu.run_pairs(measures, pairs, weights, options)
    monkeypatch.setenv("RWK_GPU_DEVICE", "cuda:0,cuda:0")
    monkeypatch.setattr(devices, "LEAST_WORK", 1.0)
    found = gpu.run_pairs(measures, pairs, weights, options)
    assert len(devices.kept) == 2
    assert_close(found.values, wanted.values, 1e-6)
    assert (found.converged == wanted.converged).mean() > 0.99


@pytest.mark.parametrize("name", sorted(set(CASES) - {"attention"}))
def test_graphs_are_represented_as_on_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.represent import spectrum_gpu

    monkeypatch.setattr(spectrum_gpu, "LEFT_TO_CPU", 0)  # so that the GPU decomposes these small graphs too
    looks, settings = CASES[name]
    graphs = GraphSet.from_graphs(ragged_set(7, (1, 2, 3, 8, 9, 14, 20, 37, 37, 70), **looks))
    found, scale = represent(graphs, Parameters.of({**settings, "backend": "gpu"}))
    wanted, wanted_scale = represent(graphs, Parameters.of({**settings, "backend": "cpu"}))
    for name, value in wanted_scale.items():
        assert_close(scale[name], value, 1e-6, what=name)
    for name in ("weights", "features", "returns", "square_norms", "embedding", "structure", "laplacian_values"):
        assert_close(getattr(found, name), getattr(wanted, name), 1e-6, what=name)


@pytest.mark.parametrize("name", ["all terms", "repel", "attributes and node weights", "global only", "small entropy"])
def test_a_part_of_the_mass_agrees_with_the_cpu(name: str, gpu: Any) -> None:
    measures, weights, options = measured(name, sizes=(1, 5, 14, 37), mass=0.6, max_iter=5, tol=0.0)
    pairs = all_pairs(measures.n_graphs)
    found = gpu.run_pairs(measures, pairs, weights, options)
    wanted = threads.run_pairs(measures, pairs, weights, options)
    assert_close(found.values, wanted.values, 1e-8, what="values")
    one, other = (backend.run_pair(measures, 1, 2, weights, options) for backend in (gpu, threads))
    assert abs(one.coupling.sum() - 0.6) < 1e-9
    assert_close(one.coupling, other.coupling, 1e-4, what="coupling")


@pytest.mark.parametrize("mass", [1.0, 0.6])
def test_starts_solved_together_agree_with_the_cpu(mass: float, gpu: Any) -> None:
    measures, weights, options = measured("all terms", sizes=(14, 20), mass=mass, max_iter=5, tol=0.0)
    rng = np.random.default_rng(0)
    mu, nu = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (0, 1))
    product = np.outer(mu, nu)
    twisted = [product * (1 + 0.5 * np.outer(rng.choice([-1, 1], 14), rng.choice([-1, 1], 20))) for _ in range(4)]
    starts = mass * np.stack([product, *(balanced(plan, mu, nu) for plan in twisted)])
    found, wanted = (backend.run_starts(measures, 0, 1, weights, options, starts) for backend in (gpu, threads))
    for one, other in zip(found, wanted, strict=True):
        assert_finite(one)
        assert_close(one.value, other.value, 1e-8, what="value")
        assert_close(one.coupling, other.coupling, 1e-4, what="coupling")


def test_a_matching_agrees_with_the_cpu() -> None:
    graph = nx.connected_watts_strogatz_graph(40, 4, 0.3, seed=3)
    part = nx.Graph(graph.subgraph(np.random.default_rng(3).permutation(40)[:36].tolist()))
    part.remove_edges_from(list(part.edges)[:4])
    found, wanted = (match(graph, part, n_starts=10, backend=backend) for backend in ("gpu", "cpu"))
    assert found.misfit == wanted.misfit > 0
    assert_close(found.solution.value, wanted.solution.value, 1e-6)


def balanced(plan: Any, mu: Any, nu: Any) -> Any:
    """The plan with marginals mu and nu."""
    for _ in range(200):
        plan = plan * (mu / plan.sum(axis=1))[:, None]
        plan = plan * (nu / plan.sum(axis=0))[None, :]
    return plan
