"""Why a graph was assigned to its class: which training graphs contributed most, and which nodes mattered.

A decision is a sum over training graphs, so each of them contributes a share, its pull. An alignment with such a graph
says how much of the cost each node pays. A node matters if it pays little in alignments with graphs that pull towards
the predicted class, and much in alignments with graphs that pull away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.convert import as_graphs
from rwk.convert.label_coding import in_form_of
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.learn.one_vs_one import pairs_of
from rwk.runtime.arrays import FloatArray
from rwk.runtime.display import card_of
from rwk.transport.problem import PairSolution

if TYPE_CHECKING:
    from rwk.kernel import RWKernel
    from rwk.learn.svc import IndefiniteSVC
    from rwk.parameters import Parameters


@dataclass(frozen=True, slots=True)
class Support:
    """The contribution of one training graph to a decision; `pull` is positive towards the predicted class."""

    index: int
    target: Any
    kernel: float
    pull: float
    graph: Graph
    solution: PairSolution  # the explained graph is the source
    name: str | None = None  # of the training graph, if it has one

    @property
    def title(self) -> str:
        """The name of the training graph, or its number."""
        return f"graph {self.index}" if self.name is None else self.name


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one prediction, as returned by `explain`.

    Parameters
    ----------
    graph : Graph
        The explained graph.
    predicted, rival
        The predicted class and the class that came nearest to it.
    margin : float
        The decision value between these two classes.
    supports : tuple of Support
        The training graphs with the strongest pull, those towards the predicted class first.
    importances : ndarray of shape (n_nodes,)
        How much more each node pays when aligned with graphs that pull away than with graphs that pull towards the
        predicted class. They add up to the difference of the two mean discrepancies.
    covered : float
        The share of the pull of all training graphs that `supports` account for.

    Examples
    --------
    >>> from rwk import Graph
    >>> why = Explanation(Graph(2, np.array([[0, 1]])), "a", "b", 0.5, (), np.array([0.1, 0.3]), 0.0)
    >>> why.top_nodes(1)
    [1]
    """

    graph: Graph
    predicted: Any
    rival: Any
    margin: float
    supports: tuple[Support, ...]
    importances: FloatArray
    covered: float

    def towards(self) -> tuple[Support, ...]:
        """Supports that pull towards the predicted class."""
        return tuple(support for support in self.supports if support.pull > 0)

    def away(self) -> tuple[Support, ...]:
        """Supports that pull towards the rival class."""
        return tuple(support for support in self.supports if support.pull <= 0)

    def top_nodes(self, k: int) -> list[int]:
        """The k most important nodes, the most important first."""
        return [int(node) for node in np.argsort(-self.importances, kind="stable")[:k]]

    def __repr__(self) -> str:
        return (
            f"Explanation(predicted {self.predicted!r} over {self.rival!r}, margin {self.margin:.3g}, "
            f"{len(self.towards())} graphs pull towards it and {len(self.away())} away)"
        )

    def _repr_html_(self) -> str | None:
        return card_of("explanation", self)


def explain(kernel: RWKernel, classifier: IndefiniteSVC, graphs: Any, G: Any, *, n_supports: int = 5) -> Explanation:
    """Explain the class that is predicted for a graph.

    The training graphs that pull most towards the predicted class, and those that pull most towards its rival (with
    more than two classes: the runner-up), are aligned with the graph.

    Parameters
    ----------
    kernel : RWKernel
        The kernel, fitted on `graphs`.
    classifier : IndefiniteSVC
        The classifier, fitted on the kernel matrix of `graphs`.
    graphs : graphs
        The training graphs, in any form that `as_graphs` accepts, in the order in which the classifier saw them.
    G : graph
        The graph to explain, in any form that `as_graphs` accepts.
    n_supports : int, default 5
        How many training graphs to show for each of the two classes.

    Returns
    -------
    Explanation
        The classes, the training graphs with the strongest pull and their alignments, and the importance of each node.

    Examples
    --------
    >>> from rwk import IndefiniteSVC, RWKernel
    >>> from rwk.datasets.synthetic import planted_motif
    >>> graphs, motifs = planted_motif(12)
    >>> kernel = RWKernel(debias=True)
    >>> classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs[:11]), graphs.targets[:11])
    >>> why = explain(kernel, classifier, graphs[:11], graphs[11], n_supports=3)
    >>> why.predicted, len(why.supports), why.importances.shape == (graphs[11].n_nodes,)
    (1, 6, True)
    """
    graphs = as_graphs(graphs)
    explained = in_form_of(as_graphs(G), graphs)
    if len(explained) != 1:
        raise ValueError(f"one graph can be explained at a time, but {len(explained)} were given; pick one of them")
    if len(graphs) != classifier.row_coef_.shape[1]:
        raise ValueError(
            f"the classifier was fitted on {classifier.row_coef_.shape[1]} graphs, but {len(graphs)} were given; "
            "give the training graphs, in their order"
        )
    G = explained[0]
    row = np.asarray(kernel.transform(explained))[0]
    predicted, rival, svm, sign = _rivals(classifier, row)
    coefficients = sign * classifier.row_coef_[svm]
    pulls = coefficients * row / classifier.scale_
    margin = float(pulls.sum() + sign * classifier.intercept_[svm])
    targets = _fitted_targets(classifier, graphs)
    chosen = strongest(pulls, n_supports)
    supports = tuple(
        Support(
            int(j),
            _plain(targets[j]),
            float(row[j]),
            float(pulls[j]),
            graphs[j],
            kernel.align(G, graphs[j]),
            None if graphs.names is None else graphs.names[j],
        )
        for j in chosen
    )
    total = float(np.abs(pulls).sum())
    return Explanation(
        graph=G,
        predicted=_plain(classifier.classes_[predicted]),
        rival=_plain(classifier.classes_[rival]),
        margin=margin,
        supports=supports,
        importances=node_importances(supports, G.n_nodes),
        covered=sum(abs(support.pull) for support in supports) / total if total else 0.0,
    )


