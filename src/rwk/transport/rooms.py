"""Work arrays that keep their distance.

Before a vectorised loop, compiled code checks that what it writes does not lie within some vectors of what it reads,
and takes a scalar loop if it does, whose last bits may differ. Small arrays from an allocator often lie that close.
With a margin on both sides the check always has the same outcome: a pair's bits do not depend on where its arrays lie.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.transport.compiling import compiled

MARGIN: Final = 64  # elements; more than any vector loop reads ahead


@compiled
def room(n: int, dtype: Any) -> Any:
    """An uninitialised vector."""
    return np.empty(n + 2 * MARGIN, dtype)[MARGIN : MARGIN + n]


@compiled
def rooms(n: int, m: int, dtype: Any) -> Any:
    """An uninitialised matrix."""
    return np.empty(n * m + 2 * MARGIN, dtype)[MARGIN : MARGIN + n * m].reshape((n, m))
