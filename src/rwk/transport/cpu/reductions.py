"""Sums over contiguous arrays of any length in a fixed order: whole vectors first, then the rest one by one (R16)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.runtime.compiling import compiled
from rwk.transport.cpu.simd.vectors import WIDTH_32, WIDTH_64, fma, lane_sum, load, no_lanes, wide

BLOCK: Final = 2048  # numbers that are converted at a time


@compiled
def inner(x: Any, y: Any) -> float:
    """<x, y> of two arrays of the same shape and dtype, summed in float64."""
    flat_x, flat_y = x.reshape(x.size), y.reshape(y.size)
    width = WIDTH_32 if x.itemsize == 4 else WIDTH_64
    total, count = 0.0, len(flat_x)
    p = 0
    if count >= 2 * width:
        even = no_lanes(wide(load(flat_x, 0)))
        odd = even
        while p + 2 * width <= count:
            even = fma(wide(load(flat_x, p)), wide(load(flat_y, p)), even)
            odd = fma(wide(load(flat_x, p + width)), wide(load(flat_y, p + width)), odd)
            p += 2 * width
        total = lane_sum(even + odd)
    while p < count:
        total = fma(np.float64(flat_x[p]), np.float64(flat_y[p]), total)
        p += 1
    return total


@compiled
def inner_wide(x: Any, y: Any) -> float:
    """<x, y> of two arrays of the same shape, in blocks that are converted to float64."""
    flat_x, flat_y = x.reshape(x.size), y.reshape(y.size)
    left, right, total = np.empty(BLOCK), np.empty(BLOCK), 0.0
    for first in range(0, len(flat_x), BLOCK):
        count = min(BLOCK, len(flat_x) - first)
        for p in range(count):
            left[p], right[p] = flat_x[first + p], flat_y[first + p]
        total += inner(left[:count], right[:count])
    return total


@compiled
def inner_of_ratios(x: Any, logs: Any, prior: Any, offset: float) -> float:
    """<x, offset + logs - prior>, in blocks, so that no array of this size is needed."""
    flat, flat_logs, flat_prior = x.reshape(x.size), logs.reshape(x.size), prior.reshape(x.size)
    left, right, total = np.empty(BLOCK), np.empty(BLOCK), 0.0
    for first in range(0, len(flat), BLOCK):
        count = min(BLOCK, len(flat) - first)
        for p in range(count):
            left[p] = flat[first + p]
            right[p] = offset + np.float64(flat_logs[first + p]) - flat_prior[first + p]
        total += inner(left[:count], right[:count])
    return total


@compiled
def total_of(x: Any, first: int, count: int) -> float:
    """The sum of x[first : first + count], a flat array, in float64."""
    width = WIDTH_32 if x.itemsize == 4 else WIDTH_64
    total = 0.0
    p = 0
    if count >= width:
        lanes = no_lanes(wide(load(x, first)))
        while p + width <= count:
            lanes = lanes + wide(load(x, first + p))
            p += width
        total = lane_sum(lanes)
    while p < count:
        total += np.float64(x[first + p])
        p += 1
    return total