def node_importances(supports: tuple[Support, ...], n_nodes: int) -> FloatArray:
    """Mean payment of each node to supports that pull away, minus that to those that pull towards, weighted by pull.

    >>> node_importances((), 2).tolist()
    [0.0, 0.0]
    """
    found = np.zeros(n_nodes)
    for side, sign in ((True, -1.0), (False, 1.0)):
        members = [support for support in supports if (support.pull > 0) == side]
        weight = sum(abs(support.pull) for support in members)
        for support in members:
            found += sign * abs(support.pull) / max(weight, 1e-300) * _paid_by_source(support.solution, n_nodes)
    return found


def explain_left_out(
    graphs: GraphSet, i: int, parameters: Parameters, *, C: float = 10.0, n_supports: int = 5
) -> Explanation:
    """Explain the class of graph i of a set, predicted by an SVM fitted on all the others."""
    from rwk.kernel import RWKernel
    from rwk.learn.svc import IndefiniteSVC

    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has neither classes nor values, so there is no prediction to explain")
    graph = graphs[i]
    kept = np.delete(np.arange(len(graphs)), i)
    kernel = RWKernel(**parameters.asdict())
    classifier = IndefiniteSVC(C=C).fit(kernel.fit_transform(graphs[kept]), graphs.targets[kept])
    found = explain(kernel, classifier, graphs[kept], graph, n_supports=n_supports)
    # supports are numbered as in the whole set
    return replace(found, supports=tuple(replace(s, index=int(kept[s.index])) for s in found.supports))


def _paid_by_source(solution: PairSolution, n_nodes: int) -> FloatArray:
    paid = solution.paid[0] if solution.paid is not None else np.zeros(n_nodes)
    if len(paid) != n_nodes:
        raise ValueError("a graph with nodes of weight 0 can't be explained; remove those nodes first")
    return paid


def _rivals(classifier: IndefiniteSVC, row: FloatArray) -> tuple[int, int, int, float]:
    """Codes of the predicted class and its nearest rival, index of their SVM, and the sign that favours the first."""
    decisions = row / classifier.scale_ @ classifier.row_coef_.T + classifier.intercept_
    n_classes = len(classifier.classes_)
    predicted = int(np.flatnonzero(classifier.classes_ == classifier.predict(row[None])[0])[0])
    svms = []
    for m, ((a, b), decision) in enumerate(zip(pairs_of(n_classes), decisions, strict=True)):
        if predicted in (a, b):
            sign = 1.0 if predicted == b else -1.0
            svms.append((sign * float(decision), a + b - predicted, m, sign))
    _, rival, svm, sign = min(svms)
    return predicted, rival, svm, sign


def strongest(pulls: FloatArray, n_supports: int) -> list[int]:
    """The graphs with the largest positive pulls, then those with the largest negative ones.

    >>> strongest(np.array([0.5, -2.0, 1.0, -1.0]), 1)
    [2, 1]
    """
    order = np.argsort(-pulls, kind="stable")
    towards = [int(j) for j in order[:n_supports] if pulls[j] > 0]
    away = [int(j) for j in order[::-1][:n_supports] if pulls[j] < 0]
    return towards + away


def _fitted_targets(classifier: IndefiniteSVC, graphs: GraphSet) -> Any:
    return graphs.targets if graphs.targets is not None else np.full(len(graphs), None, dtype=object)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
