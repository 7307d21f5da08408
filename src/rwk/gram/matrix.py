"""Discrepancy matrices in memory: symmetric, one set against another, and each graph with itself."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rwk.gram.health import GramHealth
from rwk.gram.kept import Kept, solved_values
from rwk.parameters import Parameters
from rwk.runtime.backends import backend_name
from rwk.runtime.finite import finite_matrix, finite_values
from rwk.runtime.threads import Ticker
from rwk.transport.measures import GraphMeasures, in_precision, joined
from rwk.transport.pairs import solve_pairs
from rwk.transport.problem import PairResults
from rwk.transport.work import root_costs

Matrix = NDArray[np.float64]

# What is known of the pairs of a block takes 180 bytes each; a device wants many pairs of one size.
PAIRS_PER_BLOCK = {"cpu": 250_000, "exact": 250_000, "gpu": 8_000_000}
COST_PER_KEPT_BLOCK = {"cpu": 5e11, "exact": 5e10, "gpu": 1e13}  # about a minute: no more is lost with a stopped run


def symmetric_discrepancy(
    measures: GraphMeasures, parameters: Parameters, *, tick: Ticker | None = None, kept: Kept | None = None
) -> tuple[Matrix, GramHealth]:
    """D of all pairs of one set, exactly symmetric; debiased if the parameters say so.

    If `kept` is given, blocks of pairs are kept there as they are solved, and blocks found there are not solved again.
    """
    n, backend = measures.n_graphs, backend_name(parameters.solver())
    matrix = np.empty((n, n))
    healths = []
    measures = in_precision(measures, parameters.precision)
    most = COST_PER_KEPT_BLOCK[backend] if kept else np.inf
    for rows, columns in triangle_blocks(n, PAIRS_PER_BLOCK[backend], root_costs(measures.sizes), most):
        title = block_title(backend, rows, columns)
        found = solved_values(kept.read(title), len(rows)) if kept else None
        if found is not None:
            values, health = found
            if tick:
                tick(len(rows))
        else:
            results, seconds = _solve(measures, np.stack([rows, columns], axis=1), parameters, tick)
            finite_values(results.values, _pair_named(rows, columns))
            values, health = results.values, _health(results, seconds)
            if kept:
                kept.write(title, values=values, health=np.array(health, np.float64))
        matrix[rows, columns] = matrix[columns, rows] = values
        healths.append(health)
    if parameters.debias:
        own = 0.5 * np.diag(matrix)
        matrix -= own[:, None] + own[None, :]
    return matrix, GramHealth.of(healths)


def triangle_blocks(
    n: int, size: int, roots: NDArray[np.float64] | None = None, most: float = np.inf
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The upper triangle in blocks of at most `size` pairs: a long list is never in memory at once.

    Graphs are cut into groups, and a block is the pairs of two groups, or of one. So a block has few graphs for its
    many pairs, and what the solver prepares for a graph serves many of them. With `roots`, whose product is the cost
    of a pair, a block costs at most `most`, or is a single pair.

    >>> [len(rows) for rows, _ in triangle_blocks(4, size=5)]
    [3, 4, 3]
    """
    side = n if n * (n + 1) // 2 <= size else max(1, math.isqrt(size))
    work = np.concatenate([[0.0], np.cumsum(np.zeros(n) if roots is None else roots)])
    ends = [0]
    while ends[-1] < n:
        affordable = int(np.searchsorted(work, work[ends[-1]] + math.sqrt(most), side="right")) - 1
        ends.append(max(ends[-1] + 1, min(ends[-1] + side, affordable)))
    groups = [np.arange(first, last) for first, last in pairwise(ends)]
    for number, group in enumerate(groups):
        rows, columns = np.triu_indices(len(group))
        yield group[rows], group[columns]
        for other in groups[number + 1 :]:
            yield np.repeat(group, len(other)), np.tile(other, len(group))


def block_title(backend: str, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> str:
    """A name for a block by the backend and the first and last graph of its two groups.

    >>> block_title("cpu", np.array([0, 0]), np.array([5, 6]))
    'cpu-000000-000000-000005-000006'
    """
    return "-".join([backend, *(f"{graphs[end]:06d}" for graphs in (rows, columns) for end in (0, -1))])


def cross_discrepancy(
    new: GraphMeasures,
    fitted: GraphMeasures,
    parameters: Parameters,
    *,
    fitted_self: Matrix | None = None,
    tick: Ticker | None = None,
) -> tuple[Matrix, GramHealth]:
    """D of every graph of one set (rows) against every graph of another (columns)."""
    rows, columns = np.indices((new.n_graphs, fitted.n_graphs)).reshape(2, -1)
    both = joined(new, fitted)
    pairs = np.stack([rows, columns + new.n_graphs], axis=1)
    results, seconds = _solve(both, pairs, parameters, tick)
    finite_values(results.values, lambda k: f"new graph {rows[k]} and fitted graph {columns[k]}")
    matrix = results.values.reshape(new.n_graphs, fitted.n_graphs)
    if parameters.debias:
        if fitted_self is None:
            fitted_self = self_discrepancy(fitted, parameters)
        matrix = matrix - 0.5 * (self_discrepancy(new, parameters)[:, None] + fitted_self[None, :])
    return matrix, _health(results, seconds)


def column_discrepancy(
    measures: GraphMeasures, columns: NDArray[np.int64], parameters: Parameters, *, tick: Ticker | None = None
) -> Matrix:
    """RW of every graph of a set (rows) with some of them (columns), never debiased."""
    rows, places = np.indices((measures.n_graphs, len(columns))).reshape(2, -1)
    results, _ = _solve(measures, np.stack([rows, columns[places]], axis=1), parameters, tick)
    return finite_matrix(results.values.reshape(measures.n_graphs, len(columns)), columns=columns)


def self_discrepancy(measures: GraphMeasures, parameters: Parameters) -> Matrix:
    """RW(G, G) of every graph, for debiasing."""
    numbers = np.arange(measures.n_graphs)
    results, _ = _solve(measures, np.stack([numbers, numbers], axis=1), parameters, None)
    return finite_values(results.values, lambda k: f"graph {k} and itself")


def _solve(
    measures: GraphMeasures, pairs: NDArray[np.int64], parameters: Parameters, tick: Ticker | None
) -> tuple[PairResults, float]:
    start = time.perf_counter()
    measures = in_precision(measures, parameters.precision)
    results = solve_pairs(
        measures,
        pairs,
        parameters.cost_weights(),
        parameters.scg_options(),
        backend=backend_name(parameters.solver()),
        n_jobs=parameters.n_jobs,
        tick=tick,
    )
    return results, time.perf_counter() - start


def _pair_named(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Callable[[int], str]:
    return lambda k: f"graphs {rows[k]} and {columns[k]}"


def _health(results: PairResults, seconds: float) -> GramHealth:
    mean = float(results.n_iter.mean()) if len(results.n_iter) else 0.0
    return GramHealth(len(results.values), int((~results.converged).sum()), mean, seconds)
