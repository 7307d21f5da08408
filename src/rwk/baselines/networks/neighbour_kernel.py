"""Sums over neighbours on a GPU, one Triton program per node: no list of edges is made, and the order is fixed."""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Any, Final

import torch
import triton
import triton.language as tl

EDGES: Final = 16  # read together
CHANNELS: Final = 64


def sum_rows(rows: Any, low: Any, high: Any, begin: Any, tails: Any, counts: Any = None) -> Any:
    """Row v of the result is the sum of counts[e] rows[begin[v] + tails[e]] over the edges e in low[v] .. high[v].

    Without counts, each is 1.
    """
    rows = rows.contiguous()
    found = torch.empty_like(rows)
    count, width = rows.shape
    channels = min(CHANNELS, triton.next_power_of_2(width))
    _sum_kernel[(count, triton.cdiv(width, channels))](
        rows, found, low, high, begin, tails, tails if counts is None else counts, width,
        COUNTED=counts is not None, EDGES=EDGES, CHANNELS=channels, num_warps=2
    )  # fmt: skip
    return found


@triton.jit
def _sum_kernel(
    rows, found, low, high, begin, tails, counts, width,
    COUNTED: tl.constexpr, EDGES: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    node = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    first = tl.load(low + node)
    last = tl.load(high + node)
    base = tl.load(begin + node)
    total = tl.zeros((CHANNELS,), tl.float32)
    at = first
    while at < last:
        edges = at + tl.arange(0, EDGES)
        there = edges < last
        tail = base + tl.load(tails + edges, mask=there, other=0)
        wanted = there[:, None] & (columns < width)[None, :]
        read = tl.load(rows + tail[:, None] * width + columns[None, :], mask=wanted, other=0.0)
        if COUNTED:
            read *= tl.load(counts + edges, mask=there, other=0.0)[:, None]
        total += tl.sum(read, axis=0)
        at += EDGES
    tl.store(found + node * width + columns, total, mask=columns < width)
