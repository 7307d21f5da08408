"""Types of the arrays that travel through the library, and offsets into packed ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


def offsets_of(lengths: Iterable[int] | IntArray) -> IntArray:
    """Offsets of consecutive parts: part i is the slice `offsets[i]:offsets[i + 1]`.

    >>> offsets_of([2, 1, 3]).tolist()
    [0, 2, 3, 6]
    """
    values = lengths if isinstance(lengths, np.ndarray) else np.fromiter(lengths, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(values)]).astype(np.int64)
