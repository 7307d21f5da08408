"""Datasets as the methods of an experiment see them, and which grid of settings is searched for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rwk.datasets import bonds_only, distance_graph, load_dataset
from rwk.graphs import GraphError, GraphSet

# in exp(-d² / σ²); bonds are 1 to 1.5 Å long
SIGMA: Final = 2.0
# name of one form of a set with distances -> name of the set
SINGLE_FORMS: Final[Mapping[str, str]] = {
    f"{name}-{form}": name for name in ("COX2_MD", "BZR_MD") for form in ("bonds", "distance")
}


def load_forms(name: str, data: Path | None = None) -> tuple[GraphSet, dict[str, GraphSet]]:
    """A dataset, and its forms by name; most sets have one form, the set as it is, under the name "".

    Complete graphs with lengths (COX2_MD, BZR_MD) have two forms (METHOD, section 2): "bonds" has the bonds alone,
    "distance" has all pairs weighted by exp(-d²/σ²). The names COX2_MD-bonds and COX2_MD-distance give one form only.
    """
    base, _, form = name.partition("-") if name in SINGLE_FORMS else (name, "", "")
    graphs = load_dataset(base, root=data)
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels, so it cannot be used for classification; use another set")
    complete = bool((graphs.n_edges == graphs.sizes * (graphs.sizes - 1) // 2).all())
    if graphs.edge_labels is None or graphs.edge_attributes is None or not complete:
        return graphs, {"": graphs}
    forms = {"bonds": bonds_only(graphs), "distance": distance_graph(graphs, SIGMA)}
    if form:
        graphs = replace(graphs, name=name)
        forms = {form: replace(forms[form], name=name)}
    return graphs, forms


def grid_of(graphs: GraphSet) -> str:
    """The grid of settings for a dataset: "continuous" if its nodes or edges have attributes, else "discrete"."""
    return "discrete" if graphs.node_attributes is None and graphs.edge_attributes is None else "continuous"
