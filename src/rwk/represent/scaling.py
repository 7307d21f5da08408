"""What a representation learns from the fitted graphs: how large their costs are.

R7: each cost is divided by its typical size over sampled pairs, so that weights mean the same on every dataset;
`scale="none"` is the paper. Attributes are standardised column by column. If graphs have both labels and attributes,
each part is divided by its own size before the weight between them is applied.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from rwk.graphs import GraphError, GraphSet
from rwk.parameters import Parameters, Scale
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.parameter_checks import LARGEST, ParameterError, range_in_words, shown
from rwk.transport.measures import GraphMeasures

# Standardised features and embeddings, and costs made of them, are numbers near 1: smaller means are rounding errors,
# as between the nodes of a symmetric graph or with constant features.
NOISE: Final = 1e-9
SMALLEST_UNIT: Final = 1e-150  # what costs are divided by: the square of a smaller quotient is infinite
UNSCALED: Final[Scale] = {
    "feature": 1.0,
    "neighbourhood": 1.0,
    "structure": 1.0,
    "labels": 1.0,
    "attributes": 1.0,
    "hamming": 1.0,
    "return_distance": 1.0,
    "attribute_distance": 1.0,
}
NEAR_ONE: Final = ("embedding", "laplacian", "heat-kernel")  # structures near 1; lengths and weights may be small


def given_scale(parameters: Parameters) -> Scale | None:
    """The scale that the user gave; None if it is to be learned; for "none", a scale that changes nothing."""
    if parameters.scale == "fit":
        return None
    given = Scale(**UNSCALED)
    if not isinstance(parameters.scale, str):
        _check_scale(parameters.scale)
        given |= parameters.scale
    return given


def _check_scale(scale: Scale) -> None:
    """Raise for unknown entries, and for entries that costs cannot be divided by."""
    known = tuple(Scale.__annotations__)
    for name, value in scale.items():
        if name not in known:
            raise ParameterError(f"scale: there is no entry {name!r}; the entries are {', '.join(known)}")
        try:
            numbers = np.asarray(value, np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array(np.nan)
        if not np.isfinite(numbers).all() or (name != "attribute_mean" and (numbers <= 0).any()):
            raise ParameterError(f"scale: {name}={shown(value)} is not valid; it must be finite and greater than 0")
        if not name.startswith("attribute_") and not ((numbers >= SMALLEST_UNIT) & (numbers <= LARGEST)).all():
            bound = range_in_words(SMALLEST_UNIT, LARGEST)
            raise ParameterError(f"scale: {name}={shown(value)} is not valid; it must be {bound}")


def attribute_standard(graphs: GraphSet, scale: Scale | None) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each attribute column: from the scale, or of these graphs if it is None."""
    if graphs.node_attributes is None:
        return np.zeros(0), np.ones(0)
    width = graphs.node_attributes.shape[1]
    if scale is None:
        unit = _safe_unit(graphs.node_attributes)
        mean = (graphs.node_attributes / unit).mean(axis=0) * unit
        deviation = (graphs.node_attributes / unit).std(axis=0) * unit
        constant = deviation <= 1e-12 * np.maximum(np.abs(mean), 1e-300)
        return mean, np.where(constant, unit, deviation)
    mean = np.asarray(scale.get("attribute_mean", np.zeros(width)), np.float64)
    deviation = np.asarray(scale.get("attribute_std", np.ones(width)), np.float64)
    if len(mean) != width or len(deviation) != width:
        raise GraphError(
            f"these graphs have {width} node attributes but the fitted graphs had {len(mean)}; give the same number"
        )
    return mean, deviation


def standardised(attributes: FloatArray, mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """(x - mean) / deviation of each column; columns of very large numbers do not overflow."""
    unit = _safe_unit(attributes)
    return np.asarray((attributes / unit - mean / unit) / (deviation / unit))


def _safe_unit(columns: FloatArray) -> FloatArray:
    """A power of two for each column, 1 unless squares of its numbers would overflow or underflow."""
    largest = np.abs(columns).max(axis=0, initial=0.0)
    extreme = (largest > 2.0**500) | ((largest < 2.0**-500) & (largest > 0.0))
    return np.where(extreme, np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1020, 1020)), 1.0)


def learned_scale(measures: GraphMeasures, parameters: Parameters, pairs: IntArray | None = None) -> Scale:
    """Typical size of each cost (R7) over the given pairs of graphs, or over sampled pairs if None."""
    from rwk.transport.mean_costs import mean_neighbour_costs, sample_pairs, typical

    pairs = sample_pairs(measures.n_graphs, parameters.random_state) if pairs is None else pairs
    scale = Scale(**UNSCALED)
    if measures.product_cost:
        _learn_product(measures, parameters, pairs, scale)
    else:
        _learn_features(measures, parameters, pairs, scale)
    if measures.embedding.shape[1] or measures.signs.shape[1]:
        scale["neighbourhood"] = typical(mean_neighbour_costs(measures, pairs), least=NOISE)
    if measures.structure.any():
        least = NOISE if parameters.structure in NEAR_ONE else 0.0
        scale["structure"] = typical(_mean_structures(measures, np.unique(pairs)), least=least)
    return scale


