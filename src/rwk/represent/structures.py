"""What is computed graph by graph: lambda_max, embedding E, its signs and factor, and C_P.

Graphs of one size are decomposed together: NumPy then calls LAPACK for one after the other without returning to
Python. The numbers of a graph do not depend on the graphs beside it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.graphs import Graph, GraphError, GraphSet
from rwk.parameters import Parameters
from rwk.represent import embedding as embeddings_of
from rwk.represent import structure as structure_of
from rwk.represent.features import WEIGHTS
from rwk.represent.packing import Structures
from rwk.represent.spectrum import decompose_all
from rwk.runtime.arrays import FloatArray, IntArray

HEAT_DIM: Final = 8
ATTENTION_DIM: Final = 64
ENTRIES_AT_ONCE: Final = 2**20  # of the Laplacians that are decomposed together
FEW_GRAPHS: Final = 4  # paths of so many small graphs are counted without compiled code


class Needs(NamedTuple):
    """What the terms of the objective need to know about the structure of each graph."""

    embedded: bool  # E: for C_N and the Laplacian terms, or distances of embedded nodes as C_P
    hamming: bool  # signs of E instead of E itself (R5)
    factor: bool  # F with F F^T = E E^T, for the Laplacian terms
    decomposed: bool  # the spectrum: for E, for lambda_max in the local variation, or heat-kernel distances as C_P
    cost: bool  # C_P

    @classmethod
    def of(cls, graphs: GraphSet, parameters: Parameters) -> Needs:
        local, everywhere = parameters.beta_local != 0, parameters.beta_global != 0
        embedded = local or (everywhere and parameters.structure == "embedding")
        # R5: Hamming on signs for the attention embedding, Euclidean for the heat signature
        hamming = parameters.structure_metric == "hamming" or (
            parameters.structure_metric == "auto" and parameters.embedding == "attention"
        )
        varied = parameters.hops > 0 and (parameters.feature_metric in ("l2", "both") or has_dense(graphs, parameters))
        return cls(
            embedded=embedded,
            hamming=hamming,
            factor=local and (parameters.laplacian_source != 0 or parameters.laplacian_target != 0),
            decomposed=embedded or varied or (everywhere and parameters.structure == "heat-kernel"),
            cost=everywhere,
        )


class Known(NamedTuple):
    """What a GPU has computed about the graphs already; None if it is still to be computed."""

    lambda_max: FloatArray | None  # (N,)
    embeddings: list[FloatArray] | None
    least: int = 0  # nodes; smaller graphs are not among them

    def of_size(self, n: int) -> Known:
        """What is known about graphs of n nodes."""
        return self if n >= self.least else NOTHING_KNOWN

    def part(self, first: int, last: int) -> Known:
        chosen = slice(first, last)
        return Known(
            None if self.lambda_max is None else self.lambda_max[chosen],
            None if self.embeddings is None else self.embeddings[chosen],
            self.least,
        )


NOTHING_KNOWN: Final = Known(None, None)


def has_dense(graphs: GraphSet | Graph, parameters: Parameters) -> bool:
    """Whether attributes take part in the feature cost."""
    left_out = parameters.feature_metric == "product" and parameters.attribute_weight == 0
    return graphs.node_attributes is not None and parameters.feature_metric != "hamming" and not left_out


def structures_of(graphs: GraphSet, first: int, laplacian: Any, parameters: Parameters, known: Known) -> Structures:
    """The structures of a few graphs with a block-diagonal Laplacian; `first` is the number of the first of them."""
    needs, sizes = Needs.of(graphs, parameters), graphs.sizes
    made: list[Any] = [None] * len(graphs)
    for n in np.unique(sizes).tolist():
        known_here = known.of_size(n)
        alike = np.flatnonzero(sizes == n)
        at_once = max(1, ENTRIES_AT_ONCE // (n * n))
        for some in np.split(alike, range(at_once, len(alike), at_once)):
            blocks = dense_blocks(laplacian, graphs.node_offsets[some], n)
            spectra = _spectra(blocks, some + first, needs, parameters, known_here)
            if known_here.lambda_max is not None:
                largest = known_here.lambda_max[some]
            else:
                largest = np.array([spectrum.lambda_max if spectrum else 0.0 for spectrum in spectra])
            embeddings = [np.zeros((n, 0))] * len(some)
            if needs.embedded:
                embeddings = _embeddings(graphs, some, spectra, parameters, known_here)
            factors = structure_of.narrow_factors(np.stack(embeddings)) if needs.factor else embeddings
            for at, i in enumerate(some.tolist()):
                rows, signs = embeddings[at], _signs(embeddings[at], needs)
                cost = _cost(graphs, i, parameters, (blocks[at], spectra[at], rows, signs))
                if parameters.beta_local == 0:  # only C_P needs the embedding
                    rows, signs = rows[:, :0], signs[:, :0]
                factor = factors[at] if needs.factor else rows[:, :0]
                made[i] = largest[at], rows[:, :0] if needs.hamming else rows, signs, factor, cost
    lambda_max, *lists = zip(*made, strict=True)
    return Structures(np.array(lambda_max), *(list(each) for each in lists))


def dense_blocks(matrix: Any, starts: IntArray, n: int) -> FloatArray:
    """The diagonal blocks of a block-diagonal matrix (csr) that begin at `starts`, (g, n, n)."""
    blocks = np.zeros((len(starts), n, n))
    for block, start in zip(blocks, starts.tolist(), strict=True):
        places = matrix.indptr[start : start + n + 1]
        inside = slice(places[0], places[-1])
        block[np.repeat(np.arange(n), np.diff(places)), matrix.indices[inside] - start] = matrix.data[inside]
    return blocks


def _spectra(blocks: FloatArray, numbers: IntArray, needs: Needs, parameters: Parameters, known: Known) -> list[Any]:
    """The `Spectrum` of each Laplacian of one size, or None if no term needs it or what follows from it is known."""
    spared = known.lambda_max is not None and not (needs.cost and parameters.structure == "heat-kernel")
    if spared or not needs.decomposed:
        return [None] * len(blocks)
    try:
        return decompose_all(blocks)
    except np.linalg.LinAlgError:
        if len(blocks) > 1:  # one by one, to find out which it is
            return [
                _spectra(block[None], number, needs, parameters, known)[0]
                for block, number in zip(blocks, numbers[:, None], strict=True)
            ]
        raise GraphError(f"graph {numbers[0]}: {WEIGHTS}") from None


def _signs(embedding: FloatArray, needs: Needs) -> Any:
    if needs.embedded and needs.hamming:
        return structure_of.signs_of(embedding)
    return np.zeros((len(embedding), 0), np.int8)


def _embeddings(
    graphs: GraphSet, some: IntArray, spectra: list[Any], parameters: Parameters, known: Known
) -> list[FloatArray]:
    """Structure embeddings (n, k) of graphs of one size."""
    if known.embeddings is not None:
        return [known.embeddings[i] for i in some]
    if parameters.embedding == "heat-signature":
        return [embeddings_of.heat_signature(spectrum, parameters.embedding_dim or HEAT_DIM) for spectrum in spectra]
    return [
        embeddings_of.attention_embedding(
            spectrum,
            np.asarray(graphs[i].adjacency().toarray()),
            dim=parameters.embedding_dim or ATTENTION_DIM,
            walk_length=parameters.walk_length,
            n_walks=parameters.n_walks,
        )
        for i, spectrum in zip(some.tolist(), spectra, strict=True)
    ]


def _cost(graphs: GraphSet, i: int, parameters: Parameters, parts: tuple[Any, ...]) -> FloatArray:
    """C_P of graph i, from its Laplacian, spectrum, embedding and signs."""
    laplacian, spectrum, embedding, signs = parts
    if parameters.beta_global == 0:
        return np.zeros(laplacian.shape)
    if parameters.structure == "shortest-path":
        edges = slice(graphs.edge_offsets[i], graphs.edge_offsets[i + 1])
        return structure_of.hop_counts(len(laplacian), graphs.edges[edges], plain=len(graphs) <= FEW_GRAPHS)
    distances = structure_of.row_distances(embedding, signs) if parameters.structure == "embedding" else None
    return structure_of.structure_cost(parameters.structure, graphs[i], laplacian, spectrum, distances)
