"""The data of the graphs on the device, uploaded once, in one stack per size class.

A graph of n nodes is in the stack with the smallest width P >= n (see `width_of`), padded with zeros. A padded node
has no mass, so it does not change any result. A pair is given by the places of its graphs in two stacks.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.transport.measures import GraphMeasures

LADDER: Final = (16, 32, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
GROWTH_STEP: Final = 512  # larger widths are multiples of this
ENTRIES_AT_ONCE: Final = 2**26  # entries of sparse columns that are made dense together
ONE_WARP: Final = 32  # one warp computes the products of graphs up to this width
FUSED_WIDTH: Final = 128  # the fused kernel solves graphs up to this width, with a dense S; larger ones use F


class Stack(NamedTuple):
    """Graphs of one size class: g graphs with P nodes each. Matrices are in the precision of the solve."""

    width: int  # P
    most_columns: int  # the largest number of sparse columns of a graph
    sizes: Any  # (g,) int32
    weights: Any  # (g, P)
    degrees: Any  # (g, P)
    maps: Any  # (g, 2, P, P): C_P and L
    halves: Any  # (g, 3, 2, P, P) float16: C_P, L and S in `units`, as sums of two numbers each
    fragments: Any  # the same numbers for one-warp kernels, up to 32 nodes: (g, 3, 2, P^2), see `_fragments`
    units: Any  # (g, 4): the units of the three maps, powers of two, and the largest weight of a node
    factors: Any  # (g, P, r): F
    vectors: Any  # (g, 4, P): C_P^2 w / 2, C_P w, L w, S w
    moments: Any  # (g,): <C_P^2 w / 2, w>
    features: Any  # (g, d, P) dense part of the feature vectors
    returns: Any  # (g, 50, P) return probabilities if there is a product cost, else (g, 0, P)
    embedding: Any  # (g, k, P)
    signs: Any  # (g, k, P) int8
    colours: Any  # (g, rounds, P) int32, numbered over all graphs
    column_offsets: Any  # (g + 1,) int64
    column_ids: Any  # int32 sparse columns of each graph, ascending; numbered over all graphs in order of their keys
    columns: Any  # (columns, P) the values of the sparse columns, dense
    column_norms: Any  # (g, P) float64, the sum of the squares of these values


class Store(NamedTuple):
    """The graphs of one run on the device."""

    device: Any
    real: Any  # torch dtype of the solve
    stacks: dict[int, Stack]
    widths: NDArray[np.int64]  # size class of each graph
    places: NDArray[np.int64]  # place of each graph in its stack
    moments: NDArray[np.float64]  # <C_P^2 w / 2, w> of each graph, on the host
    n_columns: int  # number of distinct sparse columns
    hamming_cost: float
    product_cost: float
    neighbour_cost: float
    squared: bool = False  # whether C_V takes squared distances of feature vectors, as fused Gromov-Wasserstein does


def width_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Size class of each graph.

    >>> width_of(np.array([3, 16, 17, 100, 1025, 5748])).tolist()
    [16, 16, 32, 128, 1536, 6144]
    """
    ladder = np.array(LADDER, np.int64)
    beyond = -(-sizes // GROWTH_STEP) * GROWTH_STEP
    return np.where(sizes <= ladder[-1], ladder[np.minimum(np.searchsorted(ladder, sizes), len(ladder) - 1)], beyond)


def make_store(measures: GraphMeasures, graphs: NDArray[np.int64], device: Any, real: Any) -> Store:
    """Upload the chosen graphs; the places of the others are -1."""
    import torch

    widths = width_of(measures.sizes)
    places = np.full(measures.n_graphs, -1, np.int64)
    keys, ids = np.unique(measures.column_keys, return_inverse=True)
    colours = np.zeros(measures.colours.shape, np.int32)
    for row, numbers in zip(measures.colours, colours, strict=True):
        numbers[:] = np.unique(row, return_inverse=True)[1]
    entries = tuple(torch.from_numpy(part).to(device) for part in (measures.entry_rows, measures.entry_values))
    numbered = ids.astype(np.int32), colours, (entries[0], entries[1])
    stacks, moments = {}, np.zeros(measures.n_graphs)
    for width in np.unique(widths[graphs]).tolist():
        mine = graphs[widths[graphs] == width]
        places[mine] = np.arange(len(mine))
        stacks[width] = _make_stack(measures, mine, width, numbered, device, real)
        moments[mine] = stacks[width].moments.cpu().numpy()
    costs = float(measures.hamming_cost), float(measures.product_cost), float(measures.neighbour_cost)
    return Store(device, real, stacks, widths, places, moments, len(keys), *costs)


def _make_stack(
    measures: GraphMeasures,
    graphs: NDArray[np.int64],
    width: int,
    numbered: tuple[NDArray[np.int32], NDArray[np.int32], tuple[Any, Any]],
    device: Any,
    real: Any,
) -> Stack:
    import torch

    ids, colours, entries = numbered
    sizes = measures.sizes[graphs]
    runs = ragged(measures.offsets[graphs], sizes)  # packed node numbers of these graphs
    slots = ragged(np.arange(len(graphs)) * width, sizes)  # where they go in (g, P)

    def by_node(values: NDArray[Any], dtype: Any) -> Any:
        """Rows (V, c) as (g, c, P)."""
        rows = values[runs].reshape(len(runs), -1)
        padded = torch.zeros((len(graphs) * width, rows.shape[1]), dtype=dtype, device=device)
        padded[torch.from_numpy(slots).to(device)] = torch.from_numpy(np.ascontiguousarray(rows)).to(device, dtype)
        return padded.reshape(len(graphs), width, rows.shape[1]).transpose(1, 2).contiguous()

    structure = _squares(measures.structure, measures.structure_offsets, graphs, sizes, width, device)
    laplacian = _laplacians(measures, graphs, sizes, width, device)
    factors = _factors(measures, graphs, sizes, width, device)
    weights = by_node(measures.weights, torch.float64)[:, 0]  # (g, P)
    column = weights[:, :, None]
    half = structure.square().mul_(0.5).bmm(column)
    narrow = factors.bmm(factors.transpose(1, 2).bmm(column))
    vectors = torch.cat([half, structure.bmm(column), laplacian.bmm(column), narrow], dim=2).transpose(1, 2)
    maps = torch.stack([structure.to(real), laplacian.to(real)], dim=1)
    halves, units = maps[:0, :, None].to(torch.float16), maps[:0, 0, 0]
    fragments = halves
    if width <= FUSED_WIDTH and real == torch.float32:
        dense = factors.bmm(factors.transpose(1, 2)).to(real)
        halves, units = _halves(torch.cat([maps, dense[:, None]], dim=1))
        units = torch.cat([units, weights.amax(dim=1, keepdim=True).to(real)], dim=1)
        fragments = _fragments(halves) if width <= ONE_WARP else halves[:0]
    offsets, column_ids, columns, norms = _columns(measures, graphs, width, entries, ids, real)
    return Stack(
        width=width,
        sizes=torch.from_numpy(sizes.astype(np.int32)).to(device),
        weights=weights.to(real),
        degrees=by_node(measures.degrees, real)[:, 0].contiguous(),
        maps=maps,
        halves=halves,
        fragments=fragments,
        units=units,
        factors=factors.to(real),
        vectors=vectors.to(real).contiguous(),
        moments=(half[:, :, 0] * weights).sum(dim=1),
        features=by_node(measures.features, real),
        returns=by_node(measures.returns, real),
        embedding=by_node(measures.embedding, real),
        signs=by_node(measures.signs, torch.int8),
        colours=by_node(np.ascontiguousarray(colours.T), torch.int32),
        column_offsets=offsets,
        column_ids=column_ids,
        columns=columns,
        column_norms=norms,
        most_columns=int(np.diff(measures.column_offsets)[graphs].max(initial=0)),
    )


def ragged(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """starts[0], starts[0] + 1, ... (lengths[0] numbers), then the same for each next run.

    >>> ragged(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - lengths), lengths), np.int64)


def _halves(maps: Any) -> tuple[Any, Any]:
    """Matrices (g, 3, P, P) as units (g, 3) times sums of two float16 numbers (g, 3, 2, P, P), exact to 22 bits.

    In its unit, a matrix has a largest entry between 1024 and 2048: the second number of an entry that is a thousand
    times smaller is still a normal float16.
    """
    import torch

    largest = maps.abs().amax(dim=(2, 3))
    units = torch.where(largest > 0, torch.exp2(torch.floor(torch.log2(largest)) - 10.0), 1.0)
    scaled = maps / units[:, :, None, None]
    high = scaled.to(torch.float16)
    low = (scaled - high.to(scaled.dtype)).to(torch.float16)
    return torch.stack([high, low], dim=2).contiguous(), units.contiguous()


def _fragments(halves: Any) -> Any:
    """Matrices (g, 3, 2, P, P) as (g, 3, 2, P^2), in tiles of 16 x 16 in the order in which tensor cores hold them.

    Thread 4 g + t holds rows g and g + 8, and columns 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 of a tile.
    """
    count, tiles = len(halves), halves.shape[-1] // 16
    parts = halves.reshape(count, 6, tiles, 2, 8, tiles, 2, 4, 2)  # (..., row: up, far, g, column: left, far, t, odd)
    return parts.permute(0, 1, 2, 5, 4, 7, 6, 3, 8).reshape(count, 3, 2, -1).contiguous()


def _squares(
    packed: NDArray[Any], offsets: NDArray[np.int64], graphs: NDArray[np.int64], sizes: Any, width: int, device: Any
) -> Any:
    """Packed (n, n) matrices as (g, P, P), in float64 so that sums over them are in float64 too."""
    import torch

    if width > FUSED_WIDTH:  # few and large graphs: copied one by one, without an index of every entry
        blocks = torch.zeros((len(graphs), width, width), dtype=torch.float64, device=device)
        for block, graph, n in zip(blocks, graphs, sizes.tolist(), strict=True):
            square = np.ascontiguousarray(packed[offsets[graph] : offsets[graph + 1]]).reshape(n, n)
            block[:n, :n] = torch.from_numpy(square).to(device)
        return blocks
    runs = ragged(offsets[graphs], sizes * sizes)
    values = torch.from_numpy(np.ascontiguousarray(packed[runs])).to(device)
    rows_of = np.repeat(np.arange(len(graphs)) * width, sizes) + ragged(np.zeros(len(graphs), np.int64), sizes)
    slots = torch.from_numpy(ragged(rows_of * width, np.repeat(sizes, sizes))).to(device)
    padded = torch.zeros(len(graphs) * width * width, dtype=torch.float64, device=device)
    padded[slots] = values.to(torch.float64)
    return padded.reshape(len(graphs), width, width)


def _laplacians(measures: GraphMeasures, graphs: NDArray[np.int64], sizes: Any, width: int, device: Any) -> Any:
    import torch

    nodes = ragged(measures.offsets[graphs], sizes)
    rows_of = np.repeat(np.arange(len(graphs)) * width, sizes) + ragged(np.zeros(len(graphs), np.int64), sizes)
    counts = np.diff(measures.laplacian_offsets)[nodes]
    entries = ragged(measures.laplacian_offsets[nodes], counts)
    slots = np.repeat(rows_of * width, counts) + measures.laplacian_columns[entries]
    padded = torch.zeros(len(graphs) * width * width, dtype=torch.float64, device=device)
    values = torch.from_numpy(np.ascontiguousarray(measures.laplacian_values[entries]))
    padded[torch.from_numpy(slots).to(device)] = values.to(device, torch.float64)
    return padded.reshape(len(graphs), width, width)


def _factors(measures: GraphMeasures, graphs: NDArray[np.int64], sizes: Any, width: int, device: Any) -> Any:
    """F of each graph, padded to the largest number of columns."""
    import torch

    totals = np.diff(measures.factor_offsets)[graphs]
    ranks = totals // sizes
    rank = max(int(ranks.max()), 1)
    rows_of = np.repeat(np.arange(len(graphs)) * width, sizes) + ragged(np.zeros(len(graphs), np.int64), sizes)
    slots = ragged(rows_of * rank, np.repeat(ranks, sizes))
    values = measures.factors[ragged(measures.factor_offsets[graphs], totals)]
    padded = torch.zeros(len(graphs) * width * rank, dtype=torch.float64, device=device)
    padded[torch.from_numpy(slots).to(device)] = torch.from_numpy(values).to(device, torch.float64)
    return padded.reshape(len(graphs), width, rank)


def _columns(
    measures: GraphMeasures,
    graphs: NDArray[np.int64],
    width: int,
    entries: tuple[Any, Any],
    ids: NDArray[np.int32],
    real: Any,
) -> tuple[Any, Any, Any, Any]:
    """Sparse columns of these graphs: offsets by graph, ids, dense values, and the sum of their squares per node.

    `entries` are the rows and values of all entries, on the device.
    """
    import torch

    rows, values = entries
    device = rows.device
    counts = np.diff(measures.column_offsets)[graphs]
    chosen = ragged(measures.column_offsets[graphs], counts)
    starts, lengths = measures.entry_offsets[chosen], np.diff(measures.entry_offsets)[chosen]
    padded = torch.zeros((len(chosen), width), dtype=real, device=device)
    for some in _slices(lengths, ENTRIES_AT_ONCE):
        there = [torch.from_numpy(part[some]).to(device) for part in (starts, lengths)]
        total, ends = int(lengths[some].sum()), torch.cumsum(there[1], 0)
        owner = torch.repeat_interleave(there[1], output_size=total)
        places = torch.arange(total, device=device) + (there[0] - (ends - there[1]))[owner]
        padded[some].view(-1)[owner * width + rows[places]] = values[places].to(real)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # summed on the host in a fixed order; the order of atomic additions on the device is not fixed
    mine = ragged(starts, lengths)
    single = measures.entry_values[mine].astype(np.float64 if real == torch.float64 else np.float32)
    slots = np.repeat(np.repeat(np.arange(len(graphs)) * width, counts), lengths) + measures.entry_rows[mine]
    norms = np.bincount(slots, single.astype(np.float64) ** 2, len(graphs) * width).reshape(len(graphs), width)
    norms = norms.astype(np.float64)  # without columns, bincount returns integers, which the kernels do not take
    placed = [torch.from_numpy(array).to(device) for array in (offsets, ids[chosen], norms)]
    return placed[0], placed[1], padded, placed[2]


def _slices(lengths: NDArray[np.int64], most: int) -> list[slice]:
    """Runs of columns with about `most` entries each."""
    filled = np.cumsum(lengths)
    total = int(filled[-1]) if len(filled) else 0
    cuts = np.searchsorted(filled, np.arange(most, total, most))
    bounds = np.unique(np.concatenate([[0], cuts, [len(lengths)]])).tolist()
    return [slice(first, last) for first, last in pairwise(bounds)]
