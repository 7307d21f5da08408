"""Stacks in training, kept on disk: a stopped run goes on at the last epoch that was kept.

A file holds all that the next epochs depend on: weights, running statistics, the optimizer, the best networks so far,
and the random states that order the graphs; dropout depends on seed and step alone. So a stack that was stopped ends
with the networks that it would have had anyway, up to rounding. Its name is a digest of the networks and of what they
learn from, and no other stack takes it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.baselines.networks.stack_plan import Member
from rwk.gram.kept import Kept
from rwk.runtime.arrays import FloatArray, IntArray

SECONDS_BETWEEN: Final = 60.0  # two writings of one stack


class StackFiles(NamedTuple):
    """Where the stacks of one network on one dataset are kept, and what their names begin with."""

    kept: Kept
    title: str

    def title_of(self, members: Sequence[Member], classes: IntArray) -> str:
        """The name of a stack: the same for the same networks with the same folds, classes and options."""
        digest = hashlib.sha256(np.ascontiguousarray(classes).tobytes())
        for member in members:
            arrays = (member.columns, member.learn, member.validate, member.test, member.factor, member.shift)
            words = [repr(member.network), list(member.options), [np.shape(each) for each in arrays]]
            digest.update(json.dumps(words).encode())
            for each in arrays:
                digest.update(b"" if each is None else np.ascontiguousarray(each).tobytes())
            for weights in member.network.state_dict().values():
                digest.update(weights.numpy().tobytes())
        return f"{self.title}.stack-{digest.hexdigest()[:12]}"


class Progress(NamedTuple):
    """How far the networks of a stack have come; M networks, of which `rows` are still in the stack."""

    epoch: int
    rows: IntArray
    live: NDArray[np.bool_]  # of the rows
    found: FloatArray  # (M, 3): epoch, score and loss of the best network so far
    histories: list[list[float]]


@dataclass(slots=True)
class Checkpoint:
    """The file of one stack."""

    files: StackFiles
    title: str
    clock: Callable[[], float] = time.monotonic
    last: float = field(init=False)

    def __post_init__(self) -> None:
        self.last = self.clock()

    def due(self) -> bool:
        """Whether the last writing is long ago."""
        return self.clock() - self.last >= SECONDS_BETWEEN

    def write(self, progress: Progress, tensors: dict[str, Any], orders: Sequence[Mapping[str, Any]]) -> None:
        """Keep the state after an epoch; `orders` are the random states from which the next epoch is drawn."""
        self.files.kept.write(
            self.title,
            epoch=progress.epoch,
            rows=progress.rows,
            live=progress.live,
            found=progress.found,
            lengths=[len(history) for history in progress.histories],
            histories=np.array([score for history in progress.histories for score in history]),
            orders=json.dumps(list(orders)),
            **{f"tensor_{name}": tensor.detach().cpu().numpy() for name, tensor in tensors.items()},
        )
        self.last = self.clock()

    def read(self, device: Any) -> tuple[Progress, dict[str, Any], list[dict[str, Any]]] | None:
        """What `write` kept; None if there is nothing, or a file that is damaged."""
        stored = self.files.kept.read(self.title)
        if stored is None:
            return None
        ends = np.cumsum(stored["lengths"])[:-1]
        histories = [part.tolist() for part in np.split(stored["histories"], ends)]
        progress = Progress(int(stored["epoch"]), stored["rows"], stored["live"], stored["found"], histories)
        tensors = {
            name.removeprefix("tensor_"): torch.from_numpy(values).to(device)
            for name, values in stored.items()
            if name.startswith("tensor_")
        }
        return progress, tensors, json.loads(str(stored["orders"]))
