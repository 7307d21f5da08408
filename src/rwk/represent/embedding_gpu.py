"""The attention embedding of many graphs at once on a GPU: same loss, start and steps as in `represent.embedding`.

Graphs of one size class are trained together, each at every learning rate. Arrays have shape (rates, graphs, nodes,
...); padded nodes are in no walk and no sum, so they stay 0. Nodes are trained one by one, without the classes of
`alike_classes`. Double precision, as on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rwk.represent.embedding import ADAM_EPSILON, EPOCHS, LEARNING_RATES, MOMENTUM, SECOND_MOMENTUM, canonical_start
from rwk.represent.spectrum import Spectrum
from rwk.runtime.arrays import FloatArray
from rwk.runtime.device import chunk_bytes, open_device
from rwk.transport.gpu.device_measures import width_of

SQUARES_ALIVE = 10  # (P, P) arrays in memory per graph and learning rate


def attention_embeddings(
    spectra: Sequence[Spectrum], connected: Sequence[FloatArray], *, dim: int, walk_length: int, n_walks: int
) -> list[FloatArray]:
    """The attention embedding [F | R] of each graph; `connected` are the (weighted) adjacency matrices."""
    device = open_device()
    sizes = np.array([len(spectrum.values) for spectrum in spectra], np.int64)
    widths = width_of(sizes)
    made: list[Any] = [None] * len(spectra)
    for width in np.unique(widths).tolist():
        mine = np.flatnonzero(widths == width)
        graph_bytes = 8 * width * width * (SQUARES_ALIVE * len(LEARNING_RATES) + walk_length + 2)
        count = max(1, chunk_bytes(device) // graph_bytes)
        for first in range(0, len(mine), count):
            chosen = mine[first : first + count]
            parts = [spectra[i] for i in chosen], [connected[i] for i in chosen]
            trained = _trained(parts, width, dim, walk_length, float(n_walks), device)
            for i, rows in zip(chosen, trained, strict=True):
                made[i] = rows[: sizes[i]]
    return made


def _trained(
    parts: tuple[list[Spectrum], list[FloatArray]], width: int, dim: int, walk_length: int, n_walks: float, device: Any
) -> FloatArray:
    """[F | R] of graphs of one width, (g, P, dim)."""
    import torch

    spectra, connected = parts
    walks, apart, left, right = _padded(spectra, connected, width, dim, walk_length, device)
    start = torch.cat([left, right], dim=2)
    rates = torch.tensor(LEARNING_RATES, dtype=torch.float64, device=device)
    state = [
        side.expand(len(rates), *side.shape).clone() for side in (left, right, left.new_zeros(len(left), walk_length))
    ]
    moments = [(torch.zeros_like(x), torch.zeros_like(x)) for x in state]
    for epoch in range(EPOCHS):
        _, slopes = _loss_and_slopes(walks, apart, state, n_walks)
        size = rates * (1.0 - SECOND_MOMENTUM ** (epoch + 1)) ** 0.5 / (1.0 - MOMENTUM ** (epoch + 1))
        for x, slope, (mean, square) in zip(state, slopes, moments, strict=True):
            mean.lerp_(slope, 1.0 - MOMENTUM)
            square.mul_(SECOND_MOMENTUM).addcmul_(slope, slope, value=1.0 - SECOND_MOMENTUM)
            x.sub_(size.reshape(-1, *[1] * (x.dim() - 1)) * mean / (square.sqrt() + ADAM_EPSILON))
    loss, _ = _loss_and_slopes(walks, apart, state, n_walks)
    loss = torch.nan_to_num(loss, nan=float("inf"))
    best = loss.argmin(dim=0)
    everyone = torch.arange(len(best), device=device)
    trained = torch.cat([state[0][best, everyone], state[1][best, everyone]], dim=2)
    trained = torch.where(torch.isfinite(loss.amin(dim=0))[:, None, None], trained, start)
    return np.asarray(trained.cpu().numpy())


def _padded(
    spectra: list[Spectrum], connected: list[FloatArray], width: int, dim: int, walk_length: int, device: Any
) -> tuple[Any, ...]:
    """exp(-t L) (g, T, P, P), 1 for pairs without an edge (g, P, P), and the start of F and R (g, P, dim // 2)."""
    import torch

    vectors, values = np.zeros((len(spectra), width, width)), np.zeros((len(spectra), width))
    apart = np.zeros((len(spectra), width, width))
    sides = np.zeros((2, len(spectra), width, dim // 2))
    for g, (spectrum, edges) in enumerate(zip(spectra, connected, strict=True)):
        n = len(spectrum.values)
        vectors[g, :n, :n], values[g, :n] = spectrum.vectors, spectrum.values
        apart[g, :n, :n] = edges == 0
        sides[0, g, :n], sides[1, g, :n] = canonical_start(spectrum, dim)
    there = torch.from_numpy(vectors).to(device)
    times = torch.arange(1, walk_length + 1, dtype=torch.float64, device=device)
    decay = torch.exp(-times[None, :, None] * torch.from_numpy(values).to(device)[:, None, :])  # (g, T, P)
    walks = (there[:, None] * decay[:, :, None, :]) @ there[:, None].transpose(2, 3)
    starts = torch.from_numpy(sides).to(device)
    return walks, torch.from_numpy(apart).to(device), starts[0], starts[1]


def _loss_and_slopes(walks: Any, apart: Any, state: list[Any], n_walks: float) -> tuple[Any, list[Any]]:
    """The loss (rates, g), and its derivatives by F, R and the attention logits."""
    import torch

    left, right, attention = state
    share = torch.softmax(attention, dim=2)  # (rates, g, T)
    occurrence = n_walks * torch.einsum("rgt,gtij->rgij", share, walks)
    scores = left @ right.transpose(2, 3)
    tail = torch.log1p(torch.exp(-scores.abs()))
    attracted, repelled = (-scores).clamp_min(0.0) + tail, scores.clamp_min(0.0) + tail
    loss = (occurrence * attracted).sum(dim=(2, 3)) + (apart * repelled).sum(dim=(2, 3))
    sigmoid = torch.sigmoid(scores)
    slope = apart * sigmoid - occurrence * (1.0 - sigmoid)
    by_walk = n_walks * torch.einsum("gtij,rgij->rgt", walks, attracted)
    by_logit = share * (by_walk - (share * by_walk).sum(dim=2, keepdim=True)) + attention
    loss = loss + 0.5 * attention.square().sum(dim=2)
    return loss, [slope @ right, slope.transpose(2, 3) @ left, by_logit]
