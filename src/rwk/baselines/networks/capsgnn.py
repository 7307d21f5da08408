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


def route(votes: Any, index: Any, count: int, rounds: int) -> Any:
    """Dynamic routing: votes (children, parents, d) of the children of each of `count` graphs give parent capsules.

    Each round a child shares itself out among the parents, by softmax over agreements so far; a parent is the
    squashed sum of what it gets. Returns (count, parents, d).
    """
    agreement = votes.new_zeros(votes.shape[:2])
    parents = votes.new_zeros((count, *votes.shape[1:]))
    for step in range(rounds):
        shares = agreement.softmax(dim=1)[..., None]
        parents = squash(sum_over(shares * votes, index, count))
        if step < rounds - 1:
            agreement = agreement + (votes * parents[index]).sum(dim=-1)
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
        children = nodes.shape[1]
        scores = self.attention(nodes.flatten(1))
        # attention of each channel over the nodes of a graph, times their number so that the mean stays
        peak = scores.max().detach()
        weights = (scores - peak).exp()
        totals = sum_over(weights, batch.owner, batch.n_graphs)
        nodes = nodes * (weights / totals[batch.owner] * batch.sizes[batch.owner][:, None])[..., None]
        votes = torch.einsum("vci,cpij->vcpj", nodes, self.to_graph)
        votes = votes / batch.sizes[batch.owner].sqrt()[:, None, None, None]  # large graphs would saturate the squash
        owner = batch.owner.repeat_interleave(children)
        graph = route(votes.flatten(0, 1), owner, batch.n_graphs, self.rounds)
        votes = torch.einsum("gpi,pkij->gpkj", graph, self.to_class)
        owner = torch.arange(batch.n_graphs, device=graph.device).repeat_interleave(graph.shape[1])
        return route(votes.flatten(0, 1), owner, batch.n_graphs, self.rounds)

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
