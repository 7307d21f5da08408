"""The GPU backend against the CPU backend, on computers without a GPU: the batched body runs on the CPU, the
fused kernels in Triton's interpreter if Triton is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naive
from asserts import assert_close, assert_finite, assert_marginals, tolerance
from generators import hard_sets
from gpu_cases import (
    CASES,
    INTERPRETED,
    INTERPRETED_PAIRS,
    INTERPRETED_SETTINGS,
    STREAMED,
    STREAMED_PAIRS,
    STREAMED_SIZES,
    all_pairs,
    measured,
    ragged_set,
)
from rwk import GraphError, GraphSet, Parameters, RWKernel, align, pairwise_discrepancy
from rwk.represent import represent
from rwk.runtime.backends import BackendError
from rwk.transport.cpu import costs as cpu_costs
from rwk.transport.cpu import dispatch as threads
from rwk.transport.cpu import scalar as cpu
from rwk.transport.cpu import sparse
from rwk.transport.work import pair_cost

torch = pytest.importorskip("torch", reason="the GPU backend needs PyTorch")

from rwk.runtime import device  # noqa: E402
from rwk.transport import gpu  # noqa: E402
from rwk.transport.gpu import batched, batched_costs, batched_sinkhorn, devices, plan  # noqa: E402
from rwk.transport.gpu import device_measures as store  # noqa: E402

TYPICAL_ERROR = 1e-5
torch.set_num_threads(1)  # thousands of tiny operations: threads would only wait for each other
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")


@pytest.fixture(autouse=True)
def on_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)


def relative(found: Any, wanted: Any) -> Any:
    return np.abs(found - wanted) / np.maximum(np.abs(wanted), 1e-3)


# ---------------------------------------------------------------- the batched body


def test_starts_of_one_pair_agree_with_the_cpu() -> None:
    measures, weights, options = measured("all terms")
    a, b = 0, measures.n_graphs - 1
    n, m = measures.sizes[[a, b]]
    mu, nu = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (a, b))
    corner = np.zeros((n, m))  # the north-west corner plan, a coupling far from mu nu^T
    rows, columns, i, k = mu.copy(), nu.copy(), 0, 0
    while i < n and k < m:
        corner[i, k] = min(rows[i], columns[k])
        rows[i], columns[k] = rows[i] - corner[i, k], columns[k] - corner[i, k]
        i, k = (i + 1, k) if rows[i] <= columns[k] else (i, k + 1)
    starts = np.stack([np.outer(mu, nu), 0.5 * corner + 0.5 * np.outer(mu, nu)])
    found, wanted = (run.run_starts(measures, a, b, weights, options, starts) for run in (gpu, threads))
    for one, other in zip(found, wanted, strict=True):
        assert_close(one.value, other.value, 1e-9)
        assert_close(one.coupling, other.coupling, 1e-7)


def test_matrices_given_as_arrays_agree_with_the_cpu() -> None:
    from rwk import pairwise_gw

    points = [np.random.default_rng(n).normal(size=(n, 2)) for n in (5, 9, 20)]
    matrices = [np.linalg.norm(x[:, None] - x[None], axis=2) for x in points]
    found, wanted = (pairwise_gw(matrices, backend=backend, n_jobs=1) for backend in ("gpu", "cpu"))
    assert_close(found, wanted, tolerance("float32", "gpu").value)


@pytest.mark.parametrize("name", CASES)
def test_many_pairs_agree_with_the_cpu(name: str) -> None:
    measures, weights, options = measured(name)
    pairs = all_pairs(measures.n_graphs)
    found = gpu.run_pairs(measures, pairs, weights, options)
    wanted = threads.run_pairs(measures, pairs, weights, options, n_jobs=1)
    errors = relative(found.values, wanted.values)
    assert np.median(errors) < TYPICAL_ERROR
    assert errors.max() < tolerance("float32", "gpu").value
    assert (found.n_iter == wanted.n_iter).all()
    assert (found.converged == wanted.converged).all()
    finite = np.isfinite(wanted.gaps)
    assert_close(found.gaps[finite], wanted.gaps[finite], 1e-4, scale=1.0, what="gaps")


@pytest.mark.parametrize("name", CASES)
def test_a_single_pair_is_solved_in_double_precision(name: str) -> None:
    measures, weights, options = measured(name)
    for a, b in ((2, 4), (3, 3), (0, 1)):
        found = gpu.run_pair(measures, a, b, weights, options, trace=True)
        wanted = threads.run_pair(measures, a, b, weights, options, trace=True)
        assert_finite(found)
        assert_close(found.value, wanted.value, 1e-9, scale=max(abs(wanted.value), 1e-2), what="value")
        assert_close(found.coupling, wanted.coupling, 1e-7, what="coupling")
        for term in wanted.terms:
            assert_close(found.terms[term], wanted.terms[term], 1e-9, scale=1.0, what=term)
        first, second = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (a, b))
        assert_marginals(found.coupling, first, second)
        assert (found.n_iter, found.converged) == (wanted.n_iter, wanted.converged)
        if wanted.history is not None:
            assert_close(found.history, wanted.history, 1e-9, scale=1.0, what="history")


@pytest.mark.parametrize("chunk", [1, 3])
def test_chunk_size_agnostic(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    measures, weights, options = measured("all terms")
    pairs = all_pairs(measures.n_graphs)
    whole = gpu.run_pairs(measures, pairs, weights, options)
    monkeypatch.setattr(gpu, "LARGEST_BATCH", chunk)
    parts = gpu.run_pairs(measures, pairs, weights, options)
    assert_close(parts.values, whole.values, 1e-6)
    assert (parts.n_iter == whole.n_iter).all()


@pytest.mark.parametrize("name", hard_sets())
def test_hard_graphs_give_finite_numbers(name: str) -> None:
    parameters = Parameters.of({"backend": "cpu"})
    measures, _ = represent(GraphSet.from_graphs(hard_sets()[name]), parameters)
    pairs, weights, options = all_pairs(measures.n_graphs), parameters.cost_weights(), parameters.scg_options()
    found = gpu.run_pairs(measures, pairs, weights, options)
    wanted = threads.run_pairs(measures, pairs, weights, options, n_jobs=1)
    assert np.isfinite(found.values).all()
    assert_close(found.values, wanted.values, 1e-4, scale=max(1e-2, np.abs(wanted.values).max()))


def test_padding_takes_part_in_nothing() -> None:
    measures, weights, options = measured("repel", sizes=(1, 16, 17, 32, 33))
    found = gpu.run_pairs(measures, all_pairs(5), weights, options)
    assert np.isfinite(found.values).all()


def test_a_graph_with_itself_keeps_its_digits() -> None:
    measures, weights, options = measured("all terms")
    pairs = np.stack([np.arange(measures.n_graphs)] * 2, axis=1)
    found = gpu.run_pairs(measures, pairs, weights, options).values
    wanted = threads.run_pairs(measures, pairs, weights, options, n_jobs=1).values
    assert (relative(found, wanted) < TYPICAL_ERROR).all()


def test_every_pair_is_reported() -> None:
    measures, weights, options = measured("small entropy")
    told: list[int] = []
    gpu.run_pairs(measures, all_pairs(5), weights, options, tick=told.append)
    assert sum(told) == 25
    assert len(gpu.run_pairs(measures, np.zeros((0, 2), np.int64), weights, options).values) == 0


@pytest.mark.parametrize("name", CASES)
def test_graphs_of_every_kind_have_numbers_of_one_kind(name: str) -> None:
    """Kernels are compiled for these dtypes; the interpreter would accept any."""

    def kinds(name: str) -> set[Any]:
        measures, _, _ = measured(name)
        stored = store.make_store(measures, np.arange(measures.n_graphs), torch.device("cpu"), torch.float32)
        return {tuple(array.dtype for array in stack[2:]) for stack in stored.stacks.values()}

    assert kinds(name) == kinds("all terms")


def test_halves_hold_what_single_precision_does() -> None:
    rng = np.random.default_rng(2)
    maps = torch.from_numpy(rng.normal(size=(4, 3, 16, 16)) * 10.0 ** rng.integers(-30, 30, (4, 3, 1, 1))).float()
    maps[1, 2] = 0.0
    halves, units = store._halves(maps)
    assert halves.dtype == torch.float16
    assert torch.isfinite(halves).all()
    again = (halves[:, :, 0].double() + halves[:, :, 1].double()) * units.double()[:, :, None, None]
    largest = maps.double().abs().amax(dim=(2, 3), keepdim=True)
    assert ((again - maps.double()).abs() <= 2.0**-22 * largest).all()


def test_the_two_bodies_share_their_constants() -> None:
    assert batched.ARMIJO == cpu.ARMIJO
    assert batched.HALVINGS == cpu.HALVINGS
    assert batched.LARGEST_STEP_WITH_KL == cpu.LARGEST_STEP_WITH_KL
    assert batched.LEAST_MASS == {4: cpu.LEAST_MASS_32, 8: cpu.LEAST_MASS_64}
    assert batched_costs.PRIOR_FLOOR == cpu_costs.PRIOR_FLOOR
    assert batched_costs.ROUNDING == sparse.ROUNDING


# ---------------------------------------------------------------- several devices


@pytest.mark.parametrize("workers", [2, 3, 8])
def test_pairs_are_dealt_by_cost(workers: int) -> None:
    rng = np.random.default_rng(workers)
    sizes = rng.integers(1, 2000, 60)
    pairs = rng.integers(0, 60, (500, 2))
    shares = devices.dealt(sizes, pairs, workers)
    assert sorted(np.concatenate(shares).tolist()) == list(range(500))
    widths = store.width_of(sizes).astype(float)
    costs = [float(pair_cost(*widths[pairs[share]].T).sum()) for share in shares]
    assert len(costs) == workers
    assert max(costs) - min(costs) <= pair_cost(2048.0, 2048.0)
    assert len(devices.dealt(sizes, pairs[:1], workers)) == 1
    assert len(devices.dealt(np.full(60, 3), pairs, workers)) == 1  # too little for a second worker


@pytest.mark.parametrize("name", ["all terms", "small entropy"])
def test_workers_agree_with_one_device(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measures, weights, options = measured(name)
    pairs = all_pairs(measures.n_graphs)
    wanted = gpu.run_pairs(measures, pairs, weights, options)
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu,cpu,cpu")
    monkeypatch.setattr(devices, "LEAST_WORK", 1.0)
    told: list[int] = []
    found = gpu.run_pairs(measures, pairs, weights, options, tick=told.append)
    assert sum(told) == len(pairs)
    assert len(devices.kept) == 3
    assert_close(found.values, wanted.values, 1e-6)
    assert (found.n_iter == wanted.n_iter).all()
    others, _, _ = measured("repel")
    gpu.run_pairs(others, pairs[:1], weights, options)
    assert len(devices.kept) == 1  # the stores of other graphs are freed


def test_the_error_of_a_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    measures, weights, options = measured("all terms")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu,cpu")
    monkeypatch.setattr(devices, "LEAST_WORK", 1.0)
    make = devices.make_store

    begun: list[int] = []

    def full_for_the_second(*given: Any) -> Any:
        begun.append(1)
        if len(begun) == 2:
            raise torch.cuda.OutOfMemoryError("full")
        return make(*given)

    devices.kept.clear()
    monkeypatch.setattr(devices, "make_store", full_for_the_second)
    with pytest.raises(BackendError, match="too large for the memory of this GPU"):
        gpu.run_pairs(measures, all_pairs(measures.n_graphs), weights, options)


def test_all_visible_devices_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RWK_GPU_DEVICE")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert [str(each) for each in device.open_devices()] == ["cuda:0", "cuda:1", "cuda:2"]
    monkeypatch.setenv("RWK_GPU_DEVICE", "cuda:2,cuda:0")
    assert [str(each) for each in device.open_devices()] == ["cuda:2", "cuda:0"]
    assert str(device.open_device()) == "cuda:2"


# ---------------------------------------------------------------- public names


def test_backend_by_name() -> None:
    graphs = ragged_set(3, (4, 9, 17), features="labels")
    for settings in ({}, {"debias": True}, {"laplacian_source": 0.1}):
        found = pairwise_discrepancy(graphs, backend="gpu", **settings)
        wanted = pairwise_discrepancy(graphs, backend="cpu", **settings)
        assert_close(found, wanted, 1e-4)
        assert (found == found.T).all()
    kernel = RWKernel(backend="gpu").fit(graphs)
    assert_close(kernel.transform(graphs), RWKernel(backend="cpu").fit(graphs).transform(graphs), 1e-4)
    solution = align(graphs[0], graphs[1], backend="gpu", debias=True)
    assert_close(solution.value, align(graphs[0], graphs[1], backend="cpu", debias=True).value, 1e-9, scale=1.0)


def test_no_device_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = ragged_set(3, (4, 5), features="labels")
    monkeypatch.delenv("RWK_GPU_DEVICE")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BackendError, match=r"needs a CUDA device, and PyTorch .*; use backend='cpu'"):
        pairwise_discrepancy(graphs, backend="gpu")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cuda:first")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(BackendError, match="is not a device"):
        align(graphs[0], graphs[1], backend="gpu")


def test_no_torch_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'rwk\[gpu\]'"):
        align(*ragged_set(3, (4, 5), features="labels"), backend="gpu")


FULL = [
    torch.cuda.OutOfMemoryError("full"),
    RuntimeError("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when ..."),
    RuntimeError("Triton Error [CUDA]: out of memory"),
]


def test_a_share_of_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.cuda._utils import _get_device_index

    taken: list[tuple[float, int]] = []

    def take(share: float, card: Any) -> None:
        taken.append((share, _get_device_index(card)))  # which refuses a card without a number, as torch does

    monkeypatch.delenv("RWK_GPU_DEVICE")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", take)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (60 * 2**30, 100 * 2**30))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 10 * 2**30)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 4 * 2**30)
    assert device.chunk_bytes(device.open_device()) == int(0.4 * 66 * 2**30)
    assert not taken
    monkeypatch.setenv("RWK_GPU_SHARE", "0.3")
    assert device.chunk_bytes(device.open_device()) == int(0.4 * 26 * 2**30)
    monkeypatch.setenv("RWK_GPU_DEVICE", "cuda:1")
    device.open_device()
    assert taken == [(0.3, 0), (0.3, 1)]
    monkeypatch.setenv("RWK_GPU_SHARE", "30GB")
    with pytest.raises(BackendError, match=r"RWK_GPU_SHARE='30GB' is not a share .* give a number in \(0, 1\]"):
        device.open_device()


@pytest.mark.parametrize("full", FULL, ids=["torch", "cusolver", "triton"])
def test_a_full_device_is_one_sentence(full: RuntimeError, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_store(*arguments: object) -> None:
        raise full

    monkeypatch.setattr(gpu, "make_store", no_store)
    with pytest.raises(BackendError, match="too large for the memory of this GPU, or other programs use it"):
        align(*ragged_set(3, (4, 5), features="labels"), backend="gpu")


@pytest.mark.parametrize("full", FULL, ids=["torch", "cusolver", "triton"])
def test_out_of_memory_halves_the_chunk(full: RuntimeError) -> None:
    done: list[int] = []
    room = 3

    def solve(members: Any) -> None:
        if len(members) > room:
            raise full
        done.extend(members.tolist())

    plan.run_chunks(solve, np.arange(20), 1, torch.device("cpu"))
    assert done == list(range(20))
    room = 0
    with pytest.raises(BackendError, match="too large for the memory"):
        plan.run_chunks(solve, np.arange(2), 1, torch.device("cpu"))


def test_other_errors_of_a_chunk_are_told() -> None:
    def solve(members: Any) -> None:
        raise RuntimeError("an illegal memory access was encountered")

    with pytest.raises(RuntimeError, match="illegal memory access"):
        plan.run_chunks(solve, np.arange(20), 1, torch.device("cpu"))


# ---------------------------------------------------------------- the Sinkhorn step of the batched body


@pytest.mark.parametrize(
    ("real", "paths"),
    [
        (torch.float32, ["plain float32", "plain float64", "logarithms"]),
        (torch.float64, ["plain float64", "logarithms"]),
    ],
    ids=["single", "double"],
)
def test_directions_by_their_spread(real: Any, paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch of pairs whose g/λ spreads little, too much and far too much for single precision, with padding."""
    taken: list[str] = []

    def watched(path: str, scale: Any) -> Any:
        def run(rest: Any, *others: Any) -> Any:
            taken.append(f"plain {str(rest.dtype).split('.')[1]}" if path == "plain" else path)
            return scale(rest, *others)

        return run

    for path in ("plain", "logarithms"):
        name = f"_scale_{path}"
        monkeypatch.setattr(batched_sinkhorn, name, watched(path, getattr(batched_sinkhorn, name)))
    rng, lam, rounds = np.random.default_rng(5), 0.03, 20
    sizes, spreads = [(5, 7), (8, 6), (3, 8)], [30.0, 300.0, 3000.0]
    g, mu, nu = np.full((3, 8, 8), batched_sinkhorn.FAR[4]), np.zeros((3, 8)), np.zeros((3, 8))
    for i, ((n, m), spread) in enumerate(zip(sizes, spreads, strict=True)):
        g[i, :n, :m] = lam * spread * rng.random((n, m)) / 0.9
        mu[i, :n], nu[i, :m] = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(m))
    given = [torch.tensor(x, dtype=real) for x in (g, mu, nu)]
    found = batched_sinkhorn.sinkhorn_plan(*given, lam, rounds)
    assert taken == paths
    assert found.dtype == real
    for i, (n, m) in enumerate(sizes):
        one, rows, columns = (x[i].double().numpy() for x in given)
        wanted = naive.rounded(naive.sinkhorn(one[:n, :m], rows[:n], columns[:m], lam, rounds), rows[:n], columns[:m])
        assert_close(found[i, :n, :m].numpy(), wanted, 1e-4 if real == torch.float32 else 1e-9, scale=1.0)
        assert float(found[i].sum()) == pytest.approx(1.0, abs=1e-5)


