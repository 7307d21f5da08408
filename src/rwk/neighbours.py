"""The graphs most like a given one, without solving every pair.

Candidates are taken in the order of a lower bound of their discrepancy, solved some at a time, and given up as soon as
the bound of the next one exceeds the k-th best value found: the answer is that of the full scan. A cheap bound of all
candidates comes first, a tighter one of those that survive it second.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.bounds import Signatures, lower_bounds, quadratic_bounds, signatures
from rwk.convert import as_graphs
from rwk.gram.blocks import cut
from rwk.gram.matrix import cross_discrepancy, self_discrepancy
from rwk.graphs import FloatArray, IntArray
from rwk.kernel import RWKernel
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.bounds import linear_bounds
from rwk.transport.pairs import joined
from rwk.transport.problem import GraphMeasures

AT_ONCE: Final = 32  # pairs solved between two looks at the bound
SLACK: Final = 1e-6  # of rounding, relative; in float32 more


class Neighbours(NamedTuple):
    """The k nearest graphs, nearest first, for one query (k,) or several (queries, k)."""

    indices: IntArray
    values: FloatArray  # discrepancies
    n_solved: int  # pairs solved, of all queries together
    n_candidates: int  # pairs a full scan solves

    @property
    def share_solved(self) -> float:
        return self.n_solved / self.n_candidates


def nearest(query: Any, graphs: Any, k: int = 10, *, max_share: float | None = None, **parameters: Any) -> Neighbours:
    """The k graphs most like `query`, among `graphs` or the graphs a fitted `RWKernel` holds.

    `graphs` set the scale of the costs (a kernel has its own, and its parameters). Ties go to the lower number. The
    answer is that of a full scan; `max_share=0.05` solves at most that share of the candidates, those with the lowest
    bounds, and may miss some.

    >>> import networkx as nx
    >>> found = nearest(nx.cycle_graph(6), [nx.path_graph(5), nx.cycle_graph(7), nx.star_graph(9)], k=1)
    >>> found.indices.tolist()
    [1]
    """
    if isinstance(graphs, RWKernel):
        if parameters:
            raise ValueError(f"a fitted kernel has its parameters; {next(iter(parameters))!r} can't be given with it")
        kernel = graphs
    else:
        kernel = RWKernel(**{**Parameters.of(parameters).asdict(), "variant": None}).fit(graphs)
    settings = Parameters.of(kernel.get_params(deep=False))
    queries = as_graphs(query)
    if not 1 <= k <= kernel.n_graphs_:
        raise ValueError(f"k={k} neighbours were asked for; there are {kernel.n_graphs_} graphs to choose from")
    if max_share is not None and not 0 < max_share <= 1:
        raise ValueError(f"max_share={max_share} is outside its range: it must be greater than 0 and at most 1")
    most = kernel.n_graphs_ if max_share is None else max(k, round(max_share * kernel.n_graphs_))
    measures, _ = represent(queries, settings, scale=kernel.scale_)
    own = self_discrepancy(kernel.measures_, settings) if settings.debias else None
    scan = _Scan(kernel.measures_, signatures(kernel.measures_), settings, own)
    found = [scan.nearest(cut(measures, np.array([q])), k, most) for q in range(len(queries))]
    indices, values = np.stack([one[0] for one in found]), np.stack([one[1] for one in found])
    if len(found) == 1:
        indices, values = indices[0], values[0]
    extra = 0 if own is None else len(own) + len(found)
    n_solved = sum(one[2] for one in found) + extra
    return Neighbours(indices, values, n_solved, len(found) * kernel.n_graphs_ + extra)


class _Scan(NamedTuple):
    """The candidates, and what is known of them before any pair is solved."""

    measures: GraphMeasures
    signatures: Signatures
    settings: Parameters
    own: FloatArray | None  # discrepancies to themselves, where they are subtracted

    def nearest(self, query: GraphMeasures, k: int, most: int) -> tuple[IntArray, FloatArray, int]:
        """Numbers and values of the k nearest, and how many pairs were solved; at most `most`, at least k."""
        bounds = self._cheap_bounds(query)
        order = np.argsort(bounds, kind="stable")
        values = np.full(len(bounds), np.inf)
        tight = np.full(len(bounds), -np.inf)
        # the tighter bound of the first candidates by the cheap one, which decide the k-th best value soon
        worst, n_solved = np.inf, 0
        while True:
            alive = np.isinf(values) & (np.maximum(bounds, tight) <= worst)
            unbound = order[(alive & np.isinf(tight))[order]]
            if len(unbound):
                tight[unbound] = self._tight_bounds(query, unbound)
                continue
            chosen = np.flatnonzero(alive)
            if not len(chosen) or n_solved >= most:
                break
            chosen = chosen[np.argsort(np.maximum(bounds, tight)[chosen], kind="stable")]
            chosen = chosen[: min(max(AT_ONCE, k), most - n_solved)]
            values[chosen] = self._solve(query, chosen)
            n_solved += len(chosen)
            kth = float(np.partition(values, k - 1)[k - 1])
            worst = kth + SLACK * abs(kth) * (100.0 if self.settings.precision == "float32" else 1.0)
        best = np.lexsort((np.arange(len(values)), values))[:k]
        return best, values[best], n_solved

    def _cheap_bounds(self, query: GraphMeasures) -> FloatArray:
        bound = lower_bounds(signatures(query), self.signatures, self.settings.cost_weights())
        return self._debiased(bound, query, np.arange(len(bound)))

    def _tight_bounds(self, query: GraphMeasures, chosen: IntArray) -> FloatArray:
        weights = self.settings.cost_weights()
        pairs = np.stack([np.zeros(len(chosen), np.int64), 1 + chosen], axis=1)
        both = joined(query, self.measures)
        bound = linear_bounds(both, pairs, weights.beta_local, n_jobs=self.settings.n_jobs)
        bound += quadratic_bounds(signatures(query), self.signatures, weights)[chosen]
        return self._debiased(bound, query, chosen)

    def _solve(self, query: GraphMeasures, chosen: IntArray) -> FloatArray:
        own = None if self.own is None else self.own[chosen]
        return np.asarray(cross_discrepancy(query, cut(self.measures, chosen), self.settings, fitted_self=own)[0][0])

    def _debiased(self, bound: FloatArray, query: GraphMeasures, chosen: IntArray) -> FloatArray:
        if self.own is None:
            return bound
        return np.asarray(bound - 0.5 * (self_discrepancy(query, self.settings)[0] + self.own[chosen]))
