"""The one set of parameter names: functions, estimators and command-line options all read it from here.

`Parameters` is what a user writes. It is split by purpose when work begins: `represent_options` says what is made
of a single graph, `cost_weights` which model is solved, `scg_options` how.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral
from typing import Any, Final, TypedDict

from rwk.transport.problem import CostWeights, ScgOptions

FEATURE_METRICS: Final = ("l2", "hamming", "both")
EMBEDDINGS: Final = ("heat-signature", "attention")
STRUCTURES: Final = ("embedding", "shortest-path", "adjacency", "laplacian", "heat-kernel", "edge-distance")
STRUCTURE_METRICS: Final = ("auto", "euclidean", "hamming")
LAPLACIANS: Final = ("normalized", "combinatorial")
DEGREE_PRIORS: Final = ("attract", "repel")
DIRECTIONS: Final = ("sinkhorn", "exact")
PRECISIONS: Final = ("float64", "float32")
BACKENDS: Final = ("auto", "cpu", "gpu")

# METHOD of the paper, section "Ablation": each variant switches some terms off.
VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "RWK": {"hops": 2},
    "RWK-1": {"hops": 1},
    "RWK-0": {"hops": 0},
    "NoLaplacianReg": {"laplacian_source": 0.0, "laplacian_target": 0.0, "ridge": 0.0},
    "NoEntropyReg": {"degree_weight": 0.0},
    "NoRegs": {"laplacian_source": 0.0, "laplacian_target": 0.0, "ridge": 0.0, "degree_weight": 0.0},
    "RWK-LW": {"beta_global": 0.0},
    "RWK-GW": {"beta_local": 0.0},
}


class ParameterError(ValueError):
    """A parameter nobody knows or outside its range."""


class Scale(TypedDict, total=False):
    """What the representation learned from the fitted graphs; give one to `scale=` to learn nothing.

    `feature`, `neighbourhood` and `structure` divide the three costs; `labels` and `attributes` balance the two
    blocks of the feature vectors; `attribute_mean` and `attribute_std` standardise the attributes.
    """

    feature: float
    neighbourhood: float
    structure: float
    labels: float
    attributes: float
    hamming: float
    attribute_mean: list[float]
    attribute_std: list[float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Every setting of the RW discrepancy, with its default.

    Representation
        hops: reach of the local variation (2 is RWK, 1 RWK-1; 0, RWK-0, leaves it out).
        wl_rounds: Weisfeiler-Lehman rounds of the label colours.
        wl_edge_labels: edge labels take part in the refinement.
        feature_metric: "l2" (colours and attributes with their variation), "hamming" (share of rounds whose
            colours differ) or "both".
        hamming_weight: share of the Hamming part when the metric is "both".
        label_weight: share of the labels when a graph has labels and attributes.
        attribute_rounds: rounds of neighbourhood smoothing of the attributes, concatenated.
        embedding: "heat-signature" (8 columns) or "attention" (64); embedding_dim: other widths.
        walk_length, n_walks: of the attention embedding.
        structure: what the Gromov-Wasserstein term compares: "embedding" (distances of embedded nodes),
            "shortest-path", "adjacency", "laplacian", "heat-kernel" or "edge-distance" (first edge attribute).
        structure_metric: distance of embedded nodes; "auto" is Hamming of signs for attention, else Euclidean.
        laplacian: "normalized" or "combinatorial", in the Laplacian terms.
        scale: "fit" (costs divided by their size on the fitted graphs), "none" (nothing learned), or a `Scale`.
    Model
        beta_local, beta_global, laplacian_source, laplacian_target, ridge, degree_weight: weights of the terms;
            0 switches a term off. degree_prior: "attract" or "repel".
    Solver
        entropy: of the Sinkhorn step, in units of the costs. direction: "sinkhorn" or "exact" (needs POT).
        max_iter, sinkhorn_iter, tol: iterations at most, rounds of each Sinkhorn step, gap at which to stop.
        precision: "float64" or "float32".
    Kernel
        debias: subtract half of each graph's discrepancy to itself. eta: K = exp(-eta RW).
    Running
        backend, n_jobs, random_state. variant: a name of the paper ("RWK-1", "NoRegs" ...) that overrides the above.

    >>> Parameters(beta_global=0.5).cost_weights().beta_global
    0.5
    >>> Parameters(entropy=-1.0).checked()
    Traceback (most recent call last):
    ...
    rwk.parameters.ParameterError: entropy=-1.0 is outside its range: it must be greater than 0
    """

    hops: int = 2
    wl_rounds: int = 3
    wl_edge_labels: bool = False
    feature_metric: str = "both"
    hamming_weight: float = 0.5
    label_weight: float = 0.5
    attribute_rounds: int = 0
    embedding: str = "heat-signature"
    embedding_dim: int | None = None
    walk_length: int = 5
    n_walks: int = 10
    structure: str = "shortest-path"
    structure_metric: str = "auto"
    laplacian: str = "normalized"
    scale: str | Scale = "fit"
    beta_local: float = 0.5
    beta_global: float = 0.5
    laplacian_source: float = 0.01
    laplacian_target: float = 0.01
    ridge: float = 0.01
    degree_weight: float = 0.01
    degree_prior: str = "attract"
    entropy: float = 0.1
    direction: str = "sinkhorn"
    max_iter: int = 10
    sinkhorn_iter: int = 20
    tol: float = 1e-3
    precision: str = "float64"
    debias: bool = False
    eta: float = 1.0
    backend: str = "auto"
    n_jobs: int | None = None
    random_state: int | None = 0
    variant: str | None = None

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Parameters:
        """Checked parameters from keywords; an unknown name suggests the nearest known one."""
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in known:
                raise ParameterError(f"there is no parameter {name!r}{_nearest(name, known)}")
        return cls(**keywords).checked()

    def checked(self) -> Parameters:
        """These parameters with the variant applied, or a `ParameterError`."""
        settings = self
        if self.variant is not None:
            _check_choice("variant", self.variant, tuple(VARIANTS))
            settings = replace(self, **VARIANTS[self.variant])
        for name, choices in _CHOICES.items():
            value = getattr(settings, name)
            if not (name == "scale" and isinstance(value, Mapping)):
                _check_choice(name, value, choices)
        for name, (low, high, strict, whole) in _RANGES.items():
            value = getattr(settings, name)
            if not (name in _MAY_BE_NONE and value is None):
                _check_range(name, value, low=low, high=high, strict=strict, whole=whole)
        check_jobs(settings.n_jobs)
        if settings.structure_metric == "hamming" and settings.embedding != "attention":
            raise ParameterError(
                "structure_metric='hamming' needs embedding='attention': a heat signature is always positive, "
                "so its signs say nothing"
            )
        return settings

    def cost_weights(self) -> CostWeights:
        return CostWeights(
            beta_local=float(self.beta_local),
            beta_global=float(self.beta_global),
            laplacian_source=float(self.laplacian_source),
            laplacian_target=float(self.laplacian_target),
            ridge=float(self.ridge),
            degree_weight=float(self.degree_weight if self.degree_prior == "attract" else -self.degree_weight),
        )

    def scg_options(self) -> ScgOptions:
        return ScgOptions(
            entropy=float(self.entropy),
            max_iter=int(self.max_iter),
            sinkhorn_iter=int(self.sinkhorn_iter),
            tol=float(self.tol),
        )

    def asdict(self) -> dict[str, Any]:
        """Plain values, for records."""
        return asdict(self)


