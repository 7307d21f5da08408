"""Exact optimal transport between uniform distributions: the network simplex on the complete bipartite graph.

The masses 1/n and 1/m are the integers m/g and n/g divided by nm/g, g = gcd(n, m), so flows are exact integers. A basis
is a spanning tree of rows and columns; the arc of a node is the one to its parent. An arc always leads from a row to a
column, with reduced cost cost + potential(row) − potential(column), which is 0 on the tree.

Every pivot adds a violated arc and removes the last arc that blocks its cycle, seen from the top of the cycle. This
keeps the tree strongly feasible (arcs without flow point to the root), so no basis occurs twice, however many ties
there are. A tree stays feasible if costs change, so a similar problem can be solved from the last tree.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from rwk.runtime.arrays import FloatArray
from rwk.runtime.compiling import compiled

TOLERANCE: Final = 1e-12  # of a reduced cost, relative to the largest cost
MAX_PIVOTS: Final = 2000  # per node; far more than ever needed


# A tree is one array with a row of integers per node (numba passes many small arrays slowly). Nodes 0..n−1 are rows of
# the cost matrix, n..n+m−1 its columns, −1 is none. UP: whether the arc leads from the node to its parent; AMOUNT: the
# flow on it; CHILD: the first child; AFTER and BEFORE: the next and the previous child of the same parent.
PARENT, UP, AMOUNT, DEPTH, CHILD, AFTER, BEFORE = range(7)


def uniform_plan(cost: FloatArray) -> FloatArray:
    """The coupling of two uniform distributions with the lowest cost; costs may be negative.

    >>> uniform_plan(np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    n, m = cost.shape
    cost = np.ascontiguousarray(cost, np.float64)
    tree = first_tree(cost)
    improve(cost, tree)
    return np.asarray(flows(tree, n, m) * (math.gcd(n, m) / (n * m)))


@compiled
def first_tree(cost: Any) -> Any:
    """A feasible tree, by the north-west corner rule on rows and columns sorted by their distance to a cheap pair."""
    n, m = cost.shape
    a, b = n, m
    while b:
        a, b = b, a % b
    row_mass, column_mass = m // a, n // a
    rows = np.argsort(cost[:, 0])
    columns = np.argsort(cost[rows[0]])
    tree = np.full((n + m, 7), -1)
    i, j = 0, 0
    supply, demand = row_mass, column_mass
    node, top = n + columns[0], rows[0]  # the root is the first row
    while True:
        sent = min(supply, demand)
        _attach(tree, node, top)
        tree[node, AMOUNT], tree[node, UP] = sent, node < n
        supply -= sent
        demand -= sent
        if i == n - 1 and j == m - 1:
            return tree
        # in a tie the row is finished first: the arc without flow that follows then leads from a row to its parent
        if i < n - 1 and (supply == 0 or j == m - 1):
            top = n + columns[j]
            i += 1
            supply, node = row_mass, rows[i]
        else:
            top = rows[i]
            j += 1
            demand, node = column_mass, n + columns[j]


@compiled
def improve(cost: Any, tree: Any) -> None:
    """Pivot until no arc is violated."""
    n, m = cost.shape
    stack, potential, violation = np.empty(n + m, np.int64), np.empty(n + m), np.empty(m)
    bits = violation.view(np.int64)  # ordered like the values, which are not negative; maxima of integers vectorise
    _set_potentials(cost, tree, potential, stack)
    tolerance = TOLERANCE * max(np.abs(cost).max(), 1e-300)
    block = math.sqrt(n * m)
    row = 0
    for _ in range(MAX_PIVOTS * (n + m)):
        worst, at_row, at_column, searched = tolerance, -1, -1, 0.0
        for _ in range(n):  # blocks of rows, until a block has a violated arc
            own = potential[row]
            for j in range(m):
                violation[j] = max(potential[n + j] - own - cost[row, j], 0.0)
            most = bits[0]
            for j in range(1, m):
                most = max(most, bits[j])
            j = 0
            while bits[j] != most:
                j += 1
            if violation[j] > worst:
                worst, at_row, at_column = violation[j], row, j
            row = row + 1 if row < n - 1 else 0
            searched += m
            if searched >= block:
                if at_row >= 0:
                    break
                searched = 0.0
        if at_row < 0:
            return
        _pivot(tree, potential, at_row, n + at_column, cost[at_row, at_column], stack)


@compiled
def flows(tree: Any, n: int, m: int) -> Any:
    """The integer flows of a tree, as a matrix."""
    flow = np.zeros((n, m), np.int64)
    for node in range(n + m):
        if tree[node, PARENT] >= 0:
            row, column = arc_of(tree, node, n)
            flow[row, column] = tree[node, AMOUNT]
    return flow


@compiled
def arc_of(tree: Any, node: int, n: int) -> Any:
    """The row and the column of the arc between a node and its parent."""
    parent = tree[node, PARENT]
    return (node, parent - n) if node < n else (parent, node - n)


@compiled
def _set_potentials(cost: Any, tree: Any, potential: Any, stack: Any) -> None:
    """Compute potentials and depths of all nodes, from the root down."""
    n = len(cost)
    root = 0
    while tree[root, PARENT] >= 0:
        root = tree[root, PARENT]
    potential[root], tree[root, DEPTH] = 0.0, 0
    stack[0], size = root, 1
    while size:
        size -= 1
        node = stack[size]
        below = tree[node, CHILD]
        while below >= 0:
            if below < n:
                potential[below] = potential[node] - cost[below, node - n]
            else:
                potential[below] = potential[node] + cost[node, below - n]
            tree[below, DEPTH] = tree[node, DEPTH] + 1
            stack[size] = below
            size += 1
            below = tree[below, AFTER]


@compiled
def _pivot(tree: Any, potential: Any, row: int, column: int, cost: float, stack: Any) -> None:
    """Add the arc from `row` to `column` to the tree, and remove the arc that blocks its cycle."""
    a, b = row, column
    while a != b:
        if tree[a, DEPTH] >= tree[b, DEPTH]:
            a = tree[a, PARENT]
        else:
            b = tree[b, PARENT]
    top = a
    sent, leaving, row_side = np.int64(2**62), -1, True
    node = row
    while node != top:
        if tree[node, UP] and tree[node, AMOUNT] < sent:
            sent, leaving = tree[node, AMOUNT], node
        node = tree[node, PARENT]
    node = column
    while node != top:
        if not tree[node, UP] and tree[node, AMOUNT] <= sent:
            sent, leaving, row_side = tree[node, AMOUNT], node, False
        node = tree[node, PARENT]
    if sent > 0:
        node = row
        while node != top:
            tree[node, AMOUNT] += -sent if tree[node, UP] else sent
            node = tree[node, PARENT]
        node = column
        while node != top:
            tree[node, AMOUNT] += sent if tree[node, UP] else -sent
            node = tree[node, PARENT]
    gap = potential[column] - potential[row] - cost
    if row_side:
        _reroot(tree, row, column, leaving, sent, 1)
        _shift(tree, potential, row, gap, stack)
    else:
        _reroot(tree, column, row, leaving, sent, 0)
        _shift(tree, potential, column, -gap, stack)


@compiled
def _reroot(tree: Any, node: int, top: int, leaving: int, amount: Any, up: Any) -> None:
    """Attach the subtree of `leaving` to `top` at `node`, reversing the arcs between `node` and `leaving`."""
    while True:
        old_parent, old_amount, old_up = tree[node, PARENT], tree[node, AMOUNT], tree[node, UP]
        _detach(tree, node)
        _attach(tree, node, top)
        tree[node, AMOUNT], tree[node, UP] = amount, up
        if node == leaving:
            return
        node, top, amount, up = old_parent, node, old_amount, 1 - old_up


@compiled
def _shift(tree: Any, potential: Any, node: int, gap: float, stack: Any) -> None:
    """Add `gap` to the potentials of a subtree, and update its depths."""
    stack[0], size = node, 1
    while size:
        size -= 1
        node = stack[size]
        potential[node] += gap
        tree[node, DEPTH] = tree[tree[node, PARENT], DEPTH] + 1
        below = tree[node, CHILD]
        while below >= 0:
            stack[size] = below
            size += 1
            below = tree[below, AFTER]


@compiled
def _attach(tree: Any, node: int, top: int) -> None:
    first = tree[top, CHILD]
    tree[node, PARENT], tree[node, BEFORE], tree[node, AFTER] = top, -1, first
    if first >= 0:
        tree[first, BEFORE] = node
    tree[top, CHILD] = node


@compiled
def _detach(tree: Any, node: int) -> None:
    previous, following = tree[node, BEFORE], tree[node, AFTER]
    if previous >= 0:
        tree[previous, AFTER] = following
    else:
        tree[tree[node, PARENT], CHILD] = following
    if following >= 0:
        tree[following, BEFORE] = previous
