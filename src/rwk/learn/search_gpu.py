"""Many outer folds at once on a GPU: the search and the final fit of `search`, all SVMs trained together.

Matrices are copied to the GPU once. A batch of folds makes its kernels there, the SVMs of all candidates are trained in
parallel, and only decisions come back; the same functions as on the CPU decide what is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import Any

import numpy as np
import torch

from rwk.learn.inner_folds import Splits, n_validated
from rwk.learn.one_vs_one import pairs_of, winners
from rwk.learn.search import Choice, Task, best_choice, fit_choice, refine_kappa
from rwk.learn.setting_kernels import MAX_EXPONENT, KernelMap, Matrices
from rwk.learn.smo_gpu import Paths, svm_paths
from rwk.learn.treatment import diagonal_scale
from rwk.learn.treatment_gpu import treat_many
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.device import announce_compiling, chunk_bytes, is_out_of_memory, no_room, open_kernel_device

ALIVE = 6  # arrays in memory, each as large as the kernels that are treated together
TREATED_BYTES = 2**31  # the most bytes of kernels to treat together


class DeviceRun:
    """Searches and fits folds on the GPU."""

    def __init__(self, matrices: Matrices) -> None:
        self.matrices = matrices
        self.device = open_kernel_device()
        self.named = {
            name: torch.as_tensor(np.ascontiguousarray(matrix), device=self.device)
            for name, matrix in matrices.named.items()
        }
        # treating takes at most half of the memory of a chunk
        self.treated_bytes = min(TREATED_BYTES, chunk_bytes(self.device) // (2 * ALIVE))

    def batches(self, tasks: Sequence[Task]) -> Iterator[list[Task]]:
        """Tasks with training folds of one size, as many together as fit into the GPU's memory."""
        grid = self.matrices.grid
        n_kernels = len(self.matrices.settings) * len(self.matrices.etas)
        by_size: dict[int, list[Task]] = {}
        for task in tasks:
            by_size.setdefault(len(task.train), []).append(task)
        for n, group in by_size.items():
            pairs = len(pairs_of(int(group[0].codes.max()) + 1))
            svms = n_kernels * pairs * grid.n_inner * grid.inner_repeats
            bytes_of_one = 4 * n * n * n_kernels + 16 * n * svms * len(grid.C)
            room = chunk_bytes(self.device) - ALIVE * self.treated_bytes
            count = max(1, room // bytes_of_one)
            yield from (group[first : first + count] for first in range(0, len(group), count))

    def __call__(self, tasks: Sequence[Task]) -> list[tuple[Choice, IntArray]]:
        """The choice of each task and the classes predicted for its test fold; training folds must be of one size.

        If memory runs out, the batch is halved.
        """
        try:
            choices = self.search(tasks)
            return list(zip(choices, self.fit(tasks, choices), strict=True))
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if len(tasks) == 1:
                raise no_room("one fold's kernels are") from None
        torch.cuda.empty_cache()
        half = len(tasks) // 2
        return self(tasks[:half]) + self(tasks[half:])

    def search(self, tasks: Sequence[Task]) -> list[Choice]:
        """`search.search` for every task."""
        grid = self.matrices.grid
        treated = grid.searches_treated(len(tasks[0].train))
        splits = [grid.inner_splits(task.codes[task.train], task.seed) for task in tasks]
        shape = len(grid.treatments), len(self.matrices.etas), len(self.matrices.settings), len(grid.C)
        right = np.zeros((len(tasks), *shape))
        for t, treatment in enumerate(grid.treatments):
            if t and not treated:
                right[:, t] = right[:, 0]
                continue
            kernels = torch.cat([self._training_kernels(task, treatment if treated else "none") for task in tasks])
            right[:, t] = self._scores(kernels, tasks, splits).reshape(len(tasks), *shape[1:])
        choices = []
        for task, counts, inner in zip(tasks, right, splits, strict=True):
            choice = best_choice(self.matrices, np.moveaxis(counts, 2, 0), n_validated(inner))
            if choice.treatment == "clip" and len(grid.kappas) > 1:
                kernel = self.matrices.kernel(choice.setting, choice.eta, task.train, task.train)
                choice = refine_kappa(kernel, task.codes[task.train], inner, grid, choice)
            choices.append(choice)
        return choices

    def fit(self, tasks: Sequence[Task], choices: Sequence[Choice]) -> list[IntArray]:
        """`search.fit_choice` for every task."""
        predicted: list[IntArray] = []
        for task, choice in zip(tasks, choices, strict=True):
            if choice.kappa < inf:
                predicted.append(fit_choice(self.matrices, task, choice))
                continue
            train = self._kernel(choice.setting, choice.eta, task, task.train)
            treated = treat_many(train[None], choice.treatment)
            rows = treated.map_rows(0, self._kernel(choice.setting, choice.eta, task, task.test))
            codes = task.codes[task.train]
            signs = _signs(codes, np.arange(len(codes)))
            paths = self._paths(treated.kernels, np.zeros(len(signs), np.int32), signs, [choice.C])
            decisions = rows @ paths.solutions[:, 0].T + paths.intercepts[:, 0]
            predicted.append(winners(decisions.cpu().numpy()))
        return predicted

    def _scores(self, kernels: Any, tasks: Sequence[Task], splits: Sequence[Splits]) -> Any:
        """Number of correct validation graphs by (kernel, C); all tasks have the same number of kernels."""
        grid = self.matrices.grid
        each = len(kernels) // len(tasks)
        signs, which = [], []
        for k, (task, inner) in enumerate(zip(tasks, splits, strict=True)):
            codes = task.codes[task.train]
            made = np.concatenate([_signs(codes, own) for own, _ in inner])
            signs.append(np.tile(made, (each, 1)))
            which.append(np.repeat(np.arange(k * each, (k + 1) * each), len(made)))
        paths = self._paths(kernels, np.concatenate(which), np.concatenate(signs), grid.C)
        right = np.zeros((len(kernels), len(grid.C)))
        first = 0
        for k, (task, inner) in enumerate(zip(tasks, splits, strict=True)):
            codes = task.codes[task.train]
            n_pairs = len(pairs_of(int(codes.max()) + 1))
            last = first + each * len(inner) * n_pairs
            mine = paths.decisions[first:last].view(each, len(inner), n_pairs, len(grid.C), len(codes))
            first = last
            for s, (_, held) in enumerate(inner):
                there = torch.as_tensor(held, device=self.device)
                decisions = mine[:, s, :, :, there].movedim(1, -1).cpu().numpy()
                found = winners(decisions.reshape(-1, n_pairs)).reshape(each, len(grid.C), len(held))
                right[k * each : (k + 1) * each] += (found == codes[held]).sum(axis=2)
        return right

    def _paths(self, kernels: Any, which: Any, signs: Any, Cs: Sequence[float]) -> Paths:
        announce_compiling("of support vector machines", self.device)
        there = (torch.as_tensor(array, device=self.device) for array in (which, signs, np.asarray(Cs, np.float64)))
        return svm_paths(kernels, *there)

    def _training_kernels(self, task: Task, treatment: str) -> Any:
        """Treated training kernels of every η and setting, (η · settings, n, n), in single precision."""
        at_once = max(1, self.treated_bytes // (8 * len(task.train) ** 2))
        made, treated = [], []
        for eta in self.matrices.etas:
            kernels = [(name, self._kernel(name, eta, task, task.train)) for name in self.named]
            for kernel in self.matrices.means(kernels):
                made.append(kernel)
                if len(made) == at_once:
                    treated.append(treat_many(torch.stack(made), treatment).kernels.float())
                    made = []
        if made:
            treated.append(treat_many(torch.stack(made), treatment).kernels.float())
        return torch.cat(treated)

    def _kernel(self, setting: str, eta: float | None, task: Task, rows: IntArray) -> Any:
        """`Matrices.kernel` on the GPU, in double precision."""
        names = self.matrices.members(setting)
        train, at = (torch.as_tensor(part, device=self.device) for part in (task.train, rows))
        total = torch.zeros((len(rows), len(task.train)), dtype=torch.float64, device=self.device)
        for name in names:
            matrix = self.named[name]
            block = matrix[at][:, train].double()
            diagonal = matrix.diagonal()[train].double().cpu().numpy()
            if eta is None:
                total += block / diagonal_scale(diagonal)
                continue
            mean = partial(_mean, matrix, train)
            total += _kernel_values(self.matrices.transform(diagonal, eta, mean), block)
        return total / len(names)


def _mean(matrix: Any, train: Any) -> float:
    """The mean of the block of the training graphs."""
    return float(matrix[train][:, train].double().mean())


def _kernel_values(made: KernelMap, block: Any) -> Any:
    """`KernelMap.__call__` on the GPU."""
    total = torch.zeros_like(block)
    for one in made.transforms:
        total += torch.exp((one.rate * (one.origin - block)).clamp_(max=MAX_EXPONENT)) / one.scale
    return total / len(made.transforms)


def _signs(codes: IntArray, own: IntArray) -> FloatArray:
    """Signs of the SVMs of all pairs of classes trained on the rows `own`, (SVMs, rows); 0 for all other rows."""
    member = np.zeros(len(codes), bool)
    member[own] = True
    pairs = pairs_of(int(codes.max()) + 1)
    return np.array([member * ((codes == b).astype(np.int8) - (codes == a)) for a, b in pairs], np.int8)
