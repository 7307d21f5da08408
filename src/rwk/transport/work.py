"""The work of solving a pair: the one model by which pairs are ordered, dealt out and estimated.

An iteration on graphs of n and m nodes takes about n m (n + m + 64) multiply-adds: n m (n + m) for the products, 64 n m
for everything that is done once per entry, Sinkhorn rounds above all. The model decides in which chunks and tiles pairs
are solved, never what comes out (R16).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from rwk.runtime.arrays import FloatArray, IntArray

WORK_PER_ENTRY: Final = 64  # multiply-adds per entry of the coupling, beside the products


def pair_cost(n: FloatArray | float, m: FloatArray | float) -> FloatArray:
    """Multiply-adds of one iteration on graphs of n and m nodes.

    >>> float(pair_cost(10, 20))
    18800.0
    """
    return np.asarray(n * m * (n + m + WORK_PER_ENTRY))


class SizeSums(NamedTuple):
    """Sums over the sizes of one group of graphs: all that the cost of pairing groups depends on."""

    first: float  # of n
    second: float  # of n^2


def group_cost(a: SizeSums, b: SizeSums) -> float:
    """The cost of all pairs of one graph of group a and one of group b.

    >>> group_cost(SizeSums(3.0, 5.0), SizeSums(4.0, 16.0)) == 1 * 4 * (5 + 64) + 2 * 4 * (6 + 64)
    True
    """
    return b.first * a.second + a.first * b.second + WORK_PER_ENTRY * a.first * b.first


def root_costs(sizes: IntArray) -> FloatArray:
    """f(n) = n sqrt(2 n + 64) of each graph: the cost of a pair lies near f(n) f(m)."""
    n = sizes.astype(np.float64)
    return np.asarray(n * np.sqrt(2.0 * n + WORK_PER_ENTRY))
