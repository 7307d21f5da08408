"""What all baselines share: how they are fitted, what they state about themselves, which graphs they reject.

A kernel turns graphs into a representation (`_represent`), and two representations into a matrix (`_compare`); new
graphs are compared only with what `fit` kept. `settings` yields the Gram matrix of every setting of the grid of a
method, for model selection by cross-validation. Settings that share work form a group, and are made together: with
`groups` and `settings_of` a caller makes one group at a time, and keeps what it has.

If graphs have both labels and attributes, methods that can use both have the parameter `features`, with one meaning
everywhere: "labels" and "attributes" compare graphs as if they had nothing else, "both" combines the two, and "auto" is
what the method does by itself. The fair grid of such a method tries both together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from rwk.baselines.histograms import Histograms, inner_products, square_norms
from rwk.baselines.parameter_ranges import RANGES, Range, check_parameters
from rwk.convert import as_graphs
from rwk.graphs import GraphError, GraphSet
from rwk.runtime.arrays import FloatArray
from rwk.runtime.finite import finite_matrix

Kind = Literal["kernel", "discrepancy", "classifier"]
LARGE: Final = 2000  # graphs
FEATURES: Final = ("auto", "labels", "attributes", "both")  # values of the parameter `features`
EITHER: Final = "labels or attributes"
BOTH: Final = "labels and attributes"
NO_ATTRIBUTES: Final = "its paper has no way to use attributes"


class NotApplicable(GraphError):
    """Raised if a method can't use the given graphs; the message says what it needs."""


class Baseline(BaseEstimator, ABC):  # type: ignore[misc]
    """Facts about a method; `accepts` lists what it can use: "labels", "attributes", "structure" (neither of them)."""

    title: ClassVar[str]
    reference: ClassVar[str]
    kind: ClassVar[Kind]
    accepts: ClassVar[tuple[str, ...]]
    sees: ClassVar[str]  # which of the data that graphs have it uses by default, in words
    note: ClassVar[str] = ""  # why it can't use the rest
    grid: ClassVar[Mapping[str, Sequence[Any]]]
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {}  # what `fair_grid` changes in `grid`
    fair_parameters: ClassVar[Mapping[str, Any]] = {}  # what a fair comparison sets besides: epochs, as papers have
    extra: ClassVar[str] = ""  # a library that it needs
    ranges: ClassVar[Mapping[str, Range]] = RANGES  # valid values of parameters

    @classmethod
    def fair_grid(cls) -> dict[str, Sequence[Any]]:
        """The grid of a fair comparison: it also tries labels and attributes together, as RWK does."""
        return {**cls.grid, **cls.fair_values}

    @classmethod
    def fair_sees(cls) -> str:
        """Which of the data that graphs have the method uses with its fair grid, in words."""
        return BOTH if "features" in cls.fair_values else cls.sees

    @classmethod
    def grid_for(cls, graphs: GraphSet, *, fair: bool = False) -> dict[str, Sequence[Any]]:
        """The grid, or the fair grid; without labels or without attributes there is nothing to combine."""
        if not fair:
            return dict(cls.grid)
        has = _has(graphs)
        left_out = () if has["labels"] and has["attributes"] else ("features", "label_weight")
        return {name: values for name, values in cls.fair_grid().items() if name not in left_out}

    def solver(self) -> str:
        """How values are found, for records, if that is not the method's own exact way."""
        return ""

    @classmethod
    def applies(cls, graphs: GraphSet) -> bool:
        """Whether the method can use these graphs."""
        return "structure" in cls.accepts or any(_has(graphs)[name] for name in cls.accepts)

    @classmethod
    def check_applies(cls, graphs: GraphSet) -> None:
        """Raise `NotApplicable` if the method can't use these graphs."""
        if not cls.applies(graphs):
            needed = " or ".join(cls.accepts)
            raise NotApplicable(
                f"{cls.title} does not apply to {graphs.name}: it needs node {needed}, and these graphs have none"
            )

    def _checked(self, X: Any) -> GraphSet:
        """Check the parameters, and return the graphs to fit."""
        check_parameters(self.get_params(deep=False), self.ranges)
        return self._graphs(X)

    def _graphs(self, X: Any) -> GraphSet:
        graphs = as_graphs(X)
        self.check_applies(graphs)
        return graphs


