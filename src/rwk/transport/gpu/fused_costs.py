"""Step 1 of the fused body: M = C_V + beta_local C_N of every pair of a chunk, tile by tile, in Triton.

A tile sums squared differences column by column, so nodes with equal features have a distance of exactly 0. The sparse
columns of the two graphs are merged as two sorted lists. Most columns of a pair occur in only one of the two graphs and
add their squares. For each node, the sum of these squares is the sum over all its columns, which is known, minus the
sum over the shared columns. In double precision this difference is at rounding level for nodes that have only shared
columns, and then counts as 0.
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
NO_COLUMN: Final = tl.constexpr(2**31 - 1)
_ROUNDING = tl.constexpr(ROUNDING)


@triton.jit
def _add_squares(squares, source, target, width_a, width_b, i, k, n_columns):
    """Add squared differences between nodes over the columns (c, P) of two graphs."""
    for c in range(n_columns):
        x = tl.load(source + c * width_a + i, mask=i < width_a, other=0.0)
        y = tl.load(target + c * width_b + k, mask=k < width_b, other=0.0)
        difference = x[:, None] - y[None, :]
        squares += difference * difference
    return squares


@triton.jit
def _add_mismatches(count, source, target, width_a, width_b, i, k, n_columns):
    """Add the number of columns (c, P) in which nodes of two graphs differ."""
    for c in range(n_columns):
        x = tl.load(source + c * width_a + i, mask=i < width_a, other=0)
        y = tl.load(target + c * width_b + k, mask=k < width_b, other=0)
        count += (x[:, None] != y[None, :]).to(tl.float32)
    return count


@triton.jit(do_not_specialize=["n_features", "squared", "n_returns", "n_rounds", "n_embedding", "n_signs"])
def _linear_cost_tile(
    out, out_n, out_m, pairs_a, pairs_b, width_a, width_b,
    features_a, features_b, n_features, squared, returns_a, returns_b, n_returns, product_unit,
    offsets_a, ids_a, columns_a, norms_a, offsets_b, ids_b, columns_b, norms_b,
    colours_a, colours_b, n_rounds, colour_unit,
    embedding_a, embedding_b, n_embedding, signs_a, signs_b, n_signs, neighbour_unit,
    N: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    pair = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * N + tl.arange(0, N)
    k = tl.program_id(2) * M + tl.arange(0, M)
    a, b = tl.load(pairs_a + pair), tl.load(pairs_b + pair)

    squares = tl.zeros((N, M), tl.float32)
    x0, y0 = features_a + a * n_features * width_a, features_b + b * n_features * width_b
    squares = _add_squares(squares, x0, y0, width_a, width_b, i, k, n_features)

    p, p_end = tl.load(offsets_a + a), tl.load(offsets_a + a + 1)
    q, q_end = tl.load(offsets_b + b), tl.load(offsets_b + b + 1)
    norm_a = tl.load(norms_a + a * width_a + i, mask=i < width_a, other=0.0)
    norm_b = tl.load(norms_b + b * width_b + k, mask=k < width_b, other=0.0)
    alone_a, alone_b = norm_a, norm_b
    left = tl.load(ids_a + p, mask=p < p_end, other=NO_COLUMN)
    right = tl.load(ids_b + q, mask=q < q_end, other=NO_COLUMN)
    while (p < p_end) & (q < q_end):
        # load before the comparison, so that the loads do not wait for it
        next_left = tl.load(ids_a + p + 1, mask=p + 1 < p_end, other=NO_COLUMN)
        next_right = tl.load(ids_b + q + 1, mask=q + 1 < q_end, other=NO_COLUMN)
        if left == right:
            x = tl.load(columns_a + p * width_a + i, mask=i < width_a, other=0.0)
            y = tl.load(columns_b + q * width_b + k, mask=k < width_b, other=0.0)
            difference = x[:, None] - y[None, :]
            squares += difference * difference
            alone_a -= x.to(tl.float64) * x.to(tl.float64)
            alone_b -= y.to(tl.float64) * y.to(tl.float64)
        in_a, in_b = left <= right, right <= left
        p += in_a.to(tl.int64)
        q += in_b.to(tl.int64)
        left, right = tl.where(in_a, next_left, left), tl.where(in_b, next_right, right)
    rest_a = tl.where(alone_a > _ROUNDING * norm_a, alone_a, 0.0).to(tl.float32)
    rest_b = tl.where(alone_b > _ROUNDING * norm_b, alone_b, 0.0).to(tl.float32)
    squares += rest_a[:, None] + rest_b[None, :]
    cost = tl.where(squared != 0, squares, tl.sqrt(squares))

    count = tl.zeros((N, M), tl.float32)
    c0, d0 = colours_a + a * n_rounds * width_a, colours_b + b * n_rounds * width_b
    differ = colour_unit * _add_mismatches(count, c0, d0, width_a, width_b, i, k, n_rounds)
    if product_unit > 0.0:
        squares = tl.zeros((N, M), tl.float32)
        r0, q0 = returns_a + a * n_returns * width_a, returns_b + b * n_returns * width_b
        cost += tl.sqrt(_add_squares(squares, r0, q0, width_a, width_b, i, k, n_returns))
        near = tl.exp(-cost)
        # this is 1 - w near with w = 1 - differ (R18), in a form that is exactly 0 for nodes with equal features
        cost = product_unit * ((1.0 - near) + differ * near)
    else:
        cost += differ

    count = tl.zeros((N, M), tl.float32)
    s0, t0 = signs_a + a * n_signs * width_a, signs_b + b * n_signs * width_b
    distance = _add_mismatches(count, s0, t0, width_a, width_b, i, k, n_signs)
    squares = tl.zeros((N, M), tl.float32)
    e0, f0 = embedding_a + a * n_embedding * width_a, embedding_b + b * n_embedding * width_b
    distance += tl.sqrt(_add_squares(squares, e0, f0, width_a, width_b, i, k, n_embedding))
    cost += neighbour_unit * distance

    place = pair * out_n * out_m + i[:, None] * out_m + k[None, :]
    tl.store(out + place, cost, mask=(i < out_n)[:, None] & (k < out_m)[None, :])


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
        source.column_offsets, source.column_ids, source.columns, source.column_norms,
        target.column_offsets, target.column_ids, target.columns, target.column_norms,
        source.colours, target.colours, rounds, colour_cost / max(rounds, 1),
        source.embedding, target.embedding, n_embedding,
        source.signs, target.signs, n_signs if weights.beta_local != 0.0 else 0, neighbour_unit,
        N=tile_n, M=tile_m, num_warps=1 if tile_n * tile_m <= 1024 else 4,
    )  # fmt: skip
