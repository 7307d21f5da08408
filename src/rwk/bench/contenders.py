"""What one could use instead of rwk, each solving the same pair from the same matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.bench.numpy_solver import Node, plain_costs, plain_scg
from rwk.transport.cpu.loading import load_pair
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import CostWeights, ScgOptions

Contender = Callable[["DensePair"], float]


class DensePair(NamedTuple):
    """One pair as dense float64 matrices."""

    linear: NDArray[np.float64]  # M (n, m)
    log_prior: NDArray[np.float64]
    source: tuple[Any, Any, Any, Any]  # mu, C_P, L, S
    target: tuple[Any, Any, Any, Any]
    words: tuple[Any, Any]  # what WWL compares: colours or attributes of each graph
    nodes: tuple[Node, Node]  # what the costs are computed from


def graph_nodes(measures: GraphMeasures) -> list[Node]:
    """What is known of the nodes of every graph, as NumPy arrays and SciPy matrices."""
    from scipy.sparse import csr_array

    keys, codes = np.unique(measures.column_keys, return_inverse=True)
    found = []
    for g in range(measures.n_graphs):
        nodes = slice(measures.offsets[g], measures.offsets[g + 1])
        columns = slice(measures.column_offsets[g], measures.column_offsets[g + 1])
        bounds = measures.entry_offsets[columns.start : columns.stop + 1]
        entries = slice(bounds[0], bounds[-1])
        where = measures.entry_rows[entries], np.repeat(codes[columns], np.diff(bounds))
        found.append(
            Node(
                features=measures.features[nodes],
                labels=csr_array((measures.entry_values[entries], where), shape=(measures.sizes[g], len(keys))),
                norms=measures.square_norms[nodes],
                colours=np.ascontiguousarray(measures.colours[:, nodes]),
                embedding=measures.embedding[nodes],
                degrees=measures.degrees[nodes],
            )
        )
    return found


def dense_pair(measures: GraphMeasures, a: int, b: int, weights: CostWeights, nodes: list[Node]) -> DensePair:
    """The matrices of one pair, with the values that the compiled solver uses."""
    pair = load_pair(measures, a, b, weights)
    linear = pair.feature + weights.beta_local * pair.neighbour
    sides = []
    words = []
    for g, structure, factor in ((a, pair.structure_mu, pair.factor_mu), (b, pair.structure_nu, pair.factor_nu)):
        own = slice(measures.offsets[g], measures.offsets[g + 1])
        laplacian = dense_laplacian(measures, g)
        sides.append((measures.weights[own].copy(), structure.copy(), laplacian, factor @ factor.T))
        features = measures.features[own]
        words.append(features if features.shape[1] else measures.colours[:, own].T.astype(np.float64))
    return DensePair(linear, pair.log_prior, sides[0], sides[1], (words[0], words[1]), (nodes[a], nodes[b]))


def dense_laplacian(measures: GraphMeasures, g: int) -> NDArray[np.float64]:
    """L of one graph as a dense matrix."""
    first, last = int(measures.offsets[g]), int(measures.offsets[g + 1])
    matrix = np.zeros((last - first, last - first))
    for i in range(last - first):
        entries = slice(measures.laplacian_offsets[first + i], measures.laplacian_offsets[first + i + 1])
        matrix[i, measures.laplacian_columns[entries]] = measures.laplacian_values[entries]
    return matrix


def contenders(measures: GraphMeasures, weights: CostWeights, options: ScgOptions) -> dict[str, Contender]:
    """Every contender by name; those of POT only if POT is installed.

    rwk and the first NumPy contender start from the features of the nodes; the second NumPy contender and POT's
    Gromov-Wasserstein solvers are given the cost matrices.
    """

    def numpy_from_nodes(pair: DensePair) -> float:
        scales = measures.hamming_cost, measures.neighbour_cost
        return plain_scg(plain_costs(*pair.nodes, weights, scales), (pair.source, pair.target), weights, options)

    found: dict[str, Contender] = {
        "NumPy SCG": numpy_from_nodes,
        "NumPy SCG, costs given": lambda pair: plain_scg(
            (pair.linear, pair.log_prior), (pair.source, pair.target), weights, options
        ),
    }
    try:
        import ot
    except ImportError:
        return found
    # POT's loss lacks the half: RW without regularisers = POT (1 + beta/2) at alpha = beta / (2 + beta)
    alpha = weights.beta_global / (2 + weights.beta_global)

    def fused(pair: DensePair) -> float:
        (mu, C, _, _), (nu, D, _, _) = pair.source, pair.target
        return float(ot.gromov.fused_gromov_wasserstein2(pair.linear, C, D, mu, nu, alpha=alpha))

    def entropic(pair: DensePair) -> float:
        (mu, C, _, _), (nu, D, _, _) = pair.source, pair.target
        found = ot.gromov.entropic_fused_gromov_wasserstein2(
            pair.linear, C, D, mu, nu, alpha=alpha, epsilon=options.entropy
        )
        return float(found)

    def wwl(pair: DensePair) -> float:
        metric = "euclidean" if pair.words[0].dtype == np.float64 and not _whole(pair.words[0]) else "hamming"
        return float(ot.emd2(pair.source[0], pair.target[0], ot.dist(*pair.words, metric=metric)))

    return {
        "POT fused_gromov_wasserstein2": fused,
        "WWL (ot.dist + ot.emd2)": wwl,
        "POT entropic_fused_gromov_wasserstein2": entropic,
        **found,
    }


def _whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.floor(values)).all())
