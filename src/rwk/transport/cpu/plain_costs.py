"""Step 1 for one small pair in plain NumPy: the same matrices as `load_pair`, without compiling anything."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.transport.cpu.costs import SMALLEST_DEGREE
from rwk.transport.cpu.loading import PairMatrices
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import PRIOR_FLOOR, ROUNDING, CostWeights

Matrix = NDArray[np.float64]
NOTHING: Final = np.empty((0, 0))
LARGEST_PLAIN: Final = 56 * 56  # n * m of the largest single pair that NumPy solves, so that nothing is compiled


def load_plainly(measures: GraphMeasures, a: int, b: int, weights: CostWeights) -> PairMatrices:
    """Everything of a pair that stays the same through the solve, in float64; `left` and `right` are empty."""
    source, target = (slice(int(measures.offsets[g]), int(measures.offsets[g + 1])) for g in (a, b))
    mu, nu = (measures.weights[nodes].astype(np.float64) for nodes in (source, target))
    shape, kl = (len(mu), len(nu)), weights.beta_global * weights.degree_weight
    feature = feature_costs(measures, a, b)
    neighbour = neighbour_costs(measures, source, target) if weights.beta_local else np.zeros(shape)
    log_prior = log_prior_of(measures.degrees[source], measures.degrees[target]) if kl else np.zeros(shape)
    own, other = structure_of(measures, a), structure_of(measures, b)
    moments = 0.5 * (own**2 @ mu), 0.5 * (other**2 @ nu)  # R10
    constant = weights.beta_global * (float(moments[0] @ mu) + float(moments[1] @ nu))
    fixed = feature + weights.beta_local * neighbour + kl * (1.0 - log_prior)
    fixed += 2.0 * weights.beta_global * np.add.outer(*moments)
    factor_mu, factor_nu = factor_of(measures, a), factor_of(measures, b)
    return PairMatrices(
        mu, nu, feature, neighbour, fixed, log_prior, own, other, constant, factor_mu, factor_nu, NOTHING, NOTHING,
        source.start, target.start,
    )  # fmt: skip


def structure_of(measures: GraphMeasures, graph: int) -> Matrix:
    """C_P of one graph (n, n)."""
    n = int(measures.offsets[graph + 1] - measures.offsets[graph])
    own = measures.structure[measures.structure_offsets[graph] : measures.structure_offsets[graph + 1]]
    return own.astype(np.float64).reshape(n, n)


def factor_of(measures: GraphMeasures, graph: int) -> Matrix:
    """F of one graph (n, r)."""
    n = int(measures.offsets[graph + 1] - measures.offsets[graph])
    own = measures.factors[measures.factor_offsets[graph] : measures.factor_offsets[graph + 1]]
    return own.astype(np.float64).reshape(n, len(own) // n)


def laplacian_of(measures: GraphMeasures, graph: int) -> Matrix:
    """L of one graph (n, n)."""
    first, last = int(measures.offsets[graph]), int(measures.offsets[graph + 1])
    bounds = measures.laplacian_offsets[first : last + 1]
    rows, kept = np.repeat(np.arange(last - first), np.diff(bounds)), slice(bounds[0], bounds[-1])
    out = np.zeros((last - first, last - first))
    out[rows, measures.laplacian_columns[kept]] = measures.laplacian_values[kept]
    return out


def feature_costs(measures: GraphMeasures, a: int, b: int) -> Matrix:
    """C_V: Euclidean distance of feature vectors, and the share of Weisfeiler-Lehman rounds that differ; or a product.

    The product is that of R18.
    """
    source, target = (slice(measures.offsets[g], measures.offsets[g + 1]) for g in (a, b))
    colours, rounds = measures.colours, len(measures.colours)
    differ = (colours[:, source, None] != colours[:, None, target]).sum(axis=0)
    squares = squared_distances(measures.features[source], measures.features[target])
    if measures.product_cost > 0.0:
        apart = np.sqrt(squares) + np.sqrt(squared_distances(measures.returns[source], measures.returns[target]))
        return np.asarray(measures.product_cost * (1.0 - (rounds - differ) / rounds * np.exp(-apart)))
    columns = [_columns_of(measures, g) for g in (a, b)]
    if len(columns[0][0]) or len(columns[1][0]):
        norms = np.add.outer(measures.square_norms[source], measures.square_norms[target])
        rest = norms - 2.0 * _common_products(*columns)
        squares += np.where(rest > ROUNDING * norms, rest, 0.0)
    return np.asarray(np.sqrt(squares) + (measures.hamming_cost / max(rounds, 1)) * differ)


def neighbour_costs(measures: GraphMeasures, source: slice, target: slice) -> Matrix:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    width = measures.signs.shape[1]
    if width:
        differ = (measures.signs[source, None] != measures.signs[None, target]).sum(axis=2)
        return np.asarray(measures.neighbour_cost * differ / width)
    squares = squared_distances(measures.embedding[source], measures.embedding[target])
    return np.asarray(measures.neighbour_cost * np.sqrt(squares))


def log_prior_of(d: NDArray[Any], e: NDArray[Any]) -> Matrix:
    """The logarithm of the degree prior: likeness of degrees, floored, as a joint distribution (R8)."""
    d, e = d.astype(np.float64)[:, None], e.astype(np.float64)[None, :]
    likeness = np.maximum(1.0 - np.abs(d - e) / np.maximum(np.maximum(d, e), SMALLEST_DEGREE), PRIOR_FLOOR)
    return np.asarray(np.log(likeness) - np.log(likeness.sum()))


def squared_distances(x: NDArray[Any], y: NDArray[Any]) -> Matrix:
    """Sums of squared differences, so that equal rows are at distance 0 exactly."""
    apart = x.astype(np.float64)[:, None] - y.astype(np.float64)[None]
    return np.asarray(np.einsum("ikc,ikc->ik", apart, apart))


def _columns_of(measures: GraphMeasures, graph: int) -> tuple[NDArray[np.uint64], Matrix]:
    """Keys of the sparse columns of one graph, and these columns (n, columns)."""
    n = int(measures.offsets[graph + 1] - measures.offsets[graph])
    first, last = measures.column_offsets[graph], measures.column_offsets[graph + 1]
    bounds = measures.entry_offsets[first : last + 1]
    columns, kept = np.repeat(np.arange(last - first), np.diff(bounds)), slice(bounds[0], bounds[-1])
    out = np.zeros((n, int(last - first)))
    out[measures.entry_rows[kept], columns] = measures.entry_values[kept]
    return measures.column_keys[first:last], out


def _common_products(source: tuple[Any, Matrix], target: tuple[Any, Matrix]) -> Matrix:
    """<x, y> of all pairs of nodes, over the columns that both graphs have."""
    _, own, other = np.intersect1d(source[0], target[0], assume_unique=True, return_indices=True)
    return np.asarray(source[1][:, own] @ target[1][:, other].T)
