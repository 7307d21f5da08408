"""Features of graphs by landmarks: N graphs cost N m solves, and a linear model follows.

The Nystroem map of an indefinite kernel K (Oglic and Gaertner 2019: learning in Krein spaces). With K_mm = V diag(lam)
V^T between m landmarks and K_Nm between all graphs and the landmarks,

    Phi = K_Nm V |lam|^(-1/2)          Phi sign(lam) Phi^T = K_Nm K_mm^+ K_mN, which approximates K.

Eigenvalues of either sign count by their size. A linear SVM on Phi forgets the signs: its kernel is Phi Phi^T, the
Nystroem approximation of the flip kernel (negative eigenvalues replaced by their absolute values).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from rwk.convert import as_graphs
from rwk.gram.blocks import cut
from rwk.gram.matrix import column_discrepancy, self_discrepancy
from rwk.graphs import FloatArray, IntArray
from rwk.kernel import RWKernel
from rwk.parameters import Parameters
from rwk.transport.problem import GraphMeasures

SELECTIONS: Final = ("k-means++", "leverage", "uniform")
ROUNDS: Final = 20  # in which k-means++ draws landmarks, each round seeing the ones before
ROWS_AT_ONCE: Final = 2048
RIDGE: Final = 1e-3  # of leverage scores, relative to the largest eigenvalue


class RWFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Graphs as vectors whose inner products approximate the (flipped) RW kernel.

    `kernel` is an `RWKernel` with the parameters to use. `selection` says how landmarks are drawn from the fitted
    graphs: "k-means++" (far from those drawn), "leverage" (half uniformly, half by leverage scores from these) or
    "uniform". Eigenvalues whose size is below `tol` times the largest are left out. Learned: `landmarks_` (numbers of
    the fitted graphs), `kernel_` (fitted, with the landmarks for columns), `map_`, `signature_` (signs of the kept
    eigenvalues), `n_solved_` (pairs the fit took).

    >>> import networkx as nx
    >>> graphs = [nx.path_graph(n) for n in range(3, 9)] + [nx.star_graph(n) for n in range(3, 9)]
    >>> features = RWFeatures(n_landmarks=4).fit(graphs)
    >>> features.transform([nx.cycle_graph(5)]).shape[0], features.n_solved_
    (1, 48)
    """

    def __init__(
        self,
        n_landmarks: int = 200,
        *,
        kernel: RWKernel | None = None,
        selection: str = "k-means++",
        tol: float = 1e-3,
        random_state: int | None = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.selection = selection
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the graphs and learn the map; y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:
        """Fit, and the features of the fitted graphs, which cost no further solves."""
        return np.asarray(self._fit(X) @ self.map_)

    def transform(self, X: Any) -> FloatArray:
        """Features of graphs, shape (len(X), rank): one solve a landmark and graph."""
        check_is_fitted(self, "map_")
        graphs = as_graphs(X)
        parts = [graphs[start : start + ROWS_AT_ONCE] for start in range(0, len(graphs), ROWS_AT_ONCE)]
        return np.concatenate([self.kernel_.transform(part) @ self.map_ for part in parts])

    def _fit(self, X: Any) -> FloatArray:
        """Learn everything; returns the kernel of the fitted graphs with the landmarks."""
        self._check()
        kernel: RWKernel = clone(self.kernel) if self.kernel is not None else RWKernel()
        kernel.fit(X)
        settings = Parameters.of(kernel.get_params(deep=False))
        m = min(int(self.n_landmarks), kernel.n_graphs_)
        drawing = _Drawing(kernel.measures_, settings, np.random.default_rng(self.random_state))
        self.landmarks_ = drawing.draw(self.selection, m)
        self.n_solved_ = drawing.n_solved
        columns = np.exp(-settings.eta * drawing.discrepancy())
        square = columns[self.landmarks_]
        values, vectors = np.linalg.eigh(0.5 * (square + square.T))
        kept = np.abs(values) > self.tol * np.abs(values).max()
        self.eigenvalues_, self.signature_ = values[kept], np.sign(values[kept])
        self.map_ = vectors[:, kept] / np.sqrt(np.abs(values[kept]))
        kernel.measures_, kernel.n_graphs_ = cut(kernel.measures_, self.landmarks_), m
        self.kernel_ = kernel
        return columns

    def _check(self) -> None:
        if int(self.n_landmarks) != self.n_landmarks or self.n_landmarks < 1:
            raise ValueError(f"n_landmarks={self.n_landmarks!r} must be a whole number of at least 1")
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection={self.selection!r} is not known; it is one of {', '.join(SELECTIONS)}")
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol={self.tol!r} is outside its range: it must be at least 0 and less than 1")

    @property
    def _n_features_out(self) -> int:
        return int(self.map_.shape[1])


class _Drawing:
    """Landmarks as they are drawn, with the column of discrepancies each of them costs."""

    def __init__(self, measures: GraphMeasures, settings: Parameters, rng: np.random.Generator) -> None:
        self.measures, self.settings, self.rng = measures, replace(settings, debias=False), rng
        self.chosen = np.zeros(0, np.int64)
        self.columns = np.zeros((measures.n_graphs, 0))
        self.own = self_discrepancy(measures, self.settings) if settings.debias else None

    @property
    def n_solved(self) -> int:
        return self.columns.size + (0 if self.own is None else len(self.own))

    def draw(self, selection: str, m: int) -> IntArray:
        if selection == "uniform":
            self._add(np.ones(self.measures.n_graphs), m)
        elif selection == "leverage":
            self._add(np.ones(self.measures.n_graphs), (m + 1) // 2)
            self._add(self._leverage(), m - len(self.chosen))
        else:
            self._add(np.ones(self.measures.n_graphs), 1)
            while len(self.chosen) < m:
                nearest = self.discrepancy().min(axis=1)
                self._add(nearest - min(nearest.min(), 0.0), min(-(-m // ROUNDS), m - len(self.chosen)))
        return self.chosen

    def discrepancy(self) -> FloatArray:
        """All graphs with the landmarks so far, debiased if so asked."""
        if self.own is None:
            return self.columns
        return np.asarray(self.columns - 0.5 * (self.own[:, None] + self.own[self.chosen][None, :]))

    def _add(self, weights: NDArray[np.float64], count: int) -> None:
        """Draw so many graphs that are no landmarks yet, with chances by weight, and solve their columns."""
        chances = np.maximum(weights, 1e-12 * max(float(weights.max()), 1e-300))
        chances[self.chosen] = 0.0
        new = self.rng.choice(len(chances), count, replace=False, p=chances / chances.sum())
        self.columns = np.hstack([self.columns, column_discrepancy(self.measures, new, self.settings)])
        self.chosen = np.concatenate([self.chosen, new])

    def _leverage(self) -> FloatArray:
        """Ridge leverage scores of all graphs, by the Nystroem features of the landmarks so far."""
        kernel = np.exp(-self.settings.eta * self.discrepancy())
        values, vectors = np.linalg.eigh(kernel[self.chosen])
        size = np.maximum(np.abs(values), 1e-6 * np.abs(values).max())
        features = kernel @ vectors / np.sqrt(size)
        gram = features.T @ features
        gram[np.diag_indices_from(gram)] += RIDGE * np.linalg.eigvalsh(gram)[-1]
        return np.asarray(np.einsum("ij,ji->i", features, np.linalg.solve(gram, features.T)))
