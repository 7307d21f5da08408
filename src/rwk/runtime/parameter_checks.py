"""Checks of one parameter at a time: its name, its choices, its range. An error says what would be right."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Final

# beyond these, products of a parameter and a cost near 1 are no longer finite
SMALLEST: Final = 1e-300
LARGEST: Final = 1e300
MOST_WHOLE: Final = 2**32 - 1


class ParameterError(ValueError):
    """A parameter has an unknown name or a value outside its range."""


def check_name(name: str, known: Sequence[str]) -> None:
    """Reject an unknown parameter; the message suggests the nearest known name."""
    if name not in known:
        hint = nearest_name(name, known) or f"; the names are {', '.join(known)}"
        raise ParameterError(f"there is no parameter {shown(name)}{hint}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Reject a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        hint = nearest_name(value, choices) if isinstance(value, str) else ""
        raise ParameterError(f"{name}={shown(value)} is not known: it must be one of {listed}{hint}")


def check_flag(name: str, value: object, *more: str) -> None:
    """Reject anything but True and False, and the texts that are allowed besides.

    >>> check_flag("debias", True), check_flag("wl_edge_labels", "auto", "auto")
    (None, None)
    """
    if type(value).__name__ not in ("bool", "bool_") and not (isinstance(value, str) and value in more):
        words = ", ".join([*map(repr, more), "True or False"])
        raise ParameterError(f"{name}={shown(value)} is not known: it must be {words}")


def check_range(name: str, value: Any, *, low: float, high: float, strict: bool, whole: bool) -> None:
    """Reject anything but a number from `low` (excluded if `strict`) to `high`, and what can't be computed with.

    Without an upper limit, a whole number may have 32 bits and any other number is at most 1e300; a number that must be
    greater than 0 is at least 1e-300.
    """
    bound = f"it must be {range_in_words(low, high, strict)}"
    try:
        not_a_number = isinstance(value, str) or (whole and type(value).__name__ in ("bool", "bool_"))
        number = math.nan if not_a_number else float(value)
    except OverflowError:  # an integer that no float can hold
        number = math.inf
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise ParameterError(f"{name}={shown(value)} is not a number: {bound}")
    if whole and math.isfinite(number) and number != math.floor(number):
        raise ParameterError(f"{name}={shown(value)} is not a whole number: {bound}")
    if not math.isfinite(number) or number < low or number > high or (strict and number == low):
        raise ParameterError(f"{name}={shown(value)} is outside its range: {bound}")
    least, most = SMALLEST if strict and low == 0 else low, MOST_WHOLE if whole else LARGEST
    if number < least or number > most:
        raise ParameterError(f"{name}={shown(value)} is outside its range: it must be {range_in_words(least, most)}")


def shown(value: object) -> str:
    """A value as an error message shows it: an integer of hundreds of digits is cut short.

    >>> shown(2.5), shown(10**400)
    ('2.5', 'an integer of more than 64 bits')
    """
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return "an integer of more than 64 bits"
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # somewhere inside is an integer of thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_seed(random_state: Any, name: str = "random_state") -> None:
    """Reject a seed that is not None or a whole number that fits 32 bits, as scikit-learn's do.

    >>> check_seed(0), check_seed(None)
    (None, None)
    """
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if random_state is not None and not (whole and 0 <= random_state < 2**32):
        raise ParameterError(f"{name}={shown(random_state)} is not a seed: give a whole number from 0 to 2**32 - 1")


def check_count(name: str, value: Any, most: int, of: str) -> int:
    """The value as an int; rejects anything but a whole number from 1 to `most`.

    >>> check_count("k", 2.5, 10, "graphs to choose from")
    Traceback (most recent call last):
    rwk.runtime.parameter_checks.ParameterError: k=2.5 is outside its range: there are 10 graphs to choose from
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not 1 <= value <= most:
        raise ParameterError(f"{name}={shown(value)} is outside its range: there are {most} {of}")
    return int(value)


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
        raise ParameterError(f"n_jobs={shown(n_jobs)} is not valid: give 1 or more threads, -1 for all cores, or None")


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
