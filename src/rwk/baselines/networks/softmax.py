"""Loss and probabilities of networks that end with a softmax."""

from __future__ import annotations

from typing import Any

from torch import nn

from rwk.baselines.networks.batches import NodeBatch


class SoftmaxNetwork(nn.Module):  # type: ignore[misc]
    """A network whose forward pass returns logits, trained by cross-entropy."""

    def loss(self, logits: Any, batch: NodeBatch, classes: Any) -> Any:
        """Mean cross-entropy of a batch."""
        return nn.functional.cross_entropy(logits, classes)

    def probabilities(self, logits: Any) -> Any:
        """Probabilities of the classes."""
        return logits.softmax(dim=1)

    def score(self, logits: Any, classes: Any) -> Any:
        """The number of graphs whose class is predicted."""
        return (self.probabilities(logits).argmax(dim=1) == classes).sum()
