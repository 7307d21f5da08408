"""Layers of many networks of one shape at once: a weight of M networks is one tensor (M, ...)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import nn

from rwk.baselines.networks.stacked_batches import StackedBatch, sum_over_neighbours

MOMENTUM: Final = 0.1  # both as in torch.nn.BatchNorm1d
EPSILON: Final = 1e-5


@dataclass(slots=True)
class ForwardPass:
    """One pass of M networks over their batches.

    In training, `draws` seeds the dropout of each network, shape (M,), and batch normalisation leaves the new running
    statistics in `updates`.
    """

    weights: Mapping[str, Any]
    batch: StackedBatch
    draws: Any = None  # None in evaluation
    dropout: float = 0.0
    updates: dict[str, Any] = field(default_factory=dict)

    def linear(self, x: Any, name: str) -> Any:
        """x W^T + b of the layer `name`, over the last dimension of x (M, ..., in)."""
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        flat = torch.baddbmm(bias[:, None], x.flatten(1, -2), weight.flatten(2).mT)
        return flat.reshape(*x.shape[:-1], -1)

    def summed(self, x: Any, name: str) -> Any:
        """(x + Σ of x over the neighbours) W^T + b; sums are taken where rows are shorter."""
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        if weight.shape[1] >= weight.shape[2]:
            return torch.baddbmm(bias[:, None], x + sum_over_neighbours(x, self.batch), weight.mT)
        x = torch.bmm(x, weight.mT)
        return x + sum_over_neighbours(x, self.batch) + bias[:, None]

    def pooled(self, x: Any) -> Any:
        """Sum of the rows of each graph's nodes, shape (M, B, d)."""
        return torch.bmm(self.batch.pooling, x)

    def normalized(self, x: Any, name: str) -> Any:
        """Batch normalisation of the nodes (M, N, d), as if there were no padding."""
        gain, shift, mean, variance = (
            self.weights[f"{name}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")
        )
        if self.draws is None:
            factor = gain * torch.rsqrt(variance + EPSILON)
            return x * factor[:, None] + (shift - mean * factor)[:, None]
        counts = self.batch.real.sum(dim=2).clamp(min=1.0)  # (M, 1)
        found, own_mean, own_variance = _Normalized.apply(x, gain, shift, self.batch.real, counts)
        unbiased = own_variance * (counts / (counts - 1.0).clamp(min=1.0))
        self.updates[f"{name}.running_mean"] = torch.lerp(mean, own_mean, MOMENTUM)
        self.updates[f"{name}.running_var"] = torch.lerp(variance, unbiased, MOMENTUM)
        return found

    def dropped(self, x: Any) -> Any:
        """Dropout in training: what each network drops depends on its own draws alone. Called once per pass."""
        if self.draws is None or not self.dropout:
            return x
        each = torch.arange(x[0].numel(), device=x.device)
        kept = uniform(self.draws[:, None], each).reshape(x.shape) >= self.dropout
        return torch.where(kept, x * (1.0 / (1.0 - self.dropout)), 0.0)

    def windows(self, x: Any, name: str, own: Any) -> Any:
        """Convolution along dimension 2 of x (M, B, length, in), then ReLU, shape (M, B, out · places).

        `own` (M,) is the number of places that a network has; further ones are zero.
        """
        weight = self.weights[f"{name}.weight"]  # (M, out, in, reach)
        read = x.unfold(2, weight.shape[3], 1)  # (M, B, places, in, reach)
        found = self.linear(read.flatten(3), name).relu()
        there = torch.arange(found.shape[2], device=x.device) < own[:, None]
        return (found * there[:, None, :, None]).transpose(2, 3).flatten(2)

    def head(self, x: Any) -> Any:
        """Two dense layers with dropout between, shape (M, B, classes)."""
        return self.linear(self.dropped(self.linear(x, "head.0").relu()), "head.3")

    def mean_over_graphs(self, values: Any) -> Any:
        """Mean of a value per graph (M, B) over the graphs that are there, shape (M,)."""
        there = self.batch.there
        return torch.where(there > 0, values, 0.0).sum(dim=1) / there.sum(dim=1).clamp(min=1.0)

    def cross_entropy(self, logits: Any) -> Any:
        """Mean cross-entropy of each network's batch, shape (M,)."""
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), self.batch.classes.flatten(), reduction="none")
        return self.mean_over_graphs(loss.reshape(logits.shape[:2]))


def uniform(seeds: Any, numbers: Any) -> Any:
    """Random numbers in [0, 1) from a hash of seed and number (SplitMix64), the same on every device.

    >>> values = uniform(torch.arange(3)[:, None], torch.arange(1000))
    >>> tuple(values.shape), 0.47 < float(values.mean()) < 0.53, len(values.unique()) > 2900
    ((3, 1000), True, True)
    """
    mixed = _mix(_mix(seeds) + numbers * -7046029254386353131)
    return ((mixed >> 40) & 0xFFFFFF).to(torch.float32) * 2.0**-24


def _mix(values: Any) -> Any:
    values = (values ^ ((values >> 30) & (2**34 - 1))) * -4658895280553007687
    values = (values ^ ((values >> 27) & (2**37 - 1))) * -7723592293110705685
    return values ^ ((values >> 31) & (2**33 - 1))


class _Normalized(torch.autograd.Function):  # type: ignore[misc]
    """Batch normalisation over rows, each counted `real` times; mean and (biased) variance are returned beside."""

    @staticmethod
    def forward(ctx: Any, x: Any, gain: Any, shift: Any, real: Any, counts: Any) -> Any:
        share = real / counts[:, None]  # (M, 1, N)
        mean = torch.bmm(share, x)  # (M, 1, d)
        x = x - mean
        variance = torch.bmm(share, x * x)
        root = torch.rsqrt(variance + EPSILON)
        x = x * root
        ctx.save_for_backward(x, root * gain[:, None], share)
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(shift[:, None], x, gain[:, None]), mean[:, 0], variance[:, 0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        x, factor, share = ctx.saved_tensors
        given = gradients[0]
        # the gradient of padding is zero already: nothing reads it
        every = torch.ones_like(share)
        for_gain, for_shift = torch.bmm(every, given * x), torch.bmm(every, given)
        for_x = factor * (given - share.mT * (for_shift + x * for_gain))
        return for_x, for_gain[:, 0], for_shift[:, 0], None, None
