"""The training loop of `training`, for many networks of one kind at once: a GPU has work for all in the same kernels.

Every network has its own graphs, seed, order of graphs, learning rate, patience and best epoch, and follows the same
steps as alone, up to rounding; only what dropout drops is drawn from another sequence. A network that has run out of
patience stays as it is, and leaves the stack with others. The host hears from the device once per epoch.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.replay import Replayed
from rwk.baselines.networks.stack_state import Optimizer, StackedWeights
from rwk.baselines.networks.stacked_batches import InputScale, Shape, SharedGraphs
from rwk.baselines.networks.stacked_layers import ForwardPass
from rwk.baselines.networks.training import Trained, TrainingOptions, batches_of, one_thread
from rwk.runtime.arrays import IntArray
from rwk.runtime.log import LOG

STAYING: Final = 0.6  # share of networks in training below which the others leave the stack


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


class Fitted(NamedTuple):
    """A network at its best epoch, and the classes that it predicts for its test graphs."""

    trained: Trained
    predicted: IntArray


def train_together(members: Sequence[Member], graphs: SharedGraphs) -> list[Fitted]:
    """Train all members, which have one kind and shape of network; as `training.train`, for each of them."""
    with one_thread():
        return _trained(members, graphs)


def _trained(members: Sequence[Member], graphs: SharedGraphs) -> list[Fitted]:
    stack, start = _Stack(members, graphs), time.perf_counter()
    options = members[0].options
    orders = [np.random.default_rng(member.options.seed) for member in members]
    plan = stack.plan(orders)
    for epoch in range(1, options.epochs + 1):
        stack.halve_rates(epoch)
        stack.learn(plan)
        watched = stack.validate()
        plan = stack.plan(orders)  # while the device is at work
        if not watched:
            continue
        stack.judge(epoch)
        if not stack.live.any():
            break
        if stack.live.mean() < STAYING:
            stack.drop_stopped()
            plan = _without(plan, stack.kept_rows)
    seconds = (time.perf_counter() - start) / epoch
    LOG.info("%d networks trained together: %d epochs of %.3f s", len(members), epoch, seconds)
    return stack.finished()


class _Plan(NamedTuple):
    """Batches of all networks, step by step."""

    numbers: Any  # (steps, M, B), −1 for none, on the device
    host: IntArray
    shapes: list[Shape]


class _Stack:
    """The state of training: rows of `weights` belong to the members `rows`."""

    def __init__(self, members: Sequence[Member], graphs: SharedGraphs) -> None:
        self.members, self.graphs = members, graphs
        self.device = graphs.x.device
        width = graphs.x.shape[1]
        self.weights = StackedWeights(
            [one.network for one in members], [one.columns for one in members], width, self.device
        )
        self.kind, self.model = self.weights.kind, self.weights.model
        self.dropout = next((layer.p for layer in self.model.modules() if isinstance(layer, torch.nn.Dropout)), 0.0)
        self.scale = self._input_scale()
        options = members[0].options
        rates = torch.tensor([[one.options.learning_rate] for one in members], dtype=graphs.x.dtype, device=self.device)
        self.optimizer = Optimizer(options.optimizer, rates, self.weights.values)
        self.seeds = torch.tensor([one.options.seed for one in members], device=self.device) << 32
        self.rows = np.arange(len(members))  # of the members in the stack
        self.live = np.ones(len(members), bool)  # of the rows
        self.best = [Trained(one.network, options.epochs, float("nan"), float("nan")) for one in members]
        self.histories: list[list[float]] = [[] for _ in members]
        self.kept: Any = None  # the best weights and statistics of all members
        self._restart()

    def plan(self, orders: Sequence[Any]) -> _Plan:
        """The batches of the next epoch, in a new order for every member."""
        size = self.members[0].options.batch_size
        shuffled = [
            batches_of(orders[row].permutation(self.members[row].learn), size) if alive else []
            for row, alive in zip(self.rows.tolist(), self.live, strict=True)
        ]
        return self._planned(shuffled)

    def learn(self, plan: _Plan) -> None:
        """One epoch of training."""
        for step, shape in enumerate(plan.shapes):
            self.stepped(plan.numbers[step], shape)

    def validate(self) -> bool:
        """Start to score all networks on their validation graphs; False if there are none."""
        self.right.zero_(), self.loss.zero_()
        for step, shape in enumerate(self.aside.shapes):
            self.scored(self.aside.numbers[step], shape)
        return bool(self.aside.shapes)

    def judge(self, epoch: int) -> None:
        """Keep the networks that did better than before, stop those without patience left."""
        right, loss = torch.stack([self.right, self.loss]).cpu().numpy()
        better = np.zeros(len(self.rows), bool)
        for at, row in enumerate(self.rows.tolist()):
            if not self.live[at]:
                continue
            count, best = len(self.members[row].validate), self.best[row]
            found = best._replace(epoch=epoch, score=float(right[at]) / count, loss=float(loss[at]) / count)
            self.histories[row].append(found.score)
            better[at] = not self.histories[row][1:] or (found.score, -found.loss) > (best.score, -best.loss)
            if better[at]:
                self.best[row] = found
            elif epoch - best.epoch >= self.members[row].options.patience:
                self.live[at] = False
        self._keep(better)
        self.alive.copy_(torch.from_numpy(self.live)[:, None])
        LOG.debug("epoch %d: %d of %d networks go on", epoch, self.live.sum(), len(self.members))

    def halve_rates(self, epoch: int) -> None:
        every = self.members[0].options.halve_every
        if every and epoch > 1 and (epoch - 1) % every == 0:
            self.optimizer.rates.mul_(0.5)

    def drop_stopped(self) -> None:
        """Take the stopped networks out of the stack."""
        self.kept_rows = np.flatnonzero(self.live)
        rows = torch.from_numpy(self.kept_rows).to(self.device)
        self.weights.take(rows)
        self.optimizer.take(rows)
        self.seeds, self.scale = self.seeds[rows], self.scale.take(rows)
        self.rows, self.live = self.rows[self.kept_rows], self.live[self.kept_rows]
        self._restart()

    def finished(self) -> list[Fitted]:
        """All members at their best epoch; without validation graphs, at the last."""
        if self.kept is None:
            self._keep(np.ones(len(self.rows), bool))
        del self.stepped, self.scored  # which hold the memory of their CUDA graphs
        whole = _Stack(self.members, self.graphs)
        whole.weights.values.copy_(self.kept[0]), whole.weights.statistics.copy_(self.kept[1])
        predicted = whole.predicted()
        values, statistics = (each.cpu() for each in self.kept)
        for row, member in enumerate(self.members):
            whole.weights.load_into(member.network, row, values[row], statistics[row])
            member.network.eval()
        return [
            Fitted(self.best[row]._replace(history=tuple(self.histories[row])), predicted[row])
            for row in range(len(self.members))
        ]

    def predicted(self) -> list[IntArray]:
        """The most confident class of every test graph of every member."""
        plan = self._planned(self._parts("test"))
        found = [self._best_class(plan.numbers[step], shape).cpu().numpy() for step, shape in enumerate(plan.shapes)]
        joined = np.concatenate(found, axis=1) if found else np.empty((len(self.rows), 0), np.int64)
        there = np.moveaxis(plan.host, 0, 1).reshape(len(self.rows), -1) >= 0
        return [codes[own] for codes, own in zip(joined, there, strict=True)]

    def _restart(self) -> None:
        """What depends on the number of networks in the stack."""
        count = len(self.rows)
        self.alive = torch.ones((count, 1), dtype=self.graphs.x.dtype, device=self.device)
        self.right, self.loss = torch.zeros((2, count), dtype=torch.float64, device=self.device)
        self.aside = self._planned(self._parts("validate"))
        self.stepped = Replayed(self._step, self.device)
        self.scored = Replayed(self._score, self.device)

    def _step(self, numbers: Any, shape: Shape) -> None:
        batch = self.graphs.batch(numbers, shape, self.scale)
        leaves = self.weights.leaves()
        draws = self.seeds + self.optimizer.steps[:, 0].to(torch.int64)
        run = ForwardPass({**leaves, **self.weights.running()}, batch, draws, self.dropout)
        with torch.enable_grad():
            output = self.kind.forward(run, self.model, self.weights.places)
            loss = self.kind.loss(run, output, self.weights.n_columns)
            gradients = torch.autograd.grad(loss.sum(), list(leaves.values()))
        active = self.alive * (batch.there.sum(dim=1, keepdim=True) > 0)
        self.optimizer.step(self.weights.values, self.weights.flat(gradients), active)
        if run.updates:
            self.weights.update_statistics(run.updates, active)

    def _forward(self, numbers: Any, shape: Shape) -> tuple[ForwardPass, Any]:
        batch = self.graphs.batch(numbers, shape, self.scale)
        run = ForwardPass({**self.weights.leaves(), **self.weights.running()}, batch)
        return run, self.kind.forward(run, self.model, self.weights.places)

    def _score(self, numbers: Any, shape: Shape) -> None:
        with torch.no_grad():
            run, output = self._forward(numbers, shape)
            there = run.batch.there
            right = self.kind.confidence(output).argmax(dim=2) == run.batch.classes
            self.right.add_((right * there).sum(dim=1))
            self.loss.add_(self.kind.loss(run, output, self.weights.n_columns) * there.sum(dim=1))

    def _best_class(self, numbers: Any, shape: Shape) -> Any:
        with torch.no_grad():
            _, output = self._forward(numbers, shape)
            return self.kind.confidence(output).argmax(dim=2)

    def _keep(self, better: Any) -> None:
        """Copy the rows that did better to where the best weights of all members are kept."""
        now = self.weights.values, self.weights.statistics
        if self.kept is None:
            self.kept = tuple(each.clone() for each in now)
        at = np.flatnonzero(better)
        rows, own = (torch.from_numpy(each).to(self.device) for each in (self.rows[at], at))
        for kept, each in zip(self.kept, now, strict=True):
            kept[rows] = each[own]

    def _parts(self, which: str) -> list[list[IntArray]]:
        size = self.members[0].options.batch_size
        chosen = [getattr(self.members[row], which) for row in self.rows.tolist()]
        return [batches_of(numbers, size) if len(numbers) else [] for numbers in chosen]

    def _planned(self, batches: Sequence[Sequence[IntArray]]) -> _Plan:
        """Batches of every network, padded with −1, and the room that each step needs."""
        steps = max((len(own) for own in batches), default=0)
        host = np.full((steps, len(batches), self.members[0].options.batch_size + 1), -1, np.int64)
        for at, own in enumerate(batches):
            for step, chosen in enumerate(own):
                host[step, at, : len(chosen)] = chosen
        sizes = self.graphs.host_sizes[host]
        nodes, widest = sizes.sum(axis=2).max(axis=1, initial=0), sizes.max(axis=(1, 2), initial=0)
        shapes = [
            Shape(roomy(int(n), 4) if self.kind.nodes else 0, roomy(int(w), 2) if self.kind.widest else 0)
            for n, w in zip(nodes, widest, strict=True)
        ]
        numbers = torch.from_numpy(host)
        if self.device.type == "cuda":
            numbers = numbers.pin_memory().to(self.device, non_blocking=True)
        return _Plan(numbers, host, shapes)

    def _input_scale(self) -> InputScale:
        if self.members[0].factor is None:
            return InputScale(None, None)
        rows = (np.stack([getattr(one, name) for one in self.members])[:, None] for name in ("factor", "shift"))
        return InputScale(*(torch.from_numpy(each).to(self.graphs.x) for each in rows))


def roomy(need: int, steps: int) -> int:
    """The next size of a coarse ladder with `steps` steps per octave, so that few shapes occur.

    >>> [roomy(n, 4) for n in (1, 9, 33, 1000, 1025)]
    [16, 16, 40, 1024, 1280]
    """
    if need <= 16:
        return 16
    step = (1 << ((need - 1).bit_length() - 1)) // steps
    return -(-need // step) * step


def _without(plan: _Plan, rows: IntArray) -> _Plan:
    """The batches of some of the networks."""
    return plan._replace(numbers=plan.numbers[:, torch.from_numpy(rows).to(plan.numbers.device)])
