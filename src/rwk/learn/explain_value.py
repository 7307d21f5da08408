"""Why a graph got its predicted value: what each node adds, and which training graphs contributed most.

The prediction is a sum over training graphs j: mean + std Σ_j c_j k(G, G_j). The kernel of a setting is
w exp(−η D(G, G_j)), and D is the sum of what the nodes of G pay in the alignment with G_j. So w (exp(−η D) − 1) is
divided among the nodes as they pay, multiplied by c_j, and added up over j and over the settings. The kernels on the
composition count nodes and edges, so that each node has its part in them, and need no alignment. Nothing is left over:
base + contributions + rest is the prediction, where rest is the part of fingerprints, which no node owns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rwk.graphs import Graph, GraphError, GraphSet
from rwk.learn.exact_gp import Block, FittedGP
from rwk.learn.explain import Support, strongest
from rwk.learn.landmark_gp import LandmarkGP
from rwk.learn.likelihood import Term
from rwk.learn.term_sources import FINGERPRINTS, TermSources
from rwk.runtime.arrays import FloatArray
from rwk.runtime.display import card_of

if TYPE_CHECKING:
    from rwk.learn.gaussian_process import RWKGaussianProcess
    from rwk.parameters import Parameters


@dataclass(frozen=True, slots=True)
class ValueExplanation:
    """The explanation of one predicted value, as returned by `explain_value`.

    Parameters
    ----------
    graph : Graph
        The explained graph.
    predicted, std : float
        The predicted value and its standard deviation.
    base, rest : float
        The parts of the prediction that belong to no node: `base` is the same for all graphs, `rest` is what
        fingerprints add.
    contributions : ndarray of shape (n_nodes,)
        What each node adds to the prediction: base + contributions + rest is the predicted value.
    supports : tuple of Support
        The training graphs with the strongest pull, those that pull up first. The pulls of all training graphs add up
        to the predicted value minus the mean of the training values.
    covered : float
        The share of the pull of all training graphs that `supports` account for.

    Examples
    --------
    >>> from rwk import Graph
    >>> why = ValueExplanation(Graph(2, np.array([[0, 1]])), 1.5, 0.1, 1.0, 0.0, np.array([0.1, 0.4]), (), 0.0)
    >>> why.top_nodes(1), float(why.base + why.contributions.sum())
    ([1], 1.5)
    """

    graph: Graph
    predicted: float
    std: float
    base: float
    rest: float
    contributions: FloatArray
    supports: tuple[Support, ...]
    covered: float

    def upwards(self) -> tuple[Support, ...]:
        """Supports that pull the prediction up."""
        return tuple(support for support in self.supports if support.pull > 0)

    def downwards(self) -> tuple[Support, ...]:
        """Supports that pull the prediction down."""
        return tuple(support for support in self.supports if support.pull <= 0)

    def top_nodes(self, k: int) -> list[int]:
        """The k nodes that differ most from the average node, the one that differs most first."""
        away = np.abs(self.contributions - self.contributions.mean())
        return [int(node) for node in np.argsort(-away, kind="stable")[:k]]

    def __repr__(self) -> str:
        return (
            f"ValueExplanation(predicted {self.predicted:.3g} ± {self.std:.2g}, {len(self.upwards())} graphs pull it "
            f"up and {len(self.downwards())} down)"
        )

    def _repr_html_(self) -> str | None:
        return card_of("value_explanation", self)


class _Weighted(NamedTuple):
    """One setting: its weight, and η per unit of discrepancy."""

    name: str
    weight: float
    slope: float


def explain_value(process: RWKGaussianProcess, G: Any, *, n_supports: int = 5) -> ValueExplanation:
    """Explain the value that is predicted for a graph: which nodes push it up, which push it down.

    The graph is aligned with every training graph (or landmark).

    Parameters
    ----------
    process : RWKGaussianProcess
        The fitted process; not with `method="features"`.
    G : SMILES or graph
        The graph to explain.
    n_supports : int, default 5
        How many training graphs to show that pull up, and how many that pull down.

    Returns
    -------
    ValueExplanation
        The prediction, what each node adds to it, and the training graphs with the strongest pull.

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import RWKGaussianProcess
    >>> graphs = [nx.path_graph(n) for n in range(3, 11)]
    >>> process = RWKGaussianProcess(settings="quick").fit(graphs, [float(n) for n in range(3, 11)])
    >>> why = explain_value(process, nx.path_graph(6), n_supports=2)
    >>> bool(abs(why.base + why.contributions.sum() - why.predicted) < 1e-3), why.contributions.shape
    (True, (6,))
    """
    check_is_fitted(process, "model_")
    model, sources = process.model_, process.sources_
    if not isinstance(model, FittedGP | LandmarkGP):
        raise ValueError("a process with method='features' can't be explained; fit it with method='exact'")
    given = [G] if isinstance(G, str) or hasattr(G, "GetAtoms") else G
    graphs = sources.read(given)
    if len(graphs) != 1:
        raise ValueError(f"one graph can be explained at a time, but {len(graphs)} were given; pick one of them")
    found = process._prediction(given, covariance=False)
    exact, coefficients = _coefficients(model)
    scaled = model.target_std * coefficients
    contributions, constant = _of_nodes(exact, sources, graphs[0], scaled)
    base = model.target_mean + constant
    pulls, row = _pulls(exact, sources.rows(given, graphs), scaled)
    supports = _supports(process, graphs[0], pulls, row, n_supports)
    total = float(np.abs(pulls).sum())
    predicted = float(found.mean[0])
    fingerprints = predicted - base - float(contributions.sum()) if sources.counts is not None else 0.0
    return ValueExplanation(
        graph=graphs[0],
        predicted=predicted,
        std=float(np.sqrt(found.variance[0])),
        base=base,
        rest=fingerprints,
        contributions=contributions,
        supports=supports,
        covered=sum(abs(support.pull) for support in supports) / total if total else 0.0,
    )


def explain_value_left_out(
    graphs: GraphSet, i: int, parameters: Parameters, *, n_supports: int = 5
) -> ValueExplanation:
    """Explain the value of graph i of a set, predicted by a process fitted on all the others."""
    from rwk.learn.gaussian_process import RWKGaussianProcess

    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no values, so there is no prediction to explain")
    kept = np.delete(np.arange(len(graphs)), i)
    process = RWKGaussianProcess(settings={"given": parameters.asdict()}).fit(graphs[kept])
    found = explain_value(process, graphs[[i]], n_supports=n_supports)
    # supports are numbered as in the whole set
    return replace(found, supports=tuple(replace(s, index=int(kept[s.index])) for s in found.supports))


def _coefficients(model: FittedGP | LandmarkGP) -> tuple[FittedGP, FloatArray]:
    """The process that holds the weights, and the coefficients of kernel rows that were not treated."""
    if isinstance(model, LandmarkGP):
        return model.exact, np.asarray(model.map @ model.coefficients)
    removed = model.removed
    return model, np.asarray(model.coefficients - removed @ (removed.T @ model.coefficients))


def _of_nodes(
    exact: FittedGP, sources: TermSources, graph: Graph, coefficients: FloatArray
) -> tuple[FloatArray, float]:
    """What each node adds, and what no node adds."""
    found, constant = np.zeros(graph.n_nodes), 0.0
    settings = zip(exact.names, exact.chosen.weights, exact.chosen.etas, exact.units, strict=True)
    for one in (_Weighted(name, weight, eta / unit) for name, weight, eta, unit in settings):
        if one.name in sources.kernels:
            paid = sources.kernels[one.name].payments(graph)  # (training graphs, nodes)
            values = paid.sum(axis=1)
            small = np.abs(values) * one.slope < 1e-9
            falls = np.where(small, -one.slope, np.expm1(-one.slope * values) / np.where(small, 1.0, values))
            found += one.weight * ((coefficients * falls) @ paid)
            constant += one.weight * float(coefficients.sum())
        elif one.name not in FINGERPRINTS and sources.composition is not None:
            parts, rest = sources.composition.node_parts(one.name, graph, sources.graphs, one.weight * coefficients)
            found += parts
            constant += rest
    return found, constant


def _pulls(exact: FittedGP, rows: dict[str, Block], coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The part of every training graph in the prediction, and the kernel with it."""
    terms: list[Term] = exact.terms(rows)
    weights = zip(terms, exact.chosen.weights, exact.chosen.etas, strict=True)
    row = np.asarray(sum(weight * term.kernel(eta)[0] for term, weight, eta in weights))
    return coefficients * row, row


def _supports(
    process: RWKGaussianProcess, graph: Graph, pulls: FloatArray, row: FloatArray, n_supports: int
) -> tuple[Support, ...]:
    """The training graphs with the strongest pull, aligned with the setting that has the largest weight."""
    sources, model = process.sources_, process.model_
    exact = model.exact if isinstance(model, LandmarkGP) else model
    assert isinstance(exact, FittedGP)
    weights = dict(zip(exact.names, exact.chosen.weights, strict=True))
    kernel = sources.kernels[max(sources.kernels, key=lambda name: weights[name])]
    targets = process.targets_[process.landmarks_] if isinstance(model, LandmarkGP) else process.targets_
    names = sources.graphs.names
    return tuple(
        Support(
            j,
            float(targets[j]),
            float(row[j]),
            float(pulls[j]),
            sources.graphs[j],
            kernel.align(graph, sources.graphs[j]),
            None if names is None else names[j],
        )
        for j in strongest(pulls, n_supports)
    )
