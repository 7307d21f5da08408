"""Valid values of the parameters of baselines; a parameter means the same in every method that has it."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

from rwk.runtime.parameter_checks import shown


class Range(NamedTuple):
    """Numbers between two bounds, with a description for error messages."""

    words: str
    least: float
    most: float = inf
    whole: bool = False
    open_below: bool = False
    open_above: bool = False
    or_none: bool = False

    def has(self, value: Any) -> bool:
        """Whether a value is in the range."""
        if value is None:
            return self.or_none
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an integer that no float can hold
            return False
        above = number > self.least if self.open_below else number >= self.least
        below = number < self.most if self.open_above else number <= self.most
        return above and below and abs(number) < inf


COUNT: Final = Range("a whole number, 1 or more", 1, whole=True)
COUNT_OR_ZERO: Final = Range("a whole number, 0 or more", 0, whole=True)
POSITIVE: Final = Range("a positive number", 0.0, open_below=True)
SHARE: Final = Range("between 0 and 1", 0.0, 1.0)

RANGES: Final[Mapping[str, Range]] = {
    **dict.fromkeys(("rounds", "levels"), COUNT_OR_ZERO),
    **dict.fromkeys(("dimension", "n_hashes", "steps", "blocks", "layers"), COUNT),
    **dict.fromkeys(("hidden", "channels", "graph_capsules", "k", "epochs", "patience", "batch_size"), COUNT),
    **dict.fromkeys(("width", "power", "gamma", "learning_rate"), POSITIVE),
    **dict.fromkeys(("alpha", "label_weight"), SHARE),
    "random_state": Range("a whole number from 0 to 2**32 - 1", 0, 2**32 - 1, whole=True),
    "share": Range("above 0 and at most 1", 0.0, 1.0, open_below=True),
    **dict.fromkeys(("dropout", "validation"), Range("0 or more and below 1", 0.0, 1.0, open_above=True)),
}


def check_parameters(parameters: Mapping[str, Any], ranges: Mapping[str, Range] = RANGES) -> None:
    """Raise ValueError if a parameter is outside its range.

    >>> check_parameters({"rounds": -1})
    Traceback (most recent call last):
    ...
    ValueError: rounds=-1 is outside its range: it must be a whole number, 0 or more
    """
    for name, value in parameters.items():
        if name in ranges and not ranges[name].has(value):
            raise ValueError(f"{name}={shown(value)} is outside its range: it must be {ranges[name].words}")
