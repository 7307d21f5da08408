"""Puts the arrays of all graphs side by side, as the solver reads them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import GraphError, GraphSet
from rwk.graphs.colours import Colours
from rwk.parameters import Parameters
from rwk.represent.features import Signals
from rwk.runtime.arrays import FloatArray, IntArray, offsets_of
from rwk.transport.measures import GraphMeasures

# the smallest share of a graph's mass that a node may have: R11 divides by its square
LEAST_SHARE: Final = 1e-100


class Structures(NamedTuple):
    """What is computed graph by graph: one entry per graph in each list."""

    lambda_max: FloatArray  # (N,)
    embeddings: list[FloatArray]
    signs: list[Any]
    factors: list[FloatArray]
    structures: list[FloatArray]


def pack_measures(
    graphs: GraphSet,
    signals: Signals,
    colours: Colours | None,
    made: Structures,
    matrices: tuple[Any, Any],
    parameters: Parameters,
) -> GraphMeasures:
    """The measures of all graphs, not yet scaled; `matrices` are the block-diagonal adjacency and Laplacian."""
    adjacency, laplacian = matrices
    offsets, sizes = graphs.node_offsets, graphs.sizes
    columns = _columns_by_graph(signals, offsets)
    hamming = colours is not None and parameters.feature_metric != "l2"
    starts = np.repeat(offsets[:-1], sizes)
    return GraphMeasures(
        offsets=offsets,
        weights=node_shares(graphs),
        degrees=np.asarray(adjacency.sum(axis=1)).ravel(),
        features=np.ascontiguousarray(signals.dense),
        returns=signals.returns,
        square_norms=np.bincount(signals.sparse.indices, signals.sparse.data**2, int(offsets[-1])).astype(np.float64),
        **columns,
        colours=colours if hamming and colours is not None else np.zeros((0, int(offsets[-1])), np.uint64),
        embedding=np.concatenate(made.embeddings),
        signs=np.concatenate(made.signs),
        factor_offsets=offsets_of([factor.size for factor in made.factors]),
        factors=np.concatenate([factor.ravel() for factor in made.factors]),
        structure_offsets=offsets_of([cost.size for cost in made.structures]),
        structure=_packed(made.structures),
        laplacian_offsets=laplacian.indptr.astype(np.int64),
        laplacian_columns=laplacian.indices - np.repeat(starts, np.diff(laplacian.indptr)),
        laplacian_values=laplacian.data.astype(np.float64),
        hamming_cost=1.0,
        product_cost=float(parameters.feature_metric == "product"),
        neighbour_cost=1.0,
    )


def _packed(matrices: list[FloatArray]) -> FloatArray:
    """All entries, one matrix after the other; a single matrix is not copied."""
    rows = [matrix.ravel() for matrix in matrices]
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def node_shares(graphs: GraphSet) -> FloatArray:
    """Each node's share of the weight of its graph; nodes without weights have equal shares."""
    weights = np.ones(int(graphs.node_offsets[-1])) if graphs.node_weights is None else graphs.node_weights
    return shares(weights.astype(np.float64), graphs.node_offsets)


def shares(weights: FloatArray, offsets: IntArray) -> FloatArray:
    """Node weights divided by their sum in each graph, whatever their scale; too small a share is a `GraphError`.

    >>> shares(np.array([1e308, 1e308, 5.0]), np.array([0, 2, 3])).tolist()
    [0.5, 0.5, 1.0]
    """
    sizes = np.diff(offsets)
    _, exponents = np.frexp(np.maximum.reduceat(weights, offsets[:-1]))
    scaled = np.ldexp(weights, -np.repeat(exponents, sizes))  # by a power of two: no bit changes
    parts = scaled / np.repeat(np.add.reduceat(scaled, offsets[:-1]), sizes)
    small = ((parts < LEAST_SHARE) & (weights > 0)).nonzero()[0]
    if len(small):
        graph = int(np.searchsorted(offsets, small[0], side="right")) - 1
        raise GraphError(
            f"graph {graph}, node {int(small[0] - offsets[graph])}: its weight is less than {LEAST_SHARE:g} of the "
            "graph's total; make it 0 or larger"
        )
    return np.asarray(parts)


