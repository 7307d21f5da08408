"""Several starts: H is not convex, and what conditional gradient finds depends on where it begins.

Start 0 is mu nu^T, the only one that Gram matrices use; the others are near sharp Sinkhorn plans of random costs. Such
a start depends on its number, a seed and the sizes of the two graphs, so the value of a pair does not depend on the
other pairs. It does depend on the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.threads import in_threads, one_blas_thread
from rwk.transport.measures import GraphMeasures
from rwk.transport.pairs import backend_named, planned, solve_pair
from rwk.transport.problem import (
    NO_COST,
    START_ENTROPY,
    START_SHARE,
    CostWeights,
    PairResults,
    PairSolution,
    ScgOptions,
)

FINALISTS: Final = 3  # of the starts of an annealing, where more were tried


def start_costs(sizes: tuple[int, int], start: int, seed: int | None = 0) -> NDArray[np.float64]:
    """Random costs in [0, 1); start number `start` is near their plan. A seed of None gives other costs each time.

    >>> start_costs((2, 3), 1).shape, bool((start_costs((2, 3), 1) == start_costs((2, 3), 1)).all())
    ((2, 3), True)
    """
    return np.random.default_rng(None if seed is None else [seed, *sizes, start]).random(sizes)


def best_solution(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_starts: int,
    seed: int | None = 0,
    backend: str = "cpu",
    trace: bool = False,
    cost: NDArray[np.float64] = NO_COST,
) -> PairSolution:
    """The solution with the least value over `n_starts` starts; a GPU solves only the first, the CPU the others."""
    best = solve_pair(measures, a, b, weights, options, backend=backend, trace=trace, cost=cost)
    others = "exact" if backend == "exact" else "cpu"
    for start in range(1, n_starts):
        costs = start_costs((int(measures.sizes[a]), int(measures.sizes[b])), start, seed)
        other = solve_pair(measures, a, b, weights, options, backend=others, trace=trace, start=costs, cost=cost)
        best = min(best, other, key=lambda solution: solution.value)
    return best


def annealed_solutions(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_starts: int,
    entropies: Sequence[float],
    seed: int | None = 0,
    backend: str = "cpu",
    n_jobs: int | None = None,
    finalists: int | None = FINALISTS,
) -> list[list[PairSolution]]:
    """Solutions of every stage of an annealing, one per start: each stage starts near the couplings of the last.

    All starts of a stage are solved together. Start 0 of the first stage is mu nu^T. If there are more starts than
    `finalists`, one iteration decides which of them go on: the first ones, and the best of the others. So the best
    solution of many starts is no worse than that of the first ones alone. None lets all go on.
    """
    mu, nu = (measures.weights[measures.offsets[g] : measures.offsets[g + 1]] for g in (a, b))
    product = weights.mass * np.outer(mu, nu)
    plans: Any = product[None]
    if n_starts > 1:
        costs = np.stack([start_costs(product.shape, start, seed) for start in range(1, n_starts)])
        plans = np.concatenate([plans, weights.mass * _plans(costs, mu, nu, options.sinkhorn_iter)])

    def solved(starts: Any, entropy: float, max_iter: int) -> list[PairSolution]:
        mixed = START_SHARE * starts + (1.0 - START_SHARE) * product
        now = options._replace(entropy=entropy, max_iter=max_iter)
        found: list[PairSolution] = backend_named(backend).run_starts(
            measures, a, b, weights, now, mixed, n_jobs=n_jobs
        )  # fmt: skip
        return found

    if finalists is not None and n_starts > finalists:
        others = plans[finalists - 1 :]
        values = [one.value for one in solved(others, entropies[0], 1)]
        plans = np.concatenate([plans[: finalists - 1], others[None, int(np.argmin(values))]])
    stages: list[list[PairSolution]] = []
    for entropy in entropies:
        stages.append(solved(plans, entropy, options.max_iter))
        plans = np.stack([solution.coupling for solution in stages[-1]])
    return stages


def _plans(
    costs: NDArray[np.float64], mu: NDArray[np.float64], nu: NDArray[np.float64], rounds: int
) -> NDArray[np.float64]:
    """The Sinkhorn plans of costs (S, n, m) between 0 and 1, rounded to exact marginals (R13)."""
    from rwk.transport.cpu.sinkhorn import sinkhorn_plan

    plans, mu, nu = np.empty_like(costs), mu.astype(np.float64), nu.astype(np.float64)
    for cost, plan in zip(costs, plans, strict=True):
        sinkhorn_plan(cost, mu, nu, START_ENTROPY, rounds, plan)
    return plans


def best_values(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    n_starts: int,
    seed: int = 0,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """The least value of each pair over `n_starts` starts, on the CPU; the mean of both ways where both are solved."""
    from rwk.transport.cpu.dispatch import run_pairs, solve_large

    plan = planned(measures, pairs, weights)
    best = run_pairs(measures, plan.solves, weights, options, n_jobs=n_jobs)
    shapes, which = np.unique(measures.sizes[plan.solves], axis=0, return_inverse=True)
    members = np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1])

    def work(shape: int) -> int:
        mine, (n, m) = members[shape], shapes[shape].tolist()
        for start in range(1, n_starts):
            part = PairResults.empty(len(mine))
            solve_large(measures, plan.solves[mine], weights, options, part, start_costs((n, m), start, seed))
            best.values[mine] = np.minimum(best.values[mine], part.values)
        return len(mine)

    with one_blas_thread():
        in_threads(work, len(shapes), n_jobs=n_jobs, tick=None)
    return plan.folded(best).values
