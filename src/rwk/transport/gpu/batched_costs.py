"""Step 1 of the batched body: cost matrices of B pairs of two size classes, in float64.

Distances are sums of squared differences, except over sparse columns, where a remainder at rounding level is taken
for 0: nodes with equal features are at distance 0 exactly. Entries of padded nodes mean nothing.
"""

from __future__ import annotations

from typing import Any, Final

from rwk.transport.gpu.store import Stack, Store
from rwk.transport.problem import CostWeights

PRIOR_FLOOR: Final = 1e-6
ROUNDING: Final = 1e-13


def linear_cost(
    store: Store, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights
) -> tuple[Any, Any | None]:
    """M = C_V + beta_local C_N, and C_N where it counts, both (B, N, M); a and b are places in the two stacks."""
    feature = feature_cost(store, source, target, a, b)
    if weights.beta_local == 0.0:
        return feature, None
    neighbour = neighbour_cost(store, source, target, a, b)
    return feature + weights.beta_local * neighbour, neighbour


def feature_cost(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """C_V: Euclidean distance of feature vectors, and the share of Weisfeiler-Lehman rounds that differ."""
    squares = _distances(source.features[a], target.features[b]).square_()
    if len(source.column_ids) and len(target.column_ids):
        both = source.square_norms[a][:, :, None] + target.square_norms[b][:, None, :]
        rest = both - 2.0 * _sparse_products(store, source, target, a, b)
        squares += rest * (rest > ROUNDING * both)
    elif len(source.column_ids) or len(target.column_ids):
        squares += source.square_norms[a][:, :, None] + target.square_norms[b][:, None, :]
    cost = squares.sqrt_()
    rounds = source.colours.shape[1]
    if rounds:
        cost += store.hamming_cost / rounds * _distances(source.colours[a], target.colours[b], p=0.0)
    return cost


def neighbour_cost(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    width = source.signs.shape[1]
    if width:
        return store.neighbour_cost / width * _distances(source.signs[a], target.signs[b], p=0.0)
    return store.neighbour_cost * _distances(source.embedding[a], target.embedding[b])


def log_degree_prior(source: Stack, target: Stack, a: Any, b: Any, valid: Any) -> Any:
    """log gamma': likeness of degrees, floored, as a joint distribution; 0 where a node is padding."""
    import torch

    d, e = source.degrees[a].to(torch.float64)[:, :, None], target.degrees[b].to(torch.float64)[:, None, :]
    # 0/0 counts as alike: both differences are 0 then
    likeness = (1.0 - (d - e).abs() / torch.maximum(d, e).clamp_min(1e-300)).clamp_min(PRIOR_FLOOR)
    totals = (likeness * valid).sum(dim=(1, 2), keepdim=True)
    return torch.log(likeness / totals) * valid


def _distances(x: Any, y: Any, p: float = 2.0) -> Any:
    """Distances of columns: (B, c, N) and (B, c, M) to (B, N, M); p = 0 counts the entries that differ."""
    import torch

    x, y = (rows.to(torch.float64).transpose(1, 2).contiguous() for rows in (x, y))
    if x.shape[2] == 0:
        return x.new_zeros((x.shape[0], x.shape[1], y.shape[1]))
    return torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")


def _sparse_products(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """<x_i, y_k> over the sparse columns that both graphs of a pair have."""
    import torch

    starts = source.column_offsets[a]
    counts = source.column_offsets[a + 1] - starts
    steps = torch.arange(int(counts.max()), device=store.device)
    rows = (starts[:, None] + steps).clamp_max(len(source.column_ids) - 1)  # (B, C) columns of the source
    wanted = b[:, None] * store.n_columns + source.column_ids[rows]
    owner = torch.repeat_interleave(
        torch.arange(len(target.sizes), device=store.device),
        target.column_offsets.diff(),
        output_size=len(target.column_ids),
    )
    known = owner * store.n_columns + target.column_ids  # ascending: by graph, then by column
    found = torch.searchsorted(known, wanted).clamp_max(len(known) - 1)
    shared = (known[found] == wanted) & (steps < counts[:, None])
    x = source.columns[rows].to(torch.float64)  # (B, C, N)
    y = target.columns[found].to(torch.float64) * shared[:, :, None]
    return x.transpose(1, 2).bmm(y)