# ---------------------------------------------------------------- the representation


def assert_same_representation(graphs: GraphSet, **settings: Any) -> None:
    found, scale = represent(graphs, Parameters.of({**settings, "backend": "gpu"}))
    wanted, wanted_scale = represent(graphs, Parameters.of({**settings, "backend": "cpu"}))
    for name, value in wanted_scale.items():
        assert_close(scale[name], value, 1e-6, what=name)
    for name in set(wanted._fields) - {"factors", "factor_offsets", "entry_rows", "entry_values", "entry_offsets"}:
        if not name.startswith("column"):
            assert_close(getattr(found, name), getattr(wanted, name), 1e-6, what=name)
    for i in range(wanted.n_graphs):
        one, other = naive.unpack(found, i), naive.unpack(wanted, i)
        # columns of F may change their signs, F F^T may not; an entry at rounding level may be exactly 0
        first, second = (
            part.factors[part.factor_offsets[i] : part.factor_offsets[i + 1]].reshape(int(part.sizes[i]), -1)
            for part in (found, wanted)
        )
        assert_close(first @ first.T, second @ second.T, 1e-6, what="F F^T")
        nothing = np.zeros(int(wanted.sizes[i]))
        for key in one.columns.keys() | other.columns.keys():
            column, same = one.columns.get(key, nothing), other.columns.get(key, nothing)
            assert_close(column, same, 1e-6, scale=1.0, what="sparse column")


