"""Graph isomorphism network: sums over neighbours, a small perceptron, and sums over the nodes after every layer."""

from __future__ import annotations

from typing import Any

from torch import nn

from rwk.baselines.networks.batches import NodeBatch, sum_over_neighbours, sum_over_nodes
from rwk.baselines.networks.softmax import SoftmaxNetwork


class GINLayer(nn.Module):  # type: ignore[misc]
    """MLP(x_v + Σ of x over the neighbours of v), two layers with batch normalisation between."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(width_in, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x: Any, batch: NodeBatch) -> Any:
        return self.mlp(x + sum_over_neighbours(x, batch))


class GINNetwork(SoftmaxNetwork):
    """`layers` descriptions of the nodes, of which the input is the first; the sum of each is read out linearly."""

    def __init__(self, width_in: int, n_classes: int, *, hidden: int, layers: int, dropout: float) -> None:
        super().__init__()
        widths = [width_in] + [hidden] * (layers - 1)
        self.convolutions = nn.ModuleList(GINLayer(width, hidden) for width in widths[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in widths[:-1])
        self.readouts = nn.ModuleList(nn.Linear(width, n_classes) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: NodeBatch) -> Any:
        x = batch.x
        scores = self.dropout(self.readouts[0](sum_over_nodes(x, batch)))
        for convolution, norm, readout in zip(self.convolutions, self.norms, self.readouts[1:], strict=True):
            x = norm(convolution(x, batch)).relu()
            scores = scores + self.dropout(readout(sum_over_nodes(x, batch)))
        return scores


class GINValueNetwork(GINNetwork):
    """The same network with a single output, trained by squared error."""

    def loss(self, values: Any, batch: NodeBatch, targets: Any) -> Any:
        """Mean squared error of a batch."""
        return nn.functional.mse_loss(values[:, 0], targets)

    def probabilities(self, values: Any) -> Any:
        """The values themselves."""
        return values

    def score(self, values: Any, targets: Any) -> Any:
        """Minus the sum of squared errors."""
        return -((values[:, 0] - targets) ** 2).sum()
