"""Numbers in words: counts, durations and sizes, the same wherever a person reads them."""

from __future__ import annotations

from math import inf
from typing import Final

# unit, its seconds, the unit below, its seconds, and from how many seconds on a larger unit is used
_UNITS_OF_TIME: Final = (
    ("min", 60, "s", 1, 3600),
    ("h", 3600, "min", 60, 172_800),
    ("d", 86_400, "h", 3600, inf),
)


def counted(n: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "iteration"), counted(2000, "pair")
    ('1 iteration', '2,000 pairs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def duration(seconds: float) -> str:
    """A time in two units at most.

    >>> duration(0.4), duration(5.25), duration(75), duration(7200), duration(7300), duration(200_000)
    ('0.4 s', '5.2 s', '1 min 15 s', '2 h', '2 h 2 min', '2 d 8 h')
    """
    if seconds < 0.001:
        return "under a millisecond"
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    unit, length, below, step = next(row[:4] for row in _UNITS_OF_TIME if round(seconds / row[3]) * row[3] < row[4])
    whole, rest = divmod(round(seconds / step), length // step)
    return f"{whole} {unit} {rest} {below}" if rest else f"{whole} {unit}"


def size(n_bytes: float) -> str:
    """An amount of memory or storage.

    >>> size(512), size(999_999), size(2.5e9)
    ('512 B', '1 MB', '2.5 GB')
    """
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= 0.9995 * length:  # what three digits round up to
            return f"{n_bytes / length:.3g} {unit}"
    return f"{n_bytes:.0f} B"


def brief(error: BaseException, longest: int = 120) -> str:
    """What an error of another library says, on one line and cut short; its type if it says nothing.

    >>> brief(ValueError("bad shape\\nsee the manual")), brief(KeyError())
    ('bad shape', 'KeyError')
    """
    lines = str(error).strip().splitlines()
    return lines[0][:longest] if lines else type(error).__name__
