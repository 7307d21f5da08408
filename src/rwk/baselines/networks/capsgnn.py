"""Capsule graph network: node capsules from every layer, routed into graph capsules and those into class capsules.

A capsule is a vector; its length, which squashing keeps below 1, is the confidence that what it stands for is present.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from rwk.baselines.networks.batches import (
    NodeBatch,
    rows_by_graph,
    spread_over_nodes,
    sum_over_neighbours,
    sum_over_nodes,
)

PRESENT, ABSENT, ABSENT_WEIGHT, RECONSTRUCTION_WEIGHT = 0.9, 0.1, 0.5, 0.1


def squash(capsules: Any) -> Any:
    """Capsules of the same direction and length s²/(1 + s²), s being the length before."""
    squares = (capsules**2).sum(dim=-1, keepdim=True)
    return capsules * (squares / (1.0 + squares) / torch.sqrt(squares + 1e-9))


def route(children: Any, weights: Any, rounds: int) -> Any:
    """Dynamic routing of child capsules (graphs, channels, nodes, i) into parent capsules (graphs, parents, j).

    The vote of a child of channel c for parent p is its product with `weights[p, c]` (i, j). Each round a child is
    divided among the parents by the softmax of its agreements so far, at first evenly; a parent is the squashed sum of
    its votes, and agreement grows by the inner product of vote and parent. Weights are applied to sums of children, not
    to each child. Padding children are zero.
    """
    n_parents, channels, width, _ = weights.shape
    joined = weights.flatten(1, 2)  # (parents, channels · i, j)
    given = children.sum(dim=2).flatten(1).expand(n_parents, -1, -1) / n_parents  # (parents, graphs, channels · i)
    parents = squash(given @ joined)
    agreement: Any = 0.0
    for _ in range(rounds - 1):
        wanted = (parents @ joined.mT).reshape(n_parents, -1, channels, width).permute(1, 2, 3, 0)
        agreement = agreement + children @ wanted  # (graphs, channels, nodes, parents)
        given = (agreement.softmax(dim=3).mT @ children).permute(2, 0, 1, 3).flatten(2)
        parents = squash(given @ joined)
    return parents.transpose(0, 1)


class CapsGNNNetwork(nn.Module):  # type: ignore[misc]
    """Graph convolutions with channels, attention over nodes, two levels of routing."""

    def __init__(
        self, width_in: int, n_classes: int, *, hidden: int, shape: tuple[int, int], graph_capsules: int, rounds: int
    ) -> None:
        super().__init__()
        layers, channels = shape
        self.hidden, self.channels, self.rounds = hidden, channels, rounds
        widths = [width_in] + [hidden * channels] * (layers - 1)
        self.convolutions = nn.ModuleList(nn.Linear(width, hidden * channels) for width in widths)
        children = layers * channels
        self.attention = nn.Sequential(
            nn.Linear(children * hidden, children * hidden // 4), nn.Tanh(), nn.Linear(children * hidden // 4, children)
        )
        self.to_graph = nn.Parameter(torch.empty(graph_capsules, children, hidden, hidden))
        self.to_class = nn.Parameter(torch.empty(n_classes, graph_capsules, hidden, hidden))
        for weights in (self.to_graph, self.to_class):
            nn.init.normal_(weights, std=hidden**-0.5)
        self.decoder = nn.Sequential(
            nn.Linear(n_classes * hidden, hidden * 2), nn.ReLU(), nn.Linear(hidden * 2, width_in)
        )

    def forward(self, batch: NodeBatch) -> Any:
        """Class capsules, shape (graphs, classes, hidden)."""
        nodes = self._node_capsules(batch)  # (V, children, hidden)
        scores = self.attention(nodes.flatten(1))
        # attention of each channel over the nodes of a graph, adding up to their number
        peak = scores.max().detach()
        weights = (scores - peak).exp()
        totals = sum_over_nodes(weights, batch)
        # sums of n capsules are divided by sqrt(n), because large graphs would saturate the squashing
        nodes = nodes * (weights * spread_over_nodes(batch.sizes.sqrt()[:, None] / totals, batch))[..., None]
        padded = rows_by_graph(nodes.flatten(1), batch, batch.widest)
        padded = padded.unflatten(2, nodes.shape[1:]).transpose(1, 2).contiguous()
        graph = route(padded, self.to_graph, self.rounds)  # (graphs, graph capsules, hidden)
        return route(graph[:, :, None], self.to_class, self.rounds)

    def loss(self, capsules: Any, batch: NodeBatch, classes: Any) -> Any:
        """Margin loss of the class capsules' lengths, plus the error of the mean node decoded from the true one."""
        lengths = torch.sqrt((capsules**2).sum(dim=-1) + 1e-9)
        true = nn.functional.one_hot(classes, lengths.shape[1]).to(lengths.dtype)
        missed = (PRESENT - lengths).clamp(min=0.0) ** 2
        invented = (lengths - ABSENT).clamp(min=0.0) ** 2
        margin = (true * missed + ABSENT_WEIGHT * (1.0 - true) * invented).sum(dim=1).mean()
        told = self.decoder((capsules * true[..., None]).flatten(1))
        means = sum_over_nodes(batch.x, batch) / batch.sizes[:, None]
        return margin + RECONSTRUCTION_WEIGHT * nn.functional.mse_loss(told, means)

    def probabilities(self, capsules: Any) -> Any:
        """Lengths of the class capsules, divided by their sum."""
        lengths = torch.sqrt((capsules**2).sum(dim=-1) + 1e-9)
        return lengths / lengths.sum(dim=1, keepdim=True)

    def score(self, capsules: Any, classes: Any) -> Any:
        """The number of graphs whose class is predicted."""
        return (self.probabilities(capsules).argmax(dim=1) == classes).sum()

    def _node_capsules(self, batch: NodeBatch) -> Any:
        """tanh of D̃^-1/2 (A + I) D̃^-1/2 x W of every layer, cut into channels."""
        root = torch.rsqrt(1.0 + batch.degrees)[:, None]
        x, parts = batch.x, []
        for linear in self.convolutions:
            x = linear(x) * root
            x = (root * (x + sum_over_neighbours(x, batch))).tanh()
            parts.append(x.reshape(len(x), self.channels, self.hidden))
        return torch.cat(parts, dim=1)
