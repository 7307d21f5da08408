"""Named grids: for which settings a matrix is computed, and what is searched on these matrices.

    quick        the default parameters alone
    small, full  a few, or many, settings to try on graphs of one's own
    paper        settings near those of the paper, with η chosen
    discrete     one for every benchmark without node attributes
    continuous   one for every benchmark with node attributes
    molecules    for regression on molecules

The settings of the two benchmark grids were decided on seeds from 20 on ("discrete": 20 to 22, "continuous": 20 to 34,
the node weights of rarity.py: 20 to 44) and then left alone; the results page shows seeds 0 to 9. (Earlier choices, one
of "discrete" and two of "continuous", decided in the same way, had been run on seeds 0 to 9 before.) They leave edge
labels out, because the baselines of the tables do. `settings_for` takes the same settings with edge labels, for graphs
of one's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rwk.datasets.forms import grid_of
from rwk.graphs import GraphSet
from rwk.learn.search_grid import Grid
from rwk.parameters import Parameters
from rwk.runtime.parameter_checks import shown

ETAS: Final = (0.125, 0.5, 2.0, 8.0, 32.0)
COSTS: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
# The benchmark grids take the mean of three kernels for every value of η, which is in units of the mean discrepancy.
SPREAD: Final = (0.25, 1.0, 4.0)
UNITS: Final = {"discrete": (1.0,), "continuous": (0.25, 1.0)}

NO_EDGES: Final = {"wl_edge_labels": False}

# Transport of features alone, compared by colours, return probabilities and attributes at once (R18).
PRODUCT: Final = {
    **NO_EDGES,
    "feature_metric": "product",
    "beta_local": 0.0,
    "beta_global": 0.0,
    "hops": 0,
    "entropy": 0.03,
    "sinkhorn_iter": 30,
}

ATTRIBUTES: Final = {**PRODUCT, "return_weight": 0.5, "attribute_weight": 1.0}

# So much entropy that the coupling is near the product coupling μνᵀ; without the bias of such a coupling, the value is
# a Sinkhorn divergence. It compares distributions of nodes as a whole where a sharp coupling compares node by node.
BLURRED: Final = {"entropy": 1.0, "debias": True}

# All terms of the discrepancy, with weak structure, and little entropy so that couplings of large graphs stay sharp.
COLOURS: Final = {
    **NO_EDGES,
    "feature_metric": "both",
    "wl_rounds": 3,
    "beta_local": 0.1,
    "beta_global": 0.1,
    "entropy": 0.03,
}

# regression on molecules: atoms and their neighbours, the same with attributes, larger surroundings, and a cost that
# saturates; chosen on splits of ESOL, FreeSolv and Photoswitch that no result is reported for
MOLECULES: Final = {
    "feature_metric": "both",
    "wl_rounds": 3,
    "beta_local": 0.1,
    "beta_global": 0.1,
    "entropy": 0.03,
    "precision": "float32",
    "debias": True,
}

# name of the grid -> name of the setting -> parameters that differ from the defaults
SETTINGS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    "quick": {"default": {}},
    "small": {
        "l2": {"feature_metric": "l2", "wl_rounds": 2},
        "both": {"feature_metric": "both"},
        "strong-global": {"beta_global": 1.0},
    },
    "paper": {
        "l2": {**NO_EDGES, "feature_metric": "l2", "wl_rounds": 2},
        "both": {**NO_EDGES, "feature_metric": "both"},
        "strong-global": {**NO_EDGES, "beta_global": 1.0},
        "weak": {**NO_EDGES, "beta_local": 0.1, "beta_global": 0.1},
    },
    "discrete": {
        "colours": {**COLOURS, "beta_global": 0.0},
        "walks": {**PRODUCT, **BLURRED, "wl_rounds": 0, "return_weight": 0.5},
        "colours-and-walks": {**PRODUCT, "wl_rounds": 3, "return_weight": 1.0},
    },
    "continuous": {
        "attributes": {**ATTRIBUTES, "wl_rounds": 0, "beta_global": 0.3, "sinkhorn_iter": 20},
        "labels": {**NO_EDGES, "feature_metric": "both", "label_weight": 0.8, "beta_local": 0.1, "beta_global": 0.1},
        "colours": {**ATTRIBUTES, **BLURRED, "wl_rounds": 3, "attribute_weight": 0.5},
        "blurred-attributes": {**ATTRIBUTES, **BLURRED, "wl_rounds": 0},
    },
    "molecules": {
        "atoms": {**MOLECULES, "wl_rounds": 1, "label_weight": 1.0, "beta_local": 0.3, "beta_global": 0.0},
        "attributes": {**MOLECULES, "wl_rounds": 1, "beta_local": 0.0, "beta_global": 0.0},
        "colours": {**MOLECULES, "label_weight": 1.0},
        "product": {**MOLECULES, "feature_metric": "product"},
    },
    "full": {
        "l2": {"feature_metric": "l2", "wl_rounds": 2},
        "both": {"feature_metric": "both"},
        "hamming": {"feature_metric": "hamming"},
        "strong-global": {"beta_global": 1.0},
        "weak": {"beta_local": 0.1, "beta_global": 0.1},
        "embedding": {"structure": "embedding"},
        "debiased": {"debias": True},
    },
}


def search_grid(name: str) -> Grid:
    """The values of η, C and the rest that are searched on the matrices of a named grid.

    >>> search_grid("paper").unit, search_grid("discrete").unit
    ('none', 'mean')
    """
    if name == "paper":
        return Grid(eta=ETAS, C=COSTS, combine="sum")
    return Grid(eta=UNITS.get(name, UNITS["continuous"]), C=COSTS, combine="sum", unit="mean", spread=SPREAD)


def for_forms(grid: Grid, n_forms: int) -> Grid:
    """What is searched if graphs are seen in several forms: the form is chosen, not the setting (`Grid.combine`).

    >>> for_forms(search_grid("discrete"), 2).combine
    'groups'
    """
    return replace(grid, combine="groups") if n_forms > 1 and grid.combine == "sum" else grid


def title_of(form: str, setting: str) -> str:
    """The name of the matrix of a form and a setting.

    >>> title_of("bonds", "colours"), title_of("", "colours")
    ('bonds: colours', 'colours')
    """
    return f"{form}: {setting}" if form else setting


def settings_for(graphs: GraphSet) -> dict[str, dict[str, Any]]:
    """The settings of the benchmark grid that fits graphs, with edge labels if there are any.

    >>> import numpy as np
    >>> from rwk import as_graphs
    >>> list(settings_for(as_graphs([np.ones((2, 2)) - np.eye(2)]))) == list(SETTINGS["discrete"])
    True
    """
    return {name: {**values, "wl_edge_labels": "auto"} for name, values in SETTINGS[grid_of(graphs)].items()}


def named_settings(
    given: str | Mapping[str, Mapping[str, Any]], backend: str, n_jobs: int | None, random_state: int | None
) -> dict[str, Parameters]:
    """Checked settings by name, from the name of a grid or from a mapping, all to be computed in the same way."""
    if isinstance(given, str):
        if given not in SETTINGS:
            raise ValueError(f"there is no grid {shown(given)}; the grids are {', '.join(SETTINGS)}")
        given = SETTINGS[given]
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"grid must be a name or a mapping from names to settings, not {shown(given)}")
    for name, changes in given.items():
        if not isinstance(changes, Mapping):
            raise ValueError(f"setting {shown(name)} must be a mapping of parameters, not {shown(changes)}")
    running: dict[str, Any] = {"backend": backend, "n_jobs": n_jobs, "random_state": random_state}
    return {name: replace(Parameters.of(changes), **running).checked() for name, changes in given.items()}