def _columns_by_graph(signals: Signals, offsets: IntArray) -> dict[str, NDArray[Any]]:
    """The sparse signals column by column for each graph: columns sorted by key, their entries by node."""
    sparse = signals.sparse
    sparse.eliminate_zeros()
    counts = np.diff(sparse.indptr)
    used = counts > 0
    owners = signals.owners[used]
    return {
        "column_offsets": np.searchsorted(owners, np.arange(len(offsets))).astype(np.int64),
        "column_keys": signals.keys[used],
        "entry_offsets": offsets_of(counts[used]),
        "entry_rows": sparse.indices - np.repeat(offsets[signals.owners], counts),
        "entry_values": sparse.data.astype(np.float64, copy=False),
    }


def drop_weightless(measures: GraphMeasures) -> GraphMeasures:
    """R11: nodes of weight 0 are removed after the whole graph was represented, and 1 / (n mu) is multiplied into L.

    L is multiplied on both sides.
    """
    kept = measures.weights > 0
    if not kept.all():
        measures = _restricted(measures, kept)
    spread = 1.0 / (np.repeat(measures.sizes, measures.sizes) * measures.weights)
    rows = np.repeat(np.arange(len(spread)), np.diff(measures.laplacian_offsets))
    starts = np.repeat(measures.offsets[:-1], measures.sizes)
    columns = starts[rows] + measures.laplacian_columns
    return measures._replace(laplacian_values=measures.laplacian_values * spread[rows] * spread[columns])


def _restricted(measures: GraphMeasures, kept: NDArray[np.bool_]) -> GraphMeasures:
    """The measures of the kept nodes; L and C_P become principal submatrices."""
    old = measures.offsets
    sizes = np.add.reduceat(kept, old[:-1]).astype(np.int64)
    offsets = offsets_of(sizes)
    place = np.cumsum(kept) - 1  # new packed number of a kept node
    inside = place - np.repeat(offsets[:-1], np.diff(old))
    node_of = np.repeat(old[:-1], np.diff(old))

    entry_column = np.repeat(np.arange(len(measures.column_keys)), np.diff(measures.entry_offsets))
    entry_graph = np.repeat(np.arange(len(sizes)), np.diff(measures.column_offsets))[entry_column]
    entry_node = old[entry_graph] + measures.entry_rows
    entry_kept = kept[entry_node]

    lap_row = np.repeat(np.arange(len(kept)), np.diff(measures.laplacian_offsets))
    lap_column = node_of[lap_row] + measures.laplacian_columns
    lap_kept = kept[lap_row] & kept[lap_column]

    factors, structures = [], []
    for i in range(len(sizes)):
        mine, n = kept[old[i] : old[i + 1]], int(old[i + 1] - old[i])
        factor = measures.factors[measures.factor_offsets[i] : measures.factor_offsets[i + 1]].reshape(n, -1)
        cost = measures.structure[measures.structure_offsets[i] : measures.structure_offsets[i + 1]].reshape(n, n)
        factors.append(factor[mine])
        structures.append(cost[np.ix_(mine, mine)])
    return measures._replace(
        offsets=offsets,
        weights=measures.weights[kept],
        degrees=measures.degrees[kept],
        features=measures.features[kept],
        returns=measures.returns[kept],
        square_norms=measures.square_norms[kept],
        entry_offsets=offsets_of(np.bincount(entry_column[entry_kept], minlength=len(measures.column_keys))),
        entry_rows=inside[entry_node[entry_kept]],
        entry_values=measures.entry_values[entry_kept],
        colours=np.ascontiguousarray(measures.colours[:, kept]),
        embedding=measures.embedding[kept],
        signs=measures.signs[kept],
        factor_offsets=offsets_of([factor.size for factor in factors]),
        factors=np.concatenate([factor.ravel() for factor in factors]),
        structure_offsets=offsets_of([cost.size for cost in structures]),
        structure=np.concatenate([cost.ravel() for cost in structures]),
        laplacian_offsets=offsets_of(np.bincount(lap_row[lap_kept], minlength=len(kept))[kept]),
        laplacian_columns=inside[lap_column[lap_kept]],
        laplacian_values=measures.laplacian_values[lap_kept],
    )
