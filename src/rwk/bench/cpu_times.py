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
SOME = 20  # pairs that every contender is timed on at least
A_WHILE = 0.5  # seconds that a contender is timed for at least, in every round
LONGEST = 1.0  # seconds that a timing should take at most: slower contenders get fewer pairs
AGAIN = "rwk float64, again"  # the same work as "rwk float64": how far the two differ is the noise of this computer

Solver = Callable[[int], Any]  # solves so many of the pairs


def compare(name: str, *, n_graphs: int = 64, rounds: int = 5) -> dict[str, Any]:
    """Microseconds per pair of every contender on the Gram matrix of some graphs, and their ratios to rwk.

    Medians over rounds, in which the contenders take turns. `spread` is the range of the rounds relative to the median,
    `noise` the same for the ratio of two identical contenders.
    """
    parameters = Parameters().checked()
    graphs = load_dataset(name)
    measures, _ = represent(graphs, parameters)
    product, _ = represent(graphs, replace(parameters, feature_metric="product"))
    weights, options = parameters.cost_weights(), parameters.scg_options()
    chosen = np.random.default_rng(0).choice(measures.n_graphs, min(n_graphs, measures.n_graphs), replace=False)
    pairs = planned(measures, np.stack([chosen[side] for side in np.triu_indices(len(chosen))], axis=1), weights).once
    pairs = np.random.default_rng(1).permutation(pairs)  # so that the first few are a random sample
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # POT warns if it did not converge
        nodes = graph_nodes(measures)
        dense = [dense_pair(measures, int(a), int(b), weights, nodes) for a, b in pairs]
        plain, double = _ours(measures, pairs, weights, options)
        narrow, single = _ours(in_precision(measures, "float32"), pairs, weights, options)
        timed = {"rwk float64": plain, "rwk float32": narrow, AGAIN: plain}
        timed["rwk float64, product cost"] = _ours(product, pairs, weights, options)[0]
        for contender, solver in contenders(measures, weights, options).items():
            timed[contender] = _each(solver, dense)
        counts, seconds = _rounds(timed, len(pairs), rounds)
        steps = step_shares(measures, pairs, weights, options)
    work = count_operations(measures, pairs, weights, options, double)
    again = np.divide(seconds.pop(AGAIN), seconds["rwk float64"])
    del counts[AGAIN]
    median = {contender: float(np.median(each)) for contender, each in seconds.items()}
    return {
        "dataset": name,
        "graphs": len(chosen),
        "pairs": len(pairs),
        "microseconds": {contender: 1e6 * each for contender, each in median.items()},
        "spread": {contender: _spread(each) for contender, each in seconds.items()},
        "noise": float(np.abs(again - 1.0).max()),
        "pairs timed": counts,
        "steps": steps,
        "faster than": {precision: _ratios(seconds, f"rwk {precision}") for precision in ("float64", "float32")},
        "float32 relative difference": float(np.max(np.abs(single.values / double.values - 1))),
        "mean iterations": float(double.n_iter.mean()),
        "operations per pair": work,
        "GFLOP/s": {p: work["floating point"] / median[f"rwk {p}"] / 1e9 for p in ("float64", "float32")},
        "GEMM peak GFLOP/s": {p: gemm_peak(p) for p in ("float64", "float32")},
    }


def _rounds(timed: dict[str, Solver], n_pairs: int, rounds: int) -> tuple[dict[str, int], dict[str, list[float]]]:
    """How many pairs each contender is timed on, and its seconds per pair in every round.

    Contenders take turns, so that other work on this computer slows all of them. Those that need more than a second
    for `SOME` pairs have one round only.
    """
    counts, seconds = {}, {}
    for contender, solve in timed.items():
        each = _seconds_a_pair(solve, 4, at_least=0.0)
        counts[contender] = int(np.clip(LONGEST / each, min(SOME, n_pairs), n_pairs))
        seconds[contender] = [_seconds_a_pair(solve, counts[contender])]
    for _ in range(rounds - 1):
        for contender, solve in timed.items():
            if seconds[contender][0] * SOME <= LONGEST:
                seconds[contender].append(_seconds_a_pair(solve, counts[contender]))
    return counts, seconds


def _spread(seconds: list[float]) -> float:
    """The range of timings, relative to their median."""
    return float((max(seconds) - min(seconds)) / np.median(seconds))


def _ratios(seconds: dict[str, list[float]], ours: str) -> dict[str, float]:
    """How many times slower every other contender is, by the median round."""
    return {
        contender: float(np.median([his / mine for his, mine in zip(each, seconds[ours], strict=False)]))
        for contender, each in seconds.items()
        if not contender.startswith("rwk")
    }


def _seconds_a_pair(solve: Solver, count: int, *, at_least: float = A_WHILE) -> float:
    """CPU seconds of this thread per pair, over one call or as many as take a while: all are timed equally long."""
    calls, start = 0, time.thread_time()
    while calls == 0 or time.thread_time() - start < at_least:
        solve(count)
        calls += 1
    return (time.thread_time() - start) / (calls * count)


def _ours(measures: GraphMeasures, pairs: NDArray[np.int64], weights: Any, options: Any) -> tuple[Solver, PairResults]:
    def solve(count: int) -> PairResults:
        return run_pairs(measures, pairs[:count], weights, options, n_jobs=1)

    return solve, solve(len(pairs))


def _each(solver: Callable[[Any], float], dense: list[Any]) -> Solver:
    return lambda count: [solver(pair) for pair in dense[:count]]


def threads(dataset: str = "ENZYMES", n_graphs: int = 200) -> dict[str, float]:
    """How much faster two threads are than one on a Gram matrix of graphs of a dataset."""
    from rwk.gram import symmetric_discrepancy

    measures, _ = represent(load_dataset(dataset)[:n_graphs], Parameters())
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for n_jobs, each in seconds.items():
            start = time.perf_counter()
            symmetric_discrepancy(measures, Parameters(n_jobs=n_jobs))
            each.append(time.perf_counter() - start)
    one, two = (float(np.median(each)) for each in seconds.values())
    return {"one": one, "two": two, "ratio": float(np.median(np.divide(seconds[1], seconds[2])))}
