"""Where the time of a pair goes, and how many operations it takes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.transport import costs, cpu, sinkhorn
from rwk.transport.compiling import compiled
from rwk.transport.problem import CostWeights, GraphMeasures, PairResults, ScgOptions


def count_operations(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions, results: PairResults
) -> dict[str, float]:
    """Mean operations a pair: floating-point operations of products and Sinkhorn rounds, and exp and log calls."""
    sizes = measures.sizes.astype(float)
    widths = np.diff(measures.factor_offsets) / sizes
    n, m = sizes[pairs[:, 0]], sizes[pairs[:, 1]]
    r, s = widths[pairs[:, 0]], widths[pairs[:, 1]]
    steps = results.n_iter + results.converged  # gradients and Sinkhorn steps
    maps = results.n_iter + 1  # images under Q
    products = 2 * n * m * m + 2 * n * m * (r + s) + 2 * n * m * (n + r + s)
    rounds = steps * options.sinkhorn_iter * 4 * n * m
    features = measures.features.shape[1] + measures.embedding.shape[1]
    return {
        "floating point": float((maps * products + rounds + 3 * n * m * features).mean()),
        "products": float((maps * products).mean()),
        "Sinkhorn": float(rounds.mean()),
        "exp": float((steps * n * m).mean()),
        "log": float(((maps + 1) * n * m).mean()),
    }


def gemm_peak(precision: str, size: int = 512) -> float:
    """GFLOP/s of one thread on a large square product: the machine's practical limit."""
    from threadpoolctl import threadpool_limits

    a = np.random.default_rng(0).random((size, size)).astype(precision)
    with threadpool_limits(1, "blas"):
        best = np.inf
        for _ in range(8):
            start = time.perf_counter()
            a @ a
            best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best / 1e9


@compiled
def _costs(graphs: Any, pairs: Any, weights: Any) -> float:
    total = 0.0
    for p in range(len(pairs)):
        total += cpu.load_pair(graphs, pairs[p, 0], pairs[p, 1], weights).constant
    return total


@compiled
def _products(graphs: Any, pairs: Any, weights: Any, times: int) -> float:
    total = 0.0
    for p in range(len(pairs)):
        pair = cpu.load_pair(graphs, pairs[p, 0], pairs[p, 1], weights)
        x, out = np.full_like(pair.fixed, 1.0 / pair.fixed.size), np.empty_like(pair.fixed)
        for _ in range(times):
            cpu.quadratic_map(graphs, pair, weights, x, out)
        total += out[0, 0]
    return total


@compiled
def _sinkhorn(graphs: Any, pairs: Any, weights: Any, options: Any, rounds: int, times: int) -> float:
    total = 0.0
    for p in range(len(pairs)):
        pair = cpu.load_pair(graphs, pairs[p, 0], pairs[p, 1], weights)
        out = np.empty_like(pair.fixed)
        for _ in range(times):
            sinkhorn.sinkhorn_plan(pair.fixed, pair.mu, pair.nu, options.entropy, rounds, out)
        total += out[0, 0]
    return total


@compiled
def _logarithms(graphs: Any, pairs: Any, weights: Any, times: int) -> float:
    total = 0.0
    for p in range(len(pairs)):
        pair = cpu.load_pair(graphs, pairs[p, 0], pairs[p, 1], weights)
        x, out = np.full_like(pair.fixed, 1.0 / pair.fixed.size), np.empty_like(pair.fixed)
        for _ in range(times):
            total += cpu.logarithms(x, pair.log_prior, out)
    return total


@compiled
def _features(graphs: Any, pairs: Any) -> float:
    total = 0.0
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
        out = np.empty((n, costs.padded(m)))
        costs.feature_cost(graphs, a, b, out)
        total += out[0, 0]
    return total


def step_shares(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights, options: ScgOptions
) -> dict[str, float]:
    """Microseconds of each step, one call of it: a pair pays costs once and the rest once an iteration."""
    many = 10
    load = _best(lambda: _costs(measures, pairs, weights), len(pairs))
    maps = _best(lambda: _products(measures, pairs, weights, many), len(pairs))
    plan = _best(lambda: _sinkhorn(measures, pairs, weights, options, options.sinkhorn_iter, many), len(pairs))
    bare = _best(lambda: _sinkhorn(measures, pairs, weights, options, 1, many), len(pairs))
    logs = _best(lambda: _logarithms(measures, pairs, weights, many), len(pairs))
    return {
        "costs, once a pair": load,
        "of it features": _best(lambda: _features(measures, pairs), len(pairs)),
        "products, an iteration": (maps - load) / many,
        "Sinkhorn rounds, an iteration": (plan - bare) / many,
        "exp and rounding, an iteration": (bare - load) / many,
        "log, an iteration": (logs - load) / many,
    }


def _best(call: Any, count: int) -> float:
    call()
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / count