class GraphKernel(TransformerMixin, Baseline):  # type: ignore[misc]
    """A graph kernel as a transformer: rows of the matrix are the given graphs, columns the fitted ones."""

    kind: ClassVar[Kind] = "kernel"
    together: ClassVar[tuple[str, ...]] = ()  # parameters whose values are made in one go
    features: str = "auto"  # a parameter of the methods that can choose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Represent the graphs, and keep what new graphs are compared with; y is ignored."""
        graphs = self._checked(X)
        self._learn(graphs)
        self.fitted_ = self._represent(graphs)
        self.n_graphs_ = len(graphs)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Fit, and return the symmetric Gram matrix of the fitted graphs."""
        self.fit(X)
        return finite_matrix(self._compare(self.fitted_, None), what=f"{self.title}: the kernel")

    def transform(self, X: Any) -> FloatArray:
        """Kernel values of new graphs (rows) with the fitted graphs (columns)."""
        check_is_fitted(self, "fitted_")
        return finite_matrix(
            self._compare(self._represent(self._graphs(X)), self.fitted_), what=f"{self.title}: the kernel"
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns, one per fitted graph."""
        check_is_fitted(self, "fitted_")
        return np.array([f"graph{i}" for i in range(self.n_graphs_)], dtype=object)

    def settings(self, X: Any, *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Name and Gram matrix (for kind "discrepancy": discrepancies) of every setting of the grid, or fair grid."""
        graphs = self._graphs(X)
        for shared in self.groups(graphs, fair=fair):
            yield from self.settings_of(graphs, shared, fair=fair)

    def groups(self, X: Any, *, fair: bool = False) -> list[dict[str, Any]]:
        """The groups of settings that are made one after the other: the parameters that the settings of each share."""
        tried = self.grid_for(self._graphs(X), fair=fair)
        return list(ParameterGrid({name: values for name, values in tried.items() if name not in self.together}))

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """`settings` of one group."""
        yield setting_name(shared), kept(self._variant(shared).fit_transform(self._graphs(X)))

    def _variant(self, parameters: Mapping[str, Any]) -> Self:
        """A new estimator with some other parameters."""
        made: Self = clone(self).set_params(**parameters)
        return made

    def _graphs(self, X: Any) -> GraphSet:
        return self._seen(super()._graphs(X))

    def _seen(self, graphs: GraphSet) -> GraphSet:
        """The graphs without the data that `features` leaves out."""
        return seen(graphs, self.features, self.title)

    def _learn(self, graphs: GraphSet) -> None:
        """Learn from the fitted graphs what representing new graphs needs."""

    @abstractmethod
    def _represent(self, graphs: GraphSet) -> Any: ...

    @abstractmethod
    def _compare(self, rows: Any, columns: Any) -> FloatArray:
        """The kernel matrix of two representations; without columns, the symmetric one of the rows."""


class HistogramKernel(GraphKernel):
    """A sum of inner products of histograms, scaled to a unit diagonal if `normalize` is set."""

    normalize: bool

    @abstractmethod
    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        """The terms of the sum."""

    def _compare(self, rows: list[Histograms], columns: list[Histograms] | None) -> FloatArray:
        if columns is None:
            return self._normalized(sum_of(inner_products(term) for term in rows))
        products = sum_of(inner_products(new, old) for new, old in zip(rows, columns, strict=True))
        if not self.normalize:
            return products
        own = [sum_of(square_norms(term) for term in terms) for terms in (rows, columns)]
        return cosine(products, *own)

    def _normalized(self, gram: FloatArray) -> FloatArray:
        return cosine(gram, gram.diagonal(), gram.diagonal()) if self.normalize else gram


class RoundsKernel(HistogramKernel):
    """A histogram kernel with one term per round of refinement 0..`rounds`."""

    together: ClassVar[tuple[str, ...]] = ("rounds",)
    rounds: int

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings_of`; the terms of few rounds are the first terms of more rounds."""
        graphs = self._graphs(X)
        wanted = self.grid_for(graphs, fair=fair)["rounds"]
        deepest = self._variant({"rounds": max(wanted), **shared}).fit(graphs)
        gram: Any = 0.0
        for rounds, term in enumerate(deepest.fitted_):
            gram = gram + inner_products(term)
            if rounds in wanted:
                yield setting_name({"rounds": rounds, **shared}), kept(deepest._normalized(gram))


class DiscrepancyKernel(GraphKernel):
    """exp(−γ D) of a discrepancy D with zero diagonal; `gammas` are the values of γ that its paper tries."""

    kind: ClassVar[Kind] = "discrepancy"
    gammas: ClassVar[Sequence[float]]
    gamma: float

    def discrepancy(self, X: Any = None) -> FloatArray:
        """Discrepancies of new graphs with the fitted graphs; without X, those between the fitted graphs."""
        check_is_fitted(self, "fitted_")
        ends = (self.fitted_, None) if X is None else (self._represent(self._graphs(X)), self.fitted_)
        return finite_matrix(self._discrepancies(*ends), what=f"{self.title}: the discrepancy")

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings_of`, with discrepancies instead of kernels."""
        yield setting_name(shared), kept(self._variant(shared).fit(self._graphs(X)).discrepancy())

    def _compare(self, rows: Any, columns: Any) -> FloatArray:
        return np.asarray(np.exp(-self.gamma * self._discrepancies(rows, columns)))

    @abstractmethod
    def _discrepancies(self, rows: Any, columns: Any) -> FloatArray:
        """The discrepancies of two representations; without columns, the symmetric ones of the rows."""


class GraphClassifier(ClassifierMixin, Baseline):  # type: ignore[misc]
    """A graph classifier: fit(graphs, y), predict(graphs)."""

    kind: ClassVar[Kind] = "classifier"


def cosine(gram: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """K / sqrt(k(x, x) k(y, y)), from the diagonals of rows and columns; 0 if a graph has no features."""
    root = np.sqrt(np.outer(rows, columns))
    return np.divide(gram, root, out=np.zeros_like(gram), where=root > 0)


def kept(matrix: FloatArray) -> Any:
    """The matrix of a setting as it is kept in memory with the others: in single precision if it is large."""
    finite_matrix(matrix, what="the kernel or discrepancy")
    return matrix.astype(np.float32) if len(matrix) > LARGE else matrix


def setting_name(parameters: Mapping[str, Any]) -> str:
    """The name of a setting.

    >>> setting_name({"rounds": 2, "power": 1.0})
    'rounds=2, power=1.0'
    """
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "default"


def sum_of(matrices: Iterator[FloatArray] | Any) -> FloatArray:
    """Sum of matrices from an iterator, so that only one is in memory at a time."""
    total: Any = 0.0
    for matrix in matrices:
        total = total + matrix
    return np.asarray(total)


def seen(graphs: GraphSet, features: str, title: str) -> GraphSet:
    """The graphs without their attributes for "labels", without their labels for "attributes".

    "auto" and "both" leave them as they are. Raises `NotApplicable` if what is to be compared is not there; "labels"
    may be missing, for then degrees replace them.
    """
    if features not in FEATURES:
        raise ValueError(f"features={features!r} is not known: it must be one of {FEATURES}")
    needed = {"attributes": ("attributes",), "both": ("labels", "attributes")}.get(features, ())
    missing = [name for name in needed if not _has(graphs)[name]]
    if missing:
        raise NotApplicable(
            f"{title} with features={features!r} does not apply to {graphs.name}: "
            f"it needs node {' and '.join(needed)}, and these graphs have no {' and no '.join(missing)}"
        )
    if features == "labels":
        return replace(graphs, node_attributes=None)
    return replace(graphs, node_labels=None) if features == "attributes" else graphs


def _has(graphs: GraphSet) -> dict[str, bool]:
    return {
        "labels": graphs.node_labels is not None,
        "attributes": graphs.node_attributes is not None,
        "structure": True,
    }
