"""Step 1 for one pair at a time: the matrices of the pair."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.runtime.compiling import compiled, compiled_inside
from rwk.transport.cpu.costs import (
    CostScratch,
    feature_cost,
    log_degree_prior,
    neighbour_cost,
    padded,
    scratch_with_products,
)


class PairMatrices(NamedTuple):
    """The matrices of one pair: costs in float64, everything else in the precision of the solve."""

    mu: Any  # (n,)
    nu: Any  # (m,)
    feature: Any  # C_V (n, m)
    neighbour: Any  # C_N, scaled (n, m)
    fixed: Any  # (n, m) the part of the gradient without gamma: M + 2 beta_global c + kl (1 - log prior)
    log_prior: Any  # (n, m)
    structure_mu: Any  # C_P (n, n)
    structure_nu: Any  # C_P (m, m)
    constant: float  # beta_global <c, gamma>, the same for every coupling (R10)
    factor_mu: Any  # F (n, r)
    factor_nu: Any  # F (m, s)
    left: Any  # [C_mu | . | F_mu], the left factor of Q (quadratic.py); the middle is filled in for every X
    right: Any  # [. ; F_nu^T ; .], its right factor
    first_mu: int  # where the rows of L_mu begin in graphs.laplacian_offsets
    first_nu: int


class PairMemory(NamedTuple):
    """Flat arrays in which matrices of pair after pair lie, so that not every pair asks the system for memory.

    New pages of memory cost more than all of the work on a pair of a few hundred nodes.
    """

    reals: Any  # in the precision of the solve
    doubles: Any
    scratch: CostScratch


N_LOADED: Final = 1  # matrices (n, m) of `PairMemory.reals` that hold a part of the pair; others are the solver's
N_SOLVED: Final = 6


@compiled_inside
def pair_memory(graphs: Any, n: int, m: int, n_matrices: int) -> PairMemory:
    """Memory for pairs of up to n and m nodes, with so many matrices (n, m) in the precision of the solve."""
    deepest = 0
    for g in range(len(graphs.offsets) - 1):
        size = graphs.offsets[g + 1] - graphs.offsets[g]
        deepest = max(deepest, (graphs.factor_offsets[g + 1] - graphs.factor_offsets[g]) // max(size, 1))
    reals = np.empty(n_matrices * n * m + (n + m) * (n + 2 * deepest), graphs.structure.dtype)
    doubles, count = np.empty(3 * n * padded(m)), n * padded(m)
    return PairMemory(reals, doubles, scratch_with_products(graphs, n, m, doubles[2 * count :]))


@compiled_inside
def matrix_in(flat: Any, place: int, n: int, m: int) -> Any:
    """Matrix number `place` of those of shape (n, m) in a flat array."""
    return flat[place * n * m : (place + 1) * n * m].reshape((n, m))


@compiled
def load_pair(graphs: Any, a: int, b: int, weights: Any) -> PairMatrices:
    """Step 1: everything of a pair that stays the same through the solve."""
    n, m = graphs.offsets[a + 1] - graphs.offsets[a], graphs.offsets[b + 1] - graphs.offsets[b]
    return load_into(graphs, a, b, weights, pair_memory(graphs, n, m, N_LOADED), N_LOADED)


@compiled_inside
def load_into(graphs: Any, a: int, b: int, weights: Any, memory: PairMemory, n_matrices: int) -> PairMatrices:
    """`load_pair` in memory that has room for so many matrices (n, m) in the precision of the solve."""
    i0, k0 = graphs.offsets[a], graphs.offsets[b]
    n, m = graphs.offsets[a + 1] - i0, graphs.offsets[b + 1] - k0
    real = graphs.structure.dtype.type
    mu, nu = np.empty(n, graphs.structure.dtype), np.empty(m, graphs.structure.dtype)
    for i in range(n):
        mu[i] = graphs.weights[i0 + i]
    for k in range(m):
        nu[k] = graphs.weights[k0 + k]
    scratch, length = memory.scratch, padded(m)
    feature_table, neighbour_table = matrix_in(memory.doubles, 0, n, length), matrix_in(memory.doubles, 1, n, length)
    prior_table = matrix_in(memory.doubles, 2, n, length)
    scratch.products[: n * length] = 0.0  # the prior of the pair before lies there
    feature_cost(graphs, a, b, scratch, feature_table)
    feature = _without_padding(feature_table, m)
    if weights.beta_local != 0.0:
        neighbour_cost(graphs, a, b, scratch, neighbour_table)
    else:
        neighbour_table[:] = 0.0
    neighbour = _without_padding(neighbour_table, m)
    kl = weights.beta_global * weights.degree_weight
    if kl != 0.0:
        log_degree_prior(graphs, a, b, scratch, prior_table)
    else:
        prior_table[:] = 0.0
    log_prior = _without_padding(prior_table, m)
    structure_mu = graphs.structure[graphs.structure_offsets[a] : graphs.structure_offsets[a + 1]].reshape((n, n))
    structure_nu = graphs.structure[graphs.structure_offsets[b] : graphs.structure_offsets[b + 1]].reshape((m, m))
    moment_mu, moment_nu = np.zeros(n), np.zeros(m)
    constant = 0.0
    if weights.beta_global != 0.0:
        constant += _half_second_moment(structure_mu, mu, moment_mu)
        constant += _half_second_moment(structure_nu, nu, moment_nu)
    fixed = matrix_in(memory.reals, 0, n, m)
    for i in range(n):
        for k in range(m):
            linear = feature[i, k] + weights.beta_local * neighbour[i, k]
            quadratic = 2.0 * weights.beta_global * (moment_mu[i] + moment_nu[k])
            fixed[i, k] = real(linear + quadratic + kl * (1.0 - log_prior[i, k]))
    r = (graphs.factor_offsets[a + 1] - graphs.factor_offsets[a]) // n
    s = (graphs.factor_offsets[b + 1] - graphs.factor_offsets[b]) // m
    factor_mu = graphs.factors[graphs.factor_offsets[a] : graphs.factor_offsets[a + 1]].reshape((n, r))
    factor_nu = graphs.factors[graphs.factor_offsets[b] : graphs.factor_offsets[b + 1]].reshape((m, s))
    left, right = _stacked(structure_mu, factor_mu, factor_nu, weights, memory.reals[n_matrices * n * m :])
    return PairMatrices(
        mu, nu, feature, neighbour, fixed, log_prior, structure_mu, structure_nu,
        weights.beta_global * constant, factor_mu, factor_nu, left, right, i0, k0,
    )  # fmt: skip


def with_feature_cost(pair: PairMatrices, cost: Any) -> PairMatrices:
    """The same pair with another C_V."""
    feature = np.ascontiguousarray(cost, np.float64)
    fixed = (pair.fixed.astype(np.float64) - pair.feature + feature).astype(pair.fixed.dtype)
    return pair._replace(feature=feature, fixed=fixed)


@compiled_inside
def _without_padding(table: Any, m: int) -> Any:
    """The first m columns of a table, moved together in its memory."""
    n, length = table.shape
    flat = table.reshape(n * length)
    for i in range(1, n):
        for k in range(m):
            flat[i * m + k] = flat[i * length + k]
    return flat[: n * m].reshape((n, m))


@compiled_inside
def _stacked(structure_mu: Any, factor_mu: Any, factor_nu: Any, weights: Any, memory: Any) -> tuple[Any, Any]:
    """The two factors of Q with their constant blocks filled in; a block whose weight is 0 has no columns."""
    n, m = len(structure_mu), len(factor_nu)
    real = structure_mu.dtype.type
    whole = n if weights.beta_global != 0.0 else 0
    source = factor_nu.shape[1] if weights.beta_local * weights.laplacian_source != 0.0 else 0
    target = factor_mu.shape[1] if weights.beta_local * weights.laplacian_target != 0.0 else 0
    depth = whole + source + target
    left = memory[: n * depth].reshape((n, depth))
    right = memory[n * depth : (n + m) * depth].reshape((depth, m))
    weight = real(-weights.beta_global)
    for i in range(n):
        for j in range(whole):
            left[i, j] = weight * structure_mu[i, j]
    weight = real(weights.beta_local * weights.laplacian_target)
    for i in range(n):
        for c in range(target):
            left[i, whole + source + c] = weight * factor_mu[i, c]
    weight = real(weights.beta_local * weights.laplacian_source)
    for c in range(source):
        for k in range(m):
            right[whole + c, k] = weight * factor_nu[k, c]
    return left, right


@compiled_inside
def _half_second_moment(structure: Any, weights: Any, out: Any) -> float:
    """out = C^2 w / 2, the constant part of the Gromov-Wasserstein loss with its half (R10); returns <out, w>."""
    total = 0.0
    for i in range(len(out)):
        half = 0.0
        for j in range(len(out)):
            half += 0.5 * structure[i, j] * structure[i, j] * weights[j]
        out[i] = half
        total += half * weights[i]
    return total
