"""Memory that begins where a vector would."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.transport.cpu.simd.vectors import REGISTER_BYTES


def aligned_zeros(count: int, dtype: Any) -> NDArray[Any]:
    """So many zeros; every vector of them lies in one line of the cache, as one that lies in two takes twice as long.

    >>> aligned_zeros(3, np.float64).tolist()
    [0.0, 0.0, 0.0]
    """
    size = np.dtype(dtype).itemsize
    memory = np.zeros(count + REGISTER_BYTES // size, dtype)
    skipped = -memory.__array_interface__["data"][0] % REGISTER_BYTES // size
    return memory[skipped : skipped + count]
