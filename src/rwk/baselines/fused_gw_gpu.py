"""Fused Gromov-Wasserstein on a GPU: conditional gradients whose directions are entropic plans.

An exact transport plan (`network_simplex`) is no work for a GPU. Its place is taken by a plan of Sinkhorn rounds at low
entropy, rounded to exact marginals, as in Algorithm 1 of RWK. The solver of RWK minimises

    <M, T> + β (<c, T> − <C T D, T>),   c = (C² μ + D² ν) / 2,

which is the FGW objective if M is (1 − α) times the feature cost and β = 2α, without local variation, Laplacian and
prior. Line search and value are those of FGW itself, without entropy: a value is the objective at a coupling, so it is
never below FGW, and never above the objective at the product coupling. The unit of the entropy is the mean objective
at the product coupling of the fitted graphs.

`benchmarks/fgw_directions.py` measures how far values are from those of the exact solver.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rwk.baselines.fused_gw_exact import FusedGraphs
from rwk.baselines.node_costs import mean_hamming, mean_squares
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.gpu import run_pairs_fast
from rwk.transport.measures import GraphMeasures, joined
from rwk.transport.pairs import planned
from rwk.transport.problem import CostWeights, ScgOptions

ENTROPY: Final = 0.03  # in units of the mean objective at the product coupling
TOLERANCE: Final = 1e-4  # of the gap, in the same unit
LARGE: Final = 64  # nodes; rounds on larger graphs are few, for they would take most of the time
ROUNDS: Final = (50, 20)  # on small and on large graphs
MAX_ITER: Final = (20, 5)


def discrepancies_on_device(rows: FusedGraphs, columns: FusedGraphs | None, alpha: float) -> FloatArray:
    """The discrepancies of two representations, of which the second is fitted; without it, those of the first."""
    fitted = rows if columns is None else columns
    measures = as_measures(rows, alpha)
    if columns is None:
        sources, targets = np.triu_indices(measures.n_graphs, 1)
        offset = 0
    else:
        offset = measures.n_graphs
        measures = joined(measures, as_measures(columns, alpha))
        sources, targets = (index.ravel() for index in np.indices((offset, measures.n_graphs - offset)))
    pairs = np.stack([sources, targets + offset], axis=1).astype(np.int64)
    values = solve(measures, pairs, alpha, unit_of(fitted, alpha))
    matrix = np.zeros((len(rows.offsets) - 1, len(fitted.offsets) - 1))
    matrix[sources, targets] = values
    if columns is None:
        matrix[targets, sources] = values
    return matrix


def solve(measures: GraphMeasures, pairs: IntArray, alpha: float, unit: float) -> FloatArray:
    """Values of pairs, smaller against larger graph; graphs of equal size are solved both ways, and the less counts."""
    weights = CostWeights(0.0, 2.0 * alpha, 0.0, 0.0, 0.0, 0.0)
    plan = planned(measures, pairs, weights)
    large = (measures.sizes[plan.solves] > LARGE).any(axis=1)
    found = np.empty(len(plan.solves))
    for chosen, iterations, rounds in zip((~large, large), MAX_ITER, ROUNDS, strict=True):
        options = ScgOptions(ENTROPY * unit, iterations, rounds, TOLERANCE * unit)
        found[chosen] = run_pairs_fast(measures, plan.solves[chosen], weights, options, squared=True).values
    values = found[: len(pairs)]
    values[plan.twice] = np.minimum(values[plan.twice], found[len(pairs) :])
    return np.maximum(values, 0.0)


def unit_of(graphs: FusedGraphs, alpha: float) -> float:
    """The mean objective at the product coupling: of all pairs of nodes, and of all pairs of graphs."""
    cost = mean_squares(graphs.points) if graphs.points.shape[1] else 0.0
    if len(graphs.colours):
        cost += graphs.colour_cost * len(graphs.colours) * float(mean_hamming(graphs.colours)[-1])
    starts, counts = graphs.distance_offsets[:-1], np.diff(graphs.distance_offsets)
    first, second = (np.add.reduceat(graphs.distances**power, starts) / counts for power in (1, 2))
    structure = 2.0 * float(second.mean() - first.mean() ** 2)
    return (1.0 - alpha) * cost + alpha * structure or 1.0


def as_measures(graphs: FusedGraphs, alpha: float) -> GraphMeasures:
    """The graphs as the solver of RWK sees them, with squared distances of features; costs are times 1 − α."""
    n_graphs, n_nodes, sizes = len(graphs.offsets) - 1, int(graphs.offsets[-1]), np.diff(graphs.offsets)
    none, no_numbers, no_runs = np.zeros(0, np.int64), np.zeros(0), np.zeros(n_graphs + 1, np.int64)
    return GraphMeasures(
        offsets=graphs.offsets,
        weights=np.repeat(1.0 / sizes, sizes),
        degrees=np.ones(n_nodes),
        features=graphs.points * np.sqrt(1.0 - alpha),
        returns=np.zeros((n_nodes, 0)),
        square_norms=np.zeros(n_nodes),
        column_offsets=no_runs,
        column_keys=np.zeros(0, np.uint64),
        entry_offsets=np.zeros(1, np.int64),
        entry_rows=none,
        entry_values=no_numbers,
        colours=graphs.colours,
        embedding=np.zeros((n_nodes, 0)),
        signs=np.zeros((n_nodes, 0), np.int8),
        factor_offsets=no_runs,
        factors=no_numbers,
        structure_offsets=graphs.distance_offsets,
        structure=graphs.distances,
        laplacian_offsets=np.zeros(n_nodes + 1, np.int64),
        laplacian_columns=none,
        laplacian_values=no_numbers,
        hamming_cost=(1.0 - alpha) * graphs.colour_cost * len(graphs.colours),
        product_cost=0.0,
        neighbour_cost=0.0,
    )
