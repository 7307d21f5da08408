"""Which graphs to measure next: a search for the best graphs of a pool by Bayesian optimisation.

The pool is compared with itself once; after that no pair is solved again, whatever is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from scipy.stats import norm

from rwk.learn.exact_gp import Blocks, FittedGP, GpOptions, Prediction, blocks_of, fit_gp, own_of, sample
from rwk.learn.gaussian_process import RWKGaussianProcess
from rwk.learn.term_sources import TermSources
from rwk.runtime.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from collections.abc import Sequence

ACQUISITIONS: Final = ("improvement", "thompson", "random")
LEAST_MEASURED: Final = 3  # before a process is fitted


class ActiveSearch:
    """A search for the graphs of a pool with the largest values, measuring as few as possible.

    `ask` says which graphs to measure next, `tell` takes what was measured. A Gaussian process is fitted to all values
    so far each time. The discrepancies of the pool are computed once, at the start.

    Parameters
    ----------
    X : SMILES, GraphSet or anything `as_graphs` takes
        The pool.
    process : RWKGaussianProcess, optional
        What predicts values; it is not fitted itself, only its settings are used. By default `RWKGaussianProcess()`.
    acquisition : {"improvement", "thompson", "random"}, default "improvement"
        How the next graphs are chosen: those with the largest expected improvement on the best value so far; the best
        graph of each of some draws from the process (Thompson sampling); or at random, for comparison.
    maximize : bool, default True
        Whether large values are good; otherwise small ones are.
    n_first : int, default 10
        How many graphs are measured, chosen at random, before the process is asked.
    discrepancies : mapping from names of settings to square matrices, optional
        Matrices of the pool that are known already, for example from `compute_gram` with a store.
    random_state : int, default 0
        Seed of the random choices.

    Attributes
    ----------
    measured : list of int
        Numbers of the graphs that were measured, in order.
    values : list of float
        Their values.

    Examples
    --------
    >>> import networkx as nx
    >>> pool = [nx.path_graph(n) for n in range(3, 23)]
    >>> search = ActiveSearch(pool, process=RWKGaussianProcess(settings="quick"), n_first=4)
    >>> for _ in range(4):
    ...     numbers = search.ask(2)
    ...     search.tell(numbers, [float(pool[i].number_of_nodes()) for i in numbers])
    >>> len(search.measured), max(search.values)
    (8, 22.0)
    """

    def __init__(
        self,
        X: Any,
        *,
        process: RWKGaussianProcess | None = None,
        acquisition: str = "improvement",
        maximize: bool = True,
        n_first: int = 10,
        discrepancies: Mapping[str, Any] | None = None,
        random_state: int = 0,
    ) -> None:
        if acquisition not in ACQUISITIONS:
            raise ValueError(f"acquisition={acquisition!r} is unknown; it is one of {', '.join(ACQUISITIONS)}")
        process = RWKGaussianProcess() if process is None else process
        self._options: GpOptions = process._options()
        terms = process._terms()
        graphs = terms.read(X)
        self._blocks: Blocks = TermSources.of(terms, X, graphs).training(discrepancies)
        self._acquisition, self._sign, self._n_first = acquisition, 1.0 if maximize else -1.0, n_first
        self._draw = np.random.default_rng(random_state)
        self.n_graphs = len(graphs)
        self.measured: list[int] = []
        self.values: list[float] = []

    def ask(self, k: int = 1) -> list[int]:
        """Return the numbers of the graphs to measure next.

        Parameters
        ----------
        k : int, default 1
            How many graphs; fewer if fewer are left.

        Returns
        -------
        list of int
            The most promising graph first.
        """
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}")
        left = np.setdiff1d(np.arange(self.n_graphs), self.measured)
        if self._is_blind():
            return [int(i) for i in self._draw.permutation(left)[:k]]
        found, model = self._predicted(left, covariance=self._acquisition == "thompson")
        if self._acquisition == "thompson":
            chosen = _best_of_draws(sample(found, k, int(self._draw.integers(1 << 31))))
        else:
            noise = model.chosen.noise * model.target_std**2
            spread = np.sqrt(np.maximum(found.variance - noise, 1e-12))  # of the value itself, not of a measurement
            best = float(np.max(self._sign * np.array(self.values)))
            chosen = [int(i) for i in np.argsort(-expected_improvement(found.mean, spread, best), kind="stable")]
        return [int(left[i]) for i in chosen[:k]]

    def tell(self, numbers: Sequence[int], values: Sequence[float]) -> None:
        """Take the measured values of some graphs.

        Parameters
        ----------
        numbers : sequence of int
            Numbers of the graphs, as `ask` returned them; others may be measured as well.
        values : sequence of float
            Their values.
        """
        if len(numbers) != len(values):
            raise ValueError(f"{len(numbers)} graphs and {len(values)} values were given; give one value per graph")
        for number, value in zip(numbers, values, strict=True):
            if not 0 <= number < self.n_graphs:
                raise ValueError(f"there is no graph {number}; the pool has {self.n_graphs}, numbered from 0")
            if number in self.measured:
                raise ValueError(f"graph {number} was measured before; give each graph once")
            if not np.isfinite(value):
                raise ValueError(f"the value of graph {number} is {value}; leave the graph out")
        self.measured += [int(number) for number in numbers]
        self.values += [float(value) for value in values]

    def _is_blind(self) -> bool:
        """Whether too little is known for a process."""
        few = len(self.values) < max(LEAST_MEASURED, self._n_first)
        return self._acquisition == "random" or few or float(np.ptp(self.values)) == 0.0

    def _predicted(self, left: IntArray, *, covariance: bool) -> tuple[Prediction, FittedGP]:
        """Predictions for the graphs that are left, with signs that make large values good."""
        known = np.array(self.measured)
        targets = self._sign * np.array(self.values)
        model = fit_gp(blocks_of(self._blocks, known, known), targets, 0.0, self._options)
        among = blocks_of(self._blocks, left, left) if covariance else None
        rows = blocks_of(self._blocks, left, known)
        return model.predict(rows, own_of(self._blocks, left), among), model


def expected_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """The mean of max(value − best, 0) for normally distributed values.

    >>> expected_improvement(np.array([0.0, 5.0]), np.array([1.0, 1e-9]), 0.0).round(3).tolist()
    [0.399, 5.0]
    """
    z = (mean - best) / std
    return cast(FloatArray, (mean - best) * norm.cdf(z) + std * norm.pdf(z))


def _best_of_draws(draws: FloatArray) -> list[int]:
    """The best graph of each draw (columns) that no draw before has taken."""
    chosen: list[int] = []
    for column in draws.T:
        for i in np.argsort(-column, kind="stable"):
            if int(i) not in chosen:
                chosen.append(int(i))
                break
    return chosen