def _learn_features(measures: GraphMeasures, parameters: Parameters, pairs: IntArray, scale: Scale) -> None:
    """The Euclidean and the Hamming cost, and what balances labels and attributes."""
    from rwk.transport.mean_costs import mean_feature_costs, typical

    plain = measures._replace(colours=measures.colours[:0])
    if measures.features.shape[1] and len(measures.column_keys):
        scale["labels"] = typical(mean_feature_costs(plain._replace(features=plain.features[:, :0].copy()), pairs))
        scale["attributes"] = typical(mean_feature_costs(without_sparse(plain), pairs), least=NOISE)
        plain = _balanced(plain, scale, parameters)
    if plain.features.shape[1] or len(plain.column_keys):
        scale["feature"] = typical(mean_feature_costs(plain, pairs), least=NOISE)
    if len(measures.colours):
        bare = without_sparse(measures._replace(features=measures.features[:, :0].copy()))
        scale["hamming"] = typical(mean_feature_costs(bare, pairs))


def _learn_product(measures: GraphMeasures, parameters: Parameters, pairs: IntArray, scale: Scale) -> None:
    """The median distances m_r and m_a of the product cost (R18), and the typical size of the cost."""
    from rwk.transport.mean_costs import mean_feature_costs, node_distances, typical

    if measures.returns.shape[1]:
        scale["return_distance"] = typical(node_distances(measures.returns, measures, pairs), least=NOISE)
    if measures.features.shape[1]:
        scale["attribute_distance"] = typical(node_distances(measures.features, measures, pairs), least=NOISE)
    scale["feature"] = typical(mean_feature_costs(_in_exponents(measures, scale, parameters), pairs), least=NOISE)


def _in_exponents(measures: GraphMeasures, scale: Scale, parameters: Parameters) -> GraphMeasures:
    """Return probabilities and attributes in units of their median distance over their power (R18)."""
    return measures._replace(
        returns=measures.returns * (parameters.return_weight / scale["return_distance"]),
        features=measures.features * (parameters.attribute_weight / scale["attribute_distance"]),
    )


def _mean_structures(measures: GraphMeasures, chosen: IntArray) -> FloatArray:
    """Mean off-diagonal |C_P| of each chosen graph that has at least two nodes."""
    means = []
    for i in chosen:
        n = int(measures.sizes[i])
        cost = measures.structure[measures.structure_offsets[i] : measures.structure_offsets[i + 1]].reshape(n, n)
        if n > 1:
            means.append((np.abs(cost).sum() - np.abs(np.diag(cost)).sum()) / (n * (n - 1)))
    return np.array(means)


def _balanced(measures: GraphMeasures, scale: Scale, parameters: Parameters) -> GraphMeasures:
    """If there are both labels and attributes, divide each by its own size and apply the weight between them."""
    if not (measures.features.shape[1] and len(measures.column_keys)):
        return measures
    labels = np.sqrt(2.0 * parameters.label_weight) / scale["labels"]
    attributes = np.sqrt(2.0 * (1.0 - parameters.label_weight)) / scale["attributes"]
    return measures._replace(
        features=measures.features * attributes,
        entry_values=measures.entry_values * labels,
        square_norms=measures.square_norms * labels**2,
    )


def scaled(measures: GraphMeasures, scale: Scale, parameters: Parameters) -> GraphMeasures:
    """The measures with the scales (R7), and the weight between l2 and Hamming costs (R3), multiplied in.

    The structures, which can take gigabytes, are divided in place: do not use `measures` afterwards.
    """
    structure = np.divide(measures.structure, scale["structure"], out=measures.structure)
    if measures.product_cost:
        return _in_exponents(measures, scale, parameters)._replace(
            structure=structure,
            hamming_cost=0.0,
            product_cost=1.0 / scale["feature"],
            neighbour_cost=1.0 / scale["neighbourhood"],
        )
    measures = _balanced(measures, scale, parameters)
    share = {"l2": 0.0, "hamming": 1.0, "both": parameters.hamming_weight}[parameters.feature_metric]
    unit = (1.0 - share) / scale["feature"]
    return measures._replace(
        features=measures.features * unit,
        entry_values=measures.entry_values * unit,
        square_norms=measures.square_norms * unit**2,
        structure=structure,
        hamming_cost=share / scale["hamming"],
        neighbour_cost=1.0 / scale["neighbourhood"],
    )


def without_sparse(measures: GraphMeasures) -> GraphMeasures:
    """The same measures without the sparse part of their features."""
    return measures._replace(
        square_norms=np.zeros_like(measures.square_norms),
        column_offsets=np.zeros_like(measures.column_offsets),
        column_keys=measures.column_keys[:0],
        entry_offsets=np.zeros(1, np.int64),
        entry_rows=measures.entry_rows[:0],
        entry_values=measures.entry_values[:0],
    )
