"""The training loop of `training`, for many networks of one kind at once: a GPU has work for all in the same kernels.

Every network has its own graphs, seed, order of graphs, learning rate, patience and best epoch, and follows the same
steps as alone, up to rounding; only what dropout drops is drawn from another sequence. A network that has run out of
patience stays as it is, and leaves the stack with others. The host hears from the device once per epoch. With a
`StackFiles` the state is kept on disk once a minute, and a stopped run goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.replay import Replayed
from rwk.baselines.networks.stack_checkpoint import Checkpoint, Progress, StackFiles
from rwk.baselines.networks.stack_plan import BatchPlan, Member, planned
from rwk.baselines.networks.stack_state import Optimizer, StackedWeights
from rwk.baselines.networks.stacked_batches import InputScale, Shape, SharedGraphs
from rwk.baselines.networks.stacked_layers import ForwardPass
from rwk.baselines.networks.training import Trained, batches_of, one_thread
from rwk.runtime.arrays import IntArray
from rwk.runtime.log import LOG

STAYING: Final = 0.6  # share of networks in training below which the others leave the stack


class Fitted(NamedTuple):
    """A network at its best epoch, and the classes that it predicts for its test graphs."""

    trained: Trained
    predicted: IntArray


def train_together(members: Sequence[Member], graphs: SharedGraphs, files: StackFiles | None = None) -> list[Fitted]:
    """Train all members, which have one kind and shape of network; as `training.train`, for each of them.

    With `files`, the stack is kept while it is trained, and one that was stopped goes on.
    """
    checkpoint = Checkpoint(files, files.title_of(members, graphs.classes.cpu().numpy())) if files else None
    with one_thread():
        return _trained(members, graphs, checkpoint)


def _trained(members: Sequence[Member], graphs: SharedGraphs, checkpoint: Checkpoint | None) -> list[Fitted]:
    stack, start = _Stack(members, graphs), time.perf_counter()
    options = members[0].options
    orders = [np.random.default_rng(member.options.seed) for member in members]
    epoch = before = stack.restore(checkpoint, orders) if checkpoint else 0
    plan = stack.plan(orders)
    while stack.live.any() and epoch < options.epochs:
        epoch += 1
        stack.halve_rates(epoch)
        stack.learn(plan)
        watched = stack.validate()
        drawn = [order.bit_generator.state for order in orders]
        plan = stack.plan(orders)  # while the device is at work
        if watched:
            stack.judge(epoch)
        if 0.0 < stack.live.mean() < STAYING:
            stack.drop_stopped()
            plan = plan.of_rows(stack.kept_rows)
        ended = epoch == options.epochs or not stack.live.any()
        if checkpoint and (ended or checkpoint.due()):
            checkpoint.write(stack.progress(epoch), stack.tensors(), drawn)
    seconds = (time.perf_counter() - start) / max(1, epoch - before)
    LOG.info("%d networks trained together: %d epochs of %.3f s", len(members), epoch, seconds)
    return stack.finished()


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

    def plan(self, orders: Sequence[Any]) -> BatchPlan:
        """The batches of the next epoch, in a new order for every member."""
        size = self.members[0].options.batch_size
        shuffled = [
            batches_of(orders[row].permutation(self.members[row].learn), size) if alive else []
            for row, alive in zip(self.rows.tolist(), self.live, strict=True)
        ]
        return self._planned(shuffled)

    def learn(self, plan: BatchPlan) -> None:
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

    def progress(self, epoch: int) -> Progress:
        """What to keep beside `tensors`."""
        found = np.array([[best.epoch, best.score, best.loss] for best in self.best])
        return Progress(epoch, self.rows, self.live, found, self.histories)

    def tensors(self) -> dict[str, Any]:
        """All numbers that the next epochs depend on, by name; views of the state itself."""
        state = {
            "values": self.weights.values,
            "statistics": self.weights.statistics,
            **{name: getattr(self.optimizer, name) for name in ("rates", "first", "second", "steps")},
        }
        kept = () if self.kept is None else self.kept
        return state | dict(zip(("kept_values", "kept_statistics"), kept, strict=False))

    def restore(self, checkpoint: Checkpoint, orders: Sequence[Any]) -> int:
        """Go on from what was kept, if anything was; the number of epochs that are done."""
        found = checkpoint.read(self.device)
        if found is None:
            return 0
        progress, tensors, drawn = found
        self.live[:] = False
        self.live[progress.rows] = True
        self.drop_stopped()
        self.live = progress.live.copy()
        self.alive.copy_(torch.from_numpy(self.live)[:, None])
        if "kept_values" in tensors:
            self.kept = tensors.pop("kept_values"), tensors.pop("kept_statistics")
        for name, tensor in self.tensors().items():
            if name in tensors:
                tensor.copy_(tensors[name])
        self.histories = progress.histories
        self.best = [
            best._replace(epoch=int(epoch), score=float(score), loss=float(loss))
            for best, (epoch, score, loss) in zip(self.best, progress.found, strict=True)
        ]
        for order, state in zip(orders, drawn, strict=True):
            order.bit_generator.state = state
        LOG.info("%d networks go on after epoch %d", len(self.rows), progress.epoch)
        return progress.epoch

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

    def _planned(self, batches: Sequence[Sequence[IntArray]]) -> BatchPlan:
        return planned(batches, self.members[0].options.batch_size, self.graphs, self.kind)

    def _input_scale(self) -> InputScale:
        if self.members[0].factor is None:
            return InputScale(None, None)
        rows = (np.stack([getattr(one, name) for one in self.members])[:, None] for name in ("factor", "shift"))
        return InputScale(*(torch.from_numpy(each).to(self.graphs.x) for each in rows))
