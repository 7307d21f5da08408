"""Which pairs are solved together: pairs with the same two size classes, in chunks that fit on the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.device import chunk_bytes, is_out_of_memory, no_room
from rwk.transport.gpu.device_measures import Stack, Store
from rwk.transport.problem import CostWeights, PairResults, ScgOptions
from rwk.transport.work import pair_cost

# shapes (N, M) of the fused kernel; a pair uses the first that is large enough, so few have to be compiled
SHAPES: Final = ((16, 16), (32, 32), (32, 64), (64, 64), (32, 128), (64, 128), (128, 128))
MATRICES_ALIVE: Final = 14  # (N, M) matrices per pair that the batched body holds at once
LARGEST_CHUNK: Final = 2**18  # pairs
LARGEST_BATCH: Final = 2**14  # pairs in the batched body


class Job(NamedTuple):
    """One list of pairs to solve, and where the results go."""

    store: Store
    pairs: NDArray[np.int64]
    weights: CostWeights
    options: ScgOptions
    results: PairResults
    report: Callable[[int], None]

    def places(self, members: NDArray[np.int64]) -> tuple[Any, Any]:
        """Places of the graphs of some pairs in their stacks, on the device."""
        import torch

        both = torch.from_numpy(self.store.places[self.pairs[members]]).to(self.store.device)
        # clones: a view of a single pair counts as contiguous, and Triton would compile again for its address
        return both[:, 0].clone(), both[:, 1].clone()


class Group(NamedTuple):
    """Pairs with the same two size classes; `members` are their indices in the list, in the order given."""

    source: Stack
    target: Stack
    members: NDArray[np.int64]


def group_pairs(store: Store, pairs: NDArray[np.int64]) -> list[Group]:
    """The listed pairs grouped by their size classes, most expensive first."""
    widths = sorted(store.stacks)
    number = np.zeros(max(widths) + 1, np.int16)
    number[widths] = np.arange(len(widths))
    codes = number[store.widths[pairs[:, 0]]] * np.int16(len(widths)) + number[store.widths[pairs[:, 1]]]
    order = np.argsort(codes, kind="stable")  # NumPy uses a radix sort for 16-bit codes
    starts = np.flatnonzero(np.diff(codes[order], prepend=np.int16(-1)))
    groups = [
        Group(store.stacks[widths[code // len(widths)]], store.stacks[widths[code % len(widths)]], members)
        for code, members in zip(codes[order[starts]].tolist(), np.split(order, starts[1:]), strict=True)
    ]
    return sorted(groups, key=lambda group: -float(pair_cost(group.source.width, group.target.width)))


def fused_shape(source: Stack, target: Stack) -> tuple[int, int] | None:
    """The shape of the fused kernel for two size classes; None for graphs that do not fit on chip."""
    return next((shape for shape in SHAPES if shape[0] >= source.width and shape[1] >= target.width), None)


def column_bytes(source: Stack, target: Stack) -> int:
    """Bytes of device memory per pair for the list of sparse columns that both graphs have."""
    return 8 * min(source.most_columns, target.most_columns)


def batched_pair_bytes(source: Stack, target: Stack, itemsize: int, *, costs_on_chip: bool) -> int:
    """Bytes of device memory per pair in the batched body."""
    n, m = source.width, target.width
    matrices = MATRICES_ALIVE * n * m * itemsize + 2 * (n * n + m * m) * itemsize
    if costs_on_chip:
        return matrices + column_bytes(source, target)
    columns = max(source.most_columns, target.most_columns)
    dense = int(source.returns.shape[1])
    return matrices + (24 * columns + 16 * dense) * (n + m) + 48 * n * m


def run_chunks(
    solve: Callable[[NDArray[np.int64]], None],
    members: NDArray[np.int64],
    pair_bytes: int,
    device: Any,
    *,
    largest: int | None = None,
) -> None:
    """Call `solve` on chunks of the members that fit on the device; if memory runs out, halve the chunk and retry."""
    import torch

    count = int(np.clip(chunk_bytes(device) // max(pair_bytes, 1), 1, largest or LARGEST_CHUNK))
    start = 0
    while start < len(members):
        try:
            solve(members[start : start + count])
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if count == 1:
                raise no_room("two graphs are") from None
            count //= 2
            torch.cuda.empty_cache()
        else:
            start += count
