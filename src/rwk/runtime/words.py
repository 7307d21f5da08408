"""Numbers in words: counts, durations and sizes, the same wherever a person reads them."""

from __future__ import annotations


def counted(n: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "iteration"), counted(2000, "pair")
    ('1 iteration', '2,000 pairs')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def duration(seconds: float) -> str:
    """A time that is read at a glance: two units at most.

    >>> duration(0.4), duration(5.25), duration(75), duration(7300), duration(200_000)
    ('under a second', '5 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds < 1:
        return "under a second"
    whole = round(seconds)
    for unit, below, length, least in (("d", "h", 86_400, 172_800), ("h", "min", 3600, 3600), ("min", "s", 60, 60)):
        if whole >= least:
            rest = whole % length // {"h": 3600, "min": 60, "s": 1}[below]
            return f"{whole // length} {unit} {rest} {below}"
    return f"{whole} s"


def size(n_bytes: float) -> str:
    """An amount of memory or storage.

    >>> size(512), size(3_000_000), size(2.5e9)
    ('512 B', '3 MB', '2.5 GB')
    """
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= length:
            return f"{n_bytes / length:.3g} {unit}"
    return f"{n_bytes:.0f} B"
