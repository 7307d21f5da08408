"""Steps 2 and 6: the linear map Q of a pair, with <Q(gamma), gamma> the quadratic part of H.

    Q(X) = beta_local (lam_mu L_mu X S_nu + lam_nu S_mu X L_nu + rho/2 X) - beta_global C_mu X C_nu

The Laplacian terms are traces of the normalised L without a factor 2 (R12), with the node weights folded into L (R11).
S = F F^T enters by its factor F, which has few columns, so the sparse L only ever multiplies a narrow matrix from the
left, and all of Q but the ridge is one product of two stacked matrices, with the weights folded in:

    [ C_mu | L_mu X F_nu | F_mu ] [ X C_nu ; F_nu^T ; (L_nu X^T F_mu)^T ]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.loading import PairMatrices
from rwk.transport.cpu.simd.vectors import fma


@compiled_inside
def laplacian_times(graphs: Any, first: int, narrow: Any, out: Any) -> None:
    """Fill `out` with L times a narrow matrix; the rows of L begin at `first` in the packed Laplacians."""
    for i in range(narrow.shape[0]):
        for c in range(narrow.shape[1]):
            out[i, c] = 0
        for p in range(graphs.laplacian_offsets[first + i], graphs.laplacian_offsets[first + i + 1]):
            j, value = graphs.laplacian_columns[p], graphs.laplacian_values[p]
            for c in range(narrow.shape[1]):
                out[i, c] = fma(value, narrow[j, c], out[i, c])


@compiled_inside
def narrowed(x: Any, factor: Any) -> tuple[Any, Any]:
    """The product x F, and an empty matrix of the same shape for L x F."""
    n, r = x.shape[0], factor.shape[1]
    product = np.empty((n, r), factor.dtype)
    np.dot(x, factor, product)
    return product, np.empty((n, r), factor.dtype)


@compiled
def quadratic_map(graphs: Any, pair: PairMatrices, weights: Any, x: Any, out: Any) -> None:
    """Step 6: fill `out` with Q(x)."""
    n, m = x.shape
    left, right = pair.left, pair.right
    column = n if weights.beta_global != 0.0 else 0
    if column:
        np.dot(x, pair.structure_nu, right[:n])
    if weights.beta_local * weights.laplacian_source != 0.0:
        narrow, smooth = narrowed(x, pair.factor_nu)
        laplacian_times(graphs, pair.first_mu, narrow, smooth)
        for i in range(n):
            for c in range(smooth.shape[1]):
                left[i, column + c] = smooth[i, c]
        column += smooth.shape[1]
    if weights.beta_local * weights.laplacian_target != 0.0:
        narrow, smooth = narrowed(x.T, pair.factor_mu)
        laplacian_times(graphs, pair.first_nu, narrow, smooth)
        for c in range(smooth.shape[1]):
            for k in range(m):
                right[column + c, k] = smooth[k, c]
        column += smooth.shape[1]
    ridge = 0.5 * weights.beta_local * weights.ridge
    if column:
        np.dot(left, right, out)
    else:
        out[:] = 0
    add_multiple(out, ridge, x, out)


@compiled_inside
def start_image(graphs: Any, pair: PairMatrices, weights: Any, out: Any) -> None:
    """Step 2: fill `out` with Q(mu nu^T), a sum of outer products."""
    n, m = out.shape
    real = out.dtype.type
    source = real(weights.beta_local * weights.laplacian_source)
    target = real(weights.beta_local * weights.laplacian_target)
    structure, ridge = real(-weights.beta_global), real(0.5 * weights.beta_local * weights.ridge)
    carried_mu, carried_nu = np.zeros(n, out.dtype), np.zeros(m, out.dtype)  # C w
    rough_mu, rough_nu = np.zeros((n, 1), out.dtype), np.zeros((m, 1), out.dtype)  # L w
    smooth_mu, smooth_nu = np.zeros(n, out.dtype), np.zeros(m, out.dtype)  # S w
    if weights.beta_global != 0.0:
        np.dot(pair.structure_mu, pair.mu, carried_mu)
        np.dot(pair.structure_nu, pair.nu, carried_nu)
    if source != 0 or target != 0:
        laplacian_times(graphs, pair.first_mu, pair.mu.reshape((n, 1)), rough_mu)
        laplacian_times(graphs, pair.first_nu, pair.nu.reshape((m, 1)), rough_nu)
        np.dot(pair.factor_mu, np.dot(pair.mu, pair.factor_mu), smooth_mu)
        np.dot(pair.factor_nu, np.dot(pair.nu, pair.factor_nu), smooth_nu)
    for i in range(n):
        a, b = ridge * pair.mu[i], structure * carried_mu[i]
        c, d = source * rough_mu[i, 0], target * smooth_mu[i]
        for k in range(m):
            whole = fma(b, carried_nu[k], a * pair.nu[k])
            out[i, k] = fma(d, rough_nu[k, 0], fma(c, smooth_nu[k], whole))


@compiled_inside
def add_multiple(x: Any, factor: float, y: Any, out: Any) -> None:
    """Fill `out` with x + factor y."""
    flat_x, flat_y, flat_out = x.ravel(), y.ravel(), out.ravel()
    scale = flat_x.dtype.type(factor)
    for p in range(len(flat_x)):
        flat_out[p] = fma(scale, flat_y[p], flat_x[p])
