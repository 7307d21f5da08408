"""Features of graphs by m landmarks, for linear models: N graphs need N m solved pairs instead of N (N + 1) / 2.

The Nystroem map of an indefinite kernel K (Oglic and Gaertner 2019: learning in Krein spaces). With K_mm = V diag(lam)
V^T between m landmarks and K_Nm between all graphs and the landmarks,

    Phi = K_Nm V |lam|^(-1/2)          Phi sign(lam) Phi^T = K_Nm K_mm^+ K_mN, which approximates K.

A linear SVM on Phi ignores the signs: its kernel is Phi Phi^T, the Nystroem approximation of the flip kernel (negative
eigenvalues replaced by their absolute values).

If most graphs are about equally far apart, as labelled molecules are, a few landmarks hardly tell neighbours apart. The
mean feature vectors of the graphs do, and need no solving (their distance is a lower bound of RW); used together with
Phi they keep the accuracy. Their entries are shares of nodes, and their square roots are compared (Hellinger's
distance), so that rare features count beside common ones. Phi adds what a mean does not contain, with a lower weight:
it is dense, and a linear model would fit its noise first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from rwk.convert import as_graphs
from rwk.gram.matrix import column_discrepancy, self_discrepancy
from rwk.kernel import RWKernel
from rwk.retrieval.bounds import means
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.finite import kernel_of
from rwk.runtime.parameter_checks import check_seed, shown
from rwk.transport.measures import GraphMeasures, cut

SELECTIONS: Final = ("k-means++", "leverage", "uniform")
ROUNDS: Final = 20  # of k-means++: landmarks of one round are drawn given those of the rounds before
ROWS_AT_ONCE: Final = 2048
HASHED: Final = 2**16  # columns that the mean feature vectors are hashed to
LENGTH: Final = 0.3  # mean length of the Nystroem features, beside mean feature vectors of length 1
RIDGE: Final = 1e-3  # of leverage scores, relative to the largest eigenvalue


class RWFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn graphs into vectors for linear models: Nystroem features of the RW kernel, and mean feature vectors.

    A scikit-learn transformer. `fit` solves N m pairs for N graphs and m landmarks, `transform` m pairs per graph.

    Parameters
    ----------
    n_landmarks : int, default 200
        Number of landmarks; at most the number of fitted graphs.
    kernel : RWKernel, optional
        A kernel with the parameters to use; by default `RWKernel()`.
    selection : {"k-means++", "leverage", "uniform"}, default "k-means++"
        How landmarks are drawn from the fitted graphs: each far from those drawn before, or half uniformly and half by
        leverage scores, or uniformly.
    barycentres : bool, default True
        Whether to add the graphs' mean feature vectors. The result is then a sparse matrix of two blocks: the Nystroem
        features, centred and of mean length 0.3, and the square roots of the mean feature vectors, hashed to 2^16
        columns and of length 1. Without it, the result is the array of Nystroem features, and a linear SVM has the
        flip kernel.
    tol : float, default 1e-3
        Eigenvalues smaller in size than `tol` times the largest are left out.
    random_state : int or None, default 0
        Seed of the drawing.

    Attributes
    ----------
    landmarks_ : ndarray of int
        Numbers of the landmarks among the fitted graphs.
    kernel_ : RWKernel
        The fitted kernel; its columns are the landmarks.
    map_ : ndarray
        The map from kernel rows to Nystroem features.
    signature_ : ndarray
        Signs of the eigenvalues that were kept.
    n_solved_ : int
        Number of pairs that `fit` solved.

    Examples
    --------
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
        barycentres: bool = True,
        tol: float = 1e-3,
        random_state: int | None = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.kernel = kernel
        self.selection = selection
        self.barycentres = barycentres
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the graphs and learn the map; y is ignored."""
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the features of the fitted graphs, for which no further pair is solved."""
        features, measures = self._fit(X)
        return self._beside(features, measures) if self.barycentres else features

    def transform(self, X: Any) -> Any:
        """Features of graphs, one row per graph; solves one pair per graph and landmark."""
        check_is_fitted(self, "map_")
        graphs = as_graphs(X)
        parts: list[Any] = []
        for start in range(0, len(graphs), ROWS_AT_ONCE):
            part = graphs[start : start + ROWS_AT_ONCE]
            features = self.kernel_.transform(part) @ self.map_
            if self.barycentres:
                features = self._beside(features, self.kernel_.measures_of(part))
            parts.append(features)
        return sparse.csr_matrix(sparse.vstack(parts)) if self.barycentres else np.concatenate(parts)

    def _beside(self, features: FloatArray, measures: GraphMeasures) -> Any:
        """Nystroem features, centred and scaled as on the fitted graphs, next to mean feature vectors of length 1."""
        left = sparse.csr_matrix((features - self.centre_) * (LENGTH / self.spread_))
        return sparse.csr_matrix(sparse.hstack([left, hashed_barycentres(measures)]))

    def _fit(self, X: Any) -> tuple[FloatArray, GraphMeasures]:
        """Fit, and return the Nystroem features and the measures of the fitted graphs."""
        self._check()
        kernel: RWKernel = clone(self.kernel) if self.kernel is not None else RWKernel()
        kernel.fit(X)
        settings = kernel.parameters()
        m = min(int(self.n_landmarks), kernel.n_graphs_)
        raw = replace(settings, debias=False)
        own = self_discrepancy(kernel.measures_, raw) if settings.debias else None
        drawing = Drawing(
            lambda chosen: column_discrepancy(kernel.measures_, chosen, raw),
            kernel.n_graphs_,
            own=own,
            eta=settings.eta,
            random_state=self.random_state,
        )
        self.landmarks_ = drawing.draw(self.selection, m)
        self.n_solved_ = drawing.columns.size + (0 if own is None else len(own))
        columns = kernel_of(drawing.discrepancy(), settings.eta)
        self.map_, self.signature_ = nystroem_map(columns[self.landmarks_], self.tol)
        features = columns @ self.map_
        self.centre_ = features.mean(axis=0)
        self.spread_ = float(np.sqrt(((features - self.centre_) ** 2).sum(axis=1).mean())) or 1.0
        measures = kernel.measures_
        kernel.measures_, kernel.n_graphs_ = cut(measures, self.landmarks_), m
        kernel.names_ = None if kernel.names_ is None else tuple(kernel.names_[i] for i in self.landmarks_)
        self.kernel_ = kernel
        return features, measures

    def _check(self) -> None:
        if not isinstance(self.n_landmarks, Integral) or self.n_landmarks < 1:
            raise ValueError(f"n_landmarks={shown(self.n_landmarks)} must be a whole number of at least 1")
        check_seed(self.random_state)
        if not isinstance(self.selection, str) or self.selection not in SELECTIONS:
            raise ValueError(f"selection={shown(self.selection)} is not known; it is one of {', '.join(SELECTIONS)}")
        if not isinstance(self.tol, Real) or not 0 <= self.tol < 1:
            raise ValueError(f"tol={shown(self.tol)} is outside its range: it must be at least 0 and less than 1")

    @property
    def _n_features_out(self) -> int:
        hashed = HASHED + self.kernel_.measures_.features.shape[1] if self.barycentres else 0
        return int(self.map_.shape[1]) + hashed


def nystroem_map(square: FloatArray, tol: float) -> tuple[FloatArray, FloatArray]:
    """V |lam|^(-1/2) and sign(lam) of the kernel between landmarks, without small eigenvalues."""
    values, vectors = np.linalg.eigh(0.5 * (square + square.T))
    kept = np.abs(values) > tol * np.abs(values).max()
    return vectors[:, kept] / np.sqrt(np.abs(values[kept])), np.sign(values[kept])


def hashed_barycentres(measures: GraphMeasures) -> Any:
    """Mean feature vectors of length 1 as a csr_matrix: square roots of the hashed sparse part, and the dense part.

    The product cost has no one-hot columns of colours: the shares of the colours of each round are counted for it.
    """
    dense, masses, owners = means(measures)
    keys = measures.column_keys
    if measures.product_cost:
        rounds = np.arange(1, len(measures.colours) + 1, dtype=np.uint64)[:, None]
        keys = (measures.colours * (np.uint64(2) * rounds + np.uint64(1))).ravel()  # two rounds never share a key
        masses = np.tile(measures.weights, len(measures.colours))
        owners = np.tile(np.repeat(np.arange(measures.n_graphs), measures.sizes), len(measures.colours))
    places = (keys % np.uint64(HASHED)).astype(np.int32)
    signs = np.where(keys >> np.uint64(63), -1.0, 1.0)
    ends = (owners.astype(np.int32), places)
    shape = (measures.n_graphs, HASHED)
    hashed = sparse.csr_matrix((signs * masses, ends), shape=shape)
    hashed.data = np.sign(hashed.data) * np.sqrt(np.abs(hashed.data))
    return normalize(sparse.csr_matrix(sparse.hstack([hashed, sparse.csr_matrix(dense)])))


class Drawing:
    """Draws landmarks, and keeps the column of discrepancies of each.

    `solve(chosen)` returns the columns of the chosen graphs, shape (n_graphs, len(chosen)). `own` is RW(G, G) of each
    graph, if values are debiased (R17).
    """

    def __init__(
        self,
        solve: Callable[[IntArray], FloatArray],
        n_graphs: int,
        *,
        own: FloatArray | None = None,
        eta: float = 1.0,
        random_state: int | None = 0,
    ) -> None:
        self.solve, self.n_graphs, self.own, self.eta = solve, n_graphs, own, eta
        self.rng = np.random.default_rng(random_state)
        self.chosen = np.zeros(0, np.int64)
        self.columns = np.zeros((n_graphs, 0))

    def draw(self, selection: str, m: int) -> IntArray:
        """Draw m landmarks and return their numbers."""
        if selection == "uniform":
            self._add(np.ones(self.n_graphs), m)
        elif selection == "leverage":
            self._add(np.ones(self.n_graphs), (m + 1) // 2)
            self._add(self._leverage(), m - len(self.chosen))
        else:
            self._add(np.ones(self.n_graphs), 1)
            while len(self.chosen) < m:
                nearest = self.discrepancy().min(axis=1)
                self._add(nearest - min(nearest.min(), 0.0), min(-(-m // ROUNDS), m - len(self.chosen)))
        return self.chosen

    def discrepancy(self) -> FloatArray:
        """Discrepancies of all graphs to the landmarks so far, debiased if `own` is given."""
        if self.own is None:
            return self.columns
        return np.asarray(self.columns - 0.5 * (self.own[:, None] + self.own[self.chosen][None, :]))

    def _add(self, weights: NDArray[np.float64], count: int) -> None:
        """Draw `count` more landmarks with probabilities proportional to the weights, and solve their columns."""
        chances = np.maximum(weights, 1e-12 * max(float(weights.max()), 1e-300))
        chances[self.chosen] = 0.0
        new = self.rng.choice(len(chances), count, replace=False, p=chances / chances.sum())
        self.columns = np.hstack([self.columns, self.solve(new)])
        self.chosen = np.concatenate([self.chosen, new])

    def _leverage(self) -> FloatArray:
        """Ridge leverage scores of all graphs, from the Nystroem features of the landmarks so far."""
        kernel = kernel_of(self.discrepancy(), self.eta)
        values, vectors = np.linalg.eigh(kernel[self.chosen])
        size = np.maximum(np.abs(values), 1e-6 * np.abs(values).max())
        features = kernel @ vectors / np.sqrt(size)
        gram = features.T @ features
        gram[np.diag_indices_from(gram)] += RIDGE * np.linalg.eigvalsh(gram)[-1]
        return np.asarray(np.einsum("ij,ji->i", features, np.linalg.solve(gram, features.T)))
