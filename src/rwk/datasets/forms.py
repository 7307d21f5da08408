"""Graphs as methods see them: as they are, or, if they are complete with labels and lengths, their bonds and distances.

The benchmark's `load_forms` knows its two sets of this kind; `GraphForms` learns the same from any graphs. `grid_of`
says which grid of settings is searched for graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from rwk.datasets import bonds_only, distance_graph, load_dataset
from rwk.graphs import GraphError, GraphSet
from rwk.runtime.user_warnings import warn_user

# in exp(-d² / σ²); bonds are 1 to 1.5 Å long
SIGMA: Final = 2.0
# name of one form of a set with distances -> name of the set
SINGLE_FORMS: Final[Mapping[str, str]] = {
    f"{name}-{form}": name for name in ("COX2_MD", "BZR_MD") for form in ("bonds", "distance")
}
# σ of other sets is so many mean lengths of a bond; 2.0 Å for organic molecules, as above
SIGMA_IN_BONDS: Final = 2**0.5
NO_STRUCTURE: Final = (
    "every two nodes of each graph are joined by an edge, so the edges tell no structure; if labels tell bonds from "
    "other pairs, pass rwk.datasets.bonds_only(graphs), if edges have a length, rwk.datasets.distance_graph(graphs, "
    "sigma), and otherwise give the edges weights or leave out the weak ones"
)
FORMS: Final = ("auto", "given")  # what a user may ask for
SMALL: Final = 3  # nodes; of so few, complete graphs are nothing special


class GraphForms(NamedTuple):
    """The forms in which a method sees graphs, learned from training graphs so that new graphs are seen alike.

    Complete graphs whose edges have labels and a length are molecules (or other bodies) in space: `bonds` are their
    edges without those labelled `no_bond`, `distance` has all edges, weighted by exp(-d²/σ²). All other graphs are seen
    as they are, under the name "".
    """

    no_bond: int | None = None  # None: graphs are seen as they are
    sigma: float = SIGMA

    @classmethod
    def learned(cls, graphs: GraphSet) -> Self:
        """Whether graphs have two forms, and if so which label means "no bond" and what σ is.

        No bond is the most common label, provided that edges of this label are the longest in the mean too.

        >>> from rwk import Graph
        >>> pairs = np.array([[a, b] for a in range(5) for b in range(a + 1, 5)])
        >>> apart = (pairs[:, 1] - pairs[:, 0]).astype(float)
        >>> chain = Graph(5, pairs, edge_labels=(apart > 1).astype(int), edge_attributes=apart[:, None])
        >>> GraphForms.learned(GraphSet.from_graphs([chain]))
        GraphForms(no_bond=1, sigma=1.4142135623730951)
        """
        if not (all_complete(graphs) and graphs.sizes.max() > SMALL and _has_lengths(graphs)):
            return cls()
        assert graphs.edge_labels is not None
        assert graphs.edge_attributes is not None
        labels, places, counts = np.unique(graphs.edge_labels, return_inverse=True, return_counts=True)
        lengths = graphs.edge_attributes[:, 0]
        means = np.bincount(places.reshape(-1), lengths) / counts
        common = int(counts.argmax())
        if len(labels) < 2 or means.argmax() != common:
            return cls()
        no_bond = int(labels[common])
        return cls(no_bond, SIGMA_IN_BONDS * float(lengths[graphs.edge_labels != no_bond].mean()))

    def of(self, graphs: GraphSet) -> dict[str, GraphSet]:
        """Graphs in each form, by name; raises GraphError if they can't be seen as the training graphs were."""
        if self.no_bond is None:
            return {"": graphs}
        if not len(graphs.edges):
            graphs = replace(graphs, edge_labels=np.zeros(0, np.int64), edge_attributes=np.zeros((0, 1)))
        missing = [words for field, words in _NEEDED.items() if getattr(graphs, field) is None]
        if missing or not all_complete(graphs) or not _has_lengths(graphs):
            what = f"these have no {missing[0]}" if missing else "these are not all of this kind"
            raise GraphError(
                "the fitted graphs are complete, with a label and a length on every edge, which tell their bonds and "
                f"distances, but {what}; give graphs of the same kind, or fit with forms='given'"
            )
        return {"bonds": bonds_only(graphs, self.no_bond), "distance": distance_graph(graphs, self.sigma)}


_NEEDED: Final = {"edge_labels": "edge labels", "edge_attributes": "lengths of edges"}


def all_complete(graphs: GraphSet) -> bool:
    """Whether every two nodes of every graph are joined by an edge."""
    return bool((graphs.n_edges == graphs.sizes * (graphs.sizes - 1) // 2).all())


def warn_complete(graphs: GraphSet, *structures: str) -> None:
    """Warn if edges tell no structure, unless a structure matrix uses lengths."""
    if "edge-distance" not in structures and without_structure(graphs):
        warn_user(NO_STRUCTURE)


def without_structure(graphs: GraphSet) -> bool:
    """Whether the edges say nothing: all graphs are complete, most have over three nodes, and no weights differ.

    >>> from rwk import as_graphs
    >>> without_structure(as_graphs([np.ones((n, n)) - np.eye(n) for n in (4, 5, 3)]))
    True
    """
    if 2 * int((graphs.sizes > SMALL).sum()) <= len(graphs) or not all_complete(graphs):
        return False
    weights = graphs.edge_weights
    return weights is None or bool((weights == weights[0]).all())


def _has_lengths(graphs: GraphSet) -> bool:
    """Whether edges have labels, and one positive attribute, which can be a length."""
    lengths: Any = graphs.edge_attributes
    if graphs.edge_labels is None or lengths is None or lengths.shape[1] != 1:
        return False
    return bool((lengths > 0).all())


def load_forms(name: str, data: Path | None = None) -> tuple[GraphSet, dict[str, GraphSet]]:
    """A dataset, and its forms by name; most sets have one form, the set as it is, under the name "".

    Complete graphs with lengths (COX2_MD, BZR_MD) have two forms (METHOD, section 2): "bonds" has the bonds alone,
    "distance" has all pairs weighted by exp(-d²/σ²). The names COX2_MD-bonds and COX2_MD-distance give one form only.
    """
    base, _, form = name.partition("-") if name in SINGLE_FORMS else (name, "", "")
    graphs = load_dataset(base, root=data)
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels, so it cannot be used for classification; use another set")
    if graphs.edge_labels is None or graphs.edge_attributes is None or not all_complete(graphs):
        return graphs, {"": graphs}
    forms = {"bonds": bonds_only(graphs), "distance": distance_graph(graphs, SIGMA)}
    if form:
        graphs = replace(graphs, name=name)
        forms = {form: replace(forms[form], name=name)}
    return graphs, forms


def grid_of(graphs: GraphSet) -> str:
    """The grid of settings for a dataset: "continuous" if its nodes or edges have attributes, else "discrete"."""
    return "discrete" if graphs.node_attributes is None and graphs.edge_attributes is None else "continuous"
