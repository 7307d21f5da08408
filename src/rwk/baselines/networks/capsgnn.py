"""Capsule graph network: node capsules from every layer, routed into graph capsules and those into class capsules.

A capsule is a vector whose length, below 1 after squashing, says how sure it is that its part is there.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from rwk.baselines.networks.batches import Batch, sum_over

PRESENT, ABSENT, ABSENT_WEIGHT, RECONSTRUCTION_WEIGHT = 0.9, 0.1, 0.5, 0.1


def squash(capsules: Any) -> Any:
    """Capsules of the same direction and length s²/(1 + s²), s being the length before."""
    squares = (capsules**2).sum(dim=-1, keepdim=True)
    return capsules * (squares / (1.0 + squares) / torch.sqrt(squares + 1e-9))


def route(children: Any, weights: Any, present: Any, rounds: int) -> Any:
    """Dynamic routing of child capsules (graphs, nodes, channels, i) into parent capsules (graphs, parents, j).

    A child of channel c votes for parent p with its product by `weights[c, p]` (i, j). Each round a child shares itself
    out among the parents, by softmax over agreements so far; a parent is the squashed sum of the votes it gets, and
    agreement grows by the product of vote and parent. Weights are applied to sums of children, never to each child.
    `present` (graphs, nodes) is 0 where a graph has fewer nodes.
    """
    agreement = children.new_zeros((*children.shape[:3], weights.shape[1]))
    parents = children.new_zeros(0)
    for step in range(rounds):
        shares = agreement.softmax(dim=3) * present[:, :, None, None]
        given = torch.einsum("gnci,gncp->gcpi", children, shares)
        parents = squash(torch.einsum("gcpi,cpij->gpj", given, weights))
        if step < rounds - 1:
            wanted = torch.einsum("cpij,gpj->gcpi", weights, parents)
            agreement = agreement + torch.einsum("gnci,gcpi->gncp", children, wanted)
    return parents


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
        self.to_graph = nn.Parameter(torch.empty(children, graph_capsules, hidden, hidden))
        self.to_class = nn.Parameter(torch.empty(graph_capsules, n_classes, hidden, hidden))
        for weights in (self.to_graph, self.to_class):
            nn.init.normal_(weights, std=hidden**-0.5)
        self.decoder = nn.Sequential(
            nn.Linear(n_classes * hidden, hidden * 2), nn.ReLU(), nn.Linear(hidden * 2, width_in)
        )

    def forward(self, batch: Batch) -> Any:
        """Class capsules, shape (graphs, classes, hidden)."""
        nodes = self._node_capsules(batch)  # (V, children, hidden)
        scores = self.attention(nodes.flatten(1))
        # attention of each channel over the nodes of a graph, adding up to their number
        peak = scores.max().detach()
        weights = (scores - peak).exp()
        totals = sum_over(weights, batch.owner, batch.n_graphs)
        sizes = batch.sizes
        # large graphs would saturate the squash: sums of n capsules are divided by sqrt(n)
        nodes = nodes * (weights / totals[batch.owner] * sizes[batch.owner].sqrt()[:, None])[..., None]
        place = torch.arange(len(nodes), device=nodes.device) - (sizes.cumsum(0) - sizes)[batch.owner]
        shape = (batch.n_graphs, int(sizes.max()))
        padded = nodes.new_zeros((*shape, *nodes.shape[1:])).index_put((batch.owner, place), nodes)
        present = nodes.new_zeros(shape)
        present[batch.owner, place] = 1.0
        graph = route(padded, self.to_graph, present, self.rounds)  # (graphs, graph capsules, hidden)
        return route(graph[:, None], self.to_class, present[:, :1], self.rounds)

    def loss(self, batch: Batch, classes: Any) -> Any:
        """Margin loss of the class capsules' lengths, and how well the true one tells what nodes there are."""
        capsules = self(batch)
        lengths = torch.sqrt((capsules**2).sum(dim=-1) + 1e-9)
        true = nn.functional.one_hot(classes, lengths.shape[1]).to(lengths.dtype)
        missed = (PRESENT - lengths).clamp(min=0.0) ** 2
        invented = (lengths - ABSENT).clamp(min=0.0) ** 2
        margin = (true * missed + ABSENT_WEIGHT * (1.0 - true) * invented).sum(dim=1).mean()
        told = self.decoder((capsules * true[..., None]).flatten(1))
        means = sum_over(batch.x, batch.owner, batch.n_graphs) / batch.sizes[:, None]
        return margin + RECONSTRUCTION_WEIGHT * nn.functional.mse_loss(told, means)

    def probabilities(self, batch: Batch) -> Any:
        """Lengths of the class capsules, over their sum."""
        lengths = torch.sqrt((self(batch) ** 2).sum(dim=-1) + 1e-9)
        return lengths / lengths.sum(dim=1, keepdim=True)

    def _node_capsules(self, batch: Batch) -> Any:
        """tanh of D̃^-1/2 (A + I) D̃^-1/2 x W of every layer, cut into channels."""
        ones = torch.ones(len(batch.heads), dtype=batch.x.dtype, device=batch.x.device)
        root = torch.rsqrt(1.0 + sum_over(ones, batch.heads, len(batch.x)))[:, None]
        x, parts = batch.x, []
        for linear in self.convolutions:
            x = linear(x) * root
            x = (root * (x + sum_over(x[batch.tails], batch.heads, len(x)))).tanh()
            parts.append(x.reshape(len(x), self.channels, self.hidden))
        return torch.cat(parts, dim=1)
