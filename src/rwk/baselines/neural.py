"""The four neural baselines, as graph classifiers; their layers are in `networks`.

A parameter that is None is chosen on validation graphs among the values of the grid. The defaults stop early; a fair
comparison (`fair_parameters`) trains for as many epochs as GIN's and DGCNN's papers do, and has more patience.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from rwk.baselines.neural_classifier import NeuralClassifier
from rwk.baselines.parameter_ranges import COUNT, POSITIVE, RANGES, Range
from rwk.graphs import GraphSet
from rwk.runtime.arrays import IntArray


class GIN(NeuralClassifier):
    """Graph isomorphism network.

    Parameters
    ----------
    hidden : int, optional
        Width of the layers; by default chosen among 32 and 64.
    layers : int, default 5
        Number of node descriptions that are read out, the input included.
    dropout : float, default 0.5
        Share of values that dropout sets to 0.
    learning_rate : float, default 0.01
        Step size of the optimizer, halved every 50 epochs.
    batch_size, epochs, patience, validation, random_state, device
        See `NeuralClassifier`.

    Examples
    --------
    >>> from rwk.baselines.neural import GIN
    >>> GIN(hidden=64).layers
    5
    """

    title: ClassVar[str] = "GIN"
    reference: ClassVar[str] = (
        "K. Xu, W. Hu, J. Leskovec, S. Jegelka. How powerful are graph neural networks? ICLR 2019."
    )
    fair_parameters: ClassVar[Mapping[str, Any]] = {"epochs": 350, "patience": 50}
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"hidden": (32, 64)}
    ranges: ClassVar[Mapping[str, Range]] = {**RANGES, "hidden": COUNT._replace(or_none=True)}
    halve_every: ClassVar[int] = 50

    def __init__(
        self,
        *,
        hidden: int | None = None,
        layers: int = 5,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        batch_size: int = 32,
        epochs: int = 200,
        patience: int = 30,
        validation: float = 0.1,
        random_state: int = 0,
        device: str = "cpu",
    ) -> None:
        self.hidden = hidden
        self.layers = layers
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.random_state = random_state
        self.device = device

    def _network(self, width: int, n_classes: int) -> Any:
        from rwk.baselines.networks.gin import GINNetwork

        hidden = self.chosen_["hidden"]
        return GINNetwork(width, n_classes, hidden=hidden, layers=self.layers, dropout=self.dropout)


class DGCNN(NeuralClassifier):
    """Deep graph convolutional network.

    Parameters
    ----------
    hidden : int, default 32
        Width of the graph convolutions.
    share : float, default 0.6
        Share of the fitted graphs that have at least as many nodes as sort pooling keeps.
    dropout : float, default 0.5
        Share of values that dropout sets to 0.
    learning_rate : float, optional
        Step size of the optimizer; by default chosen among 1e-4 and 1e-3.
    batch_size, epochs, patience, validation, random_state, device
        See `NeuralClassifier`.

    Examples
    --------
    >>> from rwk.baselines.neural import DGCNN
    >>> DGCNN().share
    0.6
    """

    title: ClassVar[str] = "DGCNN"
    reference: ClassVar[str] = (
        "M. Zhang, Z. Cui, M. Neumann, Y. Chen. An end-to-end deep learning architecture for graph classification. "
        "AAAI 2018."
    )
    fair_parameters: ClassVar[Mapping[str, Any]] = {"epochs": 300, "patience": 50}
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"learning_rate": (1e-4, 1e-3)}
    ranges: ClassVar[Mapping[str, Range]] = {**RANGES, "learning_rate": POSITIVE._replace(or_none=True)}

    def __init__(
        self,
        *,
        hidden: int = 32,
        share: float = 0.6,
        dropout: float = 0.5,
        learning_rate: float | None = None,
        batch_size: int = 32,
        epochs: int = 200,
        patience: int = 30,
        validation: float = 0.1,
        random_state: int = 0,
        device: str = "cpu",
    ) -> None:
        self.hidden = hidden
        self.share = share
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.random_state = random_state
        self.device = device

    def _network(self, width: int, n_classes: int) -> Any:
        from rwk.baselines.networks.dgcnn import DGCNNNetwork

        k = int(np.quantile(self.sizes_, 1.0 - self.share, method="lower"))
        return DGCNNNetwork(width, n_classes, hidden=self.hidden, k=k, dropout=self.dropout)


class PatchySan(NeuralClassifier):
    """PATCHY-SAN: convolutions over receptive fields, as many fields as graphs have nodes on average.

    Parameters
    ----------
    k : int, default 10
        Nodes per receptive field.
    dropout : float, default 0.5
        Share of values that dropout sets to 0.
    learning_rate : float, default 1e-3
        Step size of the optimizer.
    batch_size, epochs, patience, validation, random_state, device
        See `NeuralClassifier`.

    Examples
    --------
    >>> from rwk.baselines.neural import PatchySan
    >>> PatchySan().k
    10
    """

    title: ClassVar[str] = "PATCHY-SAN"
    reference: ClassVar[str] = (
        "M. Niepert, M. Ahmed, K. Kutzkov. Learning convolutional neural networks for graphs. ICML 2016."
    )
    fair_parameters: ClassVar[Mapping[str, Any]] = {"epochs": 300, "patience": 50}
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}
    optimizer: ClassVar[str] = "rmsprop"

    def __init__(
        self,
        *,
        k: int = 10,
        dropout: float = 0.5,
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        epochs: int = 150,
        patience: int = 50,
        validation: float = 0.1,
        random_state: int = 0,
        device: str = "cpu",
    ) -> None:
        self.k = k
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.random_state = random_state
        self.device = device

    def _n_fields(self) -> int:
        return max(1, round(float(self.sizes_.mean())))

    def _fields(self, graphs: GraphSet) -> IntArray | None:
        from rwk.baselines.receptive_fields import receptive_fields

        return receptive_fields(graphs, self._n_fields(), self.k)

    def _network(self, width: int, n_classes: int) -> Any:
        from rwk.baselines.networks.patchy_san import PatchySanNetwork

        return PatchySanNetwork(width, n_classes, n_fields=self._n_fields(), k=self.k, dropout=self.dropout)


class CapsGNN(NeuralClassifier):
    """Capsule graph network: capsules of nodes, routed into capsules of the graph, and these into classes.

    Parameters
    ----------
    hidden : int, default 8
        Length of a capsule.
    layers, channels : int, default 5 and 2
        Number of graph convolutions, and of capsules per node after each.
    graph_capsules : int, default 16
        Number of capsules of the graph.
    rounds : int, default 3
        Rounds of dynamic routing.
    learning_rate : float, default 1e-3
        Step size of the optimizer.
    batch_size, epochs, patience, validation, random_state, device
        See `NeuralClassifier`.

    Examples
    --------
    >>> from rwk.baselines.neural import CapsGNN
    >>> CapsGNN().graph_capsules
    16
    """

    title: ClassVar[str] = "CapsGNN"
    reference: ClassVar[str] = "Z. Xinyi, L. Chen. Capsule graph neural network. ICLR 2019."
    fair_parameters: ClassVar[Mapping[str, Any]] = {"epochs": 300, "patience": 50}
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}
    ranges: ClassVar[Mapping[str, Range]] = {**RANGES, "rounds": COUNT}

    def __init__(
        self,
        *,
        hidden: int = 8,
        layers: int = 5,
        channels: int = 2,
        graph_capsules: int = 16,
        rounds: int = 3,
        learning_rate: float = 1e-3,
        batch_size: int = 32,
        epochs: int = 200,
        patience: int = 30,
        validation: float = 0.1,
        random_state: int = 0,
        device: str = "cpu",
    ) -> None:
        self.hidden = hidden
        self.layers = layers
        self.channels = channels
        self.graph_capsules = graph_capsules
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.epochs = epochs
        self.patience = patience
        self.validation = validation
        self.random_state = random_state
        self.device = device

    def _network(self, width: int, n_classes: int) -> Any:
        from rwk.baselines.networks.capsgnn import CapsGNNNetwork

        return CapsGNNNetwork(
            width,
            n_classes,
            hidden=self.hidden,
            shape=(self.layers, self.channels),
            graph_capsules=self.graph_capsules,
            rounds=self.rounds,
        )
