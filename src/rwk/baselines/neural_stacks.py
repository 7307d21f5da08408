"""Many folds of a neural baseline at once, with all candidates of its grid: `fit_folds`.

Each fold learns its inputs, sets graphs aside and chooses among its candidates as `NeuralClassifier.fit` does; networks
of one shape are trained in one stack (`networks.stacked_training`). torch is imported only when folds are fitted.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from rwk.baselines.neural_classifier import NeuralClassifier, torch_modules
from rwk.baselines.node_features import labels_or_degrees
from rwk.graphs import GraphSet
from rwk.learn.one_vs_one import encode_classes
from rwk.runtime.arrays import IntArray
from rwk.runtime.device import is_out_of_memory

if TYPE_CHECKING:
    from rwk.baselines.networks.stack_checkpoint import StackFiles


class FoldTask(NamedTuple):
    """A fold of a network; with `on_test`, all training graphs are learned from and epochs are scored on the test."""

    train: IntArray
    test: IntArray
    seed: int
    on_test: bool = False


class FoldFit(NamedTuple):
    """Predictions for the test graphs, what was chosen, and every candidate's validation score after each epoch."""

    predicted: NDArray[Any]
    chosen: dict[str, Any]
    histories: list[tuple[dict[str, Any], tuple[float, ...]]]


def fit_folds(
    estimator: NeuralClassifier,
    graphs: GraphSet,
    targets: NDArray[Any],
    tasks: Sequence[FoldTask],
    files: StackFiles | None = None,
) -> list[FoldFit]:
    """Fit a network on each fold and predict its test graphs, all folds at once on the estimator's device.

    With `files`, stacks are kept while they are trained, and one that was stopped goes on.
    """
    torch_modules(estimator.title)
    classes, codes = encode_classes(targets)
    graphs = estimator._checked(graphs)
    together = [i for i, task in enumerate(tasks) if len(np.unique(codes[task.train])) == len(classes)]
    found: dict[int, FoldFit] = {}
    if together:
        described = _described(graphs)
        folds = [_prepared(estimator, described, codes, tasks[i]) for i in together]
        fits = _fitted(estimator, (graphs, described), codes, folds, files)
        for i, (codes_of_test, chosen, histories) in zip(together, fits, strict=True):
            found[i] = FoldFit(classes[codes_of_test], chosen, histories)
    for i, task in enumerate(tasks):
        if i not in found:  # a class is missing among the training graphs, so the network has another shape
            found[i] = _alone(estimator, graphs, targets, task)
    return [found[i] for i in range(len(tasks))]


@dataclass(slots=True)
class _Fold:
    """One fold: an estimator that has seen its training graphs, and its graphs by their number in the set."""

    estimator: Any
    learn: IntArray
    validate: IntArray
    test: IntArray
    candidates: list[dict[str, Any]]


def _prepared(estimator: Any, graphs: GraphSet, codes: IntArray, task: FoldTask) -> _Fold:
    own = clone(estimator).set_params(random_state=task.seed)
    own.classes_ = np.unique(codes)
    if task.on_test:
        own.set_params(patience=own.epochs)
        own._learn(graphs)
        return _Fold(own, task.train, task.test, task.test, own._candidates(True))
    own._learn(graphs[task.train])
    learn, aside = (task.train[part] for part in own._split(codes[task.train]))
    return _Fold(own, learn, aside, task.test, own._candidates(len(aside) > 0))


def _fitted(
    estimator: Any,
    sets: tuple[GraphSet, GraphSet],
    codes: IntArray,
    folds: list[_Fold],
    files: StackFiles | None,
) -> list[Any]:
    """Codes predicted for the test graphs, what was chosen, and histories, for each fold."""
    from rwk.baselines.networks.batches import check_device

    check_device(estimator.device)
    graphs, described = sets
    whole = clone(estimator)
    whole._learn(described)
    members = [
        (at, choice, _member(fold, choice, whole)) for at, fold in enumerate(folds) for choice in fold.candidates
    ]
    largest = max(folds, key=lambda fold: float(fold.estimator.sizes_.mean()))  # which has the most receptive fields
    x = _inputs(whole, described, estimator.device)
    shared = _shared(graphs, x, codes, largest.estimator, members[0][2].network)
    groups: dict[Any, list[int]] = {}
    for number, (_, _, member) in enumerate(members):
        groups.setdefault(_signature(member.network), []).append(number)
    fits: dict[int, Any] = {}
    for numbers in groups.values():
        trained = _trained([members[number][2] for number in numbers], shared, files)
        fits.update(zip(numbers, trained, strict=True))
    results: list[Any] = [None] * len(folds)
    scores: list[Any] = [None] * len(folds)
    histories: list[list[Any]] = [[] for _ in folds]
    for number, (at, choice, _) in enumerate(members):
        trained, predicted = fits[number]
        histories[at].append((choice, trained.history))
        if results[at] is None or (trained.score, -trained.loss) > scores[at]:
            scores[at] = trained.score, -trained.loss
            results[at] = predicted, {**choice, "epoch": trained.epoch}
    return [(*result, history) for result, history in zip(results, histories, strict=True)]


