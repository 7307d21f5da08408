"""The networks of a stack, which graphs each sees at which step, and how much room the steps need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.stacked_batches import Shape, SharedGraphs
from rwk.baselines.networks.stacked_networks import StackedNetwork
from rwk.baselines.networks.training import TrainingOptions
from rwk.runtime.arrays import IntArray


class Member(NamedTuple):
    """A network of a stack, and what it learns from; numbers are indices in the whole set of graphs."""

    network: Any  # with its initial weights, on the CPU
    columns: IntArray  # the columns of the input that it knows, in its order
    learn: IntArray
    validate: IntArray
    test: IntArray
    options: TrainingOptions  # only seed and learning rate may differ in a stack
    factor: Any = None  # (d,) see `InputScale`
    shift: Any = None


class BatchPlan(NamedTuple):
    """Batches of all networks, step by step."""

    numbers: Any  # (steps, M, B), −1 for none, on the device
    host: IntArray
    shapes: list[Shape]

    def of_rows(self, rows: IntArray) -> BatchPlan:
        """The batches of some of the networks."""
        return self._replace(numbers=self.numbers[:, torch.from_numpy(rows).to(self.numbers.device)])


def planned(batches: Sequence[Sequence[IntArray]], size: int, graphs: SharedGraphs, kind: StackedNetwork) -> BatchPlan:
    """Batches of up to `size` graphs of every network, padded with −1, and the room that each step needs."""
    steps = max((len(own) for own in batches), default=0)
    host = np.full((steps, len(batches), size + 1), -1, np.int64)  # a single last graph joins the batch before
    for at, own in enumerate(batches):
        for step, chosen in enumerate(own):
            host[step, at, : len(chosen)] = chosen
    sizes = graphs.host_sizes[host]
    nodes, widest = sizes.sum(axis=2).max(axis=1, initial=0), sizes.max(axis=(1, 2), initial=0)
    shapes = [
        Shape(roomy(int(n), 4) if kind.nodes else 0, roomy(int(w), 2) if kind.widest else 0)
        for n, w in zip(nodes, widest, strict=True)
    ]
    numbers, device = torch.from_numpy(host), graphs.x.device
    if device.type == "cuda":
        numbers = numbers.pin_memory().to(device, non_blocking=True)
    return BatchPlan(numbers, host, shapes)


def roomy(need: int, steps: int) -> int:
    """The next size of a coarse ladder with `steps` steps per octave, so that few shapes occur.

    >>> [roomy(n, 4) for n in (1, 9, 33, 1000, 1025)]
    [16, 16, 40, 1024, 1280]
    """
    if need <= 16:
        return 16
    step = (1 << ((need - 1).bit_length() - 1)) // steps
    return -(-need // step) * step
