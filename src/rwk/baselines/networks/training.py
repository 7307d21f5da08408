"""One training loop for all networks."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.batches import GraphTensors
from rwk.runtime.arrays import FloatArray, IntArray

GRAPHS_PER_PREDICTION = 256


class TrainingOptions(NamedTuple):
    """How long and how fast."""

    optimizer: str  # "adam" or "rmsprop"
    learning_rate: float
    halve_every: int  # epochs; 0: the rate stays
    epochs: int
    patience: int  # epochs without a better validation score after which training ends
    batch_size: int
    seed: int


class Trained(NamedTuple):
    """A network at its best epoch."""

    network: Any
    epoch: int
    score: float  # accuracy on the validation graphs; NaN without any
    loss: float


def train(
    make: Callable[[], Any],
    graphs: GraphTensors,
    codes: IntArray,
    split: tuple[IntArray, IntArray],
    options: TrainingOptions,
) -> Trained:
    """Train on the graphs split[0]; with validation graphs split[1] the epoch that does best on them is kept."""
    learn, validate = split
    # the caller's random state stays as it is
    with torch.random.fork_rng(), one_thread(), same_every_time(graphs.x.device):
        torch.manual_seed(options.seed)
        network = make().to(graphs.x.device)
        classes = torch.from_numpy(codes).to(graphs.x.device)
        optimizer, schedule = _optimizer(network, options)
        shuffle = np.random.default_rng(options.seed)
        best = Trained(network, options.epochs, float("nan"), float("nan"))
        kept: Any = None
        for epoch in range(1, options.epochs + 1):
            network.train()
            for chosen in batches_of(shuffle.permutation(learn), options.batch_size):
                optimizer.zero_grad()
                batch = graphs.batch(chosen)
                network.loss(network(batch), batch, classes[batch.numbers]).backward()
                optimizer.step()
            schedule.step()
            if not len(validate):
                continue
            score, loss = _validated(network, graphs, classes, validate)
            if kept is None or (score, -loss) > (best.score, -best.loss):
                best = Trained(network, epoch, score, loss)
                kept = copy.deepcopy(network.state_dict())
            elif epoch - best.epoch >= options.patience:
                break
        if kept is not None:
            network.load_state_dict(kept)
        network.eval()
    return best


def class_scores(network: Any, graphs: GraphTensors) -> FloatArray:
    """Probabilities of the classes, shape (graphs, classes)."""
    network.eval()
    rows = []
    with torch.no_grad(), one_thread():
        for chosen in batches_of(np.arange(graphs.n_graphs), GRAPHS_PER_PREDICTION):
            rows.append(network.probabilities(network(graphs.batch(chosen))).cpu().numpy())
    return np.concatenate(rows).astype(np.float64)


@contextmanager
def one_thread() -> Iterator[None]:
    """Pin torch to one thread: its tensors are small here, more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def same_every_time(device: Any) -> Iterator[None]:
    """Let a GPU add up in one order only, so that a seed gives the same network again; a processor does so anyway."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as cuBLAS asks for it, before its first product
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    # nothing is read here before it is written; a kernel more for every tensor took a quarter of a step of GIN
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled


def batches_of(order: IntArray, size: int) -> list[IntArray]:
    """Runs of `size`; a last one of a single graph joins the one before, for batch normalisation's sake.

    >>> [len(batch) for batch in batches_of(np.arange(9), 4)]
    [4, 5]
    """
    bounds = list(range(size, len(order), size))
    if bounds and len(order) - bounds[-1] == 1:
        bounds.pop()
    return np.split(order, bounds)


def _optimizer(network: Any, options: TrainingOptions) -> tuple[Any, Any]:
    kinds = {"adam": (torch.optim.Adam, {"fused": True}), "rmsprop": (torch.optim.RMSprop, {"foreach": True})}
    kind, fast = kinds[options.optimizer]
    optimizer = kind(network.parameters(), lr=options.learning_rate, **fast)
    every, factor = (options.halve_every, 0.5) if options.halve_every else (1, 1.0)
    return optimizer, torch.optim.lr_scheduler.StepLR(optimizer, step_size=every, gamma=factor)


def _validated(network: Any, graphs: GraphTensors, classes: Any, chosen: IntArray) -> tuple[float, float]:
    """Accuracy and loss on the chosen graphs."""
    network.eval()
    right, loss = 0, 0.0
    with torch.no_grad():
        for part in batches_of(chosen, GRAPHS_PER_PREDICTION):
            batch = graphs.batch(part)
            output, wanted = network(batch), classes[batch.numbers]
            right += int((network.probabilities(output).argmax(dim=1) == wanted).sum())
            loss += float(network.loss(output, batch, wanted)) * len(part)
    return right / len(chosen), loss / len(chosen)
