"""What a node is like: signals, of Weisfeiler-Lehman colours and of attributes, and how they vary around a node.

Everything here works on a whole `GraphSet` at once, with the nodes of all graphs in one array and one block-diagonal
Laplacian. The row of a node depends on its own graph alone.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.graphs import GraphSet
from rwk.graphs.colours import Colours, both_directions, mix
from rwk.graphs.colours import wl_colours as wl_colours  # where the old name `rwk.features` leads
from rwk.runtime.arrays import FloatArray, IntArray

ROUND_SALT: Final = np.uint64(0xD6E8FEB86659FD93)
VARIATION_SALT: Final = np.uint64(0xA0761D6478BD642F)
WEIGHTS: Final = "its edge weights are too large or too unequal; rescale them"  # what an error says


class Signals(NamedTuple):
    """Feature vectors of all nodes: a dense part, and a sparse part whose columns are identified by keys.

    Each graph has sparse columns of its own: a key that occurs in several graphs has a column in each. A product with
    the Laplacian then works on the few columns of one graph at a time, which stay in the cache.
    """

    dense: FloatArray  # (V, d)
    sparse: Any  # scipy csc_array (V, D), rows sorted
    keys: Colours  # (D,) sorted inside each graph
    owners: IntArray  # (D,) number of the graph, ascending
    returns: FloatArray  # (V, 50) return probabilities for a product cost, else (V, 0)


def label_signals(colours: Colours, offsets: IntArray) -> tuple[Any, Colours, IntArray]:
    """The colours of all rounds as one-hot rows: a sparse matrix, and the key and the graph of each column."""
    from scipy.sparse import csr_array

    rounds, n_nodes = colours.shape
    salts = (np.arange(rounds, dtype=np.uint64) + np.uint64(1)) * ROUND_SALT
    keys = mix(colours ^ salts[:, None]).T.ravel()  # node by node
    owners = np.repeat(np.arange(len(offsets) - 1), rounds * np.diff(offsets))
    order = np.lexsort((keys, owners))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(keys[order]) != 0) | (np.diff(owners[order]) != 0)
    columns = np.empty(len(order), np.int64)
    columns[order] = np.cumsum(new) - 1
    first = order[new]
    starts = np.arange(n_nodes + 1) * rounds
    one_hot = csr_array((np.ones(len(columns)), columns, starts), shape=(n_nodes, len(first)))
    return one_hot.tocsc(), keys[first], owners[first]


def smooth_attributes(graphs: GraphSet, attributes: FloatArray, rounds: int) -> FloatArray:
    """Attributes of rounds 0..`rounds`, side by side; a round moves a node half-way to the mean of its neighbours."""
    adjacency = block_adjacency(graphs)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()[:, None]
    blocks = [attributes]
    for _ in range(rounds):
        x = blocks[-1]
        mean = np.divide(adjacency @ x, degrees, out=x.copy(), where=degrees > 0)
        blocks.append(0.5 * (x + mean))
    return np.concatenate(blocks, axis=1)


def with_local_variation(signals: Signals, laplacian: Any, lambda_max: FloatArray, hops: int) -> Signals:
    """Append the local variation |X - L^hops X / lambda_max| to the signals X.

    `lambda_max` has one entry per node. R2: in a graph without edges it is 0, and the variation is |X|.
    """
    from scipy.sparse import hstack

    if hops == 0:
        return signals
    inverse = np.divide(1.0, lambda_max, out=np.zeros_like(lambda_max), where=lambda_max > 0)
    dense, sparse = signals.dense, signals.sparse.tocsr()
    for _ in range(hops):
        dense, sparse = laplacian @ dense, laplacian @ sparse
    dense_variation = np.abs(signals.dense - dense * inverse[:, None])
    sparse.data *= np.repeat(inverse, np.diff(sparse.indptr))
    sparse_variation = abs(signals.sparse - sparse.tocsc())
    keys, owners = np.concatenate([signals.keys, mix(signals.keys + VARIATION_SALT)]), np.tile(signals.owners, 2)
    order = np.lexsort((keys, owners))
    both = hstack([signals.sparse, sparse_variation], format="csc")[:, order]
    dense = np.concatenate([signals.dense, dense_variation], axis=1)
    return signals._replace(dense=dense, sparse=both, keys=keys[order], owners=owners[order])


def block_adjacency(graphs: GraphSet) -> Any:
    """The weighted adjacency matrices of all graphs as one block-diagonal sparse matrix."""
    from scipy.sparse import csr_array

    tail, head, edge = both_directions(graphs)
    weights = np.ones(len(graphs.edges)) if graphs.edge_weights is None else graphs.edge_weights
    n_nodes = int(graphs.node_offsets[-1])
    matrix = csr_array((weights[edge], (head, tail)), shape=(n_nodes, n_nodes))
    matrix.sort_indices()
    return matrix


def block_laplacian(adjacency: Any, *, normalized: bool = True) -> Any:
    """I - D^-1/2 A D^-1/2 (or D - A) of a block-diagonal A; R1: a node of degree 0 has a zero row and column."""
    from scipy.sparse import csr_array, diags_array

    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    if not normalized:
        laplacian = csr_array(diags_array(degrees) - adjacency)
    else:
        root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
        left, right = np.repeat(root, np.diff(adjacency.indptr)), root[adjacency.indices]
        scaled = adjacency.copy()
        with np.errstate(over="ignore"):
            factors = left * right
        tiny = np.isinf(factors)  # of degrees near the smallest numbers there are
        scaled.data[tiny] *= left[tiny]
        factors[tiny] = right[tiny]
        scaled.data *= factors
        laplacian = csr_array(diags_array((degrees > 0).astype(float)) - scaled)
    laplacian.sort_indices()
    return laplacian
