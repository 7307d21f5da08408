"""What the sliders of the page set, within which range, and how it changes the parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, NamedTuple

from rwk.graphs import GraphError
from rwk.parameters import Parameters
from rwk.runtime.allowed_values import FEATURE_METRICS


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters that a user can change on the page."""

    beta_local: float
    beta_global: float
    entropy: float
    hops: int
    feature_metric: str = "both"
    return_weight: float = 1.0
    attribute_weight: float = 1.0

    @classmethod
    def of(cls, parameters: Parameters) -> Settings:
        """The settings of these parameters."""
        return cls(*(getattr(parameters, field.name) for field in fields(cls)))

    @classmethod
    def from_page(cls, values: Mapping[str, Any], start: Parameters) -> Settings:
        """The settings that the page sent; raises `GraphError` if a value is not one that a slider can have.

        >>> page = {**to_page(Settings.of(Parameters())), "entropy": -2.0}
        >>> Settings.from_page(page, Parameters()).entropy
        0.01
        """
        found: dict[str, Any] = {}
        for slider in sliders_of(start):
            value = values.get(slider.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise GraphError(f"{slider.title} must be a number, not {str(value)[:40]!r}")
            if not slider.low - 1e-9 <= value <= slider.high + 1e-9:
                raise GraphError(f"{slider.title} must be between {slider.low:g} and {slider.high:g}, not {value:g}")
            found[slider.name] = slider.value_of(value)
        metric = values.get("feature_metric")
        if metric not in FEATURE_METRICS:
            raise GraphError(f"features are compared by {', '.join(FEATURE_METRICS)}, not by {str(metric)[:40]!r}")
        return cls(**found, feature_metric=str(metric))

    def applied_to(self, parameters: Parameters) -> Parameters:
        """The parameters with these settings."""
        changes = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(parameters, **changes, variant=None).checked()

    @property
    def representation(self) -> Settings:
        """The settings with everything made equal that the representation of graphs does not depend on.

        Of the two weights it depends on whether they are 0: a part that is switched off is not represented.

        >>> Settings(0.5, 0.5, 0.1, 2).representation == Settings(0.7, 1.5, 1.0, 2, return_weight=2.0).representation
        True
        """
        local, everywhere = float(self.beta_local > 0), float(self.beta_global > 0)
        powers = (self.return_weight, self.attribute_weight) if self.feature_metric == "product" else (1.0, 1.0)
        return Settings(local, everywhere, 1.0, self.hops, self.feature_metric, *powers)


class Slider(NamedTuple):
    """One slider: the field of `Settings`, what it is called, and its range; `log` means that it moves log10."""

    name: str
    title: str
    low: float
    high: float
    step: float
    log: bool = False

    def value_of(self, position: float) -> float | int:
        """The value of the field at a position of the slider."""
        if self.name == "hops":
            return round(position)
        return 10.0**position if self.log else float(position)

    def position_of(self, value: float) -> float:
        """The position of the slider for a value of the field."""
        return math.log10(value) if self.log else value


SLIDERS: Final = (
    Slider("beta_local", "local weight β₁", 0.0, 2.0, 0.05),
    Slider("beta_global", "global weight β₂", 0.0, 2.0, 0.05),
    Slider("entropy", "entropy", -2.0, 0.0, 0.05, log=True),
    Slider("hops", "hops", 0, 3, 1),
    Slider("return_weight", "return probabilities", 0.0, 4.0, 0.25),
    Slider("attribute_weight", "attributes", 0.0, 4.0, 0.25),
)
NAMES: Final = tuple(slider.name for slider in SLIDERS)


def sliders_of(start: Parameters) -> list[Slider]:
    """The sliders, wide enough for the values that the page starts with.

    >>> [slider.high for slider in sliders_of(Parameters(hops=5))][3]
    5
    """
    found = []
    for slider in SLIDERS:
        at = slider.position_of(getattr(start, slider.name))
        found.append(slider._replace(low=min(slider.low, at), high=max(slider.high, at)))
    return found


def to_page(settings: Settings) -> dict[str, Any]:
    """The settings as the page has them: positions of sliders, and the metric."""
    places = {slider.name: slider.position_of(getattr(settings, slider.name)) for slider in SLIDERS}
    return {**places, "feature_metric": settings.feature_metric}
