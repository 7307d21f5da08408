"""`solve` and `solve_pairs`: problems given as arrays, one with its coupling or the values of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rwk.graphs import GraphError
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import finite_values
from rwk.runtime.parameter_checks import ParameterError, check_starts
from rwk.runtime.threads import in_threads
from rwk.spaces.models import model_of, settings_of, unit_of
from rwk.spaces.space import Space, as_graph_set, as_spaces, checked_cost, shape_of
from rwk.transport.measures import GraphMeasures, in_precision
from rwk.transport.pairs import check_solution, planned, solve_pair
from rwk.transport.pairs import solve_pairs as solve_measures
from rwk.transport.problem import NO_COST, PairResults, PairSolution
from rwk.transport.starts import best_solution


def solve(
    cost: Any = None,
    structures: Sequence[Any] | None = None,
    weights: Sequence[Any] | None = None,
    *,
    model: str | None = None,
    alpha: float = 0.5,
    n_starts: int = 1,
    **parameters: Any,
) -> PairSolution:
    """Solve one transport problem that is given as arrays: Wasserstein, GW, FGW or RW.

    The values of "wasserstein", "gw" and "fgw" follow the conventions of POT. For these three, `entropy` and `tol` are
    multiples of the typical size of the costs, so they need not be adapted to the unit of your distances.

    Parameters
    ----------
    cost : array of shape (n, m), optional
        Your own cost of moving mass from point i of the first side to point k of the second.
    structures : pair of arrays of shape (n, n) and (m, m), or pair of `Space`, optional
        A symmetric matrix for each side, such as distances. A `Space` may have features (compared by their Euclidean
        distance if there is no `cost`) and an adjacency matrix.
    weights : pair of arrays of shape (n,) and (m,), optional
        The mass of each point; normalised to sum 1 on each side. Uniform if None.
    model : str, optional
        "wasserstein", "gw", "fgw" or "rw"; by default whichever fits what is given: a cost alone, structures alone,
        both, or adjacency matrices too.
    alpha : float, default 0.5
        Share of the structures in "fgw".
    n_starts : int, default 1
        Number of starts; the best solution is returned.
    **parameters
        Settings of the solver: mass (the share that moves), entropy, max_iter, sinkhorn_iter, tol, direction,
        precision, backend, random_state; for "rw" all fields of `Parameters`.

    Returns
    -------
    PairSolution
        The value, its terms, the coupling, and how the solver ended.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import solve
    >>> solve(cost=np.array([[0.0, 1.0], [2.0, 0.0]]), weights=([1, 1], [1, 3])).coupling.round(2)
    array([[0.25, 0.25],
           [0.  , 0.5 ]])

    A right triangle with sides 3, 4 and 5, and the same one with its corners in another order:

    >>> C = np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> order = [2, 0, 1]
    >>> solution = solve(structures=(C, C[np.ix_(order, order)]), n_starts=5)
    >>> round(solution.value, 3), solution.matching().tolist()
    (0.0, [[0, 1], [1, 2], [2, 0]])
    """
    check_starts(n_starts)
    if parameters.get("debias"):
        raise ParameterError("debias=True is for many pairs: use pairwise_gw, or subtract your own values")
    sides = _two_sides(cost, structures, weights)
    own = NO_COST if cost is None else checked_cost(cost, (sides[0].n_points, sides[1].n_points), "cost")
    chosen = model_of(model, alpha, sides, own_cost=own.size > 0)
    settings = settings_of(chosen, unit_of(chosen, sides, [own] if own.size else []), parameters)
    measures = _measures(sides, chosen.feature_factor, settings)
    kept = np.ix_(sides[0].kept, sides[1].kept)
    solution = best_solution(
        measures,
        0,
        1,
        settings.cost_weights(),
        settings.scg_options(),
        n_starts=n_starts,
        seed=settings.random_state,
        backend=_backend(settings, own_costs=own.size > 0),
        cost=own[kept] * chosen.feature_factor if own.size else own,
    )
    check_solution(solution)
    coupling = np.zeros((sides[0].n_points, sides[1].n_points))
    coupling[kept] = solution.coupling
    return replace(solution, coupling=coupling)


def solve_pairs(
    items: Iterable[Any],
    pairs: Any,
    *,
    costs: Sequence[Any] | None = None,
    model: str | None = None,
    alpha: float = 0.5,
    **parameters: Any,
) -> PairResults:
    """Solve many pairs of items that are given as arrays, all at once.

    A value does not depend on which item of a pair comes first, or on the other pairs.

    Parameters
    ----------
    items : list of arrays or of `Space`
        Structure matrices of any sizes, or spaces.
    pairs : int array of shape (n_pairs, 2)
        The two items of each pair, by their number in `items`.
    costs : list of arrays, optional
        Your own cost matrix of each pair, in the order of the pair. Such pairs are solved on the CPU.
    model : str, optional
        "wasserstein", "gw", "fgw" or "rw", as in `solve`.
    alpha : float, default 0.5
        Share of the structures in "fgw".
    **parameters
        Settings of the solver, as in `solve`.

    Returns
    -------
    PairResults
        Arrays `values`, `n_iter`, `gaps` and `converged`, one entry per pair.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import solve_pairs
    >>> line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    >>> values = solve_pairs([line, 2 * line, line[:3, :3]], [(0, 1), (0, 2), (2, 0)]).values
    >>> bool(values[0] > values[1]), bool(values[1] == values[2])
    (True, True)
    """
    spaces = as_spaces(items)
    numbers = _checked_pairs(pairs, len(spaces))
    if parameters.get("debias"):
        raise ParameterError("debias=True needs each item with itself: use pairwise_gw, or list those pairs too")
    own = _checked_costs(costs, numbers, spaces)
    chosen = model_of(model, alpha, spaces, own_cost=len(own) > 0)
    settings = settings_of(chosen, unit_of(chosen, spaces, own), parameters)
    measures = _measures(spaces, chosen.feature_factor, settings)
    backend = _backend(settings, own_costs=len(own) > 0)
    if own:
        scaled = [
            cost[np.ix_(spaces[i].kept, spaces[k].kept)] * chosen.feature_factor
            for cost, (i, k) in zip(own, numbers, strict=True)
        ]
        return _solve_with_costs(measures, numbers, scaled, settings, backend)
    weights, options = settings.cost_weights(), settings.scg_options()
    results = solve_measures(measures, numbers, weights, options, backend=backend, n_jobs=settings.n_jobs)
    return _finite(results)


def _two_sides(cost: Any, structures: Sequence[Any] | None, weights: Sequence[Any] | None) -> list[Space]:
    """The two spaces of a problem; without structures their sizes are those of the cost."""
    for name, given in (("structures", structures), ("weights", weights)):
        if given is not None and (not hasattr(given, "__len__") or len(given) != 2):
            count = len(given) if hasattr(given, "__len__") else "no"
            raise GraphError(f"{name} has {count} entries; give a pair, one for each side")
    if structures is None:
        if cost is None:
            raise GraphError("nothing to solve: give a cost matrix, a pair of structure matrices, or both")
        shape = shape_of(cost)
        if len(shape) != 2 or 0 in shape:
            raise GraphError(f"cost has shape {shape}; it must be (n, m), with at least one point on each side")
        structures = [Space(weights=np.ones(length)) for length in shape]
    sides = [side if isinstance(side, Space) else Space(structure=side) for side in structures]
    if weights is not None:
        sides = [
            side if given is None else _with_weights(side, given, number, cost)
            for number, (side, given) in enumerate(zip(sides, weights, strict=True))
        ]
    return as_spaces(sides, "side {}")


def _with_weights(side: Space, weights: Any, number: int, cost: Any) -> Space:
    shape = () if cost is None else shape_of(cost)
    n = side.n_points or (shape[number] if len(shape) == 2 else 0)
    if shape_of(weights) != (n,):
        raise GraphError(f"side {number}: weights has shape {shape_of(weights)}; it must be ({n},)")
    return replace(side, weights=weights)


def _measures(spaces: Sequence[Space], feature_factor: float, settings: Parameters) -> GraphMeasures:
    return in_precision(represent(as_graph_set(spaces, feature_factor), settings)[0], settings.precision)


def _backend(settings: Parameters, *, own_costs: bool) -> str:
    backend = settings.solver()
    if own_costs and backend == "gpu":
        raise ParameterError("cost matrices of your own are solved on the CPU; leave out backend='gpu'")
    return "cpu" if own_costs and backend == "auto" else backend


def _checked_pairs(pairs: Any, n_items: int) -> IntArray:
    try:
        numbers = np.asarray(pairs)
    except ValueError:
        raise GraphError("pairs have different lengths; give two item numbers per pair") from None
    if numbers.shape == (0,):  # an empty list
        return np.empty((0, 2), np.int64)
    if numbers.ndim != 2 or numbers.shape[1] != 2 or numbers.dtype.kind not in "iu":
        raise GraphError(f"pairs has shape {numbers.shape} and type {numbers.dtype}; give two item numbers per pair")
    bad = ((numbers < 0) | (numbers >= n_items)).any(axis=1)
    if bad.any():
        first = int(np.argmax(bad))
        raise GraphError(f"pair {first} is {numbers[first].tolist()}, but the items are 0 to {n_items - 1}")
    return numbers.astype(np.int64)


def _checked_costs(costs: Sequence[Any] | None, pairs: IntArray, spaces: Sequence[Space]) -> list[FloatArray]:
    if costs is None:
        return []
    if len(costs) != len(pairs):
        raise GraphError(f"{len(costs)} cost matrices were given for {len(pairs)} pairs; give one per pair")
    return [
        checked_cost(cost, (spaces[i].n_points, spaces[k].n_points), f"cost of pair {number}")
        for number, (cost, (i, k)) in enumerate(zip(costs, pairs.tolist(), strict=True))
    ]


def _solve_with_costs(
    measures: GraphMeasures, pairs: IntArray, costs: Sequence[FloatArray], settings: Parameters, backend: str
) -> PairResults:
    """Pairs with cost matrices of their own, oriented as all pairs are (R15)."""
    weights, options = settings.cost_weights(), settings.scg_options()
    plan = planned(measures, pairs, weights)
    results = PairResults.empty(len(plan.solves))
    number = np.concatenate([np.arange(len(pairs)), plan.twice])

    def work(place: int) -> int:
        (a, b), pair = plan.solves[place].tolist(), number[place]
        cost = costs[pair] if (a, b) == tuple(pairs[pair].tolist()) else costs[pair].T
        solution = solve_pair(measures, a, b, weights, options, backend=backend, cost=np.ascontiguousarray(cost))
        results.values[place], results.n_iter[place] = solution.value, solution.n_iter
        results.gaps[place], results.converged[place] = solution.gap, solution.converged
        return 1

    in_threads(work, len(plan.solves), n_jobs=settings.n_jobs if backend == "cpu" else 1, tick=None)
    return _finite(plan.folded(results))


def _finite(results: PairResults) -> PairResults:
    finite_values(results.values, "pair {}".format)
    return results
