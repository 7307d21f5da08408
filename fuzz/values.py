"""Values at the ends of what there is, and how a recipe writes down those that JSON can't hold."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

FLOATS: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1e-8, 1e-38, 1e-45, 1e-100, 1e-160, 1e-200, 1e-300, 1e-308, 5e-324, 1e8, 1e38, 3.5e38,
    1e100, 1e154, 1e160, 1e200, 1e300, 1e308, 1.7976931348623157e308, float("nan"), float("inf"), float("-inf"), 2.5,
)  # fmt: skip
INTEGERS: Final = (
    0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**53 + 1,
    2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 10**400, -(2**31), -(2**63), -(2**63) - 1, -(10**30),
)  # fmt: skip
TEXTS: Final = (
    "", " ", "0", "1", "-1", "2.5", "nan", "inf", "1e309", "auto", "C", "none", "None", "True", "a\x00b", "a\nb", "é",
    "\ud800", "😀", "../..", "/", "~", "<b>x</b>", "<script>alert(1)</script>", "%s", "{}", "'\"", "x" * 300, "٣",
)  # fmt: skip
DTYPES: Final = (
    "float16", "float32", "float64", "longdouble", "int8", "uint8", "int16", "int32", "int64", "uint64", "bool",
    "complex128", "object", "datetime64[D]", "timedelta64[s]", "U4", "S4",
)  # fmt: skip
ODD: Final[dict[str, Callable[[], Any]]] = {
    "set": lambda: {1, 2},
    "dict": lambda: {"a": 1},
    "function": lambda: len,
    "type": lambda: int,
    "object": object,
    "complex": lambda: 1 + 2j,
    "date": lambda: datetime.date(2020, 1, 1),
    "bytes": lambda: b"\x00\xff",
    "tuple": lambda: (1, 2),
    "generator": lambda: iter(()),
    "range": lambda: range(3),
    "slice": lambda: slice(2),
    "ellipsis": lambda: ...,
    "recursive": lambda: _recursive(),
    "masked": lambda: np.ma.masked,
    "NaT": lambda: np.datetime64("NaT"),
}


def _recursive() -> list[Any]:
    inside: list[Any] = []
    inside.append(inside)
    return inside


class Chance(random.Random):
    """A source of hostile values that depends on its seed alone."""

    def of(self, *choices: Any) -> Any:
        """One of these."""
        return choices[self.randrange(len(choices))]

    def happens(self, share: float) -> bool:
        """True in this share of the calls."""
        return self.random() < share

    def number(self) -> float:
        """A float: usual, or at an end."""
        if self.happens(0.3):
            return self.uniform(-2, 2)
        if self.happens(0.3):
            return float(self.of(1, -1) * 10.0 ** self.uniform(-323, 308))
        return float(self.choice(FLOATS))

    def integer(self) -> int:
        """A whole number: small, or too large for some type."""
        return self.randint(-2, 12) if self.happens(0.4) else int(self.choice(INTEGERS))

    def text(self) -> str:
        """A text that someone might type, or might not."""
        return str(self.choice(TEXTS))

    def scalar(self) -> Any:
        """Anything that is not a list."""
        way = self.randrange(7)
        if way == 0:
            return {"$odd": self.choice(list(ODD))}
        if way == 1:
            return {
                "$scalar": self.of("float16", "float32", "int8", "uint64", "int64", "bool"),
                "of": self.randint(0, 9),
            }
        return (self.number, self.integer, self.text, lambda: None, lambda: self.happens(0.5))[self.randrange(5)]()

    def array(self, *shape: int, low: float = 0.0) -> dict[str, Any]:
        """An array of about this shape, of any type; most values are usual, and at least `low`."""
        if self.happens(0.1):
            shape = tuple(max(0, n + self.of(-1, 1)) for n in shape)
        if self.happens(0.05):
            shape = (*shape, self.randrange(3))
        share = self.of(0.0, 0.0, 0.1, 1.0)
        size = int(np.prod(shape, dtype=int))
        values = [self.number() if self.happens(share) else self.uniform(low, 1) for _ in range(size)]
        if self.happens(0.2):  # one scale for all, as far out as there is
            factor = 10.0 ** self.uniform(-320, 308)
            values = [value * factor for value in values]
        dtype = "float64" if self.happens(0.75) else self.choice(DTYPES)
        return {"$array": values, "shape": list(shape), "dtype": dtype}


def built(value: Any) -> Any:
    """The value that a recipe means."""
    if isinstance(value, list):
        return [built(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$odd" in value:
        return ODD[value["$odd"]]()
    if "$scalar" in value:
        return np.dtype(value["$scalar"]).type(value["of"])
    if "$array" in value:
        return _array(value)
    return {key: built(item) for key, item in value.items()}


def _array(value: dict[str, Any]) -> Any:
    numbers, dtype = value["$array"], np.dtype(value["dtype"])
    with np.errstate(all="ignore"):
        if dtype.kind in "mM":
            made = np.array([int(min(max(x, -1e6), 1e6)) if x == x else 0 for x in numbers], np.int64).astype(dtype)
        elif dtype.kind in "US":
            made = np.array([repr(x)[:4] for x in numbers], dtype)
        elif dtype.kind in "iu":
            made = np.array([x if abs(x) < 9e18 else 0 for x in numbers], np.float64).astype(dtype)
        else:
            made = np.array(numbers, dtype)
    return made.reshape(value["shape"])
