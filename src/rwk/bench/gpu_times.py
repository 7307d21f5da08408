"""The GPU backend: rates by size class compared with the limits of the device, and whole Gram matrices.

`run()` returns the record. Times are medians of repeats, after kernels were compiled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.datasets import load_dataset
from rwk.gram import symmetric_discrepancy
from rwk.gram.matrices import keep_matrix
from rwk.graphs import Graph, GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.device import device_name, open_device
from rwk.runtime.log import LOG
from rwk.transport.gpu import run_pairs
from rwk.transport.gpu.device_measures import make_store
from rwk.transport.gpu.plan import Job, fused_shape, group_pairs
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import planned, solve_pairs
from rwk.transport.problem import PairResults

DATASETS: Final = ("NCI1", "COLLAB", "DD")
PAIRS_OF_CLASS: Final = {16: 1_000_000, 32: 400_000, 64: 100_000, 128: 20_000}
GRAM_REPEATS: Final = 3  # of a whole Gram matrix, unless they take longer than
LONG_GRAM: Final = 10.0  # seconds
TENSOR_PRODUCTS: Final = 3  # float16 products per product in single precision
LARGEST_CHECKED: Final = 300_000  # entries of the largest coupling that the CPU solves again
CHECKED_WORK: Final = 2 * 10**10  # sum of n·m·(n + m) over the pairs that the CPU solves again: about 15 seconds
MAPS: Final = 3  # linear maps of Q: structure, and the two Laplacian terms


def run(
    datasets: Sequence[str] = DATASETS,
    *,
    repeats: int = 5,
    check: bool = True,
    matrices: Path | None = None,
    save: Callable[[dict[str, Any]], None] = lambda found: None,
) -> dict[str, Any]:
    """The limits of the device, the rates of the size classes, and whole Gram matrices with their errors to the CPU.

    `save` is called with the record after every part, so that a run that is stopped keeps what it measured.
    """
    limits = ceilings()
    classes = [size_class(width, limits, repeats=repeats) for width in PAIRS_OF_CLASS]
    found: dict[str, Any] = {"device": device_name(), "ceilings": limits, "size classes": classes, "grams": []}
    save(found)
    for name in datasets:
        found["grams"].append(whole_gram(name, check_pairs=1000 if check else 0, matrices=matrices))
        LOG.info(", ".join(f"{key} {short(value)}" for key, value in found["grams"][-1].items()))
        save(found)
    return found


def ceilings() -> dict[str, float]:
    """What the device reaches on large arrays: bytes per second of a copy, operations per second of products."""
    import torch

    device = open_device()
    numbers = torch.rand(2, 2**28, device=device)
    found = {"bytes/s": 8.0 * 2**28 / _seconds(lambda: numbers[0].copy_(numbers[1]))}
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, dtype in (("float16 FLOP/s", torch.float16), ("float32 FLOP/s", torch.float32)):
        a, b = (torch.rand(8192, 8192, device=device, dtype=dtype) for _ in range(2))
        found[name] = 2.0 * 8192**3 / _seconds(partial(torch.matmul, a, b))
    torch.backends.cuda.matmul.allow_tf32 = allowed
    return found


def size_class(width: int, limits: dict[str, float], *, repeats: int) -> dict[str, Any]:
    """Rate of the kernels on random graphs like molecules, of one size class, with all terms and no early stop."""
    import torch

    from rwk.transport.gpu.fused_run import launch, linear_cost_on_chip

    parameters = Parameters.of({"tol": 0.0, "backend": "cpu"})
    measures, _ = represent(GraphSet.from_graphs(_molecules(width, 256)), parameters)
    count = PAIRS_OF_CLASS[width]
    drawn = np.random.default_rng(1).integers(0, measures.n_graphs, (count, 2))
    pairs = planned(measures, drawn, parameters.cost_weights()).once
    device = open_device()
    store = make_store(measures, np.arange(measures.n_graphs), device, torch.float32)
    weights, options = parameters.cost_weights(), parameters.scg_options()
    job = Job(store, pairs, weights, options, PairResults.empty(0), lambda done: None)
    group = group_pairs(store, pairs)[0]
    shape = fused_shape(group.source, group.target)
    assert shape is not None
    a, b = job.places(np.arange(count))
    costs = _seconds(lambda: linear_cost_on_chip(job, group.source, group.target, a, b, shape), repeats)
    seconds = _seconds(lambda: launch(job, group, shape, a, b), repeats)
    solved = launch(job, group, shape, a, b)
    iterations = float(solved.n_iter.double().mean())
    work = operations(shape, iterations, options.sinkhorn_iter)
    rate = count / seconds
    return {
        "nodes up to": width,
        "pairs": count,
        "pairs/s": rate,
        "mean iterations": iterations,
        "pairs/s of 10 iterations": rate * iterations / 10.0,
        "share of costs": costs / seconds,
        **work,
        "share of float16 peak": rate * work["tensor FLOP"] / limits["float16 FLOP/s"],
        "share of float32 peak": rate * work["other FLOP"] / limits["float32 FLOP/s"],
        "share of bandwidth": rate * work["bytes"] / limits["bytes/s"],
    }


def operations(shape: tuple[int, int], iterations: float, rounds: int) -> dict[str, float]:
    """Operations of the kernels per pair, padding included, and the bytes that they must move at least."""
    n, m = shape
    images = iterations + 1.0
    # M, start and value; then per iteration: gradient read, plan written, both and gamma read, two written
    passes = 6.0 + 7.0 * iterations
    return {
        "tensor FLOP": images * MAPS * TENSOR_PRODUCTS * 2.0 * n * m * (n + m),
        "other FLOP": iterations * n * m * (4.0 * rounds + 30.0),  # two multiply-adds per entry and round; the rest
        "exp and log": 5.0 * iterations * n * m,
        "bytes": 4.0 * (passes * n * m + MAPS * (n * n + m * m)),  # and C_P, L and S of both graphs
    }


def whole_gram(name: str, *, check_pairs: int = 1000, matrices: Path | None = None) -> dict[str, Any]:
    """Seconds for a whole Gram matrix with default settings, and how far sampled values are from the CPU's float64."""
    parameters = Parameters(backend="gpu")
    graphs = load_dataset(name)
    represent(graphs[:8], parameters)  # compiles what is compiled on the CPU
    start = time.perf_counter()
    measures, _ = represent(graphs, parameters)
    represented = time.perf_counter() - start
    warm_up(measures, parameters)
    solves: list[float] = []
    while len(solves) < GRAM_REPEATS and sum(solves) < LONG_GRAM:
        start = time.perf_counter()
        matrix, health = symmetric_discrepancy(measures, parameters)
        solves.append(time.perf_counter() - start)
    solved = float(np.median(solves))
    if matrices is not None:
        keep_matrix(matrices, graphs, parameters, matrix.astype(np.float32), health)
    LOG.info("%s: represented in %.1f s, solved in %.1f s", name, represented, solved)
    record = {
        "dataset": name,
        "graphs": measures.n_graphs,
        "largest": int(measures.sizes.max()),
        "pairs": health.n_pairs,
        "represent s": represented,
        "solve s": solved,
        "solves": solves,
        "pairs/s": health.n_pairs / solved,
        "mean iterations": health.mean_iterations,
        "not converged": health.n_not_converged,
        "not finite": int((~np.isfinite(matrix)).sum()),
    }
    if check_pairs:
        record |= agreement(measures, parameters, matrix, check_pairs)
    return record