@pytest.fixture(params=[0, 20])
def left_to_cpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Graphs up to this size are decomposed by the CPU, larger ones on the device."""
    from rwk.represent import spectrum_gpu

    monkeypatch.setattr(spectrum_gpu, "LEFT_TO_CPU", request.param)
    return int(request.param)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"attention"}))
def test_graphs_are_represented_on_the_device_as_on_the_cpu(name: str, left_to_cpu: int) -> None:
    looks, settings = CASES[name]
    graphs = ragged_set(7, (1, 2, 3, 8, 9, 14, 20, 37, 37, 70), **looks)
    assert_same_representation(GraphSet.from_graphs(graphs), **settings)


def test_spectra_of_small_graphs_are_those_of_the_cpu() -> None:
    graphs = GraphSet.from_graphs(ragged_set(7, (1, 2, 14, 70), features="labels"))
    found, wanted = (represent(graphs, Parameters(backend=backend))[0] for backend in ("gpu", "cpu"))
    np.testing.assert_array_equal(found.embedding, wanted.embedding)
    np.testing.assert_array_equal(found.factors, wanted.factors)


@pytest.mark.parametrize("left_to_cpu", [0], indirect=True)
def test_batches_of_spectra_fit_on_the_device(left_to_cpu: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One graph per batch, graphs too large to be padded, an edge listed twice, and graphs without edges."""
    from rwk.represent import spectrum_gpu

    monkeypatch.setattr(spectrum_gpu, "chunk_bytes", lambda device: 1)
    monkeypatch.setattr(spectrum_gpu, "LARGEST_PADDED", 8)
    graphs = ragged_set(3, (5, 70, 8, 70), features="labels", edge_weights=True)
    twice = replace(graphs[0], edges=np.array([[0, 1], [0, 1], [1, 4]]), edge_weights=np.array([1.0, 2.0, 0.5]))
    bare = replace(graphs[2], edges=np.zeros((0, 2), np.int64), edge_weights=np.zeros(0))
    assert_same_representation(GraphSet.from_graphs([*graphs, twice, bare]))


