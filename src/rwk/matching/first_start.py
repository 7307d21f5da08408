"""The first soft start of two graphs, from lists of edges to an assignment, in one call of compiled code.

For graphs of 30 nodes, passing arrays to compiled functions and back takes as long as what these do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.matching.growing import grown
from rwk.matching.isomorphism import isomorphism
from rwk.matching.listed_edges import EdgeLists, listed
from rwk.matching.local_search import Standing, misfit
from rwk.matching.signatures import signature_costs
from rwk.matching.soft_starts import PLAIN_ROUNDS, ROUNDS, soft_start
from rwk.runtime.compiling import compiled


@compiled
def first_start(first: Any, second: Any, U: Any, places: Any) -> float:
    """Fill `places` with an isomorphism or the assignment that the start without noise leads to; returns its misfit.

    `first` and `second` are what `listed` takes.
    """
    n, m = U.shape
    G, H = EdgeLists(*listed(*first)), EdgeLists(*listed(*second))
    now = Standing(places, np.zeros(m, np.int64), np.empty((n, m)), np.empty(m), np.empty(n, np.bool_))
    if isomorphism(G, H, U, now.p, now.q) and misfit(G, H, U, now.p) == 0.0:
        return 0.0
    soft_start(G, H, U, signature_costs(G, H, U), np.zeros((n, m)), now)
    return float(grown(G, H, U, now, PLAIN_ROUNDS, ROUNDS))
