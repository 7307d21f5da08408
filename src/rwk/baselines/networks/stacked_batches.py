"""One batch for each of many networks at once: nodes are padded to one number per network, graphs to one per batch.

    x[m, j]   node j of the batch of network m; nodes of a graph follow each other, padding comes last

No shape depends on the data, and nothing waits for the device, so that a training step can be captured as a CUDA graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from rwk.baselines.networks.batches import Arranged, GraphTensors
from rwk.baselines.networks.merged_nodes import MergedNodes
from rwk.runtime.arrays import IntArray
from rwk.runtime.device import kernels_usable


class Shape(NamedTuple):
    """Room for the largest batch."""

    nodes: int  # per network; 0 if the network reads receptive fields only
    widest: int  # of one graph; 0 if the network does not ask


class Links(NamedTuple):
    """What `sum_over_neighbours` needs: the neighbours of each node, listed one by one or as ranges for a kernel."""

    tails: Any
    heads: Any = None  # one per tail, if they are listed
    ranges: tuple[Any, Any, Any] | None = (
        None  # (low, high, begin): the neighbours of node v are begin[v] + tails[low[v]:high[v]]
    )
    counts: Any = None  # how often each tail is added, if nodes are merged
    copies: Any = None  # (M, N, 1) how many nodes each stands for, if nodes are merged


class StackedBatch(NamedTuple):
    """The batches of M networks, each of B graphs at most and with room for N nodes."""

    numbers: Any  # (M, B) indices of the graphs in the set; −1 for none
    there: Any  # (M, B) 1 if there is a graph, otherwise 0
    classes: Any  # (M, B)
    sizes: Any  # (M, B) number of nodes
    first: Any  # (M, B) first node
    x: Any  # (M, N, d), 0 in the padding; None without nodes
    nodes: Any  # (M, N) indices of the nodes in the set; the number of all nodes in the padding
    owner: Any  # (M, N) graph of each node; B in the padding
    real: Any  # (M, 1, N) how many nodes each stands for: 1, more if nodes are merged, 0 for padding
    pooling: Any  # (M, B, N) the same if the node belongs to the graph, otherwise 0
    degrees: Any  # (M, N, 1)
    places: Any  # (M, B, places, d) what the receptive fields read, 0 for no node; None if there are no fields
    links: Links
    widest: int

    @property
    def n_graphs(self) -> int:
        """Number of graphs per network, with padding."""
        return int(self.numbers.shape[1])


class InputScale(NamedTuple):
    """How inputs are standardised for each network: x · factor + shift, shape (M, 1, d); None for no change."""

    factor: Any
    shift: Any

    def take(self, rows: Any) -> InputScale:
        """That of some of the networks."""
        return InputScale(*(None if value is None else value[rows] for value in self))


@dataclass(frozen=True, slots=True)
class SharedGraphs:
    """A set of graphs on the device; one more graph without nodes, and one more node of zeros, stand for padding."""

    x: Any  # (V + 1, d)
    sizes: Any  # (G + 1,)
    offsets: Any  # (G + 1,)
    classes: Any  # (G + 1,)
    fields: Any  # (G + 1, places) nodes of the set, V for none; None without fields
    edge_ends: Any  # (V + 2,) the edges that lead to node v are edge_ends[v] .. edge_ends[v + 1]
    tails: Any  # (2 E,) numbered inside each graph
    host_sizes: IntArray  # (G + 1,)
    counts: Any = None  # (2 E,) how often each tail is added, and
    copies: Any = None  # (V + 1,) how many nodes each stands for; None unless nodes are merged

    @classmethod
    def of_merged(cls, merged: MergedNodes, x: Any, codes: IntArray) -> SharedGraphs:
        """Graphs with one node for all nodes that sums over neighbours cannot tell apart."""
        device = x.device
        sizes = np.append(np.diff(merged.node_offsets), 0)

        def placed(values: IntArray) -> Any:
            return torch.from_numpy(np.asarray(values, np.int64)).to(device)

        x = x[placed(merged.first)]
        return cls(
            x=torch.cat([x, x.new_zeros((1, x.shape[1]))]),
            sizes=placed(sizes),
            offsets=placed(merged.node_offsets),
            classes=placed(np.append(codes, 0)),
            fields=None,
            edge_ends=placed(np.append(merged.edge_ends, merged.edge_ends[-1])),
            tails=placed(merged.tails),
            host_sizes=sizes,
            counts=placed(merged.counts).to(x.dtype),
            copies=placed(np.append(merged.copies, 1)).to(x.dtype),
        )

    @classmethod
    def of(cls, graphs: GraphTensors, codes: IntArray) -> SharedGraphs:
        """The same graphs with their classes."""
        device, x = graphs.x.device, graphs.x
        n_nodes = len(x)
        sizes = np.append(np.diff(graphs.node_offsets), 0)
        degrees = torch.cat([graphs.degrees, graphs.degrees.new_zeros(1)])
        fields = None
        if graphs.fields is not None:
            starts = torch.from_numpy(graphs.node_offsets[:-1]).to(device)
            read = torch.where(graphs.fields >= 0, graphs.fields + starts[:, None], n_nodes)
            fields = torch.cat([read, torch.full_like(read[:1], n_nodes)])
        return cls(
            x=torch.cat([x, x.new_zeros((1, x.shape[1]))]),
            sizes=torch.from_numpy(sizes).to(device),
            offsets=torch.from_numpy(np.asarray(graphs.node_offsets, np.int64)).to(device),
            classes=torch.from_numpy(np.append(codes, 0)).to(device),
            fields=fields,
            edge_ends=torch.cat([degrees.new_zeros(1), degrees.cumsum(0)]),
            tails=graphs.tails,
            host_sizes=sizes,
        )

    def batch(self, numbers: Any, shape: Shape, scale: InputScale) -> StackedBatch:
        """The graphs `numbers` (M, B) as a batch for each of M networks."""
        sizes = self.sizes[numbers]
        ends = sizes.cumsum(1)
        there = (numbers >= 0).to(self.x.dtype)
        plain = {"numbers": numbers, "there": there, "classes": self.classes[numbers], "sizes": sizes}
        places = None if self.fields is None else self._scaled(self.fields[numbers], scale)
        if not shape.nodes:
            empty: dict[str, Any] = dict.fromkeys(("x", "nodes", "owner", "real", "pooling", "degrees", "links"))
            return StackedBatch(**plain, **empty, first=ends - sizes, places=places, widest=0)
        n_graphs = numbers.shape[1]
        slots = torch.arange(shape.nodes, device=numbers.device).expand(len(numbers), -1).contiguous()
        owner = torch.searchsorted(ends, slots, right=True)
        inside = owner < n_graphs
        at = owner.clamp(max=n_graphs - 1)
        begin = (ends - sizes).gather(1, at)
        nodes = torch.where(inside, self.offsets[numbers.gather(1, at)] + slots - begin, len(self.x) - 1)
        low, high = self.edge_ends[nodes], self.edge_ends[nodes + 1]
        own = torch.arange(n_graphs, device=numbers.device)[:, None]
        copies = None if self.copies is None else self.copies[nodes]
        real, pooling = inside[:, None].to(self.x.dtype), (owner[:, None] == own).to(self.x.dtype)
        if copies is not None:
            real, pooling = real * copies[:, None], pooling * copies[:, None]
        return StackedBatch(
            **plain,
            first=ends - sizes,
            x=self._scaled(nodes, scale),
            nodes=nodes,
            owner=owner,
            real=real,
            pooling=pooling,
            degrees=(high - low)[..., None].to(self.x.dtype),
            places=places,
            links=self._links(begin, low, high)._replace(copies=None if copies is None else copies[..., None]),
            widest=shape.widest,
        )

    def _scaled(self, nodes: Any, scale: InputScale) -> Any:
        x = self.x[nodes]
        if scale.factor is None:
            return x
        inside = (nodes < len(self.x) - 1)[..., None]
        factor, shift = (each if x.ndim == 3 else each[:, None] for each in scale)
        return torch.where(inside, x * factor + shift, 0.0)

    def _links(self, begin: Any, low: Any, high: Any) -> Links:
        n_nodes = begin.shape[1]
        begin = begin + n_nodes * torch.arange(len(begin), device=begin.device)[:, None]
        if kernels_usable(begin.device):
            return Links(self.tails, ranges=(low.flatten(), high.flatten(), begin.flatten()), counts=self.counts)
        n_tails = (high - low).flatten()
        heads = torch.repeat_interleave(n_tails)
        before = n_tails.cumsum(0) - n_tails
        edges = torch.arange(len(heads), device=heads.device) + (low.flatten() - before)[heads]
        counts = None if self.counts is None else self.counts[edges]
        return Links(begin.flatten()[heads] + self.tails[edges], heads, counts=counts)


def sum_over_neighbours(x: Any, batch: StackedBatch) -> Any:
    """Sum of the rows of its neighbours for every node, shape (M, N, d)."""
    return _NeighbourSum.apply(x, batch.links)


def rows_by_graph(rows: Any, batch: StackedBatch, width: int, order: Any = None) -> Any:
    """The rows of the first `width` nodes of each graph, filled up with zeros, shape (M, B, width, d).

    `order` (M, N) lists the nodes of each network graph by graph, if another order than theirs is wanted.
    """
    n_stack, n_nodes, _ = rows.shape
    n_graphs = batch.n_graphs
    none = n_stack * n_nodes
    shift = n_nodes * torch.arange(n_stack, device=rows.device)[:, None]
    place = torch.arange(width, device=rows.device)
    there = place < batch.sizes[..., None]
    at = torch.where(there, batch.first[..., None] + place, 0).flatten(1)
    chosen = (at if order is None else order.gather(1, at)) + shift
    read = torch.where(there.flatten(1), chosen, none)
    own = batch.owner.clamp(max=n_graphs - 1)
    mine = torch.arange(n_nodes, device=rows.device).expand(n_stack, -1)
    rank = (mine if order is None else order.argsort(dim=1)) - batch.first.gather(1, own)
    graph = own + n_graphs * torch.arange(n_stack, device=rows.device)[:, None]
    kept = (batch.owner < n_graphs) & (rank < width)
    back = torch.where(kept, graph * width + rank, read.numel())
    found = Arranged.apply(rows.flatten(0, 1), read.flatten(), back.flatten())
    return found.reshape(n_stack, n_graphs, width, -1)


class _NeighbourSum(torch.autograd.Function):  # type: ignore[misc]
    """A x. A is symmetric, so the gradient is A times the gradient.

    With merged nodes, A[a, b] counts the neighbours in b of one node of a; copies[a] A[a, b] is symmetric.
    """

    @staticmethod
    def forward(ctx: Any, x: Any, links: Links) -> Any:
        ctx.links = links
        return _neighbour_sum(x, links)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None]:
        links = ctx.links
        if links.copies is None:
            return _neighbour_sum(gradients[0], links), None
        return links.copies * _neighbour_sum(gradients[0] / links.copies, links), None


def _neighbour_sum(x: Any, links: Links) -> Any:
    rows = x.reshape(-1, x.shape[2])
    if links.ranges is None:
        read = rows.index_select(0, links.tails)
        if links.counts is not None:
            read = read * links.counts[:, None]
        return torch.zeros_like(rows).index_add_(0, links.heads, read).reshape(x.shape)
    from rwk.baselines.networks.neighbour_kernel import sum_rows

    return sum_rows(rows, *links.ranges, links.tails, links.counts).reshape(x.shape)
