"""`represent`: from graphs to `GraphMeasures`, everything that the solver knows of each graph.

`represent(graphs, parameters)` learns the scales (R7) from the graphs and returns them with the measures; with these
scales, new graphs are represented exactly as the fitted ones were. The measure of a graph depends on the graph and the
scales, never on the other graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rwk.graphs import GraphError, GraphSet
from rwk.graphs.checks import check_graphs
from rwk.graphs.colours import Colours, wl_colours
from rwk.parameters import Parameters, Scale
from rwk.represent.features import (
    WEIGHTS,
    Signals,
    block_adjacency,
    block_laplacian,
    label_signals,
    smooth_attributes,
    with_local_variation,
)
from rwk.represent.packing import drop_weightless, node_shares, pack_measures
from rwk.represent.scaling import attribute_standard, given_scale, learned_scale, scaled, standardised
from rwk.represent.structures import NOTHING_KNOWN, Known, Needs, has_dense, structures_of
from rwk.represent.walks import return_probabilities
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.backends import backend_name
from rwk.runtime.memory import return_free_memory
from rwk.transport.cpu.ahead import start_ahead
from rwk.transport.measures import GraphMeasures, joined

# Called with the number of graphs done since the last call.
Progress = Callable[[int], None]
NODES_PER_CHUNK = 2048
MANY_NODES = 50_000  # with so many, the arrays of the chunks leave tens of megabytes behind


def represent(
    graphs: GraphSet, parameters: Parameters, *, scale: Scale | None = None, progress: Progress | None = None
) -> tuple[GraphMeasures, Scale]:
    """Measures of the graphs, and the scales they were made with, which are learned unless given.

    >>> from rwk.convert import as_graphs
    >>> measures, scale = represent(as_graphs([np.ones((3, 3)) - np.eye(3)]), Parameters())
    >>> measures.sizes.tolist()
    [3]
    """
    check_graphs(graphs)
    if len(graphs) > 2 and backend_name(parameters.solver()) == "cpu" and parameters.precision == "float64":
        start_ahead()
    if scale is None:
        scale = given_scale(parameters)
    standard = attribute_standard(graphs, scale)
    measures = _unscaled(graphs, parameters, standard, progress)
    if scale is None:
        scale = _with_standard(learned_scale(measures, parameters), graphs, standard)
    measures = scaled(measures, scale, parameters)
    if len(measures.weights) >= MANY_NODES:
        return_free_memory()
    return measures, scale


def learn_scale(graphs: GraphSet, parameters: Parameters) -> Scale:
    """The scale that `represent` learns, bit for bit, representing only the graphs of the sampled pairs.

    >>> from rwk.convert import as_graphs
    >>> graphs = as_graphs([np.ones((n, n)) - np.eye(n) for n in (2, 3, 4)])
    >>> learn_scale(graphs, Parameters()) == represent(graphs, Parameters())[1]
    True
    """
    from rwk.transport.mean_costs import sample_pairs

    check_graphs(graphs)
    scale = given_scale(parameters)
    if scale is not None:
        return scale
    standard = attribute_standard(graphs, None)
    pairs = sample_pairs(len(graphs), parameters.random_state)
    used, numbers = np.unique(pairs, return_inverse=True)
    measures = _unscaled(graphs[used], parameters, standard, None)
    return _with_standard(learned_scale(measures, parameters, numbers.reshape(pairs.shape)), graphs, standard)


def _with_standard(scale: Scale, graphs: GraphSet, standard: tuple[FloatArray, FloatArray]) -> Scale:
    if graphs.node_attributes is not None:
        scale |= {"attribute_mean": standard[0].tolist(), "attribute_std": standard[1].tolist()}
    return scale


def _unscaled(
    graphs: GraphSet, parameters: Parameters, standard: tuple[FloatArray, FloatArray], progress: Progress | None
) -> GraphMeasures:
    """Measures before any cost is divided by its scale, computed chunk by chunk in threads."""
    from rwk.runtime.threads import in_threads, one_blas_thread

    bounds = _chunks(graphs.sizes)
    largest = np.maximum.reduceat(graphs.sizes, bounds[:-1])
    order = np.argsort(-largest, kind="stable")  # the largest graphs take longest: begin with them
    parts: list[Any] = [None] * len(order)
    node_shares(graphs)  # raises for weights that are too small, with the number of the graph
    known = _known_from_device(graphs, parameters)

    def work(number: int) -> int:
        chunk = order[number]
        first, last = bounds[chunk : chunk + 2].tolist()
        parts[chunk] = _chunk_measures(graphs[first:last], first, parameters, standard, known.part(first, last))
        return int(last - first)

    with one_blas_thread():  # R16: bit-identical whatever the number of threads
        in_threads(work, len(parts), n_jobs=parameters.n_jobs, tick=progress)
    return joined(*parts)


def _chunks(sizes: IntArray) -> IntArray:
    """Bounds of chunks of consecutive graphs, with about `NODES_PER_CHUNK` nodes each."""
    before = np.cumsum(sizes) - sizes
    new = np.diff(before // NODES_PER_CHUNK, prepend=-1) > 0
    return np.append(np.flatnonzero(new), len(sizes))


def _chunk_measures(
    graphs: GraphSet, first: int, parameters: Parameters, standard: tuple[FloatArray, FloatArray], known: Known
) -> GraphMeasures:
    """Measures of a few graphs, unscaled; `first` is the number of the first of them."""
    adjacency = block_adjacency(graphs)
    _check_degrees(graphs, first, adjacency)
    normalized = block_laplacian(adjacency)
    # R12: the Laplacian terms use the normalised L, or D - A as an option
    local = normalized if parameters.laplacian == "normalized" else block_laplacian(adjacency, normalized=False)
    made = structures_of(graphs, first, normalized, parameters, known)
    lambda_max = np.repeat(made.lambda_max, graphs.sizes)
    colours = _colours(graphs, parameters)
    signals = _signals(graphs, colours, parameters, standard)
    if parameters.feature_metric == "product" and parameters.return_weight != 0:
        returns = return_probabilities(adjacency, graphs.node_offsets, n_jobs=1)
        signals = signals._replace(returns=returns)
    signals = with_local_variation(signals, normalized, lambda_max, parameters.hops)
    return drop_weightless(pack_measures(graphs, signals, colours, made, (adjacency, local), parameters))


def _check_degrees(graphs: GraphSet, first: int, adjacency: Any) -> None:
    """Raise for edge weights whose sum overflows; `first` is the number of the first graph."""
    if graphs.edge_weights is None:
        return
    with np.errstate(over="ignore"):
        infinite = np.flatnonzero(~np.isfinite(adjacency.sum(axis=1)))
    if len(infinite):
        graph = int(np.searchsorted(graphs.node_offsets, infinite[0], side="right")) - 1
        raise GraphError(f"graph {first + graph}: {WEIGHTS}")


def _colours(graphs: GraphSet, parameters: Parameters) -> Colours | None:
    """Weisfeiler-Lehman colours; None if no feature uses them: graphs with attributes but no labels, metric "l2"."""
    hamming = parameters.feature_metric != "l2"
    if not hamming and graphs.node_labels is None and graphs.node_attributes is not None:
        return None
    return wl_colours(graphs, parameters.wl_rounds, edge_labels=bool(parameters.wl_edge_labels))


def _signals(
    graphs: GraphSet, colours: Colours | None, parameters: Parameters, standard: tuple[FloatArray, FloatArray]
) -> Signals:
    """The signals X: standardised attributes (dense), one-hot colours (sparse)."""
    from scipy.sparse import csc_array

    n_nodes = int(graphs.node_offsets[-1])
    dense, sparse = np.zeros((n_nodes, 0)), csc_array((n_nodes, 0))
    keys, owners = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    if has_dense(graphs, parameters):
        assert graphs.node_attributes is not None
        mean, deviation = standard
        dense = standardised(graphs.node_attributes, mean, deviation)
        if parameters.attribute_rounds:
            dense = smooth_attributes(graphs, dense, parameters.attribute_rounds)
    # graphs with attributes but no labels have no one-hot part; graphs with neither have colours made of degrees
    one_hot = parameters.feature_metric in ("l2", "both")
    if one_hot and colours is not None and (graphs.node_labels is not None or graphs.node_attributes is None):
        sparse, keys, owners = label_signals(colours, graphs.node_offsets)
    return Signals(dense, sparse, keys, owners, np.zeros((n_nodes, 0)))


def _known_from_device(graphs: GraphSet, parameters: Parameters) -> Known:
    """What a GPU computes for all graphs at once, if the backend is the GPU and a term needs it."""
    needs = Needs.of(graphs, parameters)
    if not needs.decomposed or backend_name(parameters.backend) != "gpu":
        return NOTHING_KNOWN
    from rwk.represent.spectrum_gpu import known_from_device

    return known_from_device(graphs, needs, parameters)
