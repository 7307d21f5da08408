"""Graphs as tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from rwk.features import both_directions
from rwk.graphs import GraphSet, IntArray


class Batch(NamedTuple):
    """Some graphs, packed; an edge stands in both directions."""

    x: Any  # (V, d) float
    tails: Any  # (2 E,) int64
    heads: Any  # (2 E,)
    owner: Any  # (V,) graph of each node
    n_graphs: int
    fields: Any  # (graphs, places) nodes of the receptive fields, −1 for none; None where no network asks

    @property
    def degrees(self) -> Any:
        """Number of neighbours of each node, as floats."""
        return torch.bincount(self.heads, minlength=len(self.x)).to(self.x.dtype)

    @property
    def sizes(self) -> Any:
        """Number of nodes of each graph."""
        return torch.bincount(self.owner, minlength=self.n_graphs)


class GraphTensors(NamedTuple):
    """A whole set, from which batches are cut."""

    graphs: GraphSet  # structure only
    x: Any  # (V, d) on the device
    fields: IntArray | None  # nodes numbered inside each graph

    def batch(self, chosen: IntArray) -> Batch:
        """The chosen graphs, in this order."""
        part = self.graphs[chosen]
        starts = part.node_offsets[:-1]
        offsets = self.graphs.node_offsets
        nodes = np.repeat(offsets[:-1][chosen] - starts, part.sizes) + np.arange(int(part.node_offsets[-1]))
        tails, heads, _ = both_directions(part)
        fields = None
        if self.fields is not None:
            mine = self.fields[chosen]
            fields = self._tensor(np.where(mine >= 0, mine + starts[:, None], -1))
        return Batch(
            x=self.x[self._tensor(nodes)],
            tails=self._tensor(tails),
            heads=self._tensor(heads),
            owner=self._tensor(np.repeat(np.arange(len(part)), part.sizes)),
            n_graphs=len(part),
            fields=fields,
        )

    def _tensor(self, values: NDArray[Any]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(values, np.int64)).to(self.x.device)


def graph_tensors(graphs: GraphSet, x: NDArray[Any], fields: IntArray | None, device: str) -> GraphTensors:
    """Graphs whose nodes are described by the rows of x."""
    bare = GraphSet(graphs.node_offsets, graphs.edge_offsets, graphs.edges)
    return GraphTensors(bare, torch.from_numpy(np.asarray(x, np.float32)).to(device), fields)


def check_device(name: str) -> None:
    """Raise unless torch has this device."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ValueError(f"device={name!r} is not there; use 'cpu', or 'cuda' where torch finds a GPU") from None


def sum_over(values: Any, index: Any, count: int) -> Any:
    """Rows of `values` added up by index, shape (count, ...)."""
    return torch.zeros((count, *values.shape[1:]), dtype=values.dtype, device=values.device).index_add(0, index, values)


def sum_over_neighbours(x: Any, batch: Batch) -> Any:
    """For every node the rows of x of its neighbours added up, shape (V, d)."""
    return _NeighbourSum.apply(x, batch.tails, batch.heads)


class _NeighbourSum(torch.autograd.Function):  # type: ignore[misc]
    """A x; an edge stands in both directions, so the gradient is A times the gradient, with no scattered writes."""

    @staticmethod
    def forward(ctx: Any, x: Any, tails: Any, heads: Any) -> Any:
        ctx.save_for_backward(tails, heads)
        return torch.zeros_like(x).index_add_(0, heads, x.index_select(0, tails))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, None, None]:
        tails, heads = ctx.saved_tensors
        (gradient,) = gradients
        return torch.zeros_like(gradient).index_add_(0, heads, gradient.index_select(0, tails)), None, None
