"""Spectra of many graphs at once on a GPU, and what follows from them: lambda_max and structure embeddings.

Graphs of similar size are decomposed together, padded to one width. A padded node has no edges and 3 on the diagonal,
more than any eigenvalue of a normalised Laplacian: its eigenvectors come last and do not touch the other nodes. Double
precision, as on the CPU.

Graphs of at most `LEFT_TO_CPU` nodes are decomposed by the threads of the CPU, unless attention needs all spectra on
the device. With all spectra on an H200, representing NCI1 took 2.1 s and COLLAB 8.8 s; with those of small graphs on
the 16 cores beside it, 1.5 and 5.6 s. One thread of LAPACK takes 0.07 ms for 32 nodes and 5 ms for 256. Where exactly
the GPU is faster has not been measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.graphs import GraphError, GraphSet
from rwk.parameters import Parameters
from rwk.represent.features import WEIGHTS
from rwk.represent.spectrum import Spectrum, time_ladder
from rwk.represent.structures import ATTENTION_DIM, HEAT_DIM, NOTHING_KNOWN, Known, Needs
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.device import chunk_bytes, is_out_of_memory, no_room, open_device
from rwk.transport.gpu.device_measures import ragged

BEYOND: Final = 3.0  # eigenvalue of a padded node; those of a normalised Laplacian are at most 2
SQUARES_ALIVE: Final = 8  # (P, P) matrices in memory per graph
LEFT_TO_CPU: Final = 256  # nodes
FINE: Final = 8  # widths are multiples of this up to 64 nodes,
COARSE: Final = 32  # and of this up to
LARGEST_PADDED: Final = 512  # nodes; larger graphs are decomposed one size at a time


class SpectraOfWidth(NamedTuple):
    """Spectra of some graphs, padded to one width P, on the device."""

    graphs: IntArray  # (g,)
    sizes: Any  # (g,)
    values: Any  # (g, P) ascending; those of padded nodes come last
    vectors: Any  # (g, P, P) columns


def known_from_device(graphs: GraphSet, needs: Needs, parameters: Parameters) -> Known:
    """lambda_max and the structure embedding of the graphs that are not left to the CPU.

    Nothing if C_P needs the spectra on the CPU anyway.
    """
    attention = needs.embedded and parameters.embedding == "attention"
    least = 0 if attention else LEFT_TO_CPU + 1
    if (needs.cost and parameters.structure == "heat-kernel" and not attention) or graphs.sizes.max() < least:
        return NOTHING_KNOWN
    lambda_max, signatures = np.zeros(len(graphs)), [np.zeros((0, 0))] * len(graphs)
    spectra: list[Any] = [None] * len(graphs)
    times = time_ladder(parameters.embedding_dim or HEAT_DIM)
    for batch in _spectra(graphs, least):
        largest = batch.values.gather(1, batch.sizes[:, None] - 1)[:, 0].cpu().numpy()
        lambda_max[batch.graphs] = np.where(largest > 1e-9, largest, 0.0)  # R2
        if attention:
            _keep_spectra(batch, graphs.sizes, spectra)
        elif needs.embedded:
            _keep_signatures(batch, graphs.sizes, times, signatures)
    if attention:
        return Known(lambda_max, _attention(graphs, spectra, parameters))
    return Known(lambda_max, signatures if needs.embedded else None, least)


def padded_width(sizes: IntArray) -> IntArray:
    """The width to which graphs of each size are padded.

    >>> padded_width(np.array([3, 9, 64, 65, 512, 513])).tolist()
    [8, 16, 64, 96, 512, 513]
    """
    fine, coarse = (-(-sizes // step) * step for step in (FINE, COARSE))
    return np.where(sizes <= 64, fine, np.where(sizes <= LARGEST_PADDED, coarse, sizes))


def _spectra(graphs: GraphSet, least: int) -> Iterator[SpectraOfWidth]:
    """The spectra of all graphs of `least` nodes or more, in batches of one width that fit on the device."""
    device = open_device()
    widths = np.where(graphs.sizes >= least, padded_width(graphs.sizes), 0)
    for width in np.unique(widths[widths > 0])[::-1].tolist():
        mine = np.flatnonzero(widths == width)
        count = max(1, chunk_bytes(device) // (8 * SQUARES_ALIVE * width * width))
        for first in range(0, len(mine), count):
            yield _decomposed(graphs, mine[first : first + count], width, device)


def _decomposed(graphs: GraphSet, chosen: IntArray, width: int, device: Any) -> SpectraOfWidth:
    import torch

    try:
        values, vectors = torch.linalg.eigh(_laplacians(graphs, chosen, width, device))
    except torch.linalg.LinAlgError:
        named = f"graph {chosen[0]}" if len(chosen) == 1 else f"graph {chosen[0]}, or another of {width} nodes or less"
        raise GraphError(f"{named}: {WEIGHTS}") from None
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise no_room("the largest graph is") from None
    sizes = torch.from_numpy(graphs.sizes[chosen]).to(device)
    return SpectraOfWidth(chosen, sizes, values.clamp_min_(0.0), vectors)


def _laplacians(graphs: GraphSet, chosen: IntArray, width: int, device: Any) -> Any:
    """I - D^-1/2 A D^-1/2 of the chosen graphs, (g, P, P); R1: a node of degree 0 has a zero row and column."""
    import torch

    counts = graphs.n_edges[chosen]
    edges = ragged(graphs.edge_offsets[chosen], counts)
    ends = torch.from_numpy(graphs.edges[edges].reshape(-1, 2)).to(device)
    starts = torch.repeat_interleave(torch.from_numpy(counts).to(device), output_size=len(edges)) * width
    weights = ends.new_ones(len(edges), dtype=torch.float64)
    if graphs.edge_weights is not None:
        weights = torch.from_numpy(graphs.edge_weights[edges]).to(device, torch.float64)
    matrices = torch.zeros((len(chosen), width, width), dtype=torch.float64, device=device)
    for tail, head in ((0, 1), (1, 0)):
        matrices.view(-1).index_add_(0, (starts + ends[:, tail]) * width + ends[:, head], weights)
    degrees = matrices.sum(dim=2)
    roots = torch.where(degrees > 0, degrees.rsqrt(), 0.0)
    matrices.mul_(-roots[:, :, None]).mul_(roots[:, None, :])
    nodes = torch.arange(width, device=device)
    real = nodes < torch.from_numpy(graphs.sizes[chosen]).to(device)[:, None]
    diagonal = torch.where(real, (degrees > 0).to(torch.float64), BEYOND)
    matrices.diagonal(dim1=1, dim2=2).copy_(diagonal)
    return matrices


def _keep_signatures(batch: SpectraOfWidth, sizes: IntArray, times: FloatArray, kept: list[FloatArray]) -> None:
    """(exp(-t L))_ii for every node i (rows) and time t (columns) of each graph."""
    import torch

    padded = torch.arange(batch.values.shape[1], device=batch.values.device) >= batch.sizes[:, None]
    at = torch.tensor(times, device=batch.values.device)
    heat = torch.exp(-batch.values.masked_fill(padded, float("inf"))[:, :, None] * at)
    signatures = batch.vectors.square().bmm(heat).cpu().numpy()
    for i, rows in zip(batch.graphs.tolist(), signatures, strict=True):
        kept[i] = rows[: sizes[i]]


def _keep_spectra(batch: SpectraOfWidth, sizes: IntArray, kept: list[Any]) -> None:
    values, vectors = batch.values.cpu().numpy(), batch.vectors.cpu().numpy()
    for at, i in enumerate(batch.graphs.tolist()):
        n = int(sizes[i])
        kept[i] = Spectrum(values[at, :n], np.ascontiguousarray(vectors[at, :n, :n]))


def _attention(graphs: GraphSet, spectra: list[Spectrum], parameters: Parameters) -> list[FloatArray]:
    from rwk.represent.embedding_gpu import attention_embeddings

    return attention_embeddings(
        spectra,
        [np.asarray(graph.adjacency().toarray()) for graph in graphs],
        dim=parameters.embedding_dim or ATTENTION_DIM,
        walk_length=parameters.walk_length,
        n_walks=parameters.n_walks,
    )