def warm_up(measures: GraphMeasures, parameters: Parameters) -> None:
    """Solve some pairs of every combination of size classes, so that all kernels are compiled."""
    drawn = np.random.default_rng(0).integers(0, measures.n_graphs, (2000, 2))
    pairs = planned(measures, drawn, parameters.cost_weights()).once
    cheap = measures.sizes[pairs].prod(axis=1) <= 128 * 512
    run_pairs(measures, pairs[cheap], parameters.cost_weights(), parameters.scg_options())


def agreement(
    measures: GraphMeasures, parameters: Parameters, matrix: NDArray[np.float64], count: int
) -> dict[str, float]:
    """Relative differences to the CPU in float64, on random pairs that it can solve in reasonable time."""
    pairs = np.random.default_rng(1).integers(0, measures.n_graphs, (count, 2))
    n, m = measures.sizes[pairs].T
    work = np.where(n * m <= LARGEST_CHECKED, n * m * (n + m), 0)
    pairs = pairs[(work > 0) & (np.cumsum(work) <= CHECKED_WORK)]
    weights, options = parameters.cost_weights(), parameters.scg_options()
    wanted = solve_pairs(measures, pairs, weights, options, backend="cpu").values
    errors = np.abs(matrix[pairs[:, 0], pairs[:, 1]] - wanted) / np.abs(wanted)
    return {"checked": len(pairs), "median error": float(np.median(errors)), "largest error": float(errors.max())}


def _molecules(width: int, count: int) -> list[Graph]:
    """Random trees with a few rings and seven labels, with sizes in the upper half of the class."""
    rng = np.random.default_rng(width)
    graphs = []
    for _ in range(count):
        n = int(rng.integers(width // 2 + 1, width + 1))
        edges = {(max(0, i - int(rng.integers(1, 4))), i) for i in range(1, n)}
        for i, j in rng.choice(n, (n // 8, 2)).tolist():
            edges |= {(min(i, j), max(i, j))} if i != j else set()
        labels = rng.choice(7, n, p=[0.55, 0.15, 0.1, 0.08, 0.06, 0.04, 0.02])
        graphs.append(Graph(n, np.array(sorted(edges), np.int64), node_labels=labels))
    return graphs


def _seconds(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median device time of calls, after one that is not timed."""
    import torch

    work()
    times = []
    for _ in range(repeats):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        work()
        after.record()
        torch.cuda.synchronize()
        times.append(before.elapsed_time(after) / 1e3)
    return float(np.median(times))


def short(value: Any) -> str:
    """A value of a record as text, floats with three digits."""
    if isinstance(value, list):
        return " ".join(short(each) for each in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)
