"""Graphs as tensors: the whole set is copied to the device once, and batches are cut from it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.graphs import GraphSet
from rwk.runtime.arrays import IntArray


class NodeBatch(NamedTuple):
    """Some graphs as one; each edge is listed in both directions, sorted by the node it leads to."""

    x: Any  # (V, d) float
    tails: Any  # (2 E,) int64
    heads: Any  # (2 E,)
    degrees: Any  # (V,) number of neighbours
    owner: Any  # (V,) graph of each node
    members: Any  # on a GPU: (graphs, V), 1 if the node belongs to the graph, otherwise 0; on a CPU: None
    numbers: Any  # (graphs,) indices of the graphs in the set
    sizes: Any  # (graphs,) number of nodes
    starts: Any  # (graphs,) first node
    widest: int  # largest size
    fields: Any  # (graphs, places) nodes of the receptive fields, −1 for none; None if the network needs no fields

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.sizes)


@dataclass(frozen=True, slots=True)
class GraphTensors:
    """A whole set of graphs, from which batches are cut."""

    x: Any  # (V, d) float
    tails: Any  # (2 E,) numbered inside each graph
    heads: Any  # (2 E,), in increasing order
    degrees: Any  # (V,)
    fields: Any  # nodes numbered inside each graph, or None
    node_offsets: IntArray
    edge_offsets: IntArray  # of both directions

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.node_offsets) - 1

    def batch(self, chosen: IntArray) -> NodeBatch:
        """The chosen graphs, in this order."""
        sizes, n_edges = (o[chosen + 1] - o[chosen] for o in (self.node_offsets, self.edge_offsets))
        starts, edge_starts = np.cumsum(sizes) - sizes, np.cumsum(n_edges) - n_edges
        columns = (
            chosen, sizes, starts, self.node_offsets[chosen] - starts, n_edges, self.edge_offsets[chosen] - edge_starts
        )  # fmt: skip
        # the only data that is sent to the device for a batch
        numbers, on_sizes, on_starts, node_shifts, on_edges, edge_shifts = self._sent(np.stack(columns))
        owner = torch.repeat_interleave(on_sizes, output_size=int(sizes.sum()))
        nodes = torch.arange(len(owner), device=owner.device) + node_shifts[owner]
        of_edges = torch.repeat_interleave(on_edges, output_size=int(n_edges.sum()))
        edges = torch.arange(len(of_edges), device=owner.device) + edge_shifts[of_edges]
        first = on_starts[of_edges]
        fields = None
        if self.fields is not None:
            mine = self.fields[numbers]
            fields = torch.where(mine >= 0, mine + on_starts[:, None], -1)
        members = None
        if self.x.is_cuda:
            members = (torch.arange(len(chosen), device=owner.device)[:, None] == owner).to(self.x.dtype)
        return NodeBatch(
            x=self.x[nodes],
            tails=self.tails[edges] + first,
            heads=self.heads[edges] + first,
            degrees=self.degrees[nodes],
            owner=owner,
            members=members,
            numbers=numbers,
            sizes=on_sizes,
            starts=on_starts,
            widest=int(sizes.max()),
            fields=fields,
        )

    def _sent(self, values: IntArray) -> Any:
        tensor = torch.from_numpy(values)
        # from pinned memory, so that nothing waits for the copy
        return tensor.pin_memory().to(self.x.device, non_blocking=True) if self.x.is_cuda else tensor


def graph_tensors(graphs: GraphSet, x: Any, fields: IntArray | None, device: str) -> GraphTensors:
    """The graphs on a device; the rows of x, an array or a tensor, describe their nodes."""

    def placed(values: NDArray[Any]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    # sorted on the device: COLLAB has 24 million directions
    ends = placed(graphs.packed_edges)
    heads, order = torch.cat([ends[:, 1], ends[:, 0]]).sort(stable=True)
    first = placed(np.repeat(graphs.node_offsets[:-1], graphs.sizes))[heads]
    return GraphTensors(
        x=torch.as_tensor(x, dtype=torch.float32, device=device),
        tails=torch.cat([ends[:, 0], ends[:, 1]])[order] - first,
        heads=heads - first,
        degrees=torch.bincount(heads, minlength=int(graphs.node_offsets[-1])),
        fields=None if fields is None else placed(fields),
        node_offsets=graphs.node_offsets,
        edge_offsets=2 * graphs.edge_offsets,
    )


def check_device(name: str) -> None:
    """Raise ValueError if torch does not have this device."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ValueError(f"device={name!r} is not there; use 'cpu', or 'cuda' if torch finds a GPU") from None


def sum_over_nodes(values: Any, batch: NodeBatch) -> Any:
    """Sum of the rows of each graph's nodes, shape (graphs, d); on a GPU by a product, so that the order is fixed."""
    if batch.members is not None:
        return batch.members @ values
    return values.new_zeros((batch.n_graphs, values.shape[1])).index_add(0, batch.owner, values)


def spread_over_nodes(values: Any, batch: NodeBatch) -> Any:
    """The row of its graph for every node, shape (V, d)."""
    return values[batch.owner] if batch.members is None else batch.members.mT @ values


def sum_over_neighbours(x: Any, batch: NodeBatch) -> Any:
    """Sum of the rows of its neighbours for every node, shape (V, d)."""
    return _NeighbourSum.apply(x, batch)


def rows_by_graph(rows: Any, batch: NodeBatch, width: int, order: Any = None) -> Any:
    """The rows of the first `width` nodes of each graph, filled up with zeros, shape (graphs, width, d).

    `order` lists the nodes, graph by graph, if another order than theirs is wanted.
    """
    own = torch.arange(len(rows), device=rows.device)
    place = torch.arange(width, device=rows.device)
    there = place < batch.sizes[:, None]
    at = torch.where(there, batch.starts[:, None] + place, 0)
    read = torch.where(there, at if order is None else order[at], len(rows))
    rank = (own if order is None else order.argsort()) - batch.starts[batch.owner]  # of a node in its graph
    back = torch.where(rank < width, batch.owner * width + rank, read.numel())
    return Arranged.apply(rows, read.flatten(), back).reshape(batch.n_graphs, width, -1)


class _NeighbourSum(torch.autograd.Function):  # type: ignore[misc]
    """A x; A is symmetric, so the gradient is A times the gradient, without scattered writes."""

    @staticmethod
    def forward(ctx: Any, x: Any, batch: NodeBatch) -> Any:
        ctx.batch = batch
        return _neighbour_sum(x, batch)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None]:
        return _neighbour_sum(gradients[0], ctx.batch), None


class Arranged(torch.autograd.Function):  # type: ignore[misc]
    """rows[places], zero if a place is len(rows); no row is read twice, so `back` is the way back for the gradient."""

    @staticmethod
    def forward(ctx: Any, rows: Any, places: Any, back: Any) -> Any:
        ctx.save_for_backward(back)
        return read_rows(rows, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None, None]:
        return read_rows(gradients[0], ctx.saved_tensors[0]), None, None


def _neighbour_sum(x: Any, batch: NodeBatch) -> Any:
    gathered = x.index_select(0, batch.tails)
    if batch.members is not None:
        return torch.segment_reduce(gathered, "sum", lengths=batch.degrees, unsafe=True, initial=0.0)
    return torch.zeros_like(x).index_add_(0, batch.heads, gathered)


def read_rows(rows: Any, places: Any) -> Any:
    return torch.cat([rows, rows.new_zeros((1, rows.shape[1]))]).index_select(0, places)
