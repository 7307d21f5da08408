"""Weights of many networks side by side, and the optimizers that move them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.stacked_networks import StackedNetwork, Widening, stacked_network
from rwk.runtime.arrays import IntArray

ALIGNED = 4  # weights start at multiples of 16 bytes, as fast matrix products want it


class Part(NamedTuple):
    """Where a weight lies in the rows of the stack."""

    name: str
    start: int
    shape: tuple[int, ...]


class StackedWeights:
    """Weights and running statistics of M networks of one kind: two matrices with one row per network.

    `networks` may differ in the input columns that they know (`columns`, out of `width`) and in the places they read.
    """

    def __init__(self, networks: Sequence[Any], columns: Sequence[IntArray], width: int, device: Any) -> None:
        self.kind: StackedNetwork = stacked_network(networks[0])
        n_places = [self.kind.places(network) for network in networks]
        self.model = networks[int(np.argmax(n_places))]
        self.places = torch.tensor(n_places, device=device)
        self.n_columns = torch.tensor([float(len(own)) for own in columns], device=device)
        self.columns, self.width = list(columns), width
        self.widest_places = max(n_places)
        learned = {name for name, _ in networks[0].named_parameters()}
        states = [self._wide(network, own) for network, own in zip(networks, columns, strict=True)]
        self.parts, self.values = _stacked([{k: v for k, v in one.items() if k in learned} for one in states], device)
        kept = [{k: v for k, v in one.items() if k not in learned and v.is_floating_point()} for one in states]
        self.statistic_parts, self.statistics = _stacked(kept, device)

    def leaves(self) -> dict[str, Any]:
        """The weights by name, (M, ...), as leaves of a new autograd graph; they share the memory of `values`."""
        return {name: view.detach().requires_grad_() for name, view in views(self.values, self.parts).items()}

    def running(self) -> dict[str, Any]:
        """The running statistics by name, views of `statistics`."""
        return views(self.statistics, self.statistic_parts)

    def flat(self, gradients: Sequence[Any]) -> Any:
        """Gradients of the weights, in the order of `leaves`, laid out as `values`."""
        return _laid_out(gradients, self.parts, len(self.values))

    def update_statistics(self, found: dict[str, Any], active: Any) -> None:
        """Replace the running statistics of the networks whose `active` (M, 1) is 1."""
        new = _laid_out([found[part.name] for part in self.statistic_parts], self.statistic_parts, len(self.values))
        self.statistics.copy_(torch.where(active > 0, new, self.statistics))

    def take(self, rows: Any) -> None:
        """Keep some of the networks."""
        self.places, self.n_columns = self.places[rows], self.n_columns[rows]
        self.columns = [self.columns[row] for row in rows.tolist()]
        self.values, self.statistics = self.values[rows].clone(), self.statistics[rows].clone()

    def load_into(self, network: Any, row: int, values: Any, statistics: Any) -> None:
        """Copy a row, of this or of an earlier state, into a network of its own."""
        grown = self.kind.widened(network)
        found = {**views(values[None], self.parts), **views(statistics[None], self.statistic_parts)}
        own = network.state_dict()
        for name, wide in found.items():
            tensor = wide[0]
            if name in grown:
                tensor = _narrow(tensor, grown[name], self._index(grown[name], network, row))
            own[name] = tensor.reshape(own[name].shape).cpu()
        network.load_state_dict(own)

    def _wide(self, network: Any, columns: IntArray) -> dict[str, Any]:
        grown, state = self.kind.widened(network), network.state_dict()
        for name, how in grown.items():
            size = self.width if how.columns else self.widest_places
            index = torch.from_numpy(columns) if how.columns else torch.arange(self.kind.places(network))
            state[name] = _widen(state[name], how, index, size)
        return dict(state)

    def _index(self, how: Widening, network: Any, row: int) -> Any:
        return torch.from_numpy(self.columns[row]) if how.columns else torch.arange(self.kind.places(network))


class Optimizer:
    """Adam or RMSprop of torch, for rows of weights with a learning rate and a number of steps each."""

    def __init__(self, kind: str, rates: Any, weights: Any) -> None:
        self.kind, self.rates = kind, rates  # (M, 1)
        self.first, self.second = torch.zeros_like(weights), torch.zeros_like(weights)
        self.steps = torch.zeros((len(weights), 1), dtype=torch.float64, device=weights.device)

    def step(self, weights: Any, gradients: Any, active: Any) -> None:
        """Move the rows whose `active` (M, 1) is 1; rows of 0 stay as they are."""
        self.steps.add_(active)
        decay = 0.999 if self.kind == "adam" else 0.99
        self.second.add_((1.0 - decay) * active * (gradients * gradients - self.second))
        if self.kind == "rmsprop":
            weights.sub_(active * self.rates * gradients / (self.second.sqrt() + 1e-8))
            return
        self.first.lerp_(gradients, (0.1 * active).expand_as(gradients))
        steps = self.steps.clamp(min=1.0)
        size = (active * self.rates / (1.0 - 0.9**steps)).to(weights.dtype)
        root = (1.0 - decay**steps).sqrt().to(weights.dtype)
        weights.sub_(size * self.first / (self.second.sqrt() / root + 1e-8))

    def take(self, rows: Any) -> None:
        """Keep some of the rows."""
        for name in ("rates", "first", "second", "steps"):
            setattr(self, name, getattr(self, name)[rows].clone())


def views(matrix: Any, parts: Sequence[Part]) -> dict[str, Any]:
    """The parts of a matrix of rows by name, shape (M, ...)."""
    return {
        part.name: matrix[:, part.start : part.start + int(np.prod(part.shape))].unflatten(1, part.shape)
        for part in parts
    }


def _stacked(states: Sequence[dict[str, Any]], device: Any) -> tuple[list[Part], Any]:
    parts, start = [], 0
    for name, tensor in states[0].items():
        parts.append(Part(name, start, tuple(tensor.shape)))
        start += -(-tensor.numel() // ALIGNED) * ALIGNED
    dtype = next((tensor.dtype for tensor in states[0].values()), torch.float32)
    matrix = torch.zeros((len(states), start), dtype=dtype)
    for part, view in zip(parts, views(matrix, parts).values(), strict=True):
        view.copy_(torch.stack([state[part.name] for state in states]))
    return parts, matrix.to(device)


def _laid_out(tensors: Sequence[Any], parts: Sequence[Part], count: int) -> Any:
    pieces = []
    for tensor, part in zip(tensors, parts, strict=True):
        pieces.append(tensor.reshape(count, -1))
        rest = -int(np.prod(part.shape)) % ALIGNED
        if rest:
            pieces.append(tensor.new_zeros((count, rest)))
    return torch.cat(pieces, dim=1)


def _widen(tensor: Any, how: Widening, index: Any, size: int) -> Any:
    old = tensor.reshape(how.view)
    shape = list(old.shape)
    shape[how.axis] = size
    return old.new_zeros(shape).index_copy(how.axis, index, old).flatten(min(1, old.ndim - 1))


def _narrow(tensor: Any, how: Widening, index: Any) -> Any:
    return tensor.reshape(how.view).index_select(how.axis, index.to(tensor.device))
