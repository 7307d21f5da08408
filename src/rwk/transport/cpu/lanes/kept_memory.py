"""Memory of the lanes that is kept from one chunk of pairs to the next, one for each thread."""

from __future__ import annotations

import threading
from typing import Any

from rwk.transport.cpu.lanes.lane_data import LaneMemory, largest_of, memory_for


class KeptMemory(threading.local):
    """Lane memory for chunk after chunk of pairs of the same measures and weights.

    Asking for it takes as long as solving thirty small pairs, and graphs need not be summarised again. Between chunks
    all lanes are without a pair. What they hold of old graphs they keep, as they do inside a chunk.
    """

    def __init__(self) -> None:
        self.known: dict[Any, tuple[Any, LaneMemory]] = {}  # by precision: what it has room for, and the memory

    def room_for(self, graphs: Any, pairs: Any, weights: Any, dtype: Any) -> LaneMemory:
        """Memory for these pairs: that of earlier ones if it is large enough."""
        wanted = largest_of(graphs, pairs)
        room, memory = self.known.get(dtype, (None, None))
        if room is None or memory is None or (wanted > room).any():
            memory = memory_for(graphs, wanted, weights, dtype)
            self.known[dtype] = wanted, memory
        return memory
