"""Which values each parameter may have: the choices of those that are words, the ranges of those that are numbers."""

from __future__ import annotations

import math
from typing import Final

FEATURE_METRICS: Final = ("l2", "hamming", "both", "product")
EMBEDDINGS: Final = ("heat-signature", "attention")
STRUCTURES: Final = ("embedding", "shortest-path", "adjacency", "laplacian", "heat-kernel", "edge-distance")
STRUCTURE_METRICS: Final = ("auto", "euclidean", "hamming")
LAPLACIANS: Final = ("normalized", "combinatorial")
DEGREE_PRIORS: Final = ("attract", "repel")
DIRECTIONS: Final = ("sinkhorn", "exact")
PRECISIONS: Final = ("float64", "float32")
BACKENDS: Final = ("auto", "cpu", "gpu")

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "feature_metric": FEATURE_METRICS,
    "embedding": EMBEDDINGS,
    "structure": STRUCTURES,
    "structure_metric": STRUCTURE_METRICS,
    "laplacian": LAPLACIANS,
    "scale": ("fit", "none"),
    "degree_prior": DEGREE_PRIORS,
    "direction": DIRECTIONS,
    "precision": PRECISIONS,
    "backend": BACKENDS,
}

# name -> lowest, highest, lowest itself excluded, whole number
RANGES: Final[dict[str, tuple[float, float, bool, bool]]] = {
    "hops": (0, 64, False, True),
    "wl_rounds": (0, 64, False, True),
    "hamming_weight": (0, 1, False, False),
    "label_weight": (0, 1, False, False),
    "return_weight": (0, math.inf, False, False),
    "attribute_weight": (0, math.inf, False, False),
    "attribute_rounds": (0, 64, False, True),
    "embedding_dim": (2, 4096, False, True),
    "walk_length": (1, 64, False, True),
    "n_walks": (1, math.inf, False, True),
    "beta_local": (0, math.inf, False, False),
    "beta_global": (0, math.inf, False, False),
    "laplacian_source": (0, math.inf, False, False),
    "laplacian_target": (0, math.inf, False, False),
    "ridge": (0, math.inf, False, False),
    "degree_weight": (0, math.inf, False, False),
    "mass": (0, 1, True, False),
    "entropy": (0, math.inf, True, False),
    "max_iter": (1, math.inf, False, True),
    "sinkhorn_iter": (1, math.inf, False, True),
    "tol": (0, math.inf, False, False),
    "eta": (0, math.inf, True, False),
    "random_state": (0, math.inf, False, True),
}
MAY_BE_NONE: Final = ("embedding_dim", "random_state")
