"""The graph neural tangent kernel on a GPU: graphs of similar size in tiles, all matrices of a tile at once.

Graphs are sorted from the largest to the smallest and cut into groups; a tile is two groups, and holds Σ and Θ of all
its pairs as (row graph, node, column graph, node). An aggregation is then a product with adjacency matrices from the
left and one from the right. Padding nodes have no neighbours and root 0, so their values stay 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from rwk.baselines.gntk_graphs import TangentGraphs
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.device import chunk_bytes

ALIVE: Final = 10  # arrays in memory, each as large as Σ of a tile
TILE: Final = 2**26  # entries of Σ that keep a GPU busy; larger tiles would only mix sizes


class GraphGroup(NamedTuple):
    """Some graphs, padded to the same number n of nodes."""

    members: IntArray
    closed: Any  # (g, n, n) adjacency with loops, rows times c_u
    labels: Any  # (g, n)
    label_weight: float
    points: Any  # (g, n, d), 0 for padding
    there: Any  # (g, n), whether there is a node (or padding)
    roots: Any  # (blocks, g, n), 0 for padding


def kernel_on_device(
    rows: TangentGraphs, columns: TangentGraphs | None, layers: int, jumping: bool, wanted: Sequence[int], device: Any
) -> FloatArray:
    """The kernel of all pairs for each wanted number of blocks, shape (wanted, rows, columns)."""
    other = rows if columns is None else columns
    per_tile = min(TILE, chunk_bytes(device) // (8 * ALIVE))
    mine = list(_groups(rows, per_tile, device))
    theirs = mine if columns is None else list(_groups(other, per_tile, device))
    out = np.empty((len(wanted), len(rows.offsets) - 1, len(other.offsets) - 1))
    for k, left in enumerate(mine):
        for right in theirs[k:] if columns is None else theirs:
            values = _tile(left, right, layers, jumping, wanted).cpu().numpy()
            out[:, left.members[:, None], right.members] = values
            if columns is None:
                out[:, right.members[:, None], left.members] = values.swapaxes(1, 2)
    return out


def _groups(graphs: TangentGraphs, per_tile: int, device: Any) -> Iterator[GraphGroup]:
    """The graphs, largest first, in groups so that two fit into a tile; a very large graph is a group of its own."""
    sizes = np.diff(graphs.offsets)
    order = np.argsort(-sizes, kind="stable")
    most = int(per_tile**0.5)
    while len(order):
        n = int(sizes[order[0]])
        count = max(1, most // n)
        yield _group(graphs, order[:count], n, device)
        order = order[count:]


def _group(graphs: TangentGraphs, members: IntArray, n: int, device: Any) -> GraphGroup:
    closed = np.zeros((len(members), n, n))
    labels, there = np.zeros((len(members), n), np.int64), np.zeros((len(members), n), np.bool_)
    roots = np.zeros((len(graphs.roots), len(members), n))
    points = np.zeros((len(members), n, graphs.points.shape[1]))
    for at, member in enumerate(members):
        nodes = slice(graphs.offsets[member], graphs.offsets[member + 1])
        own = np.arange(nodes.stop - nodes.start)
        degrees = np.diff(graphs.first[nodes.start : nodes.stop + 1])
        neighbours = graphs.neighbours[graphs.first[nodes.start] : graphs.first[nodes.stop]]
        closed[at, own, own] = 1.0
        closed[at, np.repeat(own, degrees), neighbours] = 1.0
        closed[at, own] *= graphs.scale[nodes, None]
        labels[at, own], there[at, own] = graphs.labels[nodes], True
        roots[:, at, own], points[at, own] = graphs.roots[:, nodes], graphs.points[nodes]

    def moved(array: Any) -> Any:
        return torch.from_numpy(array).to(device)

    described = moved(labels), graphs.label_weight, moved(points)
    return GraphGroup(members, moved(closed), *described, moved(there), moved(roots))


def _tile(left: GraphGroup, right: GraphGroup, layers: int, jumping: bool, wanted: Sequence[int]) -> Any:
    """The kernel of all pairs of two groups, (wanted, left, right)."""
    equal = left.labels[:, :, None, None] == right.labels
    sigma = (equal & left.there[:, :, None, None] & right.there).double() * left.label_weight
    if left.points.shape[2]:
        sigma += torch.einsum("iad,jbd->iajb", left.points, right.points)
    theta = sigma.clone()
    totals = [_summed(theta)]
    for block in range(max(wanted)):
        sigma, theta = (_aggregated(left, matrix, right) for matrix in (sigma, theta))
        norm = left.roots[block][:, :, None, None] * right.roots[block]
        for _ in range(layers):
            sigma, theta = _relu(sigma, theta, norm)
        totals.append(totals[-1] + _summed(theta) if jumping else _summed(theta))
    return torch.stack([totals[blocks] for blocks in wanted])


def _summed(theta: Any) -> Any:
    return theta.sum(dim=(1, 3))


def _aggregated(left: GraphGroup, matrix: Any, right: GraphGroup) -> Any:
    """Sums over the closed neighbourhoods on both sides, scaled."""
    half = torch.einsum("iab,ibjc->iajc", left.closed, matrix)
    return torch.einsum("iajc,jdc->iajd", half, right.closed)


def _relu(sigma: Any, theta: Any, norm: Any) -> tuple[Any, Any]:
    """One fully connected layer; padding has Σ = Θ = norm = 0, and keeps it."""
    rho = sigma.div_(norm.clamp(min=torch.finfo(norm.dtype).tiny)).clamp_(-1.0, 1.0)
    kappa = rho.acos().neg_().add_(pi).div_(pi)
    rest = rho.square().neg_().add_(1.0).sqrt_().div_(pi)
    sigma = rest.addcmul_(rho, kappa).mul_(norm)
    return sigma, theta.mul_(kappa).add_(sigma)
