"""How the neural baselines are fitted: from graphs to tensors, from training graphs to the best epoch.

A node is described by its one-hot label and its standardised attributes; if graphs have neither, by its one-hot degree.
Part of the training graphs is set aside, stratified; the epoch that does best on it is kept. torch is imported only
when a network is built.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import ParameterGrid, StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from rwk.baselines.base import BOTH, GraphClassifier
from rwk.baselines.node_features import NodeVectors, check_same_data, labels_or_degrees, learn_vectors, one_hot
from rwk.graphs import GraphSet
from rwk.learn.one_vs_one import encode_classes
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import finite_rows


class NeuralClassifier(GraphClassifier):
    """A network trained on graphs, the base class of the four classifiers.

    The share `validation` of the training graphs is set aside to choose the epoch, and every parameter of the grid that
    is None. Without validation graphs the last epoch and the first value of the grid are used.

    Parameters
    ----------
    learning_rate : float
        Step size of the optimizer.
    batch_size : int
        Graphs per training step.
    epochs : int
        The most passes over the training graphs.
    patience : int
        Epochs without a better validation score after which training stops.
    validation : float
        Share of the training graphs that is set aside; 0 for none.
    random_state : int
        Seed of initial weights, order of graphs and choice of validation graphs.
    device : str
        A torch device, such as "cpu" or "cuda".

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    network_ : torch.nn.Module
        The trained network.
    chosen_ : dict
        The chosen parameters and "epoch".
    validation_score_, validation_loss_ : float
        Accuracy and loss on the validation graphs; NaN without any.
    history_ : tuple of float
        Accuracy on the validation graphs after each epoch.
    """

    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = BOTH
    extra: ClassVar[str] = "torch"
    optimizer: ClassVar[str] = "adam"
    halve_every: ClassVar[int] = 0

    epochs: int
    patience: int
    batch_size: int
    learning_rate: float | None
    validation: float
    random_state: int
    device: str

    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Train on graphs and their classes."""
        training, batches = torch_modules(self.title)
        graphs = self._checked(X)
        batches.check_device(self.device)
        self.classes_, codes = encode_classes(y)
        if len(codes) != len(graphs):
            raise ValueError(f"{len(codes)} classes were given for {len(graphs)} graphs; give one per graph")
        self._learn(graphs)
        tensors = batches.graph_tensors(graphs, self._inputs(graphs), self._fields(graphs), self.device)
        split = self._split(codes)
        best: Any = None
        for candidate in self._candidates(len(split[1]) > 0):
            self.chosen_ = candidate
            make = functools.partial(self._network, tensors.x.shape[1], len(self.classes_))
            trained = training.train(make, tensors, codes, split, self._options(training))
            if best is None or (trained.score, -trained.loss) > (best[0].score, -best[0].loss):
                best = trained, {**candidate, "epoch": trained.epoch}
        trained, self.chosen_ = best
        self.network_, self.validation_score_, self.validation_loss_ = trained.network, trained.score, trained.loss
        self.history_: tuple[float, ...] = trained.history
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each graph."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes, shape (graphs, classes)."""
        check_is_fitted(self, "network_")
        training, batches = torch_modules(self.title)
        graphs = self._graphs(X)
        tensors = batches.graph_tensors(graphs, self._inputs(graphs), self._fields(graphs), self.device)
        return finite_rows(training.class_scores(self.network_, tensors), what=f"{self.title}: the probabilities")

    def _learn(self, graphs: GraphSet) -> None:
        self.vectors_: NodeVectors = learn_vectors(graphs)
        self.labels_: IntArray | None = None
        if graphs.node_attributes is not None and graphs.node_labels is not None:
            self.labels_ = np.unique(graphs.node_labels)
        self.sizes_: IntArray = graphs.sizes

    def _inputs(self, graphs: GraphSet) -> FloatArray:
        """The input of the network: one row per node, shape (V, d)."""
        check_same_data(graphs.node_attributes, self.vectors_.labels is None)
        vectors = self.vectors_.of(graphs)
        if self.labels_ is None:
            return vectors
        return np.concatenate([one_hot(labels_or_degrees(graphs), self.labels_), vectors], axis=1)

    def _candidates(self, validated: bool) -> list[dict[str, Any]]:
        """The values to try for the parameters of the grid."""
        given = {name: getattr(self, name) for name in self.grid}
        values = {name: self.grid[name] if given[name] is None else (given[name],) for name in self.grid}
        candidates = [dict(one) for one in ParameterGrid(values)]
        return candidates if validated else candidates[:1]

    def _options(self, training: Any) -> Any:
        return training.TrainingOptions(
            optimizer=self.optimizer,
            learning_rate=self.chosen_.get("learning_rate", self.learning_rate),
            halve_every=self.halve_every,
            epochs=self.epochs,
            patience=self.patience,
            batch_size=self.batch_size,
            seed=self.random_state,
        )

    def _split(self, codes: IntArray) -> tuple[IntArray, IntArray]:
        """Graphs to train on, and graphs set aside for validation."""
        n_aside = int(np.ceil(self.validation * len(codes)))
        if not n_aside:
            return np.arange(len(codes)), np.empty(0, np.int64)
        counts = np.bincount(codes)
        n_aside = max(n_aside, len(counts))
        if counts.min() < 2:
            name = self.classes_[int(counts.argmin())]
            raise ValueError(f"class {name} has a single graph, which can't be set aside; use validation=0")
        if len(codes) - n_aside < len(counts):
            raise ValueError(f"validation={self.validation} leaves too few of {len(codes)} graphs; set fewer aside")
        splitter = StratifiedShuffleSplit(1, test_size=n_aside, random_state=self.random_state)
        learn, aside = next(splitter.split(codes, codes))
        return learn.astype(np.int64), aside.astype(np.int64)

    def _fields(self, graphs: GraphSet) -> IntArray | None:
        """Receptive fields, if the network needs them."""
        return None

    @abstractmethod
    def _network(self, width: int, n_classes: int) -> Any: ...


def torch_modules(title: str) -> tuple[Any, Any]:
    """The modules that need torch; raises an error that says how to install it."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise ImportError(f"{title} needs torch; install it with: pip install 'rwk[baselines]'") from None
    from rwk.baselines.networks import batches, training

    return training, batches
