"""Steps on a GPU as CUDA graphs: hundreds of small kernels are started at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

from rwk.baselines.networks.stacked_batches import Shape
from rwk.runtime.device import kernels_usable
from rwk.runtime.log import LOG

MOST_GRAPHS: Final = 8  # captured per function; each has its own kernels, all share one piece of memory


class Replayed:
    """A function of numbers and a shape, without a result; on a GPU captured for every shape that occurs again.

    The function must not wait for the device, and must keep its state in tensors that stay where they are. Where it
    can't be captured, it is called.
    """

    def __init__(self, function: Callable[[Any, Shape], None], device: Any) -> None:
        self.function = function
        self.capturing = device.type == "cuda" and kernels_usable(device)
        self.graphs: dict[Shape, Any] = {}
        self.seen: set[Shape] = set()
        self.numbers: Any = None  # where a captured function reads them

    def __call__(self, numbers: Any, shape: Shape) -> None:
        graph = self._graph(numbers, shape) if self.capturing else None
        if graph is None:
            self.function(numbers, shape)
            return
        self.numbers.copy_(numbers)
        graph.replay()

    def _graph(self, numbers: Any, shape: Shape) -> Any:
        if shape in self.graphs:
            return self.graphs[shape]
        if shape not in self.seen:  # the first call compiles kernels and fills the caches of libraries
            self.seen.add(shape)
            return None
        if len(self.graphs) < MOST_GRAPHS:
            return self._captured(numbers, shape)
        roomy = [one for one in self.graphs if one.nodes >= shape.nodes and one.widest >= shape.widest]
        return self.graphs[min(roomy)] if roomy else None

    def _captured(self, numbers: Any, shape: Shape) -> Any:
        if self.numbers is None:
            self.numbers = numbers.clone()
        graph = torch.cuda.CUDAGraph()
        pool = next((known.pool() for known in self.graphs.values()), None)
        try:
            with torch.cuda.graph(graph, pool=pool):
                self.function(self.numbers, shape)
        except RuntimeError as reason:
            LOG.warning("a training step is not captured as a CUDA graph, and takes longer: %s", reason)
            self.capturing = False
            return None
        self.graphs[shape] = graph
        return graph
