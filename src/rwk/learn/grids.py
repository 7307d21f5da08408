"""Named grids: for which settings a matrix is computed, and what is searched on these matrices.

The grids of the benchmarks ("paper", "discrete", "continuous") leave edge labels out, as the records do. The others use
them if graphs have them.

One grid serves every dataset of a kind ("discrete": node labels or none, "continuous": node attributes). The settings
of these two were chosen after trials of single settings on the small datasets: they are the same for all datasets, but
not chosen without having seen results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from rwk.learn.search import Grid
from rwk.parameters import Parameters

ETAS: Final = (0.125, 0.5, 2.0, 8.0, 32.0)
COSTS: Final = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)

NO_EDGES: Final = {"wl_edge_labels": False}

# attributes count most: few label rounds, weak structure, little entropy
ATTRIBUTES: Final = {
    **NO_EDGES,
    "feature_metric": "l2",
    "wl_rounds": 1,
    "beta_local": 0.1,
    "beta_global": 0.1,
    "entropy": 0.03,
}

# labels count most: weak structure, and little entropy so that couplings of large graphs stay sharp
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
        "few": {**COLOURS, "wl_rounds": 1},
        "weak": COLOURS,
        "strong": {**NO_EDGES, "feature_metric": "both", "wl_rounds": 3, "beta_local": 0.5, "beta_global": 0.5},
    },
    "continuous": {
        "attributes": {**ATTRIBUTES, "label_weight": 0.2},
        "smoothed": {**ATTRIBUTES, "label_weight": 0.2, "attribute_rounds": 1},
        "labels": {**NO_EDGES, "feature_metric": "both", "label_weight": 0.8, "beta_local": 0.1, "beta_global": 0.1},
        "structure": {**NO_EDGES, "feature_metric": "l2", "wl_rounds": 0, "beta_local": 0.5, "beta_global": 1.0},
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

    >>> len(search_grid("quick").eta)
    5
    """
    return Grid(eta=ETAS, C=COSTS, combine="sum" if len(SETTINGS[name]) > 1 else "none")


def named_settings(
    given: str | Mapping[str, Mapping[str, Any]], backend: str, n_jobs: int | None, random_state: int | None
) -> dict[str, Parameters]:
    """Checked settings by name, from the name of a grid or from a mapping, all to be computed in the same way."""
    if isinstance(given, str):
        if given not in SETTINGS:
            raise ValueError(f"there is no grid {given!r}; the grids are {', '.join(SETTINGS)}")
        given = SETTINGS[given]
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"grid must be a name or a mapping from names to settings, not {given!r}")
    running: dict[str, Any] = {"backend": backend, "n_jobs": n_jobs, "random_state": random_state}
    return {name: replace(Parameters.of(changes), **running).checked() for name, changes in given.items()}
