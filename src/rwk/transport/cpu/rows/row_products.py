"""Step 6: the linear map Q of a pair; quadratic.py states it.

    Q(X) = -beta_global C_mu X C_nu + [ L_mu X F_nu | F_mu ] [ F_nu^T ; (L_nu X^T F_mu)^T ] + rho/2 beta_local X

with the weights folded in. The ridge is added where the curvature is summed (`curvature`).
"""

from __future__ import annotations

from typing import Any

from rwk.runtime.compiling import compiled_borrowing
from rwk.transport.cpu.rows.panels import Rows, multiply
from rwk.transport.cpu.rows.row_data import RowMemory
from rwk.transport.cpu.simd.vectors import WIDTH_32, WIDTH_64, fma, lane_sum, load, no_lanes, splat, store, wide


@compiled_borrowing
def quadratic_rows(graphs: Any, a: int, b: int, weights: Any, length: int, memory: RowMemory) -> float:
    """Step 6: Q(Delta) in `memory.delta_image`; returns the curvature <Delta, Q(Delta)>."""
    n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
    delta, out, right = (
        Rows(memory.delta, 0, length),
        Rows(memory.delta_image, 0, length),
        Rows(memory.right, 0, length),
    )
    fresh = True
    if weights.beta_global != 0.0:
        target = Rows(graphs.structure, graphs.structure_offsets[b], m)
        multiply(delta, target, -weights.beta_global, right, (n, m, m), True, memory.panel)
        source = Rows(graphs.structure, graphs.structure_offsets[a], n)
        multiply(source, right, 1.0, out, (n, n, m), True, memory.panel)
        fresh = False
    source = weights.beta_local * weights.laplacian_source
    target = weights.beta_local * weights.laplacian_target
    if source != 0.0 or target != 0.0:
        _laplacian_part(graphs, a, b, source, target, length, memory, fresh)
        fresh = False
    return _curvature(0.5 * weights.beta_local * weights.ridge, n * length, fresh, memory.delta, memory.delta_image)


@compiled_borrowing
def _laplacian_part(
    graphs: Any, a: int, b: int, source: float, target: float, length: int, memory: RowMemory, fresh: bool
) -> None:
    """Add source L_mu X S_nu + target S_mu X L_nu to Q(X), both with few columns in between."""
    i0, k0, factors, thin, zero = (
        graphs.offsets[a],
        graphs.offsets[b],
        graphs.factors,
        memory.thin,
        memory.u.dtype.type(0),
    )
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    first_mu, first_nu = graphs.factor_offsets[a], graphs.factor_offsets[b]
    r, s = (graphs.factor_offsets[a + 1] - first_mu) // n, (graphs.factor_offsets[b + 1] - first_nu) // m
    width = WIDTH_32 if thin.itemsize == 4 else WIDTH_64
    across = (s + width - 1) // width * width
    narrow, flat = 0, n * across  # X F_nu (n, s) and F_mu^T X (r, m), padded
    left = flat + r * length  # [ L_mu X F_nu | F_mu ] (n, s + r)
    turned = left + n * (s + r)  # F_mu^T (r, n)
    right = (turned + r * n + width - 1) // width * width  # [ F_nu^T ; (L_nu X^T F_mu)^T ] (s + r, m), padded
    x = Rows(memory.delta, 0, length)
    multiply(x, Rows(factors, first_nu, s), 1.0, Rows(thin, narrow, across), (n, m, s), True, memory.panel)
    for i in range(n):
        for c in range(r):
            thin[turned + c * n + i] = factors[first_mu + i * r + c]
    multiply(Rows(thin, turned, n), x, 1.0, Rows(thin, flat, length), (r, n, m), True, memory.panel)
    columns, values, offsets = graphs.laplacian_columns, graphs.laplacian_values, graphs.laplacian_offsets
    weight_mu, weight_nu = thin.dtype.type(source), thin.dtype.type(target)
    for i in range(n):
        row = left + i * (s + r)
        for c in range(s):
            thin[row + c] = zero
        for p in range(offsets[i0 + i], offsets[i0 + i + 1]):
            place = narrow + columns[p] * across
            for c in range(s):
                thin[row + c] = fma(values[p], thin[place + c], thin[row + c])
        for c in range(r):
            thin[row + s + c] = weight_nu * factors[first_mu + i * r + c]
    for c in range(s):
        row = right + c * length
        for k in range(m):
            thin[row + k] = weight_mu * factors[first_nu + k * s + c]
    for c in range(r):
        row, place = right + (s + c) * length, flat + c * length
        for k in range(m):
            total = zero
            for p in range(offsets[k0 + k], offsets[k0 + k + 1]):
                total = fma(values[p], thin[place + columns[p]], total)
            thin[row + k] = total
    out = Rows(memory.delta_image, 0, length)
    multiply(Rows(thin, left, s + r), Rows(thin, right, length), 1.0, out, (n, s + r, m), fresh, memory.panel)


@compiled_borrowing
def _curvature(ridge: float, count: int, fresh: bool, delta: Any, image: Any) -> float:
    """Add the ridge to Q(Delta); returns <Delta, Q(Delta)>."""
    width = WIDTH_32 if delta.itemsize == 4 else WIDTH_64
    share, zero = splat(delta, ridge), splat(delta, 0.0)
    total = no_lanes(wide(zero))
    for p in range(0, count, width):
        x = load(delta, p)
        y = fma(share, x, zero if fresh else load(image, p))
        store(image, p, y)
        total = fma(wide(x), wide(y), total)
    result: float = lane_sum(total)
    return result