def _shared(graphs: GraphSet, x: Any, codes: IntArray, estimator: Any, network: Any) -> Any:
    """The graphs on the device; where the network allows it, equal nodes are one."""
    from rwk.baselines.networks.batches import graph_tensors
    from rwk.baselines.networks.merged_nodes import merged_nodes
    from rwk.baselines.networks.stacked_batches import SharedGraphs
    from rwk.baselines.networks.stacked_networks import stacked_network

    if stacked_network(network).adds_only and graphs.node_attributes is None:
        return SharedGraphs.of_merged(merged_nodes(graphs), x, codes)
    return SharedGraphs.of(graph_tensors(graphs, x, estimator._fields(graphs), estimator.device), codes)


def _described(graphs: GraphSet) -> GraphSet:
    """The nodes alone, which are quickly divided into folds; degrees are labels if nothing else describes nodes."""
    labels = graphs.node_labels
    if labels is None and graphs.node_attributes is None:
        labels = labels_or_degrees(graphs)
    return GraphSet(
        node_offsets=graphs.node_offsets,
        edge_offsets=np.zeros_like(graphs.node_offsets),
        edges=np.empty((0, 2), np.int64),
        node_labels=labels,
        node_attributes=graphs.node_attributes,
    )


def _inputs(whole: Any, described: GraphSet, device: str) -> Any:
    """The inputs of all nodes; one-hot labels are made on the device."""
    import torch

    known = whole.vectors_.labels
    if known is None:
        return whole._inputs(described)
    codes = torch.from_numpy(np.searchsorted(known, labels_or_degrees(described))).to(device)
    return (codes[:, None] == torch.arange(len(known), device=device)).to(torch.float32)


def _trained(members: list[Any], shared: Any, files: StackFiles | None) -> list[Any]:
    """All members trained in one stack, or in halves if it does not fit into memory."""
    import torch

    from rwk.baselines.networks.stacked_training import train_together

    try:
        return train_together(members, shared, files)
    except RuntimeError as error:
        if len(members) == 1 or not is_out_of_memory(error):
            raise
    gc.collect()  # what the stack held
    torch.cuda.empty_cache()
    half = len(members) // 2
    return _trained(members[:half], shared, files) + _trained(members[half:], shared, files)


def _member(fold: _Fold, choice: dict[str, Any], whole: Any) -> Any:
    """One candidate of a fold, with the initial weights that its seed gives it alone."""
    import torch

    from rwk.baselines.networks import training
    from rwk.baselines.networks.stack_plan import Member

    own = fold.estimator
    own.chosen_ = choice
    columns, factor, shift = _inputs_of(own, whole)
    options = own._options(training)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        network = own._network(len(columns), len(own.classes_))
    return Member(network, columns, fold.learn, fold.validate, fold.test, options, factor, shift)


def _inputs_of(own: Any, whole: Any) -> tuple[IntArray, Any, Any]:
    """Columns that a fold knows among those of the whole set, and factor and shift from those to its own inputs."""
    known = own.vectors_.labels
    if known is not None:
        return np.searchsorted(whole.vectors_.labels, known), None, None
    labels = np.empty(0, np.int64) if own.labels_ is None else np.searchsorted(whole.labels_, own.labels_)
    n_labels = 0 if whole.labels_ is None else len(whole.labels_)
    mine, all_of_them = own.vectors_.standard, whole.vectors_.standard
    plain = np.ones(n_labels)
    factor = np.append(plain, all_of_them.deviation / mine.deviation)
    shift = np.append(0.0 * plain, (all_of_them.mean - mine.mean) / mine.deviation)
    columns = np.append(labels, n_labels + np.arange(len(mine.mean)))
    return columns.astype(np.int64), factor, shift


def _signature(network: Any) -> Any:
    """Equal for networks that can be stacked."""
    from rwk.baselines.networks.stacked_networks import stacked_network

    grown = stacked_network(network).widened(network)
    return type(network), tuple((n, tuple(w.shape)) for n, w in network.state_dict().items() if n not in grown)


def _alone(estimator: Any, graphs: GraphSet, targets: NDArray[Any], task: FoldTask) -> FoldFit:
    own = clone(estimator).set_params(random_state=task.seed)
    own.fit(graphs[task.train], targets[task.train])
    choice = {name: value for name, value in own.chosen_.items() if name != "epoch"}
    return FoldFit(own.predict(graphs[task.test]), own.chosen_, [(choice, own.history_)])
