"""PATCHY-SAN: ordinary convolutions over receptive fields of ordered nodes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from rwk.baselines.networks.batches import NodeBatch
from rwk.baselines.networks.softmax import SoftmaxNetwork


class PatchySanNetwork(SoftmaxNetwork):
    """One convolution over each field of `k` nodes, one over ten fields, two dense layers."""

    def __init__(self, width_in: int, n_classes: int, *, n_fields: int, k: int, dropout: float) -> None:
        super().__init__()
        self.n_fields, self.k = n_fields, k
        # a convolution over all nodes of one field is a linear map of each field
        self.first = nn.Linear(k * width_in, 16)
        reach = min(10, n_fields)
        self.second = nn.Conv1d(16, 8, kernel_size=reach)
        dense = 8 * (n_fields - reach + 1)
        self.head = nn.Sequential(nn.Linear(dense, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, n_classes))

    def forward(self, batch: NodeBatch) -> Any:
        empty = batch.x.new_zeros((1, batch.x.shape[1]))
        places = torch.cat([batch.x, empty])[batch.fields]  # −1 reads the row of zeros; (graphs, fields · k, d)
        read = self.first(places.reshape(batch.n_graphs, -1, self.first.in_features)).relu().transpose(1, 2)
        return self.head(self.second(read).relu().flatten(1))
