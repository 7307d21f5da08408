"""Step 1 of the fused body: M = C_V + beta_local C_N of every pair of a chunk, tile by tile, in Triton.

A tile sums squared differences column by column, so nodes with equal features have a distance of exactly 0. Of the
sparse columns, most occur in only one of the two graphs of a pair and add their squares. Those that both have are found
first, by binary search. For each node, the sum of the squares of the others is the sum over all its columns, which is
known, minus the sum over the shared columns. In double precision this difference is at rounding level for nodes that
have only shared columns, and then counts as 0.
"""

# Triton compiles these functions; their arguments have no Python types.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import Any, Final

import triton
import triton.language as tl

from rwk.runtime.device import announce_compiling
from rwk.transport.gpu.device_measures import Stack, Store
from rwk.transport.problem import ROUNDING, CostWeights

TILE: Final = 64
SEARCHED: Final = 128  # columns that are searched for together
NO_COLUMN: Final = tl.constexpr(2**31 - 1)
_ROUNDING = tl.constexpr(ROUNDING)


@triton.jit
def _row(pointer, i, width, WHOLE: tl.constexpr):
    """Numbers i of a row; those beyond its width are 0. WHOLE: there are none, which makes for wide loads."""
    return tl.load(pointer + i) if WHOLE else tl.load(pointer + i, mask=i < width, other=0)


@triton.jit
def _add_squares(squares, source, target, width_a, width_b, i, k, n_columns, A: tl.constexpr, B: tl.constexpr):
    """Add squared differences between nodes over the columns (c, P) of two graphs."""
    for c in range(n_columns):
        x = _row(source + c * width_a, i, width_a, A)
        y = _row(target + c * width_b, k, width_b, B)
        difference = x[:, None] - y[None, :]
        squares += difference * difference
    return squares


@triton.jit
def _add_mismatches(count, source, target, width_a, width_b, i, k, n_columns, A: tl.constexpr, B: tl.constexpr):
    """Add the number of columns (c, P) in which nodes of two graphs differ."""
    for c in range(n_columns):
        x = _row(source + c * width_a, i, width_a, A)
        y = _row(target + c * width_b, k, width_b, B)
        count += (x[:, None] != y[None, :]).to(tl.float32)
    return count