_CHOICES: Final[dict[str, tuple[str, ...]]] = {
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
_RANGES: Final[dict[str, tuple[float, float, bool, bool]]] = {
    "hops": (0, 64, False, True),
    "wl_rounds": (0, 64, False, True),
    "hamming_weight": (0, 1, False, False),
    "label_weight": (0, 1, False, False),
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
    "entropy": (0, math.inf, True, False),
    "max_iter": (1, math.inf, False, True),
    "sinkhorn_iter": (1, math.inf, False, True),
    "tol": (0, math.inf, False, False),
    "eta": (0, math.inf, True, False),
    "random_state": (0, math.inf, False, True),
}
_MAY_BE_NONE: Final = ("embedding_dim", "random_state")


def check_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads that is none.

    >>> check_jobs(-2), check_jobs(None)
    (None, None)
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ParameterError(f"n_jobs={n_jobs!r} is no number of threads: give 1 or more, -1 for all cores, or None")


def check_starts(n_starts: Any) -> None:
    """Refuse a number of starts that is none."""
    _check_range("n_starts", n_starts, low=1, high=10_000, strict=False, whole=True)


def _nearest(name: str, known: tuple[str, ...] | list[str]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else f"; the names are {', '.join(known)}"


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name}={value!r} is not known: it must be one of {listed}{_close(value, choices)}")


def _close(value: object, choices: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else ""


def _check_range(name: str, value: Any, *, low: float, high: float, strict: bool, whole: bool) -> None:
    bound = f"it must be {'greater than' if strict else 'at least'} {low:g}"
    if high != math.inf:
        bound += f" and at most {high:g}"
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise ParameterError(f"{name}={value!r} is not a number: {bound}")
    if whole and math.isfinite(number) and number != math.floor(number):
        raise ParameterError(f"{name}={value!r} is not a whole number: {bound}")
    if not math.isfinite(number) or number < low or number > high or (strict and number == low):
        raise ParameterError(f"{name}={value!r} is outside its range: {bound}")
