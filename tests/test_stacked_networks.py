"""Many networks trained at once: each follows the steps that it takes alone, whatever its company and padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone

from baseline_graphs import random_set, without
from rwk import GraphSet, as_graphs, baselines
from rwk.baselines.neural_stacks import FoldTask, fit_folds
from rwk.baselines.node_features import labels_or_degrees
from rwk.baselines.receptive_fields import receptive_fields

torch = pytest.importorskip("torch", reason="torch is not installed (extra: baselines)")

from rwk.baselines.networks import stack_plan, training  # noqa: E402
from rwk.baselines.networks.batches import GraphTensors, graph_tensors  # noqa: E402
from rwk.baselines.networks.capsgnn import CapsGNNNetwork  # noqa: E402
from rwk.baselines.networks.dgcnn import DGCNNNetwork  # noqa: E402
from rwk.baselines.networks.gin import GINNetwork  # noqa: E402
from rwk.baselines.networks.merged_nodes import merged_nodes  # noqa: E402
from rwk.baselines.networks.patchy_san import PatchySanNetwork  # noqa: E402
from rwk.baselines.networks.stack_plan import Member  # noqa: E402
from rwk.baselines.networks.stacked_batches import InputScale, Shape, SharedGraphs  # noqa: E402
from rwk.baselines.networks.stacked_layers import ForwardPass  # noqa: E402
from rwk.baselines.networks.stacked_training import Fitted, train_together  # noqa: E402
from rwk.baselines.networks.training import TrainingOptions  # noqa: E402

NEURAL = ["PATCHY-SAN", "DGCNN", "CapsGNN", "GIN"]
GRAPHS = random_set(3, 30, low=5, high=14)
CODES = np.random.default_rng(0).permutation(30) % 2
WIDTH, FIELDS, K = 4, 12, 3
NEAR = {"rtol": 1e-5, "atol": 1e-6}  # of weights; in single precision CapsGNN takes roots of degrees and sizes
KINDS = ([1, 2, 3], 10, 0.02), ([0, 1, 2, 3], 12, 0.01), ([1, 2, 3], 11, 0.05)  # columns, places, learning rate


def made(name: str, width: int, places: int, dropout: float = 0.0) -> Any:
    """A small network in double precision; `places` is its number of receptive fields or of sorted nodes."""
    if name == "GIN":
        network = GINNetwork(width, 2, hidden=6, layers=3, dropout=dropout)
    elif name == "DGCNN":
        network = DGCNNNetwork(width, 2, hidden=4, k=places, dropout=dropout)
    elif name == "PATCHY-SAN":
        network = PatchySanNetwork(width, 2, n_fields=places, k=K, dropout=dropout)
    else:
        network = CapsGNNNetwork(width, 2, hidden=4, shape=(2, 2), graph_capsules=3, rounds=3)
    return network.double()


def tensors_of(name: str, device: str = "cpu") -> GraphTensors:
    """Nodes with random inputs, the first column zero in all graphs but the last five; on the CPU in float64."""
    x = np.random.default_rng(1).normal(size=(int(GRAPHS.node_offsets[-1]), WIDTH))
    x[: GRAPHS.node_offsets[25], 0] = 0.0
    fields = receptive_fields(GRAPHS, FIELDS, K) if name == "PATCHY-SAN" else None
    tensors = graph_tensors(GRAPHS, x, fields, device)
    return replace(tensors, x=torch.from_numpy(x)) if device == "cpu" else tensors


def members_of(name: str, dropout: float = 0.0, epochs: int = 7) -> list[tuple[Callable[[], Any], Member]]:
    """Three networks that differ in graphs, columns, input scale, places, seed and learning rate."""
    kind = "rmsprop" if name == "PATCHY-SAN" else "adam"
    found = []
    for number, (columns, places, rate) in enumerate(KINDS):
        rng = np.random.default_rng(number)
        mine = rng.permutation(25)
        factor, shift = np.append(1.0, rng.uniform(0.5, 2.0, 3)), np.append(0.0, rng.normal(size=3))
        options = TrainingOptions(kind, rate, 3, epochs, 2, 4, number)
        maker = _Maker(name, len(columns), places, dropout)
        with torch.random.fork_rng():
            torch.manual_seed(number)
            network = maker()
        learn = mine[: 17 - number]  # of the last network, a batch of five graphs and none of one
        member = Member(network, np.array(columns), learn, mine[18:], np.arange(25, 30), options, factor, shift)
        found.append((maker, member))
    return found


class _Maker:
    def __init__(self, *given: Any) -> None:
        self.given = given

    def __call__(self) -> Any:
        return made(*self.given)


def own_tensors(tensors: GraphTensors, member: Member) -> GraphTensors:
    """The graphs as the member sees them when it is alone."""
    x = tensors.x * torch.from_numpy(member.factor) + torch.from_numpy(member.shift)
    fields = tensors.fields
    if fields is not None:
        fields = fields[:, : member.network.n_fields * K]
    return replace(tensors, x=x[:, member.columns].contiguous(), fields=fields)


def weights_of(network: Any) -> dict[str, Any]:
    return {name: value for name, value in network.state_dict().items() if value.is_floating_point()}


def assert_same(found: Fitted, network: Any, wanted: training.Trained, own: Any) -> None:
    assert (found.trained.epoch, found.trained.score) == (wanted.epoch, wanted.score)
    assert found.trained.history == wanted.history
    np.testing.assert_allclose(found.trained.loss, wanted.loss, rtol=1e-6)
    for name, value in weights_of(own).items():
        torch.testing.assert_close(weights_of(network)[name], value, **NEAR)


@pytest.mark.parametrize("name", NEURAL)
@pytest.mark.parametrize("validated", [True, False])
def test_a_network_of_a_stack_learns_as_alone(name: str, validated: bool) -> None:
    """In double precision: Adam makes steps out of rounding where a gradient is zero."""
    tensors = tensors_of(name)
    members = members_of(name)
    if not validated:
        members = [(maker, one._replace(validate=np.empty(0, np.int64))) for maker, one in members]
    found = train_together([member for _, member in members], SharedGraphs.of(tensors, CODES))
    lengths = set()
    for (maker, member), fitted in zip(members, found, strict=True):
        seen = own_tensors(tensors, member)
        split = member.learn, member.validate
        wanted = training.train(maker, seen, CODES, split, member.options)
        lengths.add(len(wanted.history))
        assert fitted.trained.network is member.network
        if validated:
            assert_same(fitted, member.network, wanted, wanted.network)
        else:
            for key, value in weights_of(wanted.network).items():
                torch.testing.assert_close(weights_of(member.network)[key], value, **NEAR)
        scores = training.class_scores(wanted.network, seen)[member.test]
        np.testing.assert_array_equal(fitted.predicted, scores.argmax(axis=1))
    assert len(lengths) > 1 or not validated, "the networks should stop at different epochs"


@pytest.mark.parametrize("name", NEURAL)
def test_padding_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = SharedGraphs.of(tensors_of(name), CODES)
    tight, loose = (members_of(name, dropout=0.3) for _ in range(2))
    monkeypatch.setattr(stack_plan, "roomy", lambda need, steps: need)
    train_together([member for _, member in tight], graphs)
    monkeypatch.setattr(stack_plan, "roomy", lambda need, steps: 2 * need + 5)
    train_together([member for _, member in loose], graphs)
    for (_, one), (_, other) in zip(tight, loose, strict=True):
        for key, value in weights_of(one.network).items():
            torch.testing.assert_close(weights_of(other.network)[key], value, **NEAR)


@pytest.mark.parametrize("name", NEURAL)
def test_company_does_not_matter(name: str) -> None:
    """With dropout: what a network drops depends on its own seed and steps."""
    graphs = SharedGraphs.of(tensors_of(name), CODES)
    together, apart = (members_of(name, dropout=0.5, epochs=3) for _ in range(2))
    train_together([member for _, member in together], graphs)
    for (_, one), (_, other) in zip(together, apart, strict=True):
        train_together([other], graphs)
        for key, value in weights_of(other.network).items():
            torch.testing.assert_close(weights_of(one.network)[key], value, **NEAR)


@pytest.mark.parametrize("labelled", [False, True])
def test_merged_nodes_change_nothing(labelled: bool) -> None:
    """GIN on graphs with many equal nodes: one row for all of them gives the same network up to rounding."""
    rng = np.random.default_rng(2)
    shapes = [
        nx.star_graph(6),
        nx.cycle_graph(8),
        nx.complete_graph(5),
        nx.path_graph(9),
        nx.wheel_graph(7),
    ]
    graphs = as_graphs([shapes[i] for i in rng.integers(0, 5, 30)])
    if labelled:
        graphs = replace(graphs, node_labels=rng.integers(0, 2, int(graphs.node_offsets[-1])))
    labels = labels_or_degrees(graphs)
    x = torch.from_numpy((labels[:, None] == np.unique(labels)).astype(float))
    merged = merged_nodes(graphs)
    assert len(merged.first) < (0.9 if labelled else 0.5) * len(labels)
    assert merged.copies.sum() == len(labels)
    tensors = replace(graph_tensors(graphs, x, None, "cpu"), x=x)
    every = np.arange(x.shape[1])
    found = []
    for shared in (SharedGraphs.of(tensors, CODES), SharedGraphs.of_merged(merged, x, CODES)):
        torch.manual_seed(0)
        options = TrainingOptions("adam", 0.01, 3, 5, 5, 8, 0)
        network = made("GIN", x.shape[1], 0, dropout=0.5)
        (fit,) = train_together([Member(network, every, np.arange(20), np.arange(20, 26), CODES[:4], options)], shared)
        found.append((weights_of(network), fit))
    (plain, alone), (few, together) = found
    for key, value in plain.items():
        torch.testing.assert_close(few[key], value, **NEAR)
    assert alone.trained.history == together.trained.history
    np.testing.assert_array_equal(alone.predicted, together.predicted)


def test_dropout_drops_its_share_and_keeps_the_mean() -> None:
    graphs = SharedGraphs.of(tensors_of("GIN"), CODES)
    batch = graphs.batch(torch.arange(6).reshape(2, 3), Shape(64, 0), InputScale(None, None))
    values = torch.ones(2, 100, 200)
    first, again, later = (
        ForwardPass({}, batch, torch.tensor(draws), 0.3).dropped(values) for draws in ([1, 2], [1, 2], [2, 3])
    )
    assert torch.equal(first, again)
    assert torch.equal(first[1], later[0])
    assert not torch.equal(first[0], first[1])
    assert abs(float((first == 0).double().mean()) - 0.3) < 0.01
    assert abs(float(first.mean()) - 1.0) < 0.02
    assert torch.equal(ForwardPass({}, batch, None, 0.3).dropped(values), values)


@pytest.mark.parametrize("name", NEURAL)
@pytest.mark.parametrize("fields", [(), ("node_attributes",), ("node_labels", "node_attributes")])
def test_folds_together_are_folds_alone(name: str, fields: tuple[str, ...]) -> None:
    """From graphs to predictions, with a label that some training folds lack."""
    graphs = without(random_set(5, 24, low=5, high=9), *fields)
    if graphs.node_labels is not None:
        labels = graphs.node_labels.copy()
        labels[: graphs.node_offsets[2]] = 7
        graphs = replace(graphs, node_labels=labels)
    targets = np.array(["a", "b"] * 12)
    method = baselines.get(name, epochs=3, validation=0.25, batch_size=8)
    if "dropout" in method.get_params():
        method.set_params(dropout=0.0)
    if name == "GIN":
        method.set_params(learning_rate=1e-5)  # so that steps made of rounding stay small
    tasks = [
        FoldTask(np.setdiff1d(np.arange(24), test), test, seed) for seed, test in enumerate(np.split(np.arange(24), 4))
    ]
    for task, fit in zip(tasks, fit_folds(method, graphs, targets, tasks), strict=True):
        alone = clone(method).set_params(random_state=task.seed).fit(graphs[task.train], targets[task.train])
        assert fit.chosen == alone.chosen_
        np.testing.assert_array_equal(fit.predicted, alone.predict(graphs[task.test]))
        assert alone.history_ in [history for _, history in fit.histories]


def test_epochs_are_scored_on_the_test_fold_if_asked() -> None:
    graphs: GraphSet = random_set(5, 20, low=5, high=9)
    targets = np.arange(20) % 2
    method = baselines.get("PATCHY-SAN", epochs=4, patience=1, dropout=0.0)
    train, test = np.arange(14), np.arange(14, 20)
    (fit,) = fit_folds(method, graphs, targets, [FoldTask(train, test, 0, on_test=True)])
    ((choice, history),) = fit.histories
    assert choice == {}
    assert len(history) == 4, "patience must not end it"
    watched = clone(method).set_params(patience=4)
    watched._split = lambda codes: (train, test)
    assert watched.fit(graphs, targets).history_ == history


def test_a_training_fold_without_a_class_is_fitted_alone() -> None:
    graphs = random_set(5, 12, low=5, high=9)
    targets = np.array(["a", "b"] * 5 + ["c", "c"])
    tasks = [FoldTask(np.arange(10), np.arange(10, 12), 0), FoldTask(np.arange(1, 12), np.arange(1), 0)]
    method = baselines.get("PATCHY-SAN", epochs=1, validation=0.0)
    first, second = fit_folds(method, graphs, targets, tasks)
    assert set(first.predicted) <= {"a", "b"}
    assert len(second.predicted) == 1
