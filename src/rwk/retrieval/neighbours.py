"""The graphs most like a given one, without solving every pair.

Candidates are solved a batch at a time, in the order of a lower bound of their discrepancy, until the bound of the next
one exceeds the k-th best value found. So the answer is that of a full scan. A cheap bound is computed for all
candidates, and a tighter one for those that the cheap bound does not rule out.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rwk.convert import as_graphs
from rwk.discrepancy import with_comparable_edges
from rwk.gram.matrix import self_discrepancy
from rwk.kernel import RWKernel
from rwk.parameters import Parameters
from rwk.retrieval.bounds import Signatures, lower_bounds, quadratic_bounds, signatures
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.display import card_of
from rwk.runtime.finite import finite_values
from rwk.runtime.parameter_checks import check_count, check_range, shown
from rwk.runtime.threads import Ticker
from rwk.runtime.watched import shown_progress
from rwk.transport.cpu.lower_bounds import linear_bounds
from rwk.transport.measures import GraphMeasures, cut, in_precision, joined
from rwk.transport.pairs import solve_pairs

AT_ONCE: Final = (16, 512)  # limits of the batch, which is a sixteenth of the candidates
SLACK: Final = 1e-6  # relative, for rounding errors; float32 has a hundred times as much


class Neighbours(NamedTuple):
    """The k nearest graphs, nearest first; arrays are (k,) for one query and (queries, k) for several."""

    indices: IntArray
    values: FloatArray  # discrepancies
    n_solved: int  # pairs solved, for all queries together
    n_candidates: int  # pairs that a full scan would solve
    candidate_names: tuple[str, ...] | None = None  # of all graphs searched, if they have names

    @property
    def names(self) -> NDArray[np.str_] | None:
        """Names of the graphs found, in the shape of `indices`; None if the graphs searched have no names."""
        return None if self.candidate_names is None else np.array(self.candidate_names)[self.indices]

    @property
    def share_solved(self) -> float:
        return self.n_solved / self.n_candidates

    def _repr_html_(self) -> str | None:
        return card_of("neighbours", self)


def nearest(
    query: Any,
    graphs: Any,
    k: int = 10,
    *,
    leave_out: int | Sequence[int] | None = None,
    max_share: float | None = None,
    verbose: bool | None = None,
    **parameters: Any,
) -> Neighbours:
    """Find the k graphs most like `query`, with the same answer as a scan of all graphs.

    A lower bound of the discrepancy rules most candidates out before they are solved. Ties go to the lower number.

    Parameters
    ----------
    query : anything `as_graphs` accepts
        One graph or several.
    graphs : anything `as_graphs` accepts, or a fitted RWKernel
        The candidates. Graphs set the scale of the costs (R7); a kernel has its own scale and parameters.
    k : int, default 10
        How many graphs to find.
    leave_out : int or list of int, optional
        Number of the candidate to leave out, such as the query itself; for several queries, one number for each.
    max_share : float, optional
        Solve at most this share of the candidates, those with the lowest bounds. The search may then miss neighbours.
    verbose : bool, optional
        Whether to show a progress bar; by default after five seconds, in a terminal or a notebook.
    **parameters
        Fields of `rwk.Parameters`; not with a fitted kernel.

    Returns
    -------
    Neighbours
        `indices` and `values` (discrepancies), nearest first: shape (k,) for one query, (queries, k) for several; and
        how many pairs were solved (`n_solved` of `n_candidates`). If the candidates have names, so does the answer.

    Examples
    --------
    >>> import networkx as nx
    >>> found = nearest(nx.cycle_graph(6), [nx.path_graph(5), nx.cycle_graph(7), nx.star_graph(9)], k=1)
    >>> found.indices.tolist()
    [1]
    >>> nearest(nx.cycle_graph(6), {"path": nx.path_graph(5), "ring": nx.cycle_graph(7)}, k=2).names.tolist()
    ['ring', 'path']
    """
    queries = as_graphs(query)
    if isinstance(graphs, RWKernel):
        if parameters:
            raise ValueError(f"a fitted kernel has its own parameters; remove {next(iter(parameters))!r}")
        kernel = graphs
    else:
        candidates = as_graphs(graphs)
        wanted = with_comparable_edges(Parameters.of(parameters), queries, candidates)
        kernel = RWKernel(**{**wanted.asdict(), "variant": None}).fit(candidates)
    settings = kernel.parameters()
    left_out = _left_out(leave_out, len(queries), kernel.n_graphs_)
    n_candidates = kernel.n_graphs_ - (left_out is not None)
    k = check_count("k", k, n_candidates, "graphs to choose from")
    if max_share is not None:
        check_range("max_share", max_share, low=0, high=1, strict=True, whole=False)
    most = kernel.n_graphs_ if max_share is None else max(k, round(max_share * kernel.n_graphs_))
    scan = _Scan.of(kernel.measures_of(queries), kernel.measures_, settings)
    with shown_progress(verbose, "candidates", len(queries) * n_candidates, "candidates") as tick:
        found = [
            scan.nearest(q, k, most, None if left_out is None else left_out[q], tick=tick) for q in range(len(queries))
        ]
    indices, values = np.stack([one[0] for one in found]), np.stack([one[1] for one in found])
    if len(found) == 1:
        indices, values = indices[0], values[0]
    extra = 0 if scan.own is None else len(scan.own)
    n_solved = sum(one[2] for one in found) + extra
    return Neighbours(indices, values, n_solved, len(found) * n_candidates + extra, kernel.names_)


def _left_out(given: int | Sequence[int] | None, n_queries: int, n_graphs: int) -> list[int] | None:
    """The candidate to leave out for each query, or None."""
    if given is None:
        return None
    numbers: list[Any] = list(given) if isinstance(given, Sequence | np.ndarray) and np.ndim(given) == 1 else [given]
    whole = all(isinstance(number, Integral) and 0 <= int(number) < n_graphs for number in numbers)
    if not whole or len(numbers) != n_queries:
        raise ValueError(f"leave_out={shown(given)} must be one number from 0 to {n_graphs - 1} per query")
    return [int(number) for number in numbers]


class _Scan(NamedTuple):
    """Queries and candidates in one set of measures, with their signatures."""

    both: GraphMeasures  # queries first
    queries: list[Signatures]
    candidates: Signatures
    settings: Parameters
    own: FloatArray | None  # RW(G, G) of every graph, if values are debiased (R17)

    @classmethod
    def of(cls, queries: GraphMeasures, candidates: GraphMeasures, settings: Parameters) -> Self:
        both = in_precision(joined(queries, candidates), settings.precision)
        marks = [signatures(cut(queries, np.array([q]))) for q in range(queries.n_graphs)]
        own = self_discrepancy(both, settings) if settings.debias else None
        return cls(both, marks, signatures(candidates), settings, own)

    def nearest(
        self, q: int, k: int, most: int, left_out: int | None, *, tick: Ticker | None = None
    ) -> tuple[IntArray, FloatArray, int]:
        """Numbers and values of the k graphs nearest to query q, and how many pairs were solved, at most `most`.

        `tick` counts candidates, those that are ruled out at the end included.

        The cheap bound decides for which candidates the tighter bound is computed, and that one which pairs are
        solved. The values of all others stay infinite.
        """
        weights = self.settings.cost_weights()
        whole = weights.mass == 1.0  # the bounds need marginals that are known: below 1 every pair is solved
        bounds = self._debiased(q, lower_bounds(self.queries[q], self.candidates, weights))
        bounds, tight = bounds if whole else np.full(len(bounds), -np.inf), np.full(len(bounds), not whole)
        values = np.full(len(bounds), np.inf)
        allowed = np.arange(len(bounds)) != (-1 if left_out is None else left_out)
        worst, n_solved = np.inf, 0
        at_once = max(k, int(np.clip(len(bounds) // 16, *AT_ONCE)))
        while n_solved < most:
            alive = np.flatnonzero(np.isinf(values) & (bounds <= worst) & allowed)
            if not len(alive):
                break
            loose = alive[~tight[alive]]
            if len(loose):
                bounds[loose] = np.maximum(bounds[loose], self._tight_bounds(q, loose))
                tight[loose] = True
                continue
            chosen = alive[np.argsort(bounds[alive], kind="stable")][: min(at_once, most - n_solved)]
            values[chosen] = self._solve(q, chosen)
            n_solved += len(chosen)
            if tick:
                tick(len(chosen))
            kth = float(np.partition(values, k - 1)[k - 1])
            worst = kth + SLACK * abs(kth) * (100.0 if self.settings.precision == "float32" else 1.0)
        if tick:
            tick(int(allowed.sum()) - n_solved)
        best = np.lexsort((np.arange(len(values)), values, ~allowed))[:k]
        return best, values[best], n_solved

    def _tight_bounds(self, q: int, chosen: IntArray) -> FloatArray:
        weights = self.settings.cost_weights()
        bound = linear_bounds(self.both, self._pairs(q, chosen), weights.beta_local, n_jobs=self.settings.n_jobs)
        return self._debiased(q, bound + quadratic_bounds(self.queries[q], self.candidates, weights)[chosen], chosen)

    def _solve(self, q: int, chosen: IntArray) -> FloatArray:
        settings = self.settings
        results = solve_pairs(
            self.both,
            self._pairs(q, chosen),
            settings.cost_weights(),
            settings.scg_options(),
            backend=settings.solver(),
            n_jobs=settings.n_jobs,
        )
        finite_values(results.values, lambda k: f"query {q} and graph {chosen[k]}")
        return self._debiased(q, results.values, chosen)

    def _pairs(self, q: int, chosen: IntArray) -> IntArray:
        return np.stack([np.full(len(chosen), q), len(self.queries) + chosen], axis=1).astype(np.int64)

    def _debiased(self, q: int, values: FloatArray, chosen: IntArray | None = None) -> FloatArray:
        if self.own is None:
            return values
        candidates = self.own[len(self.queries) :]
        return np.asarray(values - 0.5 * (self.own[q] + (candidates if chosen is None else candidates[chosen])))