@pytest.mark.parametrize("left_to_cpu", [0], indirect=True)
def test_a_spectrum_that_fails_is_one_sentence(left_to_cpu: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(matrices: Any) -> None:
        raise torch.linalg.LinAlgError("did not converge")

    monkeypatch.setattr(torch.linalg, "eigh", fail)
    with pytest.raises(GraphError, match="graph 0: its edge weights are too large or too unequal; rescale them"):
        pairwise_discrepancy(ragged_set(3, (9, 4), features="none"), backend="gpu")


# ---------------------------------------------------------------- the attention embedding


def test_attention_trains_on_the_device_as_on_the_cpu() -> None:
    graphs = GraphSet.from_graphs(ragged_set(3, (1, 2, 7, 16, 20), features="labels"))
    settings = {"embedding": "attention", "embedding_dim": 8, "walk_length": 3, "structure_metric": "euclidean"}
    found, _ = represent(graphs, Parameters.of({**settings, "backend": "gpu"}))
    wanted, _ = represent(graphs, Parameters.of({**settings, "backend": "cpu"}))
    assert_close(found.embedding, wanted.embedding, 1e-5)  # 200 steps of Adam: rounding grows


# ---------------------------------------------------------------- the fused kernels


@pytest.fixture(scope="module")
def interpreted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Results of the fused kernels, from a process of its own: Triton decides at import whether to interpret."""
    path = tmp_path_factory.mktemp("interpreted") / "results.npz"
    here = Path(__file__).parent
    environment = {**os.environ, "TRITON_INTERPRET": "1", "RWK_GPU_DEVICE": "cpu"}
    subprocess.run([sys.executable, str(here / "gpu_cases.py"), str(path)], env=environment, check=True)
    with np.load(path) as results:
        return dict(results)


@needs_triton
@pytest.mark.parametrize("name", INTERPRETED)
def test_fused_kernels_agree_with_the_cpu(name: str, interpreted: Any) -> None:
    case, settings, _ = INTERPRETED[name]
    measures, weights, options = measured(case, **INTERPRETED_SETTINGS, **settings)
    for a, b in INTERPRETED_PAIRS:
        value, n_iter, gap, state = interpreted[f"{name}/{a}/{b}/numbers"]
        coupling = interpreted[f"{name}/{a}/{b}/coupling"]
        wanted = threads.run_pair(measures, int(a), int(b), weights, options)
        assert_close(value, wanted.value, 1e-5, scale=max(abs(wanted.value), 0.1), what="value")
        assert (n_iter, bool(state)) == (wanted.n_iter, wanted.converged)
        assert_close(gap, wanted.gap, 1e-5, scale=1.0, what="gap")
        assert_close(coupling, wanted.coupling, 1e-4, what="coupling")
        first, second = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (a, b))
        assert_marginals(coupling, first, second, "float32")


@needs_triton
@pytest.mark.parametrize("name", STREAMED)
def test_kernels_for_large_graphs_agree_with_the_cpu(name: str, interpreted: Any) -> None:
    measures, weights, options = measured(name, STREAMED_SIZES, **INTERPRETED_SETTINGS)
    wanted = threads.run_pairs(measures, STREAMED_PAIRS, weights, options, n_jobs=1)
    values, n_iter, gaps, converged = interpreted[f"streamed/{name}"].T
    assert_close(values, wanted.values, 1e-6, what="value")
    assert (n_iter == wanted.n_iter).all()
    assert (converged == wanted.converged).all()
    assert_close(gaps, wanted.gaps, 1e-5, scale=1.0)
