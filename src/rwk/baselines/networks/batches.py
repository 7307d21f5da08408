"""Graphs as tensors: a whole set lies on the device, batches are cut from it there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.graphs import GraphSet
from rwk.represent.features import both_directions
from rwk.runtime.arrays import IntArray


class NodeBatch(NamedTuple):
    """Some graphs, packed; an edge stands in both directions, edges by the node they lead to."""

    x: Any  # (V, d) float
    tails: Any  # (2 E,) int64
    heads: Any  # (2 E,)
    degrees: Any  # (V,) number of neighbours
    owner: Any  # (V,) graph of each node
    members: Any  # (graphs, V) one where a node is of a graph, on a GPU; None elsewhere
    numbers: Any  # (graphs,) which graphs of the set these are
    sizes: Any  # (graphs,) number of nodes
    starts: Any  # (graphs,) first node
    widest: int  # largest size
    fields: Any  # (graphs, places) nodes of the receptive fields, −1 for none; None where no network asks

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return len(self.sizes)


@dataclass(frozen=True, slots=True)
class GraphTensors:
    """A whole set, from which batches are cut."""

    x: Any  # (V, d) float
    tails: Any  # (2 E,) numbered inside each graph
    heads: Any  # (2 E,), which edges are ordered by
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
        # all that is sent for a batch
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
        # from pinned memory the device need not be waited for
        return tensor.pin_memory().to(self.x.device, non_blocking=True) if self.x.is_cuda else tensor


def graph_tensors(graphs: GraphSet, x: NDArray[Any], fields: IntArray | None, device: str) -> GraphTensors:
    """Graphs whose nodes are described by the rows of x."""
    tails, heads, _ = both_directions(graphs)
    order = np.argsort(heads, kind="stable")
    first = np.repeat(graphs.node_offsets[:-1], 2 * graphs.n_edges)
    degrees = np.bincount(heads, minlength=int(graphs.node_offsets[-1]))

    def placed(values: NDArray[Any]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return GraphTensors(
        x=placed(np.asarray(x, np.float32)),
        tails=placed(tails[order] - first),
        heads=placed(heads[order] - first),
        degrees=placed(degrees),
        fields=None if fields is None else placed(fields),
        node_offsets=graphs.node_offsets,
        edge_offsets=2 * graphs.edge_offsets,
    )


def check_device(name: str) -> None:
    """Raise unless torch has this device."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ValueError(f"device={name!r} is not there; use 'cpu', or 'cuda' where torch finds a GPU") from None


def sum_over_nodes(values: Any, batch: NodeBatch) -> Any:
    """Rows of the nodes of each graph added up, shape (graphs, d); on a GPU by a product, always in one order."""
    if batch.members is not None:
        return batch.members @ values
    return values.new_zeros((batch.n_graphs, values.shape[1])).index_add(0, batch.owner, values)


def spread_over_nodes(values: Any, batch: NodeBatch) -> Any:
    """For every node the row of its graph, shape (V, d)."""
    return values[batch.owner] if batch.members is None else batch.members.mT @ values


def sum_over_neighbours(x: Any, batch: NodeBatch) -> Any:
    """For every node the rows of x of its neighbours added up, shape (V, d)."""
    return _NeighbourSum.apply(x, batch)


def rows_by_graph(rows: Any, batch: NodeBatch, width: int, order: Any = None) -> Any:
    """The first `width` rows of each graph's nodes, zeros where it has fewer, shape (graphs, width, d).

    `order` lists the nodes, graph by graph, in another order than theirs.
    """
    own = torch.arange(len(rows), device=rows.device)
    place = torch.arange(width, device=rows.device)
    there = place < batch.sizes[:, None]
    at = torch.where(there, batch.starts[:, None] + place, 0)
    read = torch.where(there, at if order is None else order[at], len(rows))
    rank = (own if order is None else order.argsort()) - batch.starts[batch.owner]  # of a node in its graph
    back = torch.where(rank < width, batch.owner * width + rank, read.numel())
    return _Arranged.apply(rows, read.flatten(), back).reshape(batch.n_graphs, width, -1)


class _NeighbourSum(torch.autograd.Function):  # type: ignore[misc]
    """A x; an edge stands in both directions, so the gradient is A times the gradient, with no scattered writes."""

    @staticmethod
    def forward(ctx: Any, x: Any, batch: NodeBatch) -> Any:
        ctx.batch = batch
        return _neighbour_sum(x, batch)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None]:
        return _neighbour_sum(gradients[0], ctx.batch), None


class _Arranged(torch.autograd.Function):  # type: ignore[misc]
    """rows[places], zeros where a place is len(rows); no row is read twice, so the gradient is read by `back`."""

    @staticmethod
    def forward(ctx: Any, rows: Any, places: Any, back: Any) -> Any:
        ctx.save_for_backward(back)
        return _read(rows, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None, None]:
        return _read(gradients[0], ctx.saved_tensors[0]), None, None


def _neighbour_sum(x: Any, batch: NodeBatch) -> Any:
    gathered = x.index_select(0, batch.tails)
    if batch.members is not None:
        return torch.segment_reduce(gathered, "sum", lengths=batch.degrees, unsafe=True, initial=0.0)
    return torch.zeros_like(x).index_add_(0, batch.heads, gathered)


def _read(rows: Any, places: Any) -> Any:
    return torch.cat([rows, rows.new_zeros((1, rows.shape[1]))]).index_select(0, places)
