"""What all baselines share: how they are fitted, what they state about themselves, which graphs they reject.

A kernel turns graphs into a representation (`_represent`), and two representations into a matrix (`_compare`); new
graphs are compared only with what `fit` kept. `settings` yields the Gram matrix of every setting of the grid of a
method, for model selection by cross-validation, and shares work between settings if it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

Kind = Literal["kernel", "discrepancy", "classifier"]
LARGE: Final = 2000  # graphs


class NotApplicable(GraphError):
    """Raised if a method can't use the given graphs; the message says what it needs."""


class Baseline(BaseEstimator):  # type: ignore[misc]
    """Facts about a method; `accepts` lists what it can use: "labels", "attributes", "structure" (neither of them)."""

    title: ClassVar[str]
    reference: ClassVar[str]
    kind: ClassVar[Kind]
    accepts: ClassVar[tuple[str, ...]]
    grid: ClassVar[Mapping[str, Sequence[Any]]]
    extra: ClassVar[str] = ""  # a library that it needs
    ranges: ClassVar[Mapping[str, Range]] = RANGES  # valid values of parameters

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
        return self._compare(self.fitted_, None)

    def transform(self, X: Any) -> FloatArray:
        """Kernel values of new graphs (rows) with the fitted graphs (columns)."""
        check_is_fitted(self, "fitted_")
        return self._compare(self._represent(self._graphs(X)), self.fitted_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns, one per fitted graph."""
        check_is_fitted(self, "fitted_")
        return np.array([f"graph{i}" for i in range(self.n_graphs_)], dtype=object)

    def settings(self, X: Any) -> Iterator[tuple[str, FloatArray]]:
        """Name and Gram matrix (for kind "discrepancy": discrepancies) of every setting of the grid."""
        graphs = self._graphs(X)
        for parameters in ParameterGrid(self.grid):
            yield setting_name(parameters), kept(clone(self).set_params(**parameters).fit_transform(graphs))

    def _learn(self, graphs: GraphSet) -> None:
        """Learn from the fitted graphs what representing new graphs needs."""

    def _represent(self, graphs: GraphSet) -> Any:
        raise NotImplementedError

    def _compare(self, rows: Any, columns: Any) -> FloatArray:
        """The kernel matrix of two representations; without columns, the symmetric one of the rows."""
        raise NotImplementedError


class HistogramKernel(GraphKernel):
    """A sum of inner products of histograms, scaled to a unit diagonal if `normalize` is set."""

    normalize: bool

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        """The terms of the sum."""
        raise NotImplementedError

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

    rounds: int

    def settings(self, X: Any) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings`; the terms of few rounds are the first terms of more rounds."""
        graphs = self._graphs(X)
        others = {name: values for name, values in self.grid.items() if name != "rounds"}
        for parameters in ParameterGrid(others):
            deepest = clone(self).set_params(rounds=max(self.grid["rounds"]), **parameters).fit(graphs)
            gram: Any = 0.0
            for rounds, term in enumerate(deepest.fitted_):
                gram = gram + inner_products(term)
                if rounds in self.grid["rounds"]:
                    yield setting_name({"rounds": rounds, **parameters}), kept(deepest._normalized(gram))


class DiscrepancyKernel(GraphKernel):
    """exp(−γ D) of a discrepancy D with zero diagonal; `gammas` are the values of γ that its paper tries."""

    kind: ClassVar[Kind] = "discrepancy"
    gammas: ClassVar[Sequence[float]]
    gamma: float

    def discrepancy(self, X: Any = None) -> FloatArray:
        """Discrepancies of new graphs with the fitted graphs; without X, those between the fitted graphs."""
        check_is_fitted(self, "fitted_")
        if X is None:
            return self._discrepancies(self.fitted_, None)
        return self._discrepancies(self._represent(self._graphs(X)), self.fitted_)

    def settings(self, X: Any) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings`, with discrepancies instead of kernels."""
        graphs = self._graphs(X)
        for parameters in ParameterGrid(self.grid):
            yield setting_name(parameters), kept(clone(self).set_params(**parameters).fit(graphs).discrepancy())

    def _compare(self, rows: Any, columns: Any) -> FloatArray:
        return np.asarray(np.exp(-self.gamma * self._discrepancies(rows, columns)))

    def _discrepancies(self, rows: Any, columns: Any) -> FloatArray:
        """The discrepancies of two representations; without columns, the symmetric ones of the rows."""
        raise NotImplementedError


class GraphClassifier(ClassifierMixin, Baseline):  # type: ignore[misc]
    """A graph classifier: fit(graphs, y), predict(graphs)."""

    kind: ClassVar[Kind] = "classifier"


def cosine(gram: FloatArray, rows: FloatArray, columns: FloatArray) -> FloatArray:
    """K / sqrt(k(x, x) k(y, y)), from the diagonals of rows and columns; 0 if a graph has no features."""
    root = np.sqrt(np.outer(rows, columns))
    return np.divide(gram, root, out=np.zeros_like(gram), where=root > 0)


def kept(matrix: FloatArray) -> Any:
    """The matrix of a setting as it is kept in memory with the others: in single precision if it is large."""
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


def _has(graphs: GraphSet) -> dict[str, bool]:
    return {
        "labels": graphs.node_labels is not None,
        "attributes": graphs.node_attributes is not None,
        "structure": True,
    }
