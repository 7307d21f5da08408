"""How many bytes the measures of a graph will take, before it is represented: tiles are planned by it."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.graphs import GraphSet
from rwk.graphs.colours import both_directions, wl_colours
from rwk.parameters import Parameters
from rwk.represent.structures import ATTENTION_DIM, HEAT_DIM, Needs, has_dense
from rwk.runtime.arrays import FloatArray, IntArray

NUMBER: Final = 8  # bytes
ENTRY: Final = 16  # a number and its row, or its column
RETURNS: Final = 50  # return probabilities of a node


def measure_bytes(graphs: GraphSet, parameters: Parameters) -> FloatArray:
    """Bytes of each graph's measures, (N,): rather too many than too few, since sparse features may share columns.

    >>> from rwk.convert import as_graphs
    >>> graphs = as_graphs([np.ones((n, n)) - np.eye(n) for n in (3, 30)])
    >>> few, many = measure_bytes(graphs, Parameters())
    >>> bool(many > 20 * few)
    True
    """
    sizes = graphs.sizes.astype(np.float64)
    of_edges = ENTRY * (sizes + 2.0 * graphs.n_edges)  # the Laplacian
    of_pairs = NUMBER * sizes**2  # C_P
    return np.asarray(64.0 + NUMBER * _numbers_per_node(graphs, parameters) * sizes + of_edges + of_pairs) + (
        ENTRY * _sparse_entries(graphs, parameters)
    )


def _numbers_per_node(graphs: GraphSet, parameters: Parameters) -> float:
    """Numbers of 8 bytes that each node has: all fields of the measures but the sparse ones and C_P."""
    needs, numbers = Needs.of(graphs, parameters), 4.0  # weight, degree, squared norm, row of the Laplacian
    if graphs.node_attributes is not None and has_dense(graphs, parameters):
        both = 2 if parameters.hops else 1  # signals, and their local variation
        numbers += both * graphs.node_attributes.shape[1] * (parameters.attribute_rounds + 1)
    if parameters.feature_metric == "product" and parameters.return_weight != 0:
        numbers += RETURNS
    if parameters.feature_metric != "l2":
        numbers += parameters.wl_rounds + 1  # colours
    if parameters.beta_local != 0:
        usual = HEAT_DIM if parameters.embedding == "heat-signature" else ATTENTION_DIM
        width = parameters.embedding_dim or usual
        numbers += width / 8 if needs.hamming else width
        numbers += width if needs.factor else 0
    return numbers


def _sparse_entries(graphs: GraphSet, parameters: Parameters) -> FloatArray:
    """At most so many entries and columns of one-hot colours and their local variation, (N,)."""
    labelled = graphs.node_labels is not None or graphs.node_attributes is None
    if parameters.feature_metric not in ("l2", "both") or not labelled:
        return np.zeros(len(graphs))
    colours = wl_colours(graphs, parameters.wl_rounds, edge_labels=bool(parameters.wl_edge_labels))
    near = _nodes_near(graphs, parameters.hops)
    starts, total = graphs.node_offsets[:-1], np.zeros(len(graphs))
    for colour in colours:
        kinds = _distinct(colour, graphs)
        variation = np.add.reduceat(np.minimum(near, np.repeat(kinds, graphs.sizes)), starts) if parameters.hops else 0
        total += graphs.sizes + variation + (2 if parameters.hops else 1) * kinds
    return total


def _distinct(colour: Any, graphs: GraphSet) -> IntArray:
    """Number of different colours in each graph, (N,)."""
    owners = np.repeat(np.arange(len(graphs)), graphs.sizes)
    order = np.lexsort((colour, owners))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(colour[order]) != 0) | (np.diff(owners[order]) != 0)
    return np.bincount(owners[order], new, len(graphs)).astype(np.int64)


def _nodes_near(graphs: GraphSet, hops: int) -> FloatArray:
    """An upper bound of how many nodes are at most so many hops away, (V,)."""
    tail, head, _ = both_directions(graphs)
    most = np.repeat(graphs.sizes, graphs.sizes).astype(np.float64)
    near = np.ones(len(most))
    for _ in range(hops):
        near, before = np.minimum(most, 1.0 + np.bincount(head, near[tail], len(most))), near
        if (near == before).all():
            break
    return near
