"""The one set of parameter names: functions, estimators and command-line options all read it from here.

`Parameters` is what a user writes. The solver gets two parts of it: `cost_weights()`, the weights of the model, and
`scg_options()`, the settings of the iteration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Real
from typing import Any, Final, TypedDict

import numpy as np

from rwk.runtime.allowed_values import CHOICES, FEATURE_METRICS, MAY_BE_NONE, RANGES
from rwk.runtime.parameter_checks import (
    LARGEST,
    ParameterError,
    check_choice,
    check_flag,
    check_jobs,
    check_name,
    check_range,
    shown,
)
from rwk.transport.problem import CostWeights, ScgOptions

__all__ = ["CHOICES", "FEATURE_METRICS", "RANGES", "VARIANTS", "ParameterError", "Parameters", "Scale"]

# the paper's names of its variants, and what each one sets
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

# what no discrepancy depends on: how values are computed, and what is made of them (the variant is applied already)
VALUE_FREE: Final = ("eta", "backend", "n_jobs", "variant")


class Scale(TypedDict, total=False):
    """What the representation learned from the fitted graphs (R7); pass one as `scale=` to learn nothing.

    `feature`, `hamming`, `neighbourhood` and `structure` divide the costs; `labels` and `attributes` balance the two
    blocks of the feature vectors; `attribute_mean` and `attribute_std` standardise the attributes; `return_distance`
    and `attribute_distance` are the median distances of the product cost (R18).
    """

    feature: float
    neighbourhood: float
    structure: float
    labels: float
    attributes: float
    hamming: float
    return_distance: float
    attribute_distance: float
    attribute_mean: list[float]
    attribute_std: list[float]


@dataclass(frozen=True, slots=True)
class Parameters:
    """All settings of the RW discrepancy, its solver and its kernel, with their defaults.

    Functions and estimators take these as keywords; the commands take them as options (`--beta-global 0.5`).

    Parameters
    ----------
    hops : int, default 2
        Reach of the local variation that is appended to the features: 2 is RWK, 1 is RWK-1, 0 (RWK-0) leaves it out.
        From 0 to 64.
    wl_rounds : int, default 3
        Rounds of Weisfeiler-Lehman refinement of the node labels. From 0 to 64.
    wl_edge_labels : bool or "auto", default "auto"
        Whether edge labels take part in the refinement; "auto": if the graphs have them.
    feature_metric : str, default "both"
        How node features are compared: "l2" (Euclidean distance of one-hot colours and attributes, with their local
        variation), "hamming" (share of the rounds in which the colours differ), "both", their weighted sum, or
        "product": 1 - w exp(-p_r |r - r'| / m_r) exp(-p_a |a - a'| / m_a), where w is the share of the rounds in which
        the colours agree, r are return probabilities of random walks, a the attributes with their local variation,
        and m_r, m_a the median distances between nodes of the fitted graphs.
    hamming_weight : float, default 0.5
        Share of the Hamming part if `feature_metric="both"`. From 0 to 1.
    label_weight : float, default 0.5
        Share of the labels if graphs have both labels and attributes; no part of the product. From 0 to 1.
    return_weight : float, default 1.0
        Power p_r of the return probabilities if `feature_metric="product"`. At least 0; 0 leaves them out.
    attribute_weight : float, default 1.0
        Power p_a of the attributes if `feature_metric="product"`. At least 0; 0 leaves them out.
    attribute_rounds : int, default 0
        Rounds of smoothing the attributes over neighbours; the results of all rounds are concatenated. From 0 to 64.
    embedding : str, default "heat-signature"
        Structure embedding of a node: "heat-signature" (8 columns, nothing to learn) or "attention" (64 columns,
        learned per graph).
    embedding_dim : int or None, default None
        Number of columns of the embedding, if not the usual one. From 2 to 4096.
    walk_length : int, default 5
        Length of the walks of the attention embedding. From 1 to 64.
    n_walks : int, default 10
        Number of walks of the attention embedding. At least 1.
    structure : str, default "shortest-path"
        What the Gromov-Wasserstein term compares within each graph: "embedding" (distances between embedded nodes),
        "shortest-path", "adjacency", "laplacian", "heat-kernel", or "edge-distance" (shortest paths along edges whose
        first attribute is their length).
    structure_metric : str, default "auto"
        Distance between embedded nodes: "euclidean", "hamming" (of signs; attention only), or "auto": Hamming for
        the attention embedding, else Euclidean.
    laplacian : str, default "normalized"
        Laplacian of the two Laplacian terms: "normalized" or "combinatorial".
    scale : str or Scale, default "fit"
        "fit" divides each cost by its typical size on the fitted graphs, so that weights mean the same on every
        dataset; "none" leaves the costs as they are; a `Scale` gives the divisors.
    beta_local : float, default 0.5
        Weight of the local part: neighbourhoods, Laplacian terms and ridge. At least 0; 0 switches it off.
    beta_global : float, default 0.5
        Weight of the global part: Gromov-Wasserstein and degree prior. At least 0; 0 switches it off.
    laplacian_source : float, default 0.01
        Weight of the Laplacian term of the first graph. At least 0.
    laplacian_target : float, default 0.01
        Weight of the Laplacian term of the second graph. At least 0.
    ridge : float, default 0.01
        Weight of the squared norm of the coupling. At least 0.
    degree_weight : float, default 0.01
        Weight of the degree prior. At least 0.
    degree_prior : str, default "attract"
        "attract" favours matches of nodes with similar degrees; "repel" is the sign that the paper prints.
    mass : float, default 1.0
        Share of the mass that moves; the rest stays, and pays nothing. From 0 to 1. It must be greater than 0.
    entropy : float, default 0.1
        Entropy of the Sinkhorn step, in units of the (scaled) costs: larger values blur the coupling. Greater than 0.
    direction : str, default "sinkhorn"
        How the linear step of each iteration is solved: "sinkhorn", or "exact" (slower; needs POT).
    max_iter : int, default 10
        Largest number of conditional gradient iterations. At least 1.
    sinkhorn_iter : int, default 20
        Sinkhorn rounds per iteration. At least 1.
    tol : float, default 1e-3
        The solver stops once the entropic gap is at most this. At least 0.
    precision : str, default "float64"
        "float64", or "float32": faster, with relative errors around 1e-5.
    debias : bool, default False
        Subtract half of each graph's discrepancy with itself, so that RW(G, G) = 0.
    eta : float, default 1.0
        Width of the kernel K = exp(-eta RW). Greater than 0.
    backend : str, default "auto"
        "cpu", "gpu", or "auto": the GPU if there is one.
    n_jobs : int or None, default None
        Number of threads; None and -1 use all cores, -2 all but one.
    random_state : int or None, default 0
        Seed of everything drawn at random: the pairs that set the scale, and further starts of `align`. At least 0.
    variant : str or None, default None
        A name from the paper that overrides the settings above: "RWK", "RWK-1", "RWK-0", "NoLaplacianReg",
        "NoEntropyReg", "NoRegs", "RWK-LW" or "RWK-GW".

    Examples
    --------
    >>> from rwk import Parameters
    >>> Parameters(beta_global=0.5).cost_weights().beta_global
    0.5
    >>> Parameters(entropy=-1.0).checked()
    Traceback (most recent call last):
    ...
    rwk.runtime.parameter_checks.ParameterError: entropy=-1.0 is outside its range: it must be greater than 0
    """

    hops: int = 2
    wl_rounds: int = 3
    wl_edge_labels: bool | str = "auto"
    feature_metric: str = "both"
    hamming_weight: float = 0.5
    label_weight: float = 0.5
    return_weight: float = 1.0
    attribute_weight: float = 1.0
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
    mass: float = 1.0
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
        """Checked parameters from keywords; an error about an unknown name suggests the nearest known one."""
        known = [field.name for field in fields(cls)]
        for name in keywords:
            check_name(name, known)
        return cls(**keywords).checked()

    def checked(self) -> Parameters:
        """These parameters with the variant applied; raises `ParameterError` if one is invalid."""
        settings = self
        if self.variant is not None:
            check_choice("variant", self.variant, tuple(VARIANTS))
            settings = replace(self, **VARIANTS[self.variant])
        for name, choices in CHOICES.items():
            value = getattr(settings, name)
            if not (name == "scale" and isinstance(value, Mapping)):
                check_choice(name, value, choices)
        changed: dict[str, Any] = {}
        for name, (low, high, strict, whole) in RANGES.items():
            value = getattr(settings, name)
            if not (name in MAY_BE_NONE and value is None):
                check_range(name, value, low=low, high=high, strict=strict, whole=whole)
                if whole and not isinstance(value, int):  # 2.0, or a number of numpy
                    changed[name] = int(value)
        settings = replace(settings, **changed) if changed else settings
        if isinstance(settings.scale, Mapping):
            _check_scale(settings.scale)
        check_flag("wl_edge_labels", settings.wl_edge_labels, "auto")
        check_flag("debias", settings.debias)
        check_jobs(settings.n_jobs)
        if settings.structure_metric == "hamming" and settings.embedding != "attention":
            raise ParameterError(
                "structure_metric='hamming' needs embedding='attention': a heat signature is always positive, "
                "so its signs are all equal"
            )
        return settings

    def cost_weights(self) -> CostWeights:
        """The weights of the model; "repel" is a negative weight of the degree prior (R9)."""
        return CostWeights(
            beta_local=float(self.beta_local),
            beta_global=float(self.beta_global),
            laplacian_source=float(self.laplacian_source),
            laplacian_target=float(self.laplacian_target),
            ridge=float(self.ridge),
            degree_weight=float(self.degree_weight if self.degree_prior == "attract" else -self.degree_weight),
            mass=float(self.mass),
        )

    def scg_options(self) -> ScgOptions:
        """The settings of the Sinkhorn conditional gradient."""
        return ScgOptions(
            entropy=float(self.entropy),
            max_iter=int(self.max_iter),
            sinkhorn_iter=int(self.sinkhorn_iter),
            tol=float(self.tol),
        )

    def solver(self) -> str:
        """Which solver pairs go to, by its name in `transport.pairs`: "exact", or by the backend, "auto" included."""
        return "exact" if self.direction == "exact" else self.backend

    def asdict(self) -> dict[str, Any]:
        """Plain values, for records."""
        return asdict(self)

    def determinants(self) -> dict[str, Any]:
        """The parameters that values of discrepancies depend on, as plain values."""
        return {name: value for name, value in asdict(self).items() if name not in VALUE_FREE}


def _check_scale(scale: Mapping[str, Any]) -> None:
    """Reject a scale whose values are not numbers, or lists of numbers for the attributes."""
    for name, value in scale.items():
        many = name in ("attribute_mean", "attribute_std") and isinstance(value, list | tuple | np.ndarray)
        numbers: list[Any] = list(value) if many else [value]
        if not all(_is_finite(number) for number in numbers):
            raise ParameterError(f"scale: {shown(value)} for {shown(name)} is not finite; give a finite number")


def _is_finite(number: Any) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool) and bool(abs(number) <= LARGEST)  # type: ignore[operator]
