"""What all converters share: names of attributes, collected warnings, and the last step to a `Graph`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import Graph, GraphError
from rwk.graphs.canonical import canonical_edges, label_codes
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.user_warnings import warn_user

ONE_DIRECTION = (
    "have edges in one direction only, or with different values in the two directions; they are used in both"
)


@dataclass(frozen=True)
class Names:
    """Names of attributes as the user gave them; None means that the usual names are tried."""

    node_label: str | None = None
    node_attributes: str | Sequence[str] | None = None
    edge_weight: str = "weight"
    edge_label: str | None = None
    edge_attributes: str | Sequence[str] | None = None


@dataclass
class Notes:
    """Collects what was changed without being asked, to warn once when all graphs are converted."""

    counts: Counter[str] = field(default_factory=Counter)
    sentences: dict[str, None] = field(default_factory=dict)  # each once, in order

    def add(self, what: str) -> None:
        """Count one more graph to which this happened."""
        self.counts[what] += 1

    def say(self, sentence: str) -> None:
        """Keep a sentence about all graphs together."""
        self.sentences[sentence] = None

    def warn(self, n_graphs: int) -> None:
        """Give one warning per kind of change, and one per sentence."""
        for sentence in self.sentences:
            warn_user(sentence)
        for what, count in self.counts.items():
            warn_user(f"{count} of {n_graphs} graphs {what}")


def build_graph(
    n_nodes: int,
    ends: NDArray[Any],
    *,
    nodes: Mapping[str, Any] | None = None,
    edges: Mapping[str, Any] | None = None,
    label_names: Mapping[int, str] | None = None,
) -> tuple[Graph, bool]:
    """A `Graph` from edges in any order and direction, and whether both directions were listed with equal values.

    `nodes` and `edges` hold fields of `Graph`, with one row per node and one row per row of `ends`.
    """
    given = edges or {}
    try:
        numbers = np.asarray(ends, dtype=np.int64)
    except OverflowError:
        raise GraphError("an edge has a node number of more than 64 bits; number the nodes from 0") from None
    form = canonical_edges(
        numbers,
        n_nodes,
        weights=given.get("edge_weights"),
        labels=given.get("edge_labels"),
        attributes=given.get("edge_attributes"),
    )
    weights = form.weights
    graph = Graph(
        n_nodes,
        form.edges,
        edge_weights=None if weights is None or (weights == 1).all() else weights,
        edge_labels=form.labels,
        edge_attributes=form.attributes,
        label_names=label_names or None,
        **(nodes or {}),
    )
    return graph, not (form.one_way or form.uneven)


def coded(values: Iterable[Any], where: str) -> tuple[IntArray, dict[int, str]]:
    """Codes of labels and their names; raises if a label is missing or NaN."""
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "iubUS"):
        values = list(values)
        for i, value in enumerate(values):
            if value is None or (isinstance(value, float) and np.isnan(value)):
                raise GraphError(f"{where} {i} has no label; give a label to all or to none")
    return label_codes(values)


def float_rows(values: Any, where: str) -> FloatArray:
    """Numbers or vectors, one per node or edge, as the rows of a float array."""
    try:
        if getattr(values, "dtype", None) is not None and values.dtype.kind in "mMc":  # times and complex numbers
            raise TypeError
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"{where}: attributes must be numbers, the same number of them in every row") from error
    return rows.reshape(len(rows), math.prod(rows.shape[1:]))


def is_vector(value: Any) -> bool:
    """Whether the value of an attribute is a list of numbers rather than a label."""
    if isinstance(value, np.ndarray) and value.ndim != 1:
        return False
    return isinstance(value, list | tuple | np.ndarray) and len(value) > 0 and all(is_number(v) for v in value)


def is_number(value: Any) -> bool:
    """Whether the value is a number; True and False are labels."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
