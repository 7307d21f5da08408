"""Step 1 of the batched body: cost matrices of B pairs of two size classes, in float64.

Squared distances are sums of squared differences, except over sparse columns, where a result at rounding level counts
as 0. So nodes with equal features have a distance of exactly 0. Entries of padded nodes are meaningless.
"""

from __future__ import annotations

from typing import Any

from rwk.transport.gpu.device_measures import Stack, Store
from rwk.transport.problem import PRIOR_FLOOR, ROUNDING, CostWeights


def linear_cost(
    store: Store, source: Stack, target: Stack, a: Any, b: Any, weights: CostWeights
) -> tuple[Any, Any | None]:
    """M = C_V + beta_local C_N, and C_N if it is used, both (B, N, M); a and b are places in the two stacks."""
    feature = feature_cost(store, source, target, a, b)
    if weights.beta_local == 0.0:
        return feature, None
    neighbour = neighbour_cost(store, source, target, a, b)
    return feature + weights.beta_local * neighbour, neighbour


def feature_cost(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """C_V: (squared) distance of feature vectors plus share of colour rounds that differ; or a product (R18)."""
    if store.product_cost > 0.0:
        return _product_cost(store, source, target, a, b)
    squares = _distances(source.features[a], target.features[b]).square_()
    if len(source.column_ids) or len(target.column_ids):
        squares += _sparse_squares(store, source, target, a, b)
    cost = squares if store.squared else squares.sqrt_()
    rounds = source.colours.shape[1]
    if rounds:
        cost += store.hamming_cost / rounds * _distances(source.colours[a], target.colours[b], p=0.0)
    return cost


def _product_cost(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """R18: C_V = cost (1 - w exp(-|r_x - r_y| - |a_x - a_y|)), w = share of Weisfeiler-Lehman rounds that agree."""
    near = _distances(source.features[a], target.features[b])
    near = near.add_(_distances(source.returns[a], target.returns[b])).neg_().exp_()
    rounds = source.colours.shape[1]
    agreeing = 1.0 - _distances(source.colours[a], target.colours[b], p=0.0) / rounds
    return store.product_cost * (1.0 - agreeing * near)


def neighbour_cost(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """C_N: distance of structure embeddings, Euclidean or Hamming on signs."""
    width = source.signs.shape[1]
    if width:
        return store.neighbour_cost / width * _distances(source.signs[a], target.signs[b], p=0.0)
    return store.neighbour_cost * _distances(source.embedding[a], target.embedding[b])


def log_degree_prior(source: Stack, target: Stack, a: Any, b: Any, valid: Any) -> Any:
    """log gamma': similarity of degrees, floored, normalised to a joint distribution; 0 for padded nodes."""
    import torch

    d, e = source.degrees[a][:, :, None], target.degrees[b][:, None, :]
    # R8: 0/0 counts as equal degrees; the difference is 0 then
    least = torch.finfo(d.dtype).tiny
    likeness = (1.0 - (d - e).abs() / torch.maximum(d, e).clamp_min(least)).clamp_min(PRIOR_FLOOR)
    totals = (likeness * valid).sum(dim=(1, 2), keepdim=True)
    return torch.log(likeness / totals) * valid


def _distances(x: Any, y: Any, p: float = 2.0) -> Any:
    """Distances between columns of (B, c, N) and (B, c, M), as (B, N, M); p = 0 counts the entries that differ."""
    import torch

    x, y = (rows.to(torch.float64).transpose(1, 2).contiguous() for rows in (x, y))
    if x.shape[2] == 0:
        return x.new_zeros((x.shape[0], x.shape[1], y.shape[1]))
    return torch.cdist(x, y, p=p, compute_mode="donot_use_mm_for_euclid_dist")


def _sparse_squares(store: Store, source: Stack, target: Stack, a: Any, b: Any) -> Any:
    """|x|^2 + |y|^2 - 2 <x, y> over sparse columns; exactly 0 for equal nodes."""
    import torch

    x, ids, real_x = _columns_of(source, a)
    y, _, _ = _columns_of(target, b)
    both = x.square().sum(dim=1)[:, :, None] + y.square().sum(dim=1)[:, None, :]
    del y
    if not len(source.column_ids) or not len(target.column_ids):
        return both
    # find the target's column for each column of the source: the columns are sorted by graph, then by number
    counts = target.column_offsets.diff()
    owner = torch.repeat_interleave(counts, output_size=len(target.column_ids))
    known = owner * store.n_columns + target.column_ids
    wanted = b[:, None] * store.n_columns + ids
    found = torch.searchsorted(known, wanted).clamp_max_(len(known) - 1)
    shared = (known[found] == wanted) & real_x
    partners = target.columns[found].to(torch.float64).mul_(shared[:, :, None])
    rest = torch.baddbmm(both, x.transpose(1, 2), partners, alpha=-2.0)
    return rest * (rest > ROUNDING * both)


def _columns_of(stack: Stack, places: Any) -> tuple[Any, Any, Any]:
    """Sparse columns of the listed graphs (B, C, P), their numbers (B, C), and which are not padding (B, C)."""
    import torch

    starts = stack.column_offsets[places]
    counts = stack.column_offsets[places + 1] - starts
    steps = torch.arange(int(counts.max()), device=starts.device)
    if not len(stack.column_ids):
        nothing = starts.new_zeros((len(places), 0))
        return nothing.new_zeros((len(places), 0, stack.width), dtype=torch.float64), nothing, nothing.bool()
    rows = (starts[:, None] + steps).clamp_max_(len(stack.column_ids) - 1)
    there = steps < counts[:, None]
    return stack.columns[rows].to(torch.float64).mul_(there[:, :, None]), stack.column_ids[rows], there