@triton.jit(do_not_specialize=["room", "halvings"])
def _shared_columns(
    counts, shared_a, shared_b, room, halvings, pairs_a, pairs_b, offsets_a, ids_a, offsets_b, ids_b,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Which sparse columns both graphs of a pair have: their places in the two lists, ascending."""
    pair = tl.program_id(0).to(tl.int64)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)
    first, end = tl.load(offsets_a + a), tl.load(offsets_a + a + 1)
    start, stop = tl.load(offsets_b + b), tl.load(offsets_b + b + 1)
    count = 0
    while first < end:
        place = first + tl.arange(0, BLOCK)
        wanted = tl.load(ids_a + place, mask=place < end, other=NO_COLUMN)
        low, high = start + tl.zeros((BLOCK,), tl.int64), stop + tl.zeros((BLOCK,), tl.int64)
        for _ in range(halvings):
            middle = (low + high) // 2
            before = tl.load(ids_b + middle, mask=middle < stop, other=NO_COLUMN) < wanted
            before = before & (low < high)
            low, high = tl.where(before, middle + 1, low), tl.where(before, high, middle)
        found = tl.load(ids_b + low, mask=low < stop, other=-1) == wanted
        rank = tl.cumsum(found.to(tl.int32), axis=0) - 1
        tl.store(shared_a + pair * room + count + rank, place.to(tl.int32), mask=found)
        tl.store(shared_b + pair * room + count + rank, low.to(tl.int32), mask=found)
        count += tl.sum(found.to(tl.int32), axis=0)
        first += BLOCK
    tl.store(counts + pair, count)


@triton.jit(do_not_specialize=["room", "n_features", "squared", "n_returns", "n_rounds", "n_embedding", "n_signs"])
def _linear_cost_tile(
    out, out_n, out_m, pairs_a, pairs_b, width_a, width_b,
    features_a, features_b, n_features, squared, returns_a, returns_b, n_returns, product_unit,
    counts, shared_a, shared_b, room, columns_a, norms_a, columns_b, norms_b,
    colours_a, colours_b, n_rounds, colour_unit,
    embedding_a, embedding_b, n_embedding, signs_a, signs_b, n_signs, neighbour_unit,
    N: tl.constexpr, M: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.program_id(2) * M + tl.arange(0, M)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)

    place = pair * out_n * out_m + i[:, None] * out_m + k[None, :]
    # zeros in the layout of a load, four columns per thread: this loads nothing, since `squared` is 0 or 1
    squares = tl.load(out + place, mask=(i < squared - 1)[:, None] & (k < squared - 1)[None, :], other=0.0)
    x0, y0 = features_a + a * n_features * width_a, features_b + b * n_features * width_b
    squares = _add_squares(squares, x0, y0, width_a, width_b, i, k, n_features, A, B)

    norm_a = tl.load(norms_a + a * width_a + i, mask=i < width_a, other=0.0)
    norm_b = tl.load(norms_b + b * width_b + k, mask=k < width_b, other=0.0)
    alone_a, alone_b = norm_a, norm_b
    for s in range(tl.load(counts + pair)):
        p = tl.load(shared_a + pair * room + s).to(tl.int64)
        q = tl.load(shared_b + pair * room + s).to(tl.int64)
        x = _row(columns_a + p * width_a, i, width_a, A)
        y = _row(columns_b + q * width_b, k, width_b, B)
        difference = x[:, None] - y[None, :]
        squares += difference * difference
        alone_a -= x.to(tl.float64) * x.to(tl.float64)
        alone_b -= y.to(tl.float64) * y.to(tl.float64)
    rest_a = tl.where(alone_a > _ROUNDING * norm_a, alone_a, 0.0).to(tl.float32)
    rest_b = tl.where(alone_b > _ROUNDING * norm_b, alone_b, 0.0).to(tl.float32)
    squares += rest_a[:, None] + rest_b[None, :]
    cost = tl.where(squared != 0, squares, tl.sqrt(squares))

    c0, d0 = colours_a + a * n_rounds * width_a, colours_b + b * n_rounds * width_b
    differ = colour_unit * _add_mismatches(0.0 * cost, c0, d0, width_a, width_b, i, k, n_rounds, A, B)
    if product_unit > 0.0:
        r0, q0 = returns_a + a * n_returns * width_a, returns_b + b * n_returns * width_b
        cost += tl.sqrt(_add_squares(0.0 * cost, r0, q0, width_a, width_b, i, k, n_returns, A, B))
        near = tl.exp(-cost)
        # this is 1 - w near with w = 1 - differ (R18), in a form that is exactly 0 for nodes with equal features
        cost = product_unit * ((1.0 - near) + differ * near)
    else:
        cost += differ

    s0, t0 = signs_a + a * n_signs * width_a, signs_b + b * n_signs * width_b
    distance = _add_mismatches(0.0 * cost, s0, t0, width_a, width_b, i, k, n_signs, A, B)
    e0, f0 = embedding_a + a * n_embedding * width_a, embedding_b + b * n_embedding * width_b
    distance += tl.sqrt(_add_squares(0.0 * cost, e0, f0, width_a, width_b, i, k, n_embedding, A, B))
    cost += neighbour_unit * distance

    tl.store(out + place, cost, mask=(i < out_n)[:, None] & (k < out_m)[None, :])


def shared_columns(source: Stack, target: Stack, a: Any, b: Any) -> tuple[Any, Any, Any, int]:
    """For each pair, how many sparse columns both graphs have, and which: places in the columns of the two stacks."""
    import torch

    room = max(min(source.most_columns, target.most_columns), 1)
    counts = torch.zeros(len(a), dtype=torch.int32, device=a.device)
    shared = [torch.empty((len(a), room), dtype=torch.int32, device=a.device) for _ in range(2)]
    if source.most_columns and target.most_columns:
        _shared_columns[(len(a),)](
            counts, *shared, room, target.most_columns.bit_length(), a, b, source.column_offsets, source.column_ids,
            target.column_offsets, target.column_ids, BLOCK=SEARCHED, num_warps=1,
        )  # fmt: skip
    return counts, *shared, room


def linear_cost_into(
    out: Any, store: Store, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights
) -> None:
    """Fill `out` (B, n, m) with M; entries of padded nodes are meaningless."""
    n, m = out.shape[1:]
    tile_n, tile_m = min(n, TILE), min(m, TILE)
    rounds, n_signs = source.colours.shape[1], source.signs.shape[1]
    colour_cost = 1.0 if store.product_cost > 0.0 else store.hamming_cost
    n_embedding = 0 if n_signs or weights.beta_local == 0.0 else source.embedding.shape[1]
    neighbour_unit = weights.beta_local * store.neighbour_cost / max(n_signs, 1)
    announce_compiling(f"costs {tile_n}x{tile_m}", store.device)
    _linear_cost_tile[(len(a), -(-n // tile_n), -(-m // tile_m))](
        out, n, m, a, b, source.width, target.width,
        source.features, target.features, source.features.shape[1], int(store.squared),
        source.returns, target.returns, source.returns.shape[1], store.product_cost,
        *shared_columns(source, target, a, b), source.columns, source.column_norms, target.columns, target.column_norms,
        source.colours, target.colours, rounds, colour_cost / max(rounds, 1),
        source.embedding, target.embedding, n_embedding,
        source.signs, target.signs, n_signs if weights.beta_local != 0.0 else 0, neighbour_unit,
        N=tile_n, M=tile_m, A=source.width % tile_n == 0, B=target.width % tile_m == 0,
        num_warps=1 if tile_n * tile_m <= 1024 else 4,
    )  # fmt: skip
