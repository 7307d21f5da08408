"""The four networks, many of one shape at once: the same layers as in gin, dgcnn, patchy_san and capsgnn.

Networks of one stack may know different input columns (a label that is missing in a training fold) and read different
numbers of nodes. Smaller weights are filled up with zeros, which training does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from rwk.baselines.networks.capsgnn import (
    ABSENT,
    ABSENT_WEIGHT,
    PRESENT,
    RECONSTRUCTION_WEIGHT,
    CapsGNNNetwork,
    squash,
)
from rwk.baselines.networks.dgcnn import DGCNNNetwork
from rwk.baselines.networks.gin import GINNetwork
from rwk.baselines.networks.patchy_san import PatchySanNetwork
from rwk.baselines.networks.stacked_batches import rows_by_graph, sum_over_neighbours
from rwk.baselines.networks.stacked_layers import ForwardPass


class Widening(NamedTuple):
    """Where a weight grows: reshaped to `view`, along `axis`, by input columns or else by places."""

    view: tuple[int, ...]
    axis: int
    columns: bool = True


class StackedNetwork(NamedTuple):
    """What the training of many networks of one kind needs."""

    forward: Callable[[ForwardPass, Any, Any], Any]  # of the pass, of a network of the stack, and of the own places
    loss: Callable[[ForwardPass, Any, Any], Any]  # of the pass, the output and the number of own columns; (M,)
    confidence: Callable[[Any], Any]  # of the output; (M, B, classes)
    widened: Callable[[Any], Mapping[str, Widening]]  # the weights that may differ in size
    places: Callable[[Any], int]  # the own places of a network
    nodes: bool = True  # whether nodes are read, not only receptive fields
    widest: bool = False  # whether graphs are padded to the largest
    adds_only: bool = False  # whether equal nodes stay equal, so that they can be merged (`merged_nodes`)


def stacked_network(network: Any) -> StackedNetwork:
    """How networks of the kind of this one are stacked."""
    return KINDS[type(network)]


def gin(run: ForwardPass, network: GINNetwork, own: Any) -> Any:
    """Logits of `GINNetwork`."""
    x = run.batch.x
    scores = [run.linear(run.pooled(x), "readouts.0")]
    for i in range(len(network.convolutions)):
        x = run.summed(x, f"convolutions.{i}.mlp.0")
        x = run.normalized(x, f"convolutions.{i}.mlp.1").relu()
        x = run.normalized(run.linear(x, f"convolutions.{i}.mlp.3"), f"norms.{i}").relu()
        scores.append(run.linear(run.pooled(x), f"readouts.{i + 1}"))
    return run.dropped(torch.stack(scores, dim=1)).sum(dim=1)


def patchy_san(run: ForwardPass, network: PatchySanNetwork, own: Any) -> Any:
    """Logits of `PatchySanNetwork`."""
    places = run.batch.places[:, :, : network.n_fields * network.k]  # (M, B, fields · k, d)
    read = run.linear(places.unflatten(2, (-1, network.k)).flatten(3), "first").relu()
    return run.head(run.windows(read, "second", own))


def dgcnn(run: ForwardPass, network: DGCNNNetwork, own: Any) -> Any:
    """Logits of `DGCNNNetwork`."""
    batch, x, parts = run.batch, run.batch.x, []
    for i in range(len(network.convolutions)):
        x = run.linear(x, f"convolutions.{i}.linear")
        x = ((x + sum_over_neighbours(x, batch)) / (1.0 + batch.degrees)).tanh()
        parts.append(x)
    x = torch.cat(parts, dim=2)
    pooled = rows_by_graph(x, batch, network.k, _sorted_nodes(x.detach(), batch.owner))
    text = run.linear(pooled, "first").relu()  # (M, B, k, 16)
    left, right = text[:, :, : network.k // 2 * 2].unflatten(2, (-1, 2)).unbind(3)
    return run.head(run.windows(torch.where(right > left, right, left), "second", own))


def capsgnn(run: ForwardPass, network: CapsGNNNetwork, own: Any) -> Any:
    """Class capsules of `CapsGNNNetwork`, shape (M, B, classes, hidden)."""
    batch, x, parts = run.batch, run.batch.x, []
    root = torch.rsqrt(1.0 + batch.degrees)
    for i in range(len(network.convolutions)):
        x = run.linear(x, f"convolutions.{i}") * root
        x = (root * (x + sum_over_neighbours(x, batch))).tanh()
        parts.append(x)
    x = torch.cat(parts, dim=2)  # (M, N, children · hidden)
    scores = run.linear(run.linear(x, "attention.0").tanh(), "attention.2")
    inside = batch.real.mT > 0
    scores = torch.where(inside, scores, -torch.inf)
    peak = scores.detach().amax(dim=(1, 2), keepdim=True).clamp(min=-1e30)  # a network may have no graph
    weights = (scores - peak).exp()
    totals = run.pooled(weights) + (1.0 - batch.there)[..., None]
    shares = batch.sizes.to(x.dtype).sqrt()[..., None] / totals
    weights = weights * torch.bmm(batch.pooling.mT, shares)
    children = x.unflatten(2, (-1, network.hidden)) * weights[..., None]
    padded = rows_by_graph(children.flatten(2), batch, batch.widest)
    padded = padded.unflatten(3, children.shape[2:]).transpose(2, 3).contiguous()  # (M, B, children, nodes, hidden)
    graph = route(padded, run.weights["to_graph"], network.rounds)
    return route(graph[:, :, :, None], run.weights["to_class"], network.rounds)


def route(children: Any, weights: Any, rounds: int) -> Any:
    """`capsgnn.route` of children (M, B, channels, nodes, i) by weights (M, parents, channels, i, j)."""
    n_parents, channels, width = weights.shape[1:4]
    joined = weights.flatten(2, 3)  # (M, parents, channels · i, j)
    given = children.sum(dim=3).flatten(2)[:, None].expand(-1, n_parents, -1, -1) / n_parents
    parents = squash(given @ joined)  # (M, parents, B, j)
    agreement: Any = 0.0
    for _ in range(rounds - 1):
        wanted = (parents @ joined.mT).unflatten(3, (channels, width)).permute(0, 2, 3, 4, 1)
        agreement = agreement + children @ wanted  # (M, B, channels, nodes, parents)
        given = (agreement.softmax(dim=4).mT @ children).permute(0, 3, 1, 2, 4).flatten(3)
        parents = squash(given @ joined)
    return parents.transpose(1, 2)


def capsule_loss(run: ForwardPass, capsules: Any, n_columns: Any) -> Any:
    """`CapsGNNNetwork.loss` of each network's batch."""
    lengths = capsule_lengths(capsules)
    every = torch.arange(lengths.shape[2], device=lengths.device)
    true = (run.batch.classes[..., None] == every).to(lengths.dtype)
    missed = (PRESENT - lengths).clamp(min=0.0) ** 2
    invented = (lengths - ABSENT).clamp(min=0.0) ** 2
    margin = (true * missed + ABSENT_WEIGHT * (1.0 - true) * invented).sum(dim=2)
    told = run.linear(run.linear((capsules * true[..., None]).flatten(2), "decoder.0").relu(), "decoder.2")
    means = run.pooled(run.batch.x) / run.batch.sizes.clamp(min=1)[..., None]
    wrong = ((told - means) ** 2).sum(dim=2) / n_columns[:, None]
    return run.mean_over_graphs(margin + RECONSTRUCTION_WEIGHT * wrong)


