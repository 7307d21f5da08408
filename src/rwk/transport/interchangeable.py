"""Which nodes a coupling can't tell apart: their rows, or their columns, are proportional."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

# Two rows, each divided by its largest entry, count as equal if no entry differs by more than this.
TOLERANCE: Final = 1e-3


def alike_rows(coupling: NDArray[np.float64], tolerance: float = TOLERANCE) -> list[list[int]]:
    """Groups of two or more rows that are proportional up to the tolerance; a row of zeros is like no other.

    >>> alike_rows(np.array([[0.2, 0.1], [0.0, 0.3], [0.4, 0.2]]))
    [[0, 2]]
    """
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial.distance import pdist, squareform

    largest = coupling.max(axis=1, initial=0.0)
    used = np.flatnonzero(largest > 0)
    if len(used) < 2:
        return []
    near = squareform(pdist(coupling[used] / largest[used, None], "chebyshev")) <= tolerance
    _, group = connected_components(near, directed=False)
    groups = (used[group == g].tolist() for g in range(int(group.max()) + 1))
    return [members for members in groups if len(members) > 1]


def listed_groups(groups: list[list[Any]], most: int = 6) -> str:
    """The groups in words: "0, 3 or 1, 2", with what is too long cut off.

    >>> listed_groups([[0, 3], [1, 2]])
    '0, 3 or 1, 2'
    """
    shown = [", ".join(map(str, group[:most])) + (", …" if len(group) > most else "") for group in groups[:3]]
    return " or ".join(shown) + (" or others" if len(groups) > 3 else "")
