"""Lower bounds of RW from a few numbers per graph, for one query against many graphs at once.

H is a sum of terms, and lower bounds of the terms add up:

    Hamming part of C_V   the total variation between the colours of each Weisfeiler-Lehman round
    Euclidean part        the distance of the mean feature vectors (Jensen)
    product cost          the Hamming part alone: 1 - w exp(..) >= 1 - w
    C_N                   the distance of quantiles of each embedding coordinate, or of the means
    Gromov-Wasserstein    half the squared distance of quantiles of the entries of C_P (Memoli's second lower bound)
    ridge                 1 / (n m), the smallest squared norm of a coupling
    degree prior          0; if it repels (R9), -KL >= -log(n m / floor)
    Laplacian terms       0

Quantiles are averaged over bins, which can only shrink their distance, so the bounds stay bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rwk.runtime.arrays import FloatArray, IntArray
from rwk.transport.cpu.lower_bounds import binned_quantiles
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import PRIOR_FLOOR, CostWeights

EMBEDDING_BINS: Final = 8
STRUCTURE_BINS: Final = 24


class Signatures(NamedTuple):
    """The means and quantiles of many graphs that the bounds are made of."""

    measures: GraphMeasures
    node_graph: IntArray  # (V,) the graph of each node
    feature_means: FloatArray  # (N, d) of the dense part
    column_means: FloatArray  # of each column of the sparse part
    column_graph: IntArray  # the graph of each of these columns
    embedding_means: FloatArray  # (N, k)
    embedding_quantiles: FloatArray  # (N, k * bins)
    structure_quantiles: FloatArray  # (N, bins)


def signatures(measures: GraphMeasures) -> Signatures:
    """The means and quantiles of every graph."""
    feature_means, column_means, column_graph = means(measures)
    return Signatures(
        measures=measures,
        node_graph=np.repeat(np.arange(measures.n_graphs), measures.sizes),
        feature_means=feature_means,
        column_means=column_means,
        column_graph=column_graph,
        embedding_means=_means(measures.embedding, measures),
        embedding_quantiles=_embedding_quantiles(measures),
        structure_quantiles=_structure_quantiles(measures),
    )


def means(measures: GraphMeasures) -> tuple[FloatArray, FloatArray, IntArray]:
    """Mean feature vectors: the dense part (N, d), the mean of each sparse column, and the graph of that column."""
    column_graph = np.repeat(np.arange(measures.n_graphs), np.diff(measures.column_offsets))
    entry_column = np.repeat(np.arange(len(column_graph)), np.diff(measures.entry_offsets))
    entry_node = measures.offsets[column_graph[entry_column]] + measures.entry_rows
    mass = measures.entry_values * measures.weights[entry_node]
    column_means = np.bincount(entry_column, mass, minlength=len(column_graph)).astype(np.float64)
    return _means(measures.features, measures), column_means, column_graph


def lower_bounds(query: Signatures, graphs: Signatures, weights: CostWeights) -> FloatArray:
    """Lower bounds of RW between the first graph of `query` and every one of `graphs`, shape (N,)."""
    bound = _colour_bound(query, graphs)
    if not graphs.measures.product_cost:
        bound += _feature_bound(query, graphs)
    if weights.beta_local != 0:
        bound += weights.beta_local * _embedding_bound(query, graphs)
    return bound + quadratic_bounds(query, graphs, weights)


def quadratic_bounds(query: Signatures, graphs: Signatures, weights: CostWeights) -> FloatArray:
    """The part of the bound without linear costs: ridge, Gromov-Wasserstein, degree prior."""
    entries = float(query.measures.sizes[0]) * graphs.measures.sizes
    bound = 0.5 * weights.beta_local * weights.ridge / entries
    if weights.beta_global != 0:
        apart = graphs.structure_quantiles - query.structure_quantiles[0]
        bound += 0.5 * weights.beta_global * (apart**2).mean(axis=1)
        bound += weights.beta_global * min(weights.degree_weight, 0.0) * np.log(entries / PRIOR_FLOOR)
    return np.asarray(bound)


def _colour_bound(query: Signatures, graphs: Signatures) -> FloatArray:
    """The cost of a full mismatch / rounds times the sum over rounds of 1 - sum over colours of the smaller mass."""
    one, many = query.measures, graphs.measures
    first = slice(0, int(one.offsets[1]))
    total = np.zeros(many.n_graphs)
    for mine, theirs in zip(one.colours, many.colours, strict=True):
        colours, numbers = np.unique(mine[first], return_inverse=True)
        mass = np.bincount(numbers, one.weights[first])
        at = np.minimum(np.searchsorted(colours, theirs), len(colours) - 1)
        found = colours[at] == theirs
        cells = graphs.node_graph[found] * len(colours) + at[found]
        other = np.bincount(cells, many.weights[found], minlength=many.n_graphs * len(colours))
        total += 1.0 - np.minimum(other.reshape(many.n_graphs, -1), mass).sum(axis=1)
    cost = many.product_cost or many.hamming_cost
    return np.asarray(np.maximum(total, 0.0) * (cost / max(len(many.colours), 1)))


def _feature_bound(query: Signatures, graphs: Signatures) -> FloatArray:
    one, many = query.measures, graphs.measures
    square = ((graphs.feature_means - query.feature_means[0]) ** 2).sum(axis=1)
    mine = slice(0, int(one.column_offsets[1]))
    keys, means = one.column_keys[mine], query.column_means[mine]
    if len(keys) or len(many.column_keys):
        own = np.bincount(graphs.column_graph, graphs.column_means**2, minlength=many.n_graphs)
        common = np.zeros(len(many.column_keys))
        if len(keys):
            at = np.minimum(np.searchsorted(keys, many.column_keys), len(keys) - 1)
            common = np.where(keys[at] == many.column_keys, means[at] * graphs.column_means, 0.0)
        products = np.bincount(graphs.column_graph, common, minlength=many.n_graphs)
        square = square + np.maximum(own + (means**2).sum() - 2.0 * products, 0.0)
    return np.asarray(np.sqrt(square))


def _embedding_bound(query: Signatures, graphs: Signatures) -> FloatArray:
    width = graphs.embedding_means.shape[1]
    if width == 0:
        return np.zeros(graphs.measures.n_graphs)
    means = np.sqrt(((graphs.embedding_means - query.embedding_means[0]) ** 2).sum(axis=1))
    # |x| >= sum |x_c| / sqrt(k), and transport of one coordinate is a problem on the line
    lines = np.abs(graphs.embedding_quantiles - query.embedding_quantiles[0]).sum(axis=1) / EMBEDDING_BINS
    return np.asarray(graphs.measures.neighbour_cost * np.maximum(means, lines / np.sqrt(width)))


def _means(rows: FloatArray, measures: GraphMeasures) -> FloatArray:
    """Weighted mean row of each graph."""
    if rows.shape[1] == 0:
        return np.zeros((measures.n_graphs, 0))
    return np.asarray(np.add.reduceat(rows * measures.weights[:, None], measures.offsets[:-1], axis=0))


def _embedding_quantiles(measures: GraphMeasures) -> FloatArray:
    bins = binned_quantiles(measures.embedding, measures.weights, measures.offsets, EMBEDDING_BINS)
    return np.asarray(bins.reshape(measures.n_graphs, -1))


def _structure_quantiles(measures: GraphMeasures) -> FloatArray:
    """Quantiles of the entries of C_P, each weighted by the product of its two nodes' masses."""
    sizes = measures.sizes
    left = np.repeat(measures.weights, np.repeat(sizes, sizes))
    starts = np.repeat(measures.offsets[:-1], sizes**2)
    inside = np.arange(len(left)) - np.repeat(measures.structure_offsets[:-1], sizes**2)
    right = measures.weights[starts + inside % np.repeat(sizes, sizes**2)]
    costs = measures.structure[:, None]
    return np.asarray(binned_quantiles(costs, left * right, measures.structure_offsets, STRUCTURE_BINS)[:, 0])
