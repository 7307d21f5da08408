"""Checks of one parameter at a time: its name, its choices, its range. An error says what would be right."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any


class ParameterError(ValueError):
    """A parameter has an unknown name or a value outside its range."""


def check_name(name: str, known: Sequence[str]) -> None:
    """Reject an unknown parameter; the message suggests the nearest known name."""
    if name not in known:
        hint = nearest_name(name, known) or f"; the names are {', '.join(known)}"
        raise ParameterError(f"there is no parameter {name!r}{hint}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Reject a value that is not one of the choices."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name}={value!r} is not known: it must be one of {listed}{nearest_name(value, choices)}")


def check_range(name: str, value: Any, *, low: float, high: float, strict: bool, whole: bool) -> None:
    """Reject anything but a finite number from `low` (excluded if `strict`) to `high`."""
    bound = f"it must be {range_in_words(low, high, strict)}"
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


def range_in_words(low: float, high: float | None = None, strict: bool = False) -> str:
    """A range as a sentence says it.

    >>> range_in_words(0, strict=True), range_in_words(0, 1)
    ('greater than 0', 'at least 0 and at most 1')
    """
    words = f"{'greater than' if strict else 'at least'} {low:g}"
    return words if high is None or high == math.inf else f"{words} and at most {high:g}"


def check_jobs(n_jobs: Any) -> None:
    """Reject an invalid `n_jobs`.

    >>> check_jobs(-2), check_jobs(None)
    (None, None)
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ParameterError(f"n_jobs={n_jobs!r} is not valid: give 1 or more threads, -1 for all cores, or None")


def check_starts(n_starts: Any) -> None:
    """Reject an invalid `n_starts`."""
    check_range("n_starts", n_starts, low=1, high=10_000, strict=False, whole=True)


def nearest_name(value: object, known: Sequence[str]) -> str:
    """The end of an error message that suggests the nearest known name; empty if none is near.

    >>> nearest_name("hop", ["hops", "entropy"])
    "; did you mean 'hops'?"
    """
    close = difflib.get_close_matches(str(value), known, n=1, cutoff=0.4)
    return f"; did you mean {close[0]!r}?" if close else ""
