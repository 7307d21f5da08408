"""Propagation kernels: label distributions, attributes or both spread along edges, hashed into bins after every step.

The random numbers of a hash depend on the seed and the label only, so a label that first occurs in a new graph is
hashed as if it had been among the fitted graphs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from rwk.baselines.base import EITHER, RoundsKernel
from rwk.baselines.histograms import PAIR_SALT, Histograms, Keys, histograms, owners
from rwk.baselines.node_features import check_same_data, labels_or_degrees, one_hot
from rwk.baselines.parameter_ranges import POSITIVE, RANGES, Range
from rwk.graphs import GraphError, GraphSet
from rwk.graphs.colours import mix
from rwk.represent.features import block_adjacency
from rwk.runtime.arrays import FloatArray, IntArray

LABEL_WIDTH: Final = 0.01
ATTRIBUTE_WIDTH: Final = 4.0
LARGEST: Final = 2.0**62


class PK(RoundsKernel):
    """Propagation kernel: inner products of bin counts after each step of propagation.

    Attributes are propagated if there are any, otherwise labels, otherwise degrees; or attributes and labels both, and
    nodes then match if they are in the same bin for both: the product of two node kernels.

    Parameters
    ----------
    rounds : int, default 5
        Steps of propagation.
    distance : {"l1", "l2"}, default "l1"
        The distance that the hash preserves; for label distributions "l1" is total variation and "l2" the Hellinger
        distance.
    width : float, optional
        Width of a bin; by default 0.01 for labels and 4 for attributes.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What is propagated. "auto" is "attributes" if there are any, otherwise "labels".
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.
    random_state : int, default 0
        Seed of the hashes.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> K = PK(rounds=2).fit_transform(as_graphs([nx.path_graph(3), nx.path_graph(4), nx.path_graph(3)]))
    >>> bool(K[0, 2] == 1), bool(K[0, 1] < 1)
    (True, True)
    """

    title: ClassVar[str] = "PK"
    reference: ClassVar[str] = (
        "M. Neumann, R. Garnett, C. Bauckhage, K. Kersting. "
        "Propagation kernels: efficient graph kernels from propagated information. Machine Learning 102, 2016."
    )
    accepts: ClassVar[tuple[str, ...]] = ("attributes", "labels", "structure")
    sees: ClassVar[str] = EITHER
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": tuple(range(11)), "normalize": (True, False)}
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {"features": ("labels", "attributes", "both")}
    ranges: ClassVar[Mapping[str, Range]] = {**RANGES, "width": POSITIVE._replace(or_none=True)}

    def __init__(
        self,
        *,
        rounds: int = 5,
        distance: str = "l1",
        width: float | None = None,
        features: str = "auto",
        normalize: bool = True,
        random_state: int = 0,
    ) -> None:
        self.rounds = rounds
        self.distance = distance
        self.width = width
        self.features = features
        self.normalize = normalize
        self.random_state = random_state

    def _learn(self, graphs: GraphSet) -> None:
        if self.distance not in ("l1", "l2"):
            raise ValueError(f"distance={self.distance!r} is not known: it must be 'l1' or 'l2'")
        self.n_attributes_ = 0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        check_same_data(graphs.node_attributes, self.n_attributes_ > 0)
        keys = self._attribute_keys(graphs) if self.n_attributes_ else self._label_keys(graphs)
        if self.features == "both":
            both = zip(keys, self._label_keys(graphs), strict=True)
            keys = [mix(by_attributes + mix(by_labels)) for by_attributes, by_labels in both]
        return [histograms(owners(graphs), of_round, len(graphs)) for of_round in keys]

    def _label_keys(self, graphs: GraphSet) -> list[Keys]:
        labels = labels_or_degrees(graphs)
        known = np.unique(labels)
        directions, shifts = self._label_draws(known)
        width = LABEL_WIDTH if self.width is None else self.width
        spread, step = one_hot(labels, known), transition(graphs)
        keys = []
        for direction, shift in zip(directions, shifts, strict=True):
            projected = (np.sqrt(spread) if self.distance == "l2" else spread) @ direction
            keys.append(_bins((projected + shift) / width))
            spread = step @ spread
        return keys

    def _attribute_keys(self, graphs: GraphSet) -> list[Keys]:
        x = graphs.node_attributes
        assert x is not None
        if x.shape[1] != self.n_attributes_:
            raise GraphError(
                f"these graphs have {x.shape[1]} node attributes and the fitted graphs had {self.n_attributes_}; "
                "give graphs with the same attributes"
            )
        directions, shifts = self._attribute_draws()
        width = ATTRIBUTE_WIDTH if self.width is None else self.width
        step = transition(graphs)
        column = np.arange(x.shape[1], dtype=np.uint64)
        keys = []
        for direction, shift in zip(directions, shifts, strict=True):
            bins = mix(_bins((x * direction + shift) / width) + column * PAIR_SALT)  # one bin per column
            keys.append(mix(bins.sum(axis=1, dtype=np.uint64)))
            x = step @ x
        return keys

    def _label_draws(self, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Directions (rounds + 1, labels) and shifts (rounds + 1,)."""
        each = [self._draw(np.random.default_rng([self.random_state, 1, int(label) % 2**63])) for label in labels]
        width = LABEL_WIDTH if self.width is None else self.width
        return np.stack(each, axis=1), np.random.default_rng([self.random_state, 0]).uniform(0, width, self.rounds + 1)

    def _attribute_draws(self) -> tuple[FloatArray, FloatArray]:
        """Directions and shifts, both (rounds + 1, attributes)."""
        each = [self._draw(np.random.default_rng([self.random_state, 2, i])) for i in range(self.n_attributes_)]
        width = ATTRIBUTE_WIDTH if self.width is None else self.width
        shape = (self.rounds + 1, self.n_attributes_)
        return np.stack(each, axis=1), np.random.default_rng([self.random_state, 0]).uniform(0, width, shape)

    def _draw(self, generator: np.random.Generator) -> FloatArray:
        size = self.rounds + 1
        return generator.standard_cauchy(size) if self.distance == "l1" else generator.standard_normal(size)


def transition(graphs: GraphSet) -> Any:
    """D⁻¹A of all graphs, block-diagonal; an isolated node keeps its value."""
    from scipy.sparse import diags_array

    adjacency = block_adjacency(graphs)
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    alone = degrees <= 0
    inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=~alone)
    return (diags_array(inverse) @ adjacency + diags_array(alone.astype(float))).tocsr()


def _bins(values: FloatArray) -> Keys:
    return np.clip(np.floor(values), -LARGEST, LARGEST).astype(np.int64).view(np.uint64)
