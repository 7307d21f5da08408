"""Hash graph kernels: attributes become labels by random hashes, repeatedly, and kernels for labels are averaged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from rwk.baselines.base import EITHER, HistogramKernel
from rwk.baselines.histograms import PAIR_SALT, Histograms, Keys, histograms, join_columns, owners
from rwk.baselines.node_features import learn_vectors
from rwk.baselines.paths import hop_distances
from rwk.graphs import GraphSet
from rwk.graphs.colours import mix, wl_colours
from rwk.runtime.arrays import FloatArray, IntArray

_REFERENCE = (
    "C. Morris, N. M. Kriege, K. Kersting, P. Mutzel. "
    "Faster kernels for graphs with continuous attributes via hashing. ICDM 2016."
)


class HashKernel(HistogramKernel):
    """Mean of a label kernel over random labels floor((x·v + b) / width), v normal, b uniform.

    Attributes are standardised over the fitted graphs; for graphs without attributes, one-hot labels are hashed, or
    one-hot degrees if there are no labels. With features="both", the random label of a node is the pair of the hash of
    its attributes and its own label.
    """

    reference: ClassVar[str] = _REFERENCE
    accepts: ClassVar[tuple[str, ...]] = ("attributes", "labels", "structure")
    sees: ClassVar[str] = EITHER
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {"features": ("labels", "attributes", "both")}

    n_hashes: int
    width: float
    random_state: int

    def _learn(self, graphs: GraphSet) -> None:
        self.vectors_ = learn_vectors(graphs)
        width = self.vectors_.of(graphs[:1]).shape[1]
        generator = np.random.default_rng(self.random_state)
        self.directions_: FloatArray = generator.standard_normal((width, self.n_hashes))
        self.shifts_: FloatArray = generator.uniform(0.0, self.width, self.n_hashes)

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        projected = self.vectors_.of(graphs) @ self.directions_ + self.shifts_
        labels = np.floor(projected / self.width).astype(np.int64)  # (nodes, hashes)
        if self.features == "both":
            assert graphs.node_labels is not None
            own = mix(graphs.node_labels.astype(np.int64).view(np.uint64))
            labels = mix(mix(labels.view(np.uint64)) + own[:, None] * PAIR_SALT).view(np.int64)
        prepared = self._prepared(graphs)
        return [self._labelled(prepared, np.ascontiguousarray(column)) for column in labels.T]

    def _normalized(self, gram: FloatArray) -> FloatArray:
        return super()._normalized(gram / (1 if self.normalize else self.n_hashes))

    def _prepared(self, graphs: GraphSet) -> Any:
        """The part of the work that does not depend on the hash."""
        return graphs

    @abstractmethod
    def _labelled(self, prepared: Any, labels: IntArray) -> Histograms:
        """The counts of the label kernel, for the labels of one hash."""


class HGKWL(HashKernel):
    """Hash graph kernel with the Weisfeiler-Lehman subtree kernel.

    Parameters
    ----------
    rounds : int, default 3
        Rounds of colour refinement.
    n_hashes : int, default 20
        Number of random hashes.
    width : float, default 1.0
        Width of the bins of a hash, in standard deviations of the attributes.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What is hashed: attributes, one-hot labels, or attributes with the label beside each hash ("both"). "auto" is
        "attributes" if there are any, otherwise "labels"; degrees stand for missing labels.
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.
    random_state : int, default 0
        Seed of the hashes.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import numpy as np
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> graphs = as_graphs([(edge, np.array([[0.0], [1.0]])), (edge, np.array([[0.0], [9.0]]))])
    >>> K = HGKWL().fit_transform(graphs)
    >>> bool(K[0, 0] == 1.0), bool(K[0, 1] < 1.0)
    (True, True)
    """

    title: ClassVar[str] = "HGK-WL"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": (1, 2, 3)}

    def __init__(
        self,
        *,
        rounds: int = 3,
        n_hashes: int = 20,
        width: float = 1.0,
        features: str = "auto",
        normalize: bool = True,
        random_state: int = 0,
    ) -> None:
        self.rounds = rounds
        self.n_hashes = n_hashes
        self.width = width
        self.features = features
        self.normalize = normalize
        self.random_state = random_state

    def _labelled(self, prepared: GraphSet, labels: IntArray) -> Histograms:
        colours = wl_colours(replace(prepared, node_labels=labels), self.rounds)
        owner = owners(prepared)
        return join_columns([histograms(owner, keys, len(prepared)) for keys in colours])


class HGKSP(HashKernel):
    """Hash graph kernel with the shortest-path kernel: counts of pairs of nodes by their labels and distance.

    Parameters
    ----------
    n_hashes : int, default 20
        Number of random hashes.
    width : float, default 1.0
        Width of the bins of a hash, in standard deviations of the attributes.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What is hashed: attributes, one-hot labels, or attributes with the label beside each hash ("both"). "auto" is
        "attributes" if there are any, otherwise "labels"; degrees stand for missing labels.
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.
    random_state : int, default 0
        Seed of the hashes.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import numpy as np
    >>> edge = np.array([[0, 1], [1, 0]])
    >>> graphs = as_graphs([(edge, np.array([[0.0], [1.0]])), (edge, np.array([[0.0], [9.0]]))])
    >>> K = HGKSP().fit_transform(graphs)
    >>> bool(K[0, 0] == 1.0), bool(K[0, 1] < 1.0)
    (True, True)
    """

    title: ClassVar[str] = "HGK-SP"
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {}

    def __init__(
        self,
        *,
        n_hashes: int = 20,
        width: float = 1.0,
        features: str = "auto",
        normalize: bool = True,
        random_state: int = 0,
    ) -> None:
        self.n_hashes = n_hashes
        self.width = width
        self.features = features
        self.normalize = normalize
        self.random_state = random_state

    def _prepared(self, graphs: GraphSet) -> tuple[int, Any, Any, Any, Keys]:
        """Number of graphs; graph, two ends and distance of every connected pair of nodes."""
        owner, low, high, distance = [], [], [], []
        for i, graph in enumerate(graphs):
            hops = hop_distances(graph)
            first, second = np.nonzero(np.triu(hops, 1) > 0)
            owner.append(np.full(len(first), i))
            low.append(first + graphs.node_offsets[i])
            high.append(second + graphs.node_offsets[i])
            distance.append(hops[first, second])
        lengths = mix(np.concatenate(distance).astype(np.uint64))
        return len(graphs), np.concatenate(owner), np.concatenate(low), np.concatenate(high), lengths

    def _labelled(self, prepared: tuple[int, Any, Any, Any, Keys], labels: IntArray) -> Histograms:
        n_graphs, owner, low, high, lengths = prepared
        codes = mix(labels.view(np.uint64))
        return histograms(owner, mix((mix(codes[low]) + mix(codes[high])) ^ lengths), n_graphs)
