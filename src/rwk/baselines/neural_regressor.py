"""GIN for numbers: the network of the baseline GIN with one output, trained by squared error.

It is run by `rwk reproduce regression`. The error bar of every prediction is the error on the validation graphs.
"""

from __future__ import annotations

import functools
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from rwk.baselines.neural_classifier import torch_modules
from rwk.baselines.node_features import labels_or_degrees, learn_vectors, one_hot
from rwk.convert import as_graphs
from rwk.graphs import GraphSet
from rwk.runtime.arrays import FloatArray

WIDTHS: Final = (32, 64)  # tried, as GIN tries them


class GINRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Graph isomorphism network that predicts a number per graph.

    A tenth of the training graphs is set aside; the epoch and the width that do best on it are kept.

    Parameters
    ----------
    hidden : int, optional
        Width of the layers; by default chosen among 32 and 64.
    layers : int, default 5
        Number of node descriptions that are read out, the input included.
    dropout : float, default 0.0
        Share of values that dropout sets to 0.
    learning_rate : float, default 0.005
        Step size of the optimizer, halved every 50 epochs.
    batch_size, epochs, patience, random_state, device
        See `NeuralClassifier`.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network.
    chosen_ : dict
        The chosen width and epoch.
    std_ : float
        Root mean squared error on the validation graphs.

    Examples
    --------
    >>> from rwk.baselines.neural_regressor import GINRegressor
    >>> GINRegressor().layers
    5
    """

    def __init__(
        self,
        *,
        hidden: int | None = None,
        layers: int = 5,
        dropout: float = 0.0,
        learning_rate: float = 0.005,
        batch_size: int = 32,
        epochs: int = 200,
        patience: int = 50,
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
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on graphs and their values."""
        training, batches = torch_modules("GIN")
        graphs, targets = as_graphs(X), np.asarray(y, np.float64)
        if len(targets) != len(graphs):
            raise ValueError(f"{len(targets)} values were given for {len(graphs)} graphs; give one per graph")
        if len(graphs) < 4:
            raise ValueError(f"{len(graphs)} graphs are too few for a network; give at least 4")
        self._mean, self._std = float(targets.mean()), float(targets.std()) or 1.0
        self._vectors = learn_vectors(graphs)
        self._labels = None if self._vectors.labels is not None else np.unique(labels_or_degrees(graphs))
        tensors = batches.graph_tensors(graphs, self._inputs(graphs), None, self.device)
        order = np.random.default_rng(self.random_state).permutation(len(graphs))
        n_aside = max(2, round(0.1 * len(graphs)))
        split = np.sort(order[n_aside:]), np.sort(order[:n_aside])
        scaled = ((targets - self._mean) / self._std).astype(np.float32)
        found = [
            (
                training.train(self._maker(tensors.x.shape[1], width), tensors, scaled, split, self._options(training)),
                width,
            )
            for width in (WIDTHS if self.hidden is None else (self.hidden,))
        ]
        best, width = max(found, key=lambda pair: pair[0].score)
        self.network_, self.chosen_ = best.network, {"hidden": width, "epoch": best.epoch}
        self.std_ = self._std * float(np.sqrt(-best.score))
        return self

    def predict(self, X: Any) -> FloatArray:
        """The predicted values of graphs."""
        check_is_fitted(self, "network_")
        training, batches = torch_modules("GIN")
        graphs = as_graphs(X)
        tensors = batches.graph_tensors(graphs, self._inputs(graphs), None, self.device)
        return np.asarray(self._mean + self._std * training.class_scores(self.network_, tensors)[:, 0])

    def _inputs(self, graphs: GraphSet) -> FloatArray:
        vectors = self._vectors.of(graphs)
        if self._labels is None:
            return vectors
        return np.concatenate([one_hot(labels_or_degrees(graphs), self._labels), vectors], axis=1)

    def _maker(self, width_in: int, hidden: int) -> Any:
        from rwk.baselines.networks.gin import GINValueNetwork

        return functools.partial(GINValueNetwork, width_in, 1, hidden=hidden, layers=self.layers, dropout=self.dropout)

    def _options(self, training: Any) -> Any:
        return training.TrainingOptions(
            optimizer="adam",
            learning_rate=self.learning_rate,
            halve_every=50,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            seed=self.random_state,
        )
