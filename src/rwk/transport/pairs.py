"""Many pairs: which way each is solved, by which backend.

The value of a pair depends on the two graphs alone (R15), not on their position, on how their nodes are numbered or on
the last bit of a float: a matrix is exactly symmetric and a part of it equals the whole, to the bit (R16).
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.backends import backend_name
from rwk.runtime.finite import NotFiniteError, finite_values
from rwk.runtime.numba_interfaces import check_numba
from rwk.runtime.threads import Ticker
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import NO_COST, NO_START, CostWeights, PairResults, PairSolution, ScgOptions

# name -> module with run_pairs() and run_pair(); imported on use
_BACKENDS: Final = {
    "cpu": "rwk.transport.cpu.dispatch",
    "gpu": "rwk.transport.gpu",
    "exact": "rwk.transport.exact",
}


def solve_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    n_jobs: int | None = None,
    tick: Ticker | None = None,
) -> PairResults:
    """Solve the listed pairs (rows of two graph numbers), each the way or both ways that `planned` says."""
    run = backend_named(backend).run_pairs
    plan = planned(measures, pairs, weights)
    heard = tick and _in_pairs(tick, len(pairs), len(plan.solves))
    return plan.folded(run(measures, plan.solves, weights, options, n_jobs=n_jobs, tick=heard))


def solve_pair(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
    cost: NDArray[np.float64] = NO_COST,
) -> PairSolution:
    """Solve graphs a and b in this order, coupling included; on a GPU from mu nu^T and with C_V alone."""
    elsewhere = {name: given for name, given in (("start", start), ("cost", cost)) if given.size}
    solution: PairSolution = backend_named(backend).run_pair(measures, a, b, weights, options, trace=trace, **elsewhere)
    return solution


def check_solution(solution: PairSolution) -> None:
    """Raise `NotFiniteError` if a number of the solution is NaN or infinite, or its coupling holds no mass."""
    numbers = [solution.value, solution.gap, *solution.terms.values(), float(solution.coupling.sum())]
    finite_values(numbers, lambda _: "the two graphs")
    if numbers[-1] <= 0.0:
        raise NotFiniteError("the coupling of the two graphs holds no mass; rescale their node weights or the entropy")


def backend_named(name: str) -> Any:
    """The module that runs pairs: it has `run_pairs` and `run_pair`."""
    module = _BACKENDS[backend_name(name)]
    if module not in sys.modules and module != _BACKENDS["gpu"]:
        check_numba()
    return importlib.import_module(module)


class Plan(NamedTuple):
    """The solves of a list of pairs: one of each pair, then another one of those that are solved both ways."""

    solves: NDArray[np.int64]  # (n_pairs + n_twice, 2), source and target
    twice: NDArray[np.int64]  # numbers of the pairs that are solved both ways

    @property
    def once(self) -> NDArray[np.int64]:
        """One solve of each pair, smaller against larger."""
        return self.solves[: len(self.solves) - len(self.twice)]

    def folded(self, results: PairResults) -> PairResults:
        """Results by pair: the mean of the values of two solves, and the worse of their health."""
        first, second = results.take(slice(len(self.once))), results.take(slice(len(self.once), None))
        same = first.take(self.twice)
        both = PairResults(
            0.5 * (same.values + second.values),
            np.maximum(same.n_iter, second.n_iter),
            np.maximum(same.gaps, second.gaps),
            same.converged & second.converged,
        )
        first.put(self.twice, both)
        return first


def planned(measures: GraphMeasures, pairs: NDArray[np.int64], weights: CostWeights) -> Plan:
    """Which way each pair is solved (R15), so that a value depends on the two graphs alone.

    A truncated Sinkhorn treats the two sides differently. The smaller graph is the source of the larger one; graphs of
    equal size are solved both ways, and so is every pair if the two Laplacian weights differ. A graph with itself is
    one problem either way.
    """
    sizes = measures.sizes.astype(np.int32)  # of millions of pairs: half the memory
    one, other = pairs[:, 0], pairs[:, 1]
    first, second = sizes[one], sizes[other]
    twice = first == second
    if weights.beta_local != 0 and weights.laplacian_source != weights.laplacian_target:
        twice[:] = True
    numbers = np.flatnonzero(twice & (one != other))
    turned, n_pairs = first > second, len(pairs)
    solves = np.empty((n_pairs + len(numbers), 2), np.int64)
    solves[:n_pairs, 0] = np.where(turned, other, one)
    solves[:n_pairs, 1] = np.where(turned, one, other)
    solves[n_pairs:] = solves[numbers, ::-1]
    return Plan(solves, numbers)


def _in_pairs(tick: Ticker, n_pairs: int, n_solves: int) -> Ticker:
    """A ticker that hears of solves and tells of pairs."""
    solved = told = 0

    def hear(count: int) -> None:
        nonlocal solved, told
        solved += count
        done = solved * n_pairs // n_solves
        tick(done - told)
        told = done

    return hear
