"""Deep graph convolutional network: nodes are sorted by a learned channel, then read by convolutions along them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import nn

from rwk.baselines.networks.batches import NodeBatch, rows_by_graph, sum_over_neighbours
from rwk.baselines.networks.softmax import SoftmaxNetwork


class DGCNNLayer(nn.Module):  # type: ignore[misc]
    """tanh(D̃⁻¹ (A + I) x W), D̃ the degrees of A + I."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width_in, width)

    def forward(self, x: Any, batch: NodeBatch) -> Any:
        x = self.linear(x)
        return ((x + sum_over_neighbours(x, batch)) / (1.0 + batch.degrees)[:, None]).tanh()


def sort_pool(x: Any, batch: NodeBatch, k: int) -> Any:
    """The k nodes of each graph with the largest last channel, in that order, filled up with zeros.

    Shape (graphs, k, channels). Ties in the last channel are broken by the sum of the others.
    """
    order = x[:, :-1].sum(dim=1).argsort(descending=True, stable=True)  # stable sorts, the most important key last
    order = order[x[order, -1].argsort(descending=True, stable=True)]
    order = order[batch.owner[order].argsort(stable=True)]
    return rows_by_graph(x, batch, k, order)


class DGCNNNetwork(SoftmaxNetwork):
    """Four graph convolutions, sort pooling, two convolutions along the sorted nodes, two dense layers."""

    def __init__(self, width_in: int, n_classes: int, *, hidden: int, k: int, dropout: float) -> None:
        super().__init__()
        widths = [width_in, hidden, hidden, hidden, 1]
        self.convolutions = nn.ModuleList(DGCNNLayer(a, b) for a, b in pairwise(widths))
        self.k = max(k, 10)  # so that five nodes are left for the second convolution
        # a convolution over all channels of one node is a linear map of each node
        self.first = nn.Linear(sum(widths[1:]), 16)
        self.second = nn.Conv1d(16, 32, kernel_size=5)
        dense = 32 * (self.k // 2 - 4)
        self.head = nn.Sequential(nn.Linear(dense, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, n_classes))

    def forward(self, batch: NodeBatch) -> Any:
        x, parts = batch.x, []
        for convolution in self.convolutions:
            x = convolution(x, batch)
            parts.append(x)
        pooled = sort_pool(torch.cat(parts, dim=1), batch, self.k)
        text = self.first(pooled).relu().transpose(1, 2)  # (graphs, 16, k)
        text = self.second(nn.functional.max_pool1d(text, 2)).relu()
        return self.head(text.flatten(1))
