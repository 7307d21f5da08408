"""`represent`: from graphs to `GraphMeasures`, everything that the solver knows of each graph.

`represent(graphs, parameters)` learns the scales (R7) from the graphs and returns them with the measures; with these
scales, new graphs are represented exactly as the fitted ones were. The measure of a graph depends on the graph and the
scales, never on the other graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rwk.graphs import Graph, GraphError, GraphSet
from rwk.graphs.checks import check_graphs
from rwk.parameters import Parameters, Scale
from rwk.represent.features import (
    Colours,
    Signals,
    block_adjacency,
    block_laplacian,
    label_signals,
    smooth_attributes,
    with_local_variation,
    wl_colours,
)
from rwk.represent.packing import Structures, drop_weightless, pack_measures
from rwk.represent.scaling import attribute_standard, given_scale, learned_scale, scaled, standardised
from rwk.represent.spectrum import Spectrum
from rwk.represent.walks import return_probabilities
from rwk.runtime.arrays import FloatArray
from rwk.runtime.backends import backend_name
from rwk.transport.cpu.ahead import start_ahead
from rwk.transport.measures import GraphMeasures

# Called with the number of graphs done since the last call.
Progress = Callable[[int], None]
GRAPHS_PER_CHUNK = 16
HEAT_DIM = 8
ATTENTION_DIM = 64


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
    return scaled(measures, scale, parameters), scale


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
    """Measures before any cost is divided by its scale."""
    from rwk.runtime.threads import one_blas_thread

    with one_blas_thread():  # R16: bit-identical whatever the number of threads
        adjacency = block_adjacency(graphs)
        normalized = block_laplacian(adjacency)
        # R12: the Laplacian terms use the normalised L, or D - A as an option
        local = normalized if parameters.laplacian == "normalized" else block_laplacian(adjacency, normalized=False)
        made = _structures(graphs, normalized, parameters, progress)
        lambda_max = np.repeat(made.lambda_max, graphs.sizes)
        colours = _colours(graphs, parameters)
        signals = _signals(graphs, colours, parameters, standard)
        if parameters.feature_metric == "product" and parameters.return_weight != 0:
            returns = return_probabilities(adjacency, graphs.node_offsets, n_jobs=parameters.n_jobs)
            signals = signals._replace(returns=returns)
        signals = with_local_variation(signals, normalized, lambda_max, parameters.hops)
    return drop_weightless(pack_measures(graphs, signals, colours, made, (adjacency, local), parameters))


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
    from scipy.sparse import csr_array

    n_nodes = int(graphs.node_offsets[-1])
    dense, sparse, keys = np.zeros((n_nodes, 0)), csr_array((n_nodes, 0)), np.zeros(0, np.uint64)
    if _has_dense(graphs, parameters):
        assert graphs.node_attributes is not None
        mean, deviation = standard
        dense = standardised(graphs.node_attributes, mean, deviation)
        if parameters.attribute_rounds:
            dense = smooth_attributes(graphs, dense, parameters.attribute_rounds)
    # graphs with attributes but no labels have no one-hot part; graphs with neither have colours made of degrees
    one_hot = parameters.feature_metric in ("l2", "both")
    if one_hot and colours is not None and (graphs.node_labels is not None or graphs.node_attributes is None):
        sparse, keys = label_signals(colours)
    return Signals(dense, sparse, keys, np.zeros((n_nodes, 0)))


def _has_dense(graphs: GraphSet | Graph, parameters: Parameters) -> bool:
    """Whether attributes take part in the feature cost."""
    left_out = parameters.feature_metric == "product" and parameters.attribute_weight == 0
    return graphs.node_attributes is not None and parameters.feature_metric != "hamming" and not left_out


def _structures(graphs: GraphSet, laplacian: Any, parameters: Parameters, progress: Progress | None) -> Structures:
    """What is computed graph by graph, in threads; most of it is linear algebra, which runs without the GIL."""
    from rwk.runtime.threads import in_threads

    made: list[Any] = [None] * len(graphs)
    trained = _trained_on_device(graphs, laplacian, parameters)
    bounds = np.unique(np.append(np.arange(0, len(graphs), GRAPHS_PER_CHUNK), len(graphs)))

    def work(chunk: int) -> int:
        for i in range(bounds[chunk], bounds[chunk + 1]):
            dense = _block(graphs, laplacian, i)
            try:
                made[i] = _structure_of(graphs[i], dense, parameters, trained[i] if trained else None)
            except np.linalg.LinAlgError:
                raise GraphError(f"graph {i}: its edge weights are too large or too unequal; rescale them") from None
        return int(bounds[chunk + 1] - bounds[chunk])

    in_threads(work, len(bounds) - 1, n_jobs=parameters.n_jobs, tick=progress)
    lambda_max, embeddings, signs, factors, structures = zip(*made, strict=True)
    return Structures(np.array(lambda_max), list(embeddings), list(signs), list(factors), list(structures))


def _embedded(parameters: Parameters) -> bool:
    """Whether any term needs a structure embedding."""
    return parameters.beta_local != 0 or (parameters.beta_global != 0 and parameters.structure == "embedding")


def _block(graphs: GraphSet, laplacian: Any, i: int) -> FloatArray:
    nodes = slice(graphs.node_offsets[i], graphs.node_offsets[i + 1])
    return np.asarray(laplacian[nodes, nodes].toarray())


def _trained_on_device(graphs: GraphSet, laplacian: Any, parameters: Parameters) -> list[FloatArray] | None:
    """The attention embeddings of all graphs if the backend is the GPU and a term needs them, else None."""
    from rwk.runtime.backends import backend_name

    if parameters.embedding != "attention" or not _embedded(parameters) or backend_name(parameters.backend) != "gpu":
        return None
    from rwk.represent.embedding_gpu import attention_embeddings
    from rwk.represent.spectrum import decompose

    return attention_embeddings(
        [decompose(_block(graphs, laplacian, i)) for i in range(len(graphs))],
        [np.asarray(graph.adjacency().toarray()) for graph in graphs],
        dim=parameters.embedding_dim or ATTENTION_DIM,
        walk_length=parameters.walk_length,
        n_walks=parameters.n_walks,
    )


def _structure_of(
    graph: Graph, laplacian: FloatArray, parameters: Parameters, trained: FloatArray | None
) -> tuple[Any, ...]:
    """lambda_max, embedding, signs, factor and C_P of one graph; what no term needs is empty."""
    from rwk.represent.spectrum import decompose
    from rwk.represent.structure import narrow_factor, row_distances, signs_of, structure_cost

    local, everywhere = parameters.beta_local != 0, parameters.beta_global != 0
    embedded = _embedded(parameters)
    # R5: Hamming on signs for the attention embedding, Euclidean for the heat signature
    hamming = parameters.structure_metric == "hamming" or (
        parameters.structure_metric == "auto" and parameters.embedding == "attention"
    )
    varied = parameters.hops > 0 and (parameters.feature_metric in ("l2", "both") or _has_dense(graph, parameters))
    decomposed = embedded or varied or (everywhere and parameters.structure == "heat-kernel")
    spectrum = decompose(laplacian) if decomposed else None
    embedding = np.zeros((graph.n_nodes, 0))
    if spectrum and embedded:
        embedding = _embedding(graph, spectrum, parameters) if trained is None else trained
    signs = signs_of(embedding) if embedded and hamming else np.zeros((graph.n_nodes, 0), np.int8)
    laplacian_on = local and (parameters.laplacian_source != 0 or parameters.laplacian_target != 0)
    cost = np.zeros((graph.n_nodes, graph.n_nodes))
    if everywhere:
        distances = row_distances(embedding, signs) if parameters.structure == "embedding" else None
        cost = structure_cost(parameters.structure, graph, laplacian, spectrum, distances)
    return (
        spectrum.lambda_max if spectrum else 0.0,
        embedding if local and not hamming else embedding[:, :0],
        signs if local else signs[:, :0],
        narrow_factor(embedding) if laplacian_on else embedding[:, :0],
        cost,
    )


def _embedding(graph: Graph, spectrum: Spectrum, parameters: Parameters) -> FloatArray:
    from rwk.represent.embedding import attention_embedding, heat_signature

    if parameters.embedding == "heat-signature":
        return heat_signature(spectrum, parameters.embedding_dim or HEAT_DIM)
    return attention_embedding(
        spectrum,
        np.asarray(graph.adjacency().toarray()),
        dim=parameters.embedding_dim or ATTENTION_DIM,
        walk_length=parameters.walk_length,
        n_walks=parameters.n_walks,
    )
