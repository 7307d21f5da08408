"""The training loop of all networks."""

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
    """Settings of the training loop."""

    optimizer: str  # "adam" or "rmsprop"
    learning_rate: float
    halve_every: int  # epochs after which the learning rate is halved; 0 for never
    epochs: int
    patience: int  # epochs without a better validation score after which training ends
    batch_size: int
    seed: int


class Trained(NamedTuple):
    """A network at its best epoch."""

    network: Any
    epoch: int
    score: float  # mean score of the validation graphs (of classes: accuracy); NaN without any
    loss: float
    history: tuple[float, ...] = ()  # score of the validation graphs after each epoch


def train(
    make: Callable[[], Any],
    graphs: GraphTensors,
    targets: IntArray | FloatArray,
    split: tuple[IntArray, IntArray],
    options: TrainingOptions,
) -> Trained:
    """Train on the graphs split[0]; the epoch that does best on the validation graphs split[1], if any, is kept.

    Targets are codes of classes, or numbers for a network that predicts numbers.
    """
    learn, validate = split
    # the caller's random state is not changed
    with torch.random.fork_rng(), one_thread(), same_every_time(graphs.x.device):
        torch.manual_seed(options.seed)
        network = make().to(graphs.x.device)
        wanted = torch.from_numpy(targets).to(graphs.x.device)
        optimizer, schedule = _optimizer(network, options)
        shuffle = np.random.default_rng(options.seed)
        best = Trained(network, options.epochs, float("nan"), float("nan"))
        kept: Any = None
        history: list[float] = []
        for epoch in range(1, options.epochs + 1):
            network.train()
            for chosen in batches_of(shuffle.permutation(learn), options.batch_size):
                optimizer.zero_grad()
                batch = graphs.batch(chosen)
                network.loss(network(batch), batch, wanted[batch.numbers]).backward()
                optimizer.step()
            schedule.step()
            if not len(validate):
                continue
            score, loss = _validated(network, graphs, wanted, validate)
            history.append(score)
            if kept is None or (score, -loss) > (best.score, -best.loss):
                best = Trained(network, epoch, score, loss)
                kept = copy.deepcopy(network.state_dict())
            elif epoch - best.epoch >= options.patience:
                break
        if kept is not None:
            network.load_state_dict(kept)
        network.eval()
    return best._replace(history=tuple(history))


def class_scores(network: Any, graphs: GraphTensors) -> FloatArray:
    """Probabilities of the classes, or the one number that a network predicts; shape (graphs, columns)."""
    network.eval()
    rows = []
    with torch.no_grad(), one_thread():
        for chosen in batches_of(np.arange(graphs.n_graphs), GRAPHS_PER_PREDICTION):
            rows.append(network.probabilities(network(graphs.batch(chosen))).cpu().numpy())
    return np.concatenate(rows).astype(np.float64)


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict torch to one thread: tensors are small here, and more threads would wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def same_every_time(device: Any) -> Iterator[None]:
    """Make a GPU add in a fixed order, so that a seed always gives the same network; a CPU does so anyway."""
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # required by cuBLAS, before its first product
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    # no memory is read before it is written, and filling it would take a quarter of a training step of GIN
    torch.utils.deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.utils.deterministic.fill_uninitialized_memory = filled


def batches_of(order: IntArray, size: int) -> list[IntArray]:
    """Batches of `size` graphs; a single last graph joins the batch before, as batch normalisation needs two.

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


def _validated(network: Any, graphs: GraphTensors, targets: Any, chosen: IntArray) -> tuple[float, float]:
    """Mean score and loss of the chosen graphs."""
    network.eval()
    score, loss = 0.0, 0.0
    with torch.no_grad():
        for part in batches_of(chosen, GRAPHS_PER_PREDICTION):
            batch = graphs.batch(part)
            output, wanted = network(batch), targets[batch.numbers]
            score += float(network.score(output, wanted))
            loss += float(network.loss(output, batch, wanted)) * len(part)
    return score / len(chosen), loss / len(chosen)
