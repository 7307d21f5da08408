"""The compiled solver beside what one could use instead: same pairs, one process, one thread each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.bench.contenders import contenders, dense_pair, graph_nodes
from rwk.bench.step_times import count_operations, gemm_peak, step_shares
from rwk.datasets import load_dataset
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.threads import one_blas_thread
from rwk.transport.cpu.dispatch import run_pairs
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.pairs import planned
from rwk.transport.problem import PairResults

DATASETS = ("MUTAG", "ENZYMES", "COX2")
SLOW = 1e-2  # seconds per pair above which fewer pairs are timed, once
SOME = 20  # pairs that slow contenders are timed on
A_WHILE = 1.0  # seconds that a contender is timed for at least


def compare(name: str, *, n_graphs: int = 64, rounds: int = 6) -> dict[str, Any]:
    """Microseconds per pair of every contender on the Gram matrix of some graphs, and their ratios to rwk."""
    parameters = Parameters().checked()
    graphs = load_dataset(name)
    measures, _ = represent(graphs, parameters)
    product, _ = represent(graphs, replace(parameters, feature_metric="product"))
    weights, options = parameters.cost_weights(), parameters.scg_options()
    chosen = np.random.default_rng(0).choice(measures.n_graphs, min(n_graphs, measures.n_graphs), replace=False)
    pairs = planned(measures, np.stack([chosen[side] for side in np.triu_indices(len(chosen))], axis=1), weights).once
    pairs = np.random.default_rng(1).permutation(pairs)  # so that the first few are a random sample
    row: dict[str, Any] = {
        "dataset": name,
        "graphs": len(chosen),
        "pairs": len(pairs),
        "microseconds": {},
        "values": {},
    }
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # POT warns if it did not converge
        nodes = graph_nodes(measures)
        dense = [dense_pair(measures, int(a), int(b), weights, nodes) for a, b in pairs]
        timed: dict[str, tuple[Callable[[int], Any], int]] = {}
        for precision in ("float64", "float32"):
            solve, results = _ours(in_precision(measures, precision), pairs, weights, options)
            timed[f"rwk {precision}"] = solve, len(pairs)
            row["values"][precision] = results
        timed["rwk float64, product cost"] = _ours(product, pairs, weights, options)[0], len(pairs)
        for contender, solver in contenders(measures, weights, options).items():
            timed[contender] = _each(solver, dense), len(pairs)
        # contenders take turns, so that other work on this computer slows all of them; the median round counts
        seconds: dict[str, list[float]] = {contender: [] for contender in timed}
        for round_ in range(rounds):
            for contender, (solve, count) in timed.items():
                if round_ == 0:
                    slow = _seconds_a_pair(solve, 4) > SLOW
                    timed[contender] = solve, min(count, SOME) if slow else count
                elif count > SOME or round_ == 1:
                    seconds[contender].append(_seconds_a_pair(solve, count))
        row["pairs timed"] = {contender: count for contender, (_, count) in timed.items()}
        row["steps"] = step_shares(measures, pairs, weights, options)
    median = {contender: float(np.median(each)) for contender, each in seconds.items()}
    row["microseconds"] = {contender: 1e6 * each for contender, each in median.items()}
    row["faster than"] = {
        precision: {
            contender: float(
                np.median([his / ours for his, ours in zip(each, seconds[f"rwk {precision}"], strict=False)])
            )
            for contender, each in seconds.items()
            if not contender.startswith("rwk")
        }
        for precision in ("float64", "float32")
    }
    double, single = (row["values"].pop(p) for p in ("float64", "float32"))
    row["float32 relative difference"] = float(np.max(np.abs(single.values / double.values - 1)))
    row["mean iterations"] = float(double.n_iter.mean())
    work = count_operations(measures, pairs, weights, options, double)
    row["operations per pair"] = work
    row["GFLOP/s"] = {p: work["floating point"] / median[f"rwk {p}"] / 1e9 for p in ("float64", "float32")}
    row["GEMM peak GFLOP/s"] = {p: gemm_peak(p) for p in ("float64", "float32")}
    return row


def _seconds_a_pair(solve: Callable[[int], Any], count: int) -> float:
    """Seconds per pair over one call, or over as many calls as take a while, so that all are timed equally long."""
    calls, start = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - start < A_WHILE:
        solve(count)
        calls += 1
    return (time.perf_counter() - start) / (calls * count)


def _ours(
    measures: GraphMeasures, pairs: NDArray[np.int64], weights: Any, options: Any
) -> tuple[Callable[[int], Any], PairResults]:
    def solve(count: int) -> PairResults:
        return run_pairs(measures, pairs[:count], weights, options, n_jobs=1)

    return solve, solve(len(pairs))


def _each(solver: Callable[[Any], float], dense: list[Any]) -> Callable[[int], Any]:
    return lambda count: [solver(pair) for pair in dense[:count]]


def threads(n_graphs: int = 400) -> dict[str, float]:
    """How much faster two threads are than one on a Gram matrix of ENZYMES graphs."""
    from rwk.gram import symmetric_discrepancy

    measures, _ = represent(load_dataset("ENZYMES")[:n_graphs], Parameters())
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for n_jobs, each in seconds.items():
            start = time.perf_counter()
            symmetric_discrepancy(measures, Parameters(n_jobs=n_jobs))
            each.append(time.perf_counter() - start)
    one, two = (float(np.median(each)) for each in seconds.values())
    return {"one": one, "two": two, "ratio": float(np.median(np.divide(seconds[1], seconds[2])))}