def capsule_lengths(capsules: Any) -> Any:
    """Lengths of the class capsules."""
    return torch.sqrt((capsules**2).sum(dim=-1) + 1e-9)


def softmax_loss(run: ForwardPass, logits: Any, n_columns: Any) -> Any:
    """Mean cross-entropy of each network's batch."""
    return run.cross_entropy(logits)


def _sorted_nodes(x: Any, owner: Any) -> Any:
    """The nodes of each network, graph by graph, by decreasing last channel, ties by the sum of the others."""
    order = x[..., :-1].sum(dim=2).argsort(dim=1, descending=True, stable=True)
    order = order.gather(1, x[..., -1].gather(1, order).argsort(dim=1, descending=True, stable=True))
    return order.gather(1, owner.gather(1, order).argsort(dim=1, stable=True))


def _same(logits: Any) -> Any:
    return logits


def _widened_gin(network: GINNetwork) -> Mapping[str, Widening]:
    outs = network.convolutions[0].mlp[0].out_features, network.readouts[0].out_features
    return {
        "convolutions.0.mlp.0.weight": Widening((outs[0], -1), 1),
        "readouts.0.weight": Widening((outs[1], -1), 1),
    }


def _widened_patchy_san(network: PatchySanNetwork) -> Mapping[str, Widening]:
    return {
        "first.weight": Widening((network.first.out_features, network.k, -1), 2),
        "head.0.weight": Widening((network.head[0].out_features, network.second.out_channels, -1), 2, columns=False),
    }


def _widened_dgcnn(network: DGCNNNetwork) -> Mapping[str, Widening]:
    return {
        "convolutions.0.linear.weight": Widening((network.convolutions[0].linear.out_features, -1), 1),
        "head.0.weight": Widening((network.head[0].out_features, network.second.out_channels, -1), 2, columns=False),
    }


def _widened_capsgnn(network: CapsGNNNetwork) -> Mapping[str, Widening]:
    return {
        "convolutions.0.weight": Widening((network.convolutions[0].out_features, -1), 1),
        "decoder.2.weight": Widening((-1, network.decoder[2].in_features), 0),
        "decoder.2.bias": Widening((-1,), 0),
    }


def _windows_of(network: Any) -> int:
    return int(network.head[0].in_features // network.second.out_channels)


KINDS: Mapping[type, StackedNetwork] = {
    GINNetwork: StackedNetwork(gin, softmax_loss, _same, _widened_gin, lambda network: 1, adds_only=True),
    PatchySanNetwork: StackedNetwork(
        patchy_san, softmax_loss, _same, _widened_patchy_san, _windows_of, nodes=False
    ),
    DGCNNNetwork: StackedNetwork(dgcnn, softmax_loss, _same, _widened_dgcnn, _windows_of),
    CapsGNNNetwork: StackedNetwork(
        capsgnn, capsule_loss, capsule_lengths, _widened_capsgnn, lambda network: 1, widest=True
    ),
}  # fmt: skip
