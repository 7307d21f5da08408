"""The transport problem: its notation, the numbered steps of its solver, its constants and its records.

Notation, here and in the solver bodies (source graph G with n nodes, target graph H with m):

    mu, nu      node weights                           (n,), (m,)
    gamma       coupling                               (n, m)
    C_V         cost of features                       (n, m)
    C_N         cost of structure embeddings           (n, m)
    M           C_V + beta_local C_N                   (n, m)
    C_P         pairwise structure inside a graph      (n, n) or (m, m)
    L           Laplacian, node weights folded in      sparse (n, n) or (m, m)
    E, S, F     structure embedding, S = E E^T = F F^T (n, k), (n, n), (n, r)
    prior       degree prior gamma'                    (n, m)
    g           gradient of the objective              (n, m)
    c           (C_mu^2 mu + C_nu^2 nu) / 2            (n, m)
    kl          beta_global times the signed weight of the degree prior (R9)
    Q(gamma)    the linear map with H's quadratic part <Q(gamma), gamma>
    lam         entropy of the Sinkhorn step

Algorithm 1, Sinkhorn conditional gradient. Every solver body carries these numbers, so that they can be compared:

    1  costs        everything of the pair that stays the same through the solve
    2  start        gamma = mu nu^T, log gamma and Q(gamma)
    3  gradient     g = M + 2 beta_global c + 2 Q(gamma) + kl (1 + log gamma - log prior)
    4  direction    Delta = plan - gamma, the plan found by Sinkhorn rounds on g and rounded to exact marginals
    5  gap          -<Delta, g>; stop if it is at most tol
    6  products     Q(Delta) and the curvature <Delta, Q(Delta)>; no other step multiplies matrices
    7  line search  the step alpha; stop if no step descends
    8  step         gamma + alpha Delta, Q(gamma) + alpha Q(Delta)
    9  value        H(gamma), and its terms if asked for
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.display import card_of
from rwk.runtime.user_warnings import warn_user
from rwk.transport.interchangeable import TOLERANCE, alike_rows, listed_groups

# A change of any rule that changes values raises this number.
SOLVER_VERSION: Final = 2

# Constants of the method. Every body of the solver, and every bound of its values, takes them from here.
ARMIJO: Final = 1e-4  # the line search accepts a step that lowers H by this share of what its slope promises
HALVINGS: Final = 30  # of a step, at most; then the pair stops
LARGEST_STEP_WITH_KL: Final = 0.99  # the paper's alpha^0: no entry of gamma reaches 0, where log gamma has no slope
PRIOR_FLOOR: Final = 1e-6  # least likeness of two degrees (R8)
LEAST_MASS_64: Final = 1e-300  # a smaller entry of gamma counts as this one inside the logarithm (R14)
LEAST_MASS_32: Final = 1e-37
ROUNDING: Final = 1e-13  # a squared distance below this share of the squared norms it is made of counts as 0
START_ENTROPY: Final = 0.02  # of the Sinkhorn plan that another start is near; its costs lie between 0 and 1
START_SHARE: Final = 0.9  # of that plan in the start; the rest is mu nu^T, so that no mass is near 0

# Costs near whose Sinkhorn plan a solver starts; empty: it starts from mu nu^T.
NO_START: Final = np.empty((0, 0))

# A feature cost given by the user in place of C_V; empty: C_V comes from the measures.
NO_COST: Final = np.empty((0, 0))

# The terms of H, and the places of those terms in an array of them.
TERM_NAMES: Final = (
    "feature",
    "neighbourhood",
    "laplacian_source",
    "laplacian_target",
    "ridge",
    "gromov_wasserstein",
    "degree_prior",
)
FEATURE, NEIGHBOURHOOD, LAPLACIAN_SOURCE, LAPLACIAN_TARGET, RIDGE, GROMOV_WASSERSTEIN, DEGREE_PRIOR = range(7)


class CostWeights(NamedTuple):
    """The model: weights of the terms, and how much of the mass of 1 moves.

    A negative `degree_weight` is the sign that the paper prints, "repel" (R9). If `mass` is below 1, the rest stays:
    cpu/partial.py states that problem.
    """

    beta_local: float
    beta_global: float
    laplacian_source: float
    laplacian_target: float
    ridge: float
    degree_weight: float
    mass: float = 1.0


class ScgOptions(NamedTuple):
    """The solver: Sinkhorn conditional gradient."""

    entropy: float
    max_iter: int
    sinkhorn_iter: int
    tol: float


class PairResults(NamedTuple):
    """Values and health of many pairs, in the order of the pairs."""

    values: NDArray[np.float64]
    n_iter: NDArray[np.int32]
    gaps: NDArray[np.float64]
    converged: NDArray[np.bool_]

    @classmethod
    def empty(cls, n_pairs: int) -> PairResults:
        """Results of so many pairs, to be filled in."""
        return cls(np.empty(n_pairs), np.empty(n_pairs, np.int32), np.empty(n_pairs), np.empty(n_pairs, np.bool_))

    def take(self, places: NDArray[np.int64] | slice) -> PairResults:
        """The results of some pairs."""
        return PairResults(self.values[places], self.n_iter[places], self.gaps[places], self.converged[places])

    def put(self, places: NDArray[np.int64], part: PairResults) -> None:
        """Copy the results of some pairs to their places."""
        self.values[places], self.n_iter[places] = part.values, part.n_iter
        self.gaps[places], self.converged[places] = part.gaps, part.converged

    def put_solution(self, place: int, solution: PairSolution) -> None:
        """Write the value and the health of a solution to its place."""
        self.values[place], self.n_iter[place] = solution.value, solution.n_iter
        self.gaps[place], self.converged[place] = solution.gap, solution.converged


@dataclass(frozen=True, slots=True)
class PairSolution:
    """How alike two graphs are and which node goes to which: the answer of `align`.

    Attributes
    ----------
    value : float
        The discrepancy: the objective at `coupling`, recomputed from it at the end.
    terms : dict of str to float
        The terms that add up to `value`: "feature", "neighbourhood", "laplacian_source", "laplacian_target", "ridge",
        "gromov_wasserstein", "degree_prior" and, if `debias=True`, "debias".
    coupling : ndarray of shape (n, m)
        How much mass each node of the first graph sends to each node of the second; rows sum to the node weights of
        the first graph, columns to those of the second; to at most these if `mass` is below 1.
    n_iter : int
        Iterations used.
    gap : float
        The entropic gap `<gamma - gamma_hat, g>` of the last iteration.
    converged : bool
        Whether the gap fell to the tolerance. That is not a proof of stationarity.
    certificate : float or None
        The true Frank-Wolfe gap, with `certify=True`.
    history : ndarray of shape (iterations, 2) or None
        Objective and gap before each iteration, with `trace=True`.
    paid : tuple of two ndarrays, or None
        What each node of the first and of the second graph pays; either sums to `value` before debiasing.
    node_names : tuple of two tuples, or None
        What the rows and the columns of `coupling` are called in the given graphs; nodes of weight 0 have none.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import align
    >>> solution = align(nx.path_graph(3), nx.path_graph(3), entropy=0.02)
    >>> abs(sum(solution.terms.values()) - solution.value) < 1e-9
    True

    The two ends of a path look alike, so the coupling can't say which end goes to which:

    >>> solution.interchangeable()
    ([[0, 2]], [[0, 2]])
    """

    value: float
    terms: dict[str, float]
    coupling: NDArray[np.float64]
    n_iter: int
    gap: float
    converged: bool
    certificate: float | None = None
    history: NDArray[np.float64] | None = None
    paid: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    node_names: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None

    @overload
    def matching(self, *, names: Literal[False] = False) -> NDArray[np.int64]: ...
    @overload
    def matching(self, *, names: Literal[True]) -> list[tuple[Any, Any]]: ...
    def matching(self, *, names: bool = False) -> NDArray[np.int64] | list[tuple[Any, Any]]:
        """The one-to-one matching of nodes that carries the most mass.

        Warns if pairs are arbitrary because the coupling can't tell nodes apart; see `interchangeable`.

        Parameters
        ----------
        names : bool, default False
            Whether to give nodes by their names in the graphs that were aligned, such as the nodes of networkx graphs,
            instead of rows and columns of `coupling`.

        Returns
        -------
        ndarray of shape (min(n, m), 2)
            Rows (source node, target node), one per node of the smaller graph. With `names=True` a list of pairs, of
            which `dict` makes a mapping.

        Examples
        --------
        >>> import networkx as nx
        >>> from rwk import align
        >>> kite = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (2, 4), (4, 5)])
        >>> align(kite, nx.relabel_nodes(kite, {0: 9}), entropy=0.02).matching().tolist()
        [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]
        >>> people = nx.relabel_nodes(kite, dict(enumerate(["Ann", "Bob", "Cem", "Dua", "Eve", "Fay"])))
        >>> dict(align(people, kite, entropy=0.02).matching(names=True))["Cem"]
        2
        """
        from scipy.optimize import linear_sum_assignment

        pairs = np.stack(linear_sum_assignment(-self.coupling), axis=1)
        source, target = self.interchangeable()
        rows, columns = self.node_names or tuple(tuple(range(n)) for n in self.coupling.shape)
        tied = [[node for group in groups for node in group] for groups in (source, target)]
        either = np.isin(pairs[:, 0], tied[0]) | np.isin(pairs[:, 1], tied[1])
        if either.any():
            groups = [("first", source, rows), ("second", target, columns)]
            which = " and ".join(
                f"{listed_groups([[called[node] for node in group] for group in found])} of the {graph} graph"
                for graph, found, called in groups
                if found
            )
            warn_user(
                f"{either.sum()} of {len(pairs)} pairs of this matching are arbitrary: the coupling can't tell apart "
                f"nodes {which}; interchangeable() lists them all, and align(..., n_starts=10) may choose between them"
            )
        return [(rows[i], columns[j]) for i, j in pairs.tolist()] if names else pairs

    def interchangeable(self, tolerance: float = TOLERANCE) -> tuple[list[list[int]], list[list[int]]]:
        """Groups of nodes that the coupling can't tell apart.

        Nodes of the first graph are alike if their mass goes to the same nodes in the same shares, nodes of the
        second if theirs comes from the same nodes. A permutation inside a group changes a matching but not the mass
        that it carries.

        Parameters
        ----------
        tolerance : float, default 1e-3
            How much two rows (or columns) may differ, relative to their largest entry.

        Returns
        -------
        tuple of two lists of groups
            Groups of nodes of the first graph and of the second; nodes that are like no other are left out.

        Examples
        --------
        >>> import networkx as nx
        >>> from rwk import align
        >>> align(nx.star_graph(3), nx.path_graph(3)).interchangeable()
        ([[1, 2, 3]], [[0, 2]])
        """
        return alike_rows(self.coupling, tolerance), alike_rows(self.coupling.T, tolerance)

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        n, m = self.coupling.shape
        return f"PairSolution(value={self.value:.6g}, {n}x{m} nodes, {self.n_iter} iterations, {state})"

    def _repr_html_(self) -> str | None:
        return card_of("solution", self)


def make_solution(
    gamma: NDArray[Any], terms: NDArray[np.float64], *, n_iter: int, gap: float, converged: bool, history: Any = None
) -> PairSolution:
    """A `PairSolution` whose value is the sum of its terms."""
    named = {name: float(term) for name, term in zip(TERM_NAMES, terms, strict=True)}
    known = None if history is None or not len(history) else history[np.isfinite(history[:, 1])]
    return PairSolution(
        value=float(sum(named.values())),
        terms=named,
        coupling=np.asarray(gamma, np.float64),
        n_iter=int(n_iter),
        gap=float(gap),
        converged=bool(converged),
        history=known,
    )
