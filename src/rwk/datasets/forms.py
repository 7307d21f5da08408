"""Datasets in the forms that methods see them in, and which grid of settings serves them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rwk.datasets import bonds_only, distance_graph, load_dataset
from rwk.graphs import GraphError, GraphSet

# exp(-d² / σ²): bonds are 1 to 1.5 Å long
SIGMA: Final = 2.0
# one of the two forms of a set with distances -> the set
SINGLE_FORMS: Final[Mapping[str, str]] = {
    f"{name}-{form}": name for name in ("COX2_MD", "BZR_MD") for form in ("bonds", "distance")
}


def load_forms(name: str, data: Path | None = None) -> tuple[GraphSet, dict[str, GraphSet]]:
    """A dataset and what the method sees of it, by form: most sets are seen as they are, under the form "".

    Complete graphs with lengths (COX2_MD, BZR_MD) are seen twice: their bonds alone, and all pairs weighted by
    exp(-d²/σ²). COX2_MD-bonds and COX2_MD-distance name either alone.
    """
    base, _, form = name.partition("-") if name in SINGLE_FORMS else (name, "", "")
    graphs = load_dataset(base, root=data)
    if graphs.targets is None:
        raise GraphError(f"{graphs.name} has no class labels, so there is nothing to classify")
    complete = bool((graphs.n_edges == graphs.sizes * (graphs.sizes - 1) // 2).all())
    if graphs.edge_labels is None or graphs.edge_attributes is None or not complete:
        return graphs, {"": graphs}
    forms = {"bonds": bonds_only(graphs), "distance": distance_graph(graphs, SIGMA)}
    if form:
        graphs = replace(graphs, name=name)
        forms = {form: replace(forms[form], name=name)}
    return graphs, forms


def grid_of(graphs: GraphSet) -> str:
    """Which of the two grids serves a dataset: "continuous" where nodes or edges have attributes."""
    return "discrete" if graphs.node_attributes is None and graphs.edge_attributes is None else "continuous"
