"""An exact occurrence of one graph in another: a part that holds all its nodes and edges, found by backtracking."""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled


@compiled
def embed(problem: Any, order: Any, parents: Any, candidates: Any, budget: int, p: Any) -> int:
    """Look for a part with all nodes and edges of G, by backtracking over its nodes in the given order.

    A node other than the first goes to a neighbour of the place of its parent (the node before it in the order that it
    is joined to, or -1). `candidates` are the nodes of H in the order in which each node of G tries them (n, m).
    Returns 1 if one was found, 0 if there is none, -1 if the budget of tries was spent.
    """
    G, H = problem.G, problem.H
    n, m = problem.allowed.shape
    p[:] = -1
    taken = np.zeros(m, np.bool_)
    tried = np.zeros(n, np.int64)  # by depth: how many candidates of the node at this depth were tried
    depth = 0
    while depth >= 0:
        i = order[depth]
        if p[i] >= 0:
            taken[p[i]] = False
            p[i] = -1
        found = False
        while tried[depth] < m and not found:
            k = candidates[i, tried[depth]]
            tried[depth] += 1
            if taken[k] or not problem.allowed[i, k]:
                continue
            if parents[depth] >= 0 and H.weights[p[parents[depth]], k] == 0.0:
                continue
            budget -= 1
            if budget < 0:
                p[:] = -1
                return -1
            found = True
            for at in range(G.offsets[i], G.offsets[i + 1]):
                j = G.neighbours[at]
                if p[j] >= 0 and (H.weights[k, p[j]] == 0.0 or G.labels[i, j] != H.labels[k, p[j]]):
                    found = False
                    break
            if found:
                p[i], taken[k] = k, True
        if not found:
            tried[depth] = 0
            depth -= 1
        elif depth == n - 1:
            return 1
        else:
            depth += 1
            tried[depth] = 0
    return 0
